"""One case: the item as judges saw it, what they said side by side, and the decision with its reason (M88)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.panels.deciding import adjudicating
from basanite.campaign.panels.deciding.adjudicating import NONE_OF_THESE, Case, Decided
from basanite.campaign.people.persons import personal
from basanite.judging.scheme import Scheme
from basanite.reports.wording import percent
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.adjudicating.asking import answers_in_words, in_one_line, reasons_in
from basanite.server.pages.adjudicating.desk import CODES, OTHER, PANEL, Adjudicator, at, found
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.judging.filled import answers_of
from basanite.server.pages.judging.questions import Asked, asked
from basanite.server.pages.judging.shown import Shown, shown_blocks
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
CASE = f"{PANEL}/{{case}}"
MOST_KEYS = 8
"""Judgements that have a key of their own; 9 and 0 mean something else."""
KINDS = {
    "decided": sentence("decided"),
    "none": sentence("none of these"),
    "reopened": sentence("opened again"),
}


@dataclass(frozen=True)
class VoiceCard:
    """What one judge said."""

    who: str
    answers: tuple[tuple[str, str], ...]
    reasons: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An answer that one or several judges gave."""

    value: str
    words: str
    who: str
    key: str = ""


@dataclass(frozen=True)
class Step:
    """One line of a case's history."""

    what: str
    words: str
    why: str
    who: str
    at: datetime


@dataclass(frozen=True)
class CasePage:
    """Everything that a decision needs, and nothing that tells the system."""

    title: str
    panel: str
    queue: str
    action: str
    left: int
    state: str
    """`open` or `decided`."""
    disagreement: str
    blocks: tuple[Shown, ...]
    sides: bool
    voices: tuple[VoiceCard, ...]
    options: tuple[Option, ...]
    questions: tuple[Asked, ...]
    """For an answer that no judge gave."""
    codes: tuple[tuple[str, str, str], ...]
    history: tuple[Step, ...]
    skip: str = ""
    outcome: str = ""
    own: bool = False
    """Whether the reader judged the item: then it is for somebody else."""
    filled: Mapping[str, str] = field(default_factory=dict)


@ROUTER.get(CASE)
def case(request: Request, caller: Adjudicator, panel: str, case: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel, case))


@ROUTER.post(CASE)
def decide(request: Request, caller: Adjudicator, panel: str, case: str, form: Filled) -> Response:
    """Decide, and go on to the next case."""
    try:
        with caller.office.writing() as session:
            scheme, one = _found(session, caller, panel, case)
            answers = _taken(scheme, one, form)
            adjudicating.decide(session, caller.office, caller.actor, case, answers, _reason(form))
    except RefusedError as error:
        return _again(request, caller, panel, case, form, error)
    with caller.office.reading() as session:
        following = _next(session, caller, panel, case)
    words = said("Decided. This is the next case.") if following else said("Decided. There is no other open case.")
    return go(caller, following or at(caller, f"/{panel}"), words)


@ROUTER.post(f"{CASE}/reopen")
def reopen(request: Request, caller: Adjudicator, panel: str, case: str, form: Filled) -> Response:
    """Open a decided case again; what was decided stays in its history."""
    try:
        with caller.office.writing() as session:
            _found(session, caller, panel, case)
            adjudicating.reopen(session, caller.office, caller.actor, case, form.text("reason"))
    except RefusedError as error:
        return _again(request, caller, panel, case, form, error)
    return go(caller, at(caller, f"/{panel}/{case}"), said("The case is open again."))


def _again(request: Request, caller: Caller, panel: str, case: str, form: Form, error: RefusedError) -> Response:
    if error.status == 404:
        raise error
    return refuse(request, caller, _asked(caller, panel, case, form), error)


def _found(session: Session, caller: Caller, name: str, case_id: str) -> tuple[Scheme, Case]:
    """The case, if it is one of this panel, and the panel one of this campaign."""
    panel, scheme = found(session, caller, name)
    one = adjudicating.case(session, caller.office, case_id, viewer=caller.actor.id)
    if one.panel_id != panel.id:
        raise missing("case")
    return scheme, one


def _taken(scheme: Scheme, one: Case, form: Form) -> Any:
    """What the form decides for: answers of a judge, other ones, or none of these."""
    chosen = form.text("take")
    if chosen == "none":
        return NONE_OF_THESE
    if chosen == "own":
        return answers_of(scheme, one.blocks, form)
    given = {voice.letter: voice.answers for voice in one.voices}
    if chosen not in given:
        raise refused("M88", said("nothing was chosen"), said("choose what holds"), status=422)
    return given[chosen]


def _reason(form: Form) -> str:
    code, words = form.text("code"), form.text("reason")
    if code not in {one for one, _, _ in CODES}:
        raise refused("M88", said("no reason was chosen"), said("say why"), status=422)
    if code == OTHER and not words:
        raise refused("M88", said("another reason needs words"), said("write the reason"), status=422)
    return f"{code}: {words}" if words else code


def _next(session: Session, caller: Caller, panel: str, case_id: str) -> str:
    """The open case after this one, from the widest disagreement on; the first one after the last."""
    row, _ = found(session, caller, panel)
    waits = [one.id for one in adjudicating.queue(session, row.id)]
    others = [one for one in waits if one != case_id]
    if not others:
        return ""
    where = waits.index(case_id) if case_id in waits else 0
    return at(caller, f"/{panel}/{others[where % len(others)]}")


def _asked(caller: Caller, name: str, case_id: str, form: Form | None = None) -> CasePage:
    with caller.office.reading() as session:
        scheme, one = _found(session, caller, name, case_id)
        left = adjudicating.open_cases(session, one.panel_id)
        history = tuple(_step(session, caller, scheme, each) for each in one.history[::-1])
        skip = _next(session, caller, name, case_id)
    address = at(caller, f"/{name}")
    last = one.history[-1] if one.history and one.state != "open" else None
    return CasePage(
        said("Case"),
        scheme.title,
        address,
        f"{address}/{case_id}",
        left,
        "open" if one.state == "open" else "decided",
        percent(round(one.disagreement, 2)) if 0 < one.disagreement < 1 else "",
        shown_blocks(scheme, one.blocks, address),
        scheme.pairwise,
        tuple(_voice(scheme, each) for each in one.voices),
        _options(scheme, one),
        asked(scheme, _typed(scheme, form), one.blocks),
        tuple((code, str(say(words)), key) for code, words, key in CODES),
        history,
        skip,
        _outcome(scheme, last) if last else "",
        one.own,
        {} if form is None else {name: form.text(name) for name in ("take", "code", "reason")},
    )


def _voice(scheme: Scheme, one: adjudicating.Voice) -> VoiceCard:
    names = {flag.value: flag.title for flag in scheme.flags}
    flags = tuple(names.get(flag, flag) for flag in one.flags)
    who = said("Judge {letter}", letter=one.letter)
    return VoiceCard(who, answers_in_words(scheme, one.answers), reasons_in(scheme, one.answers), flags)


def _options(scheme: Scheme, one: Case) -> tuple[Option, ...]:
    """What judges answered, each answer once, with who gave it."""
    voices: dict[str, list[str]] = {}
    for voice in one.voices:
        voices.setdefault(in_one_line(scheme, voice.answers), []).append(voice.letter)
    keys = [*map(str, range(1, MOST_KEYS + 1)), *([""] * len(voices))]
    return tuple(
        Option(letters[0], words, said("Judge {letter}", letter=", ".join(letters)), key)
        for key, (words, letters) in zip(keys, voices.items(), strict=False)
    )


def _typed(scheme: Scheme, form: Form | None) -> dict[str, Any]:
    return {} if form is None else {one.id: form.text(f"q-{one.id}") for one in scheme.questions}


def _outcome(scheme: Scheme, last: Decided) -> str:
    return said("none of these") if last.kind == "none" else in_one_line(scheme, last.answers)


def _step(session: Session, caller: Caller, scheme: Scheme, one: Decided) -> Step:
    words = in_one_line(scheme, one.answers) if one.kind == "decided" else ""
    who = personal(session, caller.office, one.by).name
    return Step(str(say(KINDS[one.kind])), words, reason_in_words(one.reason), who, one.at)


def reason_in_words(reason: str) -> str:
    """A reason as people read it: its code in words, and what was written."""
    code, _, text = reason.partition(": ")
    known = {one: words for one, words, _ in CODES}
    if code not in known:
        return reason
    return said("{why}: {text}", why=said(known[code]), text=text) if text else said(known[code])
