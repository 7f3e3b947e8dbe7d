"""`basanite judge systems`: language pairs, domains and documents stay apart; what is no translation is left out."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from tests.cli.running import here

DA_HEAD = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
MQM_HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tlp\n"


def judged(folder, text, *options, name="table.csv", draws="20"):
    """What the command says of a table, as JSON."""
    (folder / name).write_text(text)
    ended = here("judge", "systems", name, "--draws", draws, "--json", *options, cwd=folder)
    assert ended.code == 0, ended.stderr + ended.stdout
    return ended.data


def by_pair(data):
    """System -> value in order, for each language pair."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in data["systems"]:
        found[row["pair"]][row["system"]] = row["value"]
    return {pair: list(values.items()) for pair, values in found.items()}


def appraise(rows, *, width=11):
    """Lines of Appraise from (judge, system, segment, kind, source, target, score, document)."""
    out = io.StringIO()
    ends = {9: lambda at: (), 11: lambda at: ("False",), 12: lambda at: ("False", "[]")}[width]
    for at, row in enumerate(rows):
        head = row[:7] if width == 9 else row
        csv.writer(out).writerow((*head, *ends(at), "1.0", f"{at + 2}.0"))
    return out.getvalue()


def campaign():
    """Four pairs that share systems, documents and segment numbers; which system is best differs by pair."""
    dice = np.random.default_rng(3)
    return [
        (
            f"j{judge}",
            system,
            str(segment),
            "TGT",
            "eng",
            target,
            str(round(float(dice.uniform(0, 100)), 2)),
            f"doc{doc}",
        )
        for target in ("ces", "deu", "hin", "jpn")
        for system in ("Alpha", "Beta", *(["Gamma"] if target == "ces" else []))
        for doc in range(3)
        for segment in range(4)
        for judge in dice.choice(5, 2, replace=False)
    ]


@pytest.mark.req("T-24")
@pytest.mark.parametrize("width", [9, 11, 12])
def test_systems_are_ranked_inside_a_language_pair_and_nothing_is_averaged_across(tmp_path, width):
    rows = campaign()
    data = judged(tmp_path, appraise(rows, width=width))
    expected: dict[str, dict[str, dict[tuple[str, str], list[float]]]] = {}
    latest = {(r[0], r[1], r[2], r[5], r[7] if width > 9 else ""): float(r[6]) for r in rows}
    for (_, system, segment, target, document), score in latest.items():
        cells = expected.setdefault(f"eng-{target}", {}).setdefault(system, {})
        cells.setdefault((document, segment), []).append(score)
    found = by_pair(data)
    assert found.keys() == expected.keys()
    for pair, systems in expected.items():
        brute = {name: np.mean([np.mean(scores) for scores in cells.values()]) for name, cells in systems.items()}
        assert [name for name, _ in found[pair]] == sorted(brute, key=lambda name: -brute[name])
        assert dict(found[pair]) == pytest.approx(brute, rel=1e-9)
    assert [one["pair"] for one in data["pairs"]] == sorted(expected)
    assert data["pairs"][0]["systems"] == [name for name, _ in found["eng-ces"]]


@pytest.mark.req("T-24")
def test_text_and_page_name_the_best_of_each_pair_and_no_winner_of_all(tmp_path):
    lines = [
        ("j1", "Alpha", "1", "TGT", "eng", "deu", "90", "doc1"),
        ("j1", "Beta", "1", "TGT", "eng", "deu", "80", "doc1"),
        ("j2", "Alpha", "1", "TGT", "eng", "jpn", "10", "doc1"),
        ("j3", "Gamma", "1", "TGT", "eng", "jpn", "60", "doc1"),
    ]
    (tmp_path / "two.csv").write_text(appraise(lines))
    ended = here("judge", "systems", "two.csv", "--draws", "20", "--report", "two.html", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "eng-deu: Alpha is first with 90." in ended.stdout
    assert "eng-jpn: Gamma is first with 60." in ended.stdout
    assert "there is no ranking across them" in ended.stdout
    page = (tmp_path / "two.html").read_text()
    assert "eng-deu: Alpha is first with 90." in page
    assert "eng-jpn: Gamma is first with 60." in page


@pytest.mark.req("T-24")
def test_csv_and_parquet_have_a_cell_for_every_column(tmp_path):
    data = judged(tmp_path, appraise(campaign()), "--report", "out.csv", "--report", "out.parquet", draws="200")
    frame = pl.read_parquet(tmp_path / "out.parquet").filter(factor="language pair")
    assert frame["value"].to_list() == pytest.approx([row["value"] for row in data["systems"]])
    expected = ["percentile" if row["low"] is not None else "" for row in data["systems"]]
    assert frame["method"].to_list() == expected
    assert "percentile" in expected
    head, *rows = csv.reader((tmp_path / "out.csv").read_text().splitlines())
    assert (head, {len(row) for row in rows}) == (frame.columns, {len(head)})


@pytest.mark.req("T-24")
def test_tutorials_and_quality_control_are_left_out_and_counted(tmp_path):
    rows = [
        ("j", "Alpha", "1", "TGT", "eng", "ces", "70", "test-en-news_a.1"),
        ("j", "ende-tutorial1", "1000001", "TGT", "eng", "ces", "0", "ende-tutorial1"),
        ("j", "Alpha", "1", "BAD", "eng", "ces", "5", "test-en-news_a.1#bad"),
        ("j", "Alpha", "1", "REF", "eng", "ces", "99", "test-en-news_a.1"),
        ("j", "Alpha", "2", "TGT", "eng", "ces", "6", "test-en-news_b.2#incomplete"),
        ("j", "Alpha", "1", "TGT", "eng", "ces", "7", "test-en-news_a.1#dup"),
        ("j", "Tutorialist", "1", "TGT", "eng", "ces", "60", "test-en-news_a.1"),
        ("j", "Alpha", "1", "TGT", "eng", "ces", "80", "test-en-news_a.1"),
    ]
    data = judged(tmp_path, appraise(rows))
    assert by_pair(data) == {"eng-ces": [("Alpha", 80.0), ("Tutorialist", 60.0)]}
    assert data["left_out"] == {
        "fillers from incomplete documents": 1,
        "judgments that the same judge revised": 1,
        "quality-control items": 2,
        "repeated fillers": 1,
        "tutorial items": 1,
    }
    assert "left out: 2 quality-control items" in data["notes"]


@pytest.mark.req("T-24")
def test_domains_and_documents_of_one_name_stay_apart(tmp_path):
    head = "system\tdoc\tseg_id\trater\ttarget\tcategory\tseverity\tdomain\n"
    rows = [
        ("A", "1", "news", "Major"),
        ("A", "1", "speech", "No-error"),
        ("B", "1", "news", "Minor"),
        ("B", "1", "speech", "Minor"),
    ]
    text = head + "".join(f"{s}\tdoc1\t{n}\tj\ttext\tStyle\t{how}\t{where}\n" for s, n, where, how in rows)
    data = judged(tmp_path, text, name="mqm.tsv")
    assert by_pair(data) == {"": [("B", -1.0), ("A", -2.5)]}
    domains = data["pairs"][0]["domains"]
    assert {name: [(row["system"], row["value"]) for row in rows] for name, rows in domains.items()} == {
        "news": [("B", -1.0), ("A", -5.0)],
        "speech": [("A", 0.0), ("B", -1.0)],
    }
    assert [row["segments"] for row in data["systems"]] == [2, 2]


@pytest.mark.req("T-24")
def test_a_broken_mark_costs_its_line_a_warning_and_not_the_table(tmp_path):
    lines = ["A\td\t1\t1\tj\tQ\ta <v>b\tStyle\tMajor\ten-de\n", "A\td\t2\t2\tj\tQ\ta <v>b</v>\tStyle\tMinor\ten-de\n"]
    data = judged(tmp_path, MQM_HEAD + "".join(lines), name="mqm.tsv")
    assert by_pair(data) == {"en-de": [("A", -3.0)]}  # the error counts: only its place is lost
    assert any(note.startswith("mqm.tsv:2: the marks of this error") for note in data["notes"])


@pytest.mark.req("T-24")
def test_direct_assessment_of_wmt_counts_systems_and_repeats_and_no_checks(tmp_path):
    rows = [
        ("cs", "A.1", "7", "SYSTEM", "1", "0.5"),
        ("cs", "A.1", "8", "REPEAT", "1", "-1.5"),
        ("cs", "A.1", "7", "SYSTEM", "2", "1.0"),
        ("cs", "A.1", "8", "BAD_REF", "1", "-7"),
        ("cs", "A.1", "8", "REF", "1", "3"),
        ("de", "A.1", "9", "SYSTEM", "1", "0.25"),
    ]
    text = DA_HEAD + "".join(
        f"HIT\tW1\t{src}\ten\tad\t97\t{system}\t{rid}\t{kind}\t{sid}\t{score}\t3015.0\n"
        for src, system, rid, kind, sid, score in rows
    )
    data = judged(tmp_path, text, name="ad-good-stnd.csv")
    assert by_pair(data) == {"cs-en": [("A.1", 0.25)], "de-en": [("A.1", 0.25)]}
    assert data["measure"] == "mean score in standard deviations of each judge"
    assert data["left_out"] == {"quality-control items": 2}
    again = here("judge", "systems", "ad-good-stnd.csv", "--standardise", cwd=tmp_path)
    assert (again.code, "on a scale of their own" in again.stderr) == (2, True)


def assessed(*scores):
    """A table of direct assessment with these scores."""
    lines = [f"HIT\tW1\tcs\ten\tad\t97\tA.1\t{at}\tSYSTEM\t{at}\t{score}\t9.0\n" for at, score in enumerate(scores)]
    return DA_HEAD + "".join(lines)


@pytest.mark.req("T-24")
@pytest.mark.parametrize(
    ("name", "scores", "measure"),
    [
        ("ad-good-stnd.csv", ("0.5", "1.25", "0.75"), "standard deviations"),  # nothing is negative
        ("ad-good-stnd.csv", ("1", "2"), "standard deviations"),
        ("scores.csv", ("0.5", "1.25", "-0.75"), "standard deviations"),
        ("scores.csv", ("70", "81", "2"), "100"),
        ("ad-good-raw.csv", ("0.5", "1.25", "2"), "100"),
    ],
)
def test_the_scale_of_direct_assessment_is_told_by_the_name_of_the_file_or_by_most_scores(
    tmp_path, name, scores, measure
):
    assert measure in judged(tmp_path, assessed(*scores), name=name)["measure"]


@pytest.mark.req("T-24", case="bad")
@pytest.mark.parametrize(
    ("name", "scores", "words"),
    [
        ("scores.csv", ("70", "101", "80"), "the score is outside 0 to 100"),
        ("scores.csv", ("70", "-1", "80"), "the score is outside 0 to 100"),
        ("ad-good-raw.csv", ("0.5", "-1.5", "0.25"), "the score is outside 0 to 100"),
        ("ad-good-stnd.csv", ("0.5", "70", "-0.25"), "the score is outside -30 to 30"),
    ],
)
def test_a_score_outside_the_scale_is_named_by_its_line_and_relabels_nothing(tmp_path, name, scores, words):
    (tmp_path / name).write_text(assessed(*scores))
    ended = here("judge", "systems", name, cwd=tmp_path)
    assert ended.code != 0
    assert f"{name}:3" in ended.stderr
    assert words in ended.stderr


@pytest.mark.req("T-24", case="bad")
@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.csv", "judge,item,score\nj,1,99\n" * 30, "`basanite judge agreement`"),
        ("x.csv", 'j,"S"x,1,TGT,eng,deu,80,1,2\n', "this is not a table: a quotation mark"),
        ("x.csv", 'first,second,outcome\nA,B,"first\n', "this is not a table: a quotation mark"),
        ("x.csv", DA_HEAD + "h\tw\tcs\ten\tad\t1\tA\t1\tTRAINING\t1\t50\t1\n", "the type of the item is unknown"),
        ("x.csv", DA_HEAD + "h\tw\tcs\ten\tad\t1\tA\t1\tSYSTEM\t1\tnan\t1\n", "the score is not a number"),
        ("x.csv", "\n\n", "there is no judgment in it"),
        ("x.tsv", "a" * 200_000 + "\tb\n", "there is no column system"),
    ],
)
def test_other_tables_are_refused_in_our_words(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    ended = here("judge", "systems", name, cwd=tmp_path)
    assert ended.code == 1
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) <= 3
    for leak in ("Traceback", "delimiter", "field larger", "unexpected end", "expected after"):
        assert leak not in ended.stderr


def test_a_header_of_appraise_is_passed_over(tmp_path):
    head = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    data = judged(tmp_path, head + appraise([("j", "A", "1", "TGT", "eng", "deu", "90", "d")]))
    assert by_pair(data) == {"eng-deu": [("A", 90.0)]}


def test_judgements_without_a_language_are_a_group_of_their_own(tmp_path):
    rows = [("j", "A", "1", "TGT", "eng", "deu", "90", "d"), ("j", "A", "1", "TGT", "", "", "10", "d")]
    (tmp_path / "x.csv").write_text(appraise(rows))
    ended = here("judge", "systems", "x.csv", "--draws", "20", cwd=tmp_path)
    assert "x.csv: mean score, 0 to 100" in ended.stdout
    assert "no language named: A is first with 10." in ended.stdout
    assert "eng-deu: A is first with 90." in ended.stdout


@pytest.mark.req("L-8")
def test_strengths_of_pairs_are_free_of_a_style_that_is_controlled_for(tmp_path):
    rng = random.Random(5)
    rows = ["first,second,outcome,item,judge,length"]
    for number in range(400):  # judges look at the length alone, and Long writes more
        first, second = rng.sample(["Long", "Short"], 2)
        length = (0.4 if first == "Long" else -0.4) + rng.uniform(-0.6, 0.6)
        won = rng.random() < 1 / (1 + math.exp(-3 * length))
        rows.append(f"{first},{second},{'first' if won else 'second'},i{number},j{number % 5},{length:.3f}")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    values = {}
    for control in ((), ("--control", "length")):
        ended = here("judge", "systems", "pairs.csv", "--draws", "100", *control, "--json", cwd=tmp_path)
        assert ended.code == 0, ended.stderr
        found = json.loads(ended.stdout)
        values[control] = {one["system"]: one for one in found["systems"]}
    assert values[()]["Long"]["low"] > 0.2
    free = values["--control", "length"]["Long"]
    assert free["low"] < 0 < free["high"]
    assert any(note.startswith("control length: ") for note in found["notes"])
    refused = here("judge", "systems", "pairs.csv", "--control", "bold", cwd=tmp_path)
    assert "has no column 'bold' to control for" in refused.stderr
    (tmp_path / "pairs.csv").write_text("\n".join([*rows, "Long,Short,first,x,j,long"]) + "\n")
    broken = here("judge", "systems", "pairs.csv", "--control", "length", cwd=tmp_path)
    assert "pairs.csv:402: length is no number" in broken.stderr
