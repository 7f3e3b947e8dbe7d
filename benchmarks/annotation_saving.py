"""What one save costs the server in a text with thousands of marks, and how much it sends back (R-42).

    python benchmarks/annotation_saving.py --marks 2000

The project is the football example on SQLite; the text has so many marks, and one event after the other is sent to the
address that the page uses. Process CPU time of the server's side of a call is counted, all threads together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from measuring import record, show

GOALS = {"cpu_ms_p95": (50.0, "at most"), "answer_bytes": (2_000, "at most")}
ROOT = Path(__file__).parents[1]


def opened(folder, marks):
    """A project whose one text has so many marks, a client that is signed in, and the address of its events."""
    from starlette.testclient import TestClient
    from tests.server.annotating.staging import package_with, staged

    from annotation_page import events_of, text_of
    from basanite.campaign.office import Actor
    from basanite.campaign.work.annotation import annotator_work
    from basanite.server.accounts import sessions
    from basanite.server.app import make_app
    from basanite.work.annotation.events import Event

    text = text_of(25 * marks)
    stage = staged(folder)
    project = stage.project(package_with(folder, long=text), names=["long"], people=("nora",))
    task = stage.task("nora", project, "long")
    made = [Event(one["id"], one["kind"], one["data"]) for one in events_of(text, marks)]
    for start in range(0, len(made), 500):
        with stage.office.writing() as session:
            actor = Actor(stage.people["nora"])
            sent = annotator_work.append(session, stage.office, actor, task, made[start : start + 500], after=0)
            assert not sent.refused
    with stage.office.writing() as session:
        cookie = sessions.start(session, stage.office, stage.people["nora"])
    client = TestClient(make_app(stage.office))
    client.cookies.set(sessions.cookie_name(stage.office), cookie)
    address = f"/campaigns/small/annotate/{task}/events"
    return client, address, client.get(address, params={"after": len(made)}).json()["csrf"], len(made)


def saved(client, address, token, count, saves):
    """CPU milliseconds and bytes of each save of one event."""
    costs, sizes = [], []
    for number in range(saves):
        event = {
            "id": f"more-{number}",
            "kind": "set",
            "data": {"object": "t", "field": "name", "value": NAMES[number % 2]},
        }
        start = time.process_time()
        answer = client.post(address, json={"after": count, "events": [event]}, headers={"X-CSRF-Token": token})
        costs.append(1000 * (time.process_time() - start))
        found = answer.json()
        assert found["accepted"] == [event["id"]], found
        count, sizes = found["sequence"], [*sizes, len(answer.content)]
    return costs, sizes


NAMES = ("ChicagoBears", "NewYorkJets")


def main():
    """Run it, print the figures, and append them to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marks", type=int, default=2_000)
    parser.add_argument("--saves", type=int, default=40)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(prefix="basanite-") as name:
        client, address, token, count = opened(Path(name), given.marks)
        costs, sizes = saved(client, address, token, count, given.saves)
    costs.sort()
    found = {"cpu_ms_p95": costs[round(0.95 * (len(costs) - 1))], "answer_bytes": max(sizes)}
    print(
        f"CPU of a save: median {costs[len(costs) // 2]:.1f} ms, longest {costs[-1]:.1f} ms; answer {max(sizes)} bytes"
    )
    show(found, GOALS)
    size = {"marks": given.marks, "events": count, "saves": given.saves}
    more = {"cpu_ms_median": round(costs[len(costs) // 2], 2), "cpu_ms_longest": round(costs[-1], 2)}
    record("annotation_saving.json", size, {}, found, GOALS, **more)


if __name__ == "__main__":
    main()
