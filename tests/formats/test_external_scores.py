"""Results of trec_eval and sacreBLEU: read as they are, told what is left behind, and written back the same (P-32)."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from basanite import canonical
from basanite.errors import BasaniteError, SettingError
from basanite.formats.foreign_files import Losses
from basanite.formats.texts.external_scores import (
    Figure,
    Reported,
    read_sacrebleu,
    read_trec_eval,
    sacrebleu_text,
    trec_eval_lines,
)
from basanite.problems import Findings
from basanite.reports.result_files import reported_of, result_object

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "import"
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SHARE = st.integers(0, 10_000).map(lambda number: number / 10_000)
MEASURES = st.sampled_from(["map", "ndcg_10", "p_10", "rr", "Rprec", "P_5", "iprec_at_recall_0.10", "gm_map"])
QUERIES = st.sampled_from(["q1", "301", "ü-2"])


def printed(path, text):
    path.write_text(text, encoding="utf-8")
    findings, losses = Findings(), Losses("x")
    return read_trec_eval(path, findings, losses), findings, losses


@given(
    st.dictionaries(MEASURES, SHARE, min_size=1),
    st.dictionaries(QUERIES, st.dictionaries(MEASURES, SHARE, min_size=1), max_size=2),
    st.integers(1, 300),
)
@QUICK
def test_what_trec_eval_prints_comes_back_the_same_also_through_a_result_of_ours(tmp_path, whole, single, units):
    primary = "map" if "map" in whole else next(iter(whole))
    figures = {name: Figure(value) for name, value in whole.items()}
    reported = Reported("trec_eval", "ranking", primary, figures, units, "run-1", "query", single)
    losses = Losses("x")
    found, findings, more = printed(tmp_path / "a.txt", "".join(trec_eval_lines(reported, losses)))
    assert (findings.problems, losses.found, more.found) == ([], {}, {})
    assert (found.figures, found.by_unit, found.units) == (figures, single, units)
    (tmp_path / "r.json").write_text(canonical.dumps(result_object(found)))
    again = reported_of(tmp_path / "r.json", program="trec_eval", task="ranking", unit="query")
    assert list(trec_eval_lines(again, losses)) == list(trec_eval_lines(reported, losses))


def test_the_file_of_trec_eval_is_written_again_to_the_letter():
    findings, losses = Findings(), Losses("x")
    found = read_trec_eval(EXAMPLES / "trec_eval.txt", findings, losses)
    assert "".join(trec_eval_lines(found, losses)) == (EXAMPLES / "trec_eval.txt").read_text()
    assert (found.units, len(found.by_unit), found.figures["rr"].value, losses.found) == (24, 24, 0.8333, {})
    assert found.figures.keys() >= {"map", "ndcg", "ndcg_10", "p_10", "rr", "bpref", "infap"}


def test_what_trec_eval_prints_that_is_no_number_is_told(tmp_path):
    found, findings, losses = printed(
        tmp_path / "a", "runid\tall\tx\nrelstring_x 1 2\nrelstring q1 '01-'\nmap all 0.5\n"
    )
    assert (findings.problems, found.system, list(losses.found)) == ([], "x", ["relstring, which is not a number"])


def test_where_only_queries_were_printed_means_are_taken_and_told(tmp_path):
    text = "map q1 0.5\nnum_ret q1 10\ngm_map q1 0.1\nmap q2 0.25\nnum_ret q2 5\n"
    found, _, losses = printed(tmp_path / "a", text)
    assert {name: figure.value for name, figure in found.figures.items()} == {"map": 0.375, "num_ret": 15.0}
    assert (found.units, len(losses.found)) == (2, 1)


WRONG = {
    "nothing": ("", None),
    "two fields": ("map 0.5\n", 1),
    "no number": ("map all high\n", 1),
    "twice": ("map all 0.5\nmap all 0.6\n", 2),
    "a name": ("=cmd() all 0.5\n", 1),
    "NUL": ("map all 0.5\0\n", 1),
    "digits": (f"map all {'9' * 400}\n", 1),
}


@pytest.mark.parametrize(("text", "line"), WRONG.values(), ids=WRONG)
def test_what_trec_eval_did_not_print_is_a_problem_with_its_line(tmp_path, text, line):
    found, findings, _ = printed(tmp_path / "a", text)
    assert found is None
    assert [(problem.rule, problem.line) for problem in findings.problems] == [("P-32", line)]


def test_digits_intervals_and_parts_that_trec_eval_cannot_print_are_told():
    losses = Losses("x")
    figure = Figure(1 / 3, 0.2, 0.4, parts={"relevant": 3.0})
    lines = list(trec_eval_lines(Reported("trec_eval", "ranking", "map", {"map": figure}, 3), losses))
    assert lines[-1].split() == ["map", "all", "0.3333"]
    assert sorted(losses.found) == ["digits behind the fourth", "intervals", "parts of values"]
    undefined = Reported("trec_eval", "ranking", "map", {"map": Figure(math.nan)}, 3)
    assert list(trec_eval_lines(undefined, losses))[-1].split() == ["map", "all", "nan"]


SCORE = st.integers(0, 1000).map(lambda number: number / 10)
SIGNED = {
    "bleu": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    "chrf": "nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0",
    "ter": "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0",
}
PARTS = ("precision_1", "precision_2", "precision_3", "precision_4", "bp", "ratio", "hyp_len", "ref_len")


@st.composite
def scores(draw):
    """What sacreBLEU found: scores of one decimal, some with intervals."""
    figures = {}
    for name in draw(st.lists(st.sampled_from(sorted(SIGNED)), min_size=1, unique=True)):
        ends = (None, None)
        if draw(st.booleans()):
            mean, spread = draw(SCORE), draw(SCORE)
            ends = ((mean - spread) / 100, (mean + spread) / 100)
        parts = {part: float(draw(st.integers(0, 99))) for part in PARTS} if name == "bleu" else {}
        figures[name] = Figure(draw(SCORE) / 100, *ends, f"{SIGNED[name]}|scale:0..1", parts)
    return Reported("sacreBLEU", "translation", "bleu" if "bleu" in figures else next(iter(figures)), figures)


def close(first, second):
    return (first is None and second is None) or math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def same(first, second):
    return first.keys() == second.keys() and all(
        close(one.value, second[name].value)
        and close(one.low, second[name].low)
        and close(one.high, second[name].high)
        and (one.signature, one.parts) == (second[name].signature, second[name].parts)
        for name, one in first.items()
    )


def scored(path, text, **options):
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    findings, losses = Findings(), Losses("x")
    return read_sacrebleu(path, findings, losses, **options), findings, losses


@given(scores())
@QUICK
def test_scores_of_sacrebleu_come_back_the_same_also_through_a_result_of_ours(tmp_path, reported):
    losses = Losses("x")
    text = sacrebleu_text(reported, losses)
    found, findings, more = scored(tmp_path / "a.json", text)
    assert (findings.problems, losses.found, more.found) == ([], {}, {})
    assert same(found.figures, reported.figures)
    (tmp_path / "r.json").write_text(canonical.dumps(result_object(found)))
    again = reported_of(tmp_path / "r.json", program="sacreBLEU", task="translation", unit="segment")
    assert same(again.figures, reported.figures)


@pytest.mark.parametrize(("order", "name"), [(0, "chrF2"), (2, "chrF2++")])
def test_what_sacrebleu_itself_prints_is_read_and_written_again_to_the_letter(tmp_path, order, name):
    from sacrebleu.metrics import BLEU, CHRF

    said, truth = ["the cat sat on a mat", "no"] * 10, [["the cat sat on the mat", "yes"] * 10]
    texts = []
    for metric in (BLEU(references=truth), CHRF(references=truth, word_order=order)):
        score = metric.corpus_score(said, None, n_bootstrap=20)
        texts.append(score.format(1, False, metric.get_signature().format(), True))
    whole = "[\n" + ",\n".join(texts) + "\n]\n"
    found, findings, losses = scored(tmp_path / "a.json", whole)
    assert (findings.problems, losses.found) == ([], {})
    assert found.figures["chrf"].value == pytest.approx(json.loads(texts[1])["score"] / 100)
    assert sacrebleu_text(found, losses) == whole
    assert f'"name": "{name}"' in whole
    assert losses.found == {}


def test_the_file_of_sacrebleu_is_written_again_to_the_letter(tmp_path):
    text = (EXAMPLES / "sacrebleu.json").read_text()
    found, _, losses = scored(tmp_path / "a.json", text)
    assert (sacrebleu_text(found, losses), losses.found) == (text, {})
    assert found.figures["bleu"].parts["hyp_len"] == 1499


TABLE = [
    {"system": "Baseline: A", "BLEU": "74.3", "chrF2": "84.7"},
    {"system": "B", "BLEU": {"score": 48.9, "p_value": 0.01, "mean": 49.0, "ci": 2.0}},
]


def test_one_system_of_a_table_is_taken_and_what_the_table_lacks_is_told(tmp_path):
    found, _, losses = scored(tmp_path / "a.json", TABLE, system="B")
    assert (found.system, found.figures["bleu"].value) == ("B", pytest.approx(0.489))
    assert (found.figures["bleu"].low, found.figures["bleu"].high) == (pytest.approx(0.47), pytest.approx(0.51))
    assert list(losses.found) == [
        "how a score was computed: it has no signature",
        "the entry 'p_value' of BLEU",
    ]
    assert scored(tmp_path / "a.json", TABLE, system="A")[0].figures["chrf"].value == pytest.approx(0.847)
    with pytest.raises(SettingError, match="--system, of: A, B"):
        scored(tmp_path / "a.json", TABLE)


GOOD = {"name": "BLEU", "score": 1.0, "signature": "a:b"}
UNREADABLE = {
    "no JSON": "{",
    "a number": "7",
    "an empty list": "[]",
    "a list of numbers": "[1]",
    "no name": json.dumps({"score": 1.0}),
    "no score": json.dumps({"name": "BLEU", "signature": "a:b"}),
    "a text": json.dumps(GOOD | {"score": "high"}),
    "true": json.dumps(GOOD | {"score": True}),
    "nan": '{"name": "BLEU", "score": NaN, "signature": "a:b"}',
    "huge": json.dumps(GOOD | {"score": 10**30}),
    "twice": json.dumps([GOOD, GOOD]),
    "deep": "[" * 100 + "]" * 100,
    "a cell": json.dumps([{"system": "A", "BLEU": "high"}]),
    "a signature": json.dumps(GOOD | {"signature": 7}),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_sacrebleu_did_not_print_is_a_problem(tmp_path, text):
    found, findings, _ = scored(tmp_path / "a.json", text)
    assert found is None
    assert [problem.where for problem in findings.problems] == ["submission"]


def test_entries_and_values_that_have_no_place_are_told(tmp_path):
    entry = GOOD | {"mood": "x", "verbose_score": "odd", "name": "chrF3"}
    _, _, losses = scored(tmp_path / "a.json", entry)
    assert sorted(losses.found) == [
        "a verbose score of another form",
        "the entry 'mood' of chrF3",
        "the weight of recall in chrF, which is 2 here",
    ]
    losses = Losses("x")
    figures = {"bleu": Figure(1 / 3), "meteor": Figure(0.5), "ter": Figure(math.nan)}
    sacrebleu_text(Reported("sacreBLEU", "translation", "bleu", figures), losses)
    assert sorted(losses.found) == [
        "digits of scores behind the fourth",
        "meteor, which sacreBLEU does not have",
        "ter, which is undefined",
    ]


def test_a_result_of_another_task_is_refused(tmp_path):
    reported = Reported("sacreBLEU", "translation", "bleu", {"bleu": Figure(0.5)})
    (tmp_path / "r.json").write_text(canonical.dumps(result_object(reported)))
    with pytest.raises(BasaniteError, match="measures 'ranking' only"):
        reported_of(tmp_path / "r.json", program="trec_eval", task="ranking", unit="query")
