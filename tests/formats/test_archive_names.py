"""Names of archives: the plan's own examples are read, every part that is off is named, and what is made reads back."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.formats.archives.archive_names import PARTS, ArchiveName, check_name, explain, make_name, parse_name
from basanite.formats.datasets.pack_names import domains_of, split_datasets, superset

PLAN = "NIST_DomainID-contrastive-unconstrained-GOV-MIL-BUS-LAW-mybestsystem_BASE-1S-EVAL1EVAL2_20181113_225652.tgz"
RETRIEVAL = "FLAIR_CLIR-primary-unconstrained-QUERY1-MySystem1_BASE-1A-EVAL1_20180514_090000.tgz"
LANGUAGE = "QuickSTIR_LangID-primary-unconstrained-Alpha_BASE-1B-DEV_20180801_000000.tgz"
GOOD = {"team": "FLAIR", "task": "CLIR", "type": "primary", "condition": "unconstrained", "set": "QUERY1"}
GOOD |= {"label": "MySystem1", "period": "BASE", "language": "1A", "dataset": "EVAL1"}
GOOD |= {"date": "20180514", "time": "090000"}


def text_of(**changed: str) -> str:
    """The retrieval name with some parts changed."""
    part = GOOD | changed
    what = "-".join(part[name] for name in PARTS[1:6])
    place = "-".join(part[name] for name in PARTS[6:9])
    return f"{part['team']}_{what}_{place}_{part['date']}_{part['time']}.tgz"


def problems(text: str, **options):
    found = parse_name(text, **options)
    assert isinstance(found, tuple), found
    return found


def off(text: str, **options) -> list[str]:
    """Which parts are named as wrong."""
    return [problem.message.split()[1] for problem in problems(text, **options)]


def test_the_example_of_the_plan_is_taken_apart():
    assert parse_name(PLAN) == ArchiveName(
        label="mybestsystem",
        team="NIST",
        task="DomainID",
        type="contrastive",
        sets=("GOV", "MIL", "BUS", "LAW"),
        period="BASE",
        language="1S",
        dataset="EVAL1EVAL2",
        time=datetime(2018, 11, 13, 22, 56, 52),
    )
    assert make_name(parse_name(PLAN)) == PLAN


@pytest.mark.parametrize("text", [PLAN, RETRIEVAL, LANGUAGE, text_of(task="E2E"), text_of(type="contrastive")])
def test_good_names_of_every_task_and_type_are_taken(text):
    assert make_name(parse_name(text)) == text


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("team", "FL AIR"),
        ("team", ""),
        ("set", "QUERY"),
        ("set", "GOV"),
        ("set", "QUERY3QUERY2"),
        ("set", "QUERY2QUERY2"),
        ("label", "My System"),
        ("label", "My_System"),
        ("label", "é1"),
        ("period", "base"),
        ("period", "OPTION"),
        ("language", "A1"),
        ("language", "1a"),
        ("dataset", "DEVTEST"),
        ("dataset", "EVAL2EVAL1"),
        ("dataset", "EVAL1DEV"),
        ("date", "20180230"),
        ("date", "2018514"),
        ("date", "٢٠١٨٠٥١٤"),
        ("time", "246060"),
        ("time", "0900"),
    ],
)
def test_the_part_that_is_off_is_the_one_that_is_named(part, value):
    assert off(text_of(**{part: value})) == [part]
    (problem,) = problems(text_of(**{part: value}))
    assert (problem.rule, problem.field, problem.severity) == ("M56", PARTS.index(part) + 1, "reject")
    assert problem.fix


@pytest.mark.parametrize(
    ("part", "value", "meant"),
    [("task", "clir", "CLIR"), ("task", "CLRI", "CLIR"), ("type", "Primary", "primary"), ("type", "main", None)],
)
def test_task_and_type_come_from_a_list_and_near_misses_get_a_hint(part, value, meant):
    (problem,) = problems(text_of(**{part: value}))
    assert (problem.rule, problem.found) == ("M57", value)
    assert (f"perhaps {meant!r}" in problem.fix) == (meant is not None)


def test_the_training_condition_is_what_the_window_allows():
    constrained = text_of(condition="constrained")
    assert [problem.rule for problem in problems(constrained)] == ["M57"]
    allowed = parse_name(constrained, conditions=("constrained", "unconstrained"))
    assert isinstance(allowed, ArchiveName)
    assert allowed.condition == "constrained"


def test_all_parts_that_are_off_are_named_at_once_from_left_to_right():
    text = "FL AIR_CLR-Primary-constrained-Q1-a b_BSE-AA-EVL_20181399_999999.tar.gz"
    assert off(text) == [*PARTS, "ending"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("FLAIR_CLIR-primary-unconstrained-QUERY1-A_BASE-1A-EVAL1.tgz", ["date", "time"]),
        ("FLAIR_CLIR-primary-unconstrained-A_BASE-1A-EVAL1_20180514_090000.tgz", ["set"]),
        ("FLAIR_CLIR-primary-unconstrained-QUERY1-my-run_BASE-1A-EVAL1_20180514_090000.tgz", ["set"]),
        ("FLAIR_CLIR-primary-unconstrained-QUERY1-A_BASE-1A-EVAL1-EVAL2_20180514_090000.tgz", ["dataset"]),
        ("FLAIR_CLIR_BASE_20180514_090000.tgz", ["type", "condition", "set", "label", "language", "dataset"]),
    ],
)
def test_missing_and_surplus_parts_are_named(text, parts):
    assert off(text) == parts


def test_a_label_alone_is_a_name_for_the_web():
    name = parse_name("System1.tgz")
    assert name == ArchiveName("System1")
    assert name.for_web
    assert explain(name) == [("label", "System1", "the team's own name for the system")]


@pytest.mark.parametrize("text", ["System 1.tgz", "my_best_system.tgz", "a-b.tgz", ".tgz", "A.zip", "A.TGZ", ""])
def test_what_is_neither_label_nor_full_name_breaks_the_rule_of_labels(text):
    assert [problem.rule for problem in problems(text)] == ["M55"]


def test_language_identification_has_an_alias_and_no_set():
    assert parse_name(LANGUAGE.replace("LangID", "LanguageID")) == parse_name(LANGUAGE)
    assert off(LANGUAGE.replace("-Alpha", "-QUERY1-Alpha")) == ["set"]


def test_teams_are_registered_in_exact_case_and_near_misses_get_one_hint():
    teams = ["FLAIR", "QuickSTIR", "SARAL"]
    assert isinstance(parse_name(RETRIEVAL, teams=teams), ArchiveName)
    for wrong, meant in (("flair", "FLAIR"), ("QuickStir", "QuickSTIR"), ("SARALL", "SARAL")):
        (problem,) = problems(text_of(team=wrong), teams=teams)
        assert problem.fix.endswith(f"perhaps {meant!r}")
    assert "perhaps" not in problems(text_of(team="NIST"), teams=teams)[0].fix


@pytest.mark.parametrize("dash", ["—", "–", "−"])
def test_long_dashes_are_refused_and_said_to_be_such(dash):
    (problem,) = problems(RETRIEVAL.replace("-", dash))
    assert (problem.rule, problem.found) == ("M56", dash)
    assert "hyphens" in problem.fix


@pytest.mark.parametrize("value", ["QUERY1QUERY2", "QUERY2QUERY3", "QUERY1QUERY2QUERY3"])
def test_combined_query_sets_are_understood(value):
    name = parse_name(text_of(set=value))
    assert "".join(name.sets) == value
    assert len(name.sets) > 1


def test_domains_of_the_stage_may_come_in_any_order():
    stage = domains_of("1S", "XY")
    assert set(parse_name(PLAN, domains=stage).sets) == set(stage)
    turned = PLAN.replace("GOV-MIL-BUS-LAW", "LAW-BUS-MIL-GOV")
    assert set(parse_name(turned, domains=stage).sets) == set(stage)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ("GOV-MIL-BUS-GOV-LAW", "GOV appears twice"),
        ("GOV-MIL-BUS-LAW-SPO", "'SPO' is not a domain"),
        ("gov-MIL-BUS-LAW-GOV", "'gov' is not a domain"),
        ("GOV-MIL-BUS", "LAW of this stage not named"),
        ("GOVMILBUSLAW", "is not a domain"),
    ],
)
def test_repeated_foreign_and_forgotten_domains_are_refused(codes, words):
    text = PLAN.replace("GOV-MIL-BUS-LAW", codes)
    found = problems(text, domains=domains_of("1S", "XY"))
    assert {problem.rule for problem in found} == {"M59"}
    assert words in found[0].message


def test_without_a_stage_the_domains_of_the_language_are_known():
    assert isinstance(parse_name(PLAN), ArchiveName)
    assert [problem.rule for problem in problems(PLAN.replace("-1S-", "-1A-"))] == ["M59"]


def test_a_name_is_explained_part_by_part():
    parts = explain(parse_name(PLAN))
    assert [part for part, _, _ in parts] == list(PARTS)
    assert ("dataset", "EVAL1EVAL2", "EVAL1 and EVAL2, scored together") in parts
    assert "never count" in {part: meaning for part, _, meaning in explain(parse_name(RETRIEVAL))}["set"]


def test_packs_are_scored_together_within_their_family_only():
    released = ["ANALYSIS1", "DEV", "EVAL1", "EVAL2"]
    assert superset("EVAL2", released) == ("EVAL1", "EVAL2")
    assert superset("DEV", released) == ("DEV",)
    assert split_datasets("EVAL1EVAL2") == ("EVAL1", "EVAL2")
    assert split_datasets("ANALYSIS1DEV") == ("ANALYSIS1", "DEV")
    assert split_datasets("ANALYSIS1EVAL1") is None


def test_the_severity_is_what_was_asked_for():
    assert problems("a b.tgz", severity="warn")[0].severity == "warn"


WORD = st.from_regex(r"[a-zA-Z0-9]{1,8}", fullmatch=True)
QUERY_SETS = st.sampled_from([("QUERY1",), ("QUERY2",), ("QUERY2", "QUERY3")])
DOMAIN_SETS = st.lists(st.sampled_from(domains_of("1A")), min_size=1, unique=True).map(tuple)
SETS = {"CLIR": QUERY_SETS, "E2E": QUERY_SETS, "DomainID": DOMAIN_SETS, "LangID": st.just(())}


@st.composite
def names(draw) -> ArchiveName:
    if draw(st.booleans()):
        return ArchiveName(draw(WORD))
    task = draw(st.sampled_from(sorted(SETS)))
    return ArchiveName(
        label=draw(WORD),
        team=draw(WORD),
        task=task,
        type=draw(st.sampled_from(["primary", "contrastive"])),
        sets=draw(SETS[task]),
        period=draw(st.sampled_from(["BASE", "OPTION1", "OP2"])),
        language="1A",
        dataset=draw(st.sampled_from(["DEV", "ANALYSIS1", "EVAL1EVAL2", "ANALYSIS1DEV", "EVAL"])),
        time=draw(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1))).replace(microsecond=0),
    )


@settings(max_examples=100, deadline=None)
@given(names())
def test_what_is_made_reads_back(name):
    assert parse_name(make_name(name)) == name
    assert check_name(name) == ()


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="ACLIR_-19.tgz", max_size=60)))
def test_any_text_is_a_name_or_has_problems_and_never_raises(text):
    found = parse_name(text)
    assert isinstance(found, ArchiveName) or found


@pytest.mark.parametrize(
    ("changed", "part"), [({"team": "N_T"}, "team"), ({"label": "a-b"}, "label"), ({"sets": ("Q",)}, "set")]
)
def test_parts_are_checked_before_a_name_is_made(changed, part):
    given = {"label": "A", "team": "NIST", "task": "CLIR", "type": "primary", "sets": ("QUERY1",), "period": "BASE"}
    name = ArchiveName(**(given | {"language": "1A", "dataset": "DEV", "time": datetime(2018, 1, 1)} | changed))
    assert [problem.message.split()[1] for problem in check_name(name)] == [part]
