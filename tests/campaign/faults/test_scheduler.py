"""The scheduler of a cluster is killed in the middle of a plan: a clear message, and the same command goes on."""

import gc
import time

import pytest
from tests.clusters.dask_processes import dask_cluster, kill
from tests.clusters.test_dask_results import content
from tests.harness.plans import ALPHA, DIGITS, HEAD, written

from basanite.clusters import executor as clusters
from basanite.clusters.address import Cluster, ClusterError
from basanite.harness.evaluation import ready
from basanite.harness.running import Watcher, run_plan


class Killer:
    """Kills the scheduler once some steps are done."""

    def __init__(self, processes, after):
        self.processes, self.after, self.done = processes, after, 0

    def __call__(self, outcome, finished, total):
        self.done += outcome.state == "done"
        if self.done == self.after and self.processes.scheduler.poll() is None:
            kill(self.processes.scheduler)


class Counter:
    """Counts steps that were computed, not found."""

    done = 0

    def __call__(self, outcome, finished, total):
        self.done += outcome.state == "done"


@pytest.mark.slow
@pytest.mark.fault("kill -9 of the Dask scheduler")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets of the client that broke off
def test_a_plan_whose_scheduler_is_killed_says_so_and_goes_on_from_there(tmp_path, fault, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 5)
    plans = {name: tmp_path / name for name in ("alone", "far")}
    for folder in plans.values():
        folder.mkdir()
    plan = ready(written(plans["far"], HEAD + DIGITS + ALPHA))
    counted = Counter()
    alone = ready(written(plans["alone"], HEAD + DIGITS + ALPHA))
    alone = run_plan(alone, plans["alone"] / "result", watcher=Watcher(progress=counted))
    (tmp_path / "first").mkdir()
    with dask_cluster(tmp_path / "first") as processes:
        killer = Watcher(progress=Killer(processes, after=5))
        with pytest.raises(ClusterError, match=r"has gone\. What was finished is kept: .*the same command again"):
            run_plan(plan, plans["far"] / "result", cluster=Cluster.of(processes.address), watcher=killer)
    gc.collect()  # what the broken client leaves is told here, not in a test that comes later
    again, began = Counter(), time.monotonic()
    (tmp_path / "second").mkdir()
    with dask_cluster(tmp_path / "second") as processes:
        cluster = Cluster.of(processes.address)
        made = run_plan(plan, plans["far"] / "result", cluster=cluster, watcher=Watcher(progress=again))
    seconds = time.monotonic() - began
    assert content(made.path) == content(alone.path)
    assert again.done <= counted.done - 5
    fault(
        done=f"killed after 5 of {counted.done} steps of a plan; a scheduler was started and the command called again",
        became=f"the command ended in words; the {counted.done - again.done} finished steps were kept, and the results "
        "are the same bytes as without a cluster",
        seconds=seconds,
    )
