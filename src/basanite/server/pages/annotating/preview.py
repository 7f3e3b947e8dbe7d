"""A configuration before anybody works with it: checked as a whole, shown as annotators see it, and kept nowhere."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.annotation.config import Config, read_config
from basanite.campaign.annotating.finding import config_row, documents, projects
from basanite.campaign.annotating.packages import text_of, working_folder
from basanite.campaign.annotating.setting_up import bounded
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.turns import turn
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.server.catalogue import say
from basanite.server.pages.annotating.guidelines import Block, blocks
from basanite.server.pages.annotating.projects import ADDRESS
from basanite.server.pages.annotating.wire import config_data
from basanite.server.pages.annotating.words import words
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.desk import Organiser
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
LARGEST = 2**20
SAMPLE = "The Jets fell to the Pittsburgh Steelers, 20-17, in overtime Saturday.\n\nThis text is here to be marked."


@dataclass(frozen=True)
class PreviewPage:
    """A form to paste, upload or choose a configuration, what is wrong with it, and how it looks."""

    title: str
    projects: tuple[tuple[str, str], ...]
    chosen: str = ""
    config: str = ""
    found: tuple[Problem, ...] = ()
    text: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    guidelines: tuple[Block, ...] = ()
    right: bool = False
    search: str = ""
    checked: bool = False


@ROUTER.get(f"{ADDRESS}/preview")
def begin(request: Request, caller: Organiser, project: str = "") -> Response:
    """The page; with a project, its own configuration."""
    with caller.office.reading() as session:
        listed = _listed(session, caller)
        text = _own(session, caller, project) if project else ""
    if not text:
        return show(request, caller, PreviewPage(say("Preview of a configuration"), listed))
    return show(request, caller, _previewed(caller, listed, project, text))


@ROUTER.post(f"{ADDRESS}/preview")
async def check(request: Request, caller: Organiser) -> Response:
    """Check what was pasted, uploaded or chosen, and show it; nothing of it is kept."""
    taken = await take(request, caller.office.sealed.folder / "fresh", LARGEST)
    try:
        return await run_in_threadpool(_checked, request, caller, taken)
    finally:
        taken.forget()


def _checked(request: Request, caller: Caller, taken: Taken) -> Response:
    chosen, text = taken.form.text("project"), taken.form.raw("config").replace("\r\n", "\n")
    if taken.path is not None:
        text = read_bounded(taken.path, LARGEST).decode("utf-8", "replace")
    with caller.office.reading() as session:
        listed = _listed(session, caller)
        text = text if text.strip() else _own(session, caller, chosen)
    try:
        page = _previewed(caller, listed, chosen, bounded(text))
    except RefusedError as error:
        if error.status != 422:
            raise
        page = PreviewPage(say("Preview of a configuration"), listed, chosen, "", tuple(error.problems), checked=True)
    return show(request, caller, page, status=422 if page.found and not page.given else 200)


def _listed(session: Session, caller: Caller) -> tuple[tuple[str, str], ...]:
    return tuple((one.id, one.title or one.name) for one in projects(session, caller.here[0].id))


def _own(session: Session, caller: Caller, project: str) -> str:
    found = next((one for one in projects(session, caller.here[0].id) if one.id == project), None)
    return config_row(session, found.id, found.generation).text if found else ""


def _previewed(caller: Caller, listed: tuple[tuple[str, str], ...], chosen: str, text: str) -> PreviewPage:
    with ExitStack() as stack:
        stack.enter_context(turn(caller.office, caller.viewer.party, "preview"))
        folder, sample = _beside(caller, chosen)
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=caller.office.settings.data)))
        config, problems = read_config(text, folder)
    base = PreviewPage(say("Preview of a configuration"), listed, chosen, text, problems, checked=True)
    return base if config is None else _filled(base, config, sample)


def _filled(page: PreviewPage, config: Config, sample: str) -> PreviewPage:
    given = {
        "task": "preview",
        "text": sample,
        "config": config_data(config),
        "events": [],
        "sequence": 0,
        "review": [],
        "address": "",
        "next": "",
        "csrf": "",
        "words": words(),
    }
    right, guide = config.layout.text == "right", blocks(config.guidelines)
    same = (page.title, page.projects, page.chosen, page.config, page.found)
    return PreviewPage(*same, sample, given, guide, right, checked=True)


def _beside(caller: Caller, chosen: str) -> tuple[Path | None, str]:
    """The folder of the project that was chosen, and the first of its texts; nothing if none was."""
    with caller.office.reading() as session:
        found = next((one for one in projects(session, caller.here[0].id) if one.id == chosen), None)
        if found is None:
            return None, SAMPLE
        texts = documents(session, found.id)[:1]
        return working_folder(caller.office, found), text_of(caller.office, texts[0]).text if texts else SAMPLE
