"""The engine: nothing is done twice, nothing half, and a killed run goes on where it stopped, to the same bytes."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.harness.steps import steps
from tests.harness.steps.steps import broken, graph, squared, total

from basanite.harness.steps.graph import Step, run, steps_in_order
from basanite.harness.steps.store import BrokenStepError, Store

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "steps")


def states(outcomes):
    return {outcome.step.name: outcome.state for outcome in outcomes.values()}


def content(store):
    return {str(path.relative_to(store.root)): path.read_bytes() for path in store.root.rglob("*") if path.is_file()}


def test_a_second_run_does_no_work(store, tmp_path):
    log = str(tmp_path / "log")
    first, second = (states(run(graph(log), store)) for _ in range(2))
    assert first == dict.fromkeys(("numbers", "squared", "total"), "done")
    assert second == dict.fromkeys(first, "reused")
    assert Path(log).read_text().split() == ["numbers", "squared", "total"]


def test_what_two_steps_need_is_made_once(store):
    _, second, third = graph()
    assert [step.name for step in steps_in_order([third, second, third])] == ["numbers", "squared", "total"]
    assert store.load(run([third], store)[third.key].step.key)["sum"] == sum(range(5)) + sum(n * n for n in range(5))


def test_a_key_depends_on_parameters_code_and_everything_before_it():
    keys = {step.key for step in graph()}
    assert {step.key for step in graph()} == keys
    assert not keys & {step.key for step in graph(count=6)}
    first, second, _ = graph()
    assert Step("squared", squared, {"source": first}, code="2").key != second.key


def test_values_come_back_as_they_were(store):
    first, second, _ = graph()
    run([second], store)
    found = store.load(second.key)
    assert np.array_equal(found["values"], np.arange(5.0) ** 2)
    assert np.array_equal(found["matrix"].toarray(), np.diag(np.arange(5.0)))
    assert store.load(first.key)["words"] == {"count": 5}
    assert isinstance(store.load(second.key, mapped=True)["values"], np.memmap)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same_bytes(tmp_path, pool):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    run(graph(), one)
    with pool(2) as executor:
        assert states(run(graph(), two, executor=executor)) == dict.fromkeys(("numbers", "squared", "total"), "done")
    assert content(one) == content(two)


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor])
def test_a_step_that_fails_stops_only_what_needs_it(store, pool):
    first, second, _ = graph()
    bad = Step("learner", broken, {"source": first})
    last = Step("scores", total, {"one": first, "two": bad})
    if pool is None:
        outcomes = run([last, second], store)
    else:
        with pool(2) as executor:
            outcomes = run([last, second], store, executor=executor)
    assert states(outcomes) == {"numbers": "done", "learner": "failed", "scores": "blocked", "squared": "done"}
    assert outcomes[bad.key].reason == "ValueError: this learner cannot learn"
    assert outcomes[last.key].reason == "learner failed"


def start(store, log):
    program = "from tests.harness.steps.steps import main; main()"
    command = [sys.executable, "-c", program, str(store.root), str(log)]
    return subprocess.Popen(command, cwd=ROOT)


def test_a_killed_run_loses_at_most_one_step_and_ends_in_the_same_bytes(tmp_path):
    undisturbed, killed, log = Store(tmp_path / "one"), Store(tmp_path / "two"), tmp_path / "log"
    run(graph(str(log)), undisturbed)
    log.write_text("")
    (hold := tmp_path / "log.hold").touch()
    program = start(killed, log)
    try:
        wait_for(lambda: "squared" in log.read_text())
    finally:
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
        hold.unlink()
    assert killed.has(graph(str(log))[0].key)
    assert not killed.has(graph(str(log))[1].key)
    outcomes = run(graph(str(log)), killed)
    assert states(outcomes) == {"numbers": "reused", "squared": "done", "total": "done"}
    assert log.read_text().split() == ["numbers", "squared", "squared", "total"]
    assert content(undisturbed) == content(killed)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_was_left_half_written_is_never_taken_for_a_step(store):
    first = graph()[0]
    half = store.path(first.key).parent / f".{first.key}.abc"
    half.mkdir(parents=True)
    (half / "values.npy").write_bytes(b"half")
    assert not store.has(first.key)
    assert store.clear_leftovers() == 1
    assert not half.exists()


def test_a_step_that_was_tampered_with_is_named_with_the_cure(store):
    first = graph()[0]
    run([first], store)
    (store.path(first.key) / "values.npy").write_bytes(b"\x93NUMPY nonsense")
    with pytest.raises(BrokenStepError, match="Delete it and run again"):
        store.load(first.key)


def test_pickled_objects_are_never_read(store):
    first = graph()[0]
    run([first], store)
    np.save(store.path(first.key) / "values.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(BrokenStepError):
        store.load(first.key)


def test_two_that_finish_the_same_step_do_not_disturb_each_other(store):
    value = steps.numbers(3)
    store.save("ab" * 32, value)
    store.save("ab" * 32, value)
    assert store.load("ab" * 32)["words"] == {"count": 3}
    assert not list(store.root.glob("*/.*"))


def test_progress_is_told_after_every_step(store):
    heard = []
    run(graph(), store, progress=lambda outcome, finished, all_: heard.append((outcome.step.name, finished, all_)))
    assert heard == [("numbers", 1, 3), ("squared", 2, 3), ("total", 3, 3)]
