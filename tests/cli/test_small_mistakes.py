"""Small things that people stumbled over: names of sets, a beta that nobody asked for, a graph that says nothing."""

from __future__ import annotations

import csv

import pytest
from tests.cli.running import EXAMPLE, JUDGING, here

NAME = "Team_CLIR-primary-unconstrained-{}-alpha_BASE-1A-{}_20180115_120000.tgz"


def explained(sets, dataset):
    return here("pack", "--explain", NAME.format(sets, dataset))


@pytest.mark.req("M56")
@pytest.mark.parametrize(("sets", "dataset"), [("QUERY7", "DEV"), ("QUERY1", "EVAL9"), ("QUERY1QUERY4", "DEV")])
def test_sets_that_the_plan_does_not_have_are_refused(sets, dataset):
    assert explained(sets, dataset).code == 1


@pytest.mark.req("M20")
@pytest.mark.parametrize(
    ("sets", "meaning"),
    [
        ("QUERY1", "open queries, which never count"),
        ("QUERY2QUERY3", "closed queries"),
        ("QUERY1QUERY2QUERY3", "open and closed queries; the open ones never count"),
    ],
)
def test_a_name_says_whether_its_queries_are_open(sets, meaning):
    ended = explained(sets, "EVAL1EVAL2EVAL3")
    assert ended.code == 0
    assert meaning in ended.stdout + ended.stderr


@pytest.fixture
def unknown_language(tmp_path):
    """The small example in a language for which the plan has no beta."""
    for name in ("key", "run"):
        (tmp_path / name).mkdir()
    for path in sorted((EXAMPLE / "key").glob("*.tsv")):
        data = path.read_text().replace("BASE-1A", "BASE-9Z")
        (tmp_path / "key" / path.name).write_text(data)
        (tmp_path / "run" / path.name).write_text(data.replace("\n", "\t0.5\n"))
    return tmp_path


@pytest.mark.req("M04")
def test_no_beta_is_needed_to_validate_and_one_to_score(unknown_language):
    given = ("--reference", "key", "--submission", "run")
    assert here("validate", "clir", *given, cwd=unknown_language).code == 0
    scored = here("score", "clir", *given, cwd=unknown_language)
    assert scored.code == 2
    assert "No beta is known for language '9Z'" in scored.stderr


@pytest.mark.req("R-9")
def test_a_graph_without_a_triple_says_nothing(tmp_path):
    (tmp_path / "a.rules").write_text("(namespace <https://example.org/n#>)\n")
    for text in ("", "()", " ( )\n"):
        (tmp_path / "s.graph").write_text(text)
        ended = here("reading", "infer", "a.rules", "--statements", "s.graph", cwd=tmp_path)
        assert ended.code == 0, (text, ended.stderr)


@pytest.mark.req("M52")
def test_what_judges_meet_again_is_told_in_a_few_lines(tmp_path):
    with (tmp_path / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_text", "summary", "query", "document"])
        writer.writerows([f"words {at}", f"summary {at}", f"q{at // 10}", f"d{at}"] for at in range(500))
    usual = (JUDGING / "schemes" / "relevance.toml").read_text(encoding="utf-8")
    (tmp_path / "scheme.toml").write_text("alike_at_most = 1\n" + usual, encoding="utf-8")
    words = ("judge", "plan", "scheme.toml", "--items", "items.csv", "--judges", "judge=4", "--json")
    warnings = [one["message"] for one in here(*words, cwd=tmp_path).data["warnings"] if one["rule"] == "M52"]
    assert len(warnings) == 4
    assert warnings[-1] == "so it is with 47 more: 50 of 50 are met more than once by a judge"


@pytest.mark.req("M63")
@pytest.mark.parametrize("spelling", ["EVAL1EVAL2", "EVAL1+EVAL2"])
def test_packs_may_be_joined_as_in_archive_names(spelling):
    given = ("--campaign", "small", "--task", "CLIR", "--label", "a", "--dataset", spelling, "--dry-run", "--json")
    ended = here("submit", "Alpha.tgz", "--server", "http://localhost:9", *given)
    assert ended.data["said"]["dataset"] == "EVAL1+EVAL2"
