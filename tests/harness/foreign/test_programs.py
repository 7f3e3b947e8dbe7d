"""Programs as modules: the protocol from `describe` to `predict`, what reaches them, and what is refused (H-12)."""

import json

import numpy as np
import pytest
import scipy.sparse
from tests.harness.foreign.programs import EXAMPLE, LEARNER, around, example_module, script

from basanite.harness.foreign.exchange import escape, hidden_order, layer_faults, read_matrix, write_items, write_matrix
from basanite.harness.foreign.modules import foreign_module
from basanite.harness.foreign.programs import ProgramError, tree_digest
from basanite.harness.steps.layout import ModuleError
from basanite.harness.steps.training import learn_codes

assert around  # the fixture
ROWS = np.random.default_rng(0).normal(size=(40, 5)).round(3)
THREE = {
    "layers": "echo 3",
    "transform": "awk -v OFS='\\t' -v k=$2 '{ for (i = 1; i <= NF; i++) $i = $i * (k + 1); print }' in/features.tsv "
    "> out/features.tsv",
    "fit": "for k in 1 2 3; do mkdir state/layer_$k; wc -l < in/features.tsv > state/layer_$k/weights; done",
}


def test_a_shell_and_awk_program_is_a_preprocessor_a_learner_and_a_classifier(around):
    pre = example_module(around, "preprocessor").make({}, 0)
    pre.fit(ROWS)
    features = pre.transform(ROWS)
    low, high = ROWS.min(axis=0), ROWS.max(axis=0)
    np.testing.assert_allclose(features, (ROWS - low) / (high - low), atol=1e-9)
    learner = example_module(around, "learner").make({"gain": 0.5}, 0)
    learner.fit(features)
    first = learner.transform(features, 1)
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    mixed = standard + np.roll(standard, -1, axis=1) * np.where(np.arange(5) % 2, -1, 1)
    np.testing.assert_allclose(first, np.tanh(0.25 * mixed), atol=1e-9)
    assert (learner.layers, len(learner.states()), learner.shallow().layers) == (3, 3, 1)
    linear = example_module(around, "linear").make({}, 0)
    target = (ROWS[:, 0] > 0).astype(float)
    assert linear.grid() == [{"shrink": 0.01}, {"shrink": 1}]
    linear.fit(features, target, {"shrink": 1})
    means = features[target == 1].mean(axis=0) - features[target == 0].mean(axis=0)
    np.testing.assert_allclose(linear.score(features), features @ (means / (features.var(axis=0) + 1)), atol=1e-9)


def test_a_program_gets_rows_without_labels_ids_or_their_order(around):
    keep = "cp -r in state/seen"
    told = LEARNER.replace("learner", "preprocessor")
    made = script(around, describe=told, fit=keep, transform="cp in/items.tsv out/features.tsv").make({"secret": 1}, 5)
    made.fit(ROWS)
    assert sorted(path.name for path in (made.state / "seen").iterdir()) == ["call.json", "call.tsv", "items.tsv"]
    given = json.loads((made.state / "seen" / "call.json").read_text())
    assert given == {"command": "fit", "role": "preprocessor", "seed": 5, "rows": 40, "parameters": {"secret": 1}}
    seen = np.loadtxt(made.state / "seen" / "items.tsv")
    assert not np.array_equal(seen, ROWS)
    assert sorted(map(tuple, seen)) == sorted(map(tuple, ROWS))
    np.testing.assert_array_equal(made.transform(ROWS), ROWS)
    np.testing.assert_array_equal(seen, ROWS[::-1][hidden_order(ROWS[::-1], 0)])


@pytest.mark.parametrize(
    "rows", [ROWS, scipy.sparse.csr_array(ROWS * (ROWS > 0)), ["b", "a", "c\n"]], ids=["dense", "sparse", "texts"]
)
def test_the_hidden_order_depends_on_content_alone_and_on_the_salt(rows):
    count = len(rows) if isinstance(rows, list) else rows.shape[0]
    order = hidden_order(rows, 1)
    assert sorted(order.tolist()) == list(range(count))
    turned = rows[::-1] if isinstance(rows, list) else rows[np.arange(count)[::-1]]
    np.testing.assert_array_equal(count - 1 - hidden_order(turned, 1), order)
    assert count == 3 or not np.array_equal(order, hidden_order(rows, 2))


def test_a_time_limit_ends_a_program_and_its_output_is_kept(around):
    from dataclasses import replace

    slow = script(around, fit="echo half; echo why >&2; sleep 30")
    made = slow.make({}, 0)
    made.system = replace(made.system, around=replace(around, training_seconds=1.0))
    with pytest.raises(ModuleError, match="time limit of 1 s"):
        made.fit(ROWS)
    (log,) = [path for path in around.logs.iterdir() if "-fit-" in path.name]
    assert (b"half" in log.read_bytes(), b"why" in log.read_bytes()) == (True, True)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ({"fit": "exit 3"}, "exit code 3"),
        ({**THREE, "layers": "echo many"}, "no JSON"),
        ({**THREE, "layers": "echo 2"}, "2 layers where 3 are needed"),
        ({**THREE, "layers": "echo 4"}, "weights of 3 layers and says it has 4"),
        (
            {**THREE, "fit": THREE["fit"] + "; mv state/layer_2/weights state/layer_2/others"},
            "one algorithm for all layers",
        ),
        ({**THREE, "transform": "cp in/features.tsv out/features.tsv"}, "give the same codes"),
        ({**THREE, "transform": "sed s/.*/1/ in/features.tsv > out/features.tsv"}, "the same code for every row"),
        ({**THREE, "transform": "head -n 3 in/features.tsv > out/features.tsv"}, "wrote 3 rows"),
        ({**THREE, "transform": "echo"}, "wrote no out/features.tsv"),
        ({**THREE, "transform": "sed 's/[0-9.-]*$/x/' in/features.tsv > out/features.tsv"}, "holds 'x', no number"),
        ({**THREE, "transform": "ln -s /etc/passwd out/features.tsv"}, "wrote no out/features.tsv"),
    ],
    ids=[
        "fails",
        "no answer",
        "too few",
        "too many",
        "mixed",
        "copies",
        "constant",
        "rows",
        "nothing",
        "words",
        "link",
    ],
)
def test_layers_are_looked_at_and_not_believed(around, commands, message):
    with pytest.raises(ModuleError, match=message):
        script(around, **commands).make({}, 0).fit(ROWS)


def test_a_program_with_three_layers_of_one_kind_is_taken(around):
    made = script(around, **THREE).make({}, 0)
    made.fit(ROWS)
    assert layer_faults(made, ROWS[:5]) == []
    np.testing.assert_allclose(made.transform(ROWS, 2), ROWS * 3)


LEARNS_FROM_BATCH = """awk -v k=$2 '{ for (i = 1; i <= NF; i++) s[i] += $i; r[NR] = $0 } END {
    for (n = 1; n <= NR; n++) { split(r[n], x); l = ""
      for (i = 1; i <= NF; i++) l = l (i > 1 ? "\\t" : "") (x[i] - s[i] / NR) * (k + 1)
      print l } }' in/features.tsv > out/features.tsv"""


def test_a_learner_whose_codes_depend_on_the_other_rows_is_refused(around):
    script(around, **{**THREE, "transform": LEARNS_FROM_BATCH})
    told = {
        "module": "program:small:./system.sh",
        "parameters": {},
        "seed": 0,
        "seen": 30,
        "mode": "deep",
        "layers": [0],
    }
    with pytest.raises(ModuleError, match="nothing may learn during the test"):
        learn_codes({"features": ROWS}, **told)
    script(around, **THREE)
    assert learn_codes({"features": ROWS}, **told)["layers"] == 3


def test_so_is_a_preprocessor_or_classifier_that_answers_by_position(around):
    told = LEARNER.replace("learner", "preprocessor")
    pre = script(
        around, describe=told, fit="true", transform="awk '{ print NR }' in/items.tsv > out/features.tsv"
    ).make({}, 0)
    pre.fit(ROWS)
    with pytest.raises(ModuleError, match="nothing may learn during the test"):
        pre.transform(ROWS)
    told = LEARNER.replace("learner", "linear")
    linear = script(
        around, describe=told, fit="true", predict="awk '{ print NR }' in/features.tsv > out/scores.txt"
    ).make({}, 0)
    linear.fit(ROWS, ROWS[:, 0], {})
    with pytest.raises(ModuleError, match="nothing may learn during the test"):
        linear.score(ROWS)


def test_nothing_a_program_writes_into_its_state_during_the_test_is_kept(around):
    told = LEARNER.replace("learner", "preprocessor")
    line = "echo more >> state/kept 2>/dev/null || true; cp in/items.tsv out/features.tsv"
    made = script(around, describe=told, fit="echo one > state/kept", transform=line).make({}, 0)
    made.fit(ROWS)
    before = tree_digest(made.state)
    made.transform(ROWS)
    assert (tree_digest(made.state), (made.state / "kept").read_text()) == (before, "one\n")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("[]", "one JSON object"),
        ("nothing", "no JSON"),
        ('{"name": "x"}', "`format` is missing; `role` is missing"),
        ('{"format": "basanite-foreign/2", "name": "x", "role": "learner"}', "basanite-foreign/2"),
        ('{"format": "basanite-foreign/1", "name": "x", "role": "judge", "more": 1}', "`more` is unknown; `role` is"),
        ('{"format": "basanite-foreign/1", "name": "x", "role": "learner", "formats": ["pickle"]}', "pickle"),
        ('{"format": "basanite-foreign/1", "name": "x", "role": "learner", "schema": {"type": 3}}', "JSON Schema"),
        (
            '{"format": "basanite-foreign/1", "name": "x", "role": "learner", "schema": {"$ref": "file:/etc"}}',
            "may not use",
        ),
    ],
    ids=["list", "words", "missing", "newer", "unknown", "format", "schema", "reference"],
)
def test_every_mistake_in_a_description_is_told(around, answer, message):
    with pytest.raises(ModuleError) as raised:
        script(around, describe=answer)
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["program:.:./x.sh", "program:..:./x.sh", "program:none:./x.sh", "program:alpha"])
def test_a_program_whose_folder_holds_the_plan_is_refused(around, name):
    with pytest.raises(ProgramError):
        foreign_module(name, around)


@pytest.mark.parametrize("kind", ["tsv", "sparse", "npy"])
def test_a_matrix_comes_back_as_it_went(tmp_path, kind):
    rows = ROWS * (ROWS > 0)
    rows[3] = 0
    write_matrix(tmp_path, "features", scipy.sparse.csr_array(rows) if kind == "sparse" else rows, [kind])
    (tmp_path / "columns.txt").write_text("5\n")
    found = read_matrix(tmp_path, "features", 40, "it")
    np.testing.assert_array_equal(found.toarray() if kind == "sparse" else found, rows)


def test_texts_stand_on_one_line_whatever_is_in_them(tmp_path):
    texts = ["plain", "a\tb\nc\\d\re", "ünïcode \u2028", ""]
    write_items(tmp_path, texts, ["tsv"])
    lines = (tmp_path / "items.txt").read_bytes().decode().split("\n")[:-1]
    assert lines == [escape(text) for text in texts]
    write_items(tmp_path, texts, ["jsonl"])
    assert [json.loads(line) for line in (tmp_path / "items.jsonl").read_bytes().decode().split("\n")[:-1]] == texts


def test_what_a_program_declares_stands_in_its_module(around):
    assert example_module(around, "learner").declares == {"sampling": "none"}


def test_the_hash_of_a_program_covers_every_file_and_its_rights(around):
    example_module(around, "learner")
    folder = around.folder / "alpha"
    seen = {tree_digest(folder)}
    (folder / "weights.bin").write_bytes(b"1")
    seen.add(tree_digest(folder))
    (folder / "weights.bin").write_bytes(b"2")
    seen.add(tree_digest(folder))
    (folder / "weights.bin").chmod(0o755)
    seen.add(tree_digest(folder))
    (folder / "weights.bin").rename(folder / "other.bin")
    seen.add(tree_digest(folder))
    assert len(seen) == 5
    assert EXAMPLE.is_dir()
