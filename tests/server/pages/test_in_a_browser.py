"""Pages in a real browser: our own policy refuses nothing, everything is reached, nothing runs off a phone."""

from __future__ import annotations

import pytest
from tests.browser import sideways
from tests.server.accounts.conftest import PASSWORD
from tests.server.live import live
from tests.server.pages.conftest import DESK
from tests.server.pages.every import ALL, NAMES

pytestmark = pytest.mark.browser
SMALL_PHONE = 360


@pytest.mark.few(4)
@pytest.mark.req("P-4", "P-33")
@pytest.mark.parametrize("state", ["long", pytest.param("scripts", marks=pytest.mark.slow)])
@pytest.mark.parametrize("page", ALL, ids=NAMES.get)
def test_nothing_runs_off_the_edge_of_a_phone(shown, page, state):
    assert sideways(shown(page, state), SMALL_PHONE) == []


@pytest.mark.req("P-11")
def test_the_digest_in_the_browser_is_sha256(shown):
    import hashlib

    tab = shown(next(page for page in ALL if page.__name__ == "CodePage"), "one")
    lengths = [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000, 100_003]
    script = """async (lengths) => {
      const { Sha256 } = await import("/static/submit/sha256.js");
      return lengths.map((size) => {
        const bytes = new Uint8Array(size).map((_, at) => (at * 7 + size) % 256), digest = new Sha256();
        for (let at = 0; at < size; at += 777) digest.update(bytes.subarray(at, at + 777));
        return digest.hex();
      });
    }"""
    expected = [hashlib.sha256(bytes((at * 7 + size) % 256 for at in range(size))).hexdigest() for size in lengths]
    assert tab.evaluate(script, lengths) == expected


def test_colours_switch_at_once(shown):
    tab = shown(next(page for page in ALL if page.__name__ == "CodePage"), "one")
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.get_by_role("button", name="Dark").click()
    tab.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before


@pytest.fixture
def season_tab(chrome, stage, office):
    """A browser at a real server of the small season, with Ada signed in by the keyboard alone."""
    with live(office) as address:
        context = chrome.new_context(viewport=DESK)
        tab = context.new_page()
        tab.goto(f"{address}/sign-in?then=/campaigns/small/submit")
        for text in ("ada@example.org", PASSWORD):
            label = "Email" if "@" in text else "Password"
            tab_to(tab, label)
            tab.keyboard.type(text)
        tab.keyboard.press("Enter")
        tab.wait_for_url(lambda url: "sign-in" not in url)
        yield tab
        context.close()


def tab_to(tab, label):
    """Press Tab until the control of this name has the focus; it must be visible there."""
    script = """() => { const one = document.activeElement;
      return (one.labels?.[0]?.textContent || one.getAttribute("aria-label") || one.textContent || "").trim(); }"""
    for _ in range(60):
        tab.keyboard.press("Tab")
        if tab.evaluate(script).startswith(label):
            outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"nobody sees that {label} has the focus"
            return
    raise AssertionError(f"{label} cannot be reached by keyboard")


@pytest.mark.req("P-33", "P-6")
def test_a_run_is_submitted_by_keyboard_alone_and_followed_to_its_value(season_tab, stage, pack, office):
    from sqlalchemy import select

    from basanite.campaign.store.tables import Submission, Upload

    tab = season_tab
    tab_to(tab, "Submission file")
    tab.set_input_files("#f-file", str(pack.perfect))  # the file dialog is the system's own
    assert tab.input_value("#f-label") == "perfect"
    tab_to(tab, "Submit")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/submissions/*")
    with office.reading() as session:
        row = session.scalars(select(Submission)).one()
        assert session.scalars(select(Upload)).one().submission_id == row.id, "by the resumable door"
    assert tab.get_by_text("received").first.is_visible()
    stage.work(row.id, "perfect")
    tab.wait_for_selector("text=1.0000")  # without loading the page again by hand


@pytest.mark.req("P-42")
def test_a_file_that_looks_wrong_is_noted_with_its_reason_and_can_be_sent_all_the_same(season_tab, tmp_path):
    tab, notice = season_tab, season_tab.locator("#checked")

    def choose(name, content):
        (tmp_path / name).write_bytes(content)
        tab.set_input_files("#f-file", str(tmp_path / name))

    assert tab.locator("#what-to-send [data-of]:visible").count() == 2, "the chosen window, and the format of its task"
    choose("empty.tgz", b"")
    tab.locator("#checked.bad").wait_for()
    assert notice.inner_text() == "This file is empty."
    assert not tab.eval_on_selector("#f-file", "(one) => one.validity.valid")
    choose("run.tgz", b"id,text\n")
    tab.locator("#checked:not(.bad)").wait_for()
    noted = "This task takes an archive (.tgz), and this file is plain text."
    assert notice.inner_text().split("\n\n") == [noted, "You can still submit this file."]
    tab.fill("#f-label", "run")
    tab.get_by_role("button", name="Submit").click()
    tab.wait_for_url("**/submissions/*")


@pytest.mark.slow
@pytest.mark.req("P-6")
def test_a_refusal_is_shown_in_the_page_and_the_upload_can_be_sent_again(season_tab, pack):
    tab = season_tab
    tab.set_input_files("#f-file", str(pack.perfect))
    tab.fill("#f-label", "other")
    tab.get_by_role("button", name="Submit").click()
    tab.wait_for_selector("#refused:not([hidden])")
    assert "label" in tab.inner_text("#refused")
    tab.fill("#f-label", "perfect")
    tab.get_by_role("button", name="Submit").click()
    tab.wait_for_url("**/submissions/*")


@pytest.mark.slow
@pytest.mark.req("P-6")
def test_an_upload_goes_on_where_the_line_broke(season_tab, tmp_path, office):
    tab, broken = season_tab, []

    def once(route):
        if route.request.method == "PATCH" and not broken:
            broken.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    tab.route("**/api/v1/uploads/*", once)
    file = tmp_path / "large.tgz"
    file.write_bytes(b"\x1f\x8b" + bytes(9 * 2**20))
    tab.set_input_files("#f-file", str(file))
    tab.get_by_role("button", name="Submit").click()
    tab.wait_for_url("**/submissions/*")
    assert broken


HEARD = (
    ("combobox", "Task and data set"),
    ("radio", "Contrastive"),
    ("radio", "Primary"),
    ("textbox", "Label"),
    ("textbox", "What is new in this run?"),
    ("button", "Submission file"),
    ("button", "Submit"),
)
"""What somebody who listens to the submit page meets, in this order: the role and how the name begins."""
SUBMIT_STATES = ("one", "rtl", "scripts", "long")


@pytest.mark.req("P-33")
@pytest.mark.parametrize("state", SUBMIT_STATES)
def test_a_screen_reader_meets_the_parts_of_the_submit_form_in_order_each_with_its_name(shown, state):
    tab = shown(next(page for page in ALL if page.__name__ == "SubmitPage"), state)
    spoken = [line.strip() for line in tab.locator("main").aria_snapshot().splitlines()]
    at = [next((at for at, line in enumerate(spoken) if line.startswith(f'- {role} "{name}')), None)
          for role, name in HEARD]  # fmt: skip
    assert None not in at, "\n".join(spoken)
    assert at == sorted(at)
    heading = next(at for at, line in enumerate(spoken) if line.startswith('- heading "Submit" [level=1]'))
    assert heading < at[0], "what the page is comes before its first control"
    progress, words = tab.locator("progress"), tab.locator("#upload-words")
    assert progress.get_attribute("aria-labelledby") == words.get_attribute("id")
    assert words.get_attribute("role") == "status", "how far it is is said without being asked"
    assert tab.locator("#refused").get_attribute("role") == "alert"
