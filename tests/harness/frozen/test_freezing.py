"""Two freezes, a signed log of changes, and what is refused until the evaluation team has signed (H-11, A36)."""

import json
import shutil

import pytest
from tests.cli.running import HARNESS, here

from basanite.harness.evaluation import ready
from basanite.harness.frozen.freeze import (
    FrozenError,
    LogError,
    check_frozen,
    differences,
    log_of,
    read_log,
    schema_faults,
)
from basanite.harness.frozen.signatures import BadKeyError, SigningKey, digest, read_key, write_key
from basanite.harness.plan_file import read_plan

SIGN = ("--signer", "Eve", "--reason", "because")


@pytest.fixture
def plan(tmp_path):
    """The example with a log, in a folder of its own."""
    for name in ("frozen.toml", "alpha.toml"):
        shutil.copy(HARNESS / name, tmp_path / name)
    shutil.copytree(HARNESS / "alpha-dossier", tmp_path / "alpha-dossier")
    return tmp_path / "frozen.toml"


def frozen(plan, *words):
    return here("harness", "freeze", plan, *words)


@pytest.mark.req("H-11")
@pytest.mark.req("A36")
def test_code_is_frozen_first_and_parameters_at_the_start(plan):
    evaluation = ready(plan)
    with pytest.raises(FrozenError, match="a/digits/learner was never frozen"):
        check_frozen(evaluation)
    assert frozen(plan, *SIGN).code == 0
    check_frozen(evaluation)
    (plan.parent / "alpha.toml").write_text("units = 60\nnoise = 0.5\n")
    check_frozen(ready(plan))  # parameters may still change
    assert frozen(plan, "--start", *SIGN).code == 0
    check_frozen(ready(plan))
    (plan.parent / "alpha.toml").write_text("units = 61\nnoise = 0.5\n")
    with pytest.raises(FrozenError, match="the parameters of a/digits/learner differ"):
        check_frozen(ready(plan))
    ended = here("harness", "run", plan)
    assert (ended.code, "does not run" in ended.stderr) == (2, True)
    assert frozen(plan).code == 1
    assert frozen(plan, "--change", "--signer", "Eve").code == 2  # no reason
    assert frozen(plan, "--change", "--signer", "Eve", "--reason", "a typing error of ours").code == 0
    check_frozen(ready(plan))
    entries = [json.loads(line) for line in (plan.parent / "freeze.jsonl").read_text().splitlines()]
    assert [entry["kind"] for entry in entries] == ["code", "start", "change"]
    assert entries[2]["reason"] == "a typing error of ours"
    assert entries[0]["frozen"]["a/digits/learner"]["schema"]["additionalProperties"] is False


@pytest.mark.req("H-11")
@pytest.mark.req("X-5")
def test_another_code_or_other_packages_are_noticed(plan):
    frozen(plan, *SIGN)
    log = log_of(read_plan(plan)[0], plan.parent)
    found, changed = read_plan(plan)[0], dict(log.now())
    for key, message in (
        ("code", "the code of a/digits/linear"),
        ("environment", "the installed packages for a/digits"),
    ):
        wrong = {**changed["a/digits/linear"], key: "sha256:0"}
        entries = (*log.entries, type(log.entries[0])(2, "change", "x", "y", {"a/digits/linear": wrong}))
        assert any(fault.startswith(message) for fault in differences(found, type(log)(entries)))
    assert differences(found, log) == []


@pytest.mark.req("A36")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[1:],
        lambda lines: [lines[0].replace("because", "why not"), *lines[1:]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:-1], lines[-1].replace("because", "hm")],
        lambda lines: [*lines, "{}"],
        lambda lines: [*lines, "nothing"],
    ],
    ids=["cut off", "changed", "twice", "last changed", "no entry", "no JSON"],
)
def test_a_log_that_was_tampered_with_is_not_trusted(plan, spoil):
    frozen(plan, *SIGN)
    frozen(plan, "--start", *SIGN)
    path = plan.parent / "freeze.jsonl"
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    with pytest.raises(LogError):
        check_frozen(ready(plan))


@pytest.mark.req("A36")
def test_an_entry_without_the_evaluation_teams_key_does_not_count(plan):
    frozen(plan, *SIGN)
    path, key = plan.parent / "freeze.jsonl", read_key(plan.parent / "freeze.key")
    assert len(read_log(path, key).entries) == 1
    with pytest.raises(LogError, match="has not signed"):
        read_log(path, SigningKey.generate())
    assert not read_log(path, None).checked
    (plan.parent / "other.key").write_text("{}")
    assert frozen(plan, "--change", *SIGN, "--key", plan.parent / "other.key").code == 2
    assert frozen(plan, *SIGN).code == 2  # frozen already: only a change
    assert frozen(plan, "--start", "--change", *SIGN).code == 2


def test_a_key_is_secret_never_replaced_and_must_be_one(tmp_path):
    write_key(tmp_path / "a.key", SigningKey.generate())
    assert (tmp_path / "a.key").stat().st_mode & 0o077 == 0
    with pytest.raises(BadKeyError, match="never replaced"):
        write_key(tmp_path / "a.key", SigningKey.generate())
    for text in ("", "[]", '{"format": "basanite-key/1", "secret": "00"}', '{"format": "basanite-key/1", "secret": 3}'):
        (tmp_path / "b.key").write_text(text)
        with pytest.raises(BadKeyError):
            read_key(tmp_path / "b.key")


@pytest.mark.parametrize(
    "name", ["layers", "n_layers", "architecture", "model", "network_kind", "hidden_layers", "depth"]
)
def test_a_parameter_that_selects_the_architecture_is_refused(name):
    schema = {"type": "object", "properties": {name: {}, "rate": {}}, "additionalProperties": False}
    assert schema_faults("a/t/learner", schema) == [f"a/t/learner: the parameter `{name}` selects the architecture"]


def test_so_is_one_that_says_so_itself_and_a_schema_that_permits_anything():
    marked = {"properties": {"x": {"selects": "architecture"}}, "additionalProperties": False}
    assert len(schema_faults("a", marked)) == 1
    assert len(schema_faults("a", {"properties": {"rate": {}}})) == 1
    assert schema_faults("a", {"properties": {"rate": {}, "units": {}}, "additionalProperties": False}) == []
    assert len(schema_faults("a", {"patternProperties": {".*": {}}, "additionalProperties": False})) == 1


def test_the_hash_of_parameters_does_not_depend_on_how_they_are_written(plan):
    before = digest(ready(plan).plan.teams[0].systems["digits"].learner.parameters)
    text = (plan.parent / "alpha.toml").read_text().splitlines()
    (plan.parent / "alpha.toml").write_text("# a comment\n" + "\n".join(reversed(text)) + "\n")
    assert digest(ready(plan).plan.teams[0].systems["digits"].learner.parameters) == before


@pytest.mark.req("H-30")
def test_what_a_dossier_lacks_is_listed_and_stands_in_the_manifest(plan):
    told = frozen(plan, *SIGN, "--json").data["dossiers"]["a/digits"]
    assert (told["missing"], len(told["found"])) == ({}, 8)
    (plan.parent / "alpha-dossier" / "architecture.svg").unlink()
    (plan.parent / "alpha-dossier" / "pseudocode.md").write_text("```\nx = 1\n```\n")
    (plan.parent / "alpha-dossier" / "build.md").write_text("make")
    shutil.rmtree(plan.parent / "alpha-dossier" / "example")
    ended = frozen(plan)
    lacks = ended.stderr.partition("lacks: ")[2].strip()
    assert lacks == "build instructions, architecture figure, pseudocode in prose, worked example"


def test_a_second_system_of_a_team_is_refused(plan):
    text = plan.read_text()
    again = text[text.index("[[teams]]") :]
    for other in (again, again.replace('"a"', '"b"'), again.replace('"a"', '"b"').replace("Alpha", "  ALPHA ")):
        plan.write_text(text + other)
        assert [problem for problem in read_plan(plan)[1] if "H-32" in problem.rule + problem.fix]
    plan.write_text(text + again.replace('"a"', '"b"').replace("Alpha", "Beta"))
    assert read_plan(plan)[1].valid
