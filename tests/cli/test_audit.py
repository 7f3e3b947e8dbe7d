"""`basanite audit` says which differences of a board hold, what its items tell, and what means alone can say (Y-7)."""

from __future__ import annotations

import csv
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tests.cli.running import here
from tests.doors.score_logs import inspect_eval, sample

ITEMS = [f"q{at}" for at in range(60)]


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def board(path, scores, *, items=ITEMS, repeats=1):
    """A table of `scores[systems, items, repeats]`."""
    rows = [
        (f"S{system}", item, repeat, int(scores[system, at, repeat]))
        for system in range(len(scores))
        for at, item in enumerate(items)
        for repeat in range(repeats)
    ]
    return write(path, [("system", "item", "repeat", "score"), *rows])


def audit(*words, code=0):
    ended = here("audit", *words, "--json")
    assert ended.code == code, ended.stderr
    return ended.data if code == 0 else ended.stdout + ended.stderr


def drawn(systems, repeats=1, seed=0):
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.25, 0.75, systems)[:, None, None]
    return rng.random((systems, len(ITEMS), repeats)) < skill


@pytest.mark.req("Y-7")
def test_the_claims_of_a_large_board_are_those_of_paired_t_tests(tmp_path):
    scores = drawn(15, 2)
    found = audit(board(tmp_path / "board.csv", scores, repeats=2))
    means = scores.mean(axis=2)
    order = [int(one["system"][1:]) for one in found["standings"]]
    assert [means[at].mean() for at in order] == sorted((one.mean() for one in means), reverse=True)
    p_values = {(one, two): stats.ttest_rel(means[one], means[two]).pvalue for one, two in combinations(order, 2)}
    ranked = sorted(p_values, key=p_values.get)
    adjusted = np.maximum.accumulate([(len(ranked) - at) * p_values[pair] for at, pair in enumerate(ranked)])
    wanted = {(f"S{one}", f"S{two}"): min(1.0, p) for (one, two), p in zip(ranked, adjusted, strict=True)}
    for one in found["claims"]:
        assert one["p_adjusted"] == pytest.approx(wanted[one["first"], one["second"]], abs=1e-9)
        assert one["holds"] == (one["p_adjusted"] <= 0.05)
        assert (one["units_needed"] is None) == (one["holds"] or one["difference"] == 0)
    for one in found["standings"]:
        beaten_by = sum(two["holds"] and two["second"] == one["system"] for two in found["claims"])
        beats = sum(two["holds"] and two["first"] == one["system"] for two in found["claims"])
        assert one["ranks"] == [1 + beaten_by, 15 - beats]
    assert found["test"].startswith("paired t over whole items")


@pytest.mark.req("Y-7")
def test_a_small_board_says_what_compare_says(tmp_path):
    path = board(tmp_path / "board.csv", drawn(5, seed=3))
    found = audit(path)
    compared = here("compare", "scores", path, "--metric", "mean", "--json").data
    assert {one["system"]: one["ranks"] for one in found["standings"]} == compared["rank_ranges"]["mean"]
    assert found["groups"] == compared["groups"]["mean"]
    for one in compared["differences"]:
        claim = next(two for two in found["claims"] if {two["first"], two["second"]} == {one["first"], one["second"]})
        assert claim["p_adjusted"] == one["p_adjusted"]
        assert claim["holds"] == (one["verdict"] in ("first", "second"))


@pytest.mark.req("Y-7")
def test_items_that_everybody_or_nobody_solves_and_items_alike_are_named(tmp_path):
    scores = drawn(24, seed=5)
    scores[:, 3], scores[:, 7], scores[:, 11] = True, False, scores[:, 12]
    found = audit(board(tmp_path / "board.csv", scores))
    assert (found["everybody"], found["nobody"]) == (["q3"], ["q7"])
    assert found["alike"] == [["q11", "q12"]]
    log = [sample(name, right=at % 3 > 0, input=f"How many  {at // 2}?") for at, name in enumerate(ITEMS[:20])]
    one, two = (inspect_eval(tmp_path / f"{name}.eval", log) for name in "AB")
    assert ["q0", "q1"] in audit(one, two)["alike"]
    shown = here("audit", tmp_path / "board.csv").stdout
    assert "1 item that all systems solve in every trial: q3." in shown
    assert "Name them as clusters, or keep one of each." in " ".join(shown.split())


@pytest.mark.req("Y-7")
def test_how_many_more_items_would_separate_the_top_is_said(tmp_path):
    scores = np.tile((np.arange(60) % 2 == 1)[None, :, None], (2, 1, 1))
    scores[0, [0, 2, 4, 6]], scores[0, [1, 3]] = True, False
    path = board(tmp_path / "board.csv", scores)
    claim = audit(path)["claims"][0]
    power = here("power", "scores", "--submission", path, "--json")
    assert power.code == 0
    assert claim["units_needed"] == power.data["answers"][0]["units_for_difference"]
    words = " ".join(here("audit", path).stdout.split())
    assert f"About {claim['units_needed'] - 60:,} more items ({claim['units_needed']:,} in all) would separate" in words


@pytest.mark.req("Y-7")
def test_clusters_metrics_and_items_that_not_all_have(tmp_path):
    scores = drawn(3, 3)
    rows = [line.split(",") for line in board(tmp_path / "board.csv", scores, repeats=3).read_text().splitlines()]
    write(tmp_path / "more.csv", [[*rows[0], "page"], *([*row, f"p{int(row[1][1:]) // 2}"] for row in rows[1:])])
    clustered = audit(tmp_path / "more.csv", "--cluster", "page", "--primary", "pass^3")
    assert (clustered["drawn"], clustered["items"], clustered["metric"]) == (30, 60, "pass_hat_3")
    short = [row for row in rows if row[:2] != ["S1", "q5"]]
    found = audit(write(tmp_path / "short.csv", short))
    assert found["items"] == 59
    assert "1 of 60 items are left out, for not every system has them" in found["notes"]
    assert "fewer than 3 repeats" in audit(write(tmp_path / "uneven.csv", rows[:-1]), code=1)
    assert "No column of the items is called 'page'" in audit(tmp_path / "board.csv", "--cluster", "page", code=2)


def feasible(n, first, second):
    """Every way in which two systems can be right on so many of n items: the numbers that only one is right on."""
    both = range(max(0, first + second - n), min(first, second) + 1)
    return [(first - one, second - one) for one in both]


@pytest.mark.req("Y-7")
def test_means_alone_are_judged_by_every_overlap_that_is_possible(tmp_path):
    n = 60
    rights = (55, 40, 36, 34, 10)
    rows = [("model", "accuracy", "n"), *((f"S{right}", right / n, n) for right in rights)]
    found = audit(write(tmp_path / "means.csv", rows), "--set", "alpha=0.5")
    assert found["from"] == "means"
    for one in found["claims"]:
        first, second = (int(one[side][1:]) for side in ("first", "second"))
        p_values = [stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0 for b, c in feasible(n, first, second)]
        shown = [p <= 0.5 / 10 for p in p_values]
        wanted = "holds" if all(shown) else "depends on the overlap" if any(shown) else "cannot hold"
        assert one["saying"] == wanted, one
        discordant = [b + c for b, c in feasible(n, first, second)]
        assert one["discordant"] == [min(discordant), max(discordant)]
    assert {one["saying"] for one in found["claims"]} == {"holds", "depends on the overlap", "cannot hold"}
    unknown = audit(write(tmp_path / "few.csv", [row[:2] for row in rows]))
    assert {one["saying"] for one in unknown["claims"]} == {"not known: how many items"}
    assert audit(tmp_path / "few.csv", "--items", "60", "--set", "alpha=0.5")["claims"] == found["claims"]


@pytest.mark.req("Y-7")
@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        ([("system", "score"), ("A", "high")], 1, "the system or its score is missing or not a number"),
        ([("system", "score", "n"), ("A", "0.5", "many")], 1, "the number of items is not a whole number"),
        ([("system", "score"), ("A", "0.5"), ("A", "0.6")], 2, "two means on one task"),
        ([("system", "item", "score"), ("A", "q", "1"), ("A", "r", "0")], 2, "at least two systems"),
        (
            [("system", "item", "score"), ("A", "q", "1"), ("B", "r", "0")],
            2,
            "No item is in the results of all systems",
        ),
        ([("system", "item", "score"), ("A", "q", "7")], 1, "lies outside 0 to 1"),
    ],
)
def test_what_cannot_be_audited_is_refused(tmp_path, rows, code, message):
    assert message in audit(write(tmp_path / "bad.csv", rows), code=code)
