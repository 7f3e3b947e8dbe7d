"""The items of a panel: where they come from, one as judges see it, and what judges flagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.store.tables import Panel, PanelItem
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import items as panel_items
from basanite.campaign.work.panels import monitor, setup, sources
from basanite.campaign.work.panels.items import Neighbours, neighbours
from basanite.campaign.work.panels.lookup import as_block
from basanite.campaign.work.panels.setup import Added
from basanite.campaign.work.panels.sources import Drawing
from basanite.formats.bounded import read_bounded
from basanite.formats.retrieval.instructions import sanitize_instructions
from basanite.problems import Findings, Problem
from basanite.server.catalogue import plural, say, say_plain
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, show
from basanite.server.pages.judge_questions import QuestionField, ShownBlock, question_fields, shown_blocks
from basanite.server.pages.organiser_frame import (
    MOST_PROBLEMS,
    PANEL,
    Organiser,
    PanelHead,
    act_on_panel,
    facts_in_words,
    facts_of_item,
    name_of,
    panel_address,
    panel_head,
    panel_with_scheme,
)
from basanite.server.pages.panel_adjudication import at as adjudicating_at
from basanite.server.pages.panel_create import windows
from basanite.server.pages.templates import Paged
from basanite.server.roles import Caller
from basanite.work.item_files import Texts, read_items
from basanite.work.items import Item, Role
from basanite.work.passages import Wishes, items_of, prepare, read_pool
from basanite.work.scheme import Scheme

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

    template = "panels/items.html"
    title: str
    panel: PanelHead
    counts: panel_items.Counts
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
    return show(request, caller, _items_page(caller, panel, after=after))


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
    request: Request, caller: Caller, panel: str, act: Callable[[Caller, str, UploadForm], Added]
) -> Response:
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_add_items, request, caller, panel, taken, act)
    finally:
        taken.forget()


def _add_items(
    request: Request, caller: Caller, panel: str, taken: UploadForm, act: Callable[[Caller, str, UploadForm], Added]
) -> Response:
    try:
        added = act(caller, panel, taken)
    except RefusedError as error:
        if error.status == 404:
            raise
        kind, window = taken.form.text("kind", "items"), taken.form.text("window")
        page = _items_page(caller, panel, wrong=tuple(error.problems), kind=kind, window=window)
        return show(request, caller, page, status=error.status)
    return go(caller, panel_address(caller, panel, "/items"), _added_words(added))


def _added_words(added: Added) -> str:
    words = [plural(added.new, "{count} item is new.", "{count} items are new.")]
    if added.merged:
        words.append(
            plural(added.merged, "{count} is similar to an existing item.", "{count} are similar to existing items.")
        )
    if added.notes:
        words.append(plural(len(added.notes), "{count} could not be used.", "{count} could not be used."))
    return " ".join(one.striptags() for one in words)


def _from_file(caller: Caller, panel: str, taken: UploadForm) -> Added:
    with caller.office.reading() as session:
        row, scheme = panel_with_scheme(session, caller, panel)
    made = _read(scheme, taken)
    with caller.office.writing() as session:
        return setup.add_items(session, caller.office, caller.actor, row.id, made)


def _read(scheme: Scheme, taken: UploadForm) -> tuple[Item, ...]:
    path, role = _file_with_ending(taken), taken.form.text("role", "real")
    if role not in get_args(Role):
        raise refused(
            "R-1", say_plain("their purpose is not given"), say_plain("choose an entry from the list"), status=422
        )
    try:
        made, findings = (
            _pool_items(scheme, path)
            if taken.form.text("kind") == "pool"
            else read_items(path, scheme, role=role, new_id=random_id)  # type: ignore[arg-type]
        )
    finally:
        path.unlink(missing_ok=True)
    if not findings.valid:
        raise RefusedError(list(findings.problems), status=422)
    if not made:
        raise refused("R-1", say_plain("the file is empty"), say_plain("choose another file"), status=422)
    return made


def _pool_items(scheme: Scheme, path: Path) -> tuple[tuple[Item, ...], Findings]:
    """A pool made into a set: marks removed, vetted, dealt into rounds (R-1)."""
    pool, findings = read_pool(path)
    ready = prepare(pool, Wishes(test_share=1.0, round_size=scheme.round_size))
    return items_of(ready.passages, new_id=random_id), findings


def _file_with_ending(taken: UploadForm) -> Path:
    """The file under a name of ours with its own ending, which tells its format."""
    if taken.path is None:
        raise refused("R-1", say_plain("the file is missing"), say_plain("choose a file"), status=422)
    ending = "".join(Path(taken.name).suffixes[-1:]).lower()
    return taken.path.rename(taken.path.with_suffix(ending if ending in ENDINGS else ".csv"))


def _from_window(caller: Caller, panel: str, taken: UploadForm) -> Added:
    if taken.path is None:
        fix = say_plain("choose the window's list of queries")
        raise refused("M52", say_plain("the list of queries is missing"), fix, status=422)
    content = read_bounded(taken.path, sources.LARGEST_PACK)
    with caller.office.reading() as session:
        row, _ = panel_with_scheme(session, caller, panel)
    queries = sources.asked_queries(caller.office, taken.name, content)
    window = taken.form.text("window")
    return sources.from_submissions(
        caller.office, caller.actor, row.id, sources.SummaryRuns(queries=queries, window=window)
    )


def _from_runs(caller: Caller, panel: str, taken: UploadForm) -> Added:
    with caller.office.reading() as session:
        row, _ = panel_with_scheme(session, caller, panel)
    form = taken.form
    types = ("primary",) if form.text("primary") else ()
    drawing = Drawing(_number(form.text("depth")), _number(form.text("budget")) or None, types)
    window, texts = form.text("window"), _texts(taken)
    return sources.draw(caller.office, caller.actor, row.id, drawing, window=window, texts=texts).added


def _number(given: str) -> int:
    """A count as somebody typed it; nothing is 0."""
    if not given.strip():
        return 0
    if not (given.strip().isdecimal() and len(given) < 10):
        raise refused("M95", say_plain("not a number"), say_plain("enter a whole number"), status=422, found=given[:40])
    return int(given)


def _texts(taken: UploadForm) -> Texts | None:
    if taken.path is None or not taken.name:
        return None
    path = _file_with_ending(taken)
    try:
        return sources.checked_texts(path)
    finally:
        path.unlink(missing_ok=True)


def _items_page(
    caller: Caller, name: str, *, after: int = 0, wrong: tuple[Problem, ...] = (), kind: str = "items", window: str = ""
) -> ItemsPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        rows = panel_items.page_of_items(session, panel.id, after=after, limit=templates.ROWS + 1)
        lines = [_item_line(row) for row in rows]
        counts, top = panel_items.item_counts(session, panel.id), panel_head(session, panel, scheme)
    path = panel_address(caller, name, "/items")
    return ItemsPage(
        say_plain("Items"),
        top,
        counts,
        templates.page_of(lines, key=lambda one: str(one.number), path=path, after=str(after) if after else None),
        panel.state in ("draft", "open"),
        scheme.shows == ("text",) and not scheme.pairwise,
        windows(caller.here[1])[1:] if "image" in scheme.shows or sources.takes_pools(scheme) else (),
        window or panel.window,
        kind,
        wrong[:MOST_PROBLEMS],
        len(wrong),
        ", ".join(scheme.shows),
        draws=sources.takes_pools(scheme),
    )


def _item_line(row: PanelItem) -> ItemLine:
    words = " · ".join(_words(block["kind"], block["value"]) for block in row.blocks if block["kind"] != "instructions")
    cut = words if len(words) <= BEGINS else words[: BEGINS - 1] + "…"
    return ItemLine(row.id, row.number, row.role, cut, facts_in_words(row.facts))


def _words(kind: str, value: str) -> str:
    return str(say("picture")) if kind == "image" else " ".join(value.split())


@dataclass(frozen=True)
class Told:
    """What a system tells the judges in one block."""

    at: int
    html: Markup
    hidden: bool = False


@dataclass(frozen=True)
class PreviewPage:
    """One item: what judges see, what they are asked, and what is kept from them."""

    template = "panels/preview.html"
    title: str
    panel: PanelHead
    item: str = ""
    number: int = 0
    of: int = 0
    before: str = ""
    after: str = ""
    blocks: tuple[ShownBlock, ...] = ()
    sides: bool = False
    instructions: Markup = field(default_factory=Markup)
    questions: tuple[QuestionField, ...] = ()
    marks: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    may_hide: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    place: str = "/preview"


@ROUTER.get(f"{PANEL}/preview")
def preview(
    request: Request, caller: Organiser, panel: str, item: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The page."""
    return show(request, caller, _preview_page(caller, panel, item))


@ROUTER.post(f"{PANEL}/items/{{item}}/hide")
def hide(request: Request, caller: Organiser, panel: str, item: str, form: PostedForm) -> Response:
    """Hide what a system tells the judges of this item."""
    block, reason = form.text("block"), form.text("reason")

    def act(session: Session, row: Panel) -> None:
        known = session.get(PanelItem, item)
        if known is None or known.panel_id != row.id or not block.isdecimal():
            raise missing("item")
        panel_items.hide(session, caller.office, caller.actor, item, int(block[:6]), reason=reason)

    words = say_plain("The words are hidden from all judges.")
    return act_on_panel(
        request, caller, panel, act, lambda: _preview_page(caller, panel, item), words, then=f"/preview?item={item}"
    )


def _preview_page(caller: Caller, name: str, item_id: str) -> PreviewPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        top = panel_head(session, panel, scheme)
        around = neighbours(session, panel.id, item_id)
        if around is None:
            return PreviewPage(say_plain("As judges see it"), top)
        return _page(session, caller, top, scheme, around)


def _page(session: Session, caller: Caller, top: PanelHead, scheme: Scheme, around: Neighbours) -> PreviewPage:
    row = around.item
    hidden = panel_items.hidden_blocks(session, row.id)
    blocks = panel_items.visible(row)
    every = [(at, as_block(plain)) for at, plain in enumerate(row.blocks)]
    return PreviewPage(
        say_plain("As judges see it"),
        top,
        row.id,
        row.number,
        around.of,
        _address(caller, top.name, around.before),
        _address(caller, top.name, around.after),
        shown_blocks(scheme, blocks, adjudicating_at(caller, f"/{top.name}")),
        scheme.pairwise,
        Markup(scheme.instructions),  # sanitised when the scheme was read (M51)
        question_fields(scheme, {}, blocks),
        tuple(flag.title for flag in scheme.flags),
        tuple(
            Told(at, Markup(sanitize_instructions(one.value)), at in hidden)  # built from an allow-list (M51)
            for at, one in every
            if one.kind == panel_items.HIDEABLE
        ),
        top.state in ("draft", "open"),
        facts_of_item(row.facts),
    )


def _address(caller: Caller, name: str, item: str) -> str:
    return panel_address(caller, name, f"/preview?item={item}") if item else ""


SHOWN = 200


@dataclass(frozen=True)
class FlagLine:
    """One mark of one judge."""

    words: str
    item: str
    number: int
    who: str
    facts: str
    at: datetime


@dataclass(frozen=True)
class FlagsPage:
    """All marks, the newest first."""

    template = "panels/flags.html"
    title: str
    panel: PanelHead
    flags: tuple[FlagLine, ...]
    more: int = 0
    place: str = "/flags"


@ROUTER.get(f"{PANEL}/flags")
def flags(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        row, scheme = panel_with_scheme(session, caller, panel)
        raised = monitor.flags(session, row.id)
        lines = tuple(_flag_line(session, caller, scheme, one) for one in raised[:SHOWN])
        top = panel_head(session, row, scheme)
    return show(request, caller, FlagsPage(say_plain("Flags"), top, lines, max(len(raised) - SHOWN, 0)))


def _flag_line(session: Session, caller: Caller, scheme: Scheme, one: monitor.Flag) -> FlagLine:
    words = next((flag.title for flag in scheme.flags if flag.value == one.flag), one.flag)
    number = session.get_one(PanelItem, one.item).number
    who = name_of(session, caller, one.person_id)
    return FlagLine(words, one.item, number, who, facts_in_words(one.facts), one.at)
