"""The page in a real browser: it draws, sorts, darkens and is reached by keyboard, and asks the network for nothing."""

import json
from pathlib import Path

import examples
import pytest
from tests.browser import chart_faults

from basanite.reports import analysis_report, theme, write

DRAWN = "() => document.querySelectorAll('[data-chart]').length === document.querySelectorAll('[data-drawn]').length"

pytestmark = pytest.mark.browser


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


@pytest.fixture(scope="module")
def files(score, compare, hostile, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    every = (*examples.figures(), examples.points_chart(), examples.crowded_chart(), examples.full_bars())
    reports = {"score": score, "compare": compare, "hostile": hostile["score"]}
    reports["charts"] = analysis_report(examples.analysis(), every)
    for name, report in reports.items():
        write(report, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in reports}


@pytest.fixture
def visit(chrome, files):
    contexts = []

    def go(name, **options):
        context = chrome.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: page.said.append("dialog"))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(files[name].as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_function(DRAWN)
        return page

    yield go
    for context in contexts:
        context.close()


@pytest.mark.few(1)
@pytest.mark.parametrize(("name", "scheme"), [("score", "light"), ("compare", "dark"), ("hostile", "light")])
def test_the_page_draws_every_chart_and_asks_for_nothing(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    assert page.said == []
    assert [url for url in page.asked if not url.startswith("data:")] == [page.url]
    sizes = page.eval_on_selector_all(
        "[data-chart] svg", "all => all.map(s => [s.clientWidth, s.querySelectorAll('path').length])"
    )
    assert sizes
    assert all(width > 150 and paths > 3 for width, paths in sizes)


def test_colours_follow_the_reader_and_the_button(visit):
    page = visit("score", color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    stroke = "getComputedStyle(document.querySelector('.mark-line path')).stroke"
    dark = page.evaluate(colour), page.evaluate(stroke)
    page.click("#theme")
    light = page.evaluate(colour), page.evaluate(stroke)
    assert dark == (rgb(theme.DARK.page), rgb(theme.DARK.series_1))
    assert light == (rgb(theme.LIGHT.page), rgb(theme.LIGHT.series_1))


def test_a_touched_point_tells_its_values(visit):
    page = visit("score")
    chart = page.locator("[data-chart] .live svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#tip:not([hidden])")
    assert "Threshold: " in page.inner_text("#tip")


@pytest.mark.slow
def test_a_name_in_the_legend_singles_out_its_line(visit):
    page = visit("score")
    faint = "document.querySelectorAll('[data-chart=f2-1] .mark-line path[opacity=\"0.12\"]').length"
    assert page.evaluate(faint) == 0
    page.locator("[data-chart=f2-1] .role-legend-label text").first.click()
    page.wait_for_function(f"() => {faint} === 2")


@pytest.mark.slow
def test_the_wheel_scrolls_the_page_unless_a_key_asks_to_zoom(visit):
    page = visit("score")
    page.locator("[data-chart=f2-1]").scroll_into_view_if_needed()
    box = page.locator("[data-chart=f2-1]").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 150)
    before, ticks = page.evaluate("scrollY"), page.text_content("[data-chart=f2-1] .role-axis-label >> nth=0")
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "t => document.querySelector('[data-chart=f2-1] .role-axis-label').textContent !== t", arg=ticks
    )
    page.keyboard.up("Shift")
    page.mouse.wheel(0, 240)
    page.wait_for_function("y => scrollY > y", arg=before)


def test_tables_sort_by_their_headers_and_undefined_goes_last(visit):
    page = visit("score")
    button = page.locator("#f1-1-table thead button").nth(1)
    names = "[...document.querySelectorAll('#f1-1-table tbody th')].map(cell => cell.textContent)"
    button.click()
    assert page.evaluate(names) == ["Pfa", "AQWV", "MQWV", "Pmiss", "AUC"]
    button.press("Enter")
    assert page.evaluate(names) == ["Pmiss", "MQWV", "AQWV", "Pfa", "AUC"]
    assert page.get_attribute("#f1-1-table thead th:nth-child(2)", "aria-sort") == "descending"


def test_the_keyboard_reaches_everything_in_reading_order(visit):
    page = visit("score", color_scheme="light")
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 20)"))
    assert reached[:5] == [
        "Skip to the result",
        "Save data",
        "Light" if reached[2] == "Light" else "Dark",
        "Result",
        "A closer look",
    ]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_phone_shows_it_without_sideways_scrolling(visit):
    page = visit("compare", viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_scripts_the_still_pictures_stay(visit):
    page = visit("score", java_script_enabled=False)
    assert page.locator(".still svg").count() == 6
    assert page.locator("#theme").is_hidden()


@pytest.mark.slow
def test_paper_is_light_and_without_controls(visit):
    page = visit("score", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('.big')).color") == rgb(theme.LIGHT.ink)
    assert not page.locator("nav").is_visible()
    assert not page.locator("#theme").is_visible()


def test_the_data_can_be_saved(visit, score):
    page = visit("score")
    with page.expect_download() as saved:
        page.click("#save")
    assert json.loads(Path(saved.value.path()).read_text()) == score.data


def test_a_report_without_charts_carries_no_chart_script(tmp_path):
    bare = examples.analysis()
    write(analysis_report(type(bare)(bare.scores, bare.values, {}, bare.design, "s")), tmp_path / "small.html")
    assert (tmp_path / "small.html").stat().st_size < 60_000 + len(theme.embedded_typeface())


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_text_of_a_chart_is_cut_or_lies_on_another(visit, width):
    assert chart_faults(visit("charts", viewport={"width": width, "height": 900})) == []


def test_what_lies_off_the_axes_is_marked_at_their_edge(visit):
    page = visit("charts")
    words = page.locator("figure", has_text="A crowded chart").locator(".live").first.inner_text()
    assert "far away (off scale)" in words
    assert "far below (off scale)" in words
    assert (
        "few units, or no interval" in page.locator("figure", has_text="Value by level").locator(".live").inner_text()
    )
