"""A thousand judges at once on loopback: a real server, each judge from consent to the last item, some answers twice.

What counts is read from the database afterwards: every judgement is there exactly once and is what its judge said. The
server runs in a process of its own; judges and server share the machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from measuring import record, show

GOALS = {
    "judgements lost or doubled": (0.0, "at most"),
    "judgements stored otherwise": (0.0, "at most"),
    "judges who did not reach the end": (0.0, "at most"),
    "calls that failed": (0.0, "at most"),
}


def answers(address):
    """Whether a server is there."""
    import httpx2

    try:
        return httpx2.get(f"{address}/api/v1/campaigns").status_code == 200
    except httpx2.HTTPError:
        return False


def cpu_of(process):
    """The CPU seconds that a process has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def judged(folder, *, judges, items, per_item, url, seconds):
    """Let so many judges work at once; gives what they saw, what is stored, and the seconds."""
    from tests.offices.judges import count_stored, crew, judge_all
    from tests.offices.machines import Machines, free_port, serve, wait_until

    from basanite.testing import season, small_office

    office = small_office(folder, url=url)
    machines = Machines(office, folder)
    try:
        small = season(office)
        began = time.perf_counter()
        made = crew(office, small.campaign_id, small.slug, judges=judges, items=items, per_item=per_item)
        planned = time.perf_counter() - began
        port = free_port()
        machines.start("server", serve, office.settings, port)
        if not wait_until(lambda: answers(f"http://127.0.0.1:{port}"), 60):
            raise SystemExit(machines.logs())
        began, spent = time.perf_counter(), cpu_of(machines.processes["server"].pid)
        seen = judge_all(f"http://127.0.0.1:{port}", made, seconds=seconds)
        took = {"planned": planned, "judged": time.perf_counter() - began}
        took["server"] = cpu_of(machines.processes["server"].pid) - spent
        return made, seen, count_stored(office, made), took
    finally:
        machines.stop_all()
        office.close()


def arguments():
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judges", type=int, default=1000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--per-item", type=int, default=3, help="judgements of each item")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL in place of SQLite")
    parser.add_argument("--limit", type=float, default=3600, help="the most seconds that the judging may take")
    parser.add_argument("--dry", action="store_true", help="print only")
    return parser.parse_args()


def main():
    """Run it, compare what was said with what is stored, and note it."""
    from contextlib import nullcontext

    from tests.offices.postgres import postgres

    given = arguments()
    size = {"judges": given.judges, "items": given.items, "per_item": given.per_item}
    with (
        tempfile.TemporaryDirectory(prefix="basanite-judges-") as name,
        postgres() if given.postgres else nullcontext() as server,
    ):
        url = server.fresh() if server else None
        made, seen, kept, seconds = judged(Path(name), **size, url=url, seconds=given.limit)
    found = {
        "judgements lost or doubled": abs(kept.judgements - made.wanted) + (kept.judgements - kept.assignments),
        "judgements stored otherwise": kept.wrong,
        "judges who did not reach the end": given.judges - seen.ended,
        "calls that failed": seen.failed,
    }
    rate = kept.judgements / seconds["judged"]
    print(f"{kept.judgements} judgements by {given.judges} judges in {seconds['judged']:.1f} s ({rate:.0f} a second);")
    print(f"{seen.repeated} answers came twice; enrolling and planning took {seconds['planned']:.1f} s;")
    print(f"the server took {seconds['server']:.1f} s of CPU, {1000 * seconds['server'] / seen.calls:.1f} ms a call")
    show(found, GOALS)
    if not given.dry:
        more = {"database": "postgresql" if given.postgres else "sqlite", "per_second": round(rate, 1)}
        more |= {"calls": seen.calls, "server_cpu": round(seconds["server"], 2), "wall": round(seconds["judged"], 1)}
        record("judges.jsonl", size, {}, found, GOALS, **more)


if __name__ == "__main__":
    main()
