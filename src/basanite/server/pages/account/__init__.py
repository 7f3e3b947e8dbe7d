"""Pages about the own account: signing in and up, sessions, password, second factor, providers, tokens."""

from basanite.server.pages.account import (
    code,
    confirm,
    home,
    provider,
    reset,
    second_factor,
    sign_in,
    sign_up,
    tokens,
)

ROUTERS = tuple(page.ROUTER for page in (sign_in, code, sign_up, confirm, reset, provider, second_factor, tokens, home))
