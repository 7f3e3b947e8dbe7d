"""The monitor: bands with a stated false-alarm rate, alarms, the share of new data, and the user's action."""

import numpy as np
import pytest
from tests.representation.made import EXAMPLE, data, features

from basanite.errors import FeaturesError, SettingError, UnknownNameError, UnreadableError
from basanite.representation.data import Data, read_data
from basanite.representation.drift import BENT, BEYOND, MixCurve, Sampling, bands_of, drawing_of, monotone, share_of
from basanite.representation.measures.all_measures import Options, measure
from basanite.representation.measures.results import Classes
from basanite.representation.monitor import MonitorPlan, actions_of, monitor
from basanite.representation.monitor_report import PREDICTED, monitor_object, monitor_report

NAMES = ("ferm1", "gap", "rs")
PLAN = MonitorPlan(names=NAMES, draws=120, mix_draws=25)
CENTRES = 3 * np.random.default_rng(9).random((4, 6))


def drawn(rng, counts, spread=0.8):
    """A batch around fixed centres with so many rows of each class."""
    labels = np.repeat(np.arange(len(counts)), counts)
    return Data("batch", np.abs(CENTRES[labels] + spread * rng.normal(size=(len(labels), 6))), Classes.of(labels))


@pytest.fixture(scope="module")
def example():
    reference, target = (read_data(EXAMPLE / f"{name}.npz") for name in ("seen", "unseen"))
    batches = [read_data(EXAMPLE / f"{name}.npz") for name in ("monday", "tuesday", "wednesday")]
    return monitor(reference, batches, PLAN, target=target)


def test_an_unchanged_batch_stays_inside_and_changed_ones_leave(example):
    monday, tuesday, wednesday = example.batches
    assert (monday.alarm, monday.left, monday.new_classes) == (False, (), ())
    assert tuesday.alarm
    assert "ferm1" in tuesday.left
    assert set(wednesday.left) == set(NAMES)
    assert wednesday.new_classes == ("6", "7", "8", "9")
    assert example.alarm_rate == pytest.approx(2 / 3)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_the_stated_false_alarm_rate_is_about_what_unchanged_batches_give(rate):
    rng = np.random.default_rng(2)
    counts = (14, 10, 10, 6)
    alarms = []
    for _ in range(4):  # bands of several references, for a reference is itself a draw
        reference = drawn(rng, (60, 60, 60, 60))
        drawing = drawing_of(reference, drawn(rng, counts).classes)
        bands = bands_of(reference, drawing, Sampling(NAMES, Options(), draws=250, seed=0), false_alarms=rate).bands
        for _ in range(60):
            batch = drawn(rng, counts)
            values = measure(batch.features, batch.classes, names=NAMES).values
            alarms.append(any(not bands[name].low <= values[name].value <= bands[name].high for name in NAMES))
    assert rate / 4 <= np.mean(alarms) <= rate + 0.09


def test_a_band_is_made_at_the_batchs_own_size_and_mix():
    reference = drawn(np.random.default_rng(0), (60, 60, 60, 60))
    batch = drawn(np.random.default_rng(1), (20, 0, 5, 15))
    drawing = drawing_of(reference, batch.classes)
    assert dict(zip(drawing.places.tolist(), drawing.counts.tolist(), strict=True)) == {0: 20, 2: 5, 3: 15}
    small, large = (
        bands_of(
            reference,
            drawing_of(reference, drawn(np.random.default_rng(1), counts).classes),
            Sampling(("gap",), Options(), draws=150, seed=0),
            false_alarms=0.05,
        ).bands["gap"]
        for counts in ((5, 5, 5, 5), (25, 25, 25, 25))
    )
    assert small.high - small.low > 1.5 * (large.high - large.low)


def test_bands_state_their_false_alarm_rate(example):
    found = monitor_object(example)
    assert found["false_alarm_rate"] == 0.05
    measures = found["batches"]["monday"]["measures"]
    assert all(0 <= one["false_alarm_rate"] <= 0.05 for one in measures.values())
    assert "5%" in monitor_report(example).sentences[0]


def test_new_classes_count_towards_the_size_but_not_towards_the_mix():
    reference = drawn(np.random.default_rng(0), (60, 60, 60, 60))
    labels = np.array([0] * 10 + [1] * 10 + [77] * 20)
    drawing = drawing_of(reference, Classes.of(labels))
    assert (drawing.places.tolist(), drawing.counts.tolist()) == ([0, 1], [20, 20])


def test_a_reference_that_is_too_small_is_told():
    reference = drawn(np.random.default_rng(0), (10, 10, 10, 10))
    found = monitor(reference, [drawn(np.random.default_rng(1), (9, 9, 9, 9))], PLAN)
    assert found.batches[0].bands.drawing.short
    assert any("too few rows" in note for note in monitor_object(found)["notes"])


# --- the share of new data ---


def test_the_share_of_new_data_is_estimated_with_an_interval_and_an_action(example):
    monday, tuesday, wednesday = example.batches
    for batch, truth in ((monday, 0.0), (tuesday, 1 / 3), (wednesday, 0.75)):
        assert batch.share.low <= truth <= batch.share.high, batch.data.name
        assert batch.share.low <= batch.share.value <= batch.share.high
    assert monday.share.high < wednesday.share.low
    assert (monday.action, wednesday.action) == ("keep", "retrain")
    assert "fine-tune" in tuesday.possible


def test_the_action_is_that_of_the_users_own_table():
    mine = actions_of("0=leave,0.05=look,0.6=call")
    reference, target = (read_data(EXAMPLE / f"{name}.npz") for name in ("seen", "unseen"))
    plan = MonitorPlan(names=("ferm1",), actions=mine, draws=60, mix_draws=20)
    found = monitor(reference, [read_data(EXAMPLE / "wednesday.npz")], plan, target=target).batches[0]
    assert (found.action, found.possible[-1]) == ("call", "call")


def test_without_a_target_there_is_no_share_and_the_report_says_what_to_give():
    reference = read_data(EXAMPLE / "seen.npz")
    found = monitor(reference, [read_data(EXAMPLE / "wednesday.npz")], PLAN)
    assert (found.batches[0].share, found.batches[0].action) == (None, None)
    assert any("--target" in sentence for sentence in monitor_report(found).sentences)


def test_a_curve_is_turned_around():
    mean = np.linspace(2.0, 1.0, 11)
    curve = MixCurve(np.linspace(0, 1, 11), mean, mean - 0.1, mean + 0.1)
    found = share_of(1.6, curve)
    assert found.value == pytest.approx(0.4, abs=0.005)
    assert (found.low, found.high) == (pytest.approx(0.3, abs=0.005), pytest.approx(0.5, abs=0.005))
    assert BEYOND in share_of(5.0, curve).flags
    assert share_of(5.0, curve).value == 0.0
    assert np.isnan(share_of(np.nan, curve).value)


def test_a_bent_curve_says_that_several_shares_are_possible():
    bowl = np.array([1.0, 0.2, 0.0, 0.2, 0.9])
    found = share_of(0.2, MixCurve(np.linspace(0, 1, 5), bowl, bowl - 0.15, bowl + 0.15))
    assert BENT in found.flags
    assert found.low <= 0.25
    assert found.high >= 0.7


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_monotone_curve_is_that_of_scikit_learn(seed):
    from sklearn.isotonic import IsotonicRegression

    line = np.random.default_rng(seed).normal(size=12)
    rising = line[-1] >= line[0]
    wanted = IsotonicRegression(increasing=bool(rising)).fit_transform(np.arange(12), line)
    assert monotone(line) == pytest.approx(wanted)


# --- labels that are predicted, and mistakes ---


def test_measures_say_that_they_need_labels_where_labels_are_predicted(tmp_path):
    batch = np.load(EXAMPLE / "tuesday.npz")
    np.savez(tmp_path / "unlabelled.npz", features=batch["features"], predictions=batch["predictions"])
    reference, new = (read_data(path, predicted=True) for path in (EXAMPLE / "seen.npz", tmp_path / "unlabelled.npz"))
    found = monitor(reference, [new], PLAN)
    assert found.batches[0].new_classes == ()
    measures = monitor_object(found)["batches"]["unlabelled"]["measures"]
    assert all(one["flags"] == [PREDICTED] for one in measures.values())
    assert any("predict" in note for note in monitor_object(found)["notes"])
    with pytest.raises(UnreadableError, match="no labels"):
        read_data(tmp_path / "unlabelled.npz")


@pytest.mark.parametrize("text", ["keep", "0.1=keep", "0=keep,0=x", "0=keep,2=x", "0=", "a=b"])
def test_a_table_of_actions_that_cannot_be_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SettingError, UnreadableError)):
        actions_of(text)


def test_a_table_of_actions_may_be_a_file(tmp_path):
    (tmp_path / "bands.csv").write_text("share,action\n0,keep\n0.4,retrain\n")
    actions = actions_of(str(tmp_path / "bands.csv"))
    assert (actions.at(0.3), actions.at(0.4), actions.between(0.1, 0.9)) == ("keep", "retrain", ("keep", "retrain"))


def test_mistakes_are_answered_with_the_cure():
    reference = data()
    with pytest.raises(UnknownNameError, match="otce_wd"):
        MonitorPlan(names=("otce_wd",))
    with pytest.raises(SettingError, match="false-alarm"):
        MonitorPlan(false_alarms=0.9)
    with pytest.raises(SettingError, match="at least one batch"):
        monitor(reference, [], PLAN)
    with pytest.raises(FeaturesError, match="same layer"):
        monitor(reference, [data(dimensions=3)], PLAN)


def test_a_batch_of_one_class_is_outside_of_everything_it_cannot_be_measured_by():
    table, _ = features(np.random.default_rng(0), classes=1, rows=20)
    found = monitor(data(), [Data("one", table, Classes.of([0] * 20))], PLAN)
    assert found.batches[0].alarm
    assert all(np.isnan(value) for value in found.batches[0].values.values())
