"""Plans whose verdicts are known by construction, and how often they get them (H-39)."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy import stats
from tests.cli.running import HARNESS, here

PAIRS = [f"{kind}-{verdict}" for kind in ("tables", "text", "video") for verdict in ("supported", "refuted")]
QUICK = {
    "text": [("rows = 12000", "rows = 5000"), ("n = 5000", "n = 2000")],
    "video": [("clips = 1000", "clips = 400"), ("clips = 600", "clips = 300"), ("n = 300", "n = 200")],
    "tables": [],
}


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """A function that copies a shipped plan, made smaller where it would take long."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def copy(name):
        text = (HARNESS / f"{name}.toml").read_text()
        for old, new in QUICK[name.partition("-")[0]]:
            text = text.replace(old, new)
        (tmp_path / f"{name}.toml").write_text(text)
        return tmp_path / f"{name}.toml"

    return copy


@pytest.mark.req("H-39")
@pytest.mark.parametrize("name", ["tables-supported", "tables-refuted", "text-refuted"])
def test_each_guinea_pig_gets_the_verdict_that_it_was_constructed_for(quick, name):
    ended = here("harness", "calibrate", quick(name), "--seeds", "1", "--json")
    assert ended.code == 0, ended.stderr
    found = ended.data["claims"]
    assert {one["claim"] for one in found} >= {"central"}
    assert [one["as_constructed"] for one in found] == [1] * len(found)
    state = "supported" if name.endswith("supported") else "not supported"
    assert next(one["states"] for one in found if one["claim"] == "central") == [state]


@pytest.mark.slow
@pytest.mark.req("H-39")
@pytest.mark.parametrize("name", PAIRS)
def test_shipped_plans_of_full_size_get_theirs(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ended = here("harness", "calibrate", HARNESS / f"{name}.toml", "--seeds", "1", "--json")
    assert [one["as_constructed"] for one in ended.data["claims"] if one["claim"] == "central"] == [1]


@pytest.mark.req("H-39")
@pytest.mark.parametrize("name", PAIRS)
def test_shipped_plans_can_be_decided(quick, name):
    ended = here("harness", "check", quick(name))
    assert ended.code == 0, ended.stderr
    assert "4 claims can be decided." in ended.stdout


@pytest.mark.req("H-39")
def test_calibration_draws_data_and_splits_anew_counts_verdicts_and_resumes(quick, tmp_path):
    plan = quick("tables-refuted")
    plan.write_text(plan.read_text().replace('central = "not supported"', 'central = "supported"'))
    words = ("harness", "calibrate", plan, "--seeds", "2", "--first-seed", "5", "--out", tmp_path / "kept")
    ended = here(*words, "--json")
    (one,) = ended.data["claims"]
    assert (one["as_constructed"], one["runs"]) == (0, 2)
    assert one["verdicts"] == {"not supported": 2}
    assert len(set(one["gains"])) == 2
    assert [one["low"], one["high"]] == pytest.approx(list(stats.binomtest(0, 2).proportion_ci()))
    assert {path.name for path in (tmp_path / "kept" / "tables-refuted").iterdir()} == {"seed-5", "seed-6"}
    again = here(*words)
    assert "0 of 2 verdicts as constructed." in again.stdout
    assert "0 of 2" in again.stdout.partition("2 not supported")[0]


@pytest.mark.req("H-39", case="bad")
def test_a_plan_that_names_no_verdict_or_an_unknown_one_is_refused(quick, tmp_path):
    shutil.copy(HARNESS / "alpha.toml", tmp_path)
    plan = shutil.copy(HARNESS / "quick.toml", tmp_path)
    ended = here("harness", "calibrate", plan)
    assert ended.code == 2
    assert 'Write constructed = { central = "supported" } at its top.' in ended.stderr
    for wrong, words in (
        ('central = "proven"', "'proven' is no verdict on a claim"),
        ('speed = "supported"', "no claim 'speed'"),
    ):
        text = quick("tables-refuted").read_text().replace('central = "not supported"', wrong)
        (tmp_path / "wrong.toml").write_text(text)
        refused = here("harness", "calibrate", tmp_path / "wrong.toml", "--seeds", "1")
        assert refused.code == 1
        assert words in refused.stdout + refused.stderr


@pytest.mark.req("H-39")
def test_rows_of_a_product_hold_nothing_that_a_sum_over_columns_knows(quick):
    plan = quick("tables-refuted")
    here("harness", "run", plan, "--out", plan.parent / "result", "--only", "6a")
    predicted = np.load(plan.parent / "result" / "predictions" / "product" / "6a" / "yes.npy").mean(axis=0)
    truth = np.load(plan.parent / "result" / "truth" / "product" / "yes.npy")
    assert stats.mannwhitneyu(predicted[truth > 0], predicted[truth == 0]).pvalue > 0.01
