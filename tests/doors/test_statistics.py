"""Families of tests, groups and claims as `basanite compare` and `basanite harness` print them."""

import json
import re

import numpy as np
import pytest
from scipy import stats
from tests.cli.running import here
from tests.harness.analysis.folders import folder

from basanite.harness.results import write_truth

# --- comparing systems ---


def write_labels(path, right):
    """A file of labels: `x` where the system is right, `y` elsewhere."""
    rows = (f"i{at:03},{'x' if hit else 'y'}" for at, hit in enumerate(right))
    path.write_text("id,label\n" + "\n".join(rows) + "\n")


def compared(tmp_path, systems, *words, code=0):
    """`basanite compare classification` of systems that are right on some items: the printed object."""
    write_labels(tmp_path / "key.csv", np.ones(len(next(iter(systems.values())))))
    given = []
    for name, right in systems.items():
        write_labels(tmp_path / f"{name}.csv", right)
        given += ["--submission", f"{name}.csv"]
    words = ("--metric", "accuracy", "--draws", "200", *words)
    ended = here("compare", "classification", "--reference", "key.csv", *given, *words, cwd=tmp_path)
    assert ended.code == code, ended.stderr
    return ended


def accuracy(ended):
    return [one for one in ended.data["differences"] if one["metric"] == "accuracy"]


def holm(p_values):
    """Holm's adjusted p-values: sort, multiply by what is left, never fall."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    steps = np.minimum(np.maximum.accumulate(np.array(p_values)[order] * factors), 1)
    return steps[np.argsort(order)]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Eight systems from bad to good on the same 120 items: neighbours differ little, ends by far."""
    rng = np.random.default_rng(0)
    hard = rng.random(120)
    systems = {f"s{at}": hard + 0.1 * rng.normal(size=120) < 0.55 + 0.05 * at for at in range(8)}
    path = tmp_path_factory.mktemp("graded")
    return systems, compared(path, systems, "--json"), compared(path, systems)


@pytest.mark.req("S-1")
def test_the_family_is_printed_with_its_size_and_tests_have_draws_of_their_own(graded, tmp_path):
    _, ended, shown = graded
    assert ended.data["family"] == {"size": 28, "draws": 10_000}  # though intervals had 200
    assert "28 comparisons for each metric, 10,000 resamples, adjusted by holm" in " ".join(shown.stdout.split())
    p_values = [one["p"] for one in accuracy(ended)]
    assert [one["p_adjusted"] for one in accuracy(ended)] == pytest.approx(holm(p_values), rel=1e-8)
    assert min(p_values) >= 1 / 10_001 * 0.999
    rng = np.random.default_rng(1)
    many = compared(tmp_path, {f"s{at}": rng.random(20) < 0.5 for at in range(16)}, "--json")
    assert many.data["family"] == {"size": 120, "draws": 12_000}


@pytest.mark.req("S-1")
def test_p_values_are_those_of_flipping_signs(graded):
    systems, ended, _ = graded
    rng = np.random.default_rng(5)
    signs = rng.choice([-1.0, 1.0], size=(20_000, 120))
    for one in accuracy(ended)[:12]:
        apart = systems[one["first"]].astype(float) - systems[one["second"]]
        flipped = signs * apart
        deviation = flipped.std(axis=1, ddof=1) + 1e-300
        observed = abs(apart.mean() / apart.std(ddof=1))
        wanted = (1 + (np.abs(flipped.mean(axis=1) / deviation) >= observed - 1e-9).sum()) / 20_001
        assert one["difference"] == pytest.approx(apart.mean(), rel=1e-9)
        assert one["p"] == pytest.approx(wanted, abs=0.015)


@pytest.mark.req("S-1")
def test_a_family_in_which_nothing_could_be_shown_is_refused_with_the_draws_needed(tmp_path):
    rng = np.random.default_rng(1)
    systems = {f"s{at}": rng.random(20) < 0.5 for at in range(11)}
    refused = compared(tmp_path, systems, "--set", "alpha=0.001", code=2)
    assert "set test_draws to 55,000 or more" in refused.stderr
    ended = compared(tmp_path, systems, "--set", "alpha=0.001", "--set", "test_draws=55000", "--json")
    assert ended.data["family"] == {"size": 55, "draws": 55_000}


@pytest.mark.req("S-1")
def test_romano_wolf_steps_down_on_draws_shared_by_all_systems(graded, tmp_path):
    systems, by_holm, _ = graded
    ended = compared(tmp_path, systems, "--set", "adjustment=romano-wolf", "--json")
    found = accuracy(ended)
    pairs = np.array([systems[one["first"]].astype(float) - systems[one["second"]] for one in found])
    rows = np.random.default_rng(3).integers(0, 120, size=(4000, 120))
    drawn, centre = pairs[:, rows], pairs.mean(axis=1)
    t_values = np.abs(centre) / (pairs.std(axis=1) / np.sqrt(120))
    null = np.abs(drawn.mean(axis=2) - centre[:, None]) / (drawn.std(axis=2) / np.sqrt(120) + 1e-12)
    order, running = np.argsort(-t_values), 0.0
    for at, pair in enumerate(order):
        largest = null[order[at:]].max(axis=0)
        running = max(running, (1 + (largest >= t_values[pair]).sum()) / 4001)
        wanted = max(running, found[pair]["p"])  # adjusting never lowers a p-value
        assert found[pair]["p_adjusted"] == pytest.approx(wanted, abs=0.06)
    both = zip(found, accuracy(by_holm), strict=True)
    assert sum(rw["p_adjusted"] - h["p_adjusted"] for rw, h in both) < 0  # kinder, for the tests go together


@pytest.mark.req("S-11")
def test_groups_rank_ranges_and_those_not_worse_than_the_best_follow_from_the_pairs(graded):
    systems, ended, _ = graded
    beats = set()
    for one in accuracy(ended):
        if one["verdict"] in ("first", "second"):
            pair = (one["first"], one["second"])
            beats.add(pair if one["verdict"] == "first" else pair[::-1])
    order = sorted(systems, key=lambda name: -systems[name].mean())
    groups = ended.data["groups"]["accuracy"]
    assert [name for group in groups for name in group] == order
    cuts = [at for at in range(1, 8) if all((a, b) in beats for a in order[:at] for b in order[at:])]
    assert np.cumsum([len(group) for group in groups])[:-1].tolist() == cuts
    assert any(len(group) > 2 for group in groups)
    inside = [(a, b) for group in groups for a in group for b in group if (a, b) in beats]
    assert inside  # not all of a group are alike: what is not rejected is not transitive
    for name in order:
        better, worse = (sum(pair[at] == name for pair in beats) for at in (1, 0))
        assert ended.data["rank_ranges"]["accuracy"][name] == [1 + better, 8 - worse]
    best = [name for name in order if (order[0], name) not in beats]
    assert ended.data["not_worse_than_best"]["accuracy"] == best


@pytest.mark.req("S-11")
def test_groups_are_captioned_and_the_matrix_of_pairs_stands_beside_them(graded):
    _, ended, shown = graded
    text = " ".join(shown.stdout.split())
    assert "A group has no clean cut inside" in text
    assert "equal" not in text.lower()
    matrix = shown.stdout[shown.stdout.index("Matrix of pairs on F1 (macro)") :]
    for one in (one for one in ended.data["differences"] if one["metric"] == "f1_macro"):
        sign = {"first": "▲", "second": "▼", "no difference shown": "·", "undecided": "?"}[one["verdict"]]
        row = next(line for line in matrix.splitlines() if line.strip().startswith(f"{one['first']} "))
        assert sign in row
        assert f"{abs(one['difference']):.4f}" in row


# --- claims of the harness ---


def analysed(path, *words, **planted):
    """The object of `basanite harness analyse` for a result folder in which differences are planted."""
    folder(path, **planted)
    ended = here("harness", "analyse", path, "--draws", "200", *words, "--json", cwd=path.parent)
    assert ended.code == 0, ended.stderr
    return ended.data


def verdicts(found):
    return {(one["claim"], one["team"]): one for one in found["tasks"]["video"]["verdicts"]}


@pytest.mark.req("S-2")
def test_comparable_needs_a_margin_declared_before_and_a_bound_below_it(tmp_path):
    found = verdicts(analysed(tmp_path / "with", rows=500, signal={(6, "b"): 0.9}, margin=0.1))
    assert found["comparable", "a"]["finding"] == "comparable"
    assert found["comparable", "b"]["finding"] == "outperformed"
    for one in found.values():
        bound = stats.t.ppf(0.95, one["degrees_of_freedom"]) * one["standard_error"]
        if one["hypothesis"] == "not inferior":
            assert (one["finding"] == "comparable") == (-one["gain"] + bound < 0.1)
            assert (one["finding"] == "outperformed") == (-one["gain"] - bound > 0)
    without = analysed(tmp_path / "without", margin=None)
    findings = {one["finding"] for one in without["tasks"]["video"]["verdicts"] if one["claim"] == "comparable"}
    assert findings <= {"not shown to be outperformed (the plan's wording)", "outperformed"}
    assert any("margin" in note for note in without["tasks"]["video"]["notes"])
    few = verdicts(analysed(tmp_path / "few", rows=50, margin=0.001))
    assert few["comparable", "a"]["finding"] == "inconclusive"  # nearly equal, but nothing is shown


@pytest.mark.req("S-2")
def test_holm_goes_over_the_rejections_that_make_the_claims_of_all_teams(tmp_path):
    found = analysed(tmp_path / "three", teams=("a", "b", "c"), rows=80, signal={(6, "b"): 1.5})
    made = found["tasks"]["video"]["verdicts"]
    assert len(made) == 12  # four claims for each of three teams
    for one in made:
        null = one["margin"] if one["hypothesis"] == "not inferior" else 0.0
        t_value = (one["gain"] + (null or 0.0)) / one["standard_error"]
        assert one["p"] == pytest.approx(stats.t.sf(t_value, one["degrees_of_freedom"]), rel=1e-6)
        reach = stats.t.ppf(0.95, one["degrees_of_freedom"]) + stats.t.ppf(0.8, one["degrees_of_freedom"])
        assert one["smallest_detectable"] == pytest.approx(reach * one["standard_error"], rel=1e-6)
    assert [one["p_adjusted"] for one in made] == pytest.approx(holm([one["p"] for one in made]), rel=1e-6)


def cells_of(path, run):
    """How much each review adds to the error of each fold: the tangent of the root mean square."""
    truth = np.load(next((path / "truth").rglob("food.npy")))
    squares = (np.clip(np.load(path / "predictions" / "video" / run / "food.npy"), 1, 5) - truth) ** 2
    root = np.sqrt(squares.mean(axis=1, keepdims=True))
    return root + (squares - root**2) / (2 * root)


@pytest.mark.req("S-7")
def test_folds_and_test_rows_are_two_crossed_factors_of_the_error(tmp_path):
    path = tmp_path / "ratings"
    found = verdicts(analysed(path, metric="mrmse", rows=80, targets=("food",)))
    for claim, other in (("central", "3a"), ("learns", "4a"), ("depth", "5a")):
        one = found[claim, "a"]
        cells = cells_of(path, other) - cells_of(path, "6a")
        folds, rows = cells.shape
        by_fold, by_row = cells.mean(axis=1, keepdims=True), cells.mean(axis=0, keepdims=True)
        rest = ((cells - by_fold - by_row + cells.mean()) ** 2).sum() / ((folds - 1) * (rows - 1))
        fold, row, both = by_fold.var(ddof=1) / folds, by_row.var(ddof=1) / rows, rest / (folds * rows)
        variance = max(fold + row - both, fold, row)
        assert one["gain"] == pytest.approx(cells.mean(), rel=1e-8)
        assert one["standard_error"] == pytest.approx(np.sqrt(variance), rel=1e-6)
        half = stats.t.ppf(0.975, one["degrees_of_freedom"]) * one["standard_error"]
        assert (one["low"], one["high"]) == (pytest.approx(one["gain"] - half), pytest.approx(one["gain"] + half))
        assert folds - 1 <= one["degrees_of_freedom"] + 1
        width = one["bootstrap"][1] - one["bootstrap"][0]
        assert one["bootstrap"][0] < one["gain"] < one["bootstrap"][1]
        assert 0.6 < width / (2 * 1.96 * one["standard_error"]) < 1.8  # the picture beside it


@pytest.mark.req("S-7")
def test_draws_in_which_a_class_has_no_positive_are_counted(tmp_path):
    folder(tmp_path / "rare", rows=50)
    truth = np.zeros(50)
    truth[3] = 1
    write_truth(tmp_path / "rare", "video", "run", truth)
    ended = here("harness", "analyse", "rare", "--draws", "120", "--json", cwd=tmp_path)
    task = ended.data["tasks"]["video"]
    assert task["runs"]["6a"]["undefined_draws"] > 20  # a row is missing from about 37 % of draws
    assert any("no positive" in note for note in task["notes"])


@pytest.mark.req("S-8")
def test_one_replication_speaks_of_one_trained_model_and_three_make_the_seed_a_factor(tmp_path):
    one = analysed(tmp_path / "one")
    assert {verdict["note"] for verdict in verdicts(one).values()} == {"for this one trained model"}
    assert "one trained model" in one["notes"][0]
    text = here("harness", "report", "one", "--draws", "120", "--report", "said.txt", cwd=tmp_path)
    assert "for this one trained model" in text.stdout
    still, moving = (
        analysed(tmp_path / name, replications=3, noise_of_seeds=noise)
        for name, noise in (("still", 0.0), ("moving", 0.6))
    )
    assert {verdict["note"] for verdict in verdicts(moving).values()} == {""}
    errors = [verdicts(found)["central", "a"]["standard_error"] for found in (still, moving)]
    assert errors[1] > 1.5 * errors[0]


@pytest.mark.req("S-16")
def test_bars_say_what_they_show_and_decide_nothing(tmp_path):
    found = verdicts(analysed(tmp_path / "few", rows=60, signal={(6, "a"): 1.35}))["central", "a"]
    assert found["plan_view"]["paired_t_p"] < 0.05  # folds alone would have called it better
    assert found["state"] == "undecided"
    here("harness", "report", "few", "--draws", "120", "--html", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page, re.S)
    by_class = [caption for caption in captions if "graph 2" in caption]
    by_fold = [caption for caption in captions if "graph 3" in caption]
    assert by_class
    assert by_fold
    assert all("spread over classes, not uncertainty" in caption for caption in by_class)
    assert all("test sampling not included" in caption for caption in by_fold)
    heads = [head for head in re.findall(r"<thead>(.*?)</thead>", page, re.S) if "Bars overlap" in head]
    assert len(heads) == 1
    assert all(f"<bdi>{column}</bdi>" in heads[0] for column in ("Gain", "Low", "High"))


def move_scores(path, gap):
    """Move every value of run 6a in a result folder, as another site might have it."""
    scores = [json.loads(line) for line in (path / "scores.jsonl").read_text().splitlines()]
    moved = [{**one, "value": one["value"] + gap * (one["run"] == "6a")} for one in scores]
    (path / "scores.jsonl").write_text("".join(json.dumps(one) + "\n" for one in moved))


@pytest.mark.req("S-16")
def test_sites_are_compared_by_a_declared_tolerance_or_the_deviation_between_seeds(tmp_path):
    for name in ("one", "two"):
        folder(tmp_path / name)
        folder(tmp_path / f"{name}-seeds", replications=3, noise_of_seeds=0.3)
    for name in ("two", "two-seeds"):
        move_scores(tmp_path / name, 0.001)  # far below what folds vary by
    strict = here("harness", "compare", "one", "two", "--json", cwd=tmp_path)
    assert (strict.code, strict.data["beyond"]) == (1, ["video/6a"])
    assert {run["rule"] for run in strict.data["runs"]} == {"tolerance"}
    assert here("harness", "compare", "one", "two", "--tolerance", "0.01", cwd=tmp_path).code == 0
    seeds = here("harness", "compare", "one-seeds", "two-seeds", "--json", cwd=tmp_path)
    assert (seeds.code, seeds.data["beyond"]) == (0, [])
    assert {run["rule"] for run in seeds.data["runs"]} == {"between-seed deviation"}
