"""Bundles of Codabench and EvalAI, written here after the documentation of both, become campaigns (P-48)."""

from __future__ import annotations

import io
import stat
import tomllib
import zipfile

import pytest
from tests.cli.running import here

from basanite.formats.archives.members import Limits

LABELS = "id,label\n" + "".join(f"i{at:03},{'ab'[at % 2]}\n" for at in range(30))
COMPETITION = """
version: 2
title: Leaf Shapes 2026
description: Tell leaves by their shape.
image: logo.png
docker_image: codalab/codalab-legacy:py312
contact_email: leaves@example.org
registration_auto_approve: True
terms: pages/terms.md
pages:
  - title: Overview
    file: pages/overview.html
  - title: Prizes
    file: pages/prizes.md
phases:
  - index: 0
    name: Practice
    start: 2026-01-05
    end: 2026-02-01 12:30:00
    max_submissions_per_day: 5
    max_submissions: 50
    public_data: public.zip
    tasks: [0, 1]
  - index: 1
    name: Final
    start: 02-02-2026
    hide_score_output: True
    max_submissions: 3
    tasks:
      - 1
tasks:
  - index: 0
    name: Easy
    reference_data: truth/
    scoring_program: scoring.zip
    ingestion_program: ingestion/
  - index: 1
    name: Hard
    reference_data: truth.zip
    scoring_program: scoring.zip
solutions:
  - index: 0
    path: solution.zip
    tasks: [0]
leaderboards:
  - title: Results
    key: main
    submission_rule: Force_Best
    columns:
      - {title: Accuracy, key: accuracy, index: 0, sorting: desc}
      - {title: Seconds, key: duration, index: 1, sorting: asc}
"""
CHALLENGE = """
title: Leaf Counts
short_description: Count leaves.
description: templates/description.html
evaluation_details: templates/evaluation.html
terms_and_conditions: templates/terms.html
submission_guidelines: templates/guidelines.html
image: logo.jpg
evaluation_script: evaluation_script.zip
remote_evaluation: False
start_date: 2026-01-01 00:00:00
end_date: 2026-12-31 23:59:59
leaderboard:
  - id: 1
    schema: {"labels": ["F1", "Error"], "default_order_by": "F1", "metadata": {"Error": {"sort_ascending": True}}}
challenge_phases:
  - id: 7
    name: Dev
    codename: dev
    start_date: 2026-01-01 00:00:00
    end_date: 2026-03-01 00:00:00
    test_annotation_file: annotations/dev.csv
    max_submissions_per_day: 4
    max_submissions_per_month: 40
    submission_meta_attributes:
      - {name: Hours, type: text, required: True}
  - id: 8
    name: Test
    start_date: 2026-03-01 00:00:00
    end_date: 2026-04-01 00:00:00
    test_annotation_file: annotations/dev.csv
    max_submissions: 2
dataset_splits:
  - {id: 1, name: Whole, codename: whole}
challenge_phase_splits:
  - {challenge_phase_id: 7, leaderboard_id: 1, dataset_split_id: 1, visibility: 3}
  - {challenge_phase_id: 8, leaderboard_id: 1, dataset_split_id: 1, visibility: 1}
"""


def packed(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


PROGRAM = packed(**{"metadata.yaml": "command: python3 score.py $input $output\n", "score.py": "print(1)\n"})
PAGE = (
    "<h1>Leaves</h1><p>Read <a href='https://example.org/x'>this</a>"
    "<a href='javascript:alert(1)'>not this</a>.</p><script>steal()</script><ul><li>one</li></ul>"
)
CODABENCH = {
    "competition.yaml": COMPETITION,
    "logo.png": b"\x89PNG",
    "pages/terms.md": "Be *kind*.",
    "pages/overview.html": PAGE,
    "pages/prizes.md": "A book.",
    "truth/labels.csv": LABELS,
    "truth.zip": packed(**{"labels.csv": LABELS}),
    "scoring.zip": PROGRAM,
    "solution.zip": packed(**{"answers.csv": LABELS}),
    "public.zip": packed(**{"leaves.txt": "round"}),
}
EVALAI = {
    "challenge_config.yaml": CHALLENGE,
    "templates/description.html": PAGE,
    "annotations/dev.csv": LABELS,
    "evaluation_script.zip": packed(**{"main.py": "def evaluate(): ...\n"}),
}


def bundle(tmp_path, files, **changed):
    path = tmp_path / "bundle.zip"
    path.write_bytes(packed(**{**files, **changed}))
    return path


def season(tmp_path, folder):
    """The campaign of the folder on a new server; gives its windows and what a reference of it is called."""
    data = tmp_path / "data"
    added = here("admin", "campaign", "add", str(folder / "campaign.toml"), "--data", str(data), "--json", cwd=tmp_path)
    assert added.code == 0, added.stderr
    return data


@pytest.mark.req("P-48")
def test_a_codabench_bundle_becomes_a_campaign_with_its_reference_and_program(tmp_path):
    (tmp_path / "past.csv").write_text("team,accuracy\nOaks,0.75\nA|B,0.5\n")
    words = ("--out", "moved", "--history", "past.csv", "--json")
    ended = here("import", "codabench", str(bundle(tmp_path, CODABENCH)), *words, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert (ended.data["windows"], ended.data["task"], ended.data["programs"]) == (3, "classification", 2)
    moved = tmp_path / "moved"
    plan = tomllib.loads((moved / "campaign.toml").read_text())
    windows = {one["id"]: one for one in plan["windows"]}
    assert [windows[name]["closes"] for name in ("p0t0", "p0t1")] == ["2026-02-01 12:30"] * 2
    assert windows["p0t0"]["quota"] == {"count": 5, "period": "day"}
    assert (windows["p0t0"]["board"], windows["p0t0"]["feedback"]) == ("best", "limited")
    assert (windows["p1t1"]["opens"], windows["p1t1"]["feedback"]) == ("2026-02-02 00:00", "none")
    assert windows["p1t1"]["quota"] == {"count": 3, "period": "total"}
    about = plan["about"]
    assert about["terms"] == "Be *kind*."
    assert "## Leaves" in about["description"]
    assert "[this](<https://example.org/x>)" in about["description"]
    assert "steal" not in about["description"]
    assert "javascript" not in about["description"]
    assert "## Prizes" in about["description"]
    assert "| Oaks | 0.75 |" in about["data"]
    assert "A\\|B" in about["data"]
    program = tomllib.loads((moved / "programs" / "task0" / "program.toml").read_text())
    assert program["command"] == "python3 score.py $input $output"
    assert program["image"] == "codalab/codalab-legacy:py312"
    assert program["columns"][1] == {"key": "duration", "title": "Seconds", "best": "low"}
    assert (moved / "programs" / "task0" / "files" / "score.py").read_text() == "print(1)\n"
    assert (moved / "packs" / "P0T0" / "1" / "leaves.txt").read_text() == "round"
    assert (moved / "kits" / "solution0" / "answers.csv").is_file()
    losses = " ".join(ended.data["losses"])
    for lost in ("ingestion program", "50 submissions in all beside 5", "never ends", "`registration_auto_approve`",
                 "one submission answers all tasks", "month, day, year", "a guess"):  # fmt: skip
        assert lost in losses, lost
        assert lost in (moved / "NEXT.md").read_text()
    data = season(tmp_path, moved)
    for file in ("P0T0", "P0T1"):
        add = ("admin", "reference", "add", f"moved/references/{file}/labels.csv", "--task", "classification")
        known = here(*add, "--dataset", file, "--data", str(data), "--json", cwd=tmp_path)
        assert known.code == 0, known.stderr


@pytest.mark.req("P-48")
def test_an_evalai_configuration_becomes_a_campaign_with_its_reference_and_script(tmp_path):
    given = (str(bundle(tmp_path, EVALAI)), "--out", "moved", "--task", "classification", "--json")
    ended = here("import", "evalai", *given, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    moved = tmp_path / "moved"
    plan = tomllib.loads((moved / "campaign.toml").read_text())
    dev, test = plan["windows"]
    assert (dev["title"], dev["quota"], dev["feedback"]) == ("Dev", {"count": 4, "period": "day"}, "limited")
    assert (test["title"], test["kind"], test["feedback"]) == ("Test", "evaluation", "none")
    program = tomllib.loads((moved / "programs" / "evaluation" / "program.toml").read_text())
    assert [(one["key"], one["best"]) for one in program["columns"]] == [("F1", "high"), ("Error", "low")]
    assert (moved / "programs" / "evaluation" / "files" / "main.py").is_file()
    losses = " ".join(ended.data["losses"])
    for lost in ("40 submissions a month", "the field 'Hours'", "the dataset split 'Whole'", "templates/terms.html"):
        assert lost in losses, lost
    season(tmp_path, moved)


def link(tmp_path):
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("competition.yaml", COMPETITION)
        entry = zipfile.ZipInfo("truth")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc")
    return path


def twice(tmp_path):
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("competition.yaml", COMPETITION)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("competition.yaml", "title: other")
    return path


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
HOSTILE = {
    "link": (link, "leads elsewhere"),
    "twice": (twice, "holds a name twice"),
    "parent": (lambda path: bundle(path, CODABENCH, **{"../out.txt": "x"}), "leads elsewhere"),
    "below a file": (lambda path: bundle(path, CODABENCH, **{"logo.png/x": "x"}), "holds a name twice"),
    "yaml bomb": (lambda path: bundle(path, CODABENCH, **{"competition.yaml": BOMB}), "the anchor &a is not allowed"),
    "no bundle": (lambda path: bundle(path, {"x.txt": "x"}), "holds no competition.yaml"),
    "no mapping": (lambda path: bundle(path, CODABENCH, **{"competition.yaml": "- x"}), "this is no mapping"),
    "no phase": (lambda path: bundle(path, CODABENCH, **{"competition.yaml": "title: x"}), "no phase with dates"),
    "odd date": (
        lambda path: bundle(path, CODABENCH, **{"competition.yaml": COMPETITION.replace("2026-01-05", "soon")}),
        "`start` of phases 1 is no date",
    ),
    "no zip": (lambda path: (path / "bundle.zip").write_bytes(b"hello") and path / "bundle.zip", "cannot be read"),
}


@pytest.mark.req("P-48")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_or_broken_bundle_is_refused_and_leaves_nothing(tmp_path, kind):
    made, message = HOSTILE[kind]
    path = made(tmp_path)
    ended = here("import", "codabench", str(path), "--out", "moved", cwd=tmp_path)
    assert ended.code in (1, 2)
    assert message in " ".join(ended.stderr.split()) + " ".join(ended.stdout.split())
    assert [one.name for one in tmp_path.iterdir()] == ["bundle.zip"]
    assert not (tmp_path.parent / "out.txt").exists()


@pytest.mark.req("P-48")
def test_paths_out_of_the_bundle_are_not_followed_and_wrong_options_are_named(tmp_path):
    text = COMPETITION.replace("truth/", "../../etc").replace("pages/terms.md", "/etc/passwd")
    path = bundle(tmp_path, CODABENCH, **{"competition.yaml": text})
    ended = here("import", "codabench", str(path), "--out", "moved", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert sum("leads out of the bundle" in one for one in ended.data["losses"]) == 2
    assert "root:" not in (tmp_path / "moved" / "campaign.toml").read_text()
    again = here("import", "codabench", str(path), "--out", "moved", cwd=tmp_path)
    assert again.code == 2
    assert "already exists" in again.stderr
    unknown = here("import", "codabnch", str(path), cwd=tmp_path)
    assert "Did you mean" in unknown.stderr
    table = tmp_path / "odd.csv"
    table.write_text("team,score\nOaks\n")
    odd = here("import", "codabench", str(path), "--out", "other", "--history", str(table), cwd=tmp_path)
    assert "row 2: 1 cells where the header has 2" in odd.stderr


@pytest.mark.req("P-48")
def test_an_archive_inside_the_archive_counts_toward_the_same_bound(tmp_path, monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 200_000)
    path = bundle(tmp_path, CODABENCH, **{"truth.zip": bomb.getvalue()})
    monkeypatch.setattr("basanite.campaign.moves.bundle.LIMITS", Limits(members=100, total_bytes=100_000))
    ended = here("import", "codabench", str(path), "--out", "moved", cwd=tmp_path)
    assert ended.code == 2
    assert "too large when it is unpacked" in ended.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["bundle.zip"]
    monkeypatch.setattr("basanite.campaign.moves.bundle.LIMITS", Limits(members=5))
    assert "Pack at most 5" in here("import", "codabench", str(path), cwd=tmp_path).stderr
