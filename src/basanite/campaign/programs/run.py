"""The run of a program, stage by stage: unpack, smoke test, sealed items, check; then its answers are scored (G-2).

Each call that is answered is kept in one transaction with what it cost, so that a crash of ours, wherever it comes,
costs at most the call that was on, and nothing that had ended is run again or paid for twice (G-4). A run gives way to
other teams after a while and goes on later. What ended is made known at whole minutes alone, for the time that a
program takes on sealed items could carry them to its team.
"""

from __future__ import annotations

import io
import math
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from basanite import canonical
from basanite.campaign.jobs import stages
from basanite.campaign.jobs.queue import enqueue, others_wait
from basanite.campaign.jobs.scoring_process import Material
from basanite.campaign.jobs.stages import OvertakenError, Try
from basanite.campaign.model.plan import Window
from basanite.campaign.model.programs import Programs
from basanite.campaign.office import Office
from basanite.campaign.programs import compute
from basanite.campaign.programs.asking import Answered, Asker, ProgramError
from basanite.campaign.programs.endpoint import ByEndpoint, Transcript
from basanite.campaign.programs.material import Given, asker, given_items, unpacked
from basanite.campaign.sealing import seal, unseal
from basanite.campaign.store.plans import at_version
from basanite.campaign.store.tables import ProgramAnswer, ProgramRun, Submission
from basanite.problems import Findings, Problem
from basanite.programs.answers import AnswerError, Form
from basanite.receipts.reproduction import commit

AGAIN: Final = "again"
"""What a run comes to that gives way to others: it goes on in a further job."""
WAITING: Final = ("answered", "failed")
NONCES: Final = "program"
"""The kind of secret that nonces of runs are in the vault, one for each submission."""
PLAIN, SEALED = b"\0", b"\1"
"""The first byte of an answer that is kept: whether it is sealed."""


def bring_on(office: Office, submission_id: str) -> str:
    """Bring the run of a program on; gives `again`, or the state of the submission that then holds."""
    while True:
        if _is_over(office, submission_id):
            return pass_on(office, submission_id)
        begun = stages.begin(office, submission_id, "running")
        if isinstance(begun, str):
            return begun
        try:
            outcome = stages.run_try(office, begun, _bring_on)
        except OvertakenError:
            return "running"
        if outcome is not None:
            return pass_on(office, submission_id) if outcome == "running" else outcome
        stages.pause(office, begun.number)


def _is_over(office: Office, submission_id: str) -> bool:
    with office.reading() as session:
        run = session.get(ProgramRun, submission_id)
        return run is not None and run.stage in WAITING


def _bring_on(office: Office, begun: Try, used: Material) -> str:
    row = begun.submission
    with office.reading() as session:
        window = at_version(session, row.campaign_id, row.plan_version).window(row.window)
    if window.programs is None:
        raise stages.FaultError("the window takes no programs")
    folder = office.settings.data / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        given = given_items(office, used.reference, scratch)
        return _Run(office, row, window, window.programs, given, scratch).go_on(used)


@dataclass(frozen=True)
class _Run:
    """One run on its way, in a folder of its own."""

    office: Office
    row: Submission
    window: Window
    programs: Programs
    given: Given
    scratch: Path

    @property
    def form(self) -> Form:
        """What the program writes."""
        return Form(self.programs.answers, self.programs.header)

    def go_on(self, used: Material) -> str:
        """From where it stands to where it ends, or gives way."""
        run = self._begin_run(used)
        if run.stage in WAITING:
            return "running"
        try:
            asking = self._asker()
            if isinstance(asking, Problem):
                return self._refuse(asking)
            if run.stage in ("unpack", "smoke"):
                problem = self._smoke(asking, run)
                if problem is not None:
                    return self._refuse(problem)
            if self._answer(asking):
                return AGAIN
            self._check(asking)
            self._finish()
        except ProgramError as error:
            self._fail(error)
        except AnswerError as error:
            self._fail(ProgramError("answers", words=str(error)))
        finally:
            self._keep_transcript()
        return "running"

    def _begin_run(self, used: Material) -> ProgramRun:
        """The row of the run, made when it begins."""
        nonce = self.office.vault.secret("reference", used.reference.id)
        with self.office.writing() as session:
            stages.lock_submission(session, self.row.id)
            run = session.get(ProgramRun, self.row.id)
            if run is None:
                resources = self.programs.resources
                run = ProgramRun(
                    submission_id=self.row.id,
                    team_id=self.row.team_id,
                    window=self.row.window,
                    runner=self.programs.runner,
                    resources=vars(resources) | {"mode": self.programs.mode, "batch": self.programs.batch},
                    items=len(self.given.items),
                    inputs=commit(nonce, self.given.digest.encode()),
                    started=self.office.clock(),
                )
                session.add(run)
        return run

    def _asker(self) -> Asker | Problem:
        if self.programs.mode == "endpoint":
            return ByEndpoint.of(self.office, self.row, self.programs, Transcript(self.scratch / "transcript"))
        program = unpacked(self.office, self.row, self.programs, self.scratch)
        if isinstance(program, Problem):
            return program
        return asker(self.office, self.row, self.programs, self.given, program, self.scratch)

    def _smoke(self, asking: Asker, run: ProgramRun) -> Problem | None:
        """Try the program on public items; its team sees what it printed, whatever came of it."""
        log, spent, problem = b"", 0.0, None
        if self.given.samples is not None:
            order = range(len(self.given.samples))
            try:
                for answered in asking.ask(self.given.samples, order, self._seconds_left()):
                    log, spent = log + answered.log, spent + answered.seconds
            except ProgramError as error:
                log, spent = log + error.log, spent + error.seconds
                fix = "fix the program; what it printed is on the page of this submission"
                message = f"the program failed on the public items: {error.words}"
                problem = Problem("G-2", self.row.name, None, None, message, fix)
        kept = self.office.files.put(log).digest if log else None
        with self.office.writing() as session:
            locked = self._lock_run(session)
            locked.smoke_log, locked.smoke_seconds = kept, spent
            locked.compute += spent * self.programs.cores
            locked.stage = "run" if problem is None else "smoke"
        return problem

    def _seconds_left(self) -> float:
        """Seconds of computing time that the team has left, this run's own taken off as they are."""
        with self.office.reading() as session:
            mine = session.get_one(ProgramRun, self.row.id).compute
            return compute.left(session, self.row.campaign_id, self.window, self.row.team_id) - mine

    def _lock_run(self, session: Session) -> ProgramRun:
        """The row of the run with the submission locked; nobody else may have ended it meanwhile."""
        row = stages.lock_submission(session, self.row.id)
        run = session.get_one(ProgramRun, self.row.id, populate_existing=True)
        if row.state != "running" or run.stage in WAITING:
            raise OvertakenError
        return run

    def _answer(self, asking: Asker) -> bool:
        """Ask for what is not answered yet; gives whether it gave way to others."""
        with self.office.reading() as session:
            done = session.get_one(ProgramRun, self.row.id).done
        order, end = range(done, len(self.given.items)), time.monotonic() + self.office.settings.limits.slice_seconds
        answers = asking.ask(self.given.items, order, self._seconds_left())
        try:
            for answered in answers:
                self._keep(answered)
                is_last = answered.first + answered.count == len(self.given.items)
                if not is_last and time.monotonic() > end and others_wait(self.office, self.row.team_id):
                    return True
        finally:
            answers.close()  # type: ignore[attr-defined]
        return False

    def _keep(self, answered: Answered) -> None:
        """Keep what a call answered, with what it cost: both, or neither."""
        with self.office.writing() as session:
            run = self._lock_run(session)
            if run.done != answered.first:
                raise OvertakenError
            session.add(
                ProgramAnswer(
                    submission_id=self.row.id,
                    first=answered.first,
                    count=answered.count,
                    content=_seal_part(self.office, answered.part),
                )
            )
            run.done += answered.count
            run.seconds += answered.seconds
            run.compute += answered.seconds * self.programs.cores
            run.peak = max(run.peak, answered.peak)
            session.get_one(Submission, self.row.id).tries = 0
        if answered.first == 0 and answered.log:
            self._keep_log(answered.log)

    def _keep_log(self, log: bytes) -> None:
        digest = self.office.sealed.put(log).digest
        with self.office.writing() as session:
            session.get_one(ProgramRun, self.row.id).log = digest

    def _check(self, asking: Asker) -> None:
        """Ask some items again, each alone and in another order, and compare (G-4)."""
        with self.office.writing() as session:
            run = self._lock_run(session)
            if run.checked or run.stage == "check":
                return
            run.stage = "check"
        dice = random.Random(self.office.vault.secret(NONCES, self.row.id))
        count = min(self.programs.reruns, len(self.given.items))
        chosen = sorted(dice.sample(range(len(self.given.items)), count), reverse=True)
        differing = self._differing(asking, chosen) if chosen else 0
        with self.office.writing() as session:
            run = self._lock_run(session)
            run.checked, run.differing = len(chosen), differing

    def _differing(self, asking: Asker, chosen: list[int]) -> int:
        again, same = _one_by_one(asking), 0
        try:
            for answered in again.ask(self.given.items, chosen, math.inf):
                with self.office.reading() as session:
                    part = _part_with(session, self.office, self.row.id, answered.first)
                same += self.form.holds(part, answered.part)
        except ProgramError:
            pass  # what it answered once it does not answer again: all that is left differs
        return len(chosen) - same

    def _finish(self) -> None:
        """Put the answers together, and let them be scored when the minute is full."""
        whole = self.scratch / f"{self.row.label}{self.programs.ending}"
        with self.office.reading() as session:
            self.form.join(_parts(session, self.office, self.row.id), whole)
        stored = self.office.sealed.take(whole)
        nonce = self.office.vault.secret(NONCES, self.row.id)
        with self.office.writing() as session:
            run, row = self._lock_run(session), session.get_one(Submission, self.row.id)
            row.answers, row.answers_name = stored.digest, whole.name
            run.size, run.outputs = stored.size, commit(nonce, stored.digest.encode())
            session.execute(delete(ProgramAnswer).where(ProgramAnswer.submission_id == row.id))
            _end(self.office, run, "answered")

    def _fail(self, error: ProgramError) -> None:
        """The program failed on sealed items by its own fault."""
        log = self.office.sealed.put(error.log).digest if error.log else None
        with self.office.writing() as session:
            run = self._lock_run(session)
            run.cause, run.log = error.words, log or run.log
            run.seconds += error.seconds
            run.compute += error.seconds * self.programs.cores
            session.execute(delete(ProgramAnswer).where(ProgramAnswer.submission_id == self.row.id))
            _end(self.office, run, "failed")

    def _refuse(self, problem: Problem) -> str:
        """The program is invalid for a reason that holds nothing of the sealed items: its team learns it at once."""
        with self.office.writing() as session:
            run = self._lock_run(session)
            run.cause, run.ended = problem.message, self.office.clock()
            return end_invalid(session, self.office, self.row.id, problem)

    def _keep_transcript(self) -> None:
        """Keep what was said to an endpoint and what it answered, among the sealed files (G-7)."""
        place = self.scratch / "transcript"
        if place.is_file() and place.stat().st_size:
            digest = self.office.sealed.take(place).digest
            with self.office.writing() as session:
                run = session.get_one(ProgramRun, self.row.id, with_for_update=True, populate_existing=True)
                run.transcripts = [*run.transcripts, digest]


def _one_by_one(asking: Asker) -> Asker:
    return replace(asking, batch=1) if hasattr(asking, "batch") else asking  # type: ignore[type-var]


def _end(office: Office, run: ProgramRun, stage: str) -> None:
    """A run is over; its team learns it when a whole number of minutes has passed since it began."""
    now, minute = office.clock(), office.settings.limits.minute
    run.stage, run.ended, run.due = stage, now, now
    if minute > 0:
        passed = (now - run.started).total_seconds()
        run.due = run.started + timedelta(seconds=minute * max(1, math.ceil(passed / minute)))


def _seal_part(office: Office, part: bytes) -> bytes:
    lock = office.sealed.lock
    return PLAIN + part if lock is None else SEALED + b"".join(seal([part], lock))


def _open_part(office: Office, content: bytes) -> bytes:
    if content[:1] == PLAIN or office.sealed.lock is None:
        return content[1:]
    return b"".join(unseal(io.BytesIO(content[1:]), office.sealed.lock))


def _parts(session: Session, office: Office, submission_id: str) -> Iterator[bytes]:
    """All that was answered, in the order of the items."""
    question = select(ProgramAnswer.content).where(ProgramAnswer.submission_id == submission_id)
    for content in session.scalars(question.order_by(ProgramAnswer.first).execution_options(yield_per=100)):
        yield _open_part(office, content)


def _part_with(session: Session, office: Office, submission_id: str, at: int) -> bytes:
    """The part that answers an item."""
    question = select(ProgramAnswer.content).where(
        ProgramAnswer.submission_id == submission_id, ProgramAnswer.first <= at
    )
    content = session.scalars(question.order_by(ProgramAnswer.first.desc()).limit(1)).one()
    return _open_part(office, content)


def end_invalid(session: Session, office: Office, submission_id: str, problem: Problem) -> str:
    """A program is invalid by its team's fault: said to the team, and its attempt freed."""
    row = stages.lock_submission(session, submission_id)
    if row.state != "running":
        return row.state
    findings = Findings()
    findings.add(problem)
    text = canonical.dumps(findings.as_dict(row.task.lower())).encode()
    stages.settle(session, office, row, office.files.put(text).digest, valid=False)
    return row.state


def pass_on(office: Office, submission_id: str) -> str:
    """Let a run that is over be known, once its minute is full: its answers are scored, or its failure told."""
    with office.writing() as session:
        row = stages.lock_submission(session, submission_id)
        run = session.get_one(ProgramRun, submission_id, populate_existing=True)
        if row.state != "running" or run.due is None or run.due > office.clock():
            return row.state
        run.due = None
        if run.stage == "answered":
            stages.move(session, office, row, "validating")
            row.tries = 0
            enqueue(session, office, "process_submission", f"process_submission:{row.id}", submission_id=row.id)
            return row.state
        fix = "test it on public items like these, within the limits that the window names"
        problem = Problem("G-2", row.name, None, None, "the program failed on the sealed items", fix)
        return end_invalid(session, office, submission_id, problem)


def pass_on_due(office: Office) -> int:
    """The duty: let all runs be known whose minute is full; says how many."""
    with office.reading() as session:
        due = session.scalars(select(ProgramRun.submission_id).where(ProgramRun.due <= office.clock())).all()
    for submission_id in due:
        pass_on(office, submission_id)
    return len(due)
