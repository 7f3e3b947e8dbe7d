"""The headline is chosen (S-27): a metric named `primary` ranks, is drawn and stands first, at every door."""

from __future__ import annotations

import re
import zipfile

import pytest
from tests.cli.running import FEATURES, ROOT, here
from tests.doors.stage import staged
from tests.doors.test_season_rules import CLOSED, WEEK, add_reference, release, send

import basanite
from basanite.errors import BasaniteError
from basanite.testing import small_campaign_text, small_pack

CLASSES = ROOT / "examples" / "classification"
REFERENCE = ("--reference", "key.csv")
SUBMISSIONS = ("--submission", "A=Alpha.csv", "--submission", "B=Beta.csv")
TWO = ("compare", "classification", *REFERENCE, *SUBMISSIONS, "--draws", "100")
CLIR = ("compare", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--submission", "Beta.tgz")


def typed(*words, cwd=CLASSES):
    return here(*map(str, words), cwd=cwd)


@pytest.mark.req("S-27")
def test_a_metric_that_was_asked_for_is_printed(tmp_path):
    assert "Accuracy" not in typed(*TWO).stdout, "it is one of many that are left to the files"
    asked = typed(*TWO, "--metric", "accuracy").stdout
    assert "Ranking on Accuracy" in asked
    assert "Differences in Accuracy" in asked
    assert "comes first on F1 (macro)" in asked
    parts = typed(*TWO, "--metric", "precision", "--metric", "recall").stdout
    assert "Precision by class" in parts
    assert "Recall by class" in parts
    one = typed("score", "classification", *REFERENCE, "--submission", "Alpha.csv", "--metric", "recall").stdout
    assert "Recall by class" in one


@pytest.mark.req("S-27")
@pytest.mark.parametrize(
    ("metric", "name"), [("mqwv", "MQWV"), ("theta_best", "Best threshold"), ("auc_pooled", "AUC (pooled)")]
)
def test_a_metric_that_cannot_be_tested_is_printed_where_it_was_asked_for_and_ranks_nothing(metric, name):
    asked = here(*CLIR, "--draws", "50", "--metric", metric)
    assert asked.code == 0, asked.stderr
    assert len(re.findall(rf"^ *{re.escape(name)} +(?:Alpha|Beta) ", asked.stdout, re.MULTILINE)) == 2
    assert f"not compared, because the systems have different kinds of rows: {metric}" in asked.stdout
    refused = here(*CLIR, "--draws", "50", "--primary", metric)
    assert refused.code == 2
    assert "Choose one of aqwv" in refused.stderr


@pytest.mark.req("S-27")
def test_the_primary_metric_heads_ranking_matrix_pairs_and_every_report(tmp_path):
    names = ("all.html", "all.pptx", "all.tex", "all.txt")
    reports = [word for name in names for word in ("--report", tmp_path / name)]
    found = typed(*TWO, "--primary", "accuracy", *reports)
    assert found.code == 0, found.stderr
    for words in (
        "comes first on Accuracy",
        "Ranking on Accuracy",
        "Matrix of pairs on Accuracy",
        "Differences in Acc",
    ):
        assert words in " ".join(found.stdout.split()), "a title may be broken over lines"
        assert "F1 (macro)" not in found.stdout
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert page.index("Ranking on Accuracy") < page.index("Ranking on F1 (macro)")
    assert "comes first on Accuracy" in page
    assert "Accuracy" in (tmp_path / "all.tex").read_text(encoding="utf-8").partition("F1 (macro)")[0]
    with zipfile.ZipFile(tmp_path / "all.pptx") as deck:
        first = [deck.read(f"ppt/slides/slide{number}.xml").decode() for number in (1, 2, 3)]
    assert "Accuracy" in "".join(first)
    assert typed(*TWO, "--primary", "accuracy", "--json").data["primary"] == "accuracy"


@pytest.mark.req("S-27")
def test_breakdowns_and_charts_are_drawn_by_the_primary_metric():
    words = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--metadata", "metadata/documents.tsv")
    found = here(*words, "--draws", "50", "--primary", "pmiss")
    assert found.code == 0, found.stderr
    assert "• Pmiss is 0." in found.stdout
    assert re.search(r"^Pmiss by \w+", found.stdout, re.MULTILINE)
    assert not re.search(r"^AQWV by \w+", found.stdout, re.MULTILINE)


@pytest.mark.req("S-27")
def test_python_and_results_that_were_written_down_take_a_primary_metric_too(tmp_path):
    given = {"reference": CLASSES / "key.csv", "draws": 50, "primary": "accuracy"}
    one = basanite.score("classification", submission=CLASSES / "Alpha.csv", **given)
    assert one.scores.primary == "accuracy"
    both = basanite.compare("classification", submissions=[CLASSES / "Alpha.csv", CLASSES / "Beta.csv"], **given)
    assert both.rankings["accuracy"].order[0] == "Alpha"
    with pytest.raises(BasaniteError, match="Choose one of f1_macro"):
        basanite.score("classification", submission=CLASSES / "Alpha.csv", **(given | {"primary": "acuracy"}))
    for name in ("Alpha", "Beta"):
        plain = typed("score", "classification", *REFERENCE, "--submission", f"{name}.csv", "--draws", "50", "--json")
        (tmp_path / f"{name}.json").write_text(plain.stdout)
    results = ("compare", "--result", "Alpha.json", "--result", "Beta.json")
    shown = typed(*results, "--primary", "accuracy", cwd=tmp_path)
    assert "Alpha: Accuracy is" in shown.stdout
    assert "F1 (macro) is" not in shown.stdout
    assert typed(*results, "--primary", "acuracy", cwd=tmp_path).code == 2


@pytest.mark.req("S-27")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("acuracy", "there is no such metric"),
        ("f1", "it has a value for each part but no overall value"),
        ("", "there is no such metric"),
        ("../../etc/passwd", "there is no such metric"),
        ("\x1b[31maccuracy", "there is no such metric"),
    ],
)
def test_a_name_that_cannot_be_primary_is_refused_with_those_that_can(name, why):
    found = typed(*TWO, "--primary", name)
    assert found.code == 2
    assert why in found.stderr
    assert "Choose one of f1_macro" in found.stderr
    assert "\x1b" not in found.stderr
    assert not found.stdout


@pytest.mark.req("S-27")
def test_a_primary_metric_without_a_direction_is_refused_and_an_optimistic_one_says_so():
    refused = here(*CLIR, "--draws", "50", "--primary", "theta_best")
    assert "neither high nor low values of it are better" in refused.stderr
    optimistic = here(*CLIR, "--draws", "50", "--primary", "oracle").stdout
    assert "Values of Oracle QWV are optimistic" in optimistic
    twice = here(*CLIR, "--primary", "pmiss", "--set", "primary=pfa")
    assert (twice.code, "given twice" in twice.stderr) == (2, True)


@pytest.mark.req("S-27")
def test_measures_of_features_take_a_primary_one_too():
    one = here("measure", "run", "seen.npz", "--draws", "0", "--primary", "silhouette", cwd=FEATURES)
    assert one.code == 0, one.stderr
    assert "Silhouette is" in one.stdout
    assert "FERM 1 is" not in one.stdout
    both = here("measure", "compare", "seen.npz", "faint.npz", "--draws", "0", "--primary", "gap", cwd=FEATURES)
    assert "By Similarity gap, best first" in both.stdout
    for name in ("nothing", "leep"):
        refused = here("measure", "run", "seen.npz", "--draws", "0", "--primary", name, cwd=FEATURES)
        assert (refused.code, bool(refused.stdout)) == (2, False), name
        assert name in refused.stderr


def campaign_with(primary):
    """The small campaign whose blind week names its primary metric."""
    return small_campaign_text().replace('id = "week"\n', f'id = "week"\nprimary = {primary}\n')


@pytest.mark.req("S-27")
@pytest.mark.parametrize(
    ("primary", "words"),
    [
        ('"accuracy"', "Choose one of aqwv"),
        ('"theta_best"', "neither high nor low"),
        ('"mqwv"', "selected on the test data"),
        ('"auc"', "for development only"),
        ('{ E2E = "e2e_aqwv" }', "not one of its tasks"),
        ('{ CLIR = "nothing" }', "there is no such metric"),
        ("7", "has no text `primary`"),
    ],
)
def test_a_campaign_file_with_a_primary_metric_that_cannot_be_is_refused_with_its_line(tmp_path, primary, words):
    (tmp_path / "campaign.toml").write_text(campaign_with(primary))
    refused = here("admin", "campaign", "add", "campaign.toml", "--data", "season", cwd=tmp_path)
    assert refused.code == 1
    assert words in refused.stderr
    line = 1 + (tmp_path / "campaign.toml").read_text().splitlines().index(f"primary = {primary}")
    assert f"campaign.toml:{line}" in refused.stderr


@pytest.mark.slow
@pytest.mark.req("S-27")
@pytest.mark.timeout(400)
def test_a_board_is_ranked_by_the_primary_metric_of_its_window(tmp_path):
    pack = small_pack(tmp_path / "pack")
    text = campaign_with('{ CLIR = "pmiss" }').replace('"7 days"', '"0 min"')
    with staged(tmp_path / "season", text, WEEK) as stage:
        add_reference(stage, pack, "EVAL1")
        run = send(stage, "ada", pack.perfect, type="primary")
        send(stage, "bea", pack.silent, type="primary")
        stage.work()
        stage.clock.set(CLOSED)
        release(stage, "top")
        stage.work()
        board = stage.get("bea", "/leaderboard", window="week", task="CLIR", language="1A").json()
        data = stage.get("ada", f"/submissions/{run}").json()["result"]["data"]
    assert board["metric"] == "pmiss"
    assert [(row["name"], row["value"]) for row in board["rows"]] == [("Alpha", 0.0), ("Beta", 1.0)], "low is good"
    assert data["primary"] == "pmiss"
    assert {"pmiss", "aqwv"} <= data["values"].keys()
