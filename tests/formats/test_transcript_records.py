"""STM and CTM: what is written comes back the same, readings and times and all; what cannot be is told (P-32)."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from basanite.formats.foreign_files import Losses
from basanite.formats.records import Place
from basanite.formats.texts.spoken_texts import parse_said
from basanite.formats.texts.transcript_records import (
    ctm_lines,
    ctm_records,
    read_segments,
    read_words,
    stm_lines,
    stm_records,
    stm_words,
)
from basanite.formats.texts.transcripts import Heard, read_ctm, read_stm
from basanite.problems import Findings

SPEECH = Path(__file__).resolve().parents[2] / "examples" / "speech"
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLACE = Place("reference", "P-32")

WORD = st.text("abcé'-", min_size=1, max_size=5)
WORDS = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
READINGS = st.lists(st.one_of(WORDS, st.just("@")), min_size=2, max_size=3).map(
    lambda all_: f"{{ {' / '.join(all_)} }}"
)
TRANSCRIPT = st.lists(st.one_of(WORDS, READINGS, WORD.map("({})".format)), max_size=4).map(" ".join)
TIME = st.integers(0, 100_000).map(lambda milliseconds: milliseconds / 1000)


@st.composite
def stm_files(draw):
    """An STM file of segments one after the other."""
    lines, now = [], 0.0
    for _ in range(draw(st.integers(1, 4))):
        start, end = now, round(now + draw(st.integers(1, 5000)) / 1000, 3)
        labels = draw(st.sampled_from(["", "<o>", "<o,f0>", "<o,background,x>"]))
        words = draw(st.one_of(TRANSCRIPT, st.just("IGNORE_TIME_SEGMENT_IN_SCORING")))
        channel, speaker = draw(st.sampled_from("AB")), draw(st.sampled_from(["ann", "background"]))
        lines.append(f"rec {channel} {speaker} {start} {end} {labels} {words}")
        now = end
    return "\n".join(lines) + "\n"


def read(path, text):
    path.write_text(text, encoding="utf-8")
    findings = Findings()
    items = read_stm(path, PLACE, findings)
    assert findings.problems == []
    return items


def facts(items):
    """All that segments say, but their names: these spell the times as the file did."""
    return [
        (one.recording, one.channel, one.speaker, one.start, one.end, one.labels, one.scored, one.said)
        for one in items.content
    ]


def jsonl(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@given(stm_files())
@QUICK
def test_segments_come_back_the_same_from_stm_and_through_records(tmp_path, text):
    items, losses = read(tmp_path / "a.stm", text), Losses("x")
    assert facts(read(tmp_path / "b.stm", "".join(stm_lines(items.content, losses)))) == facts(items)
    assert losses.found == {}
    path, findings, left = jsonl(tmp_path / "c.jsonl", stm_records(items, Losses("x"))), Findings(), Losses("y")
    segments = read_segments(path, findings, left)
    assert (findings.problems, left.found) == ([], {})
    assert facts(read(tmp_path / "d.stm", "".join(stm_lines(segments, left)))) == facts(items)
    assert left.found == {}


@given(TRANSCRIPT)
@QUICK
def test_readings_are_spelled_as_they_are_read(text):
    assert parse_said(stm_words(parse_said(text))) == parse_said(text)


HEARD = st.builds(
    lambda channel, start, duration, word, confidence: Heard(
        "rec", channel, start + duration / 2, word, 0, start, duration, confidence
    ),
    st.sampled_from("AB"),
    TIME,
    TIME,
    WORD,
    st.one_of(st.none(), st.integers(0, 1000).map(lambda share: share / 1000)),
)


def heard(words):
    return sorted((one.recording, one.channel, one.start, one.duration, one.word, str(one.confidence)) for one in words)


@given(st.lists(HEARD, max_size=6))
@QUICK
def test_words_come_back_the_same_from_ctm_and_through_records(tmp_path, words):
    (tmp_path / "a.ctm").write_text("".join(ctm_lines(words)), encoding="utf-8")
    findings = Findings()
    hearing = read_ctm(tmp_path / "a.ctm", PLACE, findings)
    assert heard(hearing.words) == heard(words)
    segments = read(tmp_path / "r.stm", "rec A s 0 50 x\nrec A s 50 200 y\nrec B s 0 200 z\n").content
    losses = Losses("x")
    path = jsonl(tmp_path / "a.jsonl", ctm_records(segments, hearing, losses))
    assert heard(read_words(path, findings, losses)) == heard(words)
    assert (findings.problems, losses.found) == ([], {})


def test_the_examples_come_back_word_by_word(tmp_path):
    findings, losses = Findings(), Losses("x")
    items = read_stm(SPEECH / "reference.stm", PLACE, findings)
    lines = [line for line in (SPEECH / "reference.stm").read_text().splitlines(True) if not line.startswith(";;")]
    assert sorted(stm_lines(items.content, losses)) == sorted(lines)
    hearing = read_ctm(SPEECH / "Alpha.ctm", PLACE, findings)
    path = jsonl(tmp_path / "a.jsonl", ctm_records(items.content, hearing, losses))
    assert heard(read_words(path, findings, losses)) == heard(hearing.words)
    assert losses.found == {}


def test_what_a_record_or_a_line_cannot_keep_is_told(tmp_path):
    items, losses = read(tmp_path / "a.stm", "r A s 0 1 so (uh) yes\n"), Losses("x")
    (record,) = stm_records(items, losses)
    assert (record["references"], record["readings"]) == (["so uh yes"], [["so"], ["uh", ""], ["yes"]])
    assert len(losses.found) == 1
    (tmp_path / "a.ctm").write_text("r A 0 1 so 0.5 lex ann\nq A 0 1 lost\n")
    findings, losses = Findings(), Losses("x")
    list(ctm_records(items.content, read_ctm(tmp_path / "a.ctm", PLACE, findings), losses))
    assert sorted(losses.found) == [
        "a word of a recording or channel that the reference does not have",
        "what follows the confidence of a word",
    ]


PLAIN = {"id": "1", "recording": "r", "channel": "A", "speaker": "s", "start": 0, "end": 2}


@pytest.mark.parametrize(
    ("record", "told", "line"),
    [
        ({"references": ["so { yes"]}, "signs in a text", "r A s 0.00 2.00 <o> so yes\n"),
        ({"references": ["(uh) yes"]}, "signs in a text", "r A s 0.00 2.00 <o> uh yes\n"),
        ({"references": ["a", "b"]}, "further references of a segment", "r A s 0.00 2.00 <o> a\n"),
        ({"references": ["a"], "mood": "x"}, "the column 'mood'", "r A s 0.00 2.00 <o> a\n"),
        ({"references": ["a"], "background": True}, None, "r A s 0.00 2.00 <o,background> a\n"),
        ({"references": ["a"], "readings": [["b", "c"]]}, None, "r A s 0.00 2.00 <o> a\n"),
    ],
    ids=["signs", "brackets", "references", "column", "background", "readings of another text"],
)
def test_what_stm_cannot_keep_of_a_record_is_told(tmp_path, record, told, line):
    findings, losses = Findings(), Losses("x")
    segments = read_segments(jsonl(tmp_path / "a.jsonl", [PLAIN | record]), findings, losses)
    assert (findings.problems, list(stm_lines(segments, losses))) == ([], [line])
    assert [what.startswith(told or "?") for what in losses.found] == ([True] if told else [])


@pytest.mark.parametrize("words", [{}, {"words": [[0, 1, "b", None]]}], ids=["none", "of another text"])
def test_words_without_times_are_spread_over_their_segment_and_that_is_told(tmp_path, words):
    findings, losses = Findings(), Losses("x")
    record = {"id": "1", "recording": "r", "channel": "A", "start": 1, "end": 3, "text": "a c", **words}
    found = read_words(jsonl(tmp_path / "a.jsonl", [record]), findings, losses)
    assert list(ctm_lines(found)) == ["r A 1.00 1.00 a\n", "r A 2.00 1.00 c\n"]
    assert [what.startswith("true times of words") for what in losses.found] == [True]


WRONG = {
    "no recording": {"recording": None},
    "blanks": {"recording": "a b"},
    "a comment": {"recording": ";;x"},
    "no channel": {"channel": ""},
    "no start": {"start": None},
    "negative": {"start": -1},
    "endless": {"end": 1e12},
    "backwards": {"end": 0},
    "no text": {"references": []},
    "readings": {"readings": [[]]},
    "readings of numbers": {"readings": [[1]]},
    "an open mark": {"references": ["<background> a"]},
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_records_that_are_no_segments_are_problems_with_their_lines(tmp_path, change):
    findings = Findings()
    good = PLAIN | {"references": ["a"]}
    path = jsonl(tmp_path / "a.jsonl", [good, good | {"id": "2"} | change])
    assert len(read_segments(path, findings, Losses("x"))) == 1
    assert [(problem.rule, problem.line) for problem in findings.problems] == [("P-32", 2)]


@pytest.mark.parametrize(
    "words", [[1], [[0, 1]], [[0, "x", "a"]], [[-1, 1, "a"]], [[0, 1, 7]], [[0, 1, "a", "high"]]], ids=str
)
def test_words_that_are_none_are_problems(tmp_path, words):
    findings = Findings()
    record = {"id": "1", "recording": "r", "channel": "A", "text": "a", "words": words}
    read_words(jsonl(tmp_path / "a.jsonl", [record]), findings, Losses("x"))
    assert [problem.line for problem in findings.problems] == [1]
