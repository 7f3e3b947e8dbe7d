"""Accounts: passwords, sessions, second factors, providers, tokens (P-11, X-11).

The acts are functions of a session and an office like those of the campaign; pages and the API call them. Nothing here
knows a page: `sessions.py` says who is signed in, `authentication.py` lets people in, `registration.py` makes accounts
and sets passwords, `second_factor.py`, `oidc.py` and `tokens.py` are what their names say.
"""
