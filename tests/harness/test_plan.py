"""A plan is read with all its problems at once, each with its line, and two spellings of one plan are one plan."""

import json

import pytest
from tests.harness.plans import ALPHA, BETA, DIGITS, HEAD, HERE, REVIEWS, written

from basanite.errors import InvalidInputError
from basanite.formats.toml_file import entry_lines
from basanite.harness.modules.catalogue import find_module
from basanite.harness.plan_file import load_plan, read_plan


def problems(tmp_path, text):
    return [(problem.line, problem.message, problem.fix) for problem in read_plan(written(tmp_path, text))[1]]


def at(text, part):
    """The line on which some words first stand."""
    return text[: text.index(part)].count("\n") + 1


def test_the_numbers_of_the_protocol_are_the_plans_unless_somebody_says_otherwise(tmp_path):
    text = HEAD + f'[tasks.t]\ndata = "diabetes"\nmetric = "mrmse"\nfeatures = "{HERE}:SCALED"\n'
    plan = load_plan(written(tmp_path, text))
    task = plan.tasks["t"]
    assert (task.folds, task.train_share, task.n, plan.replications) == (10, 0.7, 10_000, 1)
    assert (task.shared_split, task.validation_cap, task.shuffle_seed, task.group_by) == (False, None, None, "")


def test_each_task_has_its_own_number_of_folds(tmp_path):
    plan = load_plan(written(tmp_path, HEAD + DIGITS + REVIEWS.replace("folds = 3", "folds = 4")))
    assert {name: task.folds for name, task in plan.tasks.items()} == {"digits": 3, "reviews": 4}


def test_columns_to_predict_are_called_targets_and_nothing_else(tmp_path):
    assert load_plan(written(tmp_path)).canonical()["tasks"]["digits"]["targets"] == ["0", "8"]
    text = HEAD + DIGITS.replace("targets", "target")
    found = problems(tmp_path, text)
    assert found == [(at(text, "target ="), "tasks.digits has an unknown key `target`", "Did you mean 'targets'?")]


def test_a_plan_without_claims_has_the_four_contrasts_and_may_declare_others(tmp_path):
    claims = load_plan(written(tmp_path)).claims
    assert [(claim.system, claim.against, claim.hypothesis, claim.headline) for claim in claims] == [
        (6, 3, "superior", True),
        (6, 1, "not inferior", True),
        (6, 4, "superior", False),
        (6, 5, "superior", False),
    ]
    own = '\n[[claims]]\nname = "shallow"\nsentence = "One layer is enough."\nsystem = 5\nagainst = 4\n'
    assert [claim.name for claim in load_plan(written(tmp_path, HEAD + DIGITS + ALPHA + own)).claims] == ["shallow"]


def test_every_problem_is_found_at_its_line(tmp_path):
    text = HEAD.replace("seed = 7", "sed = 7") + DIGITS.replace("n = 300", "n = 0.5").replace("folds = 3", "folds = 1")
    text = text.replace("map11", "map12").replace('"0", "8"', '"0", "0"')
    found = problems(tmp_path, text)
    assert [(line, message) for line, message, _ in found] == [
        (at(text, "sed ="), "the plan has an unknown key `sed`"),
        (at(text, "metric ="), "`metric` of tasks.digits is unknown"),
        (at(text, "targets ="), "`targets` of tasks.digits names something twice"),
        (at(text, "n = 0"), "`n` of tasks.digits is not a whole number from 2 on"),
        (at(text, "folds ="), "`folds` of tasks.digits is not a whole number from 2 to 99"),
        (None, "the plan has no seed"),
    ]
    assert found[0][2] == "Did you mean 'seed'?"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            f'learner = "{HERE}:COMPONENTS"',
            f'learner = "{HERE}:RIDGE"',
            "ridge is a linear module and stands as `learner`",
        ),
        (
            f'linear = "{HERE}:RIDGE"',
            f'linear = "{HERE}:STRONG"',
            "strong-ridge is a strong module and stands as `linear`",
        ),
        (f'linear = "{HERE}:RIDGE"', 'linear = "rodge"', "No module is called 'rodge'"),
        (f'linear = "{HERE}:RIDGE"', 'linear = "nowhere:RIDGE"', "there is no module 'nowhere'"),
        (f'linear = "{HERE}:RIDGE"', f'linear = "{HERE}:Ridge"', "is not a harness module but a type"),
    ],
    ids=["role", "strong as linear", "unknown", "not importable", "no module"],
)
def test_a_module_that_is_missing_or_in_the_wrong_place_is_reported(tmp_path, old, new, message):
    text = HEAD + DIGITS + ALPHA.replace(old, new)
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert message in found[0][1]
    assert found[0][0] == at(text, new)


def test_the_six_roles_have_their_places(tmp_path):
    plan = load_plan(written(tmp_path))
    task, system = plan.tasks["digits"], plan.teams[0].systems["digits"]
    parts = (task.features, task.strong, system.preprocessor, system.linear, system.learner)
    assert [find_module(part.module).role for part in parts] == [
        "preprocessor",
        "strong",
        "preprocessor",
        "linear",
        "learner",
    ]


def test_parameters_that_a_module_does_not_permit_are_refused(tmp_path):
    found = problems(tmp_path, HEAD + DIGITS + ALPHA + BETA.replace("units = 20", "layers = 2"))
    assert [message for _, message, _ in found] == [
        "separate does not permit these parameters: Additional properties are not allowed ('layers' was unexpected)"
    ]
    assert found[0][2] == "it permits log, units, pause"


@pytest.mark.parametrize("name", ["beta.toml", "beta.json"])
def test_parameters_may_come_from_a_file(tmp_path, name):
    (tmp_path / "beta.toml").write_text("units = 33\n")
    (tmp_path / "beta.json").write_text(json.dumps({"units": 33}))
    text = HEAD + DIGITS + BETA.replace("parameters = { units = 20 }", f'parameters_file = "{name}"')
    assert load_plan(written(tmp_path, text)).teams[0].systems["digits"].learner.parameters == {"units": 33}


@pytest.mark.parametrize("content", [b"units = [", b"\xff\xfe", b"7"], ids=["syntax", "bytes", "no table"])
def test_a_broken_file_of_parameters_is_a_problem_of_the_plan(tmp_path, content):
    (tmp_path / "beta.json").write_bytes(content)
    text = HEAD + DIGITS + BETA.replace("parameters = { units = 20 }", 'parameters_file = "beta.json"')
    assert [line for line, *_ in problems(tmp_path, text)] == [at(text, "learner =")]


def test_two_teams_with_one_letter_are_refused(tmp_path):
    text = HEAD + DIGITS + ALPHA + BETA.replace('letter = "b"', 'letter  = "a"')
    found = problems(tmp_path, text)
    assert found[0][:2] == (at(text, "letter  ="), "two teams have the letter 'a'")


def test_a_typed_in_seed_cannot_be_called_sealed(tmp_path):
    found = problems(tmp_path, HEAD + 'seal = "s.seal"\n' + DIGITS + ALPHA)
    assert found[0][:2] == (4, "the plan has a typed-in seed and a seal")


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"format = \n", 1),
        (b'name = "x"\n', None),
        (b'format = "basanite-plan/2"\n', None),
        (b"\xff\xfe\x00", None),
        (b"a = " + b"[" * 5000 + b"]" * 5000, None),
        (b"", None),
    ],
    ids=["syntax", "no format", "newer", "bytes", "deep", "empty"],
)
def test_what_is_no_plan_is_told_and_never_crashes(tmp_path, raw, line):
    path = tmp_path / "plan.toml"
    path.write_bytes(raw)
    plan, findings = read_plan(path)
    assert plan is None
    assert [problem.line for problem in findings] == [line]


@pytest.mark.parametrize(
    "text",
    [
        "tasks = 3\n",
        'teams = "x"\n',
        "[tasks]\nd = 4\n",
        "[tasks.d]\ndata = 3\nmetric = 4\nrange = [5, 1]\nmargin = -1\nshared_split = 1\nfeatures = 7\n",
        "[[teams]]\nletter = 'A'\nsystems = 3\n",
        "[[claims]]\nname = '../x'\nsystem = 9\n",
        "[analysis]\ncurves = [1, 0]\ndraws = 1\n[limits]\nstep_seconds = nan\n",
        "[tasks.d.data]\nreader = 'reviews'\nrows = 'many'\n",
    ],
)
def test_odd_entries_are_problems_and_never_crash(tmp_path, text):
    _, findings = read_plan(written(tmp_path, HEAD + text))
    assert findings.rejected


def test_two_spellings_of_a_plan_are_one_plan(tmp_path):
    one = load_plan(written(tmp_path)).digest()
    spelt = HEAD + DIGITS.replace('data = "digits"', 'data = { reader = "digits" }')
    two = load_plan(written(tmp_path, "# a remark\n" + spelt + ALPHA + BETA)).digest()
    assert one == two
    assert load_plan(written(tmp_path, HEAD.replace("7", "8") + DIGITS + ALPHA + BETA)).digest() != one


def test_lines_are_found_through_arrays_quotes_and_long_texts():
    text = 'a = """\nb = 1\n"""\n["t x".y]\nc = 1\n[[teams]]\n[teams.systems.d]\nlinear = "x"\n[[teams]]\n'
    assert entry_lines(text) == {
        ("a",): 1,
        ("t x", "y"): 4,
        ("t x", "y", "c"): 5,
        ("teams", 0): 6,
        ("teams", 0, "systems", "d"): 7,
        ("teams", 0, "systems", "d", "linear"): 8,
        ("teams", 1): 9,
    }


def test_an_invalid_plan_is_one_error_with_all_problems(tmp_path):
    with pytest.raises(InvalidInputError) as caught:
        load_plan(written(tmp_path, HEAD + DIGITS.replace("folds = 3", "folds = 1").replace("n = 300", "n = -1")))
    assert caught.value.findings.counts.total() == 2
