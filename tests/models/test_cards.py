"""`basanite dataset card`: metadata that a reader of Croissant takes, and a deposit whose digests hold (L-11)."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests.cli.running import here

CARD = """format = "basanite-card/1"
title = "Sums"
description = "Sums of two numbers."
version = "1.0.0"
date = "2026-11-20"
license = "{license}"
keywords = ["arithmetic"]

[[creators]]
name = "Ada Example"
affiliation = "Lab"
orcid = "0000-0002-1825-0097"

[datasheet]
motivation = "To test sums."
composition = "One sum an item."
collection = "Drawn by a program."
preprocessing = "None."
uses = "Tests of arithmetic; not for training."
distribution = "Open."
maintenance = "The makers answer questions."
"""


def written(folder):
    """A pack with two tables and a text, and its card."""
    pack = folder / "pack"
    (pack / "more").mkdir(parents=True)
    rows = [{"id": f"q{n}", "question": f"{n} plus 1", "answer": n + 1} for n in range(5)]
    (pack / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (pack / "more/groups.csv").write_text("id,group\nq0,a\nq1,b\n")
    (pack / "notes.txt").write_text("Read me.\n")
    (folder / "card.toml").write_text(CARD.format(license="CC-BY-4.0"))
    return folder


def card(folder, *more):
    return here("dataset", "card", "pack", "--about", "card.toml", "--out", "deposit", *more, cwd=folder)


@pytest.mark.req("L-11")
def test_a_deposit_holds_the_files_with_metadata_datasheet_license_and_checksums(tmp_path):
    made = card(written(tmp_path))
    assert made.code == 0, made.stderr
    deposit = tmp_path / "deposit"
    about = json.loads((deposit / "croissant.json").read_text())
    assert about["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert about["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    for one in about["distribution"]:
        assert hashlib.sha256((deposit / one["contentUrl"]).read_bytes()).hexdigest() == one["sha256"]
    sums = [line.split("  ") for line in (deposit / "SHA256SUMS").read_text().splitlines()]
    assert {name: digest for digest, name in sums} == {one["@id"]: one["sha256"] for one in about["distribution"]}
    kinds = {field["name"]: field["dataType"] for field in about["recordSet"][0]["field"]}
    assert kinds == {"id": "sc:Text", "question": "sc:Text", "answer": "sc:Integer"}
    datasheet = (deposit / "DATASHEET.md").read_text()
    assert "not for training" in datasheet
    assert "| `items.jsonl` | " in datasheet
    doi = json.loads((deposit / "datacite.json").read_text())
    assert doi["creators"][0]["nameIdentifiers"][0]["nameIdentifier"].endswith("0000-0002-1825-0097")
    assert "CC-BY-4.0" in (deposit / "LICENSE").read_text()


@pytest.mark.req("L-11", case="bad")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('license = "CC-BY-4.0"', 'license = "CC BY"'), "license"),
        (('uses = "Tests of arithmetic; not for training."', ""), "uses"),
        (("0000-0002-1825-0097", "12"), "orcid"),
        (('version = "1.0.0"', 'version = "one"'), "version"),
        (("CC-BY-4.0", "LicenseRef-ours"), "put it into the pack as LICENSE"),
    ],
)
def test_a_card_that_lacks_what_people_must_know_is_refused(tmp_path, change, told):
    written(tmp_path)
    path = tmp_path / "card.toml"
    path.write_text(path.read_text().replace(*change))
    refused = card(tmp_path)
    assert (refused.code in (1, 2), told in refused.stderr) == (True, True), refused.stderr
    assert not (tmp_path / "deposit").exists()


@pytest.mark.req("L-11", case="bad")
def test_links_and_folders_that_are_not_empty_are_refused(tmp_path):
    written(tmp_path)
    assert card(tmp_path).code == 0
    again = card(tmp_path)
    assert (again.code, "is not empty" in again.stderr) == (2, True)
    (tmp_path / "pack/secret.txt").symlink_to("/etc/hostname")
    linked = here("dataset", "card", "pack", "--about", "card.toml", "--out", "other", cwd=tmp_path)
    assert (linked.code, "is a link" in linked.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.req("L-11")
def test_mlcroissant_reads_the_records_of_the_deposit(tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant")
    assert card(written(tmp_path)).code == 0
    data = mlcroissant.Dataset(jsonld=str(tmp_path / "deposit/croissant.json"))
    assert list(data.metadata.issues.errors) == []
    rows = list(data.records("items-jsonl-records"))
    assert len(rows) == 5
