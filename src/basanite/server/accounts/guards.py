"""Guards in front of forms: a token that only our own pages know, and a limit on how often one may try (P-11, X-11).

A signed-in reader's forms carry the token of the session. Before that (signing in, signing up) a signed random value
stands both in a cookie and in the form; another site can make neither.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from itsdangerous import BadSignature, Signer
from limits import parse
from starlette.requests import Request

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Office
from basanite.server.known import address, office_of

FIELD = "csrf"
HEADER = "x-csrf-token"


def stranger_token(office: Office) -> str:
    """A token for the forms of somebody who is not signed in; it goes into a cookie and into each form."""
    return _signer(office).sign(secrets.token_urlsafe(18)).decode()


def is_ours(office: Office, token: str | None) -> bool:
    """Whether we made this token for a stranger."""
    try:
        _signer(office).unsign(token or "")
    except BadSignature:
        return False
    return True


def check_csrf(expected: str | None, given: str | None) -> None:
    """Refuse a form that does not come from a page of ours."""
    if not expected or not given or not hmac.compare_digest(expected.encode(), given.encode()):
        fix = "go back, load the page again and send the form once more"
        raise refused("X-11", "this form is too old or not ours", fix, status=403)


def count_try(request: Request, what: str) -> None:
    """Count a try at something that strangers may do; too many from one address have to wait."""
    limit = parse(office_of(request).settings.accounts.tries)
    request.app.state.throttle.count(limit, what, address(request))


def _signer(office: Office) -> Signer:
    return Signer(office.vault.secret("cookies", "forms"), salt="forms", digest_method=hashlib.sha256)
