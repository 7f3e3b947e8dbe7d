"""`basanite across`: a declared value over several tasks, with an interval and a line on what hangs on one task."""

from __future__ import annotations

import csv
import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata
from tests.cli.running import ROOT, here

from basanite.analysis.aggregate import ranks

SIZES = {"first": 120, "second": 60, "third": 200}
ANCHORS = {"first": (0.5, 1.0), "second": (0.25, 0.75), "third": (0.0, 0.9)}
SKILLS = {
    "Alpha": {"first": 0.9, "second": 0.5, "third": 0.7},
    "Beta": {"first": 0.75, "second": 0.72, "third": 0.7},
    "Gamma": {"first": 0.65, "second": 0.6, "third": 0.45},
}


def correct(seed=1):
    """Whether each system is right on each item of each task."""
    dice = np.random.default_rng(seed)
    return {
        task: {system: dice.random(size) < SKILLS[system][task] for system in SKILLS} for task, size in SIZES.items()
    }


def write(folder, right, *, rule="normalized mean", anchors=True, more="", absent=()):
    """Files of classification tasks with these outcomes, and the plan over them."""
    text = [f'format = "basanite-aggregate/1"\nrule = "{rule}"\n{more}']
    for task, systems in right.items():
        size = len(next(iter(systems.values())))
        rows = "".join(f"i{at},yes\n" for at in range(size))
        (folder / f"{task}.csv").write_text("id,label\n" + rows)
        ends = f"anchors = {{zero = {ANCHORS[task][0]}, one = {ANCHORS[task][1]}}}\n" if anchors else ""
        head = f'[[tasks]]\nname = "{task}"\ntask = "classification"\nmetric = "accuracy"\nreference = "{task}.csv"\n'
        text.append(f"{head}{ends}[tasks.submissions]")
        for system, hits in systems.items():
            if (system, task) not in absent:
                rows = "".join(f"i{at},{'yes' if hit else 'no'}\n" for at, hit in enumerate(hits))
                (folder / f"{task}-{system}.csv").write_text("id,label\n" + rows)
                text.append(f'{system} = "{task}-{system}.csv"')
    (folder / "plan.toml").write_text("\n".join(text) + "\n")


def across(folder, *options):
    ended = here("across", "plan.toml", "--json", *options, cwd=folder)
    assert ended.code == 0, ended.stderr + ended.stdout
    return ended.data


def brute_parts(values, rule):
    """What each task adds to each system, straight from the definitions."""
    parts = {}
    for task, by_system in values.items():
        zero, one = ANCHORS[task]
        for system, value in by_system.items():
            others = [other for name, other in by_system.items() if name != system]
            below, ties = sum(other < value for other in others), sum(other == value for other in others)
            points = below + ties / 2
            parts[system, task] = {
                "normalized mean": (value - zero) / (one - zero),
                "mean rank": len(others) + 1 - points,
                "borda": points,
            }[rule]
    return parts


def brute(values, rule):
    parts = brute_parts(values, rule)
    systems = next(iter(values.values()))
    total = {system: sum(parts[system, task] for task in values) for system in systems}
    return {name: found if rule == "borda" else found / len(values) for name, found in total.items()}


def order(totals, rule):
    return sorted(totals, key=lambda name: (totals[name] if rule == "mean rank" else -totals[name], name))


@pytest.mark.req("S-32")
@pytest.mark.parametrize("rule", ["normalized mean", "mean rank", "borda"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_values_order_and_sensitivity_are_those_of_the_definitions(tmp_path, rule, seed):
    right = correct(seed)
    write(tmp_path, right, rule=rule, anchors=rule == "normalized mean")
    data = across(tmp_path, "--draws", "200")
    values = {task: {name: float(np.mean(hits)) for name, hits in systems.items()} for task, systems in right.items()}
    totals = brute(values, rule)
    assert [one["system"] for one in data["systems"]] == order(totals, rule)
    assert {one["system"]: one["value"] for one in data["systems"]} == pytest.approx(totals)
    parts = brute_parts(values, rule)
    for one in data["systems"]:
        assert one["parts"] == pytest.approx({task: parts[one["system"], task] for task in values})
    for left in data["sensitivity"]:
        rest = brute({task: found for task, found in values.items() if task != left["without"]}, rule)
        assert left["order"] == order(rest, rule)
        changed = {
            frozenset(pair)
            for pair in combinations(totals, 2)
            if np.sign(round(totals[pair[0]] - totals[pair[1]], 9)) != np.sign(round(rest[pair[0]] - rest[pair[1]], 9))
        }
        assert set(map(frozenset, left["changed"])) == changed
    assert [left["without"] for left in data["sensitivity"]] == list(SIZES)


@pytest.mark.req("S-32")
def test_intervals_are_those_of_a_bootstrap_inside_each_task(tmp_path):
    right = correct()
    write(tmp_path, right)
    data = across(tmp_path, "--draws", "4000")
    dice, draws = np.random.default_rng(99), 4000
    drawn = {name: np.zeros(draws) for name in SKILLS}
    for task, systems in right.items():
        zero, one = ANCHORS[task]
        picks = dice.integers(0, SIZES[task], (draws, SIZES[task]))  # the same items for all systems of a task
        for name, hits in systems.items():
            drawn[name] += (hits[picks].mean(axis=1) - zero) / (one - zero) / len(right)
    for row in data["systems"]:
        low, high = np.quantile(drawn[row["system"]], (0.025, 0.975))
        assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.012)
        assert row["low"] < row["value"] < row["high"]
    for gap in data["differences"]:
        low, high = np.quantile(drawn[gap["first"]] - drawn[gap["second"]], (0.025, 0.975))
        assert (gap["low"], gap["high"]) == pytest.approx((low, high), abs=0.012)


@pytest.mark.req("S-32")
def test_a_new_entrant_changes_no_normalized_value_of_others(tmp_path):
    right = correct()
    write(tmp_path, right)
    before = {one["system"]: (one["value"], one["low"], one["high"]) for one in across(tmp_path)["systems"]}
    for task, systems in right.items():
        systems["Perfect"] = np.ones(SIZES[task], bool)
    write(tmp_path, right)
    after = {one["system"]: (one["value"], one["low"], one["high"]) for one in across(tmp_path)["systems"]}
    assert {name: after[name] for name in before} == before


@pytest.mark.req("S-32")
def test_the_line_on_sensitivity_is_in_text_and_page(tmp_path):
    right = {
        "first": {"Alpha": np.arange(120) < 110, "Beta": np.arange(120) < 70},
        "second": {"Alpha": np.arange(60) < 30, "Beta": np.arange(60) < 40},
        "third": {"Alpha": np.arange(200) < 100, "Beta": np.arange(200) < 110},
    }
    write(tmp_path, right)
    ended = here("across", "plan.toml", "--report", "across.html", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    words = "Without first the order changes: Alpha and Beta."
    assert words in ended.stdout
    assert words in (tmp_path / "across.html").read_text()
    assert [left["changed"] for left in across(tmp_path)["sensitivity"]] == [[["Alpha", "Beta"]], [], []]


@pytest.mark.req("S-32")
@pytest.mark.parametrize("missing", ["unranked", "worst"])
def test_a_system_that_lacks_a_task_is_not_ranked_or_the_worst_there(tmp_path, missing):
    write(tmp_path, correct(), more=f'missing = "{missing}"\n', absent={("Gamma", "second")})
    data = across(tmp_path, "--draws", "200")
    names = [one["system"] for one in data["systems"]]
    assert data["missing"] == {"Gamma": ["second"]}
    if missing == "unranked":
        assert "Gamma" not in names
        assert data["unranked"] == {"Gamma": ["second"]}
        assert "Gamma has no value for second and is not ranked" in data["notes"]
    else:
        gamma = next(one for one in data["systems"] if one["system"] == "Gamma")
        assert gamma["parts"]["second"] == 0.0
        assert gamma["low"] < gamma["value"] < gamma["high"]
        assert data["unranked"] == {}


@pytest.mark.req("S-32")
@pytest.mark.parametrize(("rule", "last"), [("mean rank", 3), ("borda", 0)])
def test_who_lacks_a_task_is_last_there_by_ranks_and_leaves_the_others_their_places(tmp_path, rule, last):
    write(tmp_path, correct(), rule=rule, anchors=False, more='missing = "worst"\n', absent={("Gamma", "second")})
    data = across(tmp_path, "--draws", "200")
    parts = {one["system"]: one["parts"]["second"] for one in data["systems"]}
    assert parts.pop("Gamma") == last
    assert sorted(parts.values()) == [1, 2]


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_scipy_with_ties_and_with_systems_that_have_no_value(seed):
    dice = np.random.default_rng(seed)
    values = dice.integers(0, 5, (20, 7)) / 7
    values[dice.random(values.shape) < 0.2] = -np.inf
    assert ranks(values).tolist() == rankdata(-values, axis=-1).tolist()


@pytest.mark.req("S-32")
@pytest.mark.parametrize(("rule", "method"), [("normalized mean", "percentile"), ("borda", "simultaneous")])
def test_csv_and_parquet_have_a_cell_for_every_column(tmp_path, rule, method):
    write(tmp_path, correct(), rule=rule, anchors=rule == "normalized mean")
    data = across(tmp_path, "--draws", "200", "--report", "across.csv", "--report", "across.parquet")
    frame = pl.read_parquet(tmp_path / "across.parquet")
    assert frame.filter(factor="")["value"].to_list() == pytest.approx([one["value"] for one in data["systems"]])
    expected = [method if one["low"] is not None else "" for one in data["systems"]]
    assert frame.filter(factor="")["method"].to_list() == expected
    assert method in expected
    head, *rows = csv.reader((tmp_path / "across.csv").read_text().splitlines())
    assert (head, {len(row) for row in rows}) == (frame.columns, {len(head)})


def test_a_fault_of_a_task_names_it(tmp_path):
    write(tmp_path, correct())
    text = (tmp_path / "plan.toml").read_text()
    head, first, *rest = text.split("[[tasks]]")
    (tmp_path / "plan.toml").write_text("[[tasks]]".join([head, first.replace('"accuracy"', '"acuracy"'), *rest]))
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert (ended.code, "Error: first: 'acuracy' cannot be" in ended.stderr) == (2, True)


def test_a_lower_value_is_better_where_the_metric_says_so_and_anchors_against_it_are_refused(tmp_path):
    plan = (ROOT / "examples" / "across" / "aggregate.toml").read_text().replace('"../', f'"{ROOT}/examples/')
    (tmp_path / "plan.toml").write_text(plan)
    data = across(tmp_path, "--draws", "100")
    translation = data["tasks"][2]
    assert (translation["metric"], translation["best"]) == ("ter", "low")
    alpha = data["systems"][0]
    assert alpha["parts"]["translation"] == pytest.approx(1 - translation["values"]["Alpha"])
    (tmp_path / "plan.toml").write_text(plan.replace("{zero = 1.0, one = 0.0}", "{zero = 0.0, one = 1.0}"))
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert (ended.code, "translation: Lower values of ter are better" in ended.stderr) == (2, True)


def test_written_results_rank_without_an_interval_and_say_why(tmp_path):
    right = correct()
    write(tmp_path, right)
    whole = across(tmp_path)
    for system in SKILLS:
        ended = here(
            "score",
            "classification",
            "--reference",
            "first.csv",
            "--submission",
            f"first-{system}.csv",
            "--json",
            cwd=tmp_path,
        )
        (tmp_path / f"first-{system}.json").write_text(ended.stdout)
    given = [word for system in SKILLS for word in ("--submission", f"{system}=second-{system}.csv")]
    ended = here("compare", "classification", "--reference", "second.csv", *given, "--json", cwd=tmp_path)
    (tmp_path / "second.json").write_text(ended.stdout)
    lines = (tmp_path / "plan.toml").read_text().split("[[tasks]]")
    lines[1] = lines[1].replace("[tasks.submissions]", "[tasks.results]").replace('.csv"\nBeta', '.json"\nBeta')
    for system in SKILLS:
        lines[1] = lines[1].replace(f'{system} = "first-{system}.csv"', f'{system} = "first-{system}.json"')
    lines[2] = lines[2].partition("[tasks.submissions]")[0] + 'results = "second.json"\n'
    (tmp_path / "plan.toml").write_text("[[tasks]]".join(lines))
    data = across(tmp_path)
    assert {one["system"]: one["value"] for one in data["systems"]} == pytest.approx(
        {one["system"]: one["value"] for one in whole["systems"]}
    )
    assert all(one["low"] is None and one["high"] is None for one in data["systems"])
    assert "which hold no rows of single units" in data["systems"][0]["flags"][0]
    plan = (tmp_path / "plan.toml").read_text()
    (tmp_path / "plan.toml").write_text(plan.replace('rule = "normalized mean"', 'rule = "borda"'))
    assert not any(note.startswith("low and high") for note in across(tmp_path)["notes"])
    (tmp_path / "plan.toml").write_text(plan.replace('task = "classification"', 'task = "langid"'))
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert (ended.code, ended.stderr.count("first:"), "is one of classification" in ended.stderr) == (2, 1, True)


def test_a_task_with_too_few_units_gives_no_interval_and_is_named(tmp_path):
    right = correct()
    right["second"] = {system: hits[:10] for system, hits in right["second"].items()}
    write(tmp_path, right)
    data = across(tmp_path)
    assert data["systems"][0]["low"] is None
    assert data["systems"][0]["flags"] == ["no interval: second has too few units for an interval"]


BAD = {
    "no anchors": ("anchors = {zero = 0.5, one = 1.0}\n", "", "task 'first' has no anchors"),
    "one anchor": ("{zero = 0.5, one = 1.0}", "{zero = 0.5}", "`anchors` of task 'first' cannot be used"),
    "equal anchors": ("{zero = 0.5, one = 1.0}", "{zero = 1, one = 1.0}", "`anchors` of task 'first' cannot be used"),
    "infinite anchor": ("{zero = 0.5, one = 1.0}", "{zero = 0, one = inf}", "`anchors` of task 'first' cannot be used"),
    "unknown rule": ('"normalized mean"', '"mean"', "`rule` of the file is unknown"),
    "twice": ('name = "second"', 'name = "first"', "two tasks are called 'first'"),
    "unknown key": ('name = "second"', 'name = "second"\nankers = 1', "unknown key `ankers`"),
    "two metrics": (
        'metric = "accuracy"',
        'metric = "accuracy"\nsettings = {primary = "f1_macro"}',
        "task 'first' names its metric twice",
    ),
    "too deep": ("rule = ", f"deep = {'[' * 500}{']' * 500}\nrule = ", "nested too deep"),
    "weight": ('name = "second"', 'name = "second"\nweight = 0', "`weight` of task 'second'"),
    "no toml": ("[[tasks]]", "[[tasks", "plan.toml"),
    "newer": ("basanite-aggregate/1", "basanite-aggregate/9", "plan.toml"),
    "submissions as text": (
        "[tasks.submissions]\nAlpha",
        "submissions = 3\n[tasks.results]\nAlpha",
        "not a table of files",
    ),
}


@pytest.mark.req("S-32", case="bad")
@pytest.mark.parametrize(("old", "new", "words"), BAD.values(), ids=BAD)
def test_a_plan_that_cannot_be_is_refused_with_its_place(tmp_path, old, new, words):
    write(tmp_path, correct())
    text = (tmp_path / "plan.toml").read_text()
    assert old in text
    (tmp_path / "plan.toml").write_text(text.replace(old, new, 1))
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert ended.code == 1, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_broken_submission_is_named_with_its_task(tmp_path):
    write(tmp_path, correct())
    (tmp_path / "second-Beta.csv").write_text("id,label\ni0,yes\n")
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert ended.code == 1
    assert "second, Beta (second-Beta.csv):" in ended.stderr
    (tmp_path / "second-Beta.csv").unlink()
    gone = here("across", "plan.toml", cwd=tmp_path)
    assert (gone.code, "second-Beta.csv" in gone.stderr, "Traceback" in gone.stderr) == (2, True, False)


def test_nobody_in_every_task_is_told_with_the_way_out(tmp_path):
    write(tmp_path, correct(), absent={("Alpha", "first"), ("Beta", "second"), ("Gamma", "third")})
    ended = here("across", "plan.toml", cwd=tmp_path)
    assert (ended.code, 'missing = "worst"' in ended.stderr) == (2, True)


def test_a_repeated_run_prints_the_same_bytes(tmp_path):
    write(tmp_path, correct())
    first, second = (here("across", "plan.toml", "--json", cwd=tmp_path).stdout for _ in range(2))
    assert first == second
    assert json.loads(first)["format"] == "basanite-across/1"


@pytest.mark.req("S-32")
def test_tasks_on_one_reference_are_resampled_together(tmp_path):
    right = correct()
    write(tmp_path, {"first": right["first"]})
    text = (tmp_path / "plan.toml").read_text()
    head, task = text.split("[[tasks]]")
    again = task.replace('name = "first"', 'name = "again"')
    (tmp_path / "plan.toml").write_text(f"{head}[[tasks]]{task}[[tasks]]{again}")
    twice = across(tmp_path)
    alone = here(
        "score", "classification", "--reference", "first.csv", "--submission", "first-Alpha.csv", "--json", cwd=tmp_path
    )
    value = alone.data["values"]["accuracy"]
    alpha = next(one for one in twice["systems"] if one["system"] == "Alpha")
    width = (value["high"] - value["low"]) / 0.5  # the anchors are half apart; two copies of one task tell nothing more
    assert alpha["high"] - alpha["low"] == pytest.approx(width, rel=0.15)
