"""How fast the queue scores with one and with two worker processes, and beside users: real processes on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scale_costs import BOARD, some_of, submitted, wait, writer
from scale_counting import cpu_of, cpu_of_database, telling, told
from server import Place, rate_of
from server_load import SUBMITS

HERE = Path(__file__).parent
LOOKED_AT = ("windows", "list", "one", "board", "receipt")
"""What users look at in the run that the model is checked with, each as often as the others."""
UNDER_WAY = ("received", "validating", "scoring")
MOST_A_SECOND = 3.0
"""More submissions than two cores can score in a second."""


def throughput(folder, count, *, processes, commit, url=None, server=None):
    """What scoring takes with so many worker processes, each of which scores one submission at a time."""
    with tempfile.TemporaryDirectory(prefix="basanite-queue-") as name:
        place = Place(folder, name, url=url, workers=1)
        try:
            place.submit(count)
            work = Work(place.machines, place.home, server, commit)
            return work.measured(processes, lambda: (place.rate(), count))
        finally:
            place.close()


@dataclass(frozen=True)
class Work:
    """An office's processes, where they write, and what it takes to know what they cost."""

    machines: object
    home: Path
    server: object
    commit: float

    def measured(self, processes, ended):
        """Let workers work until `ended` gives rate and count; then what each submission took of whom."""
        from tests.offices.machines import work

        before = cpu_of_database(self.server)
        accounts = {f"worker{number}": self.home / f"worker{number}.held" for number in range(processes)}
        for name, path in accounts.items():
            path.unlink(missing_ok=True)
            self.machines.start(name, telling, str(path), work, self.machines.office.settings)
        rate, count = ended()
        spent = self._spent(accounts, before, count)
        for name in accounts:
            self.machines.kill(name)
        return {"processes": processes, "count": count, "rate": rate, "place": processes / rate, **spent}

    def _spent(self, accounts, before, count):
        held = [told(path) for path in accounts.values()]
        spent = {
            "cpu": sum(cpu_of(self.machines.processes[name].pid) for name in accounts) / count,
            "database": (cpu_of_database(self.server) - before) / count,
            "held": sum(one["seconds"] for one in held) / count,
            "held_cpu": sum(one["cpu"] for one in held) / count,
            "turns": sum(one["turns"] for one in held) / count,
        }
        return {**spent, "writer": writer(spent, self.commit)}


def idle_worker(stage, seconds=4.0):
    """The share of the writers' time that one worker takes which has nothing to do but look for jobs."""
    from tests.offices.machines import work

    path = stage.home / "idle.held"
    stage.machines.start("idle", telling, str(path), work, stage.office.settings)
    wait(stage, lambda: told(path)["turns"] > 0 or not stage.office.database.is_sqlite, "the worker did not start")
    time.sleep(1.0)
    began, before = time.perf_counter(), told(path)
    time.sleep(seconds)
    after, lasted = told(path), time.perf_counter() - began
    stage.machines.kill("idle")
    turns = after["turns"] - before["turns"]
    return (after["cpu"] - before["cpu"] + turns * stage.commit) / lasted


def on_stage(stage):
    """Workers on a stage."""
    return Work(stage.machines, stage.home, stage.database, stage.commit)


def small_work(stage, *, processes):
    """The same on a stage that holds many submissions already: what was submitted there, small files, is scored."""
    ids = waiting(stage.office)

    def ended():
        wait(stage, lambda: not waiting(stage.office), "the queue was not worked off", 900)
        return rate_of(stage.office, ids), len(ids)

    return on_stage(stage).measured(processes, ended)


def queued(stage, count):
    """So many submissions in the queue, the teams in turn; gives their ids."""
    members = stage.teams.members
    whose = [members[number % len(members)] for number in range(count)]
    stage.stored += count
    return [submitted(stage.office, member, stage.pack.perfect, "contrastive") for member in whose]


def waiting(office):
    """The submissions that have not ended."""
    from sqlalchemy import select

    from basanite.campaign.store.tables import Submission

    with office.reading() as session:
        return session.scalars(select(Submission.id).where(Submission.state.in_(UNDER_WAY))).all()


def beside_users(stage, *, processes, users, seconds):
    """Scoring with users on the server: what the queue took, and what the users saw.

    There is more in the queue than can be done meanwhile.
    """
    queued(stage, int(MOST_A_SECOND * seconds))
    with stage.served() as address:
        asked = {"address": address, "slug": "small", "users": users, "seconds": seconds}
        asked |= {"tokens": stage.tokens[:1], "looks": looked_at(stage), "file": str(stage.pack.silent)}
        command = [sys.executable, str(HERE / "server_load.py"), json.dumps(asked)]
        seen = {}

        def ended():
            began = stage.office.clock()
            player = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            seen.update(json.loads(player.stdout))
            lasted = (stage.office.clock() - began).total_seconds()
            count = scored_since(stage.office, began)
            return count / lasted, max(count, 1)

        queue = on_stage(stage).measured(processes, ended)
    return queue, seen


def looked_at(stage):
    """The places that users look at; all are members of the first team, so that they may."""
    one = some_of(stage.office, stage.teams.members[0].team)[0]
    found = {"windows": "windows", "list": "submissions?limit=20", "board": BOARD}
    found |= {"one": f"submissions/{one}", "receipt": f"submissions/{one}/receipts/intake"}
    return [found[name] for name in LOOKED_AT]


def scored_since(office, moment):
    """How many submissions have been scored since a moment."""
    from sqlalchemy import func, select

    from basanite.campaign.store.tables import Submission

    with office.reading() as session:
        return session.scalar(select(func.count()).where(Submission.state == "scored", Submission.state_at >= moment))


def mix():
    """The share of each kind of call among all calls of these users."""
    return {name: (1 - SUBMITS) / len(LOOKED_AT) for name in LOOKED_AT} | {"submit": SUBMITS}
