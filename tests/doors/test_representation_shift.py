"""`basanite measure shift`, `compare` and `monitor` on files: levels, curves, orders and bands are what they say."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn import metrics as peers
from tests.cli.running import FEATURES, here
from tests.doors.features import EXACT, ferm1_of, measured
from tests.metrics.labelled_features import clouds, cosines


def save(path, features, labels, **more):
    np.savez(path, features=features, labels=labels, **more)


def around(rng, centres, counts, spread):
    """So many rows around each centre, never negative."""
    labels = np.repeat(np.arange(len(centres)), counts)
    return np.abs(centres[labels] + spread * rng.normal(size=(len(labels), centres.shape[1]))), labels


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """Well formed source classes, and target classes that all lie in one cloud."""
    folder, rng = tmp_path_factory.mktemp("sides"), np.random.default_rng(1)
    good = around(rng, 3 * rng.random((5, 6)), 8, 0.2)
    bad = around(rng, np.full((4, 6), 1.5), 8, 1.0)
    save(folder / "good.npz", *good)
    save(folder / "bad.npz", *bad)
    words = ("good.npz", "bad.npz", "--levels", "7", "--repeats", "3", "--draws", "30")
    names = ("ferm1", "silhouette", "davies_bouldin", "calinski_harabasz")
    found = measured(folder, *words, *(word for name in names for word in ("--metric", name)), command="shift")
    return good, bad, folder, found


@pytest.mark.req("F-7")
def test_target_rows_come_first_and_source_rows_go_then(sides):
    levels = sides[3]["levels"]
    rows = [(one["source_rows"], one["target_rows"]) for one in levels]
    assert rows[0] == (8, 0)
    assert rows[-1] == (0, 8)
    assert (8, 8) in rows
    assert all(source == 8 or target == 8 for source, target in rows)
    assert [one["share"] for one in levels] == pytest.approx([4 * t / (5 * s + 4 * t) for s, t in rows], rel=1e-9)
    assert [one["classes"] for one in levels] == [5 * (s > 0) + 4 * (t > 0) for s, t in rows]
    assert [one["rows"] for one in levels] == [5 * s + 4 * t for s, t in rows]


@pytest.mark.req("F-7", "F-5")
def test_levels_that_take_all_rows_have_the_values_of_peers(sides):
    (good, first), (bad, second), _, found = sides
    table, labels = np.vstack([good, bad]), np.concatenate([first, 100 + second])
    rows = [(one["source_rows"], one["target_rows"]) for one in found["levels"]]
    unions = {0: labels < 100, rows.index((8, 8)): labels >= 0, len(rows) - 1: labels >= 100}
    for at, taken in unions.items():
        features, named = table[taken], labels[taken]
        wanted = {
            "ferm1": ferm1_of(features, named),
            "silhouette": peers.silhouette_score(features, named),
            "davies_bouldin": peers.davies_bouldin_score(features, named),
            "calinski_harabasz": peers.calinski_harabasz_score(features, named),
        }
        for name, value in wanted.items():
            assert found["measures"][name]["mean"][at] == pytest.approx(value, rel=1e-8), (at, name)


@pytest.mark.req("F-7", "F-5")
def test_levels_between_are_made_of_the_rows_they_say(tmp_path):
    """Rows of a class are alike, so every draw of so many rows has the same, known cosines."""
    axes, labels = np.repeat(np.eye(6) + 0.2, 5, axis=0), np.repeat(np.arange(6), 5)
    save(tmp_path / "s.npz", axes[:15], labels[:15])
    save(tmp_path / "t.npz", axes[15:], labels[15:])
    words = ("s.npz", "t.npz", "--metric", "ferm1", "--levels", "6", "--repeats", "2", "--draws", "0")
    found = measured(tmp_path, *words, command="shift")
    for at, level in enumerate(found["levels"]):
        taken = np.concatenate(
            [np.arange(5 * k, 5 * k + level["source_rows" if k < 3 else "target_rows"]) for k in range(6)]
        )
        wanted = ferm1_of(axes[taken], labels[taken])
        assert found["measures"]["ferm1"]["mean"][at] == pytest.approx(wanted, **EXACT), level


@pytest.mark.req("F-7")
def test_curves_are_normalised_and_judged(sides):
    found = sides[3]
    shares = [one["share"] for one in found["levels"]]
    for name, curve in found["measures"].items():
        mean = np.array(curve["mean"])
        assert curve["normalised"] == pytest.approx((mean - mean.min()) / np.ptp(mean), abs=1e-8), name
        assert curve["kendall_tau_b"] == pytest.approx(kendalltau(shares, mean).statistic), name
        assert curve["expected"] == ("rising" if name == "davies_bouldin" else "falling")
        wrong = np.diff(mean) < 0 if name == "davies_bouldin" else np.diff(mean) > 0
        assert curve["wrong_steps"] == wrong.sum(), name
    assert found["measures"]["ferm1"]["kendall_tau_b"] < -0.5


@pytest.mark.req("F-7")
def test_the_seed_decides_the_rows_of_a_level(sides):
    folder = sides[2]
    words = ("good.npz", "bad.npz", "--metric", "gap", "--levels", "3", "--repeats", "3", "--draws", "3", "--seed")
    first, again, other = (measured(folder, *words, seed, command="shift")["measures"]["gap"] for seed in "778")
    assert first == again
    assert first["mean"] != other["mean"]
    assert max(first["deviation"]) > 0


@pytest.mark.req("S-22")
def test_a_wrong_step_is_a_violation_only_if_its_interval_excludes_0(sides, tmp_path):
    rng = np.random.default_rng(5)
    for name in ("a", "b"):  # classes of one kind on both sides: the curve wanders and nothing is shown
        save(tmp_path / f"{name}.npz", *around(rng, 3 * rng.random((8, 5)), 6, 0.8))
    words = ("--metric", "gap", "--metric", "ferm1", "--levels", "4", "--repeats", "2", "--draws", "40")
    alike = measured(tmp_path, "a.npz", "b.npz", *words, command="shift")["measures"]["gap"]
    assert alike["wrong_steps"] > len(alike["violations"])
    turned = measured(sides[2], "bad.npz", "good.npz", *words, command="shift")["measures"]["gap"]
    assert turned["violations"]  # from bad to good: a measure that should fall rises
    for step in (*alike["violations"], *turned["violations"]):
        assert 0 < step["low"] <= step["high"]
        assert step["step"] > 0
    assert turned["largest_violation"] == max(step["step"] for step in turned["violations"])
    bouldin = sides[3]["measures"]["davies_bouldin"]
    assert all(step["high"] < 0 for step in bouldin["violations"])  # it should rise: falling is wrong


@pytest.mark.req("S-22")
def test_draws_take_classes_anew_and_the_raw_range_stands_beside_the_curve(tmp_path):
    """Rows of a class are alike: repeats cannot differ, so what differs between draws are the classes."""
    table, labels = np.repeat(np.random.default_rng(3).random((12, 6)) + 0.1, 6, axis=0), np.repeat(np.arange(12), 6)
    save(tmp_path / "s.npz", table[:36], labels[:36])
    save(tmp_path / "t.npz", table[36:], labels[36:])
    words = ("s.npz", "t.npz", "--metric", "gap", "--levels", "3", "--repeats", "3", "--draws", "15")
    curve = measured(tmp_path, *words, command="shift")["measures"]["gap"]
    assert max(curve["deviation"]) < 1e-9
    assert curve["source_only_deviation"] > 1e-3
    assert curve["range"] == pytest.approx(max(curve["mean"]) - min(curve["mean"]), rel=1e-8)


@pytest.mark.req("S-22")
def test_a_flat_curve_is_called_flat(tmp_path):
    axes, labels = np.repeat(np.eye(8) + 0.5, 4, axis=0), np.repeat(np.arange(8), 4)
    save(tmp_path / "s.npz", axes[:16], labels[:16])
    save(tmp_path / "t.npz", axes[16:], labels[16:])
    words = ("s.npz", "t.npz", "--metric", "ferm1", "--levels", "3", "--repeats", "2", "--draws", "10")
    curve = measured(tmp_path, *words, command="shift")["measures"]["ferm1"]
    assert "flat" in curve["flags"]
    assert set(curve["normalised"]) == {0.0}
    assert (curve["violations"], curve["wrong_steps"], curve["kendall_tau_b"]) == ([], 0, None)


# --- several sets ---


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("sets"), np.random.default_rng(0)
    centres = 3 * rng.random((4, 5))
    sets = {name: around(rng, centres, 20, spread) for name, spread in (("fine", 0.3), ("fair", 0.9), ("poor", 2.0))}
    sets["wide"] = around(rng, 3 * rng.random((6, 5)), 20, 0.5)
    repeats = [around(rng, centres, 20, 0.6) for _ in range(5)]
    for name, (features, labels) in sets.items():
        save(folder / f"{name}.npz", features, labels)
    for number, (features, labels) in enumerate(repeats):
        save(folder / f"changed{number}.npz", features, labels)
    (folder / "proxy.csv").write_text("name,accuracy\nfine,0.9\nfair,0.8\npoor,0.85\nwide,0.95\n")
    words = [f"{name}.npz" for name in sets]
    words += [word for number in range(5) for word in ("--transformed", f"fine=changed{number}.npz")]
    words += ["--proxy", "proxy.csv", "--metric", "davies_bouldin", "--metric", "rs", "--draws", "0"]
    return sets, repeats, measured(folder, *words, command="compare"), folder


@pytest.mark.req("F-8")
def test_transformed_repeats_give_mean_and_deviation(compared):
    sets, repeats, found, _ = compared
    each = [peers.davies_bouldin_score(*one) for one in repeats]
    changed = found["sets"]["fine"]["transformed"]["davies_bouldin"]
    assert (changed["mean"], changed["deviation"]) == (
        pytest.approx(np.mean(each), rel=1e-8),
        pytest.approx(np.std(each, ddof=1), rel=1e-7),
    )
    assert changed["repeats"] == 5
    assert changed["change"] == pytest.approx(np.mean(each) - peers.davies_bouldin_score(*sets["fine"]), rel=1e-7)
    assert found["sets"]["fair"]["transformed"] == {}


@pytest.mark.req("F-8")
def test_orders_are_held_against_the_proxy_with_low_measures_turned(compared):
    sets, _, found, _ = compared
    proxy = [0.9, 0.8, 0.85, 0.95]
    wanted = {
        "ferm1": [ferm1_of(*one) for one in sets.values()],
        "davies_bouldin": [-peers.davies_bouldin_score(*one) for one in sets.values()],
    }
    for name, quality in wanted.items():
        order = [name for _, name in sorted(zip(quality, sets, strict=True), reverse=True)]
        one = next(a for a in found["agreement"] if a["measure"] == name and a["pipeline"] == "without")
        assert found["orders"][name] == one["order"] == order
        assert one["spearman"] == pytest.approx(spearmanr(quality, proxy).statistic)
        assert one["kendall"] == pytest.approx(kendalltau(quality, proxy).statistic)


@pytest.mark.req("F-10")
def test_different_numbers_of_classes_are_warned_of(compared):
    notes = " ".join(compared[2]["notes"])
    assert "rs changes with the number of classes alone; these data have 4 and 6 of them." in notes
    assert "ferm1 moves" not in notes
    words = ("fine.npz", "fair.npz", "--metric", "rs", "--draws", "0")
    assert "changes with the number" not in " ".join(measured(compared[3], *words, command="compare")["notes"])


# --- the monitor ---

CENTRES = 3 * np.random.default_rng(9).random((4, 6))
NAMES = ("--metric", "ferm1", "--metric", "gap", "--metric", "rs")


def watched(folder, *words):
    return measured(folder, *words, command="monitor")


@pytest.fixture(scope="module")
def example():
    words = ("seen.npz", "monday.npz", "tuesday.npz", "wednesday.npz", "--target", "unseen.npz")
    return watched(FEATURES, *words, *NAMES, "--draws", "120", "--mix-draws", "25")


@pytest.mark.req("F-12")
def test_an_unchanged_batch_stays_inside_and_changed_ones_leave(example):
    monday, tuesday, wednesday = example["batches"].values()
    assert (monday["alarm"], monday["outside"], monday["new_classes"]) == (False, [], [])
    assert tuesday["alarm"]
    assert set(wednesday["outside"]) == {"ferm1", "gap", "rs"}
    assert wednesday["new_classes"] == ["6", "7", "8", "9"]
    assert example["alarm_rate"] == pytest.approx(2 / 3, rel=1e-8)
    for batch in example["batches"].values():
        for name, one in batch["measures"].items():
            assert one["outside"] == (not one["low"] <= one["value"] <= one["high"]) == (name in batch["outside"])


def gap_of(features, labels):
    """The mean cosine of pairs inside a class less that of pairs of classes."""
    cosine, own = cosines(features), labels[:, None] == np.unique(labels)
    counts = own.sum(axis=0)
    means = own.T @ cosine @ own / np.outer(counts, counts)
    inside = (np.diag(means) * counts**2 - counts) / (counts * (counts - 1))
    return inside.mean() - means[~np.eye(len(counts), dtype=bool)].mean()


@pytest.mark.req("F-12", "S-22")
def test_unchanged_batches_leave_the_band_as_often_as_it_states(tmp_path):
    rng, counts = np.random.default_rng(2), (14, 10, 10, 6)
    save(tmp_path / "reference.npz", *around(rng, CENTRES, 400, 0.8))
    save(tmp_path / "batch.npz", *around(rng, CENTRES, counts, 0.8))
    words = ("reference.npz", "batch.npz", "--metric", "gap", "--by", "gap", "--draws", "400", "--false-alarms", "0.2")
    found = watched(tmp_path, *words)
    assert found["false_alarm_rate"] == 0.2
    band = found["batches"]["batch"]["measures"]["gap"]
    assert band["value"] == pytest.approx(gap_of(**np.load(tmp_path / "batch.npz")), **EXACT)
    fresh = np.array([gap_of(*around(rng, CENTRES, counts, 0.8)) for _ in range(600)])
    assert 0.12 < np.mean((fresh < band["low"]) | (fresh > band["high"])) < 0.28
    assert "20%" in here("measure", "monitor", *words, cwd=tmp_path).stdout


@pytest.mark.req("S-22")
def test_a_band_is_made_at_the_size_and_the_mix_of_the_batch(tmp_path):
    rng = np.random.default_rng(0)
    spread = np.array([0.2, 0.2, 2.5, 2.5])[:, None]
    labels = np.repeat(np.arange(4), 60)
    save(tmp_path / "reference.npz", np.abs(CENTRES[labels] + spread[labels] * rng.normal(size=(240, 6))), labels)
    mixes = {"tight": (20, 20, 0, 0), "loose": (0, 0, 20, 20), "small": (5, 5, 5, 5), "large": (25, 25, 25, 25)}
    for name, counts in mixes.items():
        kinds = np.repeat(np.arange(4), counts)
        rows = np.abs(CENTRES[kinds] + spread[kinds] * rng.normal(size=(len(kinds), 6)))
        save(tmp_path / f"{name}.npz", rows, kinds)
    found = watched(tmp_path, "reference.npz", *(f"{name}.npz" for name in mixes), "--metric", "gap", "--by", "gap",
                    "--draws", "100")["batches"]  # fmt: skip
    band = {name: batch["measures"]["gap"] for name, batch in found.items()}
    assert band["tight"]["low"] > band["loose"]["high"]
    assert band["small"]["high"] - band["small"]["low"] > 1.5 * (band["large"]["high"] - band["large"]["low"])
    assert {name: batch["band_rows"] for name, batch in found.items()} == {"tight": 40, "loose": 40, "small": 20,
                                                                        "large": 100}  # fmt: skip


@pytest.mark.req("F-17")
def test_the_share_of_new_data_has_an_interval_and_an_action(example):
    monday, tuesday, wednesday = example["batches"].values()
    for batch, truth in ((monday, 0.0), (tuesday, 1 / 3), (wednesday, 0.75)):
        assert batch["share"]["low"] <= truth <= batch["share"]["high"]
        assert batch["share"]["low"] <= batch["share"]["value"] <= batch["share"]["high"]
    assert monday["share"]["high"] < wednesday["share"]["low"]
    assert (monday["action"], wednesday["action"]) == ("keep", "retrain")
    assert "fine-tune" in tuesday["possible_actions"]


@pytest.mark.req("F-17")
def test_the_action_is_that_of_the_table_given_and_needs_a_target():
    words = ("seen.npz", "wednesday.npz", "--metric", "ferm1", "--draws", "60", "--mix-draws", "20")
    mine = watched(FEATURES, *words, "--target", "unseen.npz", "--bands", "0=leave,0.05=look,0.6=call")
    assert mine["batches"]["wednesday"]["action"] == "call"
    assert mine["batches"]["wednesday"]["possible_actions"][-1] == "call"
    without = here("measure", "monitor", *words, "--json", cwd=FEATURES)
    assert (without.data["batches"]["wednesday"]["share"], without.data["batches"]["wednesday"]["action"]) == (
        None,
        None,
    )
    assert "--target" in here("measure", "monitor", *words, cwd=FEATURES).stdout


@pytest.mark.req("S-22")
def test_measures_say_that_they_need_labels_where_labels_are_predicted(tmp_path):
    features, labels = clouds(3, rows=200)
    save(tmp_path / "reference.npz", features, labels, predictions=labels)
    np.savez(tmp_path / "new.npz", features=features[:60], predictions=labels[:60])
    words = ("reference.npz", "new.npz", "--metric", "gap", "--by", "gap", "--draws", "30")
    found = watched(tmp_path, *words, "--predicted")
    flags = found["batches"]["new"]["measures"]["gap"]["flags"]
    assert flags == ["needs labels, and these are predicted"]
    assert found["settings"]["labels"] == "predicted"
    refused = here("measure", "monitor", *words, cwd=tmp_path)
    assert (refused.code, "no labels" in refused.stderr) == (2, True)
