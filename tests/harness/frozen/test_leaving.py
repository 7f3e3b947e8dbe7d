"""What leaves the house and comes back: sets for teams, bundles, signed results; and systems that teams trained."""

import json
import shutil

import numpy as np
import pytest
from tests.cli.running import HARNESS, here
from tests.harness.foreign.programs import EXAMPLE, around
from tests.harness.plans import ALPHA, DIGITS, HEAD, HERE, written

from basanite.harness.evaluation import ready
from basanite.harness.frozen.export import observe_access
from basanite.harness.frozen.facts import declaration, trained_faults
from basanite.harness.frozen.signatures import faults
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.running import run_plan

assert around  # the fixture


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "plans"
    shutil.copytree(HARNESS, copy)
    return copy


@pytest.mark.req("H-29")
@pytest.mark.req("A26")
def test_sets_for_teams_hold_labels_of_training_rows_and_none_of_test(folder):
    ended = here("harness", "export", folder / "quick.toml", "--out", folder / "sets", "--json")
    assert (ended.code, ended.data["sets"]) == (0, ["a/digits/shared"])
    place = folder / "sets" / "a" / "digits" / "shared"
    evaluation = ready(folder / "quick.toml")
    split = evaluation.partitions["digits"]["shared"]
    for number, rows in enumerate(split.folds, start=1):
        assert np.load(place / "features" / f"fold_{number:02}.npy").shape[0] == len(rows)
        labels = np.load(place / "labels" / "3" / f"fold_{number:02}.npy")
        np.testing.assert_array_equal(labels, evaluation.data["digits"].targets["3"][rows])
    test = np.load(place / "features" / "test.npy")
    given = evaluation.data["digits"].items[split.test]
    assert test.shape[0] == len(split.test)
    assert not np.array_equal(test, given)
    assert sorted(path.name for path in (place / "labels").rglob("*test*")) == []
    truth = evaluation.data["digits"].targets["3"][split.test]
    found = [np.load(path) for path in (folder / "sets").rglob("*.npy")]
    assert not [array for array in found if array.shape == truth.shape and np.array_equal(array, truth)]


@pytest.mark.req("H-29")
def test_sealed_sets_are_not_written_before_the_evaluation_begins(folder):
    released = folder / "released.toml"
    assert here("harness", "export", released, "--out", folder / "x").code == 2
    assert here("harness", "bundle", released, "--team", "a", "--out", folder / "y", "--key", folder / "k").code == 2
    assert not (folder / "x").exists()
    assert not (folder / "y").exists()


def test_files_that_a_preprocessor_opens_are_listed_and_undeclared_ones_flagged(around, tmp_path):
    evaluation = ready(written(tmp_path, HEAD + DIGITS + ALPHA))
    choice = ModuleChoice("tests.harness.frozen.reading_module:READS", {})
    seen = observe_access(evaluation, "digits", choice)
    assert seen.outside == ("/etc/hostname", "/srv/outside.csv")
    (tmp_path / "declared.txt").write_text("words")
    declared = observe_access(evaluation, "digits", ModuleChoice("tests.harness.frozen.reading_module:DECLARES", {}))
    assert list(declared.declared) == [str(tmp_path / "declared.txt")]
    assert declared.outside == ()


@pytest.mark.req("H-35")
def test_a_bundle_runs_elsewhere_and_its_signed_result_is_accepted(folder, tmp_path):
    plan, site = folder / "returned.toml", tmp_path / "site"
    beta = '\n[[teams]]\nletter = "b"\nname = "Beta"\n[teams.systems.digits]\npreprocessor = "pixels"\n'
    plan.write_text(plan.read_text() + beta)
    assert here("harness", "bundle", plan, "--team", "a", "--out", site, "--key", tmp_path / "a.key").code == 0
    assert "Beta" not in "".join(path.read_text() for path in site.iterdir())
    assert here("harness", "run", site / "returned.toml", "--out", site / "result").code == 0
    result = site / "result"
    check = ("harness", "verify", result, "--key", tmp_path / "a.key", "--plan", plan)
    assert here(*check).code == 1  # not signed
    assert here("harness", "sign", result, "--key", site / "signing.key").code == 0
    ended = here(*check, "--json")
    assert (ended.code, ended.data) == (
        0,
        {"accepted": True, "checked": {"plan": True, "signature": True}, "faults": []},
    )


@pytest.mark.req("H-35")
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda f: (f / "scores.jsonl").write_text((f / "scores.jsonl").read_text().replace("0.", "0.9", 1)),
            "changed after",
        ),
        (lambda f: (f / "extra").write_text("x"), "added after signing"),
        (lambda f: (f / "status.json").unlink(), "is missing"),
        (lambda f: (f / "signature.json").unlink(), "not signed"),
        (lambda f: (f / "signature.json").write_text("[]"), "not signed"),
        (
            lambda f: (f / "signature.json").write_text(
                (f / "signature.json").read_text().replace("sha256:", "sha256:0", 1)
            ),
            "not by this key",
        ),
        (
            lambda f: np.save(f / "predictions/digits/2a/3.npy", np.array([{}], object), allow_pickle=True),
            "cannot be read",
        ),
        (lambda f: np.save(f / "predictions/digits/2a/3.npy", np.zeros((2, 3))), "finite numbers"),
    ],
    ids=["score", "added", "missing", "unsigned", "list", "forged", "pickle", "shape"],
)
def test_a_result_that_was_changed_is_not_accepted(folder, spoil, message):
    result = folder / "returned"
    spoil(result)
    ended = here("harness", "verify", result, "--key", folder / "returned.key", "--plan", folder / "returned.toml")
    assert (ended.code, message in ended.stdout) == (1, True), ended.stdout


def test_scores_are_made_again_and_links_are_not_followed(folder):
    result = folder / "returned"
    assert faults(result) == []
    text = (result / "scores.jsonl").read_text()
    value = json.loads(text.splitlines()[0])["value"]
    (result / "scores.jsonl").write_text(text.replace(str(value), "0.123", 1))
    assert [fault for fault in faults(result) if "0.123" in fault]
    (result / "scores.jsonl").write_text(text)
    kept = result / "predictions" / "digits" / "2a" / "3.npy"
    kept.rename(folder / "elsewhere.npy")
    kept.symlink_to(folder / "elsewhere.npy")
    assert [fault for fault in faults(result) if "link" in fault]


@pytest.mark.req("H-35")
def test_a_result_of_another_plan_is_not_accepted(folder):
    text = (folder / "returned.toml").read_text()
    for old, new, message in (
        ("seed = 1", "seed = 2", "other partitions"),
        ("folds = 2", "folds = 3", "other tasks"),
        ('"pixels"\nlinear', '"scaled"\nlinear', "another system"),
    ):
        (folder / "returned.toml").write_text(text.replace(old, new))
        ended = here("harness", "verify", folder / "returned", "--plan", folder / "returned.toml")
        assert (ended.code, message in ended.stdout) == (1, True), ended.stdout


PLAN = HEAD + DIGITS.replace('"0", "8"', '"0"').replace("n = 300", "n = 60").replace("folds = 3", "folds = 2")
TRAINED = """
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.digits]
preprocessor = "scaled"
learner = { folder = "alpha", program = ["./system.sh", "learner"] }
linear = "logistic-labels"
trained = "trained"
"""


@pytest.fixture
def trained(around, tmp_path):
    """A plan whose team brings a state that it trained, with the declaration that fits."""
    shutil.copytree(EXAMPLE / "alpha", tmp_path / "alpha")
    plan = written(tmp_path, PLAN + TRAINED + "use_trained = true\n")
    folder = tmp_path / "trained" / "digits" / "shared"
    state = folder / "state"
    state.mkdir(parents=True)
    for layer in (1, 2, 3):
        (state / f"layer_{layer}").mkdir()
        (state / f"layer_{layer}" / "moments").write_text(f"0.{layer}\t1\n" * 64)
    (state / "gain").write_text("1\n")
    (state / "layers").write_text("3\n")
    declare(plan, folder)
    return plan, folder


def declare(plan, folder, **other):
    told = declaration(ready(plan), "digits", "shared", folder / "state", seed=4)
    (folder / "declaration.json").write_text(json.dumps({**told, **other}))


@pytest.mark.slow
def test_a_system_that_its_team_trained_stands_in_and_the_run_says_so(trained):
    plan, _ = trained
    result = run_plan(ready(plan), plan.parent / "out", only=["6a"])
    _, status = result.status()  # after the floor
    assert (status.state, status.flags) == ("done", ("trained by team",)), status
    (told,) = result.manifest["trained"]
    assert (told["declared"]["seed"], told["used"], told["faults"]) == (4, "always", [])
    assert result.manifest["one_code"]["a"]["one_learner"]


@pytest.mark.parametrize("key", ["data", "partition", "protocol", "state", "task", "format", "seed"])
def test_a_declaration_that_does_not_fit_the_partitions_is_shown_and_the_run_left_out(trained, key):
    plan, folder = trained
    declare(plan, folder, **{key: "another"})
    evaluation = ready(plan)
    system = evaluation.plan.teams[0].systems["digits"]
    assert len(trained_faults(evaluation, "digits", "shared", system)) == 1


@pytest.mark.slow
def test_it_also_stands_in_when_training_takes_too_long(trained):
    plan, folder = trained
    script = plan.parent / "alpha" / "system.sh"
    script.write_text(script.read_text().replace("learner-fit) learn 3 ;;", "learner-fit) sleep 30 ;;"))
    plan.write_text(PLAN + TRAINED + "\n[limits]\ntraining_seconds = 1\n")
    declare(plan, folder)
    result = run_plan(ready(plan), plan.parent / "out", only=["6a"])
    assert [(status.state, status.flags) for status in result.status() if status.run == "6a"] == [
        ("done", ("trained by team",))
    ]
    declare(plan, folder, seed="none")
    again = run_plan(ready(plan), plan.parent / "again", only=["6a"])
    assert [status.state for status in again.status() if status.run == "6a"] == ["not applicable"]


def test_the_manifest_says_whether_one_code_serves_all_tasks(tmp_path):
    from basanite.harness.frozen.facts import one_code

    two = DIGITS.replace("tasks.digits", "tasks.more")
    text = HEAD + DIGITS + two + ALPHA + '[teams.systems.more]\nlearner = "LEARNER"\n'
    same = ready(written(tmp_path, text.replace("LEARNER", f"{HERE}:COMPONENTS"))).plan
    assert (one_code(same)["a"]["one_learner"], one_code(same)["a"]["tasks"]) == (True, 2)
    other = ready(written(tmp_path, text.replace("LEARNER", "msda"))).plan
    assert not one_code(other)["a"]["one_learner"]
    assert one_code(other)["a"]["hashes"]["learner"].keys() == {"digits", "more"}
