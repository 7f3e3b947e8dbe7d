"""What a panel judges: from a table, from a pool of passages that is prepared, or from the summaries of a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.panels.preparing import pools, setting_up, summaries
from basanite.campaign.panels.preparing.pools import Drawing
from basanite.campaign.panels.preparing.setting_up import Added
from basanite.campaign.panels.watching import browsing
from basanite.campaign.store.tables import PanelItem
from basanite.campaign.store.tables.base import random_id
from basanite.formats.bounded import read_bounded
from basanite.judging.item_files import read_items
from basanite.judging.items import Item, Role
from basanite.judging.passages import Wishes, items_of, prepare
from basanite.judging.passages.files import read_pool
from basanite.judging.pooling import Texts
from basanite.judging.scheme import Scheme
from basanite.problems import Findings, Problem
from basanite.server.catalogue import plural, said, say
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.frame import go, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.desk import MOST_PROBLEMS, Organiser
from basanite.server.pages.organiser.panels.create import windows
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, found, head, here
from basanite.server.pages.organiser.panels.facts import facts_in_words
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
LARGEST = 64 * 2**20
BEGINS = 120
"""Characters of an item that the list shows."""
ENDINGS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".txt", ".tgz", ".gz")


@dataclass(frozen=True)
class ItemLine:
    """One item."""

    id: str
    number: int
    role: str
    words: str
    facts: str


@dataclass(frozen=True)
class ItemsPage:
    """The items in numbers and page by page, and forms for more."""

    title: str
    panel: PanelHead
    counts: browsing.Counts
    found: Paged[ItemLine]
    may_add: bool
    pool: bool
    """Whether a pool of passages can be prepared for this scheme."""
    windows: tuple[tuple[str, str], ...] = ()
    window: str = ""
    kind: str = "items"
    wrong: tuple[Problem, ...] = ()
    wrongs: int = 0
    """How many mistakes there are; not all are listed."""
    shows: str = ""
    place: str = "/items"
    draws: bool = False
    """Whether a pool can be drawn from submitted runs for this scheme."""


@ROUTER.get(f"{PANEL}/items")
def items(
    request: Request, caller: Organiser, panel: str, after: Annotated[int, Query(ge=0, lt=2**40)] = 0
) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel, after=after))


@ROUTER.post(f"{PANEL}/items")
async def add(request: Request, caller: Organiser, panel: str) -> Response:
    """Add the items of a file: all of them, or none and what is wrong with each line."""
    return await _with_file(request, caller, panel, _from_file)


@ROUTER.post(f"{PANEL}/items/submissions")
async def add_submitted(request: Request, caller: Organiser, panel: str) -> Response:
    """Add the summaries of a window; the queries that they answer come from the list of their pack."""
    return await _with_file(request, caller, panel, _from_window)


@ROUTER.post(f"{PANEL}/items/pool")
async def add_pool(request: Request, caller: Organiser, panel: str) -> Response:
    """Add the pool of the runs of a window; what judges read in place of ids comes from a table, if there is one."""
    return await _with_file(request, caller, panel, _from_runs)


async def _with_file(
    request: Request, caller: Caller, panel: str, act: Callable[[Caller, str, Taken], Added]
) -> Response:
    taken = await take(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_acted, request, caller, panel, taken, act)
    finally:
        taken.forget()


def _acted(
    request: Request, caller: Caller, panel: str, taken: Taken, act: Callable[[Caller, str, Taken], Added]
) -> Response:
    try:
        added = act(caller, panel, taken)
    except RefusedError as error:
        if error.status == 404:
            raise
        kind, window = taken.form.text("kind", "items"), taken.form.text("window")
        page = _asked(caller, panel, wrong=tuple(error.problems), kind=kind, window=window)
        return show(request, caller, page, status=error.status)
    return go(caller, here(caller, panel, "/items"), _said(added))


def _said(added: Added) -> str:
    words = [plural(added.new, "{count} item is new.", "{count} items are new.")]
    if added.merged:
        words.append(plural(added.merged, "{count} looks like one that is there.", "{count} look like others."))
    if added.notes:
        words.append(plural(len(added.notes), "{count} could not be used.", "{count} could not be used."))
    return " ".join(one.striptags() for one in words)


def _from_file(caller: Caller, panel: str, taken: Taken) -> Added:
    with caller.office.reading() as session:
        row, scheme = found(session, caller, panel)
    made = _read(scheme, taken)
    with caller.office.writing() as session:
        return setting_up.add_items(session, caller.office, caller.actor, row.id, made)


def _read(scheme: Scheme, taken: Taken) -> tuple[Item, ...]:
    path, role = _named(taken), taken.form.text("role", "real")
    if role not in get_args(Role):
        raise refused("R-1", said("nobody knows what these are for"), said("choose one of the list"), status=422)
    try:
        made, findings = _pooled(scheme, path) if taken.form.text("kind") == "pool" else _listed(scheme, path, role)
    finally:
        path.unlink(missing_ok=True)
    if not findings.valid:
        raise RefusedError(list(findings.problems), status=422)
    if not made:
        raise refused("R-1", said("there is nothing in this file"), said("choose another file"), status=422)
    return made


def _listed(scheme: Scheme, path: Path, role: str) -> tuple[tuple[Item, ...], Findings]:
    return read_items(path, scheme, role=role, new_id=random_id)  # type: ignore[arg-type]


def _pooled(scheme: Scheme, path: Path) -> tuple[tuple[Item, ...], Findings]:
    """A pool made into a set: marks removed, vetted, dealt into rounds (R-1)."""
    pool, findings = read_pool(path)
    ready = prepare(pool, Wishes(test_share=1.0, round_size=scheme.round_size))
    return items_of(ready.passages, new_id=random_id), findings


def _named(taken: Taken) -> Path:
    """The file under a name of ours with its own ending, which tells its format."""
    if taken.path is None:
        raise refused("R-1", said("there is no file"), said("choose a file"), status=422)
    ending = "".join(Path(taken.name).suffixes[-1:]).lower()
    return taken.path.rename(taken.path.with_suffix(ending if ending in ENDINGS else ".csv"))


def _from_window(caller: Caller, panel: str, taken: Taken) -> Added:
    if taken.path is None:
        fix = said("choose the list of queries of the window")
        raise refused("M52", said("there is no list of queries"), fix, status=422)
    content = read_bounded(taken.path, summaries.LARGEST_PACK)
    with caller.office.reading() as session:
        row, _ = found(session, caller, panel)
    queries = summaries.asked_queries(caller.office, taken.name, content)
    window = taken.form.text("window")
    return summaries.from_submissions(caller.office, caller.actor, row.id, queries=queries, window=window)


def _from_runs(caller: Caller, panel: str, taken: Taken) -> Added:
    with caller.office.reading() as session:
        row, _ = found(session, caller, panel)
    form = taken.form
    types = ("primary",) if form.text("primary") else ()
    drawing = Drawing(_number(form.text("depth")), _number(form.text("budget")) or None, types)
    window, texts = form.text("window"), _texts(taken)
    return pools.draw(caller.office, caller.actor, row.id, drawing, window=window, texts=texts).added


def _number(given: str) -> int:
    """A count as somebody typed it; nothing is 0."""
    if not given.strip():
        return 0
    if not (given.strip().isdecimal() and len(given) < 10):
        raise refused("M95", said("this is no number"), said("write a whole number"), status=422, found=given[:40])
    return int(given)


def _texts(taken: Taken) -> Texts | None:
    if taken.path is None or not taken.name:
        return None
    path = _named(taken)
    try:
        return pools.checked_texts(path)
    finally:
        path.unlink(missing_ok=True)


def _asked(
    caller: Caller, name: str, *, after: int = 0, wrong: tuple[Problem, ...] = (), kind: str = "items", window: str = ""
) -> ItemsPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        rows = browsing.page_of_items(session, panel.id, after=after, limit=paging.ROWS + 1)
        lines = [_line(row) for row in rows]
        counts, top = browsing.counts(session, panel.id), head(session, panel, scheme)
    path = here(caller, name, "/items")
    return ItemsPage(
        said("Items"),
        top,
        counts,
        paging.paged(lines, key=lambda one: str(one.number), path=path, after=str(after) if after else None),
        panel.state in ("draft", "open"),
        scheme.shows == ("text",) and not scheme.pairwise,
        windows(caller.here[1])[1:] if "image" in scheme.shows or pools.takes_pools(scheme) else (),
        window or panel.window,
        kind,
        wrong[:MOST_PROBLEMS],
        len(wrong),
        ", ".join(scheme.shows),
        draws=pools.takes_pools(scheme),
    )


def _line(row: PanelItem) -> ItemLine:
    words = " · ".join(_words(block["kind"], block["value"]) for block in row.blocks if block["kind"] != "instructions")
    cut = words if len(words) <= BEGINS else words[: BEGINS - 1] + "…"
    return ItemLine(row.id, row.number, row.role, cut, facts_in_words(row.facts))


def _words(kind: str, value: str) -> str:
    return str(say("picture")) if kind == "image" else " ".join(value.split())
