"""Actions on the keys that sign receipts, at the machine itself (X-6)."""

from __future__ import annotations

from typing import Annotated

from sqlalchemy import select

from basanite.campaign.actions.registry import (
    NEWEST,
    Argument,
    Arguments,
    At,
    Outcome,
    Reason,
    action,
    list_outcome,
    rows_of,
)
from basanite.campaign.receipts import revoke_key, rotate, signing_key
from basanite.campaign.store.tables import ReceiptKey
from basanite.reports.wording import moment


class OneKey(Arguments):
    """A key, and why it is trusted no more."""

    key: Annotated[str, Argument("An id, or the newest.")]
    reason: Reason = ""


@action("keys list", role="administrator", programs=False, reads=True, hint="--data season")
def list_keys(at: At, given: Arguments) -> Outcome:
    """List the keys that sign receipts, with their periods of use."""
    found = at.session.scalars(select(ReceiptKey).order_by(ReceiptKey.start, ReceiptKey.id)).all()
    columns = ("id", "start", "ended", "revoked", "public")
    return list_outcome("keys", rows_of(found, columns), columns, "No receipt has been signed yet.")


@action("keys replace", role="administrator", programs=False, hint="--data season", logs="key.rotated")
def replace_key(at: At, given: Arguments) -> Outcome:
    """Sign with a new key from now on; the old key signs the handover and nothing after it."""
    row = rotate(*at.who)
    return Outcome({"key": row.id, "public": row.public}, (f"{row.id} signs from now on.",))


@action(
    "keys revoke",
    role="administrator",
    programs=False,
    hint='newest --reason "the laptop was stolen" --data season',
    logs="key.revoked",
)
def revoke(at: At, given: OneKey) -> Outcome:
    """Revoke KEY (an id, or the newest): nothing it signed is trusted any longer."""
    chosen = signing_key(at.session, at.office).id if given.key == NEWEST else given.key
    row = revoke_key(*at.who, chosen, given.reason)
    return Outcome({"key": row.id, "revoked": row.revoked}, (f"{row.id} was revoked on {moment(row.revoked)}.",))
