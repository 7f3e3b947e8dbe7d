"""A reading package from nothing: made, checked, filled, its gold derived, its baseline read and scored."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.cli.running import READING, here

DOMAINS = ("business", "lives", "maintenance")


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def counts(ended):
    assert ended.code == 0, ended.stderr + ended.stdout
    return ended.data


def f_of(package, answers, *more):
    words = ("score", "reading", "--reference", package, "--submission", answers, "--draws", "100", "--json", *more)
    return {name: value["value"] for name, value in counts(here(*words))["values"].items()}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    root = tmp_path_factory.mktemp("new") / "visits"
    assert here("reading", "new", root).code == 0
    return root


@pytest.mark.req("R-37", case="good")
def test_a_new_package_is_in_order_and_goes_through_to_a_score(fresh, tmp_path):
    package = shutil.copytree(fresh, tmp_path / "visits")
    checked = counts(here("reading", "check", package, "--json"))
    assert checked["total"] == 0
    assert checked["contents"]["documents"] == {"test": 1, "train": 1}
    assert here("annotation", "check", package / "annotation.yaml", "--package", package).code == 0
    assert counts(here("reading", "gold", package, "--json")) == {
        "changed": True, "derived": 9, "taken_over": 0, "version": "v1", "written": str(package / "gold" / "v1.ndjson"),
    }  # fmt: skip
    answers = tmp_path / "baseline.ndjson"
    assert counts(here("reading", "baseline", package, "--part", "test", "--out", answers, "--json"))["answers"] == 3
    found = f_of(package, answers)
    # By hand: 3 of the 6 answers about the test text, and none wrong. Nobody answered, so people have no F.
    assert (found["precision"], found["recall"]) == (1, 0.5)
    assert found["human_f"] is None


@pytest.mark.req("R-37", case="good")
def test_own_texts_become_documents_without_annotations(tmp_path):
    texts = tmp_path / "mine"
    texts.mkdir()
    (texts / "first note (draft).txt").write_bytes("\ufeffCaf\u0065\u0301 opened.\r\nIt rained.\r\n".encode())
    (texts / "first note [draft].TXT").write_text("Another one.\n", encoding="utf-8")
    package = tmp_path / "notes"
    assert here("reading", "new", package, "--texts", texts, "--title", 'My "notes"').code == 0
    assert (package / "corpus/train/first-note-draft.txt").read_text(
        encoding="utf-8"
    ) == "Caf\u00e9 opened.\nIt rained.\n"
    assert sorted(path.name for path in (package / "corpus/train").iterdir()) == [
        "first-note-draft-2.txt",
        "first-note-draft.txt",
    ]
    assert not (package / "annotations").exists()
    assert here("reading", "check", package).code == 0, "empty files of annotations are not demanded"
    task = here("reading", "generate", package, "--part", "train", "--unanswered", "--out", tmp_path / "task.ttl")
    assert task.code == 0, task.stderr
    refused = here("reading", "gold", package)
    assert refused.code == 2
    assert "no annotations" in refused.stderr


@pytest.mark.req("R-37", case="bad")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new", "{visits}"], "nothing is written over"),
        (["new", "{tmp}/x", "--name", "../x"], "no name for a package"),
        (["new", "{tmp}/x", "--texts", "{tmp}"], "has no texts"),
        (["gold", "{visits}", "--part", "tset"], "no part 'tset'"),
        (["gold", "{visits}", "--date", "yesterday"], "not a date"),
        (["gold", "{tmp}"], "not a reading package"),
        (["baseline", "{visits}", "--part", "tset", "--out", "{tmp}/x"], "no part 'tset'"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_cannot_be_made_is_refused_with_the_way_out(fresh, tmp_path, words, said):
    ended = here("reading", *(word.format(visits=fresh, tmp=tmp_path) for word in words))
    assert ended.code == 2
    assert said in ended.stderr + ended.stdout
    assert not (tmp_path / "x").exists()


@pytest.mark.req("R-37", case="good")
def test_what_people_decided_stays_when_gold_is_derived_again(fresh, tmp_path):
    package = shutil.copytree(fresh, tmp_path / "visits")
    assert here("reading", "gold", package, "--date", "2026-01-31").code == 0
    first = rows(package / "gold/v1.ndjson")
    again = here("reading", "gold", package)
    assert again.code == 0
    assert "nothing was written" in again.stdout
    # An adjudicator refuses one derived line and adds one; then somebody annotates less.
    refused = {**first[0], "verdict": "wrong", "by": "J1", "why": "a misreading"}
    own = {
        **first[-1],
        "answer": {"?P": ["the two colleagues"], "?W": ["Tartu"]},
        "by": "J1",
        "why": "the text says so",
    }
    lines = [refused, *first[1:], own]
    (package / "gold/v1.ndjson").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    path = package / "annotations/train.ndjson"
    kept = [one for one in path.read_text(encoding="utf-8").splitlines() if "visitDate" not in one]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    told = counts(here("reading", "gold", package, "--json"))
    assert (told["version"], told["derived"], told["taken_over"]) == ("v2", 7, 2)
    second = rows(package / "gold/v2.ndjson")
    assert refused in second
    assert own in second
    assert [one["query"] for one in second if one["document"] == "visit-1"] == ["visitors", "places-seen"]
    assert sum(one["answer"] == refused["answer"] for one in second if one["query"] == "visitors") == 1
    assert here("reading", "check", package).code == 0


@pytest.mark.req("R-37", case="good")
@pytest.mark.parametrize("domain", DOMAINS)
def test_each_shipped_domain_is_in_order_and_has_a_baseline_that_reads_its_texts(domain, tmp_path):
    package = READING / domain
    checked = counts(here("reading", "check", package, "--json"))
    assert checked["total"] == 0
    assert {part: count for part, count in checked["contents"]["documents"].items() if count >= 6}.keys() == {
        "test",
        "train",
    }
    answers = {}
    for part in ("train", "test"):
        answers[part] = tmp_path / f"{part}.ndjson"
        assert here("reading", "baseline", package, "--part", part, "--out", answers[part]).code == 0
        texts = {path.stem: path.read_text(encoding="utf-8") for path in (package / "corpus" / part).glob("*.txt")}
        for one in rows(answers[part]):
            for piece in one["provenance"]:
                assert texts[one["document"]][piece["start"] : piece["end"]] == piece["exact"]
    found = f_of(package, answers["test"])
    assert 0.2 < found["f"] < 0.95, "a baseline is there to be beaten, and reads more than nothing"
    assert found["f_inferred"] > 0, "rules and axioms add to what the patterns read"
    assert f_of(package, answers["train"], "--set", "part=train")["f"] > 0.4
    # The gold that is shipped is what the command derives.
    copy = shutil.copytree(package, tmp_path / domain)
    assert "nothing was written" in here("reading", "gold", copy).stdout


@pytest.mark.req("R-37", case="bad")
def test_patterns_that_cannot_be_used_are_reported_with_their_lines(fresh, tmp_path):
    package = shutil.copytree(fresh, tmp_path / "visits")
    (package / "reader.yaml").write_text(
        "format: basanite-reader/1\n"
        "words: {NAME: '[A-Z]+'}\n"
        "patterns:\n"
        "  - {pattern: a, match: '(?P<x>{NMAE})', then: ['?x type Persn']}\n"
        "  - {pattern: b, match: '(?P<x>[', then: ['?x type Person']}\n"
        "  - {pattern: c, match: 'x', then: ['?y type Person'], last: ['_:deal']}\n"
        "  - {pattern: d, match: '(?P<x>a)', then: ['?x ?p Person'], kind: maybe}\n",
        encoding="utf-8",
    )
    ended = here("reading", "check", package)
    assert ended.code == 1
    for line, said in ((4, "{NMAE} is not among"), (4, "Persn"), (5, "regular expression"), (6, "?y is no group"),
                       (6, "_:deal"), (7, "no statement"), (7, "'maybe'")):  # fmt: skip
        assert any(
            f"reader.yaml:{line}:" in told and said in told for told in (ended.stdout + ended.stderr).splitlines()
        ), said
    (package / "reader.yaml").unlink()
    ended = here("reading", "baseline", package, "--part", "test", "--out", tmp_path / "x")
    assert ended.code == 2
    assert "no reader.yaml" in ended.stderr
