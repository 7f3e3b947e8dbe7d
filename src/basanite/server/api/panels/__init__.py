"""Panels by programs: a judge's work step by step, what organisers ask for, and pictures for crowd workers."""

from __future__ import annotations

from fastapi import APIRouter

from basanite.server.api.panels import crowd, judging, organising

ROUTER = APIRouter(tags=["panels"])
for module in (judging, organising, crowd):
    ROUTER.include_router(module.ROUTER)
