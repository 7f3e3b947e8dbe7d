"""Timed transcripts: segments with their readings, words in the segments they belong to, every fault in its place."""

import random

import pytest

from basanite.formats.items import ContentError
from basanite.formats.records import Place
from basanite.formats.texts.spoken_texts import as_said, parse_said, without_background
from basanite.formats.texts.transcripts import read_ctm, read_stm, texts_by_segment
from basanite.problems import Findings


def stm(tmp_path, *lines):
    findings = Findings()
    path = tmp_path / "reference.stm"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_stm(path, Place("reference", "T-6"), findings), findings


def ctm(tmp_path, *lines):
    findings = Findings()
    path = tmp_path / "answers.ctm"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_ctm(path, Place("submission", "T-6"), findings), findings


def heard(tmp_path, segments, words, **options):
    reference, findings = stm(tmp_path, *segments)
    hearing, more = ctm(tmp_path, *words)
    assert findings.valid, findings.problems
    assert more.valid, more.problems
    return texts_by_segment(reference.content, hearing.words, **options)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("just words", (("just words",),)),
        ("", ()),
        ("(uh) yes", (("uh", ""), ("yes",))),
        ("{ a b / c / @ } d", (("a b", "c", ""), ("d",))),
        ("@ a @", (("a",),)),
        ("a {b} ()", (("a b ()",),)),
        ("{ a / { b / c } }", (("a", "b", "c"),)),
        ("x { (uh) a / b } y", (("x",), ("uh a", "b"), ("y",))),
    ],
)
def test_readings_are_taken_apart(text, places):
    assert parse_said(text).places == places


@pytest.mark.parametrize("text", ["{ a / b", "a }", "{ a / { b / c }", "{ a / }", "{ " * 9000, "{ }", "<background> a"])
def test_readings_that_cannot_be_understood_are_refused(text):
    with pytest.raises(ContentError) as error:
        parse_said(text)
    assert error.value.fix


def test_speech_marked_as_background_is_left_out_of_a_text():
    assert without_background("a <background>b c</background> d <Background>e</BACKGROUND>").split() == ["a", "d"]
    assert as_said("a <noise> b").plain == "a <noise> b"
    for broken in ("<background> a", "a </background>", "<background> a <background> b </background> </background>"):
        with pytest.raises(ContentError):
            as_said(broken)


def test_segments_have_recording_channel_speaker_times_labels_and_words(tmp_path):
    items, findings = stm(tmp_path, ";; a comment", "", "rec1 A Ann 1.5 2.25 <o,f0,female> hello there", "rec1 1 B 0 1")
    assert findings.valid
    second = items.content[1]
    assert (second.recording, second.channel, second.speaker) == ("rec1", "A", "Ann")
    assert (second.start, second.end, second.labels, second.scored) == (1.5, 2.25, ("f0", "female"), True)
    assert second.said[0].plain == "hello there"
    assert items.ids == ("rec1:1:0-1", "rec1:A:1.5-2.25")
    assert items.columns["speaker"] == ("B", "Ann")
    assert items.columns["label"] == ("", "f0, female")
    assert items.lines == [4, 3]


@pytest.mark.parametrize(
    "line",
    [
        "r A s 0 1 IGNORE_TIME_SEGMENT_IN_SCORING",
        "r A s 0 1 <o> ignore_time_segment_in_scoring",
        "r A s 0 1 <o,background> people talk",
        "r A Background 0 1 people talk",
    ],
    ids=["ignored", "ignored with labels", "background label", "background speaker"],
)
def test_segments_marked_to_be_ignored_or_as_background_are_not_scored(tmp_path, line):
    items, findings = stm(tmp_path, line)
    assert findings.valid
    assert [segment.scored for segment in items.content] == [False]


def test_every_fault_of_a_reference_is_reported_with_its_line(tmp_path):
    _, findings = stm(
        tmp_path,
        "r A s 0",
        "r A s 2 1 words",
        "r A s x 1 words",
        "r A s -1 1 words",
        "r A s 0 nan words",
        "r A s 0 inf words",
        "r A s 0 1 { a / b",
        "r A s 0 1 fine",
        "r A t 0 1 again",
    )
    assert [problem.line for problem in findings.problems] == [1, 2, 3, 4, 5, 6, 7, 9]
    assert {problem.rule for problem in findings.problems} == {"T-6"}
    assert all(problem.fix and problem.where == "reference" for problem in findings.problems)


def test_every_fault_of_an_answer_is_reported_with_its_line(tmp_path):
    _, findings = ctm(
        tmp_path, "r A 0 1", "r A 0 x word", "r A * * <ALT_BEGIN>", "r A 0 1 a b c d e f", "r A 0 -1 word"
    )
    assert [problem.line for problem in findings.problems] == [1, 2, 3, 4, 5]


def test_a_word_belongs_to_the_segment_in_which_its_middle_lies(tmp_path):
    texts, lost = heard(
        tmp_path,
        ["r A s 0 2 x", "r A s 2 4 y", "r B s 0 4 z"],
        ["r A 1.8 0.3 first", "r A 1.9 0.4 second", "r B 1.0 0.2 other 0.75 lex"],
    )
    assert texts == ["first", "other", "second"]  # by time: A from 0, B from 0, A from 2
    assert lost == []


def test_words_come_in_the_order_of_time_however_the_file_has_them(tmp_path):
    texts, _ = heard(tmp_path, ["r A s 0 9 x"], ["r A 3 1 c", "r A 1 1 a", "r A 2 1 b"])
    assert texts == ["a b c"]


def test_a_word_between_segments_is_inserted_into_the_nearest_one_that_is_scored(tmp_path):
    segments = ["r A s 0 1 x", "r A s 2 3 IGNORE_TIME_SEGMENT_IN_SCORING", "r A s 6 7 y"]
    words = ["r A 1.6 0.2 near", "r A 2.4 0.2 ignored", "r A 3.0 0.4 gap", "r A 5 0.2 late", "r A 9 1 after"]
    assert heard(tmp_path, segments, words)[0] == ["near gap", "ignored", "late after"]
    assert heard(tmp_path, segments, words, outside="ignore")[0] == ["", "ignored", ""]


def test_of_overlapping_segments_the_one_that_began_first_has_the_word(tmp_path):
    segments = ["r A s 0 5 x", "r A s 1 2 y", "r A s 4 8 z"]
    words = ["r A 1.4 0.2 a", "r A 4.4 0.2 b", "r A 5.4 0.2 c"]
    assert heard(tmp_path, segments, words)[0] == ["a b", "", "c"]


def test_words_of_unknown_recordings_and_channels_are_told(tmp_path):
    texts, lost = heard(tmp_path, ["r A s 0 5 x"], ["q A 0 1 a", "r B 0 1 b", "r A 0 1 c"])
    assert texts == ["c"]
    assert sorted(word.word for word in lost) == ["a", "b"]


def test_a_mixed_recording_has_one_channel(tmp_path):
    texts, lost = heard(tmp_path, ["r A s 0 2 x", "r B s 2 4 y"], ["r 1 0 1 a", "r 1 2.5 1 b"], mixed={"r"})
    assert texts == ["a", "b"]
    assert lost == []


@pytest.mark.parametrize("seed", range(20))
def test_a_sweep_finds_the_segments_that_a_search_finds(tmp_path, seed):
    rng = random.Random(seed)
    spans = sorted((start := rng.uniform(0, 30), start + rng.uniform(0.1, 6)) for _ in range(12))
    lines = [f"r A s {start:.4f} {end:.4f} x{at}" for at, (start, end) in enumerate(spans)]
    moments = sorted(rng.uniform(0, 36) for _ in range(40))
    texts, _ = heard(tmp_path, lines, [f"r A {m:.4f} 0 w{at}" for at, m in enumerate(moments)], outside="ignore")
    wanted = [[] for _ in spans]
    for at, moment in enumerate(moments):
        inside = [place for place, (start, end) in enumerate(spans) if start <= moment <= end]
        if inside:
            wanted[inside[0]].append(f"w{at}")
    assert texts == [" ".join(words) for words in wanted]


def test_hostile_bytes_are_problems_and_not_crashes(tmp_path):
    path, findings = tmp_path / "x.stm", Findings()
    path.write_bytes(b"r A s 0 1 \xff\xfe\nr A s 0 1 a\0b\n" + b"(" * 5000 + b"\n{ { {\nr A s 1e308 1e309 x\n")
    items = read_stm(path, Place("reference", "T-6"), findings)
    assert items.ids == ()
    assert findings.counts["T-6"] == 5
