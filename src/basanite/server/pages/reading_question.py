"""Answering a question about a text: values, the pieces of text that say so, and search at hand (R-18, R-27)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.store.tables import ReadingRun
from basanite.campaign.work.reading import people
from basanite.campaign.work.reading.fulltext import Hit
from basanite.campaign.work.reading.people import Own, Place
from basanite.campaign.work.reading.services import Search, search
from basanite.reading.provenance import sentences
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.forms import Form, PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.reading import BASE, Answerer, at
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/answer/{{task_id}}"
Name = Annotated[str, Query(max_length=200)]
Words = Annotated[str, Query(max_length=500)]
HITS = 20


@dataclass(frozen=True)
class Piece:
    """A run of the text: a sentence, or what stands between two."""

    text: str
    start: int
    end: int
    sentence: bool
    chosen: bool = False


@dataclass(frozen=True)
class Variable:
    """Something that the question asks for, and what was typed."""

    name: str
    label: str
    literal: bool
    value: str = ""


@dataclass(frozen=True)
class QuestionPage:
    """One question about one text."""

    template = "reading/question.html"
    title: str
    package: str
    document: str
    text: str
    pieces: tuple[Piece, ...]
    variables: tuple[Variable, ...]
    own: tuple[Own, ...]
    done: bool
    number: int
    of: int
    finished: int
    address: str
    """Of the task."""
    here: str
    """What names this question in an address."""
    document_name: str
    query: str
    before: str
    after: str
    kind: str = "auto"
    chosen: tuple[tuple[int, int], ...] = ()
    search: str = ""
    hits: tuple[tuple[Hit, str], ...] = ()


@ROUTER.get(ADDRESS)
def reading_question(
    request: Request, task_id: str, caller: Answerer, document: Name = "", query: Name = "", q: Words = ""
) -> Response:
    """The question that is named, or the first that is open; with `q`, what the corpus says."""
    with caller.office.writing() as session:
        run = _run(session, caller, task_id)
        place = people.place(session, caller.office, run, document, query)
        wanted = Search(place.package.id, q, limit=HITS)
        hits = search(session, caller.office, caller.actor, run.campaign_id, wanted) if q else ()
    return show(request, caller, _page(caller, task_id, place, Draft(searched=q, hits=hits)))


@ROUTER.post(f"{ADDRESS}/give")
def give_answer(request: Request, task_id: str, caller: Answerer, form: PostedForm) -> Response:
    """Keep an answer with its evidence, and stay with the question."""
    document, query = form.text("document"), form.text("query")
    try:
        with caller.office.writing() as session:
            run = _run(session, caller, task_id)
            values = {name: text.splitlines() for name, text in form.beginning("value-").items()}
            pieces = tuple(_pieces(form))
            kind = form.text("kind")
            if kind not in ("explicit", "inferred"):
                kind = "inferred" if len(pieces) > 1 else "explicit"
            people.give(session, caller.office, run, document, query, people.Reply(values, kind, pieces))
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _again(caller, task_id, form), error)
    return go(caller, _address(caller, task_id, document, query), say_plain("Your answer is saved."))


@ROUTER.post(f"{ADDRESS}/done")
def end_question(request: Request, task_id: str, caller: Answerer, form: PostedForm) -> Response:
    """Nothing more to say to this question: on to the next that is open."""
    document, query = form.text("document"), form.text("query")
    with caller.office.writing() as session:
        run = _run(session, caller, task_id)
        people.place(session, caller.office, run, document, query)
        people.finish_question(session, caller.office, run, document, query)
        following = people.next_open(session, caller.office, run, (document, query))
    if following is None:
        return go(caller, at(caller), say_plain("All questions are answered. Thank you."))
    return go(caller, _address(caller, task_id, *following))


@ROUTER.post(f"{ADDRESS}/take-back")
def take_back_answer(request: Request, task_id: str, caller: Answerer, form: PostedForm) -> Response:
    """Take an answer back; it stays in the log."""
    with caller.office.writing() as session:
        people.take_back(session, caller.office, _run(session, caller, task_id), form.text("answer"))
    there = _address(caller, task_id, form.text("document"), form.text("query"))
    return go(caller, there, say_plain("The answer is withdrawn."))


def _run(session: Session, caller: Caller, task_id: str) -> ReadingRun:
    return people.sit_down(session, caller.office, caller.actor, caller.here[0].id, task_id)


def _address(caller: Caller, task_id: str, document: str, query: str) -> str:
    return f"{at(caller, f'/answer/{task_id}')}?{urlencode({'document': document, 'query': query})}"


def _pieces(form: Form) -> Iterator[tuple[int, int]]:
    for text in form.all("piece"):
        start, _, end = text.partition("-")
        if not (start.isdecimal() and end.isdecimal() and len(text) < 30):
            raise refused("R-18", say_plain("the evidence cannot be read"), say_plain("select it again"), status=422)
        yield int(start), int(end)


def _again(caller: Caller, task_id: str, form: Form) -> QuestionPage:
    """The question once more, with what was typed."""
    with caller.office.writing() as session:
        run = _run(session, caller, task_id)
        place = people.place(session, caller.office, run, form.text("document"), form.text("query"))
    try:
        chosen = tuple(_pieces(form))
    except RefusedError:
        chosen = ()
    return _page(caller, task_id, place, Draft(form.beginning("value-"), form.text("kind"), chosen))


@dataclass(frozen=True)
class Draft:
    """What was typed, chosen and searched for on the page so far."""

    typed: Mapping[str, str] = field(default_factory=dict)
    kind: str = "auto"
    chosen: tuple[tuple[int, int], ...] = ()
    searched: str = ""
    hits: tuple[Hit, ...] = ()


def _page(caller: Caller, task_id: str, place: Place, draft: Draft) -> QuestionPage:
    text = place.document.text
    return QuestionPage(
        say("Question {number} of {of}", number=place.number, of=place.of),
        place.package.title,
        place.document.name,
        text,
        tuple(pieces_of(text, draft.chosen)),
        tuple(_variable(place, name, draft.typed.get(name, "")) for name in place.asked.variables),
        tuple(_with_labels(one, place) for one in place.own),
        place.state == "done",
        place.number,
        place.of,
        place.done,
        at(caller, f"/answer/{task_id}"),
        place.asked.question,
        place.document.name,
        place.asked.id,
        _address(caller, task_id, *place.before) if place.before else "",
        _address(caller, task_id, *place.after) if place.after else "",
        draft.kind,
        draft.chosen,
        draft.searched,
        tuple((hit, _address(caller, task_id, hit.document, place.asked.id)) for hit in draft.hits),
    )


def _with_labels(one: Own, place: Place) -> Own:
    return replace(one, values=tuple((place.asked.labels.get(name, name), told) for name, told in one.values))


def _variable(place: Place, name: str, typed: str) -> Variable:
    return Variable(name, place.asked.labels.get(name, name), name in place.asked.literals, typed)


def pieces_of(text: str, chosen: tuple[tuple[int, int], ...] = ()) -> Iterator[Piece]:
    """A text in sentences and what stands between them: together they are the text."""
    last = 0
    for start, end in sentences(text):
        if start > last:
            yield Piece(text[last:start], last, start, False)
        yield Piece(text[start:end], start, end, True, (start, end) in chosen)
        last = end
    if last < len(text):
        yield Piece(text[last:], last, len(text), False)
