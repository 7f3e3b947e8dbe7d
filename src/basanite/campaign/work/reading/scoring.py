"""Scores of reading runs: computed in the child, kept once under the key of all that went in, shown by the policy.

Practice is shown in full. A formal run shows what the feedback of its window allows, and nothing before that (M68).
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

import basanite
from basanite.campaign.actions import plans
from basanite.campaign.intake.charges import lock_team
from basanite.campaign.jobs.scoring_process import SEEDS, Given
from basanite.campaign.model import windows
from basanite.campaign.model.exposure import USUAL_LOOKS
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import Sight, SubmissionFacts, Viewer, sight, visible_result
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.results.facts import releases
from basanite.campaign.results.views import without_seed
from basanite.campaign.store.tables import Event, ReadingGold, ReadingPackage, ReadingRun, ReadingScore, ReadingTaskRow
from basanite.campaign.work.lookup import log_event
from basanite.campaign.work.reading import golds
from basanite.campaign.work.reading.golds import Version
from basanite.campaign.work.reading.packages import corpus, whole, without_sealed
from basanite.campaign.work.reading.people import human_records
from basanite.campaign.work.reading.pool import system_of
from basanite.campaign.work.reading.process import Order, read_output, run_reading_child
from basanite.campaign.work.reading.runs import answers, as_record
from basanite.campaign.work.reading.tasks import window_of
from basanite.canonical import canonical_digest, plain_values

LOOKED: Final = "reading.looked"


@dataclass(frozen=True)
class Scored:
    """What somebody may see of a run's score."""

    run: str
    level: str
    gold: str
    answers: int
    result: Mapping[str, Any] | None


@dataclass(frozen=True)
class Ready:
    """Everything that a score depends on."""

    run: ReadingRun
    package: ReadingPackage
    task: ReadingTaskRow
    version: Version
    versions: tuple[Version, ...]
    answers: bytes
    human: bytes
    count: int
    data: dict[str, Any]

    @property
    def key(self) -> str:
        """The name of the score."""
        parts = [
            self.run.id,
            self.package.digest,
            [[one.name, one.digest] for one in self.versions],
            hashlib.sha256(self.answers).hexdigest(),
            hashlib.sha256(self.human).hexdigest(),
            {name: str(value) for name, value in self.data.items()},
            basanite.__version__,
        ]
        return canonical_digest(parts)


def ready(session: Session, office: Office, run: ReadingRun, gold: str = "") -> Ready:
    """What a run is scored with: a version of the gold by name, or the one that holds."""
    package = session.get_one(ReadingPackage, run.reading_package_id)
    task = session.get_one(ReadingTaskRow, run.reading_task_id)
    every = golds.versions(session, office, package)
    held = [one for one in every if one.state == "active"]
    chosen = next((one for one in every if one.name == gold), None) if gold else (held[-1] if held else None)
    if chosen is None:
        known = ", ".join(one.name for one in held) or "none"
        raise refused("R-17", "there is no such gold version", f"use one of {known}", status=404)
    upto = tuple(one for one in every if one.state == "active" or one == chosen)
    found = answers(session, run)
    lines = "".join(_line(as_record(*pair)) for pair in found)
    people = "".join(map(_line, _people(session, office, package, task)))
    data = _data(session, office, task, package, run, chosen.name)
    return Ready(run, package, task, chosen, upto, lines.encode(), people.encode(), len(found), data)


def _people(session: Session, office: Office, package: ReadingPackage, task: ReadingTaskRow) -> list[Mapping[str, Any]]:
    """What people answered; in practice, which uses nothing sealed, only about open documents (R-39)."""
    found = human_records(session, package.id)
    if task.mode != "practice":
        return list(found)
    texts = corpus(office, package)
    open_ = {name for name, one in texts.documents.items() if one.part not in texts.sealed}
    return [one for one in found if one["document"] in open_]


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


def _data(
    session: Session, office: Office, task: ReadingTaskRow, package: ReadingPackage, run: ReadingRun, gold: str
) -> dict[str, Any]:
    campaign = plans.current(session, task.campaign_id).campaign
    window = window_of(session, task) if task.mode == "formal" else None
    settings = window.settings_of("reading") if window is not None else {}
    draws = settings.pop("draws", None)
    secret = int.from_bytes(office.vault.secret(SEEDS, task.campaign_id), "big")
    queries = corpus(office, package).queries
    return {
        "part": task.part,
        "gold": gold,
        "settings": {**settings, **({"phase": task.choice["phase"]} if task.choice.get("phase") else {})},
        "draws": draws,
        "seed": secret if campaign.sealed and window is not None else 0,
        "system": system_of(run),
        "queries": list(task.queries),
        "generated": [name for name in task.queries if name in queries and queries[name].generated],
    }


def compute(office: Office, wanted: Ready, party: str) -> str:
    """Score a run, in the turn of this party, unless the same was scored before; gives the digest of the result."""
    with office.reading() as session:
        known = session.get(ReadingScore, wanted.key)
    if known is not None:
        return known.digest
    with _scoring_order(office, wanted, party) as order, run_reading_child(office, order) as outcome:
        stored = office.files.take(outcome.out / "result.json")
        result = read_output(outcome, "result.json")
    with office.writing() as session:
        if session.get(ReadingScore, wanted.key) is None:
            session.add(_row(office, wanted, stored.digest, result))
    return stored.digest


def _row(office: Office, wanted: Ready, digest: str, result: Mapping[str, Any]) -> ReadingScore:
    return ReadingScore(
        key=wanted.key,
        campaign_id=wanted.run.campaign_id,
        reading_run_id=wanted.run.id,
        gold=wanted.version.name,
        digest=digest,
        primary=result["values"].get(result["primary"], {}).get("value"),
        at=office.clock(),
    )


@contextmanager
def _scoring_order(office: Office, wanted: Ready, party: str) -> Iterator[Order]:
    """The files of a scoring: practice is scored with what is open alone."""
    practice = wanted.task.mode == "practice"
    content = {"answers": wanted.answers, **({"human": wanted.human} if wanted.human else {})}
    for one in wanted.versions:
        if one.digest:
            content[f"gold_{one.name}"] = _gold(office, wanted, one.digest, sealed=not practice)
    files = {"package": without_sealed(office, wanted.package) if practice else whole(office, wanted.package)}
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as name:
        for role, data in content.items():
            path = Path(name) / f"{role}.ndjson"
            path.write_bytes(data)
            files[role] = Given(path.name, path)
        yield Order("score", party, files, wanted.data, sealed=not practice, patient=True)


def _gold(office: Office, wanted: Ready, digest: str, *, sealed: bool) -> bytes:
    """A version of the gold; where nothing sealed may be used, only its lines about open documents."""
    content = office.sealed.read(digest)
    if sealed:
        return content
    texts = corpus(office, wanted.package)
    open_ = {one.name for one in texts.documents.values() if one.part not in texts.sealed}
    kept = [line for line in content.split(b"\n") if line and json.loads(line)["document"] in open_]
    return b"".join(line + b"\n" for line in kept)


def see(office: Office, actor: Actor, who: Viewer, run: ReadingRun, gold: str = "") -> Scored:
    """The score of a run as far as this viewer may see it; for the edge: nothing that is hidden is even computed."""
    with office.reading() as session:
        seen = _sight(session, office, who, run)
        if seen is not None and seen.level == "none":
            count = len(answers(session, run))
            return Scored(run.id, "none", "", count, None)
        wanted = ready(session, office, run, gold if seen is None or seen.level == "full" or who.staff else "")
        if wanted.version.state != "active" and not who.staff:
            raise refused("R-17", "there is no such gold version", "omit `gold`", status=404)
        sealed = plans.current(session, run.campaign_id).campaign.sealed
    if seen is not None and not who.staff:
        with office.writing() as session:
            _count_look(session, office, actor, wanted)
    result = json.loads(office.files.read(compute(office, wanted, who.party)))
    if seen is None:
        return Scored(run.id, "full", wanted.version.name, wanted.count, plain_values(result))
    data = visible_result(result, seen)
    kept = data if who.staff or not sealed else without_seed(data)
    return Scored(run.id, seen.level, wanted.version.name, wanted.count, kept)


def _sight(session: Session, office: Office, who: Viewer, run: ReadingRun) -> Sight | None:
    """What the release policy lets through of a formal run; None for practice, which hides nothing."""
    task = session.get_one(ReadingTaskRow, run.reading_task_id)
    window = window_of(session, task) if task.mode == "formal" else None
    if window is None:
        return None
    plan = plans.current(session, run.campaign_id)
    facts = SubmissionFacts(team=run.team_id or "", task="reading", type="primary")
    given = releases(session, run.campaign_id).get(window.id, {})
    return sight(who, plan.campaign, window, facts, given, plans.now(office, plan.row))


def _count_look(session: Session, office: Office, actor: Actor, wanted: Ready) -> None:
    """Note that a team sees a value while its answers can still change, or refuse it when its looks are used up (X-23).

    A reading run has no ladder: where looks end, or the window has only a ladder, values wait for the window to close.
    """
    run, limited = wanted.run, _limited_window(session, office, wanted)
    if limited is None:
        return
    window, most = limited
    team = lock_team(session, run.team_id or "")
    looked = _seen_scores(session, run, window)
    if wanted.key in looked:
        return
    if len(looked) >= most:
        message = f"this window shows a team {most} scores before it closes, and your team has seen them all"
        raise refused("X-23", message, "view those again, or wait until the window has closed", status=429)
    facts = {"key": wanted.key, "run": run.id, "window": window.id}
    log_event(session, office, actor, run, LOOKED, team.id, **facts)


def _limited_window(session: Session, office: Office, wanted: Ready) -> tuple[Window, int] | None:
    """The open window of a run in which a team sees so many scores and no more; None where nothing is counted."""
    window = window_of(session, wanted.task)
    plan = plans.current(session, wanted.run.campaign_id)
    if window is None or not windows.is_open(window, plans.now(office, plan.row)):
        return None
    most = _most_looks(plan.campaign, window, sealed=wanted.task.sealed)
    return None if most is None else (window, most)


def _seen_scores(session: Session, run: ReadingRun, window: Window) -> set[str]:
    """The keys of the scores that a run's team has seen in a window."""
    question = select(Event.data).where(
        Event.campaign_id == run.campaign_id, Event.kind == LOOKED, Event.subject == (run.team_id or "")
    )
    return {data["key"] for data in session.scalars(question) if data["window"] == window.id}


def costs_nothing(session: Session, office: Office, who: Viewer, run: ReadingRun) -> bool:
    """Whether showing the score of a run uses up none of the scores that its team may see (X-23)."""
    seen = _sight(session, office, who, run)
    if who.staff or seen is None or seen.level == "none":
        return True
    wanted = ready(session, office, run)
    limited = _limited_window(session, office, wanted)
    return limited is None or wanted.key in _seen_scores(session, run, limited[0])


def _most_looks(campaign: Campaign, window: Window, *, sealed: bool) -> int | None:
    """How many values a team sees before the window closes; None: as many as it likes.

    A package may seal what its window's data sets leave open, of which the campaign's file then says nothing.
    """
    if window.looks is not None or window.ladder is not None:
        return window.looks or 0
    return USUAL_LOOKS if sealed and not windows.is_sealed(campaign, window) else None


@dataclass(frozen=True)
class Change:
    """What a new version of the gold would do to one run."""

    run: ReadingRun
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def affected_runs(session: Session, package_id: str) -> tuple[ReadingRun, ...]:
    """The formal runs of machines that a version of the gold is about."""
    question = (
        select(ReadingRun)
        .join(ReadingTaskRow)
        .where(
            ReadingRun.reading_package_id == package_id, ReadingRun.side == "machine", ReadingTaskRow.mode == "formal"
        )
    )
    return tuple(session.scalars(question.order_by(ReadingRun.made, ReadingRun.id)))


def changes(session: Session, office: Office, row: ReadingGold) -> tuple[Change, ...]:
    """Every run before and after a version; what is not computed yet is empty."""
    package = session.get_one(ReadingPackage, row.reading_package_id)
    name = f"v{row.number}"
    every = [one.name for one in golds.versions(session, office, package) if one.state == "active" and one.name != name]
    found = []
    for run in affected_runs(session, package.id):
        old = _known_result(session, office, ready(session, office, run, every[-1])) if every else None
        new = None if row.state == "refused" else _known_result(session, office, ready(session, office, run, name))
        found.append(Change(run, old, new))
    return tuple(found)


def _known_result(session: Session, office: Office, wanted: Ready) -> Mapping[str, Any] | None:
    known = session.get(ReadingScore, wanted.key)
    if known is None:
        return None
    result: Mapping[str, Any] = json.loads(office.files.read(known.digest))
    return result


def score_due(office: Office, package_id: str | None = None) -> int:
    """Score every run against versions that are being previewed, of one package or, as a worker's duty, of all.

    Done twice it changes nothing.
    """
    question = select(ReadingGold).where(ReadingGold.state == "proposed")
    if package_id is not None:
        question = question.where(ReadingGold.reading_package_id == package_id)
    with office.reading() as session:
        proposed = session.scalars(question).all()
        wanted = [one for row in proposed for one in _due(session, office, row)]
    for one in wanted:
        compute(office, one, one.run.campaign_id)
    return len(wanted)


def _due(session: Session, office: Office, row: ReadingGold) -> Iterator[Ready]:
    package = session.get_one(ReadingPackage, row.reading_package_id)
    held = golds.newest(session, office, package)
    names = [f"v{row.number}", *([held.name] if held else [])]
    for run in affected_runs(session, row.reading_package_id):
        for name in names:
            one = ready(session, office, run, name)
            if session.get(ReadingScore, one.key) is None:
                yield one
