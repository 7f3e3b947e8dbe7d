"""The task `reading`: from answers in a file to precision, recall, F and ratios to people, worked out by hand."""

import numpy as np
import pytest
from tests.reading.scored import GOLD, GROWN, SETTLED, lines, package, periods, team

import basanite
from basanite.analysis.paired import IncomparableError
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.reading.task import TASK
from basanite.reading.task_report import verdict

MACHINE = [
    team("a", "jets", kind="inferred"),  # right, whatever kind it claims
    team("b", "Bears", "the club"),  # half of its names: credit 0.5
    periods("a", 4),  # wrong
    periods("b", "04"),  # right: the same number
    periods("c", 9),  # wrong
    team("c", "Lions"),
]
WRONG = team("a", "Vikings", kind="inferred")
HUMAN = [team("a", "Jets"), team("b", "Bears"), team("c", "Lions"), periods("a", 5)]


@pytest.fixture
def root(tmp_path):
    return package(tmp_path / "toy")


def scored(root, tmp_path, answers=MACHINE, human=HUMAN, **settings):
    given = {"human": lines(tmp_path / "human.ndjson", human)} if human else {}
    submission = lines(tmp_path / "Reader.ndjson", answers)
    return basanite.score("reading", reference=root, submission=submission, **given, **settings)


def values(analysis):
    return {name: value.value for name, value in analysis.values.items()}


def table(analysis, title):
    return next(one for one in TASK.figures(analysis) if isinstance(one, Table) and title in one.title)


@pytest.mark.req("R-19")
def test_values_are_those_worked_out_by_hand(root, tmp_path):
    found = values(scored(root, tmp_path, gold="v1"))
    credit, answers, gold = 1 + 0.5 + 1 + 1, 6, 5
    assert found["precision"] == pytest.approx(credit / answers)
    assert found["recall"] == pytest.approx(credit / gold)
    assert found["f"] == pytest.approx(2 * credit / (answers + gold))
    assert found["exact_f"] == pytest.approx(2 * 3 / (answers + gold))
    assert found["human_f"] == pytest.approx(2 * 4 / (4 + gold))
    assert found["pr"] == pytest.approx(found["f"] / found["human_f"])


@pytest.mark.req("X-17")
def test_what_a_system_calls_its_answers_changes_no_value(root, tmp_path):
    honest = values(scored(root, tmp_path))
    lying = [{**answer, "kind": "inferred" if answer["kind"] == "explicit" else "explicit"} for answer in MACHINE]
    assert values(scored(root, tmp_path, lying)) == honest


@pytest.mark.req("X-17")
def test_unmatched_answers_count_against_the_kinds_of_their_querys_gold(root, tmp_path):
    found = values(scored(root, tmp_path, gold="v1"))
    # `periods` has gold of both kinds, so its two wrong answers count against both; `winners` has facts only.
    assert found["precision_inferred"] == pytest.approx(0 / 2)
    assert found["precision_explicit"] == pytest.approx((1 + 0.5 + 1 + 1) / (4 + 2))
    assert found["recall_inferred"] == 0
    shares = {row[0]: row[1:] for row in table(scored(root, tmp_path, gold="v1"), "Kinds claimed").rows}
    assert shares["inferred"] == pytest.approx((1 / 6, 1 / 5))


@pytest.mark.req("X-17")
def test_a_wrong_answer_to_a_query_with_facts_only_does_not_count_against_inferences(root, tmp_path):
    before, after = (values(scored(root, tmp_path, answers, gold="v1")) for answers in (MACHINE, [*MACHINE, WRONG]))
    assert after["precision_explicit"] == pytest.approx((1 + 0.5 + 1 + 1) / (4 + 3))
    assert after["precision_inferred"] == before["precision_inferred"]
    right = [periods("a", 5)]  # the one inference; a wrong winner beside it leaves its precision whole
    assert values(scored(root, tmp_path, [*right, WRONG], gold="v1"))["precision_inferred"] == 1


@pytest.mark.req("R-24")
def test_answers_out_of_scope_of_a_phase_are_neither_right_nor_wrong(root, tmp_path):
    everything = values(scored(root, tmp_path, gold="v1"))
    phase = values(scored(root, tmp_path, gold="v1", phase="1"))
    credit, answers, gold = 1 + 0.5 + 1, 5, 4  # the Lions need what phase 1 does not ask for
    assert phase["precision"] == pytest.approx(credit / answers)
    assert phase["recall"] == pytest.approx(credit / gold)
    assert phase["human_recall"] == pytest.approx(3 / 4)
    assert phase != everything


@pytest.mark.req("R-24", "R-19")
def test_answers_to_a_query_that_a_phase_does_not_ask_are_left_out_and_counted(root, tmp_path):
    path = root / "queries" / "queries.yaml"
    path.write_text(path.read_text().replace("type: count", "type: count\n    capabilities: [temporal]"))
    analysis = scored(root, tmp_path, gold="v1", phase="1")
    found = values(analysis)
    credit, answers, gold = 1 + 0.5, 2, 2  # of the winners, the Lions are out of scope; periods are not asked
    assert (found["precision"], found["recall"]) == (pytest.approx(credit / answers), pytest.approx(credit / gold))
    assert found["human_precision"] == 1
    assert any("3 answers about other queries" in note for note in analysis.notes)


@pytest.mark.req("R-24")
def test_a_phase_has_a_verdict_by_the_interval_of_its_ratio(root, tmp_path):
    assert (verdict(0.2, 0.4, 0.5), verdict(0.5, 0.9, 0.5), verdict(0.4, 0.6, 0.5)) == (
        "not reached",
        "reached",
        "undecided",
    )
    row = table(scored(root, tmp_path, phase="1"), "Verdict of the phase").rows[0]
    assert row[:2] == ("1", 0.5)
    assert row[-1] == "undecided"  # three documents give no interval


@pytest.mark.req("R-17", "S-21")
def test_every_run_is_scored_on_every_version_of_the_gold(root, tmp_path):
    found = table(scored(root, tmp_path), "every version")
    by_version = {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert list(by_version) == ["v1", "v2"]
    assert (by_version["v1"]["Size"], by_version["v2"]["Size"]) == (5, 6)
    assert by_version["v2"]["Recall"] < by_version["v1"]["Recall"]
    assert by_version["v2"]["F"] == values(scored(root, tmp_path))["f"]  # the newest is the default


@pytest.mark.req("S-21")
def test_gold_that_only_this_system_brought_in_can_be_left_out(root, tmp_path):
    answers = [*MACHINE, team("a", "Packers")]
    value = scored(root, tmp_path, answers).values["f"]
    without = value.parts["without_own_gold"]
    assert without == pytest.approx(2 * 4.5 / (7 + 5) - 2 * 1 / (7 + 5))
    assert without < value.value


@pytest.mark.req("S-21")
def test_the_share_of_unmatched_answers_that_nobody_adjudicated_is_told(root, tmp_path):
    value = scored(root, tmp_path).values["f"]
    assert value.parts["unadjudicated_share"] == 1.0
    lines(root / "gold" / "v3.ndjson", SETTLED)
    looked_at = scored(root, tmp_path)
    assert looked_at.values["f"].parts["unadjudicated_share"] == 0.5
    assert any("1 of 2 unmatched" in note for note in looked_at.notes)


@pytest.mark.req("S-21")
def test_runs_adjudicated_to_another_depth_are_not_ranked_together(root, tmp_path):
    lines(root / "gold" / "v3.ndjson", SETTLED)
    one = lines(tmp_path / "One.ndjson", [periods("c", 9)])
    two = lines(tmp_path / "Two.ndjson", [periods("c", 8)])
    with pytest.raises(IncomparableError, match="adjudicated"):
        basanite.compare("reading", reference=root, submissions=[one, two])


@pytest.mark.req("S-21")
def test_intervals_of_ratios_draw_machine_and_human_together(tmp_path):
    names = tuple(f"d{number:02}" for number in range(40))
    gold = [periods(name, number % 7) for number, name in enumerate(names)]
    root = package(tmp_path / "toy", documents=names, versions=(gold,))
    same = gold[:30]
    value = scored(root, tmp_path, same, same).values["pr"]
    # Drawn apart, the ratio of two equal sides would have an interval; drawn together it is 1 in every draw.
    assert value.value == 1.0
    assert (value.low, value.high) == (None, None)
    assert "every draw gives the same value" in value.flags[0]


def test_without_people_ratios_are_undefined_and_the_rest_stands(root, tmp_path):
    analysis = scored(root, tmp_path, human=None)
    assert np.isnan(analysis.values["pr"].value)
    assert "no answers of people" in analysis.values["pr"].flags[0]
    assert analysis.values["f"].value > 0


@pytest.mark.req("R-19")
def test_values_are_given_by_query_and_by_type_of_query(root, tmp_path):
    found = scored(root, tmp_path, gold="v1").breakdowns
    assert found["query"]["winners"]["f"].value == pytest.approx(2 * 2.5 / (3 + 3))
    assert found["type"]["count"]["f"].value == pytest.approx(2 * 1 / (3 + 2))
    assert {"property", "count"} == set(found["type"])


@pytest.mark.req("R-19")
def test_values_are_given_for_every_document(root, tmp_path):
    found = table(scored(root, tmp_path, gold="v1"), "Every document")
    by_document = {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert list(by_document) == ["a", "b", "c"]
    assert by_document["b"]["F"] == pytest.approx(2 * 1.5 / (2 + 2))
    assert by_document["b"]["PR"] == pytest.approx((2 * 1.5 / 4) / (2 * 1 / 3))


BAD = {
    "an unknown query": ({**GOLD[0], "query": "losers"}, "no query is called 'losers'"),
    "an unknown document": ({**GOLD[0], "document": "z"}, "no document is called 'z'"),
    "a kind of its own": ({**GOLD[0], "kind": "guess"}, "the kind 'guess' is not known"),
    "other variables": ({**GOLD[0], "answer": {"?X": ["Jets"]}}, "other variables than the query"),
    "no names": ({**GOLD[0], "answer": {"?T": []}}, "no names for an entity"),
    "an object for a literal": ({**GOLD[2], "answer": {"?N": {"a": 1}}}, "neither names nor a literal"),
    "no list of provenance": ({**GOLD[0], "provenance": "line 3"}, "provenance is not a list"),
    "no answer": ({"query": "winners", "document": "a"}, "other variables than the query"),
}


@pytest.mark.req("R-19", case="bad")
@pytest.mark.parametrize(("record", "said"), BAD.values(), ids=BAD)
def test_a_bad_answer_is_named_with_its_line_and_its_cure(root, tmp_path, record, said):
    with pytest.raises(InvalidInputError) as caught:
        scored(root, tmp_path, [GOLD[1], record])
    (problem,) = caught.value.findings.problems
    assert (problem.line, problem.file) == (2, "Reader.ndjson")
    assert said in problem.message
    assert problem.fix


@pytest.mark.req("R-17", case="bad")
def test_a_bad_gold_answer_is_a_problem_of_the_reference(root, tmp_path):
    lines(root / "gold" / "v2.ndjson", [{**GROWN[0], "verdict": "perhaps"}])
    with pytest.raises(InvalidInputError) as caught:
        scored(root, tmp_path)
    assert caught.value.findings.problems[0].where == "reference"


def test_the_same_answer_twice_is_warned_of_and_hurts_precision(root, tmp_path):
    once, twice = (scored(root, tmp_path, [MACHINE[0]] * times) for times in (1, 2))
    assert twice.scores.warnings[0].message == "the same answer as on line 1"
    assert twice.values["precision"].value == once.values["precision"].value / 2


def test_an_unknown_version_phase_or_part_is_answered_with_those_there_are(root, tmp_path):
    for name, value in (("gold", "v9"), ("phase", "7"), ("part", "tset")):
        with pytest.raises(SettingError, match=value):
            scored(root, tmp_path, **{name: value})
