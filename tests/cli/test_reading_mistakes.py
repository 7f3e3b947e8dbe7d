"""What a newcomer types wrong in `basanite reading …` is answered with what to do, never with a stack trace."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from tests.cli.running import ROOT, here

NFL = ROOT / "examples" / "reading" / "nfl"
INFER = ("reading", "infer", "rules/scoring.rules", "--statements", "annotations/train.ndjson")
EXPLAIN = ("reading", "explain", *INFER[2:])
ANSWER = ("reading", "answer", *INFER[2:])

MISUSES = {
    "register nothing": (("reading", "register", "corpus"), "is not a reading package"),
    "effort of nothing": (("reading", "effort", "corpus"), "is not a reading package"),
    "a type of query that nobody has": (
        ("reading", "generate", ".", "--part", "train", "--types", "clas", "--out", "x.ttl"),
        "Did you mean 'class'?",
    ),
    "a graph in no folder": (
        ("reading", "generate", ".", "--part", "train", "--out", "none/x.ttl"),
        "Choose another place",
    ),
    "a bundle in no folder": (("reading", "release", ".", "--out", "../none/x.tgz"), "Choose another place"),
    "a bundle inside the package": (("reading", "release", ".", "--out", "x.tgz"), "outside the package"),
    "a bundle of another kind": (("reading", "release", ".", "--out", "../x.zip"), "ends in .tgz"),
    "a document that is not there": ((*INFER, "--document", "nfl-999"), "no statements of the document 'nfl-999'"),
    "texts that are not there": (
        (*EXPLAIN, "--statement", "game-001 type NFLGame", "--documents", "none", "--out", "../x.html"),
        "none is not a folder of texts",
    ),
    "a file of queries for infer": ((*INFER, "--query", "queries/queries.yaml"), "`reading answer` takes it"),
    "queries without an ontology": ((*ANSWER, "--query", "queries/queries.yaml"), "give --ontology"),
    "a file of queries that is not there": ((*ANSWER, "--query", "none.yaml"), "none.yaml is not a file"),
}


@pytest.mark.parametrize("case", MISUSES)
def test_a_misuse_is_told_with_its_cure(case, tmp_path):
    words, said = MISUSES[case]
    shutil.copytree(NFL, tmp_path / "nfl")
    ended = here(*words, cwd=tmp_path / "nfl")
    assert (ended.code, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["nfl"]


STRANGE = {
    "a number": "3\n",
    "null": "null\n",
    "an object without a statement": '{"a": 1}\n',
    "odd provenance": '{"document": "d", "statement": ["a", "type", "b"], "provenance": 7}\n',
    "a piece that is none": '{"document": "d", "statement": ["a", "type", "b"], "provenance": [7]}\n',
    "half an offset": json.dumps(
        {"document": "d", "statement": ["a", "type", "b"], "provenance": [{"role": "object", "start": 0.5, "end": 2}]}
    ),
    "a zero byte in a name": json.dumps(["a\0b", "type", "b"]),
    "deep brackets": "[" * 100_000,
    "a number of many digits": f'["a", "p", {"9" * 10_000}]',
}


@pytest.mark.req("X-8")
@pytest.mark.parametrize("case", STRANGE)
def test_strange_statements_are_problems_with_their_line(case, tmp_path):
    (tmp_path / "s.ndjson").write_text(STRANGE[case])
    ended = here("reading", "infer", NFL / "rules" / "scoring.rules", "--statements", "s.ndjson", cwd=tmp_path)
    assert ended.code == 1
    assert "s.ndjson:1: " in ended.stdout + ended.stderr


def test_control_and_bidi_characters_of_strangers_are_shown_escaped(tmp_path):
    (tmp_path / "x.rules").write_text("(:if (?x p ?y) :then (?x q ?y))")
    (tmp_path / "s.ndjson").write_text(json.dumps(["a", "p", '"\u202eliart\x1b[31m"']))
    ended = here("reading", "infer", "x.rules", "--statements", "s.ndjson", cwd=tmp_path)
    assert "\\u202e" in ended.stdout
    assert not {"\u202e", "\x1b"} & set(ended.stdout)


def test_a_file_without_rules_is_warned_of(tmp_path):
    (tmp_path / "x.rules").write_text("; nothing yet\n")
    (tmp_path / "s.ndjson").write_text('["a", "p", "b"]')
    ended = here("reading", "infer", "x.rules", "--statements", "s.ndjson", cwd=tmp_path)
    assert ended.code == 0
    assert "the file holds no rules [R-10, warning]" in ended.stdout + ended.stderr


def test_the_list_of_commands_loads_no_reasoner_and_no_rdf():
    code = "import sys; from basanite.cli import main; sys.argv = ['basanite', 'reading', '--help']\ntry: main()\n"
    code += "except SystemExit: pass\nprint(sorted({'pyoxigraph', 'clingo', 'scipy', 'sklearn'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.endswith("[]\n")
