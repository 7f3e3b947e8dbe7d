"""Translation judging: Appraise and MQM files, and scores with judge and document as random factors (R-29)."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work.making import new_ids, scheme_of

from basanite.work.answers import Judged, Judgement
from basanite.work.appraise import read_appraise, write_appraise
from basanite.work.direct_assessment import read_wmt_da
from basanite.work.items import Block, item_of
from basanite.work.mqm import read_mqm, write_mqm
from basanite.work.panel_files import files_of
from basanite.work.segments import Segment, Span, score_of_errors, segments_of, select, system_scores

SPAN = {"start": 0, "end": 3, "severity": "major", "category": "Style"}


def segments(preset="esa"):
    """Two systems, three documents of two segments, two judges; the second system is worse by 20."""
    ids = new_ids()
    pool = [
        item_of(
            [Block("document", f"Quelle {d}{s}"), Block("text", f'Target "{d}{s}" text')],
            {"system": system, "document": f"d{d}", "segment": f"{d}-{s}", "source_lang": "deu", "target_lang": "eng"},
            new_id=ids.__next__,
        )
        for system in ("Alpha", "Beta")
        for d in range(3)
        for s in range(2)
    ]
    given = []
    for at, item in enumerate(pool):
        for bias, judge in enumerate(("x", "y")):
            score = 80 - 20 * (item.facts["system"] == "Beta") - 5 * bias + at % 3
            spans = [dict(SPAN)] if item.facts["system"] == "Beta" else []
            answers = {"score": score} if preset == "da" else {"errors": spans, "score": score}
            given.append(Judgement(item.id, judge, answers, seconds=10))
    return scheme_of(preset), pool, Judged(given)


@pytest.mark.parametrize("preset", ["da", "esa"])
def test_judgements_go_out_as_appraise_writes_them_and_come_back_the_same(preset):
    scheme, pool, judged = segments(preset)
    made = {file.name: file.content for file in files_of(scheme, pool, judged)}
    rows = list(csv.reader(io.StringIO(made["appraise.csv"].decode())))
    assert {len(row) for row in rows} == {11 if preset == "da" else 12}
    assert rows[0][:9] == ["x", "Alpha", "0-0", "TGT", "deu", "eng", "80", "d0", "False"]
    found, problems = read_appraise(made["appraise.csv"], "appraise.csv")
    assert problems == ()
    out = segments_of(scheme, pool, judged)
    assert [(one.system, one.judge, one.score, one.errors) for one in found] == [
        (
            one.system,
            one.judge,
            one.score,
            None if preset == "da" else tuple(Span(s.start, s.end, s.severity, s.category) for s in one.errors),
        )
        for one in out
    ]
    assert [one.value for one in system_scores(found)] == [one.value for one in system_scores(out)]


def test_a_span_of_appraise_ends_with_its_last_character_and_missing_words_have_no_place():
    spans = json.dumps(
        [
            {"start_i": 2, "end_i": 4, "severity": "minor"},
            {"start_i": "missing", "end_i": "missing", "severity": "major"},
        ]
    )
    line = io.StringIO()
    csv.writer(line).writerow(["j", "S", "1", "TGT", "eng", "deu", "55", "d", "False", spans, "1.0", "9.5"])
    (found,), problems = read_appraise(line.getvalue().encode(), "a.csv")
    assert problems == ()
    assert found.errors == (Span(2, 5, "minor"), Span(0, 0, "major"))
    assert read_appraise(write_appraise([found]), "b.csv")[0] == (found,)


def test_control_items_are_read_and_never_scored_and_document_scores_are_left_out():
    text = "j,S,1,TGT,eng,deu,80,d,False,1,2\nj,S,1,BAD,eng,deu,10,d,False,1,2\nj,S,1,TGT,eng,deu,5,d,True,1,2\n"
    found, problems = read_appraise(text.encode(), "a.csv")
    assert [(one.severity, one.message.partition(";")[0]) for one in problems] == [
        ("warn", "not kept: the score of a whole document")
    ]
    assert [one.kind for one in found] == ["TGT", "BAD"]
    assert [one.value.value for one in system_scores(found)] == [80.0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a,b,c", "3 columns"),
        ("j,S,1,TGT,eng,deu,180,d,False,1,2", "the score is not a number from 0 to 100"),
        ("j,S,1,TGT,eng,deu,nan,d,False,1,2", "the score is not a number from 0 to 100"),
        ("j,S,1,XXX,eng,deu,80,d,False,1,2", "the fourth column is not a kind of item"),
        (",S,1,TGT,eng,deu,80,d,False,1,2", "judge, system, segment or document is empty"),
        ("j,S,1,TGT,eng,deu,80,d,False,x,2", "start or end is not a time in seconds"),
    ],
)
def test_faults_of_an_export_are_named_by_line(line, words):
    good = "j,S,1,TGT,eng,deu,80,d,False,1,2\n"
    found, problems = read_appraise((good + line + "\n").encode(), "a.csv")
    assert found == ()
    assert [(problem.line, problem.message) for problem in problems] == [(2, words)]


def test_marked_errors_go_out_as_mqm_and_come_back_the_same():
    scheme, pool, judged = segments("esa")
    made = {file.name: file.content for file in files_of(scheme, pool, judged)}
    lines = made["mqm.tsv"].decode().splitlines()
    assert lines[0].split("\t") == [
        "system",
        "doc",
        "doc_id",
        "seg_id",
        "rater",
        "source",
        "target",
        "category",
        "severity",
    ]
    assert sum("<v>Tar</v>get" in line for line in lines) == 12
    found, problems = read_mqm(made["mqm.tsv"], "mqm.tsv")
    assert problems == ()
    assert len(found) == 24
    assert {one.errors for one in found if one.system == "Beta"} == {(Span(0, 3, "major", "Style"),)}
    assert {one.errors for one in found if one.system == "Alpha"} == {()}
    assert [(one.system, one.value.value) for one in system_scores(found, value=score_of_errors)] == [
        ("Alpha", 0.0),
        ("Beta", -5.0),
    ]


@settings(deadline=None)
@given(st.text(min_size=4, max_size=30).filter(lambda text: "<v>" not in text and "</v>" not in text))
def test_any_text_with_a_marked_span_survives_the_way_out_and_in(text):
    level = text.translate(str.maketrans("\t\r\n\v\f", "     "))
    given_segment = Segment("S", "d", "1", "j", errors=(Span(1, 3, "minor", "Style"),), target=text)
    data = write_mqm([given_segment])
    if any(char in level for char in "\x1c\x1d\x1e\x85\u2028\u2029\x00") or any(
        0xD800 <= ord(char) < 0xE000 for char in text
    ):
        return
    (found,), problems = read_mqm(data, "m.tsv")
    assert problems == ()
    assert (found.target, found.errors) == (level, given_segment.errors)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\tb\n", "there is no column system, doc, seg_id, rater, target, category, severity"),
        ("system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\nS\td\n", "2 cells, the header has 7"),
        (
            "system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\nS\td\t1\tj\ta\tStyle\t\n",
            "an error has no severity",
        ),
        (
            "system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\nS\td\t1\tj\ta\tStyle\tWeird\n",
            "an error has an unknown severity",
        ),
    ],
)
def test_faults_of_an_mqm_file_are_named(text, words):
    found, problems = read_mqm(text.encode(), "m.tsv")
    assert found == ()
    assert [problem.message for problem in problems] == [words]


def test_a_systems_score_is_the_mean_of_segments_and_its_interval_draws_documents_and_judges():
    dice = np.random.default_rng(0)
    biased = {f"j{at}": float(bias) for at, bias in enumerate(dice.normal(0, 8, 12))}
    rows = [
        Segment(
            system,
            f"d{d}",
            f"{d}.{s}",
            judge,
            float(np.clip(70 + 5 * (system == "A") + bias + dice.normal(0, 3), 0, 100)),
        )
        for system in ("A", "B")
        for d in range(20)
        for s in range(3)
        for judge, bias in list(biased.items())[d % 4 :: 4]
    ]
    found = {one.system: one for one in system_scores(rows, draws=300)}
    by_hand = {}
    for system in ("A", "B"):
        cells: dict[str, list[float]] = {}
        for one in rows:
            if one.system == system:
                cells.setdefault(one.segment, []).append(one.score)
        by_hand[system] = np.mean([np.mean(scores) for scores in cells.values()])
        assert found[system].value.value == pytest.approx(by_hand[system])
    wide = found["A"].value.high - found["A"].value.low
    fixed = 2 * 1.96 * np.std([np.mean(s) for s in cells.values()]) / np.sqrt(len(cells))
    assert wide > 1.5 * fixed  # twelve judges with biases of their own say less than sixty segments seem to
    assert (found["A"].segments, found["A"].documents, found["A"].judges) == (60, 20, 12)


def test_standardising_takes_away_what_each_judge_adds():
    rows = [
        Segment(s, "d", f"{n}", j, 50 + 30 * (j == "y") + 10 * (s == "A") + n)
        for s in "AB"
        for n in range(4)
        for j in "xy"
    ]
    found = {one.system: one.value.value for one in system_scores(rows, standardise=True, draws=20)}
    assert found["A"] == pytest.approx(-found["B"])
    assert found["A"] > 0


def test_no_segments_give_no_scores():
    assert system_scores(()) == ()


@pytest.mark.parametrize("target", ["a <v>b", "a</v> b", "</v>a<v> b", "<v>a</v> <v>b</v>"])
def test_marks_that_do_not_fit_together_cost_their_line_a_warning_and_no_error(target):
    text = "system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\n"
    text += f"S\td\t1\tj\t{target}\tStyle\tMajor\nS\td\t1\tj\t<v>a</v> b\tStyle\tMinor\n"
    (found,), problems = read_mqm(text.encode(), "m.tsv")
    assert [(one.rule, one.severity, one.line) for one in problems] == [("T-24", "warn", 2)]
    assert found.errors == (Span(0, 3, "major", "Style"), Span(0, 1, "minor", "Style"))
    assert (found.target, score_of_errors(found)) == ("a b", -6.0)


@pytest.mark.parametrize("cell", ["[1]", "nonsense", "[" * 5000, '[{"start_i": 5, "end_i": 2, "severity": "minor"}]'])
def test_broken_spans_of_appraise_cost_their_line_a_warning_and_its_score_counts(cell):
    rows = [
        ["j", "S", str(n), "TGT", "eng", "deu", score, "d", "False", cell, "1", "2"]
        for n, score in ((1, "80"), (2, ""))
    ]
    line = io.StringIO()
    csv.writer(line).writerows(rows)
    (found,), problems = read_appraise(line.getvalue().encode(), "a.csv")
    assert (found.segment, found.score, found.errors) == ("1", 80.0, ())
    assert [(one.severity, one.line) for one in problems] == [("warn", 1), ("warn", 2)]
    assert "the line is left out" in problems[1].message


def test_no_words_of_a_library_reach_the_reader_of_a_broken_table():
    for text in ('j,"S"x,1\n', 'j,S,"1\n', "a" * 200_000):
        found, problems = read_appraise(text.encode(), "a.csv")
        assert found == ()
        (problem,) = problems
        assert problem.message.startswith(("this is not a table: a quotation mark", "1 columns"))


def test_segments_of_several_language_pairs_are_never_scored_together():
    rows = [Segment("A", "d", "1", "j", 90.0, source_lang="eng", target_lang=to) for to in ("deu", "jpn")]
    with pytest.raises(ValueError, match="language pairs"):
        system_scores(rows)
    assert {pair: len(group) for pair, group in select(rows).pairs.items()} == {"eng-deu": 1, "eng-jpn": 1}


def test_the_documents_of_a_wmt_table_are_the_segments_that_were_shown_together():
    head = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
    lines = [
        ("1", "SYSTEM", "7"),
        ("1", "SYSTEM", "8"),
        ("2", "REPEAT", "8"),
        ("2", "REPEAT", "9"),
        ("3", "SYSTEM", "20"),
    ]
    text = head + "".join(f"h\tw\tcs\ten\tad\t1\tA\t{rid}\t{kind}\t{sid}\t50\t9.0\n" for rid, kind, sid in lines)
    found, problems = read_wmt_da(text.encode(), "ad.csv")
    assert problems == ()
    assert [one.document for one in found] == ["7", "7", "7", "7", "20"]
    assert [one.repeat for one in found] == [False, False, True, True, False]
