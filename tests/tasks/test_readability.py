"""The task `readability` from files to report: contract, verdict, panels, baselines, hostile input."""

import csv
import functools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.synthetic.readability_files import example_files, write_examples

import basanite
from basanite import registry, spine
from basanite.analysis.results import Design
from basanite.problems import Findings
from basanite.tasks import Inputs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PANELS, MACHINE = EXAMPLES / "readability/panels.csv", EXAMPLES / "readability/machine.csv"
NAMES = ("score_difference", "proportional_target", "correlation")


@functools.cache
def report(**settings):
    task = spine.find_task("readability")
    findings = Findings()
    opened = spine.read(task, Inputs(MACHINE, PANELS), settings, findings)
    spine.validate(opened, findings)
    assert findings.valid, list(findings)
    analysis = spine.analyse(spine.score(opened, system="machine"), Design(draws=200))
    return analysis, spine.report(task, analysis)


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *rows])
    return path


def campaign(folder, experts, novices, machine):
    """Files of tables of passages x judges; nan is left out."""
    rows = [
        (f"p{at:03d}", f"{panel}{judge}", panel, mark)
        for panel, table in (("expert", experts), ("novice", novices))
        for at, marks in enumerate(table)
        for judge, mark in enumerate(marks)
        if not math.isnan(mark)
    ]
    reference = write(folder / "panels.csv", ("passage", "judge", "panel", "rating"), rows)
    answers = [(f"p{at:03d}", mark) for at, mark in enumerate(machine)]
    return {"reference": reference, "submission": write(folder / "machine.csv", ("passage", "rating"), answers)}


def biased_campaign(seed=0):
    """Novices with biases so strong that a middling rating throughout lies nearer to the experts than they do."""
    rng = np.random.default_rng(seed)
    true = rng.normal(3, 0.6, (40, 1))
    experts = np.clip(np.rint(true + rng.normal(0, 0.5, (40, 5))), 1, 5)
    novices = np.clip(np.rint(true + rng.choice([-1.5, 1.5], 8) + rng.normal(0, 0.6, (40, 8))), 1, 5)
    return experts, novices, true[:, 0]


def verdict(notes):
    return next(note for note in notes if note.startswith("verdict"))


def test_the_shipped_examples_are_the_generated_ones(tmp_path):
    shipped = {name: (EXAMPLES / name).read_text(encoding="utf-8") for name in example_files()}
    assert shipped == example_files()
    write_examples(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == set(example_files())


@pytest.mark.req("R-4")
def test_every_value_carries_p_and_the_critical_value():
    found = basanite.score("readability", reference=PANELS, submission=MACHINE)
    assert tuple(found.values) == NAMES
    for name in NAMES:
        value = found.values[name]
        assert 1 / 10_001 <= value.parts["p"] <= 1
        assert (value.value > value.parts["critical"]) == (value.parts["p"] <= 0.025)
    assert found.values["score_difference"].parts["p"] == pytest.approx(1 / 10_001)


@pytest.mark.req("R-4")
def test_draws_and_seed_of_the_null_are_settings():
    few = basanite.score("readability", reference=PANELS, submission=MACHINE, null_draws=199)
    assert few.values["score_difference"].parts["p"] == pytest.approx(1 / 200)
    seeds = [
        basanite.score("readability", reference=PANELS, submission=MACHINE, null_draws=499, null_seed=seed)
        for seed in (1, 1, 2)
    ]
    criticals = [one.values["correlation"].parts["critical"] for one in seeds]
    assert criticals[0] == criticals[1] != criticals[2]


@pytest.mark.req("S-3", case="good")
def test_a_machine_near_the_experts_is_better_than_novices(tmp_path):
    experts, novices, true = biased_campaign()
    found = basanite.score("readability", **campaign(tmp_path, experts, novices, true))
    assert verdict(found.notes).startswith("verdict: better than novices")


@pytest.mark.req("S-3", case="bad")
def test_a_constant_passes_the_plans_test_but_not_the_verdict(tmp_path):
    experts, novices, _ = biased_campaign()
    files = campaign(tmp_path, experts, novices, np.full(40, 3.0))
    found = basanite.score("readability", **files)
    assert found.values["score_difference"].parts["p"] <= 0.025
    said = verdict(found.notes)
    assert said.startswith("verdict: not shown to be better than novices")
    assert "best constant" in said
    assert "correlation defined" in said
    assert math.isnan(found.values["correlation"].value)
    assert math.isnan(found.values["correlation"].parts["p"])
    assert "a constant rating does as well" in found.values["score_difference"].flags


@pytest.mark.req("S-3", case="bad")
def test_a_lead_that_other_novices_might_take_away_is_not_enough(tmp_path):
    rng = np.random.default_rng(3)
    true = rng.normal(3, 1, (200, 1))
    experts = np.clip(np.rint(true + rng.normal(0, 0.4, (200, 6))), 1, 5)
    sharp = np.clip(np.rint(true + rng.normal(0, 0.3, (200, 3))), 1, 5)
    dull = np.clip(np.rint(true + rng.normal(0, 2.5, (200, 1))), 1, 5)
    machine = np.clip(true[:, 0] + rng.normal(0, 0.62, 200), 1, 5)
    found = basanite.score("readability", **campaign(tmp_path, experts, np.hstack([sharp, dull]), machine))
    value = found.values["score_difference"]
    assert value.parts["p"] <= 0.025
    assert value.parts["lead_low"] < 0 < value.value
    assert value.low < 0
    assert "over other passages and novices too" in verdict(found.notes)


@pytest.mark.req("S-3")
def test_one_metric_declared_beforehand_takes_the_place_of_holm():
    analysis, _ = report(verdict="proportional_target")
    assert "proportional_target above the plan's null" in verdict(analysis.notes)
    with pytest.raises(basanite.errors.SettingError, match="it is not one of holm"):
        report(verdict="best")


@pytest.mark.req("S-3")
def test_the_machines_place_its_rounded_target_and_the_number_of_experts_are_told():
    found = basanite.score("readability", reference=PANELS, submission=MACHINE)
    assert found.values["correlation"].parts["place"] == 1
    assert found.values["correlation"].parts["places"] == 9
    target = found.values["proportional_target"]
    assert target.parts["experts"] == 6
    assert target.parts["rounded"] > target.value
    assert any(note.startswith("experts: 6") for note in found.notes)


@pytest.mark.req("S-3")
def test_the_report_draws_the_nulls_labelled_with_the_systems_value_marked():
    analysis, made = report()
    closer = next(section for section in made.sections if section.title == "A closer look")
    charts = [figure for figure in closer.figures if "texts and novices fixed" in figure.title]
    assert len(charts) == 3
    for chart, name in zip(charts, NAMES, strict=True):
        assert chart.marks[0].x == pytest.approx(analysis.values[name].value)
        assert chart.guides[0][1][0][0] == pytest.approx(analysis.values[name].parts["critical"])
        assert sum(row[1] for row in chart.data.rows) == pytest.approx(1)
    rivals = next(figure for figure in closer.figures if figure.title == "The machine among its rivals")
    kinds = [row[1] for row in rivals.rows]
    assert (kinds.count("novice"), kinds.count("machine"), kinds.count("best constant")) == (8, 1, 1)


@pytest.mark.req("R-5")
def test_the_report_shows_agreement_and_every_judge_and_names_the_one_who_ranks_upside_down():
    _, made = report()
    tables = {figure.title: figure for section in made.sections for figure in section.figures}
    measures = {(row[0], row[1]): row for row in tables["Agreement of the panels"].rows}
    for panel in ("expert", "novice"):
        for measure in ("alpha, ordinal", "alpha, interval", "ICC(1,k), the mean of a passage"):
            assert 0 < measures[panel, measure][2] < 1
        assert measures[panel, "alpha, ordinal"][3] < measures[panel, "alpha, ordinal"][2]
    judges = {row[0]: row for row in tables["Each judge"].rows}
    assert len(judges) == 14
    assert [name for name, row in judges.items() if row[-1]] == ["hal"]
    assert judges["cy"][3] < -0.5 < 0.5 < judges["ann"][3]
    assert len(tables["Agreement of rankings"].rows) == 12


@pytest.mark.req("R-6")
def test_baselines_are_scored_beside_the_machine_where_texts_are_given():
    _, made = report()
    tables = {figure.title: figure for section in made.sections for figure in section.figures}
    baselines = {row[0]: row[2] for row in tables["The machine among its rivals"].rows if row[1] == "baseline"}
    assert set(baselines) == {"flesch", "flesch_kincaid", "fog", "learned"}
    assert baselines["learned"] == max(baselines.values())


def test_genres_and_topics_are_broken_down_and_rounds_and_ranks_are_not():
    found = basanite.score("readability", reference=PANELS, submission=MACHINE)
    assert set(found.breakdowns) == {"genre", "topic"}


@pytest.mark.parametrize("output", registry.names("outputs"))
def test_every_output_takes_the_report(output):
    _, made = report()
    assert registry.load("outputs", output).render(made)


def test_the_order_of_lines_does_not_matter(tmp_path):
    with PANELS.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    turned = write(tmp_path / "panels.csv", lines[0], lines[:0:-1])
    assert json.dumps(stripped(turned)) == json.dumps(stripped(PANELS))


def stripped(reference):
    found = basanite.score("readability", reference=reference, submission=MACHINE, null_draws=500)
    return {name: [value.value, value.low, value.high, dict(value.parts)] for name, value in found.values.items()}


def test_two_machines_are_compared_on_the_same_novices():
    found = basanite.compare(
        "readability", reference=PANELS, submissions={"machine": MACHINE, "second": MACHINE.with_name("second.csv")}
    )
    difference = next(one for one in found.differences if one.metric == "score_difference")
    assert difference.verdict == "first"
    assert difference.low > 0


@pytest.mark.parametrize(
    "content",
    [b"", b"passage,rating\n", b"passage\np01\n", b"\x00\x01\xff", "passage,rating\np\u202e01,1e999\n".encode()],
    ids=["empty", "header", "no-rating", "bytes", "odd"],
)
def test_hostile_files_end_in_problems_and_never_in_an_exception(tmp_path, content):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert not basanite.validate("readability", reference=PANELS, submission=path).valid
    assert not basanite.validate("readability", reference=path, submission=MACHINE).valid


def test_a_panel_that_would_fill_the_memory_is_refused(tmp_path):
    rows = [(f"p{at}", f"j{at}", "novice", 3) for at in range(1200)] + [
        (f"p{at}", "e", "expert", 3) for at in range(1200)
    ]
    path = write(tmp_path / "many.csv", ("passage", "judge", "panel", "rating"), rows)
    found = basanite.validate("readability", reference=path, submission=MACHINE)
    assert not found.valid
    assert any("1,440,000 cells" in problem.message for problem in found)
