"""Cookies: only for this site, never for scripts; what they say is signed, and read once where that is enough."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

from basanite.campaign.office import Office
from basanite.server.accounts import sessions

THEME = "basanite-theme"
ZONE = "basanite-zone"
FORMS = "basanite-forms"
NOTICES = "basanite-notices"
YEAR = 365 * 86400

Tone = Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class Notice:
    """One sentence above the next page: something went well, or did not."""

    tone: Tone
    text: str


def forms_name(office: Office) -> str:
    """The cookie of strangers' forms; over https only this host can set it, as that of a session."""
    return f"__Host-{FORMS}" if office.settings.https else FORMS


def put(response: Response, office: Office, name: str, value: str, *, seconds: int | None = None) -> None:
    """Set a cookie of this site."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=office.settings.https, httponly=True, samesite="lax"
    )


def drop(response: Response, office: Office, name: str) -> None:
    """Forget a cookie."""
    response.delete_cookie(name, path="/", secure=office.settings.https, httponly=True, samesite="lax")


def put_session(response: Response, office: Office, cookie: str) -> None:
    """Give the browser its session; it ends with the browser, or before."""
    put(response, office, sessions.cookie_name(office), cookie)


def put_notice(response: Response, office: Office, tone: Tone, text: str) -> None:
    """Say something above the next page."""
    put(response, office, NOTICES, _notices(office).dumps([[tone, str(text)[:500]]]), seconds=60)


def notices_of(request: Request, office: Office) -> tuple[Notice, ...]:
    """What is to be said above this page."""
    try:
        read = _notices(office).loads(request.cookies.get(NOTICES, ""))
    except BadSignature:
        return ()
    return tuple(Notice(tone, text) for tone, text in read)


def _notices(office: Office) -> URLSafeSerializer:
    key = office.vault.secret("cookies", "notices")
    return URLSafeSerializer(key, salt="notices", signer_kwargs={"digest_method": hashlib.sha256})
