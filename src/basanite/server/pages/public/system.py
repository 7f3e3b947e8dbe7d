"""One released system: its description, its values and breakdowns, and how they were made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.keeping.publishing.gathering import System
from basanite.campaign.model.refusals import missing
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.public.results import ADDRESS, Anybody, gathered
from basanite.server.pages.runs.values import Values, values_of

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class SystemPage:
    """One system."""

    title: str
    task: str
    window: str
    standing: str
    level: str
    description: tuple[tuple[str, str], ...]
    values: Values
    software: str
    plan: str
    reference: int


@ROUTER.get(f"{ADDRESS}/systems/{{system}}")
def system(request: Request, caller: Anybody, system: str) -> Response:
    """The page."""
    for one in gathered(caller).systems:
        if one.slug == system:
            return show(request, caller, page_of(one, caller.here[1].window(one.window).title))
    raise missing("system")


def page_of(one: System, window: str) -> SystemPage:
    """The page of a released system, without names that are not to be told (P-25)."""
    made = one.result.provenance
    return SystemPage(
        one.name,
        " · ".join(filter(None, (one.task, one.language, one.track))),
        window,
        one.standing,
        one.result.level,
        tuple((name, _text(value)) for name, value in one.description.items()),
        values_of(one.unnamed.cleaned(dict(one.result.data))),
        made.software,
        made.plan,
        made.reference_version,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
