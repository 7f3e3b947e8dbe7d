"""The server under load, on loopback: how fast the queue scores, what users feel meanwhile, and what growth costs.

1. The queue alone: full-size submissions of several teams by one worker process, against the bare scorer on the same
   archives, two at a time.
2. The queue at a tenth of the size with users on the server: calls a second, p50 and p99, and how much slower it gets.
3. What listing and submitting cost as stored submissions grow.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from clir_data import DOCUMENTS, ready
from measuring import record, show
from scale_counting import cpu_of
from server_growth import costs_of_growth

HERE = Path(__file__).parent
QUERIES, CORES, TEAMS = 1300, 2, 10
GOALS = {
    "queue / bare scorer, rate": (0.9, "at least"),
    "queue / bare scorer, CPU": (1.1, "at most"),
    "errors of users": (0.0, "at most"),
    "p99 with users, s": (2.0, "at most"),
    "slowdown by users": (1.5, "at most"),
    "listing, largest / smallest": (2.0, "at most"),
    "submitting, largest / smallest": (2.0, "at most"),
    "looking for receipts, largest / smallest": (2.0, "at most"),
}
LIMITS = {"poll_seconds": 0.5}


def bare_rate(folder, count):
    """Submissions a second of `basanite score`, as many at a time as there are cores, and CPU seconds of each."""
    command = [sys.executable, "-m", "basanite", "score", "clir", "--reference", str(folder / "key.tgz"), "--json"]
    command += ["--submission", str(folder / "Alpha.tgz")]
    began, before, running, left = time.perf_counter(), spent_on_children(), [], count
    while running or left:
        running = [one for one in running if one.poll() is None]
        while left and len(running) < CORES:
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            left -= 1
        time.sleep(0.02)
    return count / (time.perf_counter() - began), (spent_on_children() - before) / count


def spent_on_children():
    """CPU seconds of all processes that were started from here and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


class Place:
    """An office with submissions in it, and processes on it."""

    def __init__(self, folder, name, *, url=None, workers=CORES):
        from tests.offices.machines import Machines
        from tests.offices.submitting import crowd

        from basanite.testing import small_office

        self.data, self.home = folder, Path(name)
        self.office = small_office(self.home, url=url, workers=workers, limits=LIMITS)
        self.teams = crowd(self.office, folder / "key.tgz", teams=TEAMS)
        self.machines = Machines(self.office, self.home)

    def submit(self, count):
        """So many submissions, the teams in turn."""
        from tests.offices.submitting import submit

        for number in range(count):
            submit(self.office, self.teams.members[number % TEAMS], self.data / "Alpha.tgz")

    def rate(self):
        """Submissions a second from the first that was begun to the last that ended; all must be scored."""
        from tests.offices.machines import all_ended, states, wait_until

        if not wait_until(lambda: all_ended(self.office), 3600) or set(states(self.office)) != {"scored"}:
            raise SystemExit(f"not all were scored: {states(self.office)}\n{self.machines.logs()}")
        return rate_of(self.office)

    def close(self):
        """End the processes."""
        self.machines.stop_all()
        self.office.close()


def rate_of(office, ids=None):
    """Submissions a second, of all or of some, from the first that was begun to the last whose job has ended."""
    from tests.offices.machines import wait_until

    from basanite.campaign.jobs.queue import QUEUE, client

    wanted, jobs = None if ids is None else [f"process_submission:{one}" for one in ids], []

    def noted():
        asked = {"queue_name": QUEUE, "name": "process_submission", "workflow_ids": wanted}
        jobs[:] = client(office).list_workflows(**asked, load_input=False, load_output=False)
        return all(job.completed_at for job in jobs)

    if not wait_until(noted, 60):
        raise SystemExit("jobs whose submissions have ended have not ended themselves")
    return 1000 * len(jobs) / (max(job.completed_at for job in jobs) - min(job.dequeued_at for job in jobs))


def queue_rate(folder, count, users=None):
    """The rate of the queue, alone or beside users, CPU seconds of each submission, and what the users saw."""
    with tempfile.TemporaryDirectory(prefix="basanite-load-") as name:
        place = Place(folder, name)
        try:
            place.submit(count)
            seen = users_of(place, folder, **users) if users else None
            place.machines.worker("worker")
            rate = place.rate()
            spent = cpu_of(place.machines.processes["worker"].pid) / count
            return rate, spent, json.loads(seen.communicate()[0]) if seen else None
        finally:
            place.close()


def users_of(place, folder, *, users, seconds):
    """A server and a process that plays its users."""
    from tests.offices.machines import free_port, serve, wait_until
    from tests.offices.submitting import plan_load

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    plan = plan_load(place.office, address, place.teams, (), count=0, pause=0)
    place.machines.start("server", serve, place.office.settings, port)
    if not wait_until(lambda: answers(address), 60):
        raise SystemExit(place.machines.logs())
    told = {"address": address, "tokens": plan.tokens, "slug": "small", "users": users, "seconds": seconds}
    told["file"] = str(folder / "Alpha.tgz")
    command = [sys.executable, str(HERE / "server_load.py"), json.dumps(told)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def answers(address):
    """Whether a server is there."""
    import httpx2

    try:
        return httpx2.get(f"{address}/api/v1/campaigns").status_code == 200
    except httpx2.HTTPError:
        return False


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 1300 queries, for a quick run")
    parser.add_argument("--count", type=int, default=20, help="submissions in the queue")
    parser.add_argument("--users", type=int, default=50, help="users at a time")
    parser.add_argument("--seconds", type=float, default=60, help="how long users are there")
    parser.add_argument("--stored", type=int, default=100_000, help="the most submissions stored")
    return parser.parse_args()


def main():
    """Run the three parts, show and record."""
    asked = arguments()
    queries = max(round(QUERIES * asked.scale), 10)
    full, tenth = ready(queries, ("key.tgz", "Alpha.tgz")), ready(max(queries // 10, 2), ("key.tgz", "Alpha.tgz"))
    bare, bare_cpu = bare_rate(full, asked.count)
    alone, alone_cpu, _ = queue_rate(full, asked.count)
    print(f"bare scorer {bare:8.3f}/s   queue {alone:8.3f}/s   ({asked.count} of {queries} queries)", flush=True)
    print(f"CPU of each {bare_cpu:8.2f} s         {alone_cpu:8.2f} s", flush=True)
    small, _, _ = queue_rate(tenth, asked.count)
    beside, _, seen = queue_rate(tenth, asked.count, {"users": asked.users, "seconds": asked.seconds})
    print(f"a tenth: queue {small:.3f}/s alone, {beside:.3f}/s with {asked.users} users\nusers: {seen}", flush=True)
    grown = costs_of_growth(asked.stored)
    found = {
        "queue / bare scorer, rate": alone / bare,
        "queue / bare scorer, CPU": alone_cpu / bare_cpu,
        "errors of users": sum(seen["errors"].values()),
        "p99 with users, s": seen["p99"],
        "slowdown by users": small / beside,
        "listing, largest / smallest": grown[-1]["listing"] / grown[0]["listing"],
        "submitting, largest / smallest": grown[-1]["submitting"] / grown[0]["submitting"],
        "looking for receipts, largest / smallest": grown[-1]["receipts"] / grown[0]["receipts"],
    }
    show(found, GOALS)
    size = {"queries": queries, "documents": DOCUMENTS, "count": asked.count, "users": asked.users}
    cpu = {"bare": bare_cpu, "queue": alone_cpu}
    rates = {"bare": bare, "queue": alone, "tenth": small, "tenth with users": beside}
    record("server.jsonl", size, {}, found, GOALS, rates=rates, cpu=cpu, seen=seen, growth=grown, load=os.getloadavg())


if __name__ == "__main__":
    main()
