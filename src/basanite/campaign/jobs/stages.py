"""The stages of a submission: validate, score and analyse, receipt; each can be killed anywhere and done again.

A stage looks at the database first and does only what is not there yet; what it changes, it changes in one transaction
with the submission's row locked. Every run of a child is counted before it starts, so whatever kills it, a submission
ends after `limits.tries` runs of each stage: with a verdict, or `failed` by our fault, refunded and said so.

Whose fault: the file's, if reading it goes over a limit of time or memory (it is then invalid under X-8, and costs what
an invalid one costs); ours, if the child crashes, cannot start, or goes over a limit after the file was read.
"""

from __future__ import annotations

import errno
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from basanite import canonical
from basanite.campaign.intake import charges
from basanite.campaign.intake.similarity import note_members
from basanite.campaign.jobs.own_scorer import AnswersRefusedError, ScorerError
from basanite.campaign.jobs.scoring_process import Material, NoReferenceError, material, order, run_order
from basanite.campaign.model import refusals
from basanite.campaign.model.windows import board_summary
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import SYSTEM, Office
from basanite.campaign.store import events, looks
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Adoption, Reference, Result, Submission
from basanite.errors import BasaniteError
from basanite.problems import Findings, Problem
from basanite.sandbox.child import Outcome
from basanite.sandbox.runner import NoSandboxError

Stage = Literal["running", "validating", "scoring"]
Seen = TypeVar("Seen")
FINAL: Final = ("invalid", "scored", "failed")
UNDER_WAY: Final = ("received", "running", "validating", "scoring")
BEFORE: Final = {
    "running": ("received", "running"),
    "validating": ("received", "validating"),
    "scoring": ("scoring",),
}
KILLED: Final = "the work was interrupted repeatedly"
OVERTAKEN: Final = "overtaken"
"""What a run comes to whose reference was replaced before its result could be adopted."""
UNUSABLE: Final = "the reference or the settings of this window cannot be used"
LONGEST_PAUSE: Final = 60.0
NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What a full disk, a full share of it, or a process that may write nothing says."""
log = logging.getLogger("basanite.jobs")


class FaultError(BasaniteError):
    """A run of a stage came to nothing by our fault, in words for the team."""


class OvertakenError(Exception):
    """Another worker has gone on with the same work: nothing is to be done here."""


@dataclass(frozen=True)
class Try:
    """One attempt at a stage, with its number."""

    submission: Submission
    number: int


@dataclass(frozen=True)
class Written:
    """The files that scoring wrote, by their digests: the result, and the data of its charts if it has any."""

    digest: str
    figures: str | None = None


def validate(office: Office, submission_id: str) -> dict[str, Any]:
    """Find out whether a submission is valid; gives its state and, if it was scored in the same run, its result:
    the digest of what was written, and the key of all that went into it.

    In blind windows validating and scoring are two runs: when a team learns that its submission is valid depends on
    nothing that scoring does (M68).
    """
    while True:
        begun = begin(office, submission_id, "validating")
        if isinstance(begun, str):
            return {"state": begun, "result": None}
        verdict = run_try(office, begun, _run_validation)
        if verdict is not None:
            return verdict
        pause(office, begun.number)


def score(office: Office, submission_id: str, result: Mapping[str, str] | None = None) -> str:
    """Score a valid submission, or keep the result that it has been given already; gives its state.

    If another version of the truth came to hold meanwhile, it is scored again with that one, and no try is counted.
    """
    while True:
        begun = begin(office, submission_id, "scoring")
        if isinstance(begun, str):
            return begun
        state = run_try(office, begun, partial(_run_scoring, result=result))
        if state is None:
            pause(office, begun.number)
        elif state != OVERTAKEN:
            return state


def begin(office: Office, submission_id: str, stage: Stage) -> Try | str:
    """Count a run of a stage before it starts; gives the state instead if the stage is over, or all tries are."""
    with office.writing() as session:
        row = lock_submission(session, submission_id)
        if row.state not in BEFORE[stage]:
            return row.state
        if row.tries >= office.settings.limits.tries:
            fail(session, office, row, row.fault or KILLED)
            return row.state
        row.tries += 1
        if row.state != stage:
            move(session, office, row, stage)
    return Try(row, row.tries)


def lock_submission(session: Session, submission_id: str) -> Submission:
    """A submission that nobody else changes before this transaction ends; its team is locked first, as everywhere."""
    charges.lock_team(session, session.get_one(Submission, submission_id).team_id)
    return session.get_one(Submission, submission_id, with_for_update=True, populate_existing=True)


def move(session: Session, office: Office, row: Submission, state: str) -> None:
    """Give a submission another state, at the time of its campaign."""
    row.state, row.state_at = state, in_force(session, row.campaign_id).now(office.clock())


def pause(office: Office, number: int) -> None:
    """Wait before something is tried again, longer each time."""
    time.sleep(min(office.settings.limits.pause_seconds * 2 ** (number - 1), LONGEST_PAUSE))


def run_try(office: Office, begun: Try, work: Callable[[Office, Try, Material], Seen]) -> Seen | None:
    """Do a run of a stage; None if it is to be tried again, by a fault of ours that is written down.

    Whatever is raised here is our fault, a mistake in our code included: the submission must end all the same.
    """
    try:
        with office.reading() as session:
            used = material(session, office, session.get_one(Submission, begun.submission.id))
        return work(office, begun, used)
    except OvertakenError:
        raise
    except (FaultError, NoReferenceError, ScorerError) as error:
        fault = str(error)
    except NoSandboxError:
        fault = "no limited process could be made"
    except Exception as error:  # a fault of ours or of the machine costs the team nothing: it is noted and retried
        log.exception("submission %s: a run of a stage failed", begun.submission.id)
        fault, room = _words(error), getattr(error, "errno", None) not in NO_ROOM
        _note(office, begun.submission.id, fault, counts=room)
        return None
    _note(office, begun.submission.id, fault)
    return None


def _words(error: Exception) -> str:
    """What went wrong, for the team: nothing of any path, query or file."""
    if isinstance(error, OSError):
        return "the server's disk could not be written"
    return "the database was unavailable" if isinstance(error, SQLAlchemyError) else "an error in the server"


def _note(office: Office, submission_id: str, fault: str, *, counts: bool = True) -> None:
    """Write down what went wrong; a disk without room says nothing about the submission, so it costs no try."""
    with office.writing() as session:
        row = lock_submission(session, submission_id)
        if row.state not in FINAL:
            row.fault = fault
            row.tries -= int(not counts)


def _run_validation(office: Office, begun: Try, used: Material) -> dict[str, Any]:
    """Run a validating child; the first time, where nothing is blind, it scores as well."""
    try:
        return _validated(office, begun, used)
    except AnswersRefusedError as error:
        findings = Findings()
        findings.add(error.problem)
        digest = office.files.put(canonical.dumps(findings.as_dict(used.task)).encode()).digest
        return {"state": _end_validation(office, begun, digest, valid=False), "result": None}


def _validated(office: Office, begun: Try, used: Material) -> dict[str, Any]:
    together = not used.blind and begun.number == 1
    with run_order(office, order(office, "examine" if together else "validate", begun.submission, used)) as outcome:
        problems = outcome.path("problems.json") if outcome.good else None
        if problems is not None:
            return _verdict(office, begun, used, outcome, problems)
        if outcome.overran and not outcome.passed_checks:
            digest = office.files.put(_too_much(office, begun, outcome.overran)).digest
            return {"state": _end_validation(office, begun, digest, valid=False), "result": None}
        raise FaultError(outcome.fault)


def _verdict(office: Office, begun: Try, used: Material, outcome: Outcome, problems: Path) -> dict[str, Any]:
    found = refusals.listed_problems(problems.read_bytes())
    if any(one["where"] != "submission" and one["severity"] == "reject" for one in found["problems"]):
        raise FaultError(UNUSABLE)
    result = outcome.path("result.json")
    scored: dict[str, str] | None = None
    if result is not None:
        written = keep_files(office, outcome, result)
        figures = {"figures": written.figures} if written.figures else {}
        scored = {"digest": written.digest, "key": used.key(begun.submission), **figures}
    members = outcome.path("members.json")
    kept = json.loads(members.read_bytes()) if members is not None and found["valid"] else ()
    state = _end_validation(office, begun, office.files.take(problems).digest, valid=found["valid"], members=kept)
    return {"state": state, "result": scored}


def keep_files(office: Office, outcome: Outcome, result: Path) -> Written:
    """Keep the files of a result."""
    figures = outcome.path("figures.json")
    return Written(office.files.take(result).digest, office.files.take(figures).digest if figures else None)


def _too_much(office: Office, begun: Try, limit: str) -> bytes:
    """The problems of a file that could not be read within the limits, as `validate --json` writes them."""
    limits, name = office.settings.limits, begun.submission.name
    most = {"time": f"{limits.seconds:g} s", "memory": f"{limits.memory // 2**20} MiB"}.get(limit, "what is allowed")
    message = f"reading it exceeded the limit on {limit} ({most})"
    findings = Findings()
    findings.add(Problem("X-8", name, None, None, message, "validate it offline first, and send a smaller file"))
    return canonical.dumps(findings.as_dict(begun.submission.task.lower())).encode()


def _end_validation(office: Office, begun: Try, problems: str, *, valid: bool, members: Sequence[str] = ()) -> str:
    """Write the verdict once, with what it costs and whom it is told; gives the state that then holds."""
    with office.writing() as session:
        row = lock_submission(session, begun.submission.id)
        if row.state != "validating":
            return row.state
        note_members(session, row, members)
        settle(session, office, row, problems, valid=valid)
        return row.state


def settle(session: Session, office: Office, row: Submission, problems: str, *, valid: bool) -> None:
    """Write down what validation found, with what it costs and whom it is told; the caller has locked the row."""
    row.problems_digest, row.fault = problems, ""
    row.tries = 0 if valid else row.tries
    move(session, office, row, "scoring" if valid else "invalid")
    (charges.charge if valid else charges.free)(session, office, row)
    _say(session, office, row, "valid" if valid else "invalid")


def _run_scoring(office: Office, begun: Try, used: Material, result: Mapping[str, str] | None) -> str:
    """Adopt what was computed with the same material already, or compute it."""
    if result and result["key"] == used.key(begun.submission) and office.files.has(result["digest"]):
        return adopt(office, begun, used, Written(result["digest"], result.get("figures")))
    with run_order(office, order(office, "score", begun.submission, used)) as outcome:
        written = outcome.path("result.json") if outcome.good else None
        if written is None:
            raise FaultError(outcome.fault)
        return adopt(office, begun, used, keep_files(office, outcome, written))


def adopt(office: Office, begun: Try, used: Material, written: Written) -> str:
    """Keep a result once under its key, and let it hold for its submission once.

    The reference is held until the end: anyone who applies a re-scoring waits, and then finds this submission scored.
    """
    with office.writing() as session:
        row = lock_submission(session, begun.submission.id)
        if row.state != "scoring":
            return row.state
        read = {"read": True}
        held = session.get_one(Reference, used.reference.id, with_for_update=read, populate_existing=True)
        if held.state != "active":
            row.tries -= 1
            return OVERTAKEN
        key = keep(session, office, row, used, written)
        if session.scalar(select(Adoption.sequence).where(Adoption.submission_id == row.id).limit(1)) is None:
            session.add(Adoption(submission_id=row.id, result_key=key, batch_id=None, at=office.clock()))
        move(session, office, row, "scored")
        row.fault, row.unsigned = "", True
        _record(session, office, row, "scored", result=key)
        looks.note(session, row)
        if not used.blind:
            _tell(session, office, row, "result_there")
        return row.state


def keep(session: Session, office: Office, row: Submission, material: Material, written: Written) -> str:
    """Keep a result under the key of all that went in; one that is there stays as it is."""
    key = material.key(row)
    if session.get(Result, key) is None:
        result = json.loads(office.files.read(written.digest))
        primary = result["values"].get(result["primary"], {}).get("value")
        session.add(
            Result(
                key=key,
                submission_id=row.id,
                reference_id=material.reference.id,
                digest=written.digest,
                figures=written.figures,
                primary=primary,
                board=board_summary(result),
                settings=result["settings"],
                software=material.software,
                plan_version=material.plan_version,
                at=office.clock(),
            )
        )
        session.flush()
    return key


def fail(session: Session, office: Office, row: Submission, fault: str) -> None:
    """End a submission by our fault: said to its team, and given back."""
    move(session, office, row, "failed")
    row.fault = fault
    charges.refund(session, office, row, reason=f"our fault: {fault}")
    _say(session, office, row, "failed")


def _say(session: Session, office: Office, row: Submission, what: str) -> None:
    _record(session, office, row, what)
    _tell(session, office, row, f"submission_{what}")


def _record(session: Session, office: Office, row: Submission, what: str, **data: str) -> None:
    events.record(
        session,
        f"submission.{what}",
        at=office.clock(),
        actor=SYSTEM.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data=data,
    )


def _tell(session: Session, office: Office, row: Submission, template: str) -> None:
    data = {"submission": row.id, "number": row.number, "window": row.window}
    tell(session, office, template, persons=(row.person_id,), campaign_id=row.campaign_id, data=data, once=row.id)
