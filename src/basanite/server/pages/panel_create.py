"""Panels of a campaign, and a new one: a preset or a scheme of one's own, shown as judges will see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.roles import holders
from basanite.campaign.work.panels import adjudication, monitor, setup
from basanite.campaign.work.panels.lookup import find_panel, scheme_of
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.reports.wording import percent
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages.forms import UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.judge_questions import QuestionField, ShownBlock, flowing, question_fields, shown_blocks
from basanite.server.pages.organiser_frame import PANELS, Organiser, name_of, panel_address
from basanite.server.roles import Caller
from basanite.work.items import Block
from basanite.work.scheme import PRESETS, Scheme, preset_text, read_scheme

WORDS = {
    "readability": (sentence("Readability"), sentence("1 to 5 stars, then ranking ten passages; experts and novices")),
    "relevance": (sentence("Relevance of summaries"), sentence("query, domain and summary image; judged twice")),
    "key-query": (sentence("Answer key: queries and documents"), sentence("is the document relevant? judged twice")),
    "key-domain": (sentence("Answer key: domains of documents"), sentence("more than a passing mention? judged twice")),
    "pool": (sentence("Pool"), sentence("pooled documents, by priority")),
    "likert": (sentence("Likert scale"), sentence("agree or disagree, in five steps")),
    "binary": (sentence("Yes or no"), sentence("one question, judged twice")),
    "slider": (sentence("Slider"), sentence("a number between 0 and 100")),
    "pairwise": (sentence("Pairwise comparison"), sentence("which of the two is better?")),
    "ranking": (sentence("Ranking"), sentence("rank several items")),
    "da": (sentence("Direct assessment"), sentence("adequacy from 0 to 100")),
    "esa": (sentence("Error spans, then a score"), sentence("mark errors, then rate from 0 to 100")),
    "mqm": (sentence("MQM"), sentence("error spans with category and severity")),
}


BEGUN = """format = "basanite-judging/1"
name = "{preset}"
preset = "{preset}"

# [pay]
# per_item = 0.40
# currency = "EUR"
# floor = 13.00

# The ready-made scheme says what follows. To change a line, write it above [pay] without the mark.
"""


@dataclass(frozen=True)
class Preset:
    """A ready-made scheme to begin with."""

    id: str
    title: str
    words: str


def presets() -> tuple[Preset, ...]:
    """All of them; one that has no words here is called by its name."""
    return tuple(Preset(one, *map(say, WORDS.get(one, (one, "")))) for one in PRESETS)


def preset_scheme_text(preset: str) -> str:
    """A scheme on top of a preset, with what the preset says in remarks: to change it, write it without the mark."""
    says = "".join(f"# {line}".rstrip() + "\n" for line in preset_text(preset).splitlines()[1:])
    return BEGUN.format(preset=preset) + says


def kind_of(scheme: Scheme) -> str:
    """What kind of judging this is, in words."""
    return say_plain(WORDS[scheme.preset][0]) if scheme.preset in WORDS else scheme.name


def facts_of(scheme: Scheme) -> tuple[tuple[str, str], ...]:
    """What a scheme says beside its questions, in words."""
    return tuple(_facts(scheme))


def _facts(scheme: Scheme) -> Iterator[tuple[str, str]]:
    for group, wanted in scheme.per_group.items():
        words = plural(wanted, "{count} judgment", "{count} judgments") if wanted else say("by all judges")
        yield say("each item, by group “{group}”", group=group), words
    yield say("round"), plural(scheme.round_size, "{count} item", "{count} items")
    if scheme.training.count:
        yield say("training"), plural(scheme.training.count, "{count} item", "{count} items")
    if scheme.checks.share:
        yield say("hidden checks"), percent(scheme.checks.share)
    if scheme.pay.is_paid:
        yield say("pay"), pay_rule(scheme)


def pay_rule(scheme: Scheme) -> str:
    """The pay in one line."""
    pay = scheme.pay
    if not pay.is_paid:
        return say_plain("The scheme does not mention pay.")
    given = {"currency": pay.currency, "floor": money(pay.floor)}
    if pay.per_item:
        return say_plain("{amount} {currency} per item; at least {floor} per hour", amount=money(pay.per_item), **given)
    return say_plain("{amount} {currency} per hour; at least {floor} per hour", amount=money(pay.per_hour), **given)


def money(amount: float) -> str:
    """An amount of money as people write it.

    >>> money(1234.5)
    '1,234.50'
    """
    return f"{amount:,.2f}"


ROUTER = APIRouter(include_in_schema=False)
JUDGING = ("judge", "annotator", "adjudicator")
SHOWN = 200


@dataclass(frozen=True)
class PanelLine:
    """One panel."""

    name: str
    title: str
    kind: str
    state: str
    done: int
    of: int
    judges: int
    agreement: float | None
    why: str
    """Why there is no agreement yet."""
    cases: int
    flags: int


@dataclass(frozen=True)
class ListedPage:
    """All panels, who may judge, and what the plan says about judging."""

    template = "panels/list.html"
    title: str
    panels: tuple[PanelLine, ...]
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Role, and who holds it."""
    rules: tuple[tuple[str, str], ...]
    """What the campaign's file says under `judging`."""
    more: int = 0


@ROUTER.get(PANELS)
def panels(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        known = monitor.overview(session, row.id)
        lines = tuple(_line(session, caller, one) for one in known[:SHOWN])
        people = tuple(
            (role, tuple(name_of(session, caller, one) for one in holders(session, row.id, (role,))))
            for role in JUDGING
        )
    rules = tuple((str(name), str(value)) for name, value in campaign.judging.items())
    return show(request, caller, ListedPage(say("Judging"), lines, people, rules, max(len(known) - SHOWN, 0)))


def _line(session: Session, caller: Caller, one: monitor.PanelLine) -> PanelLine:
    scheme = scheme_of(find_panel(session, one.id))
    stands = monitor.progress(session, caller.office, one.id)
    first = stands.agreement[0].alpha if stands.agreement else None
    value = first.value if first is not None and first.is_defined else None
    why = say_plain("nothing to compare") if first is None else first.reason
    waits = adjudication.open_cases(session, one.id)
    counts = (stands.done, stands.of, one.judges)
    return PanelLine(one.name, one.title, kind_of(scheme), one.state, *counts, value, why, waits, stands.flags)


LARGEST = setup.LARGEST_SCHEME
FILE = "scheme.toml"
SAMPLE = "…"


@dataclass(frozen=True)
class SchemePreview:
    """A scheme as a judge will meet it, with an empty item."""

    instructions: Markup
    blocks: tuple[ShownBlock, ...]
    sides: bool
    questions: tuple[QuestionField, ...]
    marks: tuple[str, ...]
    """What judges can say of an item beside the answers."""
    facts: tuple[tuple[str, str], ...]
    consent: str = ""
    consent_version: str = ""


@dataclass(frozen=True)
class CreatePage:
    """The form, what is wrong with the text, and how it will look."""

    template = "panels/create.html"
    title: str
    presets: tuple[Preset, ...]
    preset: str = ""
    name: str = ""
    text: str = ""
    windows: tuple[tuple[str, str], ...] = ()
    window: str = ""
    problems: tuple[Problem, ...] = ()
    shown: SchemePreview | None = field(default=None)


@ROUTER.get(f"{PANELS}/new")
def form(request: Request, caller: Organiser, preset: Annotated[str, Query(max_length=40)] = "") -> Response:
    """The page, perhaps with the text of a ready-made scheme."""
    chosen = preset if preset in PRESETS else ""
    text = preset_scheme_text(chosen) if chosen else ""
    return show(request, caller, replace(_empty(caller), preset=chosen, text=text, name=chosen))


@ROUTER.post(f"{PANELS}/new")
async def create(request: Request, caller: Organiser) -> Response:
    """Look at the scheme as a judge, or make the panel."""
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_create_panel, request, caller, taken)
    finally:
        taken.forget()


def _create_panel(request: Request, caller: Caller, taken: UploadForm) -> Response:
    page = _filled_page(caller, taken)
    scheme, problems = read_scheme(page.text, FILE)
    page = replace(page, problems=problems, shown=scheme_preview(scheme) if scheme else None)
    if taken.form.text("act") != "create" or scheme is None:
        return show(request, caller, page, status=200 if scheme else 422)
    try:
        with caller.office.writing() as session:
            new = setup.NewPanel(page.text, page.name, page.window)
            panel = setup.create(session, caller.office, caller.actor, caller.here[0].id, new)
            address = panel_address(caller, panel.name, "/items")
    except RefusedError as error:
        return refuse(request, caller, page, error)
    return go(caller, address, say_plain("The panel is created. Now add the items to judge."))


def _filled_page(caller: Caller, taken: UploadForm) -> CreatePage:
    text = taken.form.raw("text")
    if taken.path is not None:
        text = read_bounded(taken.path, LARGEST).decode("utf-8", "replace")
    return replace(_empty(caller), name=taken.form.text("name"), text=text, window=taken.form.text("window"))


def _empty(caller: Caller) -> CreatePage:
    return CreatePage(say("New panel"), presets(), windows=windows(caller.here[1]))


def windows(campaign: Campaign) -> tuple[tuple[str, str], ...]:
    """The windows of a campaign for a choice, the empty one first."""
    return (("", ""), *((one.id, one.title or one.id) for one in campaign.windows))


def scheme_preview(scheme: Scheme) -> SchemePreview:
    """A scheme as a judge will meet it, with an item in which nothing stands yet."""
    kinds = [kind for kind in scheme.shows if kind not in ("image", "instructions")]
    blocks = tuple(Block(kind, SAMPLE) for kind in kinds)  # type: ignore[arg-type]
    return SchemePreview(
        Markup(scheme.instructions),  # sanitised when the scheme was read (M51)
        shown_blocks(scheme, blocks, ""),
        scheme.pairwise,
        question_fields(scheme, {}, blocks),
        tuple(flag.title for flag in scheme.flags),
        facts_of(scheme),
        flowing(scheme.consent.text),
        scheme.consent.version,
    )
