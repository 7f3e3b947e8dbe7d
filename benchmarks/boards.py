"""How much CPU a look at a board takes, with 40, 400 and 2,000 teams (P-40).

    python -m benchmarks.boards

A season is put into a database with one scored primary run of each team and a finished comparison; then the board is
looked at as a visitor through the API and as a page. The goals are 30, 80 and 300 ms of CPU time a look.

    python -m benchmarks.boards --compare 2000 --items 300

times the comparison behind a board instead: every run is read and scored, and all pairs are tested, in the sandbox of a
server with its usual limits. The goals for 2,000 teams are 4 GiB and half an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient
from tests.offices import crowd

from basanite.analysis.packed_pairs import packed
from basanite.campaign.jobs import comparison
from basanite.campaign.model.windows import board_summary
from basanite.campaign.office import Office
from basanite.campaign.results import boards
from basanite.campaign.settings import Limits
from basanite.campaign.store.tables import Adoption, Board, Reference, Release, Result, Submission, Team
from basanite.server.app import make_app
from basanite.testing import SetClock, season, small_office

GOALS = {40: 30.0, 400: 80.0, 2000: 300.0}
METRICS = ("aqwv", "mqwv", "map", "p_miss", "p_fa", "precision", "recall", "f1")
LOOKS = 5


def fill(office: Office, teams: int) -> None:
    """Put a season with a released board into an office."""
    made, dice = season(office), random.Random(teams)
    with office.writing() as session:
        now = office.clock()
        here = made.campaign_id
        reference = Reference(
            campaign_id=here, task="CLIR", language="1A", queryset="QUERY1", dataset="DEV", version=1, state="active",
            files={}, sealed=False, commitment="", made=now, by="system", reason="",
        )  # fmt: skip
        session.add(reference)
        session.flush()
        runs = [_run(session, here, reference.id, number, dice, now) for number in range(teams)]
        for level in ("top", "details", "public"):
            facts = {"window": "dev", "level": level, "by": "system", "reason": "", "open_appeals": []}
            session.add(Release(campaign_id=here, seconded_by=None, at=now, **facts))
        session.flush()
        _compare(session, here, runs, now)


def _run(session, here, reference, number, dice, now):
    named = {"name": f"Team {number:04}", "skeleton": f"team{number:04}", "code": f"T{number:04}"}
    team = Team(campaign_id=here, pseudonym=f"p{number}", named_consent=now, made=now, made_by="system", **named)
    session.add(team)
    session.flush()
    run = Submission(
        campaign_id=here, team_id=team.id, person_id="system", number=1, window="dev", task="CLIR", language="1A",
        dataset="DEV", queryset="QUERY1", type="primary", track="", label="one", name="one.tgz", size=1,
        sha256=f"{number:064x}", description={}, door="api", started=now, received=now - timedelta(minutes=number),
        standing="on time", state="scored", state_at=now, plan_version=1,
    )  # fmt: skip
    session.add(run)
    session.flush()
    values = {name: {"value": dice.random(), "low": 0.1, "high": 0.9} for name in METRICS}
    result = {"task": "clir", "primary": "aqwv", "values": values, "breakdowns": {}, "settings": {}}
    facts = {"digest": f"{number:064x}", "figures": None, "settings": {}, "software": "x", "plan_version": 1, "at": now}
    board = board_summary(result)
    key = f"k{number}"
    session.add(
        Result(
            key=key, submission_id=run.id, reference_id=reference, primary=values["aqwv"]["value"], board=board, **facts
        )
    )
    session.flush()
    session.add(Adoption(submission_id=run.id, result_key=key, batch_id=None, at=now))
    return run


def _compare(session, here, runs, now):
    from basanite.campaign.actions import plans

    plan = plans.current(session, here)
    subject = boards.Subject("dev", "CLIR", language="1A")
    field = boards.field_of(session, plan, subject)
    held = boards.adopted_results(session, [run.id for run in field.rows])
    only = boards.counting_units(plan.campaign, plan.campaign.window("dev"))
    order = sorted(field.compared, key=lambda run: -held[run.id].primary)
    ranges = {run.id: [place, place + 3] for place, run in enumerate(order, start=1)}
    groups = [[run.id for run in order[at : at + 4]] for at in range(0, len(order), 4)]
    better = np.triu(np.ones((len(order), len(order)), dtype=bool), 4)
    ranking = {"rank_ranges": {"aqwv": ranges}, "groups": {"aqwv": groups}, "detectable": {}}
    ranking["better"] = {"aqwv": packed([run.id for run in order], better)}
    key = boards.board_key(held, field.compared, only)
    facts = {"window": "dev", "purpose": "board", "subject": {}, "digest": "0" * 64, "ranking": ranking, "at": now}
    session.add(Board(key=key, campaign_id=here, **facts))


def measure(client: TestClient, address: str) -> float:
    """CPU milliseconds of one look, the least of several."""
    found = []
    for _ in range(LOOKS):
        began = time.process_time()
        answer = client.get(address)
        found.append((time.process_time() - began) * 1000)
        if answer.status_code != 200:
            raise SystemExit(f"{address}: {answer.status_code} {answer.text[:500]}")
    return min(found)


def compare(teams: int, items: int) -> dict[str, object]:
    """Time and memory of the comparison behind a board of labels."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(seconds=14_400.0)  # of a clock, which a busy machine stretches; CPU time is what counts here
        office = small_office(Path(folder), SetClock(), limits=limits)
        crowd.fill(office, Path(folder), teams, items, settings="draws = 200")
        with office.writing() as session:
            orders = list(boards.orders_due(session, office))
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        ended = [comparison.compare(office, **asdict(order)) for order in orders]
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
        office.close()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "comparison_of_teams": teams, "items": items, "ended": ended, "cpu_s": round(cpu, 1), "wall_s": round(wall, 1),
        "peak_mib": round(after.ru_maxrss / 1024),
    }  # fmt: skip


def main() -> None:
    """Measure boards of three sizes, print them, and append them to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teams", type=int, nargs="*", default=sorted(GOALS))
    parser.add_argument("--compare", type=int, nargs="*", help="time the comparison of so many teams instead")
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--keep", action="store_true", help="append to benchmarks/results/boards.jsonl")
    given = parser.parse_args()
    lines = []
    for teams in given.compare or ():
        lines.append(compare(teams, given.items))
        print(json.dumps(lines[-1]), flush=True)
    for teams in given.teams if given.compare is None else ():
        with tempfile.TemporaryDirectory() as folder:
            office = small_office(Path(folder), SetClock())
            fill(office, teams)
            client = TestClient(make_app(office))
            of = "dev%7CCLIR%7C1A%7C"
            page = measure(client, f"/campaigns/small/leaderboard?of={of}")
            api = measure(client, "/api/v1/campaigns/small/leaderboard?window=dev&task=CLIR&language=1A")
            office.close()
        line = {"teams": teams, "page_cpu_ms": round(page, 1), "api_cpu_ms": round(api, 1), "goal_ms": GOALS.get(teams)}
        lines.append(line)
        print(json.dumps(line))
    if given.keep:
        path = Path(__file__).parent / "results" / "boards.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line | {"python": sys.version.split()[0]}) + "\n" for line in lines)


if __name__ == "__main__":
    main()
