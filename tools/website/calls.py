"""Every call of the HTTP API with who may make it, from the routes of the server."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from basanite.server import api
from basanite.server.roles import ROLES, Policy, list_routes
from tools.website.writing import cell, code, page, table

INTRO = """What the server tells of itself at `/api/v1/openapi.json`, with who may call. [The HTTP API](../http.md)
explains tokens, uploads and refusals. Addresses begin with `/api/v1`; three dots stand for `/campaigns/{slug}`. A token
must carry the scope."""
CAMPAIGN = "/campaigns/{slug}/"


def http_page() -> str:
    """All calls, grouped by the first part of their address."""
    app = routes_alone()
    policies = {(route.path, method): route.policy for route in list_routes(app) for method in route.methods}
    groups = defaultdict(list)
    for path, method, operation in _operations(app):
        groups[_group(path)].append(_row(path, method, operation, policies.get((path, method))))
    heads = ["call", "what it does", "who", "scope"]
    parts = (page(f"## {name}", table(heads, rows)) for name, rows in sorted(groups.items()))
    return page("# Calls of the API", INTRO, *parts)


def routes_alone() -> FastAPI:
    """The routes for programs without a server behind them."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(api.ROUTER)
    return app


def _operations(app: FastAPI) -> Iterator[tuple[str, str, dict[str, Any]]]:
    document = get_openapi(title="", version="0", routes=list(iter_route_contexts(app.routes)))
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def _group(path: str) -> str:
    """The part of an address that says what it is about.

    >>> _group("/api/v1/campaigns/{slug}/packs/{id}"), _group("/api/v1/tokens")
    ('campaigns: packs', 'tokens')
    """
    parts = path.removeprefix(api.PREFIX).strip("/").split("/")
    return f"{parts[0]}: {parts[2].partition('.')[0]}" if len(parts) > 2 and parts[1] == "{slug}" else parts[0]


def _row(path: str, method: str, operation: dict[str, Any], policy: Policy | None) -> list[str]:
    told = inspect.cleandoc(operation.get("description") or operation.get("summary") or "")
    return [code(f"{method} {_short(path)}"), cell(told), _who(policy), code(policy.scope if policy else "")]


def _short(path: str) -> str:
    """An address without what all have in common.

    >>> _short("/api/v1/campaigns/{slug}/packs"), _short("/api/v1/keys")
    ('…/packs', '/keys')
    """
    below = path.removeprefix(api.PREFIX)
    return f"…/{below.removeprefix(CAMPAIGN)}" if below.startswith(CAMPAIGN) else below


def _who(policy: Policy | None) -> str:
    roles = policy.roles if policy else frozenset()
    return "everybody" if "visitor" in roles else ", ".join(role for role in ROLES if role in roles)
