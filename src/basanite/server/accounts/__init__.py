"""Accounts: passwords, sessions, second factors, providers, and the guards around them (P-11, X-11).

The acts are functions of a session and an office like those of the campaign; pages and the API call them. Nothing here
knows a page: `sessions.py` says who is signed in, `signing_in.py` lets people in, `joining.py` makes accounts and sets
passwords, `second_factor.py` and `oidc.py` are what their names say, `guards.py` holds CSRF and rate limits.
"""

from __future__ import annotations

from fastapi import FastAPI, Request
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.server.accounts import sessions
from basanite.server.known import Known


def plug(app: FastAPI) -> None:
    """Let browsers be recognised by their session's cookie."""
    app.state.recognisers.append(recognise_session)


def recognise_session(request: Request, session: Session, office: Office) -> Known | None:
    """Who the cookie of this call stands for."""
    signed = sessions.find(session, office, request.cookies.get(sessions.cookie_name(office)))
    if signed is None:
        return None
    request.state.signed_in = signed
    return Known(signed.person, "session", None, signed.strong, signed.csrf)
