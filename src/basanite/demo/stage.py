"""Where the demo's season is played: an office whose clock is set, the people in it, and the jobs done at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign import duties
from basanite.campaign.intake import accepting
from basanite.campaign.jobs import comparing, stages
from basanite.campaign.model.declared import Declared
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import due, plans, reference_files, references, seconding
from basanite.campaign.results import boards
from basanite.campaign.store.tables import Approval, BatchItem, Reference
from basanite.demo import runs
from basanite.synthetic.clir import Quality
from basanite.testing.clock import SetClock

Given = ParamSpec("Given")
Done = TypeVar("Done")
Say = Callable[[str], None]
SIDE_BY_SIDE: Final = 2
"""Children that score at the same time."""


@dataclass
class Stage:
    """Everything that a scene needs: who is who by name, and where the files of the data sets lie."""

    office: Office
    clock: SetClock
    now: datetime
    """The moment at which the demo is made, and up to which the season is played."""
    files: Path
    """A folder for what is handed in; it is gone when the season stands."""
    say: Say
    campaign_id: str = ""
    people: dict[str, str] = field(default_factory=dict)
    teams: dict[str, str] = field(default_factory=dict)
    sets: dict[str, runs.SetFiles] = field(default_factory=dict)

    def days_ago(self, days: float) -> None:
        """Let time pass until so many days before now; on the way workers do what falls due."""
        then = self.now - timedelta(days=days)
        for moment in self._moments(then) if self.campaign_id else ():
            self.clock.set(moment + timedelta(minutes=1))
            due.freeze(self.office)
            duties.publish_keys(self.office)
        self.clock.set(then)

    def _moments(self, then: datetime) -> list[datetime]:
        """When windows open and keys of packs come out between the clock's time and another."""
        with self.office.reading() as session:
            campaign = plans.current(session, self.campaign_id).campaign
        opened = [window.opens.utc for window in campaign.windows]
        keys = [pack.key_at.utc for pack in campaign.packs if pack.key_at]
        return sorted({one for one in (*opened, *keys) if self.clock() < one < then - timedelta(minutes=1)})

    def actor(self, who: str) -> Actor:
        """Somebody, acting."""
        return Actor(self.people[who])

    def do(
        self, act: Callable[Concatenate[Session, Office, Given], Done], *given: Given.args, **named: Given.kwargs
    ) -> Done:
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *given, **named)

    def agreed(self, asked: Approval) -> Approval:
        """The second of two people agrees to what the first asked for."""
        return self.do(seconding.agree, self.actor("oscar"), asked.id)

    def submit(self, who: str, team: str, dataset: str, path: Path, task: str = "CLIR", **declared: Any) -> str:
        """Hand a file in; gives the submission's id."""
        said = Declared(task, language="1A", dataset=(dataset,), queryset=runs.queryset(task, dataset), **declared)
        stored = self.office.files.take(path)
        return self.do(accepting.accept, self.actor(who), self.teams[team], said, stored).id

    def run_file(self, dataset: str, quality: Quality) -> Path:
        """The archive of a system of this quality."""
        return runs.write_run(dataset, quality, self.files / f"{dataset}-{quality.label}.tgz")

    def score(self, submissions: Iterable[str]) -> None:
        """Validate and score, as a worker does."""
        self._side_by_side(self._score_one, submissions)

    def _score_one(self, submission_id: str) -> str:
        verdict = stages.validate(self.office, submission_id)
        if verdict["state"] != "scoring":
            return str(verdict["state"])
        return stages.score(self.office, submission_id, verdict["result"])

    def score_batch(self, batch_id: str) -> None:
        """Do the jobs of a re-scoring."""
        with self.office.reading() as session:
            items = list(session.scalars(select(BatchItem.id).where(BatchItem.batch_id == batch_id)))
        self._side_by_side(lambda item: comparing.score_item(self.office, item), items)

    def compare(self) -> None:
        """Make the comparisons that released boards wait for."""
        with self.office.reading() as session:
            due = list(boards.orders_due(session, self.office))
        for order in due:
            comparing.compare(self.office, **asdict(order))

    def add_key(self, dataset: str, paths: reference_files.Paths, *, reason: str, task: str = "CLIR") -> Reference:
        """Add a version of the truth: taken in, checked in a child, held until a second person agrees."""
        material = reference_files.take_in(self.office, paths)
        place = references.Place(task, dataset, "1A", runs.queryset(task, dataset))
        with self.office.reading() as session:
            campaign = plans.current(session, self.campaign_id).campaign
        sealed = campaign.pack(dataset).sealed
        reference_files.check(self.office, campaign, place, material, sealed=sealed)
        whose = (self.actor("eva"), self.campaign_id)
        return self.do(references.add, *whose, place, material, reason=reason, sealed=sealed, hold=True)

    def key_of(self, dataset: str, key: Path | None = None) -> reference_files.Paths:
        """The files of a data set's reference, perhaps with another key."""
        made = self.sets[dataset]
        return reference_files.Paths((key or made.key,), metadata=made.metadata)

    def _side_by_side(self, work: Callable[[str], object], ids: Iterable[str]) -> None:
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for done in [pool.submit(work, one) for one in ids]:
                done.result()
