"""What it costs to list and to submit as stored submissions grow: rows are copied, the calls are real."""

from __future__ import annotations

import tempfile
import time
from itertools import cycle
from pathlib import Path
from statistics import median

SIZES = (1_000, 10_000, 100_000)
REPEATS = 15
TEAMS = 10


def costs_of_growth(most):
    """For each size up to the largest: seconds of one listing by a member, of one submission, and of one look for
    receipts that are due."""
    from tests.offices.submitting import crowd, submit

    from basanite.testing import small_office, small_pack

    found = []
    with tempfile.TemporaryDirectory(prefix="basanite-growth-") as name:
        home = Path(name)
        pack, office = small_pack(home / "pack"), small_office(home)
        teams = crowd(office, pack.key, teams=TEAMS)
        first = [submit(office, member, pack.perfect) for member in teams.members]
        digest = scored(office, first[0].id)
        there = len(first)
        for size in [size for size in SIZES if size < most] + [most]:
            fill(office, first, size - there, digest)
            there = size
            found.append({"stored": size, **measured(office, teams, pack)})
            print({key: round(value, 4) for key, value in found[-1].items()}, flush=True)
            there += REPEATS
        office.close()
    return found


def scored(office, submission):
    """Score one for real; gives where its result lies, which all copies share."""
    from basanite.campaign.jobs import stages

    checked = stages.validate(office, submission)
    stages.score(office, submission, checked["result"])
    return checked["result"]["digest"]


def fill(office, first, count, digest):
    """So many scored submissions, copies of the first of each team, with their attempts and results."""
    from sqlalchemy import insert, inspect

    from basanite.campaign.store import looks
    from basanite.campaign.store.tables import Adoption, Charge, Reference, Result, Submission
    from basanite.campaign.store.tables.base import random_id

    columns = [column.key for column in inspect(Submission).column_attrs]
    with office.writing() as session:
        reference = session.query(Reference.id).first()[0]
        start = session.query(Submission).count()
        for block in range(0, max(count, 0), 5_000):
            rows = []
            for number in range(block, min(block + 5_000, count)):
                origin = first[number % len(first)]
                row = {name: getattr(origin, name) for name in columns}
                rows.append(row | {"id": random_id(), "number": 10 + start + number, "state": "scored"})
            session.execute(insert(Submission), rows)
            session.execute(insert(Charge), [_charge(row) for row in rows])
            session.execute(insert(Result), [_result(row, reference, digest) for row in rows])
            adopted = [{"submission_id": row["id"], "result_key": row["id"], "at": row["received"]} for row in rows]
            session.execute(insert(Adoption), adopted)
        looks.recount(session, first[0].campaign_id)


def _charge(row):
    return {
        "team_id": row["team_id"],
        "key": "an earlier period",
        "period": "2020",
        "type": row["type"],
        "task": row["task"],
        "submission_id": row["id"],
        "state": "charged",
        "at": row["received"],
    }


def _result(row, reference, digest):
    return {
        "key": row["id"],
        "submission_id": row["id"],
        "reference_id": reference,
        "digest": digest,
        "primary": 0.5,
        "settings": {},
        "software": "x",
        "plan_version": 1,
        "at": row["received"],
    }


def measured(office, teams, pack):
    """The median seconds of a page of 50, of a submission, and of a worker's look for receipts that are due."""
    from tests.offices.submitting import submit

    from basanite.campaign.actions import upkeep
    from basanite.campaign.people.roles import viewer
    from basanite.campaign.results import visibility

    member, turns = teams.members[0], cycle(teams.members)

    def listing():
        with office.reading() as session:
            who = viewer(session, teams.campaign_id, member.person)
            visibility.submissions(session, office, who, teams.campaign_id, visibility.SubmissionFilter(limit=50))

    submitting = timed(lambda: submit(office, next(turns), pack.silent))
    return {"listing": timed(listing), "submitting": submitting, "receipts": timed(lambda: upkeep.sign(office))}


def timed(call):
    """The median of several calls."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return median(seconds)
