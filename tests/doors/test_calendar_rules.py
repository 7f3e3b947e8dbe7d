"""The printed schedule of the base period, as teams meet it at the API: what is open, how often, what is refused."""

from __future__ import annotations

import pytest
from tests.campaign.model.test_table8 import PRINTED
from tests.cli.running import ROOT
from tests.doors.stage import rules, staged

BASE = ROOT / "examples" / "campaign" / "material-base.toml"
CONTENT = (ROOT / "examples" / "clir" / "Alpha.tgz").read_bytes()
ALL_THREE = ("EVAL1+EVAL2+EVAL3", "QUERY2QUERY3")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The season of the plan; each test chooses its own weeks, since attempts are spent."""
    with staged(tmp_path_factory.mktemp("base"), BASE.read_text(encoding="utf-8"), "2017-11-20 12:00") as stage:
        stage.sign("data")
        yield stage


def taken(stage, *words, who="ada", **more):
    """Whether a submission is taken, or the rules that it breaks."""
    answer = stage.post(who, CONTENT, *words, **more)
    return answer.status_code == 201 or rules(answer)


def spelling(pack):
    return pack.removeprefix("1S-")


def open_rows(stage):
    """What is open now, by language and data: all tasks with their count, and what is shown."""
    found = {}
    for row in stage.get("", "/windows").json():
        for language in row["languages"] if row["is_open"] else ():
            tasks, facts = found.setdefault((language, *map(spelling, row["dataset"])), (set(), set()))
            tasks.update(row["tasks"])
            facts.add((row["quota"], row["feedback"]))
    return found


@pytest.mark.req("C10", "C31", "C36")
@pytest.mark.parametrize("row", PRINTED, ids=lambda row: row.line)
def test_a_printed_row_is_what_the_calendar_shows_and_nothing_else_is_open(base, row):
    for moment in row.moments():
        base.clock.set(moment)
        shown, day = open_rows(base), moment.date()
        assert set(shown) == {(code, *one.data) for one in PRINTED if day in one for code in one.languages}, moment
        for language in row.languages:
            tasks, facts = shown[(language, *row.data)]
            assert facts == {(row.count, row.feedback)}
            assert {"CLIR", "DomainID"} <= tasks
            assert ("LangID" in tasks) == row.with_language_id


@pytest.mark.req("C36")
def test_the_visit_printed_as_2017_was_in_2018(base):
    base.clock.set("2018-02-01 12:00")
    visits = {stone["id"]: stone["at"]["utc"] for stone in base.get("ada", "/milestones").json()}
    assert visits["visit-2018"].startswith("2018-02-21")


@pytest.mark.req("C10")
def test_domain_identification_is_taken_all_year_and_language_identification_from_its_first_row(base):
    base.clock.set("2018-01-03 12:00")
    assert taken(base, "DEV", "", task="DomainID", domains="LIF-GOV") is True
    base.clock.set("2018-07-04 12:00")
    assert "M62" in taken(base, "DEV", "", task="LangID")
    assert taken(base, "DEV", "", task="DomainID", domains="GOV-LIF-BUS-LAW-SPO") is True
    base.clock.set("2018-07-05 12:00")
    assert taken(base, "DEV", "", task="LangID") is True


@pytest.mark.req("C29", "C30")
def test_the_larger_set_rule_holds_within_a_family_and_query_sets_do_not_grow_together(base):
    base.clock.set("2018-02-06 12:00")
    assert taken(base, "ANALYSIS1+DEV") is True
    assert taken(base, "DEV") is True
    assert "M62" in taken(base, "ANALYSIS1+EVAL1")
    base.clock.set("2018-04-17 12:00")
    assert taken(base, "DEV", "QUERY2") is True, "DEV alone, though EVAL2 is out"
    assert "M62" in taken(base, "DEV", "QUERY1QUERY2")
    assert "M63" in taken(base, "EVAL1", "QUERY2")
    assert taken(base, "EVAL1+EVAL2", "QUERY2") is True


@pytest.mark.req("C31")
def test_dev_is_open_in_the_evaluation_week_of_2018_and_closed_in_that_of_2019(base):
    base.clock.set("2018-05-16 12:00")
    assert taken(base, "DEV", "QUERY2") is True
    base.clock.set("2019-01-16 12:00")
    assert "M62" in taken(base, "1S-DEV", "QUERY2QUERY3", language="1S")
    base.clock.set("2019-01-20 12:00")
    assert taken(base, "1S-DEV", "QUERY2QUERY3", language="1S") is True


@pytest.mark.req("C34")
def test_a_week_ends_on_sunday_in_the_zone_and_is_counted_by_team_language_task_and_data_set(base):
    base.clock.set("2018-01-10 12:00")
    assert taken(base, "EVAL1") is True
    refused = base.post("ada", CONTENT, "EVAL1")
    assert (refused.status_code, rules(refused)) == (429, {"M64"})
    resets = {one["resets"] for row in base.get("ada", "/windows").json() for one in row["mine"]}
    assert resets == {"2018-01-15T05:00:00Z"}, "Monday 00:00 in New York"
    assert taken(base, "EVAL1", language="1B") is True
    assert taken(base, "EVAL1", "", task="DomainID", domains="GOV-LIF") is True
    assert taken(base, "DEV") is True
    assert taken(base, "EVAL1", who="bea") is True
    for again in ({"language": "1B"}, {"who": "bea"}):
        assert taken(base, "EVAL1", **again) == {"M64"}
    base.clock.set("2018-01-15 04:59:59")
    assert taken(base, "EVAL1") == {"M64"}
    base.clock.set("2018-01-15 05:00")
    assert taken(base, "EVAL1") is True


@pytest.mark.req("C34")
def test_a_row_that_changes_in_the_middle_of_a_week_gives_no_second_attempt(base):
    base.clock.set("2018-03-08 12:00")
    assert taken(base, "EVAL1") is True
    base.clock.set("2018-03-10 12:00")
    assert taken(base, "EVAL1") == {"M64"}
    base.clock.set("2018-03-12 05:00")
    assert taken(base, "EVAL1") is True


@pytest.mark.req("C35")
def test_what_makes_up_the_five_is_an_attribute_of_the_row(base):
    base.clock.set("2018-05-15 12:00")
    rows = {row["id"]: row for row in base.get("ada", "/windows").json()}
    assert rows["clir-week-eval"]["types"] == {"primary": 1, "contrastive": 4}
    assert rows["1s-sanity-eval"]["types"] == {}
    assert {rows[name]["quota"] for name in ("clir-week-eval", "clirs-week-eval", "1s-sanity-eval")} == {5}
    both = ("EVAL1+EVAL2", "QUERY2")
    assert taken(base, *both, type="primary") is True
    assert taken(base, *both, type="primary") == {"M66"}
    assert [taken(base, *both) for _ in range(5)] == [True, True, True, True, {"M64"}]
    base.clock.set("2018-08-07 12:00")
    assert taken(base, *ALL_THREE, type="primary") == {"M67"}
    assert taken(base, *ALL_THREE, task="E2E", type="primary") is True
    assert "M67" in taken(base, *ALL_THREE, task="E2E", type="contrastive")
    assert [taken(base, *ALL_THREE) for _ in range(5)] == [True, True, True, True, {"M64"}]


@pytest.mark.req("M57", case="good")
def test_the_task_and_condition_of_the_row_are_taken(base):
    base.clock.set("2018-02-13 12:00")
    name = "Alpha_CLIR-contrastive-unconstrained-QUERY1-run_BASE-1A-DEV_20180213_120000.tgz"
    assert taken(base, "DEV", filename=name, condition="unconstrained") is True


@pytest.mark.req("M57", case="bad")
def test_a_condition_or_type_outside_the_row_is_refused(base):
    base.clock.set("2018-02-14 12:00")
    assert "M57" in taken(base, "DEV", condition="constrained")
    assert "M57" in taken(base, "DEV", type="main")
    name = "Alpha_CLIR-contrastive-constrained-QUERY1-run_BASE-1A-DEV_20180213_120000.tgz"
    assert "M57" in taken(base, "DEV", filename=name)


@pytest.mark.req("M75")
def test_a_row_takes_the_domains_of_its_language_and_stage(base):
    base.clock.set("2018-02-20 12:00")
    assert "M59" in taken(base, "DEV", "", task="DomainID", domains="GOV-LIF-BUS-LAW"), "has not been published"
    base.clock.set("2018-03-20 12:00")
    assert taken(base, "DEV", "", task="DomainID", domains="LAW-LIF-BUS-GOV") is True
    assert taken(base, "DEV", "", task="DomainID", language="1B", domains="GOV-LIF-HEA-MIL") is True
    assert "M59" in taken(base, "DEV", "", task="DomainID", domains="GOV-LIF-HEA-MIL")
    assert "M59" in taken(base, "DEV", "", task="DomainID", domains="GOV-LIF-BUS-LAW-SPO")


@pytest.mark.req("C32", "C33")
@pytest.mark.timeout(300)
def test_limited_feedback_is_three_values_without_breakdowns_where_full_feedback_has_them(tmp_path):
    with staged(tmp_path, BASE.read_text(encoding="utf-8"), "2018-01-23 12:00") as base:
        base.sign("data")
        full, limited = scored_twice(base)
    assert (full["level"], limited["level"]) == ("full", "limited")
    assert full["data"]["breakdowns"]
    assert set(full["data"]["values"]) > set(limited["data"]["values"])
    assert set(limited["data"]["values"]) == {"aqwv", "aqwv_all", "aqwv_relevant"}
    assert set(limited["data"]) <= {"format", "task", "primary", "values"}
    assert all(set(value) <= {"value", "half_width"} for value in limited["data"]["values"].values())
    assert [value["value"] for value in limited["data"]["values"].values()] == [
        round(full["data"]["values"][name]["value"], 3) for name in limited["data"]["values"]
    ]


def scored_twice(base):
    """The results of one file on DEV, which shows everything, and on EVAL1, which shows little."""
    example = ROOT / "examples" / "clir"
    metadata = [word for path in sorted((example / "metadata").iterdir()) for word in ("--metadata", path)]
    for dataset in ("DEV", "EVAL1"):
        where = ["--task", "CLIR", "--dataset", dataset, "--language", "1A", "--queryset", "QUERY1", *metadata]
        base.two_agree("reference", "add", example / "key", *where, "--reason", "first")
    sent = [base.post("bea", CONTENT, dataset).json()["id"] for dataset in ("DEV", "EVAL1")]
    base.work()
    return [base.get("bea", f"/submissions/{one}").json()["result"] for one in sent]
