"""Reading services (R-23): packages, tasks, runs and answers, the reasoner, and SPARQL.

Each has an address within its campaign; tasks, runs and the reasoner have a short one too, which names no campaign.
"""

from __future__ import annotations

from fastapi import APIRouter

from basanite.server.api.reading import packages, reasoner, runs, short, sparql, tasks

ROUTER = APIRouter(tags=["reading"])
for module in (packages, tasks, runs, reasoner, sparql):
    ROUTER.include_router(module.ROUTER, prefix="/campaigns/{slug}/reading")
ROUTER.include_router(short.ROUTER)

__all__ = ["ROUTER"]
