"""The NFL example: its texts, their annotation, and the distance between what is trained on and what is tested."""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from basanite.problems import Findings
from basanite.reading.ontology_checks import check_statements
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes, parse_statement
from basanite.reading.provenance import Span, span_fault
from basanite.reading.terms import Node

NFL = "https://nfl.example/scoring#"
PREFIXES = Prefixes(NFL, {"nfl": NFL})
PARTS = {"train": 40, "test": 26}
SHORTEST, LONGEST = 80, 300
FRAME = 6
NUMBER_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    first second third fourth fifth sixth seventh eighth ninth tenth
"""
NUMBERS = frozenset(re.findall(r"\w+", NUMBER_WORDS))


@pytest.fixture(scope="module")
def example(repository):
    return repository / "examples" / "reading" / "nfl"


@pytest.fixture(scope="module")
def texts(example):
    return {
        part: {path.stem: path.read_bytes().decode() for path in sorted((example / "corpus" / part).glob("*.txt"))}
        for part in PARTS
    }


@pytest.fixture(scope="module")
def annotations(example):
    return {part: rows(example / "annotations" / f"{part}.ndjson") for part in PARTS}


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)


def names(texts) -> set[str]:
    """Words that are written with a capital and nowhere without: teams, towns, people, days."""
    every = [word for part in texts.values() for text in part.values() for word in words(text)]
    small = {word for word in every if word.islower()}
    return {word.lower() for word in every if word[0].isupper() and not word.isupper()} - small


def frames(text: str, left_out: set[str], length: int = FRAME) -> set[tuple[str, ...]]:
    """Runs of words with names and numbers taken out."""
    kept = [
        word
        for word in map(str.lower, words(text))
        if word not in left_out and word not in NUMBERS and not any(char.isdigit() for char in word)
    ]
    return {tuple(kept[start : start + length]) for start in range(len(kept) - length + 1)}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_as_many_reports_as_promised_and_each_is_of_readable_length(texts, part):
    lengths = {name: len(text.split()) for name, text in texts[part].items()}
    assert len(lengths) == PARTS[part]
    assert {name: n for name, n in lengths.items() if not SHORTEST <= n <= LONGEST} == {}


def test_no_sentence_frame_of_the_training_texts_occurs_in_a_test_text(texts):
    left_out = names(texts)
    train = {frame for text in texts["train"].values() for frame in frames(text, left_out)}
    shared = {name: found for name, text in texts["test"].items() if (found := frames(text, left_out) & train)}
    assert len(train) > 4000
    assert shared == {}


def test_a_shared_sentence_frame_would_be_seen_though_names_and_numbers_differ():
    left_out = {"bears", "jets"}
    one = frames("The Bears had 14 points and never looked back again", left_out)
    two = frames("The Jets had twenty-one points and never looked back again", left_out)
    assert one & two


@pytest.mark.parametrize("part", PARTS)
def test_every_report_is_plain_text_in_unicode_form_nfc(texts, part):
    for name, text in texts[part].items():
        assert unicodedata.normalize("NFC", text) == text, name
        assert "\r" not in text, name
        assert "\ufeff" not in text, name
        assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cn") and char != "\n"], (
            name
        )


@pytest.mark.parametrize("part", PARTS)
def test_every_span_of_an_annotation_says_what_the_text_says_there(texts, annotations, part):
    spans = [(row["document"], Span(**piece)) for row in annotations[part] for piece in row["provenance"]]
    assert len(spans) > 600
    assert [(name, span) for name, span in spans if span_fault(span, texts[part][name])] == []


def test_a_span_that_is_off_by_one_is_found_in_every_report(texts, annotations):
    for row in annotations["train"]:
        for piece in row["provenance"]:
            moved = Span(**{**piece, "start": piece["start"] + 1, "end": piece["end"] + 1})
            assert span_fault(moved, texts["train"][row["document"]]) is not None


@pytest.mark.parametrize("part", PARTS)
def test_every_report_is_annotated_and_nothing_else_is(texts, annotations, part):
    assert {row["document"] for row in annotations[part]} == set(texts[part])


@pytest.mark.parametrize("part", PARTS)
def test_annotated_statements_keep_to_the_ontology_and_leave_no_score_incomplete(example, annotations, part):
    ontology = read_ontology(example / "ontology.ttl", PREFIXES, Findings())
    by_document = defaultdict(list)
    for row in annotations[part]:
        by_document[row["document"]].append(parse_statement(row["statement"], PREFIXES))
    faults = {name: found for name, made in by_document.items() if (found := check_statements(ontology, made))}
    assert faults == {}


@pytest.mark.parametrize("part", PARTS)
def test_a_summary_score_is_never_given_text_of_its_own(annotations, part):
    for row in annotations[part]:
        made = parse_statement(row["statement"], PREFIXES)
        for piece in row["provenance"]:
            assert not (isinstance(made.subject, Node) and piece["role"] == "subject")
            assert not (isinstance(made.object, Node) and piece["role"] == "object")


@pytest.mark.parametrize("part", PARTS)
def test_points_are_what_touchdowns_kicks_and_safeties_can_add_up_to(annotations, part):
    worth = {"touchdown": 6, "onePointConversion": 1, "twoPointConversion": 2, "fieldGoal": 3, "safety": 2}
    scores: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for row in annotations[part]:
        subject, predicate, value = row["statement"]
        if subject.startswith("_:") and value.isdigit():
            scores[row["document"], subject][predicate.removeprefix("nfl:").removesuffix("CompleteCount")] += int(value)
    for place, told in scores.items():
        counted = sum(worth[name] * count for name, count in told.items() if name in worth)
        assert counted <= told["pointsScored"], place
        assert told["pointsScored"] != 1, place


@pytest.mark.parametrize("part", PARTS)
def test_the_hard_cases_are_there(texts, annotations, part):
    said = Counter(row["statement"][1].removeprefix("nfl:") + "=" + row["statement"][2] for row in annotations[part])
    games = Counter(row["document"] for row in annotations[part] if row["statement"][2] == "nfl:NFLGame")
    kinds = Counter(row["kind"] for row in annotations[part])
    assert said["hasOvertimePlay=true"] >= 5
    assert said["hasOvertimePlay=false"] >= 1
    assert said["safetyCompleteCount=1"] >= 3
    assert said["twoPointConversionCompleteCount=1"] >= 2
    assert sum(count == 2 for count in games.values()) >= 2
    assert kinds["inferred"] >= 20
    assert sum("overtime" not in text.lower() for text in texts[part].values()) > len(texts[part]) / 2


def test_the_page_of_the_example_gives_the_true_figures(example, texts, annotations):
    page = (example / "README.md").read_text(encoding="utf-8")
    for part in PARTS:
        row = re.search(rf"\| {part}[^|]*\| (\d+) \| about ([\d,]+) \| (\d+) \|", page)
        assert row is not None
        counted = sum(len(text.split()) for text in texts[part].values())
        assert (int(row[1]), int(row[3])) == (len(texts[part]), len(annotations[part]))
        assert abs(int(row[2].replace(",", "")) - counted) < 0.03 * counted


def test_the_example_stays_small(example):
    files = [path for path in example.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in files) < 300_000
    assert sum(path.stat().st_size for path in files) < 900_000
