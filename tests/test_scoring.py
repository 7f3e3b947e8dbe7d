"""Stages meet in one place only, work is shared out without a trace in the result, and everybody comes this way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.tasks.folders import changed, run

import basanite
from basanite import spine
from basanite.analysis.results import Design, score_object
from basanite.canonical import dumps
from basanite.errors import SettingError, UnknownNameError, UnreadableError
from basanite.formats.archives.parallel import AHEAD
from basanite.problems import Findings
from basanite.scoring import Scorer, named_submissions, system_name
from basanite.tasks import Inputs, Task


@pytest.fixture
def inputs(tmp_path):
    rng = np.random.default_rng(7)
    relevant = rng.random((25, 20)) < 0.2
    score = rng.integers(0, 60_000, relevant.shape) + 40_000 * relevant
    return run(tmp_path, relevant, score >= 50_000, score)


def as_inputs(paths):
    return Inputs(paths["submission"], paths["reference"])


def test_the_stages_one_by_one_give_what_the_interface_gives(inputs):
    task, findings = spine.find_task("clir"), Findings()
    opened = spine.read(task, as_inputs(inputs), {"folds": 2}, findings)
    seen = []
    spine.validate(opened, findings, progress=seen.append)
    assert findings.counts == {}
    assert seen == list(range(1, 26))
    design = Design(draws=100)
    analysis = spine.analyse(spine.score(opened, system="Alpha"), design)
    whole = basanite.score("clir", **inputs, folds=2, draws=100)
    assert dumps(score_object(analysis)) == dumps(score_object(whole))
    assert spine.report(task, analysis).title


@pytest.mark.parametrize("workers", [2, 5])
def test_more_workers_give_the_same_bytes(inputs, workers):
    one, many = (
        Scorer("clir", {"folds": 2}, draws=100, workers=count).analysis(as_inputs(inputs)) for count in (1, workers)
    )
    assert dumps(score_object(one)) == dumps(score_object(many))


@pytest.mark.parametrize("workers", [2, 5])
def test_more_workers_find_the_same_problems_in_the_same_order(inputs, workers):
    for number in (3, 9, 20):
        changed(inputs["submission"], f"query{number:05}.tsv", b"\t0.", b"\t.")
    one, many = (Scorer("clir", {}, workers=count).findings(as_inputs(inputs)) for count in (1, workers))
    assert one.as_dict("clir") == many.as_dict("clir")
    assert one.counts["M29"] >= 55
    assert {p.file for p in one} == {"query00003.tsv"}, "20 are listed, in the order of the files"


def test_few_pieces_wait_at_a_time_and_results_keep_their_order():
    waiting, most, lock = 0, 0, threading.Lock()

    class Counting:
        """A run whose pieces are numbers; it counts how many have been read and not taken in."""

        def __init__(self):
            self.taken = []

        def pieces(self, findings):
            nonlocal waiting, most
            for number in range(50):
                with lock:
                    waiting += 1
                    most = max(most, waiting)
                yield number

        def examine(self, piece):
            return piece * piece

        def take(self, examined, findings):
            nonlocal waiting
            with lock:
                waiting -= 1
            self.taken.append(examined)

        def close(self, findings):
            self.closed = True

    opened = Counting()
    with ThreadPoolExecutor(3) as executor:
        spine.validate(opened, Findings(), executor=executor)
    assert opened.taken == [number * number for number in range(50)]
    assert opened.closed
    assert most <= AHEAD + 2


def test_a_reference_that_cannot_be_trusted_opens_nothing(inputs):
    changed(inputs["reference"], "query00001.tsv", b"\t", b" ")
    findings = Findings()
    assert spine.read(spine.find_task("clir"), as_inputs(inputs), {}, findings) is None
    assert not findings.valid


def test_tasks_metrics_and_settings_nobody_knows_are_refused_before_any_file_is_read():
    nowhere = {"submission": "nowhere", "reference": "nowhere"}
    with pytest.raises(UnknownNameError, match="Did you mean 'clir'"):
        basanite.score("clri", **nowhere)
    with pytest.raises(UnknownNameError, match="Did you mean 'aqwv'"):
        basanite.score("clir", **nowhere, metrics=["aqvw"])
    with pytest.raises(SettingError, match="Did you mean 'language'"):
        basanite.score("clir", **nowhere, langauge="1A")
    with pytest.raises(SettingError, match="level"):
        basanite.score("clir", **nowhere, level="much")
    with pytest.raises(UnreadableError, match="nowhere"):
        basanite.score("clir", **nowhere)


def test_the_metrics_named_are_given_with_the_primary_one_and_no_other(inputs):
    whole = basanite.score("clir", **inputs, folds=2, draws=50)
    some = basanite.score("clir", **inputs, folds=2, draws=50, metrics=["pfa"])
    assert set(some.values) == {"aqwv", "pfa"}
    assert some.values["pfa"] == whole.values["pfa"]


def test_systems_are_called_after_their_files_unless_somebody_says_otherwise(inputs, tmp_path):
    assert basanite.score("clir", **inputs, folds=2, draws=10).scores.system == "Alpha"
    assert basanite.score("clir", **inputs, folds=2, draws=10, system="B").scores.system == "B"
    assert [system_name(tmp_path / name) for name in ("A.tgz", "B.tar.gz", "c.tsv", "D")] == ["A", "B", "c", "D"]
    with pytest.raises(SettingError, match="NAME=PATH"):
        named_submissions(["x/A.tgz", "x/A.tgz"])
    assert list(named_submissions({"one": "x/A.tgz", "two": "y/A.tgz"})) == ["one", "two"]


def test_the_registered_tasks_are_tasks():
    assert isinstance(spine.find_task("clir"), Task)
