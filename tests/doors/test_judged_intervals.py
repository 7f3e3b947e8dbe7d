"""Intervals of judged values through `basanite.score` and `compare`: whole queries with all their judgements (S-24)."""

import numpy as np
import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK
from tests.tasks.folders import key_files, packed, written
from tests.tasks.summary_folders import judgement_table, summary_files

import basanite

QUERIES, DOCUMENTS, RELEVANT = 60, 6, 2
FOUND, ALARM, RIGHT, BETA = 0.95, 0.1, 0.85, 1.0
CONFIRMED = RIGHT**3 + 3 * RIGHT**2 * (1 - RIGHT)
"""How often a majority of three judges, each right in 85 %, is right."""
TRUTH = 1 - (1 - FOUND * CONFIRMED) - BETA * ALARM * (1 - CONFIRMED)


def verdicts(rng, relevant, returned):
    """Three votes on every returned pair."""
    right = rng.random((int(returned.sum()), 3)) < RIGHT
    return ["".join("R" if vote else "N" for vote in row) for row in right == relevant[returned][:, None]]


def campaign(folder, seed):
    """A fresh campaign: other queries, another set of returned documents, and other votes."""
    rng = np.random.default_rng(seed)
    relevant = np.zeros((QUERIES, DOCUMENTS), bool)
    relevant[:, :RELEVANT] = True
    returned = rng.random(relevant.shape) < np.where(relevant, FOUND, ALARM)
    judgements = folder / f"{seed}.tsv"
    judgements.write_text(judgement_table(returned, verdicts(rng, relevant, returned)))
    return {
        "reference": written(folder / f"key{seed}", key_files(relevant)),
        "submission": packed(folder / f"{seed}.tgz", summary_files(returned)),
        "judgements": judgements,
    }


def score(inputs, **more):
    return basanite.score("e2e", **inputs, beta=BETA, folds=2, draws=1000, **more).values


@pytest.mark.slow
@pytest.mark.req("S-24", case="good")
def test_intervals_of_judged_campaigns_cover_the_truth(tmp_path):
    found = [score(campaign(tmp_path, seed))["e2e_aqwv"] for seed in range(40)]
    assert np.mean([one.value for one in found]) == pytest.approx(TRUTH, abs=0.01)
    covered = sum(one.low <= TRUTH <= one.high for one in found)
    assert covered >= 35, "with votes drawn again inside each pair it was 25 of 40"
    assert all(one.low < one.value < one.high for one in found)


@pytest.mark.req("S-24")
@pytest.mark.parametrize("rule", [{"rule": "majority"}, {"rule": "any"}, {"rule": "all"}, {"judging": "raw"}])
def test_the_interval_is_that_of_whole_queries_whatever_rule_combines_the_votes(tmp_path, rule):
    inputs = campaign(tmp_path, 7)
    value = score(inputs, interval="percentile", **rule)["e2e_aqwv"]
    table = basanite.score("e2e", **inputs, beta=BETA, folds=2, draws=20, **rule).scores.tables["e2e_aqwv"]
    missed, has, alarm = (table.column(name) for name in ("pmiss", "has_relevant", "pfa"))
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, QUERIES, (20_000, QUERIES))
    again = 1 - missed[drawn].sum(axis=1) / has[drawn].sum(axis=1) - BETA * alarm[drawn].mean(axis=1)
    assert (value.low, value.high) == pytest.approx(tuple(np.quantile(again, (0.025, 0.975))), abs=0.012)


@pytest.mark.req("S-24")
def test_the_difference_of_two_judged_systems_is_inside_its_interval(tmp_path):
    one, two = campaign(tmp_path, 1), campaign(tmp_path, 2)
    found = basanite.compare(
        "e2e",
        reference=one["reference"],
        submissions={"one": one["submission"], "two": two["submission"]},
        judgements={"one": one["judgements"], "two": two["judgements"]},
        beta=BETA,
        folds=2,
        draws=500,
    )
    judged = [each for each in found.differences if each.metric.startswith("e2e_")]
    assert judged
    assert all(each.low < each.difference < each.high for each in judged)


@pytest.mark.req("S-24", "S-5")
@pytest.mark.parametrize("task", BY_TASK)
def test_every_interval_of_every_task_holds_its_estimate(task, tmp_path):
    ended = here("score", task, *map(str, BY_TASK[task].home(task)), "--draws", "1000", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    levels = [values for factor in ended.data["breakdowns"].values() for values in factor.values()]
    for values in (ended.data["values"], *levels):
        for name, value in values.items():
            assert value["low"] is None or value["low"] <= value["value"] <= value["high"], name
            assert not any("lies outside" in flag for flag in value["flags"]), (name, value)
