"""The same results on a cluster of two processes as here, also when one is killed in the middle (P-16)."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.samples import metric
from tests.cli.running import FEATURES, ROOT, here
from tests.clusters.dask_processes import kill
from tests.harness.plans import ALPHA, DIGITS, HEAD, written

from basanite.analysis.comparison import compare
from basanite.analysis.results import Design
from basanite.analysis.system import analyse
from basanite.clusters.address import ClusterError
from basanite.clusters.executor import Ready, cluster_executor, versions
from basanite.harness.analysis.run_analysis import Options
from basanite.harness.evaluation import ready
from basanite.harness.extras import Asked, extras
from basanite.harness.results import ResultFolder
from basanite.harness.running import Places, Watcher, run_plan
from basanite.harness.steps.graph import Step, run
from basanite.harness.steps.store import Store
from basanite.kernel import Scores, UnitRows

LABELS = ROOT / "examples" / "labels"
MEASURES = {
    "run": ("run", "seen.npz", "--draws", "20", "--metric", "dunn", "--metric", "silhouette", "--metric", "h_score"),
    "compare": ("compare", "seen.npz", "turned.npz", "--draws", "20", "--metric", "silhouette", "--metric", "rs"),
    "shift": ("shift", "seen.npz", "unseen.npz", "--metric", "ferm1", "--draws", "4", "--repeats", "3"),
    "monitor": ("monitor", "seen.npz", "monday.npz", "--target", "unseen.npz", "--metric", "ferm1", "--draws", "20"),
}


def slow_square(number):
    time.sleep(0.2)
    return number * number


def where(_):
    import os

    return os.getpid()


def weighted_median(rows, weights):
    order = np.argsort(rows[:, 0], kind="stable")
    reached = np.cumsum(weights[:, order], axis=1) >= weights.sum(axis=1, keepdims=True) / 2
    return rows[order, 0][reached.argmax(axis=1)]


MEDIAN = metric("median", None, ("x",), compute=weighted_median)


def system(name, seed, units=400):
    dice = np.random.default_rng(seed)
    table = UnitRows("item", tuple(f"i{at:04}" for at in range(units)), ("x",), dice.normal(size=(units, 1)))
    return Scores("made", name, (MEDIAN,), {"median": table}, "median", {}, {})


def test_work_is_done_by_the_processes_of_the_cluster(cluster, processes):
    with cluster_executor(cluster) as executor:
        used = set(executor.map(where, range(20)))
    assert used <= {worker.pid for worker in processes.workers}


@pytest.mark.few(2)
@pytest.mark.req("P-16", "F-5", "F-6")
@pytest.mark.parametrize("name", MEASURES)
def test_every_measuring_command_prints_the_same_bytes(cluster, name):
    words = ("measure", *MEASURES[name], "--json")
    alone, together = here(*words, cwd=FEATURES), here(*words, "--dask", cluster.address, cwd=FEATURES)
    assert (alone.code, together.code) == (0, 0), together.stderr
    assert together.stdout == alone.stdout


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_draws_of_a_metric_that_is_no_function_of_sums_are_the_same_to_the_last_digit(cluster, method):
    draws = 5000 if method == "bca" else 1000
    here_only = Design(draws=draws, interval=method)
    first, second = [analyse(system(name, seed), here_only, version="1") for seed, name in ((1, "A"), (2, "B"))]
    with cluster_executor(cluster) as executor:
        design = Design(draws=draws, interval=method, executor=executor)
        far = [analyse(system(name, seed), design, version="1") for seed, name in ((1, "A"), (2, "B"))]
        together = compare(far, None, design)
    assert [one.values for one in far] == [first.values, second.values]
    assert together.differences == compare([first, second], None, here_only).differences


@pytest.mark.req("P-16")
def test_a_comparison_by_command_prints_the_same_bytes_and_takes_the_address_from_the_environment(cluster, monkeypatch):
    words = (
        "compare",
        "labels",
        "--reference",
        "reference.csv",
        "--submission",
        "alpha.csv",
        "--submission",
        "beta.csv",
    )
    alone = here(*words, "--draws", "50", "--json", cwd=LABELS)
    monkeypatch.setenv("BASANITE_CLUSTER", cluster.address)
    assert here(*words, "--draws", "50", "--json", cwd=LABELS).stdout == alone.stdout


def content(folder: Path):
    """All that counts: not the times, nor what a killed worker left half-written, which is cleared a day later."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "times.jsonl")
    paths = (path for path in paths if path.parent.name[0] != ".")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    return run_plan(ready(written(folder, HEAD + DIGITS + ALPHA)), folder / "result")


def test_a_plan_gives_the_same_folder_and_leaves_nothing_else_in_it(cluster, alone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # workers stand elsewhere: a relative path must reach them whole
    written(tmp_path, HEAD + DIGITS + ALPHA)
    made = run_plan(ready(Path("plan.toml")), Path("result"), cluster=cluster)
    assert content(made.path) == content(alone.path)
    assert not list(tmp_path.rglob(".cluster-*"))


@pytest.mark.slow
def test_extras_of_an_analysis_are_the_same(cluster, alone, tmp_path):
    evaluation, options = ready(alone.path.parent / "plan.toml"), Options.of(alone, 100, 0)
    copies = [ResultFolder(Path(shutil.copytree(alone.path, tmp_path / name))) for name in ("far", "near")]
    far = extras(evaluation, copies[0], Asked(layers=True), options=options, places=Places(cluster=cluster))
    assert set(far["digits"]["layers"]) == {"a"}
    assert far == extras(evaluation, copies[1], Asked(layers=True), options=options)
    assert len(content(copies[0].path)) > len(content(alone.path))


def test_a_worker_killed_in_the_middle_costs_no_result(cluster, processes):
    with cluster_executor(cluster) as executor:
        found = executor.map(slow_square, range(30))
        begin = [next(found), next(found)]
        kill(processes.workers[0])
        assert begin + list(found) == [number * number for number in range(30)]
    processes.add()


@pytest.mark.slow
def test_a_plan_whose_worker_is_killed_ends_with_the_same_folder(cluster, processes, alone, tmp_path):
    class Killer:
        ended = 0

        def __call__(self, outcome, finished, total):
            self.ended += outcome.state == "done"
            if self.ended == 5:
                self.ended += 1
                kill(next(worker for worker in processes.workers if worker.poll() is None))
                processes.add()

    evaluation = ready(written(tmp_path, HEAD + DIGITS + ALPHA))
    made = run_plan(evaluation, tmp_path / "result", cluster=cluster, watcher=Watcher(progress=Killer()))
    assert content(made.path) == content(alone.path)


@pytest.mark.slow
def test_a_worker_that_does_not_see_the_folder_stops_the_run_and_no_system_is_blamed(cluster, tmp_path):
    step = Step("make", np.zeros, parameters={"shape": 3})
    unseen = Ready(sign=tmp_path / "elsewhere" / "sign", patience=0.1)
    with (
        pytest.raises(ClusterError, match=r"does not see .*elsewhere.*--out"),
        cluster_executor(cluster, unseen) as executor,
    ):
        run([step], Store(tmp_path / "steps"), executor=executor)


@pytest.mark.slow
def test_a_worker_with_other_versions_is_refused(cluster, processes, tmp_path):
    other = tmp_path / "scipy-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: scipy\nVersion: 0.0.1\n")
    odd = processes.add(PYTHONPATH=str(tmp_path))
    try:
        with pytest.raises(ClusterError, match=r"has scipy 0\.0\.1, and here is"):
            _connect_until_refused(cluster)
    finally:
        kill(odd)


def _connect_until_refused(cluster):
    until = time.monotonic() + 300
    while time.monotonic() < until:
        with cluster_executor(cluster):
            time.sleep(0.5)


def test_a_worker_that_joins_late_with_other_versions_does_nothing():
    late = Ready(expected={**versions(), "scipy": "0.0.1"})
    with pytest.raises(ClusterError, match=r"has scipy .*, and here is 0\.0\.1: results could differ"):
        late.perform(slow_square, (2,), {})


@pytest.mark.req("P-16")
def test_features_in_a_plain_file_are_read_by_workers_themselves(cluster, tmp_path):
    dice = np.random.default_rng(3)
    np.savez(tmp_path / "plain.npz", features=dice.random((600, 5)), labels=np.arange(600) % 3)
    words = ("measure", "run", "plain.npz", "--draws", "0", "--metric", "silhouette", "--json")
    alone, together = (here(*words, *more, cwd=tmp_path) for more in ((), ("--cluster", cluster.address)))
    assert (together.code, together.stdout) == (0, alone.stdout)


def test_a_file_that_workers_do_not_find_is_named_with_a_cure(cluster, tmp_path):
    missing = tmp_path / "gone.npy"
    with (
        cluster_executor(cluster) as executor,
        pytest.raises(ClusterError, match=r"does not find .*gone\.npy.*all machines"),
    ):
        list(executor.map(np.load, [missing]))
