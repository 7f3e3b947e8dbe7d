"""`basanite material explore`: the command's contract, on the example."""

from __future__ import annotations

import pytest
from tests.cli.running import EXAMPLE, here

WORDS = ("material", "explore", "clir", "--reference", "key", "--submission", "Gamma.tgz")
FACTORS = ("--metadata", "metadata/documents.tsv", "--metadata", "metadata/queries.tsv")


def relevant_pairs():
    files = {path.stem: path.read_text().splitlines() for path in (EXAMPLE / "key").iterdir()}
    lines = ((query, line.split("\t")) for query, rows in files.items() for line in rows)
    return {(query, cells[0]) for query, cells in lines if cells[1] == "Y"}


@pytest.fixture(scope="module")
def domains(tmp_path_factory):
    """A DomainID key without conversational speech: every second document is about government."""
    folder = tmp_path_factory.mktemp("domains")
    lines = (EXAMPLE / "metadata" / "documents.tsv").read_text().splitlines()[1:]
    names = [line.split("\t")[0] for line in lines if "\tCS\t" not in line]
    (folder / "GOV.tsv").write_text("".join(f"{name}\t{'YN'[at % 2]}\n" for at, name in enumerate(names)))
    return folder


def test_misses_are_relevant_and_false_alarms_are_not_and_counts_add_up():
    data = here(*WORDS, *FACTORS, "--json").data
    relevant = relevant_pairs()
    assert data["listed"] == data["total"] == len(data["rows"]) == sum(data["counts"].values()) == 32
    for row in data["rows"]:
        assert ((row["query"], row["document"]) in relevant) is (row["outcome"] == "miss")
    for levels in data["by_factor"].values():
        assert {kind: sum(count[kind] for count in levels.values()) for kind in data["counts"]} == data["counts"]
    badness = [1 - row["confidence"] if row["outcome"] == "miss" else row["confidence"] for row in data["rows"]]
    assert badness == sorted(badness, reverse=True)


def test_most_bounds_the_rows_and_says_so(tmp_path):
    ended = here(*WORDS, "--most", "5", "--out", tmp_path / "page.html")
    assert "Listed are the 5 worst" in ended.stdout
    assert "Page written to" in ended.stderr
    assert "Listed are the 5 worst" in (tmp_path / "page.html").read_text()


@pytest.mark.req("M86")
def test_false_alarms_are_split_by_a_domain_key(domains):
    data = here(*WORDS, *FACTORS, "--domains", domains, "--json").data
    kinds = data["non_targets"]
    assert kinds.keys() == {"right domain, wrong string", "wrong domain"}
    rows = [row for row in data["rows"] if row["factors"]["query domain"] == "GOV" and row["outcome"] == "false alarm"]
    told = [row["non_target"] for row in rows]
    assert sum(kind["false_alarms"] for kind in kinds.values()) == len([kind for kind in told if kind])
    assert all((row["non_target"] is None) == (row["factors"]["genre"] == "CS") for row in rows)
    assert sum(kind["share"] for kind in kinds.values()) == pytest.approx(1)


def test_a_domain_key_of_other_queries_is_refused(domains):
    ended = here(*WORDS, "--domains", domains)
    assert (ended.code, "Give --queries" in ended.stderr) == (2, True)


@pytest.mark.req("M72", case="bad")
def test_without_a_key_of_ones_own_nothing_is_told():
    ended = here("material", "explore", "clir", "--submission", "Gamma.tgz")
    assert (ended.code, ended.stdout) == (2, "")
    assert "--reference" in ended.stderr


def test_the_page_must_be_html(tmp_path):
    ended = here(*WORDS, "--out", tmp_path / "page.pdf")
    assert (ended.code, ".html" in ended.stderr) == (2, True)


def test_processes_side_by_side_find_the_same():
    assert here(*WORDS, "--json", "--workers", "2").stdout == here(*WORDS, "--json").stdout
