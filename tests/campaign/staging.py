"""A season in which submissions are taken in and scored for real, in this process, without an engine."""

import json
from dataclasses import asdict, dataclass

from sqlalchemy import select
from tests.offices.prepared import done_once

from basanite.campaign.actions import references
from basanite.campaign.intake import acceptance
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.jobs.scoring_process import SEEDS, material
from basanite.campaign.model.plan import Declared
from basanite.campaign.office import Actor, Office
from basanite.campaign.results import boards, ladder
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.store.tables import Batch, BatchItem, Result, Submission
from basanite.testing import Season, SetClock, SmallPack, season, small_campaign_text

WRITTEN = {}
"""What a child wrote for a file, by its digest and the reference: problems, result, charts."""
SEED = b"one seed, for results are shared"
"""256 bits for all staged seasons: with seeds of their own, results of two tests would not have been made alike."""


@dataclass(frozen=True)
class Stage:
    """An office with a season, a reference for each window, and the means to submit."""

    office: Office
    season: Season
    clock: SetClock
    pack: SmallPack

    def submit(self, team="alpha", file="perfect", label="one", kind="primary", **declared):
        """Take a submission in and score it; gives its id."""
        office, person = self.office, {"alpha": self.season.ada, "beta": self.season.bea}[team]
        stored = office.files.take(getattr(self.pack, file))
        said = Declared(**{"task": "CLIR", "label": label, "type": kind, "language": "1A"} | declared)
        with office.writing() as session:
            row = acceptance.accept(
                session, office, Actor(person), acceptance.Arrival(getattr(self.season, team), said, stored)
            )
        self.work(row.id, stored.digest)
        return row.id

    def work(self, submission_id, digest):
        """Validate and score in a child; the same file a second time takes over what the child wrote the first time."""
        with self.office.reading() as session:
            row = session.get(Submission, submission_id)
            used = material(session, self.office, row)
        about = digest, json.dumps(used.reference.files, sort_keys=True)
        if about not in WRITTEN:
            verdict = stages.validate(self.office, submission_id)
            if verdict["state"] == "scoring":
                stages.score(self.office, submission_id, verdict["result"])
            WRITTEN[about] = self._files(submission_id)
            return
        problems, result, figures = (
            None if one is None else self.office.files.put(one).digest for one in WRITTEN[about]
        )
        begun = stages.begin(self.office, submission_id, "validating")
        stages._end_validation(self.office, begun, problems, valid=result is not None)
        if result is not None:
            stages.score(self.office, submission_id, {"digest": result, "key": used.key(row), "figures": figures})

    def _files(self, submission_id):
        with self.office.reading() as session:
            row = session.get(Submission, submission_id)
            held = adopted_results(session, [row.id]).get(row.id)
            read = self.office.files.read
            kept = (None, None) if held is None else (held.digest, held.figures)
            return read(row.problems_digest), *(None if one is None else read(one) for one in kept)

    def do(self, act, *args, **kwargs):
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *args, **kwargs)

    def add_reference(self, dataset, key=None, *, queryset="QUERY1", open_queries=None, **options):
        """Add a version of the key for a data set; gives its id."""
        lists = {"metadata": self.pack.metadata, "open_queries": open_queries}
        paths = references.Paths((key or self.pack.key,), **lists)
        material = references.take_in(self.office, paths)
        place = references.Place("CLIR", dataset, "1A", queryset)
        row = self.do(
            references.add,
            self.season.as_eva,
            self.season.campaign_id,
            references.NewVersion(place, material, **options),
        )
        return row.id

    def score_batch(self, batch_id):
        """Do the jobs of a re-scoring."""
        with self.office.reading() as session:
            ids = list(session.scalars(select(BatchItem.id).where(BatchItem.batch_id == batch_id)))
        for one in ids:
            self._score_item(one)

    def _score_item(self, item_id):
        """In a child, unless a child has scored the same file against the same key before."""
        with self.office.reading() as session:
            item = session.get(BatchItem, item_id)
            run = session.get(Submission, item.submission_id)
            used = material(
                session, self.office, run, reference_id=session.get(Batch, item.batch_id).reference_id, newest=True
            )
        about = run.sha256, *used.reference.files["reference"]
        if about in WRITTEN:
            written = stages.Written(self.office.files.put(WRITTEN[about]).digest)
            comparison._end_item(self.office, item_id, "scored", run, used, written)
            return
        comparison.score_item(self.office, item_id)
        with self.office.reading() as session:
            key = session.get(BatchItem, item_id).new_key
            WRITTEN[about] = self.office.files.read(session.get(Result, key).digest)

    def compare_all(self):
        """Do every comparison that is due."""
        with self.office.writing() as session:
            asked = [*boards.orders_due(session, self.office), *ladder.orders_due(session, self.office)]
        for order in asked:
            comparison.compare(self.office, **asdict(order))
        return len(asked)


def staged(office, clock, pack, *, then=None, **campaign):
    """A season with a reference for both of its windows; `then` does more in an office with a season."""
    text = small_campaign_text(**campaign)

    def put_in(into):
        made = Stage(into, season(into, text), clock, pack)
        into.vault.keep(SEEDS, made.season.campaign_id, SEED)
        for dataset in ("DEV", "EVAL1"):
            made.add_reference(dataset)
        if then is not None:
            then(into, made.season)
        return made.season

    return Stage(office, done_once(office, ("staged", text, then), put_in), clock, pack)
