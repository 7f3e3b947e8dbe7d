"""What `basanite harness analyse --plan` adds: curves, layers, what training changed, invariance; and deep learners."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics
from tests.cli.running import HARNESS, here
from tests.doors.harness_probes import first_weights
from tests.doors.harness_results import HEAD, average_precision, run_plan
from tests.harness.plans import write_csv
from tests.harness.small_modules import Components, Ridge

PROBES = "tests.doors.harness_probes"
SMALL = "tests.harness.small_modules"
TASK = """
[tasks.clips]
data = { reader = "table", path = "clips.csv" }
targets = ["Eat", "Run"]
metric = "map11"
n = 100
folds = 5
"""
ASKED = """
[analysis]
curves = [0.0, 0.3, 1.0]
labelled_curves = [0.5, 1.0]
layers = true
measures = true
invariance = true
"""


def table():
    """Rows of a number and eight columns, some of which tell the labels."""
    dice = np.random.default_rng(8)
    labels = dice.random((240, 2)) < (0.35, 0.5)
    items = dice.normal(size=(240, 8)) + 1.5 * labels @ dice.normal(size=(2, 8))
    return np.column_stack([np.arange(240), items.round(4)]), labels.astype(float)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run whose learner writes down what it learns from, and its analysis with everything that may be asked for."""
    folder = tmp_path_factory.mktemp("layers")
    items, labels = table()
    names = ["row", *(f"x{at}" for at in range(8))]
    write_csv(
        folder / "clips.csv",
        [
            {**dict(zip(names, map(repr, map(float, row)), strict=True)), "Eat": str(int(eat)), "Run": str(int(run))}
            for row, (eat, run) in zip(items, labels, strict=True)
        ],
    )
    log = f'parameters = {{ log = "{folder / "log"}" }}'
    text = f"""
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.clips]
preprocessor = {{ module = "{PROBES}:WATCHING", {log} }}
learner = {{ module = "{PROBES}:LEARNING", {log} }}
linear = {{ module = "{PROBES}:CLASSIFYING", {log} }}
[[teams]]
letter = "b"
name = "Beta"
[teams.systems.clips]
preprocessor = {{ module = "{PROBES}:WATCHING", {log} }}
learner = "{SMALL}:COMPONENTS"
linear = "{SMALL}:MANY"
"""
    return run_plan(folder, HEAD + TASK + text + ASKED)


@pytest.fixture(scope="module")
def told(made):
    (made.path.parent / "log").unlink()
    ended = here("harness", "analyse", made.path, "--plan", made.path.parent / "plan.toml", "--draws", "200", "--json")
    assert ended.code == 0, ended.stderr
    return ended.data


def log_of(made, what):
    lines = (json.loads(line) for line in (made.path.parent / "log").read_text("utf-8").splitlines())
    return [line for line in lines if line["what"].startswith(what)]


def features_of(made):
    items, labels = table()
    mean = items[made.seen("clips")].mean(axis=0) * (np.arange(9) > 0)
    return items - mean, labels


def weights_of(rows):
    """The weights of the three layers, learned from these rows of features."""
    learner = Components({"units": 3})
    learner.fit(rows[:, 1:])
    return learner.weights


def coded(weights, rows, layer):
    """The codes of one layer: the number of the row, three units, and a dead one."""
    found = rows[:, 1:]
    for one in weights[:layer]:
        found = np.tanh(found @ one.T)
    return np.column_stack([rows[:, 0], found, np.zeros(len(rows))])


def scored(made, codes, labels):
    """The mean over targets and folds of the value of a classifier that is trained on each fold of these codes."""
    values, test = [], made.split("clips")["test"]
    for at in range(2):
        for fold in made.folds("clips"):
            rest, best = np.setdiff1d(made.seen("clips"), fold), None
            for point in Ridge.points:
                model = Ridge({})
                model.fit(codes[fold][:, 1:], labels[fold, at], point)
                value = average_precision(labels[rest, at], model.score(codes[rest][:, 1:]))
                if best is None or value > best[0]:
                    best = (value, model.score(codes[test][:, 1:]))
            values.append(average_precision(labels[test, at], best[1]))
    return float(np.mean(values))


@pytest.mark.req("A38", "H-25")
def test_a_learning_curve_goes_from_random_weights_to_all_rows_in_nested_stratified_shares(made, told):
    points = told["extras"]["clips"]["unlabelled_curves"]["a"]
    features, labels = features_of(made)
    seen = made.seen("clips")
    assert [point["share"] for point in points] == [0.0, 0.3, 1.0]
    assert [point["rows"] for point in points] == [0, round(0.3 * len(seen)), len(seen)]
    some = next(line["rows"] for line in log_of(made, "learn 3") if len(line["rows"]) < len(seen))
    assert set(some) < set(seen.tolist())
    first = np.where(labels.any(axis=1), labels.argmax(axis=1), -1)
    for kind in (-1, 0, 1):
        share = (first[seen] == kind).mean() * len(some)
        assert abs((first[some] == kind).sum() - share) <= 1
    random, part, whole = first_weights(8, 3), weights_of(features[some]), weights_of(features[seen])
    for point, weights in zip(points, (random, part, whole), strict=True):
        assert point["value"] == pytest.approx(scored(made, coded(weights, features, 3), labels))
        assert point["low"] <= point["value"] <= point["high"]
    assert points[2]["value"] == pytest.approx(told["tasks"]["clips"]["runs"]["6a"]["value"])


@pytest.mark.req("A38")
def test_shares_are_nested_and_a_learner_that_cannot_be_had_untrained_leaves_a_gap(made, told, tmp_path):
    text = (made.path.parent / "plan.toml").read_text("utf-8").replace("[0.0, 0.3, 1.0]", "[0.1, 0.3, 0.6]")
    text = text.replace(str(made.path.parent / "log"), str(tmp_path / "log"))
    text = text.replace("layers = true\nmeasures = true\ninvariance = true\n", "")
    shutil.copy(made.path.parent / "clips.csv", tmp_path)
    result = run_plan(tmp_path, text, "--only", "4a,6a")
    words = ("harness", "analyse", result.path, "--plan", tmp_path / "plan.toml", "--draws", "100", "--json")
    assert here(*words).code == 0
    lines = (json.loads(line) for line in (tmp_path / "log").read_text("utf-8").splitlines())
    shares = sorted((set(line["rows"]) for line in lines if line["what"] == "learn 3"), key=len)
    assert len(shares) == 4  # with that of the run itself
    assert all(small < large for small, large in pairwise(shares))
    gap = told["extras"]["clips"]["unlabelled_curves"]["b"][0]
    assert gap["value"] is None
    assert "has no parameter `trained`" in gap["note"]


@pytest.mark.req("A38", "H-25")
def test_a_second_curve_varies_the_labels_of_each_fold(made, told):
    half, every = told["extras"]["clips"]["labelled_curves"]["a"]
    assert (half["rows"], every["rows"]) == (10, 20)
    assert every["value"] == pytest.approx(told["tasks"]["clips"]["runs"]["6a"]["value"])
    folds = [set(fold.tolist()) for fold in made.folds("clips")]
    fits = [set(line["rows"]) for line in log_of(made, "classify") if len(line["rows"]) == 10]
    assert fits
    assert all(any(rows < fold for fold in folds) for rows in fits)
    gain = half["gain_of_all"]
    assert gain["gain"] == pytest.approx(every["value"] - half["value"])
    assert gain["low"] <= gain["gain"] <= gain["high"]


@pytest.mark.req("A39", "H-25", "H-10")
def test_layers_are_scored_singly_and_together_with_paired_gains(made, told):
    features, labels = features_of(made)
    weights = weights_of(features[made.seen("clips")])
    layers, before = told["extras"]["clips"]["layers"]["a"], scored(made, features, labels)
    assert [entry["layer"] for entry in layers] == [1, 2, 3]
    together, last = None, before
    for layer, entry in enumerate(layers, start=1):
        codes = coded(weights, features, layer)
        together = codes if together is None else np.hstack([together, codes])
        assert entry["single"]["value"] == pytest.approx(scored(made, codes, labels))
        assert entry["cumulative"]["value"] == pytest.approx(scored(made, together, labels))
        assert entry["gain_single"]["value"] == pytest.approx(entry["single"]["value"] - before)
        assert entry["gain_cumulative"]["value"] == pytest.approx(entry["cumulative"]["value"] - last)
        for gain in (entry["gain_single"], entry["gain_cumulative"]):
            assert gain["low"] <= gain["value"] <= gain["high"]
        before, last = entry["single"]["value"], entry["cumulative"]["value"]


@pytest.mark.req("H-36", "H-25")
def test_every_layer_tells_how_much_it_holds(made, told):
    features, _ = features_of(made)
    weights = weights_of(features[made.seen("clips")])
    for layer, entry in enumerate(told["extras"]["clips"]["layers"]["a"], start=1):
        codes, held = coded(weights, features, layer), entry["quantity"]["shared"]
        assert (held["dimensions"], held["active"], held["dead"]) == (5, 4, 1)
        squares, means = (codes**2).mean(axis=1), np.abs(codes).mean(axis=1)
        assert held["sparsity"] == pytest.approx(np.mean((1 - means**2 / squares) / (1 - 1 / 5)))
        values = np.linalg.svd(codes - codes.mean(axis=0), compute_uv=False)
        shares = values[values > 1e-9] / values.sum()
        assert held["effective_rank"] == pytest.approx(np.exp(-(shares * np.log(shares)).sum()), rel=1e-3)


@pytest.mark.req("H-25")
def test_measures_of_representations_are_taken_of_the_test_rows_of_each_layer(made, told):
    features, labels = features_of(made)
    weights, test = weights_of(features[made.seen("clips")]), made.split("clips")["test"]
    first = np.where(labels.any(axis=1), labels.argmax(axis=1), -1)[test]
    rows = test[first >= 0]
    for layer, entry in enumerate(told["extras"]["clips"]["layers"]["a"], start=1):
        codes, classes = coded(weights, features, layer)[rows], first[first >= 0]
        found = entry["measures"]["shared"]["values"]
        assert found["silhouette"] == pytest.approx(metrics.silhouette_score(codes, classes))
        assert found["davies_bouldin"] == pytest.approx(metrics.davies_bouldin_score(codes, classes))
        assert found["calinski_harabasz"] == pytest.approx(metrics.calinski_harabasz_score(codes, classes))


@pytest.mark.req("H-31")
def test_what_training_changed_is_shown_for_every_layer_and_one_that_did_not_learn_is_named(made, told, tmp_path):
    features, labels = features_of(made)
    after, before = weights_of(features[made.seen("clips")]), first_weights(8, 3)
    test, extras = made.split("clips")["test"], told["extras"]["clips"]
    unlearned = []
    for layer, (entry, look) in enumerate(
        zip(extras["layers"]["a"], extras["learners"]["a"]["layers"], strict=True), start=1
    ):
        moved = np.linalg.norm(after[layer - 1] - before[layer - 1]) / np.linalg.norm(before[layer - 1])
        assert look["weights_changed"] == pytest.approx(moved)
        one, two = (coded(weights, features, layer)[test] for weights in (after, before))
        one, two = one - one.mean(axis=0), two - two.mean(axis=0)
        same = (np.linalg.norm(one.T @ two) ** 2) / (np.linalg.norm(one.T @ one) * np.linalg.norm(two.T @ two))
        assert look["codes_changed"] == pytest.approx(1 - same, abs=1e-9)
        gain = entry["gain_of_training"]
        untrained = scored(made, coded(before, features, layer), labels)
        assert gain["value"] == pytest.approx(entry["single"]["value"] - untrained)
        assert entry["learned"] is (gain["low"] > 0)
        unlearned += [] if entry["learned"] else [layer]
    page = tmp_path / "report.html"
    assert here("harness", "report", made.path, "--draws", "100", "--html", page).code == 0
    text = page.read_text("utf-8")
    for layer in (1, 2, 3):
        assert (f"Alpha, layer {layer}: no gain" in text) is (layer in unlearned)
    assert "Beta, layer 1: not known" in text


def invariance(base, moved):
    """Unit by unit: how often it still fires on rows that are moved, over how often it fires at all; the best fifth."""
    firing, found = max(1, round(0.01 * len(base))), []
    for unit in range(base.shape[1]):
        sign = 1 if abs(base[:, unit].max()) >= abs(base[:, unit].min()) else -1
        values = sign * base[:, unit]
        level = np.sort(values)[-firing]
        fires = values >= level
        if not 0 < fires.mean() < 0.5:
            continue
        local = np.mean([(sign * step[fires, unit] >= level).mean() for step in moved])
        found.append(local / fires.mean())
    best = sorted(found, reverse=True)
    return float(np.mean(best[: max(1, round(0.2 * len(best)))]))


@pytest.mark.req("A40", "H-25")
def test_invariance_is_the_local_over_the_global_rate_of_firing_for_the_best_units(made, told):
    items, _ = table()
    seen, test = made.seen("clips"), made.split("clips")["test"]
    mean = items[seen].mean(axis=0) * (np.arange(9) > 0)
    weights = weights_of((items - mean)[seen])
    pictures, steps = items[test].reshape(-1, 3, 3), []
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1), (0, 2), (2, 0), (0, -2), (-2, 0)):
        moved = np.zeros_like(pictures)
        for y in range(3):
            for x in range(3):
                if 0 <= y - down < 3 and 0 <= x - right < 3:
                    moved[:, y, x] = pictures[:, y - down, x - right]
        steps.append(moved.reshape(-1, 9) - mean)
    look = told["extras"]["clips"]["learners"]["a"]
    assert look["transformation"] == "pictures of 3 by 3 shifted by one and two pixels"
    for layer, entry in enumerate(look["layers"], start=1):
        for key, used in (("invariance", weights), ("invariance_random", first_weights(8, 3))):
            base = coded(used, items[test] - mean, layer)
            assert entry[key] == pytest.approx(invariance(base, [coded(used, step, layer) for step in steps]))


@pytest.mark.req("H-25")
def test_seconds_and_memory_are_shown_only_when_asked_for(made, tmp_path):
    for words, shown in (((), False), (("--times",), True)):
        page = tmp_path / f"{shown}.txt"
        assert here("harness", "report", made.path, "--draws", "100", "--report", page, *words).code == 0
        assert ("Time and memory" in page.read_text("utf-8")) is shown


@pytest.mark.req("A34", "H-10", case="bad")
@pytest.mark.parametrize(
    ("name", "message"),
    [("TWO_LAYERS", "it has 2 layers where 3 are needed"), ("TWO_KINDS", "layer 3 has centres where layer 1 has")],
)
def test_a_learner_with_too_few_layers_or_of_two_kinds_fails_with_the_count(tmp_path, name, message):
    text = f"""
[tasks.digits]
data = "digits"
targets = ["8"]
metric = "map11"
n = 60
folds = 2
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.digits]
preprocessor = "pixels"
learner = "tests.harness.modules.two_layers:{name}"
linear = "{SMALL}:RIDGE"
"""
    result = run_plan(tmp_path, HEAD + text, "--only", "6a", code=1)
    assert result.states == {"6a": "failed"}
    assert message in result.reasons["6a"]


DEEP = """
[tasks.tumors]
data = "breast_cancer"
metric = "map11"
n = 60
folds = 2
validation_cap = 40
"""
DEEP_TEAM = """
[[teams]]
letter = "{letter}"
name = "Team {letter}"
[teams.systems.tumors]
preprocessor = "{preprocessor}"
learner = {{ module = "{module}", parameters = {{ {parameters} }} }}
linear = "svc-linear"
"""
LEARNERS = {
    "a": ("pixels", "sda", 'units = 10, epochs = 2, device = "cpu"', [10, 10, 10]),
    "b": ("scaled", "isa", 'components = 16, steps = 8, sample = 100, device = "cpu"', [8, 4, 2]),
    "c": ("pixels", "msda", "units = 12", [12, 12, 12]),
}


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """The three deep learners on one small set, their layers, and the same run once more."""
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("deep")
    teams = "".join(
        DEEP_TEAM.format(letter=letter, preprocessor=first, module=module, parameters=parameters)
        for letter, (first, module, parameters, _) in LEARNERS.items()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        result = run_plan(folder, HEAD + DEEP + teams)
        again = run_plan(folder, HEAD + DEEP + teams, "--only", "6a,6b,6c", out="again")
        other = run_plan(folder, HEAD.replace("seed = 7", "seed = 8") + DEEP + teams, "--only", "6a", out="other")
        (folder / "plan.toml").write_text(HEAD + DEEP + teams, encoding="utf-8")
        words = ("--plan", folder / "plan.toml", "--layers", "--draws", "100", "--json")
        ended = here("harness", "analyse", result.path, *words)
    assert ended.code == 0, ended.stderr
    return result, again, other, ended.data["extras"]["tumors"]


@pytest.mark.req("H-10", "A34", "H-36")
@pytest.mark.parametrize("letter", sorted(LEARNERS))
def test_our_deep_learners_have_three_layers_of_one_kind_whose_codes_can_be_taken_out(deep, letter):
    result, again, other, extras = deep
    assert {result.states[f"{number}{letter}"] for number in (4, 5, 6)} == {"done"}
    layers = extras["layers"][letter]
    assert [entry["quantity"]["shared"]["dimensions"] for entry in layers] == LEARNERS[letter][3]
    one, two = (found.predictions("tumors", f"6{letter}", "malignant") for found in (result, again))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, result.predictions("tumors", f"5{letter}", "malignant"))
    if letter == "a":
        assert other.manifest["seeds"]["seed"] == 8


@pytest.mark.req("A33")
def test_patches_drawn_inside_a_learner_are_declared_and_what_it_is_given_stays_whole(deep, made, told):
    result = deep[0]
    declared = result.manifest["modules"]["isa"]["declares"]["patches"]
    assert "drawn inside the learner" in declared
    assert result.manifest["modules"]["msda"]["declares"] == {}
    given = log_of(made, "learn 3")
    assert given
    assert {line["width"] for line in given} == {9}  # all columns of the table that are no label


TRAINED = """
[tasks.digits]
data = "digits"
targets = ["0"]
metric = "map11"
n = 60
folds = 2
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
def trained(tmp_path):
    """A plan whose team brings a state that it trained, with the declaration that fits."""
    from basanite.harness.evaluation import ready
    from basanite.harness.frozen.facts import declaration
    from basanite.sandbox.runner import capability

    if not capability().possible:
        pytest.skip(f"no box can be made here: {capability().reason}")
    shutil.copytree(HARNESS / "foreign" / "alpha", tmp_path / "alpha")
    state = tmp_path / "trained" / "digits" / "shared" / "state"
    for layer in (1, 2, 3):
        (state / f"layer_{layer}").mkdir(parents=True)
        (state / f"layer_{layer}" / "moments").write_text(f"0.{layer}\t1\n" * 64)
    (state / "gain").write_text("1\n")
    (state / "layers").write_text("3\n")
    (tmp_path / "plan.toml").write_text(HEAD + TRAINED, encoding="utf-8")
    told = declaration(ready(tmp_path / "plan.toml"), "digits", "shared", state, seed=4)
    (state.parent / "declaration.json").write_text(json.dumps(told))
    return state.parent / "declaration.json"


@pytest.mark.req("H-28")
def test_a_system_that_its_team_trained_stands_in_and_every_place_says_so(trained, tmp_path):
    result = run_plan(tmp_path, HEAD + TRAINED + "use_trained = true\n", "--only", "6a")
    _, status = result.json("status.json")["runs"]  # after the floor
    assert (status["state"], status["flags"]) == ("done", ["trained by team"])
    (told,) = result.manifest["trained"]
    assert (told["declared"]["seed"], told["used"], told["faults"]) == (4, "always", [])
    assert told["declared"]["partition"] == result.manifest["partitions"]["digits/shared"]
    assert "Run 6a: trained by team." in result.analysis(task="digits")["notes"]
    page = tmp_path / "report.html"
    assert here("harness", "report", result.path, "--draws", "100", "--html", page).code == 0
    assert "trained by team" in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.req("H-28")
def test_it_stands_in_when_training_passes_its_limit(trained, tmp_path):
    script = tmp_path / "alpha" / "system.sh"
    script.write_text(script.read_text().replace("learner-fit) learn 3 ;;", "learner-fit) sleep 30 ;;"))
    result = run_plan(tmp_path, HEAD + TRAINED + "\n[limits]\ntraining_seconds = 1\n", "--only", "6a")
    assert result.json("status.json")["runs"][1]["flags"] == ["trained by team"]


@pytest.mark.req("H-28", case="bad")
@pytest.mark.parametrize("key", ["data", "partition", "protocol", "state"])
def test_a_declaration_that_does_not_fit_is_shown_and_the_run_left_out(trained, tmp_path, key):
    trained.write_text(json.dumps({**json.loads(trained.read_text()), key: "another"}))
    result = run_plan(tmp_path, HEAD + TRAINED + "use_trained = true\n", "--only", "6a")
    assert result.states == {"6a": "not applicable"}
    assert "the trained system of team a does not fit" in result.reasons["6a"]
    assert len(result.manifest["trained"][0]["faults"]) == 1
