"""`basanite power` and the lines about it in a comparison: numbers of units checked by brute force."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import basanite
from basanite.analysis.power import Enough, Goal, Spread
from basanite.cli import app
from basanite.errors import SettingError

EXAMPLES = Path(__file__).parents[2] / "examples"
CLIR = EXAMPLES / "clir"
PAIR = ("--submission", f"A={CLIR / 'Alpha.tgz'}", "--submission", f"B={CLIR / 'Beta.tgz'}")


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["power", *arguments])


def answer(*arguments: str) -> dict:
    found = ask(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)["answers"][0]


def exact_power(units: int, effect: float, alpha: float) -> float:
    """The power of a paired t test by the noncentral t distribution, which `basanite power` does not use."""
    from scipy import stats

    critical = stats.t.ppf(1 - alpha / 2, units - 1)
    shift = effect * math.sqrt(units)
    return float(stats.nct.sf(critical, units - 1, shift) + stats.nct.cdf(-critical, units - 1, shift))


def table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.mark.req("S-30")
def test_the_clir_example_says_what_its_queries_show_and_how_many_are_enough() -> None:
    found = ask("clir", "--reference", str(CLIR / "key"), *PAIR, "--half-width", "0.05")
    assert found.exit_code == 0, found.output
    assert "20 queries show a difference of" in found.stdout
    assert "queries give a 95% CI of ± 0.0500" in found.stdout
    data = answer("clir", "--reference", str(CLIR / "key"), *PAIR, "--half-width", "0.05")
    assert data["systems"] == ["A", "B"]
    assert data["metric"] == "aqwv"
    assert data["units"] == 20
    assert data["detectable"] > data["difference"] > 0, "A and B are not distinguished by 20 queries"
    assert data["units_for_difference"] > 20
    assert data["units_for_half_width"] > data["units"]
    assert data["interval_half_width"] > 0.05


@pytest.mark.req("S-30")
@pytest.mark.parametrize(("effect", "alpha", "share"), [(0.5, 0.05, 0.8), (0.2, 0.05, 0.9), (0.3, 0.05 / 45, 0.8)])
def test_a_stated_variance_gives_the_units_of_the_noncentral_t(effect: float, alpha: float, share: float) -> None:
    data = answer(
        "--variance", "4", "--difference", str(2 * effect), "--power", str(share), "--set", f"alpha={alpha:.12g}"
    )
    units = data["units_for_difference"]
    assert exact_power(units + 1, effect, alpha) >= share > exact_power(units - 3, effect, alpha)


@pytest.mark.req("S-30")
def test_what_these_units_can_show_is_shown_in_four_of_five_simulated_trials() -> None:
    found = answer("--variance", "1", "--units", "40")
    rng = np.random.default_rng(3)
    gaps = rng.normal(found["detectable"], 1, (4000, 40))
    t = gaps.mean(axis=1) / gaps.std(axis=1, ddof=1) * math.sqrt(40)
    assert 0.78 < float(np.mean(np.abs(t) > 2.0227)) < 0.82, "t of 39 degrees of freedom at 5 %"


@pytest.mark.req("S-30")
def test_units_recommended_from_files_reach_the_power_when_that_many_are_drawn(tmp_path: Path) -> None:
    """Two classifiers on 400 items; the recommended number is drawn from 100,000 items again and again."""
    rng = np.random.default_rng(5)
    right = {"A": 0.85, "B": 0.70}
    key = table(tmp_path / "key.csv", ("id", "label"), ((f"i{n:03}", "xy"[n % 2]) for n in range(400)))
    for name, share in right.items():
        hits = rng.random(400) < share
        answers = ((f"i{n:03}", "xy"[(n + (not hit)) % 2]) for n, hit in enumerate(hits))
        table(tmp_path / f"{name}.csv", ("id", "label"), answers)
    files = [tmp_path / "A.csv", tmp_path / "B.csv"]
    found = basanite.power("classification", reference=key, submissions=files, metrics="accuracy", difference=0.15)[0]
    units = found.units_for_difference()
    assert units is not None
    assert found.unit == "item"
    population = (rng.random(100_000) < 0.85).astype(float) - (rng.random(100_000) < 0.70)
    gaps = rng.choice(population, (2000, units))
    t = gaps.mean(axis=1) / gaps.std(axis=1, ddof=1) * math.sqrt(units)
    assert 0.74 < float(np.mean(np.abs(t) > 1.98)) < 0.86


@pytest.mark.req("S-30")
def test_clusters_are_counted_and_not_the_items_inside_them(tmp_path: Path) -> None:
    """Ten copies of every item in a cluster hold no more than one: as many clusters are needed as items were."""
    rng = np.random.default_rng(7)
    hits = rng.random(60) < 0.7
    for name, copies in (("one", 1), ("ten", 10)):
        rows = [(f"i{n:03}-{copy}", "xy"[n % 2], f"d{n}") for n in range(60) for copy in range(copies)]
        table(tmp_path / f"{name}-key.csv", ("id", "label", "document"), rows)
        given = [(unit, "xy"[(int(unit[1:4]) + (not hits[int(unit[1:4])])) % 2]) for unit, _, _ in rows]
        table(tmp_path / f"{name}.csv", ("id", "label"), given)
    found = {
        name: basanite.power(
            "classification",
            reference=tmp_path / f"{name}-key.csv",
            submissions=[tmp_path / f"{name}.csv"],
            metrics="accuracy",
            half_width=0.05,
        )[0]
        for name in ("one", "ten")
    }
    assert found["ten"].units == 60
    assert (found["one"].unit, found["ten"].unit) == ("item", "document")
    one, ten = (found[name].units_for_half_width() for name in ("one", "ten"))
    assert one is not None
    assert ten is not None
    assert abs(one - ten) <= 0.05 * one


@pytest.mark.req("S-30")
def test_judges_are_told_apart_from_units_and_their_number_is_recommended(tmp_path: Path) -> None:
    """Items vary by 0.01 and single judges by 0.04 around them; the split and what follows from it are checked."""
    rng = np.random.default_rng(11)
    truth = np.clip(rng.normal(0.5, 0.1, 1500), 0, 1)
    grades = np.clip(truth[:, None] + rng.normal(0, 0.2, (1500, 3)), 0, 1)
    rows = [(f"i{n:04}", f"judge{j}", f"{grades[n, j]:.6f}", "why") for n in range(1500) for j in range(3)]
    key = table(tmp_path / "key.csv", ("item", "judge", "relevance", "question"), rows)
    texts = table(tmp_path / "A.csv", ("item", "text"), ((f"i{n:04}", "why not") for n in range(1500)))
    data = answer("relevance", "--reference", str(key), "--submission", str(texts), "--half-width", "0.01")
    inside = float(grades.var(axis=1, ddof=1).mean())
    assert data["judges"] == 3
    assert data["judge_variance"] == pytest.approx(inside, rel=0.02)
    assert data["variance"] - data["judge_variance"] / 3 == pytest.approx(0.01, rel=0.2)
    by_judges = {row["judges"]: row["units_for_half_width"] for row in data["by_judges"]}
    width = 1.959964 * math.sqrt(0.01 + inside / 5)
    assert by_judges[5] == pytest.approx((width / 0.01) ** 2, rel=0.1)
    assert by_judges[1] > by_judges[3] > by_judges[10]


@pytest.mark.req("S-30")
def test_end_to_end_values_say_what_more_judges_would_change() -> None:
    e2e = EXAMPLES / "e2e"
    arguments = ("--reference", str(e2e / "key"), "--submission", f"A={e2e / 'Alpha.tgz'}")
    judged = ("--judgements", f"A={e2e / 'Alpha.judgements.tsv'}")
    data = answer("e2e", *arguments, *judged, "--half-width", "0.05")
    assert data["judges"] > 1
    assert data["judge_variance"] > 0
    needed = [row["units_for_half_width"] for row in data["by_judges"]]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] > needed[-1]
    printed = ask("e2e", *arguments, *judged, "--half-width", "0.05").stdout
    assert "those with fewer use theirs again" in " ".join(printed.split())


@pytest.mark.req("S-30")
def test_no_number_is_below_the_fewest_units_from_which_the_metric_has_an_interval() -> None:
    asked = ("clir", "--reference", str(CLIR / "key"), "--submission", str(CLIR / "Alpha.tgz"), "--half-width", "0.3")
    found = ask(*asked, "--metric", "auc")
    assert "about 50 queries give a 95% CI of ± 0.3000" in found.stdout
    assert "none is below 50, the minimum" in " ".join(found.stdout.split())
    assert answer(*asked, "--metric", "auc")["interval_half_width"] is None, "20 queries give auc no interval"
    both = ask(*asked, "--metric", "auc", "--metric", "aqwv")
    assert "none is below 50 (auc) or 15 (aqwv), the minimum" in " ".join(both.stdout.split())


@pytest.mark.req("S-30")
def test_a_comparison_says_what_its_units_can_show_and_how_many_would_be_needed(tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    command = ["compare", "clir", "--reference", str(CLIR / "key"), *PAIR]
    text = CliRunner().invoke(app, [*command, "--report", str(page)])
    assert "With these queries, a difference of" in text.stdout
    assert "queries detect it in 80% of cases" in text.stdout
    assert "With these queries, a difference of" in page.read_text()
    data = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    gap = next(one for one in data["differences"] if one["metric"] == "aqwv")
    assert gap["detectable"] > abs(gap["difference"])
    assert gap["units_needed"] > 20


@pytest.mark.req("S-30")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--variance", "1", "--half-width", "-0.1"),
        ("--variance", "1", "--half-width", "nan"),
        ("--variance", "0", "--difference", "0.1"),
        ("--variance", "-1", "--difference", "0.1"),
        ("--variance", "inf", "--difference", "0.1"),
        ("--variance", "nan", "--difference", "0.1"),
        ("--variance", "1", "--difference", "0"),
        ("--variance", "1", "--difference", "0.1", "--power", "1"),
        ("--variance", "1", "--units", "30", "--power", "0.025"),
        ("--variance", "1", "--difference", "0.5", "--units", "30", "--power", "0.01", "--judge-variance", "0.5"),
        ("--variance", "1", "--difference", "0.1", "--judge-variance", "1", "--judges", "0.5"),
        ("--variance", "1"),
        ("--difference", "0.1"),
        ("clir", "--variance", "1", "--difference", "0.1"),
    ],
)
def test_numbers_that_mean_nothing_are_refused_in_words(arguments: tuple[str, ...]) -> None:
    found = ask(*arguments)
    assert found.exit_code != 0
    assert "Traceback" not in found.output
    assert isinstance(found.exception, SettingError | SystemExit)


@pytest.mark.req("S-30")
def test_one_unit_and_units_that_do_not_vary_are_said_so(tmp_path: Path) -> None:
    key = table(tmp_path / "key.csv", ("id", "label"), [("i1", "x")])
    alone = table(tmp_path / "A.csv", ("id", "label"), [("i1", "x")])
    found = ask("classification", "--reference", str(key), "--submission", str(alone), "--metric", "accuracy")
    assert isinstance(found.exception, SettingError)
    assert "fewer than two" in str(found.exception)
    rows = [(f"i{n}", "xy"[n % 2]) for n in range(30)]
    key, same = (table(tmp_path / name, ("id", "label"), rows) for name in ("key.csv", "A.csv"))
    found = ask("classification", "--reference", str(key), "--submission", str(same), "--metric", "accuracy")
    assert found.exit_code == 0
    assert "nothing follows" in found.stdout


@pytest.mark.req("S-30")
def test_the_rehearsal_of_a_campaign_says_what_its_boards_can_show() -> None:
    small = str(EXAMPLES / "campaign" / "small.toml")
    asked = ["admin", "rehearse", small, "--units", "100", "--variance", "0.09"]
    text = CliRunner().invoke(app, [*asked, "--teams", "2"])
    assert "100 units show a difference of 0.0849 or more in 80% of cases" in text.output
    many = json.loads(CliRunner().invoke(app, [*asked, "--teams", "10", "--json"]).stdout)["power"]
    assert many["alpha"] == pytest.approx(0.05 / 45)
    assert many["detectable"] > 0.0849


def test_a_small_spread_is_variance_and_rounding_is_not() -> None:
    assert Enough(Spread(1e-8**2), units=30, value=1.0).detectable == pytest.approx(0.53e-8, rel=0.01)
    assert Enough(Spread(1e-13**2), units=30, value=1.0).detectable is None


def test_numbers_at_the_ends_of_what_there_is_are_answered() -> None:
    judged = ("--units", "30", "--judge-variance", "0.5", "--judges", "2")
    assert answer("--variance", "1", "--difference", "1e200", *judged)["judges_for_difference"] == 1
    assert answer("--variance", "1", "--half-width", "1e200", *judged)["judges_for_half_width"] == 1
    few = ("--units", "14", "--judge-variance", "0.5")
    assert answer("--variance", "0.5", "--half-width", "9", *few)["judges_for_half_width"] is None
    assert answer("--variance", "1", "--units", "90", "--set", "alpha=1e-18")["detectable"] > 0


def test_a_difference_too_small_for_any_number_of_units_has_none() -> None:
    assert Enough(Spread(1.0), Goal(difference=1e-200)).units_for_difference() is None
    assert Enough(Spread(1.0), Goal(), units=3).detectable is None
    found = ask("--variance", "1e300", "--difference", "1e-300", "--half-width", "1e-300")
    assert "No number of units shows a difference" in found.stdout
    assert "No number of units gives an interval" in found.stdout
