"""A judge's day in a real browser: once with the mouse, once with keys alone, and as somebody hears it."""

from __future__ import annotations

import re

import pytest
from tests.server.judging.staging import SECRET, SHORT, passage, scheme

from basanite.campaign.store.tables.base import random_id
from basanite.work.items import Block, item_of

pytestmark = pytest.mark.browser
TRAINING = "[training]\ncount = 1\n"


def begin_day(bench, name, judge, count, more=""):
    items = [passage(number, f"{name} {number}. The river rose, and people left.") for number in range(count)]
    items += [passage(99, "To try it.", role="training", expected={"rating": {"min": 4}})]
    return bench.panel(scheme("readability", more + TRAINING), items, [f"{judge}:expert"], name=name)


def heading(tab, text):
    tab.get_by_role("heading", level=1, name=re.compile(f"^{text}")).wait_for()


def orders(tab):
    return tab.locator("[data-rank] > li").evaluate_all(
        "rows => rows.map((row) => row.querySelector('[data-place]').name)"
    )


@pytest.mark.slow
@pytest.mark.req("R-2", "P-22")
def test_a_day_with_the_mouse(bench, opened):
    panel = begin_day(bench, "mouse", "mia", 20)
    tab = opened("mia")
    tab.get_by_role("link", name="Read instructions and consent").click()
    tab.get_by_role("button", name="I agree").click()
    tab.get_by_label("Languages that you read well").fill("en")
    tab.get_by_role("button", name="Continue").click()
    heading(tab, "Item 1 of 1")
    star(tab, 5)
    heading(tab, "As expected")
    tab.get_by_role("button", name="Continue").click()
    for number in range(1, 11):
        heading(tab, f"Item {number} of 10")
        star(tab, 1 + number % 5)
    heading(tab, "Rank the 10 items")
    before = orders(tab)
    drag_to_the_top(tab, 9)
    tab.get_by_role("button", name="Item 1: one rank down").click()
    wanted = [before[9], before[1], before[0], *before[2:9]]
    assert orders(tab) == wanted
    tab.get_by_role("button", name="Save ranking").click()
    heading(tab, "What were your criteria?")
    tab.get_by_label("Your criteria").fill("long sentences\nrare words")
    tab.get_by_role("button", name="Save and continue").click()
    heading(tab, "Round 1 complete")
    tab.get_by_role("button", name="Next round").click()
    heading(tab, "Item 1 of 10")
    assert tab.complaints == []
    said = bench.judgements(panel)
    assert [row.answers["rating"] for row in said] == [5, *(1 + number % 5 for number in range(1, 11))]
    assert all(row.seconds > 0 for row in said), "measured by the page"
    assert [f"rank-{item}" for item in bench.ends(panel, "ranking")[0].content] == wanted
    assert bench.ends(panel, "criteria")[0].content == ["long sentences", "rare words"]


def star(tab, number):
    tab.locator(f'.stars label:has(input[value="{number}"])').click()
    tab.get_by_role("button", name="Save and next").click()


def drag_to_the_top(tab, row):
    """Take a row by its handle and carry it to the upper edge; the page moves along."""
    tab.locator("[data-rank] > li").nth(row).locator("[data-handle]").hover()
    name = tab.locator("[data-rank] > li").nth(row).get_attribute("data-name")
    tab.mouse.down()
    tab.mouse.move(200, 20, steps=10)
    tab.wait_for_function("(name) => document.querySelector('[data-rank] > li').dataset.name === name", arg=name)
    tab.mouse.up()


@pytest.mark.slow
@pytest.mark.req("P-33", "R-2")
def test_a_day_by_keys_alone(bench, opened):
    panel = begin_day(bench, "keys", "kay", 6, SHORT)
    tab = opened("kay", "keys")
    press_to(tab, "I agree")
    press_to(tab, "Continue")
    heading(tab, "Item 1 of 1")
    keys(tab, "2", "Enter")
    heading(tab, "Not as expected")
    keys(tab, "Enter")
    heading(tab, "Item 1 of 3")
    keys(tab, "Enter")
    tab.get_by_role("alert").get_by_text("no answer").wait_for()
    keys(tab, "4", "Enter")
    heading(tab, "Item 2 of 3")
    keys(tab, "u")
    heading(tab, "Your last answer")
    keys(tab, "5", "Enter")
    heading(tab, "Item 2 of 3")
    keys(tab, "p")
    heading(tab, "Paused")
    keys(tab, "Enter")
    heading(tab, "Item 2 of 3")
    keys(tab, "1", "Enter")
    heading(tab, "Item 3 of 3")
    keys(tab, "3", "Enter")
    heading(tab, "Rank the 3 items")
    before = orders(tab)
    tab_to(tab, "Item 1, place 1 of 3")
    keys(tab, "j", "ArrowUp", "Alt+ArrowDown", "Alt+ArrowDown")
    assert orders(tab) == [before[0], before[2], before[1]]
    announced(tab, "Item 2 is now at rank 3 of 3.")
    assert focused(tab).startswith("Item 2, place 3 of 3"), "what was moved keeps the focus"
    press_to(tab, "Save ranking")
    heading(tab, "What were your criteria?")
    tab_to(tab, "Your criteria")
    tab.keyboard.type("short words")
    keys(tab, "Control+Enter")
    heading(tab, "Round 1 complete")
    keys(tab, "Enter")
    heading(tab, "Item 1 of 3")
    assert [row.answers["rating"] for row in bench.judgements(panel)] == [2, 4, 5, 1, 3]
    assert [f"rank-{item}" for item in bench.ends(panel, "ranking")[0].content] == [before[0], before[2], before[1]]
    assert bench.ends(panel, "criteria")[0].content == ["short words"]


def announced(tab, text):
    """Wait until this is said to those who listen."""
    tab.wait_for_function("(text) => document.getElementById('said').textContent.startsWith(text)", arg=text)


def keys(tab, *pressed):
    for key in pressed:
        tab.keyboard.press(key)


FOCUSED = """() => { const one = document.activeElement;
  return (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || "").trim(); }"""


def focused(tab):
    return tab.evaluate(FOCUSED)


def tab_to(tab, label):
    """Press Tab until the control of this name has the focus."""
    for _ in range(80):
        tab.keyboard.press("Tab")
        if focused(tab).startswith(label):
            return
    raise AssertionError(f"{label} cannot be reached by keyboard")


def press_to(tab, label):
    tab_to(tab, label)
    tab.keyboard.press("Enter")


@pytest.mark.req("P-33")
def test_somebody_who_listens_meets_every_part_by_its_name(bench, opened):
    bench.ready(scheme("readability", SHORT), [passage(n, f"Heard {n}.") for n in range(3)], "leo:expert", name="heard")
    tab = opened("leo", "heard")
    heard(tab, 'heading "Item 1 of 3"', 'progressbar "Round 1 of 1, item 1 of 3', 'region "Item to judge"',
          'region "Your answer"', 'group "How easy was this to read?"', 'radio "1 star: very hard"', 'radio "2 stars"',
          'radio "5 stars: very easy"', 'button "Save and next', 'button "Pause')  # fmt: skip
    for rating in "342":
        before = tab.title()
        keys(tab, rating, "Enter")
        tab.wait_for_function("text => document.title !== text", arg=before)
    heading(tab, "Rank the 3 items")
    assert tab.evaluate("document.activeElement.tagName") == "H1", "the new page begins at its heading"
    heard(tab, 'heading "Rank the 3 items"', 'button "Item 1, rank 1 of 3. Move it with j and k',
          'button "Item 1: one rank down"', 'button "Item 2, rank 2 of 3', 'button "Item 2: one rank up"',
          'button "Save ranking')  # fmt: skip
    tab.get_by_role("button", name="Item 3: one rank up").focus()
    keys(tab, "Enter")
    announced(tab, "Item 3 is now at rank 2 of 3.")


def heard(tab, *parts):
    """The parts of the page as a screen reader meets them, in this order."""
    spoken, at = tab.locator("main").aria_snapshot(), 0
    for part in parts:
        assert part in spoken[at:], f"{part}\n{spoken}"
        at = spoken.index(part, at)


@pytest.mark.slow
@pytest.mark.req("P-33")
def test_single_keys_can_be_switched_off_and_never_act_while_somebody_writes(bench, opened):
    more = '[[questions]]\nid = "why"\nwidget = "text"\ntitle = "Why?"\nrequired = false\n'
    more += '[[questions]]\nid = "rating"\nwidget = "stars"\ntitle = "Easy?"\n'
    bench.ready(scheme("readability", more + '[combine]\nrule = "raw"\n'), [passage(1)], "wes:expert", name="writes")
    tab = opened("wes", "writes")
    keys(tab, "c")
    tab.keyboard.type("p 4 u")
    assert tab.get_by_label("Why?").input_value() == "p 4 u"
    assert tab.locator("input:checked[type=radio]").count() == 0
    tab.get_by_label("Use keyboard shortcuts").uncheck()
    tab.locator("h1").click()
    keys(tab, "4")
    assert tab.locator("input:checked[type=radio]").count() == 0
    tab.reload()
    assert tab.get_by_label("Why?").input_value() == "p 4 u", "what was written is kept"
    assert not tab.get_by_label("Use keyboard shortcuts").is_checked()
    tab.get_by_label("Use keyboard shortcuts").check()
    tab.locator("h1").click()
    keys(tab, "4")
    assert tab.get_by_role("radio", name="4 stars").is_checked()


@pytest.mark.slow
@pytest.mark.req("R-2")
def test_only_time_in_sight_counts(bench, opened):
    bench.ready(scheme("readability"), [passage(1)], "tim:expert", name="timed")
    tab = opened("tim")
    tab.clock.install()
    tab.goto(tab.url.replace("/judging", bench.address("timed")))
    seconds = "() => Number(new FormData(document.querySelector('form[data-draft]')).get('seconds'))"
    hide = """(hidden) => { Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange")); }"""
    start = tab.evaluate(seconds)
    tab.clock.fast_forward(5_000)
    tab.evaluate(hide, True)
    tab.clock.fast_forward(600_000)
    tab.evaluate(hide, False)
    tab.clock.fast_forward(2_000)
    assert 7 <= tab.evaluate(seconds) - start < 60


TEXT = "The bridge 🌉 was standing, but nobody were wanting to cross it."
ARABIC = "كان الجسر لا يزال قائما لكن أحدا لم يرد العبور"


def translated(text, lang, way):
    blocks = [
        Block("document", "Die Brücke stand noch.", "Source", "de"),
        Block("text", text, "Translation", lang, way),
    ]
    return item_of(blocks, {"system": SECRET, "document": "d"}, new_id=random_id)


@pytest.mark.slow
@pytest.mark.req("R-29")
def test_errors_are_marked_with_the_mouse_and_a_slider_gives_the_score(bench, opened):
    panel = bench.ready(scheme("esa"), [translated(TEXT, "en", "ltr")], "eli", name="esa")
    tab = opened("eli", "esa")
    pane = tab.locator("[data-marked]")
    box = tab.evaluate(
        """(words) => { const pane = document.querySelector("[data-marked]"), range = document.createRange();
      const at = pane.textContent.indexOf(words);
      range.setStart(pane.firstChild, at); range.setEnd(pane.firstChild, at + words.length);
      const box = range.getBoundingClientRect(); return [box.left, box.right, box.top + box.height / 2]; }""",
        "were wanting",
    )
    tab.mouse.move(box[0] + 1, box[2])
    tab.mouse.down()
    tab.mouse.move(box[1] - 1, box[2], steps=5)
    tab.mouse.up()
    tab.get_by_role("button", name="Major").click()
    assert pane.locator("mark.grave").inner_text() == "were wanting"
    slider = tab.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "no value yet"
    slider.focus()
    keys(tab, "ArrowRight", "ArrowRight", "ArrowLeft")
    keys(tab, "Enter")
    heading(tab, "You have finished")
    (row,) = bench.judgements(panel)
    (mark,) = row.answers["errors"]
    assert TEXT[mark["start"] : mark["end"]] == "were wanting", "in code points, after an emoji"
    assert mark["severity"] == "major"
    assert row.answers["score"] == 51


@pytest.mark.slow
@pytest.mark.req("R-29", "P-33")
def test_errors_are_marked_by_keys_from_right_to_left_too(bench, opened):
    panel = bench.ready(scheme("mqm"), [translated(ARABIC, "ar", "rtl")], "mo", name="mqm")
    tab = opened("mo", "mqm")
    tab_to(tab, "Text to annotate")
    keys(tab, "ArrowLeft", "ArrowLeft", "Shift+ArrowLeft")  # the second and the third word
    announced(tab, " ".join(ARABIC.split()[1:3]))
    keys(tab, key_of(bench, panel, "Style"), key_of(bench, panel, "major"))
    keys(tab, "Home", key_of(bench, panel, "minor"), "Delete")
    tab.reload()
    assert tab.locator("[data-marked] mark").inner_text() == " ".join(ARABIC.split()[1:3]), "kept over a reload"
    keys(tab, "Enter")
    heading(tab, "You have finished")
    (mark,) = bench.judgements(panel)[0].answers["errors"]
    assert ARABIC[mark["start"] : mark["end"]] == " ".join(ARABIC.split()[1:3])
    assert (mark["category"], mark["severity"]) == ("Style", "major")


def key_of(bench, panel, value):
    """The key that the scheme gives a category or a severity."""
    question = bench.desk(panel, "mo").scheme.question("errors")
    return next(one.key for one in (*question.categories, *question.severities) if one.value == value)


@pytest.mark.req("R-2")
def test_two_of_a_kind_are_compared_with_one_key(bench, opened):
    pairs = [item_of([Block("text", f"One {n}.", "Left"), Block("text", f"Other {n}.", "Correct")], {"system": SECRET},
                     new_id=random_id) for n in range(2)]  # fmt: skip
    panel = bench.ready(scheme("pairwise"), pairs, "pam", name="pairs")
    tab = opened("pam", "pairs")
    keys(tab, "l", "Enter")
    heading(tab, "Item 2 of 2")
    keys(tab, "t", "Enter")
    heading(tab, "You have finished")
    assert sorted(row.answers["better"] for row in bench.judgements(panel)) == ["left", "tie"]
