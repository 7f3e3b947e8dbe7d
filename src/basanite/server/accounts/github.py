"""Signing in with GitHub, which speaks OAuth 2 and no OpenID Connect: who somebody is comes from two calls (P-49).

There is no signed token, so the proof is the connection itself: the code is given to the settings' own address by our
secret, and what that address answers about its token is believed. The number of an account is its subject: names and
addresses of accounts change hands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from authlib.integrations.httpx_client import OAuth2Client

from basanite.campaign.settings import Provider

SCOPE: Final = "read:user user:email"
Ask = Callable[[OAuth2Client, str, Mapping[str, str]], Any]
"""How an address is asked for JSON, with headers."""


def endpoints(provider: Provider) -> Mapping[str, str]:
    """Where people sign in, and where codes become tokens: GitHub has no document that says so."""
    place = f"{provider.issuer.rstrip('/')}/login/oauth"
    return {"authorization_endpoint": f"{place}/authorize", "token_endpoint": f"{place}/access_token"}


def claims(client: OAuth2Client, provider: Provider, token: Mapping[str, Any], ask: Ask) -> Mapping[str, Any]:
    """Who somebody is, by the names of OpenID Connect; the address is the primary one, if it is verified."""
    headers = {"Authorization": f"Bearer {token['access_token']}", "Accept": "application/vnd.github+json"}
    place = provider.api or f"{provider.issuer.rstrip('/')}/api/v3"
    user = ask(client, f"{place}/user", headers)
    number = user["id"]
    if type(number) is not int or number <= 0:
        raise ValueError("an account without a number")
    mails = ask(client, f"{place}/user/emails", headers)
    primary: Mapping[str, Any] = next((one for one in mails if one.get("primary") is True), {})
    return {
        "sub": str(number),
        "name": user.get("name") or user.get("login") or "",
        "email": primary.get("email") or "",
        "email_verified": primary.get("verified") is True,
    }
