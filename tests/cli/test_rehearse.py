"""Evaluations of any size to rehearse with: what was promised is what scoring gives."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import here

SIZES = ("--queries", "12", "--documents", "300", "--seed", "7")


def made(folder, task, *more):
    ended = here("dataset", "rehearse", task, "--out", "r", *SIZES, *more, cwd=folder)
    assert ended.code == 0, ended.stderr
    return json.loads((folder / "r" / "expected.json").read_text())


def scored(folder, task, system):
    return here(
        "score", task, "--reference", "key", "--submission", f"{system}.tgz", "--draws", "5", "--json", cwd=folder / "r"
    ).data


@pytest.mark.req("M01")
@pytest.mark.parametrize("language", ["1A", "1S"])
def test_a_retrieval_evaluation_scores_what_it_promises(tmp_path, language):
    expected = made(tmp_path, "clir", "--language", language)
    assert len(expected) == 3
    for system, promised in expected.items():
        values = scored(tmp_path, "clir", system)["values"]
        for name, value in promised["values"].items():
            assert values[name]["value"] == pytest.approx(value, abs=1e-9), (system, name)


@pytest.mark.parametrize("task", ["domainid", "langid"])
def test_identification_scores_what_it_promises(tmp_path, task):
    for system, promised in made(tmp_path, task).items():
        found = scored(tmp_path, task, system)["breakdowns"]["target"]
        for target, rates in promised["breakdowns"]["target"].items():
            for name, value in rates.items():
                assert found[target][name]["value"] == pytest.approx(value, abs=1e-6), (system, target, name)


def test_the_same_seed_gives_the_same_files_and_nothing_is_written_over(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert made(tmp_path / "a", "clir") == made(tmp_path / "b", "clir")
    archives = [(tmp_path / name / "r" / "Alpha.tgz").read_bytes() for name in "ab"]
    assert archives[0] == archives[1]
    again = here("dataset", "rehearse", "clir", "--out", "r", cwd=tmp_path / "a")
    assert again.code == 2
    assert "already exists" in again.stderr
