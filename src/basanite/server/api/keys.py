"""The public keys with which receipts are signed, for those who check receipts offline (X-6)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from basanite.campaign.receipting import keyring
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/keys", tags=["receipts"])


@ROUTER.get("", response_class=Response, responses={200: {"content": {"application/json": {}}}})
def show_keys(caller: Annotated[Caller, allow("visitor", scope="read")]) -> Response:
    """All keys of this server with hand-overs and revocations: pin them once, and check receipts with them."""
    with caller.office.reading() as session:
        return Response(keyring(session).as_bytes(), media_type="application/json")
