"""What a server carries, on loopback with real processes: the queue, the cost of calls as storage grows, and a model.

On SQLite and on PostgreSQL (as durable as it is by itself):

1. the queue: submissions of a tenth of the full size, scored by one and by two worker processes;
2. growth: what looking, submitting and a worker's round of duties cost at 1,000 to 100,000 stored submissions;
3. storage: bytes of database and files for one submission;
4. comparing: what the comparison behind a board costs by the number of its teams;
5. the model of `capacity.py`, made from these figures, foretells a run with two workers and users, which is then made.

`--page` writes the tables of the newest full run into the documentation.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import scale_page
from clir_data import ready
from measuring import record, show
from scale_comparing import FEW, SYSTEMS, comparing
from scale_costs import Stage, growth
from scale_counting import commit_seconds
from scale_queue import beside_users, idle_worker, mix, small_work, throughput
from server_load import THINKING

QUERIES = 130
"""A tenth of the full size."""
SIZES, REPEATS = (1_000, 10_000, 100_000), 25
CALLS = ("list", "board", "receipt", "submit")
ENGINES = ("sqlite", "postgresql")
GROWTH, FASTER, OFF = (2.0, "at most"), (1.5, "at least"), (1.5, "at most")


def measured(engine, given):
    """Everything about one engine."""
    from tests.offices.postgres import DURABLE, postgres

    with postgres(DURABLE) if engine == "postgresql" else nullcontext() as server:
        commit = commit_of(server)
        queue = [queue_of(server, given, processes, commit) for processes in (1, 2)]
        told(engine, "queue", queue)
        return {"commit": commit, "queue": queue, **on_stage(server, given, engine, commit)}


def commit_of(server):
    """What a commit takes at best."""
    with tempfile.TemporaryDirectory(prefix="basanite-commit-") as name:
        return commit_seconds(server.fresh() if server else f"sqlite:///{name}/commits.sqlite")


def queue_of(server, given, processes, commit):
    """The queue on a database of its own."""
    url = server.fresh() if server else None
    folder = ready(given.queries, ("key.tgz", "Alpha.tgz"))
    return throughput(folder, given.count, processes=processes, commit=commit, url=url, server=server)


def on_stage(server, given, engine, commit):
    """Growth, and the run that the model is checked with, on one season."""
    from basanite.testing import small_pack

    with tempfile.TemporaryDirectory(prefix="basanite-scale-") as name:
        home, url = Path(name), server.fresh() if server else None
        stage = Stage(home, small_pack(home / "pack"), commit=commit, url=url, server=server)
        try:
            grown = growth(stage, given.sizes, given.repeats, lambda found: told(engine, "growth", found))
            small = small_work(stage, processes=1)
            small["idle"] = idle_worker(stage)
            told(engine, "small files, one worker", small)
            asked = {"processes": 2, "users": given.users, "seconds": given.seconds}
            queue, seen = beside_users(stage, **asked)
            told(engine, "beside users", {"queue": queue, "seen": seen})
        finally:
            stage.close()
    crew = {**asked, "thinking": THINKING, "mix": mix(), "stored": given.sizes[-1], "cores": os.cpu_count()}
    return {"growth": grown, "small": small, "check": {"crew": crew, "queue": queue, "seen": seen}}


def told(engine, what, found):
    """Say on the way what was found, with the time and the load of the machine."""
    load = os.getloadavg()[0]
    print(f"[{time.strftime('%H:%M:%S')}, load {load:.1f}] {engine}, {what}: {scale_page.rounded(found)}", flush=True)


def judged(engines):
    """The ratios that there are goals for."""
    found, goals = {}, {}

    def add(name, value, goal):
        found[name], goals[name] = value, goal

    for engine, one in engines.items():
        for call in CALLS:
            add(f"{call}, growth of CPU, {engine}", scale_page.grown(one, call), GROWTH)
        add(f"worker's round, growth, {engine}", scale_page.grown_round(one), GROWTH)
        add(f"two workers / one, rate, {engine}", one["queue"][1]["rate"] / one["queue"][0]["rate"], FASTER)
        for what, (said, seen) in scale_page.checked(one).items():
            add(f"model off by, {what}, {engine}", max(said / seen, seen / said), OFF)
    return found, goals


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small, to see whether it works")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only this engine; prints, notes nothing")
    parser.add_argument("--page", action="store_true", help="write the newest full run into the documentation")
    given = parser.parse_args()
    given.sizes, given.repeats = ((500, 1_000), 5) if given.quick else (SIZES, REPEATS)
    given.queries, given.count = (2, 4) if given.quick else (QUERIES, 10)
    given.users, given.seconds = (4, 8) if given.quick else (15, 20)
    return given


def main():
    """Measure both engines, show and record; or write the page."""
    given = arguments()
    if given.page:
        scale_page.write()
        return
    before, began = os.getloadavg()[0], time.perf_counter()
    engines = {engine: measured(engine, given) for engine in given.engine or ENGINES}
    lasted = time.perf_counter() - began
    line = {"engines": engines, "comparing": comparing(FEW if given.quick else SYSTEMS)}
    print("\n\n".join(scale_page.tables(line).values()))
    found, goals = judged(engines)
    show(found, goals)
    load = {"before": before, "after": os.getloadavg()[0]}
    print(f"\n{lasted:.0f} s; load of the machine {load['before']:.1f} before, {load['after']:.1f} after")
    if not given.engine:
        archive = ready(given.queries, ("Alpha.tgz",)) / "Alpha.tgz"
        size = {"queries": given.queries, "archive": archive.stat().st_size, "quick": given.quick}
        record("scale.jsonl", size, {}, found, goals, **scale_page.rounded({"load": load, "seconds": lasted, **line}))


if __name__ == "__main__":
    main()
