"""`basanite reading infer`, `explain`, `contexts`, `combinations` and `answer`, from the words to the exit code."""

from __future__ import annotations

import json
import random

import pytest
from tests.cli.running import ROOT, here

READING = ROOT / "examples" / "reading"
TABLE = READING / "table3"
OVERTIME = ("table3.rules", "--statements", "overtime.graph")
FOUR = ("table3.rules", "--statements", "four-periods.graph")
NFL = ("rules/scoring.rules", "--statements", "annotations/train.ndjson")
THEORY = "theories/scoring.toml"


@pytest.mark.req("R-13", "R-9")
def test_infer_prints_the_object_of_the_contract():
    ended = here("reading", "infer", *OVERTIME, "--query", "periods.graph", "--json", cwd=TABLE)
    data = ended.data
    assert ended.code == 0
    assert data["derived"] == [["Game-1", "numberOfPeriods", "5"]]
    assert (data["answers"], data["kinds"]) == ([{"?G": "Game-1", "?N": "5"}], ["inferred"])
    assert (data["contradictions"], data["undecided"]) == ([], [])
    (derivation,) = data["derivations"].values()
    assert (derivation["rule"], derivation["if_not"]) == ("rule-1", ["Game-1 numberOfPeriods ?n"])


@pytest.mark.req("R-13")
def test_a_contradiction_is_told_with_the_input_behind_it():
    data = here("reading", "infer", *FOUR, "--json", cwd=TABLE).data
    (found,) = data["contradictions"]
    assert (found["rule"], found["bindings"]) == ("rule-2", {"?game": "Game-1", "?N": "4"})
    assert found["inputs"] == [["Game-1", "hasOvertimePlay", "true"], ["Game-1", "numberOfPeriods", "4"]]


def test_every_kind_of_statements_file_says_the_same(tmp_path):
    rows = [["Game-1", "type", "NFLGame"], ["Game-1", "hasOvertimePlay", "true"]]
    (tmp_path / "s.ndjson").write_text("\n".join(map(json.dumps, rows)))
    name, rdf = "urn:basanite:name:", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    (tmp_path / "s.ttl").write_text(f"@prefix n: <{name}> . n:Game-1 a n:NFLGame ; n:hasOvertimePlay true .")
    (tmp_path / "s.nt").write_text(
        f"<{name}Game-1> <{rdf}type> <{name}NFLGame> .\n"
        f'<{name}Game-1> <{name}hasOvertimePlay> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n'
    )
    wanted = here("reading", "infer", *OVERTIME, "--json", cwd=TABLE).stdout
    for file in sorted(tmp_path.iterdir()):
        assert here("reading", "infer", "table3.rules", "--statements", file, "--json", cwd=TABLE).stdout == wanted


def test_problems_of_rules_and_statements_end_with_exit_code_1(tmp_path):
    (tmp_path / "bad.rules").write_text("(rule r :if (?x p ?y)\n :then (?x q ?z))")
    (tmp_path / "bad.ndjson").write_text('["a", "b"]\nnot json\n["a", "b", "c"]\n')
    ended = here("reading", "infer", "bad.rules", "--statements", "bad.ndjson", "--json", cwd=tmp_path)
    assert ended.code == 1
    assert [(p["file"], p["line"]) for p in ended.data["problems"]] == [
        ("bad.rules", 2),
        ("bad.ndjson", 1),
        ("bad.ndjson", 2),
    ]
    words = here("reading", "infer", "bad.rules", "--statements", "bad.ndjson", cwd=tmp_path)
    assert "bad.rules:2: rule r: ?z in the conclusion is bound by nothing" in words.stderr


@pytest.mark.req("X-13")
def test_a_limit_ends_with_exit_code_1_and_undecided(tmp_path):
    (tmp_path / "count.rules").write_text("(rule up :if (?x n ?n) (?n mrq:plus 1 ?m) :then (?x n ?m))")
    (tmp_path / "s.graph").write_text("(a n 1)")
    words = ("reading", "infer", "count.rules", "--statements", "s.graph", "--limit", "terms_per_rule=10", "--json")
    ended = here(*words, cwd=tmp_path)
    assert ended.code == 1
    assert ended.data["undecided"] == [{"limit": "terms_per_rule", "most": 10, "rule": "up"}]
    assert (ended.data["derived"], ended.data["consistent"]) == ([], None)
    why = here("reading", "explain", *words[2:-1], "--statement", "a n 2", cwd=tmp_path)
    assert (why.code, why.stdout.startswith("the limit on terms_per_rule, 10, was reached in rule up.")) == (1, True)
    assert "by the limit terms_per_rule=NUMBER" in why.stdout


@pytest.mark.req("R-9")
def test_explain_writes_a_page_and_rdf(tmp_path):
    words = ("reading", "explain", *OVERTIME, "--statement", "Game-1 numberOfPeriods 5")
    for name, part in (("why.html", b"no statement matches"), ("why.rdf", b"prov:Activity"), ("why.ttl", b"prov:used")):
        ended = here(*words, "--out", tmp_path / name, cwd=TABLE)
        assert ended.code == 0
        assert part in (tmp_path / name).read_bytes()
    assert "no statement matches Game-1 numberOfPeriods ?n" in ended.stdout


@pytest.mark.req("R-35")
def test_explain_says_why_a_statement_does_not_follow():
    words = ("reading", "explain", *FOUR, "--statement")
    blocked = here(*words, "Game-1 numberOfPeriods 5", cwd=TABLE)
    assert (blocked.code, blocked.stdout.splitlines()) == (
        1,
        [
            "Game-1 numberOfPeriods 5 was not given and does not follow.",
            "Rule rule-1 could conclude it:",
            "  holds: Game-1 hasOvertimePlay true",
            "  blocked by: Game-1 numberOfPeriods 4",
        ],
    )
    assert "No rule concludes such a statement." in here(*words, "Game-1 numberOfPeriods 6", cwd=TABLE).stdout
    by_number = here(
        "reading", "explain", *NFL, "--statement", "game-001 gameWinner GreenBayPackers", cwd=READING / "nfl"
    )
    assert any(line.startswith("  fails: 20 > ") or "blocked by" in line for line in by_number.stdout.splitlines())


@pytest.mark.req("R-35")
def test_what_is_said_to_be_missing_makes_a_statement_follow(tmp_path):
    """Of random rules: with the missing statements of the nearest attempt the statement follows."""
    tried = 0
    for seed in range(40):
        draw = random.Random(seed)
        body = [f"(?{draw.choice('xyz')} {draw.choice('pq')} ?{draw.choice('xyz')})" for _ in range(3)]
        (tmp_path / "t.rules").write_text(f"(rule r :if (?x p ?y) {' '.join(body)} :then (?x r ?y))")
        given = sorted({(draw.choice("abc"), draw.choice("pq"), draw.choice("abc")) for _ in range(4)})
        words = ("reading", "explain", "t.rules", "--statements", "s.ndjson", "--statement", "a r b", "--json")
        (tmp_path / "s.ndjson").write_text("\n".join(json.dumps(one) for one in given))
        ended = here(*words, cwd=tmp_path)
        if ended.code == 0:
            continue
        (nearest,) = ended.data["attempts"]
        wanted = [text.replace("?z", "a").split() for text in nearest["missing"]]
        assert _follows(tmp_path, [*given, *wanted], words), (seed, nearest)
        tried += 1
    assert tried > 20


def _follows(folder, rows, words):
    (folder / "s.ndjson").write_text("\n".join(json.dumps(one) for one in rows))
    return here(*words, cwd=folder).code == 0


@pytest.mark.req("R-35")
def test_independent_contradictions_are_repaired_one_by_one(tmp_path):
    pairs = " ".join(f"(Game-{n} hasOvertimePlay true) (Game-{n} numberOfPeriods 4)" for n in range(20))
    (tmp_path / "s.graph").write_text(pairs)
    words = ("reading", "contexts", TABLE / "table3.rules", "--statements", "s.graph")
    ended = here(*words, cwd=tmp_path)
    assert ended.code == 0
    assert "Conflict 20: 2 repairs" in ended.stdout
    assert "Best context: 20 statements, 20 left out\n" in ended.stdout
    data = here(*words, "--json", cwd=tmp_path).data
    assert (len(data["conflicts"]), data["best"]["size"], data["best"]["exact"]) == (20, 20, True)
    assert {len(one["sets"][0]) for one in data["conflicts"]} == {2}


def test_explain_says_what_does_not_hold_and_what_cannot_be_written():
    asked = ("reading", "explain", *OVERTIME, "--statement", "Game-1 numberOfPeriods 6")
    missing = here(*asked, "--out", "why.html", cwd=TABLE)
    assert (missing.code, "does not follow" in missing.stderr) == (2, True)
    unknown = here("reading", "explain", *OVERTIME, "--out", "why.docx", cwd=TABLE)
    assert (unknown.code, "must end in" in unknown.stderr) == (2, True)
    wrong = here("reading", "explain", *OVERTIME, "--statement", "Game-1", cwd=TABLE)
    assert (wrong.code, "three terms" in wrong.stderr) == (1, True)


def test_explain_without_a_statement_lists_contradictions():
    ended = here("reading", "explain", *FOUR, "--json", cwd=TABLE)
    assert [one["rule"] for one in ended.data["contradictions"]] == ["rule-2"]
    assert here("reading", "explain", *OVERTIME, cwd=TABLE).stdout == "No contradictions.\n"


@pytest.mark.req("R-25")
def test_contexts_lists_what_each_leaves_out():
    data = here("reading", "contexts", *FOUR, "--json", cwd=TABLE).data
    left_out = [[" ".join(statement) for statement in one["left_out"]] for one in data["contexts"]]
    assert left_out == [["Game-1 hasOvertimePlay true"], ["Game-1 numberOfPeriods 4"]]


@pytest.mark.req("R-11")
def test_combinations_prints_ranked_worlds():
    words = ("reading", "combinations", THEORY, "--total", "20", "--at-least", "fg=1", "--exactly", "td=2", "--json")
    ended = here(*words, cwd=READING / "nfl")
    first = ended.data["worlds"][0]
    assert (first["counts"]["fg"], round(first["probability"], 4)) == (2, 0.9843)
    assert ["?score", "fieldGoalCompleteCount", "2"] in first["statements"]
    none = here("reading", "combinations", THEORY, "--total", "1", cwd=READING / "nfl")
    assert none.stdout == "Contradiction: no combination of events makes a total of 1 within what is stated.\n"
    for wrong in ("fg", "fg=x", "goal=1"):
        assert (
            here("reading", "combinations", THEORY, "--total", "9", "--at-least", wrong, cwd=READING / "nfl").code == 2
        )


def test_answer_writes_a_submission_document_by_document(tmp_path):
    query = "(?G type NFLGame) (?G numberOfPeriods ?N)"
    ended = here(
        "reading", "answer", *NFL, "--query", query, "--out", tmp_path / "a.ndjson", "--json", cwd=READING / "nfl"
    )
    rows = [json.loads(line) for line in (tmp_path / "a.ndjson").read_text().splitlines()]
    assert ended.code == 0
    assert rows == ended.data["answers"]
    assert {"explicit", "inferred"} == {row["kind"] for row in rows}
    assert all(row["provenance"] and row["document"].startswith("nfl-") for row in rows)


def test_a_query_that_cannot_be_asked_is_a_problem():
    for query in ("(?G type NFLGame) (?N < 4)", "(?G type", "()"):
        ended = here("reading", "infer", *OVERTIME, "--query", query, "--json", cwd=TABLE)
        assert (ended.code, ended.data["valid"]) == (1, False), ended.stdout
