"""Python people bring tables and take results away: the same numbers as from files, in two lines (Y-1 to Y-3)."""

from __future__ import annotations

import csv
import json
import random
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from tests.cli.running import ROOT, here
from tests.doors.examples import BY_TASK
from tools.notebook import code_cells, run_notebook

import basanite
from basanite.errors import ArgumentError, BasaniteError, InvalidInputError, SettingError, UnknownNameError

TABULAR = ("classification", "labels", "lm", "ratings", "readability", "relevance", "translation")
"""Tasks whose shipped examples are CSV or JSON lines on both sides."""
SAME = ("values", "breakdowns", "notes")


def records(path):
    """What pandas makes of a CSV file, or Python of JSON lines, as records."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    read = pd.read_csv(path, dtype={"id": str, "item": str, "passage": str})
    return read.astype(object).where(read.notna(), None).to_dict("records")


def columns(rows):
    return {name: [row.get(name) for row in rows] for name in rows[0]}


def structured(rows):
    wide = columns(rows)
    if any(isinstance(cell, list) for cells in wide.values() for cell in cells):
        pytest.skip("arrays with named fields hold no lists")
    kinds = [(name, object) for name in wide]
    return np.array([tuple(cells) for cells in zip(*wide.values(), strict=True)], dtype=kinds)


WAYS = {
    "records": lambda rows: rows,
    "columns": columns,
    "arrays": structured,
    "pandas": pd.DataFrame,
    "named index": lambda rows: pd.DataFrame(rows).set_index(next(iter(rows[0]))),
    "polars": lambda rows: pl.DataFrame(rows, infer_schema_length=None),
    "lazy": lambda rows: pl.LazyFrame(rows, infer_schema_length=None),
}


def saved(result, tmp_path):
    return json.loads(result.report(tmp_path / "result.json").read_text())


@pytest.mark.req("Y-1")
@pytest.mark.few(8)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", TABULAR)
def test_a_table_scores_like_the_file_that_it_came_from(task, way, tmp_path):
    example = BY_TASK[task]
    sides = {name: example.path(task, getattr(example, name)) for name in ("reference", "submission")}
    more = [example.path(task, name) for name in example.metadata]
    tables = {name: WAYS[way](records(path)) for name, path in sides.items()}
    from_files = basanite.score(task, **sides, metadata=more, draws=50)
    from_tables = basanite.score(task, **tables, metadata=[WAYS[way](records(path)) for path in more], draws=50)
    expected, found = saved(from_files, tmp_path), saved(from_tables, tmp_path)
    assert {name: found[name] for name in SAME} == {name: expected[name] for name in SAME}
    assert expected["values"] or expected["breakdowns"]


@pytest.mark.req("Y-1")
def test_the_digest_of_a_table_is_that_of_its_canonical_lines(tmp_path):
    key = [{"label": name, "id": str(at), "mass": at / 3} for at, name in enumerate("abca")]
    lines = "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in key)
    for name in ("reference", "submission"):
        (tmp_path / f"{name}.jsonl").write_text(lines)
    given = here("score", "classification", "--reference", "reference.jsonl", "--submission", "submission.jsonl",
                 "--json", cwd=tmp_path)  # fmt: skip
    digests = json.loads(given.stdout)["digests"]
    for table in (key, pd.DataFrame(key), pl.DataFrame(key), columns(key)):
        assert dict(basanite.score("classification", reference=table, submission=table).scores.digests) == digests
    changed = [{**key[0], "mass": 5.0}, *key[1:]]
    assert basanite.score("classification", reference=changed, submission=key).scores.digests != digests


@pytest.mark.slow
@pytest.mark.req("Y-1")
def test_a_dataset_of_hugging_face_and_an_arrow_table_score_like_a_file():
    datasets, arrow = (
        pytest.importorskip(name, reason="`make test-all` installs it") for name in ("datasets", "pyarrow")
    )
    example = BY_TASK["translation"]
    path = {name: example.path("translation", getattr(example, name)) for name in ("reference", "submission")}
    expected = basanite.score("translation", **path, draws=50)["bleu"]
    for make in (datasets.Dataset.from_list, arrow.Table.from_pylist, arrow.RecordBatch.from_pylist):
        given = {name: make(records(file)) for name, file in path.items()}
        assert basanite.score("translation", **given, draws=50)["bleu"] == expected
    splits = datasets.DatasetDict({"test": given["reference"]})
    with pytest.raises(ArgumentError, match=r"holds the splits 'test': give one, like data\['test'\]"):
        basanite.score("translation", reference=splits, submission=given["submission"])
    first, second = {"A": [1, 2, 4], "B": [1, 3, 3]}.values()
    wanted = basanite.compare_values({"A": first, "B": second}).differences
    for table in (datasets.Dataset.from_dict({"A": first, "B": second}), arrow.table({"A": first, "B": second})):
        assert basanite.compare_values(table).differences == wanted
        assert basanite.compare_values({name: table[name] for name in "AB"}).differences == wanted


@pytest.mark.req("Y-1")
def test_empty_cells_of_a_frame_are_read_as_those_of_a_file(tmp_path):
    text = "id,text\n1,hello\n2,\n"
    (tmp_path / "answers.csv").write_text(text)
    reference = [{"id": "1", "text": "hello"}, {"id": "2", "text": "world"}]
    file = basanite.score("translation", reference=reference, submission=tmp_path / "answers.csv")
    rows = list(csv.DictReader(text.splitlines()))
    for table in (pd.read_csv(tmp_path / "answers.csv"), pl.read_csv(tmp_path / "answers.csv"), rows):
        assert basanite.score("translation", reference=reference, submission=table)["bleu"] == file["bleu"]
    with pytest.raises(InvalidInputError):
        basanite.score("translation", reference=reference, submission=[{"id": "1", "text": "a"}, {"id": "2"}])


@pytest.mark.req("Y-1")
def test_rows_are_paired_by_their_ids_and_problems_name_the_row():
    key = [{"id": str(at), "label": "ab"[at % 2], "day": date(2026, 1, 1 + at % 3)} for at in range(30)]
    shuffled = random.Random(3).sample(key, len(key))
    assert basanite.score("classification", reference=key, submission=shuffled)["accuracy"].value == 1.0
    found = basanite.validate("classification", reference=key, submission=[*key[:4], {"id": "9"}, *key[5:]])
    lines = {problem.place(): problem.message for problem in found}
    assert "submission.jsonl:5" in lines
    levels = basanite.score("classification", reference=key, submission=key).breakdown("day", "accuracy")
    assert levels.column("day") == ["2026-01-01", "2026-01-02", "2026-01-03"]


ROWS = [{"id": "1", "label": "a"}, {"id": "2", "label": "b"}]
WRONG = {
    "a number": ({"reference": 5, "submission": ROWS}, "reference is 5 (int)"),
    "nothing": ({"reference": ROWS, "submission": None}, "submission is None"),
    "missing": ({"reference": ROWS}, "missing a required argument: 'submission'"),
    "bytes in a cell": ({"reference": ROWS, "submission": [{"id": "1", "label": b"a"}]}, "row 1, 'label': a bytes"),
    "an array without names": ({"reference": np.array(["a", "b"]), "submission": ROWS}, "without names of columns"),
    "numbers in a list": ({"reference": ROWS, "submission": [1, 2]}, "submission is a list"),
    "a mixed list": ({"reference": ROWS, "submission": [*ROWS, 3]}, "Record 3 of submission is 3 (int)"),
    "columns of two lengths": ({"reference": ROWS, "submission": {"id": [1, 2], "label": ["a"]}}, "differ in length"),
    "a text as a column": ({"reference": ROWS, "submission": {"id": [1], "label": "a"}}, "give a list of cells"),
    "an empty list": ({"reference": ROWS, "submission": []}, "submission is an empty list"),
    "columns without names": ({"reference": ROWS, "submission": pd.DataFrame([[1, "a"]])}, "there are: 0, 1"),
    "a series": ({"reference": ROWS, "submission": pd.Series(["a", "b"])}, "it has no named columns"),
    "no seed": ({"reference": ROWS, "submission": ROWS, "seed": None}, "seed is None"),
    "draws as text": ({"reference": ROWS, "submission": ROWS, "draws": "many"}, "draws is 'many' (str)"),
    "a file that is not there": ({"reference": "nowhere.csv", "submission": ROWS}, "nowhere.csv cannot be read"),
    "an unknown word": ({"reference": ROWS, "submission": ROWS, "references": 1}, "has no setting 'references'"),
}


@pytest.mark.req("Y-1")
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_told_in_words_of_ours(case):
    given, words = WRONG[case]
    with pytest.raises(BasaniteError) as told:
        basanite.score("classification", **given)
    assert words in str(told.value)


@pytest.mark.req("Y-1")
def test_what_is_called_in_a_wrong_way_is_told_how_to_call_it():
    with pytest.raises(ArgumentError, match="too many positional arguments"):
        basanite.score("classification", ROWS, ROWS)
    for task in (5, None):
        with pytest.raises(ArgumentError, match=f"task is {task}"):
            basanite.validate(task, submission=ROWS)
    with pytest.raises(ArgumentError, match="A table has no name"):
        basanite.compare("classification", reference=ROWS, submissions=[ROWS, pd.DataFrame(ROWS)])
    with pytest.raises(ArgumentError, match=r"submissions is 'a\.csv'"):
        basanite.compare("classification", reference=ROWS, submissions="a.csv")


@pytest.mark.req("Y-1")
def test_systems_of_a_comparison_are_tables_by_name():
    key = [{"id": str(at), "label": "ab"[at % 2]} for at in range(40)]
    worse = [{**row, "label": "a"} if at % 3 else row for at, row in enumerate(key)]
    found = basanite.compare("classification", reference=key, submissions={"good": key, "bad": pd.DataFrame(worse)})
    assert found.ranking().column("system") == ["good", "bad"]
    alone = basanite.score("classification", reference=key, submission=worse)
    assert found["bad"]["f1_macro"] == alone["f1_macro"]


@pytest.fixture(scope="module")
def scored():
    example = BY_TASK["classification"]
    path = {name: example.path("classification", getattr(example, name)) for name in ("reference", "submission")}
    metadata = example.path("classification", "metadata.csv")
    return basanite.score("classification", **path, metadata=metadata, draws=50)


@pytest.fixture(scope="module")
def compared():
    path = BY_TASK["classification"].path("classification", "Alpha.csv").parent
    both = {name: path / f"{name}.csv" for name in ("Alpha", "Beta")}
    return basanite.compare("classification", reference=path / "key.csv", submissions=both, draws=50)


@pytest.mark.req("Y-2")
def test_values_come_out_by_name_and_as_tables(scored):
    assert scored["accuracy"] is scored.values["accuracy"]
    assert "accuracy" in scored
    table = scored.table()
    assert table[0]["metric"] == "f1_macro"
    assert pd.DataFrame(table).set_index("metric")["value"].to_dict() == {
        name: value.value for name, value in scored.values.items()
    }
    assert pl.DataFrame(table).height == len(scored.values)
    levels = scored.breakdown("ambiguity", "accuracy")
    assert levels.column("value") == [found["accuracy"].value for found in scored.breakdowns["ambiguity"].values()]
    with pytest.raises(UnknownNameError, match="Did you mean 'accuracy'"):
        scored["acuracy"]
    with pytest.raises(UnknownNameError, match="Did you mean 'ambiguity'"):
        scored.breakdown("ambigity")


@pytest.mark.req("Y-2")
def test_units_have_their_own_values_whose_mean_is_the_whole(scored):
    units = pd.DataFrame(scored.units())
    assert len(units) == 150
    assert units["accuracy"].mean() == pytest.approx(scored["accuracy"].value, abs=1e-12)
    own = units.groupby("ambiguity")["accuracy"].mean()
    for row in scored.breakdown("ambiguity", "accuracy"):
        assert own[row["ambiguity"]] == pytest.approx(row["value"], abs=1e-12)


@pytest.mark.req("Y-2")
def test_a_result_and_a_comparison_are_short_to_look_at(scored, compared):
    for found, first in ((scored, "Alpha on classification"), (compared, "2 systems on classification")):
        lines = repr(found).splitlines()
        assert len(lines) <= 10
        assert lines[0].startswith(first)
        assert max(map(len, lines)) <= 120
    assert "f1_macro" in repr(scored)
    assert "Alpha" in repr(compared)


class Tags(HTMLParser):
    """Collects the tags of a page, and what stands open at its end."""

    def __init__(self, page):
        super().__init__()
        self.seen, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in ("br", "rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.req("Y-2")
def test_a_notebook_shows_an_interval_bar_for_each_value(scored, compared):
    for found, rows in ((scored, len(scored.values)), (compared, 2)):
        page = Tags(found._repr_html_())
        assert page.open == []
        assert [tag for tag, _ in page.seen].count("svg") == rows
    value = scored["f1_macro"]
    bar = next(attributes for tag, attributes in Tags(scored._repr_html_()).seen if tag == "rect" and "opacity" in
               attributes and attributes["height"] == "6")  # fmt: skip
    assert float(bar["x"]) == pytest.approx(4 + 152 * value.low, abs=0.1)
    assert float(bar["width"]) == pytest.approx(152 * (value.high - value.low), abs=0.2)


@pytest.mark.req("Y-2")
def test_names_of_strangers_cannot_write_html():
    key = [{"id": str(at), "label": "ab"[at % 2], "<script>": "xy"[at % 2]} for at in range(20)]
    found = basanite.score("classification", reference=key, submission=key, system="<script>alert(1)</script>\u202e")
    tables = (found, found.table(), found.units(), found.breakdown("<script>"))
    for page in [one._repr_html_() for one in tables]:
        assert not [tag for tag, _ in Tags(page).seen if tag == "script"]
    assert "\u202e" not in repr(found)


@pytest.mark.req("Y-2")
def test_plots_and_reports_come_from_the_result(scored, compared, tmp_path):
    assert "F1 (macro) by ambiguity" in scored.plots
    plot = scored.plot("by ambiguity")
    assert plot.svg.startswith("<svg")
    assert plot.table.column("Value") == [
        levels["f1_macro"].value for levels in scored.breakdowns["ambiguity"].values()
    ]
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text() == plot.svg
    with pytest.raises(UnknownNameError, match=r"F1 \(macro\) by ambiguity"):
        scored.plot("nothing")
    for found in (scored, compared):
        page = found.report(tmp_path / "report.html").read_text()
        assert "f1_macro" in page
    with pytest.raises(UnknownNameError):
        scored.report(tmp_path / "report.docx")


@pytest.mark.req("Y-2")
def test_a_comparison_has_a_matrix_and_a_ranking(compared):
    one = compared.differences[0]
    assert (one.first, one.second, one.metric) == ("Alpha", "Beta", "f1_macro")
    matrix = {row["system"]: row for row in compared.matrix()}
    assert matrix["Alpha"]["Beta"] == one.difference
    assert matrix["Beta"]["Alpha"] == -one.difference
    assert matrix["Alpha"]["Alpha"] is None
    adjusted = {row["system"]: row for row in compared.matrix(cell="p_adjusted")}
    assert adjusted["Alpha"]["Beta"] == adjusted["Beta"]["Alpha"] == one.p_adjusted
    first, second = compared.ranking()
    assert first["value"] > second["value"]
    ranges = compared.rankings["f1_macro"].rank_ranges
    assert [(row["best_rank"], row["worst_rank"]) for row in (first, second)] == [
        tuple(ranges[row["system"]]) for row in (first, second)
    ]
    with pytest.raises(UnknownNameError):
        compared.matrix(cell="colour")
    with pytest.raises(UnknownNameError):
        compared.ranking("acuracy")


@pytest.mark.req("Y-2")
def test_the_notebook_of_the_documentation_shows_what_its_cells_give(tmp_path):
    notebook = json.loads((ROOT / "docs/how-to/tables-in-a-notebook.ipynb").read_text())
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for cell, outputs in zip(code_cells(notebook), run_notebook(notebook, tmp_path), strict=True):
        assert [one.get("data", {}).get("text/plain") for one in outputs] == [
            one.get("data", {}).get("text/plain") for one in cell["outputs"]
        ], f"renew it: python -m tools.notebook ...; in {cell['source']}"
        kinds = [sorted(one.get("data", ())) for one in outputs]
        assert kinds == [sorted(one.get("data", ())) for one in cell["outputs"]]


def exact_p(gaps):
    """p of the sign-flip test on a mean, over all sign patterns, studentized as the definition says: brute force."""
    n = len(gaps)
    signs = np.array([[1 - 2 * (mask >> at & 1) for at in range(n)] for mask in range(2**n)])
    shifts = signs @ gaps
    spread = np.sqrt(np.maximum((gaps**2).sum() - shifts**2 / n, 1e-300))
    own = abs(gaps.sum()) / np.sqrt((gaps**2).sum() - gaps.sum() ** 2 / n)
    return float(np.mean(np.abs(shifts) / spread >= own * (1 - 1e-9)))


@pytest.mark.req("Y-3")
def test_the_test_on_plain_values_is_the_one_over_all_sign_patterns():
    rng = np.random.default_rng(5)
    first, second = rng.normal(0.4, 1, 12), rng.normal(0, 1, 12)
    one = basanite.compare_values(first, second).differences[0]
    assert one.difference == pytest.approx(float(first.mean() - second.mean()), abs=1e-12)
    assert one.p == pytest.approx(exact_p(first - second), abs=1e-9)


@pytest.mark.req("Y-3")
def test_the_interval_of_plain_values_is_close_to_students():
    rng = np.random.default_rng(6)
    first, second = rng.normal(0.1, 1, 400), rng.normal(0, 1, 400)
    one = basanite.compare_values({"A": first, "B": second}, draws=4000).differences[0]
    known = stats.ttest_rel(first, second).confidence_interval()
    assert (one.low, one.high) == pytest.approx((known.low, known.high), abs=0.015)
    assert one.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)


@pytest.mark.req("Y-3")
def test_a_frame_has_a_column_of_numbers_for_each_system():
    columns = {"A": [1.0, 2.0, 4.0, 3.0], "B": [1.0, 3.0, 3.0, 5.0]}
    wanted = basanite.compare_values(columns)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns)):
        assert basanite.compare_values(frame).differences == wanted.differences
    named = pd.DataFrame(columns, index=list("wxyz"))
    assert "units are paired by their position, since they have no ids" not in basanite.compare_values(named).notes
    with pytest.raises(ArgumentError, match="The value of name for unit '1' is 'u'"):
        basanite.compare_values(pd.DataFrame({"name": ["u", "v"], "A": [1, 2]}))


@pytest.mark.req("Y-3")
def test_clusters_of_plain_values_move_together():
    rng = np.random.default_rng(7)
    house = np.repeat(rng.normal(0, 1, 40), 10)
    first, second = house + rng.normal(0, 0.1, 400), np.zeros(400)
    alone = basanite.compare_values(first, second)["a"]["mean"]
    together = basanite.compare_values(first, second, cluster=[f"house {at // 10}" for at in range(400)])["a"]["mean"]
    assert (together.high - together.low) > 2 * (alone.high - alone.low)
    known = stats.ttest_1samp(first.reshape(40, 10).mean(axis=1), 0).confidence_interval()  # houses are of one size
    assert (together.low, together.high) == pytest.approx((known.low, known.high), abs=0.06)


@pytest.mark.req("Y-3")
def test_values_are_paired_by_id_wherever_there_are_ids():
    rng = np.random.default_rng(8)
    ids, first, second = [f"u{at}" for at in range(50)], rng.normal(0, 1, 50), rng.normal(0, 1, 50)
    order = rng.permutation(50)
    given = basanite.compare_values(dict(zip(ids, first, strict=True)), dict(zip(ids, second, strict=True)))
    series = pd.Series(first, index=ids), pd.Series(second[order], index=np.array(ids)[order])
    arrays = basanite.compare_values({"a": first, "b": second}, units=ids)
    by_series = basanite.compare_values(*series)
    assert given.differences == by_series.differences == arrays.differences
    assert "units are paired by their position" not in " ".join(given.notes)
    assert "units are paired by their position" in " ".join(basanite.compare_values(first, second).notes)


@pytest.mark.req("Y-3")
def test_truth_values_are_shares_and_three_systems_have_groups():
    rng = np.random.default_rng(9)
    drawn = rng.random(200)
    found = basanite.compare_values({"low": drawn < 0.2, "mid": drawn < 0.5, "high": drawn < 0.9}, metric="solved")
    assert found.ranking().column("system") == ["high", "mid", "low"]
    assert found.ranking().column("group") == [1, 2, 3]
    mid = found["mid"]["solved"]
    low, high = stats.binomtest(int((drawn < 0.5).sum()), 200).proportion_ci(method="wilson")
    assert (mid.low, mid.high) == pytest.approx((low, high), abs=1e-3)  # ours widens it by the t distribution
    assert found.family_size == 3


@pytest.mark.req("Y-3")
def test_a_unit_without_a_number_is_left_out_and_told():
    found = basanite.compare_values({"A": [1.0, None, 3.0, float("nan")], "B": [1.0, 2.0, 3.0, 4.0]})
    assert found["A"]["mean"].value == 2.0
    assert any("2 of 4 units of A have no number" in note for note in found.notes)


@pytest.mark.req("Y-3")
def test_plain_values_come_out_as_every_comparison_does(tmp_path):
    rng = np.random.default_rng(10)
    first, genre = rng.normal(0, 1, 60), ["news", "talk", "web"] * 20
    found = basanite.compare_values(first, first - 1, factors={"genre": genre}, best="low", level=0.9)
    assert found.ranking().column("system") == ["b", "a"]
    assert found["a"].breakdown("genre").column("genre") == ["news", "talk", "web"]
    assert "news" in found.report(tmp_path / "values.html").read_text()
    assert len(repr(found).splitlines()) <= 10


@pytest.mark.req("Y-3")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([1.0, 2.0],), "Give the numbers of two systems"),
        (({"A": [1.0, 2.0]},), "Give the numbers of two systems"),
        (([1.0, 2.0], [1.0]), "The values of b: 1 for 2 units"),
        (([1.0, "x"], [1.0, 2.0]), "for unit '2' is 'x' (str)"),
        (({"u1": 1.0}, {"u2": 1.0}), "are not those of the others"),
        (([1.0, 2.0], 5), "The values of b are 5 (int)"),
        ((pd.Series([1.0], index=["u1"]), [1.0]), "The values of b have no ids"),
        ((pd.Series([1.0, 2.0], index=["u1", "u1"]), pd.Series([1.0, 2.0], index=["u1", "u1"])), "appears twice"),
        (([float("inf"), 1.0], [1.0, 2.0]), "give a finite number"),
    ],
)
def test_values_that_cannot_be_compared_are_refused_in_words(given, words):
    with pytest.raises(ArgumentError) as told:
        basanite.compare_values(*given)
    assert words in str(told.value)


@pytest.mark.req("Y-3")
def test_an_unknown_setting_of_plain_values_is_refused():
    with pytest.raises(SettingError, match="Did you mean 'level'"):
        basanite.compare_values([1.0, 2.0], [2.0, 1.0], levl=0.9)
