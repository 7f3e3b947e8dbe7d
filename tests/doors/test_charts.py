"""Charts of reports that commands write, in a browser from a desk's width to a phone's, and on slides."""

from __future__ import annotations

import pytest
from pptx import Presentation
from tests.browser import chart_faults
from tests.cli.running import EXAMPLE, here
from tests.slides import slide_faults

FACTORS = ("--metadata", EXAMPLE / "metadata" / "documents.tsv", "--metadata", EXAMPLE / "metadata" / "queries.tsv")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """One system and three compared, as pages and slides."""
    folder = tmp_path_factory.mktemp("charts")
    systems = [part for name in ("Alpha", "Beta", "Gamma") for part in ("--submission", EXAMPLE / f"{name}.tgz")]
    for command, sent in (("score", systems[:2]), ("compare", systems)):
        targets = [part for end in ("html", "pptx") for part in ("--report", folder / f"{command}.{end}")]
        told = here(command, "clir", "--reference", EXAMPLE / "key", *sent, *FACTORS, *targets)
        assert told.code == 0, told.err
    return folder


@pytest.mark.few(2)
@pytest.mark.browser
@pytest.mark.req("P-46")
@pytest.mark.parametrize("width", [1440, 768, 390])
@pytest.mark.parametrize("command", ["score", "compare"])
def test_no_text_of_a_chart_is_cut_or_lies_on_another(reports, chrome, command, width):
    page = chrome.new_page(viewport={"width": width, "height": 900})
    page.goto((reports / f"{command}.html").as_uri())
    charts = "document.querySelectorAll('[data-chart]').length"
    page.wait_for_function(f"{charts} === document.querySelectorAll('[data-drawn]').length")
    assert chart_faults(page) == []
    page.close()


@pytest.mark.browser
@pytest.mark.req("P-46", "Y-4")
@pytest.mark.parametrize("command", ["score", "compare"])
def test_no_text_of_a_still_chart_is_cut_or_lies_on_another(reports, chrome, command):
    """Without scripts a page shows the pictures that it has where the extra `charts` is missing."""
    page = chrome.new_page(viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    page.goto((reports / f"{command}.html").as_uri())
    assert page.locator("[data-chart] .still svg title").count() > 20
    assert chart_faults(page) == []
    page.close()


@pytest.mark.req("P-46")
@pytest.mark.parametrize("command", ["score", "compare"])
def test_axes_of_bars_on_slides_hold_every_interval(reports, command):
    slides = Presentation(str(reports / f"{command}.pptx")).slides
    charts = [shape.chart for slide in slides for shape in slide.shapes if getattr(shape, "has_chart", False)]
    assert charts
    for chart in charts:
        low, high = chart.value_axis.minimum_scale, chart.value_axis.maximum_scale
        for series in chart.plots[0].series:
            ends = bars(series)
            assert low <= min(ends) <= max(ends) <= high + 1e-9


def bars(series):
    """Where the bars of a series and their intervals end."""
    sizes = {
        side: {
            int(point.get("idx")): float(point.findtext("{*}v"))
            for part in series._element.iter()
            if part.tag.endswith(side)
            for point in part.iter("{*}pt")
        }
        for side in ("}plus", "}minus")
    }
    ends = []
    for at, value in enumerate(series.values):
        if value is not None:
            ends += [
                value,
                *(value + sign * size[at] for sign, size in ((1, sizes["}plus"]), (-1, sizes["}minus"])) if at in size),
            ]
    return ends


@pytest.mark.req("P-46")
@pytest.mark.parametrize("command", ["score", "compare"])
def test_nothing_on_a_slide_leaves_it_or_lies_on_another(reports, command):
    assert slide_faults(str(reports / f"{command}.pptx")) == []


CLASSES = EXAMPLE.parent / "classification"
RATED = EXAMPLE.parent / "readability"


@pytest.mark.req("P-46")
@pytest.mark.parametrize(
    "scored",
    [
        ("classification", CLASSES / "key.csv", CLASSES / "Alpha.csv"),
        ("readability", RATED / "panels.csv", RATED / "machine.csv"),
    ],
    ids=lambda scored: scored[0],
)
def test_slides_with_long_titles_tables_and_signatures_are_not_overrun(scored, tmp_path):
    task, reference, submission = scored
    told = here("score", task, "--reference", reference, "--submission", submission, "--report", tmp_path / "s.pptx")
    assert told.code == 0, told.err
    assert slide_faults(str(tmp_path / "s.pptx")) == []
