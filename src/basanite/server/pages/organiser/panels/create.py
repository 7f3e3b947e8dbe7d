"""A new panel: a ready-made scheme or one's own, checked line by line, and looked at as a judge will see it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.panels.preparing import setting_up
from basanite.formats.bounded import read_bounded
from basanite.judging.items import Block
from basanite.judging.scheme import PRESETS, Scheme, read_scheme
from basanite.problems import Problem
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.judging.questions import Asked, asked
from basanite.server.pages.judging.shown import Shown as ShownBlock
from basanite.server.pages.judging.shown import shown_blocks
from basanite.server.pages.organiser.desk import Organiser
from basanite.server.pages.organiser.panels.desk import ADDRESS, here
from basanite.server.pages.organiser.panels.presets import Preset, begun, facts_of, presets
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
LARGEST = setting_up.LARGEST_SCHEME
FILE = "scheme.toml"
SAMPLE = "…"


@dataclass(frozen=True)
class Shown:
    """A scheme as a judge will meet it, with an empty item."""

    instructions: Markup
    blocks: tuple[ShownBlock, ...]
    sides: bool
    questions: tuple[Asked, ...]
    marks: tuple[str, ...]
    """What judges can say of an item beside the answers."""
    facts: tuple[tuple[str, str], ...]
    consent: str = ""
    consent_version: str = ""


@dataclass(frozen=True)
class CreatePage:
    """The form, what is wrong with the text, and how it will look."""

    title: str
    presets: tuple[Preset, ...]
    preset: str = ""
    name: str = ""
    text: str = ""
    windows: tuple[tuple[str, str], ...] = ()
    window: str = ""
    problems: tuple[Problem, ...] = ()
    shown: Shown | None = field(default=None)


@ROUTER.get(f"{ADDRESS}/new")
def form(request: Request, caller: Organiser, preset: Annotated[str, Query(max_length=40)] = "") -> Response:
    """The page, perhaps with the text of a ready-made scheme."""
    chosen = preset if preset in PRESETS else ""
    text = begun(chosen) if chosen else ""
    return show(request, caller, replace(_empty(caller), preset=chosen, text=text, name=chosen))


@ROUTER.post(f"{ADDRESS}/new")
async def create(request: Request, caller: Organiser) -> Response:
    """Look at the scheme as a judge, or make the panel."""
    taken = await take(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_created, request, caller, taken)
    finally:
        taken.forget()


def _created(request: Request, caller: Caller, taken: Taken) -> Response:
    page = _filled(caller, taken)
    scheme, problems = read_scheme(page.text, FILE)
    page = replace(page, problems=problems, shown=shown(scheme) if scheme else None)
    if taken.form.text("act") != "create" or scheme is None:
        return show(request, caller, page, status=200 if scheme else 422)
    try:
        with caller.office.writing() as session:
            given = (caller.here[0].id, page.text)
            panel = setting_up.create(session, caller.office, caller.actor, *given, name=page.name, window=page.window)
            address = here(caller, panel.name, "/items")
    except RefusedError as error:
        return refuse(request, caller, page, error)
    return go(caller, address, said("The panel is there. Now add what is to be judged."))


def _filled(caller: Caller, taken: Taken) -> CreatePage:
    text = taken.form.raw("text")
    if taken.path is not None:
        text = read_bounded(taken.path, LARGEST).decode("utf-8", "replace")
    return replace(_empty(caller), name=taken.form.text("name"), text=text, window=taken.form.text("window"))


def _empty(caller: Caller) -> CreatePage:
    return CreatePage(say("New panel"), presets(), windows=windows(caller.here[1]))


def windows(campaign: Campaign) -> tuple[tuple[str, str], ...]:
    """The windows of a campaign for a choice, the empty one first."""
    return (("", ""), *((one.id, one.title or one.id) for one in campaign.windows))


def shown(scheme: Scheme) -> Shown:
    """A scheme as a judge will meet it, with an item in which nothing stands yet."""
    kinds = [kind for kind in scheme.shows if kind not in ("image", "instructions")]
    blocks = tuple(Block(kind, SAMPLE) for kind in kinds)  # type: ignore[arg-type]
    return Shown(
        Markup(scheme.instructions),  # sanitised when the scheme was read (M51)
        shown_blocks(scheme, blocks, ""),
        scheme.pairwise,
        asked(scheme, {}, blocks),
        tuple(flag.title for flag in scheme.flags),
        facts_of(scheme),
        scheme.consent.text,
        scheme.consent.version,
    )
