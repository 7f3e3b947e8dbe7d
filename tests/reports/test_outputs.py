"""Every output: strangers' strings stay data, the same input gives the same bytes."""

import csv
import io
import json
import math
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from basanite import registry
from basanite.errors import UnknownNameError
from basanite.figures import Table
from basanite.problems import Findings
from basanite.reports import Report, Section, output_for, validation_report, write
from basanite.reports.outputs.data_files import csv_cell
from basanite.reports.report import LONG_COLUMNS

OUTPUTS = registry.names("outputs")
REPORTS = ("score", "compare", "validate")
LOADING = {"src", "href", "srcset", "action", "data", "poster", "background", "formaction", "ping", "xlink:href"}


class Page(HTMLParser):
    """Elements and attributes as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in {"meta", "link", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def rendered(report: Report, name: str) -> bytes:
    return output_for(Path(f"report.{name}")).render(report)


def records(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


# --- what a stranger's string does in each output; a new output must say here how it keeps one harmless ---


def check_html(data: bytes) -> None:
    text = data.decode()
    page = Page(text)
    assert not page.open
    assert "<img src=x" not in text
    assert "\u202e" not in text
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def check_json(data: bytes) -> None:
    assert "=cmd" in json.dumps(json.loads(data))
    assert "\u202e" not in data.decode()


def check_csv(data: bytes) -> None:
    cells = [entry for row in csv.reader(io.StringIO(data.decode())) for entry in row]
    assert any("=cmd" in entry for entry in cells)
    assert not [entry for entry in cells if re.match(r"[=+@\t\r]|-(?![\d.])", entry)]
    assert "\u202e" not in data.decode()


def check_parquet(data: bytes) -> None:
    frame = pl.read_parquet(io.BytesIO(data))
    assert any(entry and "=cmd" in entry for name in frame.columns for entry in frame[name].cast(pl.String))


def check_tex(data: bytes) -> None:
    text = data.decode()
    assert r"\textless{}img" in text
    assert "\u202e" not in text
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert "<img" not in body


def check_txt(data: bytes) -> None:
    text = data.decode()
    assert "[bold red]" in text.replace("\n", "") or "[bold" in text  # markup is shown, not obeyed
    assert "\u202e" not in text
    assert "\x1b" not in text


def check_pptx(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        slides = [parts.read(name).decode() for name in parts.namelist() if name.startswith("ppt/slides/slide")]
    words = [text for slide in slides for text in re.findall(r"<a:t>([^<]*)</a:t>", slide)]
    assert any("=cmd" in text for text in words)
    assert not any("\u202e" in slide for slide in slides)
    assert "<img" not in "".join(slides)
    assert "hlinkClick" not in "".join(slides)


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("kind", REPORTS)
def test_a_hostile_name_is_only_data_in_every_output(name, kind, hostile):
    check = globals().get(f"check_{name}")
    assert check is not None, f"say in this file how the output {name!r} keeps a hostile name harmless"
    check(rendered(hostile[kind], name))


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_same_report_gives_the_same_bytes(name, compare):
    assert rendered(compare, name) == rendered(compare, name)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_report_without_anything_to_show_is_still_written(name, tmp_path):
    path = tmp_path / f"report.{name}"
    write(validation_report(Findings(), "clir"), path)
    assert path.stat().st_size > 0


def test_the_built_in_outputs_are_registered_under_their_suffixes():
    assert {"html", "csv", "parquet", "json", "tex", "txt"} <= set(OUTPUTS)
    assert all(registry.load("outputs", name).name == name for name in OUTPUTS)


def test_an_unknown_suffix_is_answered_with_the_known_ones(score, tmp_path):
    with pytest.raises(UnknownNameError, match=r"\.csv, \.html"):
        write(score, tmp_path / "report.docx")


# --- CSV and Parquet ---


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_gets_a_quote(start):
    assert csv_cell(f"{start}1+1").startswith("'")


def test_real_numbers_stay_numbers_in_csv():
    assert [csv_cell(number) for number in (-0.25, 3, 1 / 3, math.nan, None, -math.inf)] == [
        "-0.25",
        "3",
        "0.3333333333",
        "",
        "",
        "-inf",
    ]


def test_csv_and_parquet_hold_every_value_of_the_analysis(score):
    rows, frame = records(rendered(score, "csv")), pl.read_parquet(io.BytesIO(rendered(score, "parquet")))
    assert tuple(frame.columns) == LONG_COLUMNS
    assert len(rows) == len(frame) == 5 + 6 * 2 + 3
    first = frame.row(0, named=True)
    assert (first["metric"], first["value"], first["units"]) == ("aqwv", 0.3127, 300)
    assert [float(row["value"]) for row in rows if row["level"] == "blog"] == [0.22, 0.58]


def test_a_comparison_adds_its_differences_to_the_long_table(compare):
    rows = records(rendered(compare, "csv"))
    assert list(rows[0])[-5:] == ["against", "p", "p_adjusted", "verdict", "method"]
    pairs = [row for row in rows if row["against"]]
    assert [(row["system"], row["against"], row["verdict"]) for row in pairs] == [
        ("Ochre", "Umber", "first"),
        ("Ochre", "Sienna", "first"),
        ("Umber", "Sienna", "undecided"),
    ]


# --- terminal and LaTeX ---


def test_the_terminal_says_the_result_first(score):
    lines = rendered(score, "txt").decode().splitlines()
    assert lines[0] == "Team Ochre 2"
    assert lines[2] == "• AQWV is 0.3127 (95% CI 0.2827 to 0.3427), over 300 queries."


def test_a_long_table_is_cut_in_the_terminal_and_says_so():
    table = Table("Many", ("Row",), tuple((index,) for index in range(100)))
    report = Report("Long", "", (Section("All", "", (table,)),), (), {})
    assert "60 more rows" in rendered(report, "txt").decode()


def test_latex_sets_the_primary_value_in_bold(score):
    text = rendered(score, "tex").decode()
    assert r"\textbf{AQWV} & \textbf{$0.3127$}" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") > 3


# --- HTML ---


@pytest.mark.parametrize("kind", ["score", "compare"])
def test_the_page_needs_nothing_from_outside(kind, request):
    text = rendered(request.getfixturevalue(kind), "html").decode()
    page = Page(text)
    assert not page.open
    places = [value for _, attributes in page.elements for name, value in attributes.items() if name in LOADING]
    assert places
    assert all(place.startswith(("#", "data:")) for place in places)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert len(text) < 1_500_000


def test_each_chart_in_the_page_has_a_still_picture_a_summary_and_a_table(score):
    text = rendered(score, "html").decode()
    figures = re.findall(r'<figure class="card".*?</figure>', text, re.S)
    assert len(figures) == 6
    for figure in figures:
        assert "<svg" in figure
        assert re.search(r'role="img" aria-label="[^"]{20,}"', figure)
        assert "<table" in figure


def test_an_optimistic_value_is_labelled_in_the_page(score):
    assert "optimistic (oracle: uses the reference)" in rendered(score, "html").decode()
