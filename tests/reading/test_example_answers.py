"""The gold, the human and the machine answers of the NFL example: where they come from, and how they compare."""

import json
from collections import Counter, defaultdict

import pytest

from basanite.metrics.answers import match
from basanite.problems import Findings
from basanite.reading.baseline import answer_records, read
from basanite.reading.gold.answers import Known, bindings_of, plain_name, read_answers, read_gold
from basanite.reading.package import read_package
from basanite.reading.provenance import Span, span_fault
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import read_rules

VERSIONS = ("v1", "v2")


@pytest.fixture(scope="module")
def example(repository):
    return repository / "examples" / "reading" / "nfl"


@pytest.fixture(scope="module")
def package(example):
    findings = Findings()
    found = read_package(example, findings)
    assert findings.problems == []
    return found


@pytest.fixture(scope="module")
def documents(package):
    return {part: package.documents(part) for part in ("train", "test")}


@pytest.fixture(scope="module")
def reasoner(example, package):
    return Reasoner(read_rules(example / "rules" / "scoring.rules", Findings()), package.ontology)


@pytest.fixture(scope="module")
def known(package, documents):
    queries = {query.id: query.select or query.variables for query in package.queries}
    return Known(queries, frozenset(name for part in documents.values() for name in part), package.manifest.prefixes)


@pytest.fixture(scope="module")
def follows(package, documents, reasoner):
    """What the annotations of the test texts and the rules answer, by our own way of naming things."""
    by_document = defaultdict(list)
    for assertion in package.assertions("test", documents["test"]):
        by_document[assertion.document].append(assertion)
    queries = package.queries_for("test")
    return [record for name, said in by_document.items() for record in answer_records(queries, name, said, reasoner)]


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cells(records):
    found = defaultdict(list)
    for record in records:
        found[record["query"], record["document"]].append(record)
    return found


def f_measure(records, gold, known):
    """F of answers against gold, by the matching alone."""

    def bindings(found):
        return [bindings_of(one["answer"], known.queries[one["query"]], known.prefixes) for one in found]

    golden = cells(gold)
    credit = sum(
        m.credit for cell, found in cells(records).items() for m in match(bindings(found), bindings(golden[cell]))
    )
    precision, recall = credit / len(records), credit / len(gold)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_gold_answer_can_be_read_and_says_who_when_and_why(example, known, version):
    findings = Findings()
    gold = read_gold(example / "gold" / f"{version}.ndjson", known, findings)
    assert findings.problems == []
    assert len(gold) > 300
    assert [one for one in gold if not (one.by and one.when and one.why)] == []
    assert {one.answer.kind for one in gold} == {"explicit", "inferred"}


def test_the_first_gold_is_what_annotations_say_and_rules_derive(example, follows, known):
    gold = rows(example / "gold" / "v1.ndjson")
    explicit = Counter((one["query"], one["document"]) for one in gold if one["kind"] == "explicit")
    assert explicit == Counter((one["query"], one["document"]) for one in follows if one["kind"] == "explicit")
    assert f_measure(follows, gold, known) > 0.9
    derived = [one for one in gold if one["by"] == "reasoner"]
    assert {one["why"] for one in derived} >= {"derived by higher-score-wins", "derived by overtime-default"}
    assert {one["kind"] for one in derived} == {"inferred"}


def test_overtime_without_a_count_gives_five_periods_in_the_gold_and_a_stated_count_stays_explicit(example):
    periods = {one["document"]: one for one in rows(example / "gold" / "v1.ndjson") if one["query"] == "periods"}
    assert (periods["nfl-112"]["answer"]["?N"], periods["nfl-112"]["kind"]) == (5, "inferred")
    assert (periods["nfl-118"]["answer"]["?N"], periods["nfl-118"]["kind"]) == (6, "explicit")


def test_the_second_gold_only_adds_to_the_first(example):
    first = (example / "gold" / "v1.ndjson").read_text(encoding="utf-8")
    second = (example / "gold" / "v2.ndjson").read_text(encoding="utf-8")
    added = [json.loads(line) for line in second.removeprefix(first).splitlines()]
    assert second.startswith(first)
    verdicts = Counter(one["verdict"] for one in added)
    assert verdicts == {"correct": 5, "out-of-scope": 6, "duplicate-of": 1, "wrong": 8}
    assert {one["system"] for one in added if one["verdict"] == "correct"} == {"baseline"}


@pytest.mark.parametrize("version", VERSIONS)
def test_in_one_document_no_name_belongs_to_two_entities_of_the_gold(example, version):
    owners = defaultdict(set)
    for one in rows(example / "gold" / f"{version}.ndjson"):
        for variable, bound in one["answer"].items():
            if isinstance(bound, list) and one.get("verdict", "correct") == "correct":
                for name in bound:
                    owners[one["document"], variable, plain_name(name)].add(tuple(bound))
    assert {place: found for place, found in owners.items() if len(found) > 1} == {}


def test_some_gold_answers_need_capabilities_that_the_first_phase_leaves_out(example, package):
    first = next(phase for phase in package.manifest.phases if phase.name == "1")
    tagged = [set(one.get("capabilities", ())) for one in rows(example / "gold" / "v1.ndjson")]
    assert any(tags and tags <= set(first.in_scope) for tags in tagged)
    assert any(not tags <= set(first.in_scope) for tags in tagged)


@pytest.mark.parametrize("name", ["gold/v1", "gold/v2", "answers/human", "answers/baseline"])
def test_the_provenance_of_every_answer_is_where_it_says(example, documents, name):
    pieces = [(one["document"], piece) for one in rows(example / f"{name}.ndjson") for piece in one["provenance"]]
    spans = [
        (document, Span(piece.get("role", "object"), piece["start"], piece["end"], piece["exact"]))
        for document, piece in pieces
    ]
    assert len(spans) > 200
    assert [span for document, span in spans if span_fault(span, documents["test"][document].text)] == []


@pytest.mark.parametrize("name", ["human", "baseline", "train"])
def test_the_answers_that_are_shipped_can_be_read(example, known, name):
    findings = Findings()
    assert len(read_answers(example / "answers" / f"{name}.ndjson", known, findings)) > 200
    assert findings.problems == []


def test_the_machine_answers_that_are_shipped_are_what_the_baseline_answers_today(
    example, package, documents, reasoner
):
    queries = package.queries_for("test")
    made = [
        record
        for name, document in sorted(documents["test"].items())
        for record in answer_records(queries, name, read(document.text, name), reasoner)
    ]
    assert rows(example / "answers" / "baseline.ndjson") == made


def test_the_human_reads_better_than_the_baseline_and_neither_is_perfect(example, known):
    gold = rows(example / "gold" / "v1.ndjson")
    machine = f_measure(rows(example / "answers" / "baseline.ndjson"), gold, known)
    human = f_measure(rows(example / "answers" / "human.ndjson"), gold, known)
    assert 0.5 < machine < human < 1
