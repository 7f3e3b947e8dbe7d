"""What organizers do, for programs: one call for each declared action, with the fields of its command (P-37)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from basanite.campaign.actions.registry import Action, At, every_action
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(tags=["organizers"])
IN_CAMPAIGN = "/campaigns/{slug}/actions/"
ON_SERVER = "/actions/"


class ActionDone(BaseModel):
    """What came of an action."""

    action: str
    done: bool
    """False where it waits for a second person."""
    waits: str | None
    """The request that another organizer agrees to or refuses: `approvals-agree`."""
    result: dict[str, Any] = Field(default_factory=dict)
    """The same facts as the command of this name prints with its option for JSON."""


def _call(action: Action) -> Callable[..., ActionDone]:
    """The function behind the address of an action: its policy, its arguments, and one transaction."""

    def call(caller: Caller, given: Any) -> ActionDone:
        slug = "" if caller.row is None else caller.row.slug
        office = caller.office
        with office.reading() if action.reads else office.writing() as session:
            outcome = action.run(At(office, session, caller.actor, slug, bound=action.in_campaign), given)
            return ActionDone(
                action=action.name, done=outcome.waits is None, waits=outcome.waits, result=dict(outcome.data)
            )

    caller = Annotated[Caller, allow(action.role, scope="organise")]
    given = Annotated[action.arguments, Query()] if action.reads else action.arguments
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("caller", kind, annotation=caller),
        inspect.Parameter("given", kind, annotation=given),
    ]
    call.__signature__ = inspect.Signature(parameters, return_annotation=ActionDone)  # type: ignore[attr-defined]
    return call


def describe(action: Action) -> str:
    """What the document says of an action: what it does, who must agree, what is logged, and what it asks before."""
    parts = [action.help]
    if action.two:
        parts.append("Where the campaign requires it, this waits for a second person.")
    if action.confirm and not action.confirm.safe:
        parts.append(f"Before you call: {action.confirm.words}")
    if action.logs:
        parts.append(f"Logged as {', '.join(f'`{kind}`' for kind in action.logs)}.")
    return "\n\n".join(parts)


for _action in every_action().values():
    if _action.programs:
        ROUTER.add_api_route(
            (IN_CAMPAIGN if _action.in_campaign else ON_SERVER) + _action.slug,
            _call(_action),
            methods=["GET" if _action.reads else "POST"],
            name=_action.name.replace(" ", "_").replace("-", "_"),
            summary=_action.name.capitalize(),
            description=describe(_action),
            response_model=ActionDone,
        )
