"""The error explorer: what it holds, that nothing in it can act, and how it works in a real browser."""

import base64
import hashlib
import html
import re
from dataclasses import replace

import examples
import numpy as np
import pytest
from tests.tasks.test_outcomes import png

from basanite.analysis.mistakes import Mistakes, NonTargets
from basanite.figures import Image
from basanite.reports import theme
from basanite.reports.explorer import errors_object, errors_report, sentences
from basanite.reports.outputs.explorer_page import page_data, render

QUERIES, DOCUMENTS = ("query00001", "query00002", "query00003"), tuple(f"DOC_{at:03}" for at in range(60))
KINDS = ("right string, wrong domain", "right domain, wrong string", "neither")


def mistakes(count=240, **changes):
    """Made-up mistakes: every third is a miss, confidences all differ."""
    at = np.arange(count)
    missed = at % 3 == 0
    found = Mistakes(
        task="clir",
        system="Team Ochre 2",
        queries=QUERIES,
        documents=DOCUMENTS,
        query=at % 3,
        document=at % 60,
        confidence=np.where(missed, 0.001 * at, 1 - 0.001 * at),
        missed=missed,
        query_factors={"kind": np.array(["lexical", "hybrid", "lexical"])},
        document_factors={"genre": np.array([["NT", "TB", ""][place % 3] for place in range(60)])},
        strings={"query00002": 'river,"flood plain":Lifestyle'},
    )
    return replace(found, **changes)


def with_kinds():
    found = mistakes()
    kind = np.where(found.missed, -1, np.arange(240) % 4 - 1)
    table = tuple(NonTargets(name, 40, 400, 1 / 3, 0.1) for name in KINDS)
    return replace(found, kinds=KINDS, kind=kind, non_targets=table)


def hostile():
    name = examples.HOSTILE
    found = mistakes(30, system=name, queries=(name, "q2", "q3"), documents=(name, *DOCUMENTS[1:]))
    return replace(
        found,
        strings={name: name, "q2": name},
        query_factors={name: np.array([name, "b", "c"])},
        document_factors={"genre": np.array([name, *["NT"] * 59])},
    )


def pictured():
    image = Image("one", "two", "image/png", png())
    lying = Image("one", "two", "text/html", b"<script>alert(1)</script>")
    return mistakes(images={(QUERIES[1], DOCUMENTS[1]): image, (QUERIES[2], DOCUMENTS[2]): lying})


def page(found, most=2000):
    return render(found, found.worst(most)).decode()


def policy(text):
    return html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1])


def hashed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_only_the_pages_own_script_and_style_may_act_and_no_name_is_markup():
    text = page(hostile())
    allowed = dict(part.strip().split(" ", 1) for part in policy(text).split(";"))
    script = re.search(r"<script>(.*)</script>\n</body>", text, re.S)[1]
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    assert allowed["script-src"] == hashed(script)
    assert allowed["style-src"] == hashed(style)
    assert allowed["default-src"] == "'none'"
    assert "unsafe" not in policy(text)
    assert "<img src=x" not in text
    assert text.count("</script>") == 2
    assert "\u202e" not in text
    assert "innerHTML" not in script


def test_nothing_is_fetched():
    assert re.findall(r'(?:src|href)="(?!#|data:)', page(mistakes())) == []
    assert "http" not in re.sub(r"<svg.*?</svg>", "", page(mistakes()), flags=re.S).replace("http-equiv", "")


def test_what_was_left_out_is_said():
    found = mistakes()
    assert len(page_data(found, found.worst(100))["rows"]) == 100
    said = list(sentences(found, found.worst(100)))
    assert said[0] == "80 misses and 160 false alarms over 3 queries."
    assert "Listed are the 100 worst: 50 of 80 misses" in said[1]
    assert said[1] in html.unescape(page(found, 100))
    assert len(list(sentences(found, found.worst(2000)))) == 1


def test_kinds_of_false_alarm_stand_in_the_page_and_in_the_object():
    found = with_kinds()
    data = errors_object(found, found.worst(10))
    assert data["non_targets"]["neither"] == {
        "false_alarms": 40,
        "documents": 400,
        "share": pytest.approx(1 / 3),
        "rate": 0.1,
    }
    assert {row["non_target"] for row in data["rows"]} <= {*KINDS, None}
    assert all(f"<bdi>{kind}</bdi>" in page(found) for kind in KINDS)
    assert "40 false alarms is not known" in errors_report(found, found.worst(999)).sentences[1]


def test_only_real_pictures_are_carried():
    found = pictured()
    assert list(page_data(found, found.worst(999))["images"].values()) == [
        "data:image/png;base64," + base64.b64encode(png()).decode()
    ]


def test_a_system_without_mistakes_has_a_page_too():
    assert "0 misses and 0 false alarms" in page(mistakes(0))


@pytest.fixture
def visit(chrome, tmp_path):
    contexts = []

    def go(found, **options):
        (tmp_path / "page.html").write_text(page(found), encoding="utf-8")
        context = chrome.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        opened = context.new_page()
        opened.said, opened.asked = [], []
        opened.on("console", lambda message: opened.said.append(message.text))
        opened.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.on("dialog", lambda dialog: opened.said.append("dialog"))
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.goto((tmp_path / "page.html").as_uri())
        return opened

    yield go
    for context in contexts:
        context.close()


def column(opened, heading):
    """The texts of one column of the list."""
    return opened.evaluate(
        """heading => {
          const at = [...document.querySelectorAll('#rows thead th')].findIndex(head => head.textContent === heading);
          return [...document.querySelectorAll('#rows tbody tr')].map(row => row.cells[at].innerText);
        }""",
        heading,
    )


def count(opened, level):
    return int(box(opened, level).locator(".n").inner_text())


def box(opened, level):
    """The row of one level among the filters."""
    return opened.locator(".level", has=opened.locator("bdi", has_text=re.compile(f"^{level}$")))


@pytest.mark.browser
def test_the_worst_come_first_and_more_can_be_shown(visit):
    opened = visit(mistakes())
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith("data:")] == [opened.url]
    assert column(opened, "confidence")[:3] == ["0", "0.999", "0.998"]
    assert column(opened, "outcome")[:3] == ["miss", "false alarm", "false alarm"]
    assert len(column(opened, "query")) == 100
    opened.click("#more")
    assert len(column(opened, "query")) == 200


@pytest.mark.browser
def test_filters_narrow_the_list_and_counts_follow(visit):
    opened = visit(with_kinds())
    assert (count(opened, "miss"), count(opened, "NT")) == (80, 80)
    box(opened, "TB").locator("input").check()
    assert set(column(opened, "genre")) == {"TB"}
    assert count(opened, "NT") == 80  # what choosing it instead would give
    assert count(opened, "false alarm") == 80
    opened.select_option("select", label='query00002 river,"flood plain":Lifestyle (80)')
    assert {text.splitlines()[0] for text in column(opened, "query")} == {"query00002"}
    opened.fill("#low", "0.9")
    assert min(float(text) for text in column(opened, "confidence")) >= 0.9
    assert opened.inner_text("#active") == "3 active"
    opened.click("text=Clear all filters")
    assert opened.inner_text("#said").startswith("All 240 listed.")


@pytest.mark.slow
@pytest.mark.browser
def test_search_looks_at_queries_strings_documents_and_levels(visit):
    opened = visit(mistakes())
    opened.fill("#search", "flood DOC_013")
    assert set(column(opened, "document")) == {"DOC_013"}
    opened.fill("#search", "nowhere")
    assert opened.locator("#none").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_the_list_sorts_by_its_headers_with_the_keyboard(visit):
    opened = visit(mistakes())
    button = opened.locator("#rows thead button", has_text="confidence")
    button.press("Enter")
    assert column(opened, "confidence")[:2] == ["0", "0.003"]
    button.press("Enter")
    assert column(opened, "confidence")[:2] == ["0.999", "0.998"]
    assert opened.get_attribute("#rows thead th[aria-sort]", "aria-sort") == "descending"


@pytest.mark.browser
def test_the_keyboard_reaches_filters_and_list_in_reading_order(visit):
    opened = visit(mistakes())
    reached = []
    for _ in range(8):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate("document.activeElement.id || document.activeElement.tagName.toLowerCase()"))
    assert reached == ["a", "theme", "summary", "search", "low", "high", "input", "input"]
    opened.keyboard.press("Space")
    assert set(column(opened, "outcome")) == {"false alarm"}
    assert opened.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.slow
@pytest.mark.browser
def test_colours_follow_the_reader_and_the_button(visit):
    opened = visit(mistakes(), color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = opened.evaluate(colour)
    opened.click("#theme")
    shown = [dark, opened.evaluate(colour)]
    wanted = [tuple(int(one.page[at : at + 2], 16) for at in (1, 3, 5)) for one in (theme.DARK, theme.LIGHT)]
    assert shown == [f"rgb({red}, {green}, {blue})" for red, green, blue in wanted]


@pytest.mark.browser
def test_a_phone_shows_it_without_sideways_scrolling_and_filters_folded_away(visit):
    opened = visit(with_kinds(), viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    assert not opened.locator("#search").is_visible()
    opened.tap("#filters summary")
    assert opened.locator("#search").is_visible()


@pytest.mark.browser
def test_without_scripts_the_worst_rows_are_there_to_read(visit):
    opened = visit(mistakes(), java_script_enabled=False)
    assert opened.locator("#rows tbody tr").count() == 100
    assert not opened.locator("#search").is_visible()
    assert opened.locator("noscript p").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_a_summary_image_opens_larger_and_closes_again(visit):
    opened = visit(pictured())
    assert opened.said == []
    opened.fill("#search", "query00002 DOC_001")
    opened.locator(".thumb").first.click()
    assert opened.locator("#picture img").get_attribute("alt") == "Summary of DOC_001 for query00002"
    assert opened.evaluate("document.querySelector('#picture img').naturalWidth") == 1024
    opened.keyboard.press("Escape")
    assert not opened.locator("#picture").is_visible()


@pytest.mark.browser
@pytest.mark.req("X-14")
def test_hostile_names_are_text_in_the_browser(visit):
    opened = visit(hostile())
    assert opened.said == []
    assert opened.locator("img").count() == 1  # the empty one of the dialog
    assert any("<img src=x" in text for text in column(opened, "document"))
