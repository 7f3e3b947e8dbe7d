"""Programs of teams: what the sandbox costs a run, how fast the queue runs tiny programs, and what kills do to it.

The tests of the same name assert that nothing is lost, doubled or paid for twice; this counts it at a larger size.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.campaign.programs.conftest import Stage, archive, open_programs, window  # noqa: E402
from tests.offices.machines import QUICK, Machines, all_ended, judge, wait_until  # noqa: E402

from basanite.programs.contract import Call, Resources  # noqa: E402
from basanite.programs.sandbox_runner import RUNNER  # noqa: E402
from basanite.testing import season, small_campaign_text, small_office  # noqa: E402
from measuring import RESULTS, met, show  # noqa: E402

GOALS = {
    "CPU of the sandbox per run, ms": (100.0, "at most"),
    "two workers to one": (1.6, "at least"),
    "wrong after the queue": (0, "at most"),
    "wrong after kills": (0, "at most"),
}
TINY = "#!/bin/sh\ncp in/items.tsv out/answers.tsv\nsed -i 1s/word/label/ out/answers.tsv\n"
PATIENCE = 3600


def spent() -> float:
    """CPU seconds of this process and of its children that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def overhead(runs: int) -> float:
    """CPU milliseconds that a run costs in the sandbox, beyond those of the same program started by hand."""
    with tempfile.TemporaryDirectory(prefix="basanite-runs-") as name:
        root = Path(name)
        root.chmod(0o755)
        for folder in ("program", "in", "out"):
            (root / folder).mkdir()
        (root / "program" / "run").write_text("#!/bin/sh\n:\n")
        (root / "program" / "run").chmod(0o755)
        call = Call(root / "program", root / "in", root / "out", Resources(60, memory=2**28))
        assert RUNNER.run(call).good, "it is not seen whether a sandbox can be made before the clock starts"
        before = spent()
        for _ in range(runs):
            assert RUNNER.run(call).good
        boxed, before = spent() - before, spent()
        for _ in range(runs):
            subprocess.run([root / "program" / "run"], check=True)
        return 1000 * (boxed - (spent() - before)) / runs


def opened(folder: Path, count: int) -> tuple[Stage, Machines]:
    """So many tiny programs that wait in the queue of a season, those of two teams by turns."""
    more = window(reruns="0", batch="6").replace("count = 50", "count = 100000")
    text = small_campaign_text(more=more, invalid_per_day=100_000).replace("2018-03-31 24:00", "2099-12-31 24:00")
    office = small_office(folder, limits={**QUICK, "minute": 0})
    stage = Stage(office, season(office, text))
    open_programs(office, stage.season, folder)
    for number in range(count):
        stage.submit(archive(run=TINY), team=("alpha", "beta")[number % 2])
    return stage, Machines(office, folder)


def queue(count: int, workers: int) -> tuple[float, int]:
    """Programs a second with so many workers, and how many things were wrong in the end."""
    with tempfile.TemporaryDirectory(prefix="basanite-queue-") as name:
        stage, machines = opened(Path(name), count)
        try:
            for number in range(workers):
                machines.worker(str(number))
            for number in range(workers):
                assert wait_until(lambda number=number: machines.at_work(str(number)), 120), machines.logs()
            begun = time.monotonic()
            assert wait_until(lambda: all_ended(stage.office), PATIENCE), machines.logs()
            return count / (time.monotonic() - begun), len(judge(stage.office).wrong)
        finally:
            machines.stop_all()


def killed(count: int, kills: int, seed: int) -> int:
    """How many things are wrong after so many kills of two workers."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="basanite-kills-") as name:
        stage, machines = opened(Path(name), count)
        try:
            for worker in ("one", "two"):
                machines.worker(worker)
            for _ in range(kills):
                worker = dice.choice(("one", "two"))
                assert wait_until(lambda worker=worker: machines.at_work(worker), 120, 0.02), machines.logs()
                time.sleep(dice.uniform(0.05, 1.5))
                machines.kill(worker)
                machines.worker(worker)
            assert wait_until(lambda: all_ended(stage.office), PATIENCE), machines.logs()
            return len(judge(stage.office).wrong)
        finally:
            machines.stop_all()


def main() -> None:
    """Measure, show, and append a line to the results."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--count", type=int, default=1000, help="programs in the queue")
    given.add_argument("--kills", type=int, default=100)
    given.add_argument("--runs", type=int, default=100, help="runs of which the overhead is taken")
    asked = given.parse_args()
    milliseconds = overhead(asked.runs)
    rates = {workers: queue(asked.count, workers) for workers in (1, 2)}
    found = {
        "CPU of the sandbox per run, ms": milliseconds,
        "two workers to one": rates[2][0] / rates[1][0],
        "wrong after the queue": rates[1][1] + rates[2][1],
        "wrong after kills": killed(max(asked.kills // 4, 4), asked.kills, 20181),
    }
    show(found, GOALS)
    line = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **vars(asked),
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "load": round(os.getloadavg()[1], 1)},
        "per_second": {str(workers): round(rate, 3) for workers, (rate, _) in rates.items()},
        "found": {name: round(value, 3) for name, value in found.items()},
        "met": {name: met(GOALS[name], value) for name, value in found.items()},
    }
    with (RESULTS / "programs.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps(line, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
