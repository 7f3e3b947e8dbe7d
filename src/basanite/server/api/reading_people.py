"""People's part of machine reading, by program: questions, answers, adjudication and versions of the gold (R-38).

Each call does what a form of a page does, by the same function: who may do it, what is checked and what is logged are
the same.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import ReadingGold, ReadingPackage, ReadingRun
from basanite.campaign.work.reading import adjudication, golds, people, scoring
from basanite.campaign.work.reading.adjudication import Case, Progress
from basanite.campaign.work.reading.packages import find
from basanite.campaign.work.reading.people import MOST_PIECES
from basanite.server.roles import Caller, allow

ROUTER = APIRouter()
Answerer = Annotated[Caller, allow("annotator", "judge", "evaluation", scope="submit")]
Adjudicator = Annotated[Caller, allow("adjudicator", "evaluation", scope="submit")]
Organiser = Annotated[Caller, allow("evaluation", scope="organise")]
Id = Annotated[str, Path(max_length=100)]
Name = Annotated[str, Query(max_length=200)]
Short = Annotated[str, Field(max_length=500)]
Why = Annotated[str, Field(max_length=adjudication.LONGEST_WHY)]


class HumanTask(BaseModel):
    """A task whose questions the caller may answer."""

    id: str
    package: str
    part: str
    documents: int
    queries: list[str]
    made: datetime


class OwnAnswer(BaseModel):
    """An answer that the caller gave to a question."""

    id: str
    values: dict[str, list[str]]
    kind: str
    provenance: list[dict[str, Any]]


class QuestionShown(BaseModel):
    """One question about one document, with the caller's own answers and nobody else's."""

    task: str
    package: str
    document: str
    text: str
    query: str
    question: str
    variables: list[str]
    literals: list[str]
    """The variables whose values are numbers, dates or other literals; all others are things with names."""
    answers: list[OwnAnswer]
    done: bool
    number: int
    of: int
    finished: int
    next: list[str] | None
    """Document and query of the next question that is open; null once all are done."""


class AnswerGiven(BaseModel):
    """What the caller answers: names or a value for each variable, and the places in the text that say so."""

    document: Short
    query: Short
    values: dict[Short, list[Short]] = Field(max_length=50)
    kind: str = "explicit"
    pieces: list[tuple[int, int]] = Field(default_factory=list, max_length=MOST_PIECES)
    """Start and end of each piece of the text, in code points."""


class QuestionNamed(BaseModel):
    """A question of a task."""

    document: Short
    query: Short


class ExcerptShown(BaseModel):
    """Words that an answer rests on, with what stands around them."""

    before: str
    exact: str
    after: str
    start: int
    end: int
    differs: bool


class BesideShown(BaseModel):
    """An answer to the same question: of the gold, or pooled."""

    id: str
    values: dict[str, list[str]]
    kind: str
    verdict: str
    gold: bool


class AnswerCaseShown(BaseModel):
    """A pooled answer that waits for a decision; nothing in it tells who gave it."""

    answer: str
    query: str
    question: str
    document: str
    values: dict[str, list[str]]
    kind: str
    excerpts: list[ExcerptShown]
    beside: list[BesideShown]
    verdict: str
    """What holds; empty while the answer is open."""
    seen: int
    """How many decisions there are; a decision names it, so that nobody overrules one that they have not seen."""
    next: str


class PoolShown(BaseModel):
    """How far a package is adjudicated, and the answer that is asked for or the first that waits."""

    waiting: int
    decided: int
    known: int
    """Answers that the gold knew already."""
    case: AnswerCaseShown | None


class DecisionMade(BaseModel):
    """A decision about an answer."""

    verdict: str
    seen: Annotated[int, Field(ge=0, le=10**9)]
    same_as: Annotated[str, Field(max_length=100)] = ""
    why: Why = ""


class Because(BaseModel):
    """Why something is done; it is logged."""

    why: Why = ""


class RunChange(BaseModel):
    """The F of one run before and after a version of the gold."""

    run: str
    system: str
    before: float | None
    after: float | None


class GoldShown(BaseModel):
    """A version of the gold that grew here."""

    id: str
    version: str
    state: str
    added: int
    """Answers of machines and people that it accepts beyond the version before."""
    reason: str
    runs: list[RunChange]
    """What it changes, as far as runs are scored."""


class ReferenceWanted(BaseModel):
    """What the gold that holds becomes the reference of; by default the package's window in its only language."""

    reason: Short
    dataset: Short = ""
    language: Short = ""


class ReferenceMade(BaseModel):
    """A new version of the reference, and the batch that previews it."""

    reference: str
    state: str
    gold: str
    batch: str | None


# People who answer


@ROUTER.get("/questions")
def list_human_tasks(caller: Answerer) -> list[HumanTask]:
    """The tasks whose questions people answer, newest first."""
    with caller.office.reading() as session:
        found = people.human_tasks(session, caller.here[0].id)
        return [
            HumanTask(
                id=row.id,
                package=row.reading_package_id,
                part=row.part,
                documents=row.documents,
                queries=list(row.queries),
                made=row.made,
            )
            for row in found
        ]


@ROUTER.get("/questions/{task_id}")
def show_question(task_id: Id, caller: Answerer, document: Name = "", query: Name = "") -> QuestionShown:
    """The question that is named, or the first that the caller has not finished."""
    with caller.office.writing() as session:
        return _question(session, caller, _run(session, caller, task_id), task_id, (document, query))


@ROUTER.post("/questions/{task_id}/answers", status_code=201)
def give_answer(task_id: Id, given: AnswerGiven, caller: Answerer) -> QuestionShown:
    """Answer a question; an answer that is not inferred needs the words that say so."""
    with caller.office.writing() as session:
        run = _run(session, caller, task_id)
        reply = people.Reply(
            {name.removeprefix("?"): told for name, told in given.values.items()}, given.kind, given.pieces
        )
        people.give(session, caller.office, run, given.document, given.query, reply)
        return _question(session, caller, run, task_id, (given.document, given.query))


@ROUTER.post("/questions/{task_id}/answers/{answer_id}/withdraw")
def withdraw_answer(task_id: Id, answer_id: Id, caller: Answerer) -> dict[str, str]:
    """Withdraw an answer of one's own; it stays in the log."""
    with caller.office.writing() as session:
        people.take_back(session, caller.office, _run(session, caller, task_id), answer_id)
    return {"withdrawn": answer_id}


@ROUTER.post("/questions/{task_id}/done")
def finish_question(task_id: Id, given: QuestionNamed, caller: Answerer) -> QuestionShown:
    """Say that there is nothing more to answer to a question; gives the next that is open, or the same one again."""
    with caller.office.writing() as session:
        run = _run(session, caller, task_id)
        at = given.document, given.query
        people.place(session, caller.office, run, *at)
        people.finish_question(session, caller.office, run, *at)
        return _question(session, caller, run, task_id, people.next_open(session, caller.office, run, at) or at)


def _run(session: Session, caller: Caller, task_id: str) -> ReadingRun:
    return people.sit_down(session, caller.office, caller.actor, caller.here[0].id, task_id)


def _question(session: Session, caller: Caller, run: ReadingRun, task_id: str, at: tuple[str, str]) -> QuestionShown:
    place = people.place(session, caller.office, run, *at)
    here = place.document.name, place.asked.id
    following = people.next_open(session, caller.office, run, here)
    return QuestionShown(
        task=task_id,
        package=place.package.id,
        document=place.document.name,
        text=place.document.text,
        query=place.asked.id,
        question=place.asked.question,
        variables=[f"?{name}" for name in place.asked.variables],
        literals=sorted(f"?{name}" for name in place.asked.literals),
        answers=[
            OwnAnswer(id=one.id, values=_values(one.values), kind=one.kind, provenance=list(map(dict, one.pieces)))
            for one in place.own
        ],
        done=place.state == "done",
        number=place.number,
        of=place.of,
        finished=place.done,
        next=list(following) if following else None,
    )


def _values(found: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, list[str]]:
    return {f"?{name}": list(told) for name, told in found}


# Adjudication


@ROUTER.get("/adjudication/{package_id}")
def show_case(package_id: Id, caller: Adjudicator, answer: Annotated[str, Query(max_length=64)] = "") -> PoolShown:
    """A pooled answer by its id, or the first that waits, blind to who gave it."""
    with caller.office.reading() as session:
        return _pool(session, caller, package_id, answer)


@ROUTER.post("/adjudication/{package_id}/undo")
def undo_decision(package_id: Id, caller: Adjudicator) -> PoolShown:
    """Open again what the caller decided last."""
    with caller.office.writing() as session:
        pool_id = adjudication.undo(session, caller.office, caller.actor, caller.here[0].id, package_id)
        return _pool(session, caller, package_id, pool_id)


@ROUTER.post("/adjudication/{package_id}/{pool_id}")
def decide_answer(package_id: Id, pool_id: Id, given: DecisionMade, caller: Adjudicator) -> PoolShown:
    """Decide about an answer; gives the next that waits. Refused if somebody has decided meanwhile."""
    with caller.office.writing() as session:
        before = _pool(session, caller, package_id, pool_id)
        ruling = adjudication.Ruling(given.verdict, given.seen, given.same_as, given.why)
        adjudication.decide(session, caller.office, caller.actor, caller.here[0].id, pool_id, ruling)
        return _pool(session, caller, package_id, before.case.next if before.case else "")


@ROUTER.post("/adjudication/{package_id}/{pool_id}/reopen")
def reopen_answer(package_id: Id, pool_id: Id, given: Because, caller: Adjudicator) -> PoolShown:
    """Open an answer again, no matter who decided about it."""
    with caller.office.writing() as session:
        _pool(session, caller, package_id, pool_id)
        adjudication.reopen(session, caller.office, caller.actor, caller.here[0].id, pool_id, why=given.why)
        return _pool(session, caller, package_id, pool_id)


def _pool(session: Session, caller: Caller, package_id: str, pool_id: str) -> PoolShown:
    found = adjudication.case(session, caller.office, caller.here[0].id, package_id, pool_id)
    state = found if isinstance(found, Progress) else found.progress
    case = None if isinstance(found, Progress) else _case(found)
    return PoolShown(waiting=len(state.waiting), decided=state.decided, known=state.known, case=case)


def _case(found: Case) -> AnswerCaseShown:
    excerpts = [
        ExcerptShown(**{name: getattr(one, name) for name in ExcerptShown.model_fields}) for one in found.excerpts
    ]
    beside = [
        BesideShown(id=one.id, values=_values(one.values), kind=one.kind, verdict=one.verdict, gold=one.gold)
        for one in found.beside
    ]
    return AnswerCaseShown(
        answer=found.id,
        query=found.asked.id,
        question=found.asked.question,
        document=found.document.name,
        values=_values(found.values),
        kind=found.kind,
        excerpts=excerpts,
        beside=beside,
        verdict=found.decision.verdict if found.decision else "",
        seen=len(found.history),
        next=found.after,
    )


# Versions of the gold


@ROUTER.post("/gold/{package_id}", status_code=201)
def propose_gold(package_id: Id, given: Because, caller: Organiser) -> GoldShown:
    """Make the next version of the gold from every decision; all runs are scored against it, and nothing changes."""
    with caller.office.writing() as session:
        package = find(session, caller.here[0].id, package_id)
        who = (session, caller.office, caller.actor, caller.here[0].id)
        row = golds.propose(*who, package.id, reason=given.why)
    scoring.score_due(caller.office, row.reading_package_id)
    return _gold(caller, row.id)


@ROUTER.get("/gold/{package_id}/proposed")
def show_proposed_gold(package_id: Id, caller: Organiser) -> GoldShown:
    """The version that is previewed, with what it would change."""
    with caller.office.reading() as session:
        package = find(session, caller.here[0].id, package_id)
        row = _proposed_gold(session, caller, package)
    return _gold(caller, row)


@ROUTER.post("/gold/{package_id}/apply")
def apply_gold(package_id: Id, caller: Organiser) -> GoldShown:
    """Let the proposed version hold."""
    return _end(caller, package_id, apply=True)


@ROUTER.post("/gold/{package_id}/cancel")
def cancel_gold(package_id: Id, caller: Organiser) -> GoldShown:
    """Reject the proposed version; decisions stay."""
    return _end(caller, package_id, apply=False)


@ROUTER.post("/gold/{package_id}/reference", status_code=201)
def refer_to_gold(package_id: Id, given: ReferenceWanted, caller: Organiser) -> ReferenceMade:
    """Make the gold that holds the reference of submissions, which are scored again: checked, sealed and previewed."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        package = find(session, row.id, package_id)
        place = golds.place_of(campaign, package, dataset=given.dataset, language=given.language)
    made = golds.make_reference(caller.office, caller.actor, row.id, package.id, place, reason=given.reason)
    batch = made.batch.id if made.batch else None
    return ReferenceMade(reference=made.reference.id, state=made.reference.state, gold=made.gold, batch=batch)


def _end(caller: Caller, package_id: str, *, apply: bool) -> GoldShown:
    with caller.office.writing() as session:
        package = find(session, caller.here[0].id, package_id)
        gold_id = _proposed_gold(session, caller, package)
        end = golds.apply if apply else golds.cancel
        end(session, caller.office, caller.actor, caller.here[0].id, gold_id)
    return _gold(caller, gold_id)


def _proposed_gold(session: Session, caller: Caller, package: ReadingPackage) -> str:
    found = [one for one in golds.versions(session, caller.office, package) if one.state == "proposed"]
    if not found:
        raise refused("R-17", "no gold version is previewed", "propose one", status=404)
    return found[0].id


def _gold(caller: Caller, gold_id: str) -> GoldShown:
    with caller.office.reading() as session:
        row = session.get_one(ReadingGold, gold_id)
        runs = [
            RunChange(run=one.run.id, system=one.run.label, before=_f(one.before), after=_f(one.after))
            for one in scoring.changes(session, caller.office, row)
        ]
        return GoldShown(
            id=row.id, version=f"v{row.number}", state=row.state, added=row.added, reason=row.reason, runs=runs
        )


def _f(result: Any) -> float | None:
    value: float | None = (result or {}).get("values", {}).get("f", {}).get("value")
    return value
