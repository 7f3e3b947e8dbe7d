"""Six conditions, eleven runs for two teams, and the contrasts that claims are about."""

from basanite.harness.conditions import CLAIMS, CONDITIONS, runs


def test_two_teams_make_eleven_runs_beside_the_floor_and_any_number_of_teams_is_fine():
    assert len(runs("ns")) == 12
    assert [len(runs("abcde"[:count])) for count in (0, 1, 3)] == [2, 7, 17]
    assert [run.team for run in runs("ns")].count("n") == 5


def test_runs_are_named_by_condition_and_team():
    assert [run.name for run in runs("ns")] == ["0", "1", "2n", "2s", "3n", "3s", "4n", "4s", "5n", "5s", "6n", "6s"]


def test_the_conditions_are_those_of_the_plan():
    assert CONDITIONS[0].title == "FLOOR"
    assert [condition.title for condition in CONDITIONS[1:]] == [
        "FE/SOTA",
        "FE/SLC",
        "PRE/SOTA",
        "PRE/SLC",
        "PRE/SUL/SLC",
        "PRE/DUL/SLC",
    ]
    for condition in CONDITIONS[1:]:
        source, *learner, classifier = condition.title.split("/")
        assert condition.source == {"FE": "features", "PRE": "preprocessor"}[source]
        assert condition.strong == (classifier == "SOTA")
        assert condition.learning == {(): "none", ("SUL",): "shallow", ("DUL",): "deep"}[tuple(learner)]


def test_each_contrast_has_a_hypothesis_and_two_are_headlines():
    assert {(claim.system, claim.against): claim.hypothesis for claim in CLAIMS} == {
        (6, 3): "superior",
        (6, 1): "not inferior",
        (6, 4): "superior",
        (6, 5): "superior",
    }
    assert [(claim.system, claim.against) for claim in CLAIMS if claim.headline] == [(6, 3), (6, 1)]
