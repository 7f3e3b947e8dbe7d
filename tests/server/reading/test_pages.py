"""Answering and adjudicating in a real browser: with the mouse, with keys alone, and without scripts."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from sqlalchemy import select
from tests.campaign.work.reading.small_package import SEALED_WORDS, answers_of, ndjson
from tests.campaign.work.reading.test_adjudicating import begin, losers
from tests.server.reading.browsing import DESK, PHONE, reading_site, tab_of

from basanite.campaign.store.tables import ReadingDecision, ReadingSearch, ReceivedAnswer
from basanite.campaign.work.reading import people, scoring, services

pytestmark = pytest.mark.browser
BASE = "/campaigns/small/reading"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A season in which Ada's system has answered, one answer the gold knows nothing of among them."""
    with reading_site(tmp_path_factory.mktemp("site")) as (address, made):
        run = begin(made, label="telltale-system")
        who = (made.office, made.acts("ada"), made.sees("ada"), made.season.campaign_id, run.id)
        records = [*answers_of("baseline.ndjson", ("nfl-101", "nfl-103")), *losers()]
        services.take_answers(*who, services.AnswerFile(ndjson(records), "ndjson", "all"))
        yield address, made, run


@pytest.fixture
def opened(chrome, site):
    """A tab of somebody; closed afterwards, and nothing may have been complained of."""
    tabs = []

    def tab(who, path="", **more):
        address, made, _ = site
        one = tab_of(chrome, address, made, who, **more)
        one.goto(f"{address}{BASE}{path}")
        tabs.append(one)
        return one

    yield tab
    for one in tabs:
        assert one.complaints == []
        one.context.close()


def tab_to(tab, label):
    """Press Tab until the control of this name has the focus; it must be seen there."""
    script = """() => { const one = document.activeElement;
      return (one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent || "").trim(); }"""
    for _ in range(90):
        tab.keyboard.press("Tab")
        if tab.evaluate(script).startswith(label):
            assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"{label} cannot be reached by keyboard")


def answers_in(made, query):
    with made.office.reading() as session:
        packages = (made.package, made.blind, made.later)
        every = [one for package in packages for one in people.human_records(session, package)]
    return [one for one in every if one["query"] == query]


def log_of_people(made):
    """By the id of everything that people answered or withdrew: whether it withdraws something."""
    with made.office.reading() as session:
        rows = session.scalars(select(ReceivedAnswer).where(ReceivedAnswer.reading_upload_id.is_(None)))
        return {one.id: one.withdraws is not None for one in rows}


def drag_over(tab, first, last):
    """Select words with the mouse, from the beginning of one to the end of another."""
    tab.locator("#text .word", has_text=first).first.evaluate("one => one.scrollIntoView({ block: 'center' })")
    places = [tab.locator("#text .word", has_text=word).first.bounding_box() for word in (first, last)]
    (x, y, height) = (places[0]["x"] + 1, places[0]["y"], places[0]["height"])
    tab.mouse.move(x, y + height / 2)
    tab.mouse.down()
    end = places[1]["x"] + places[1]["width"] - 1
    tab.mouse.move((x + end) / 2, places[1]["y"] + height / 2, steps=4)
    tab.mouse.move(end, places[1]["y"] + height / 2, steps=4)
    tab.mouse.up()


@pytest.mark.req("R-18", "R-17")
def test_a_person_answers_with_the_mouse_and_evidence_from_the_text(opened, site):
    _, made, _ = site
    tab = opened("anna")
    tab.get_by_role("link", name="NFL scoring").first.click()
    tab.goto(f"{tab.url.partition('?')[0]}?document=nfl-101&query=games")
    assert tab.get_by_role("heading", level=1).inner_text() == "Which games are mentioned?"
    tab.locator("#text").scroll_into_view_if_needed()
    drag_over(tab, "contest", "September")
    tab.get_by_role("button", name="Select these words").click()
    tab.get_by_label("game", exact=False).first.fill("Bills v Dolphins\nThe contest")
    tab.get_by_role("button", name="Save answer").click()
    tab.wait_for_selector("text=Your answer is saved.")
    (record,) = answers_in(made, "games")
    text = record["provenance"][0]
    assert text["exact"] == "contest was played on September"
    assert record["answer"] == {"?G": ["Bills v Dolphins", "The contest"]}
    assert record["kind"] == "explicit"
    tab.get_by_role("button", name="No more answers here").click()
    tab.wait_for_url("**query=periods**")
    tab.get_by_role("link", name="Previous").click()
    tab.get_by_role("button", name="Withdraw answer").click()
    tab.wait_for_selector("text=withdrawn")
    assert answers_in(made, "games") == []


@pytest.mark.slow
@pytest.mark.req("R-18", "R-27", "P-33")
def test_a_person_answers_and_searches_with_keys_alone(opened, site):
    _, made, _ = site
    task = made.formal
    tab = opened("jude", f"/answer/{task}?document=nfl-101&query=dates")
    tab.keyboard.press("/")
    tab.keyboard.type('"91-degree heat"')
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=1 text found")
    with made.office.reading() as session:
        assert [one.text for one in session.scalars(select(ReadingSearch))] == ['"91-degree heat"']
    tab_to(tab, "nfl-101")
    tab.goto(f"{tab.url.partition('?')[0]}?document=nfl-101&query=dates")
    for _ in range(60):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.id") == "text":
            break
    tab.keyboard.press("End")
    for _ in range(40):
        if "September" in tab.locator("#text .chosen").all_inner_texts():
            break
        tab.keyboard.press("ArrowLeft")
    for _ in range(3):
        tab.keyboard.press("Shift+ArrowRight")
    assert "September 22 , 2024" in " ".join(tab.locator("#text .chosen").all_inner_texts())
    tab.keyboard.press("Enter")
    assert tab.locator("#pieces li").count() == 1
    for number, words in (("1", "The contest"), ("2", "2024-09-22")):
        tab.keyboard.press(f"Alt+{number}")
        tab.keyboard.type(words)
    tab.keyboard.press("Control+Enter")
    tab.wait_for_selector("text=Your answer is saved.")
    (record,) = answers_in(made, "dates")
    assert record["provenance"][0]["exact"] == "September 22, 2024"
    assert record["answer"] == {"?G": ["The contest"], "?D": "2024-09-22"}
    tab.keyboard.press("Alt+n")
    tab.wait_for_url("**query=teams**")


def test_what_was_typed_stays_when_something_is_missing(opened, site):
    tab = opened("anna", f"/answer/{site[1].formal}?document=nfl-101&query=winners")
    tab.get_by_label("team", exact=False).first.fill("Buffalo Bills")
    tab.get_by_role("button", name="Save answer").click()
    tab.wait_for_selector("#problems")
    assert tab.get_by_label("team", exact=False).first.input_value() == "Buffalo Bills"
    tab.complaints.clear()  # the browser notes that the answer was a refusal


@pytest.mark.req("R-18", "R-17")
def test_what_is_only_inferred_needs_no_piece_of_text_here_as_in_a_file(opened, site):
    _, made, _ = site
    tab = opened("anna", f"/answer/{made.formal}?document=nfl-101&query=games")
    tab.get_by_label("game", exact=False).first.fill("The game")
    tab.get_by_role("button", name="Save answer").click()
    tab.wait_for_selector("text=mark the answer as inferred")
    tab.complaints.clear()  # the browser notes that the answer was a refusal
    tab.get_by_label("How is it stated in the text?").select_option("inferred")
    tab.get_by_role("button", name="Save answer").click()
    tab.wait_for_selector("text=Your answer is saved.")
    (record,) = answers_in(made, "games")
    assert (record["kind"], record.get("provenance", [])) == ("inferred", [])
    tab.get_by_role("button", name="Withdraw answer").click()
    tab.wait_for_selector("text=withdrawn")


@pytest.mark.req("R-18")
def test_without_scripts_sentences_are_ticked_as_evidence_and_what_is_withdrawn_stays_in_the_log(chrome, site):
    address, made, _ = site
    before = log_of_people(made)
    signed = tab_of(chrome, address, made, "anna")
    plain = chrome.new_context(java_script_enabled=False, viewport=DESK)
    plain.add_cookies(signed.context.cookies())
    tab = plain.new_page()
    tab.goto(f"{address}{BASE}/answer/{made.formal}?document=nfl-101&query=overtime")
    tab.get_by_label("Fifteen minutes later", exact=False).check()
    tab.locator("textarea").first.fill("that game")
    tab.get_by_role("button", name="Save answer").click()
    tab.wait_for_selector("text=Your answer is saved.")
    (record,) = answers_in(made, "overtime")
    assert SEALED_WORDS in record["provenance"][0]["exact"]
    tab.get_by_role("button", name="Withdraw answer").click()
    tab.wait_for_selector("text=withdrawn")
    after = log_of_people(made)
    assert before.items() <= after.items()
    assert sorted(after[one] for one in after.keys() - before.keys()) == [False, True]
    for one in (plain, signed.context):
        one.close()


def decisions(made):
    with made.office.reading() as session:
        return [one.verdict for one in session.scalars(select(ReadingDecision).order_by(ReadingDecision.at))]


@pytest.mark.req("R-21")
def test_an_adjudicator_decides_blind_with_one_key_each_and_undoes_it(opened, site):
    _, made, run = site
    tab = opened("judy")
    tab.get_by_role("link", name="Adjudicate").last.click()
    assert "telltale" not in tab.content()
    assert made.season.alpha not in tab.content()
    first = tab.url, tab.locator("#asked").inner_text()
    tab.keyboard.press("3")
    tab.wait_for_selector("text=Decided: Wrong.")
    assert decisions(made) == ["wrong"]
    tab.keyboard.press("u")
    tab.wait_for_selector("text=Your last decision is undone.")
    assert tab.locator("#asked").inner_text() == first[1]
    before = tab.url
    tab.keyboard.press("n")
    tab.wait_for_url(lambda url: url != before)
    assert decisions(made) == ["wrong", "reopened"]
    tab.get_by_label("Why").focus()
    tab.keyboard.type("4 is typed, not decided")
    assert decisions(made) == ["wrong", "reopened"]
    assert run.id not in tab.content()


@pytest.mark.req("R-21", "R-9")
def test_the_derivation_of_an_answer_opens_as_a_page_of_its_own(opened, site):
    _, made, _ = site
    tab = opened("judy", f"/adjudicate/{made.package}")
    for _ in range(20):
        if "field goals" in tab.locator("#asked").inner_text():
            break
        tab.keyboard.press("n")
        tab.wait_for_load_state()
    with tab.expect_navigation():
        tab.keyboard.press("d")
    words = tab.locator("body").inner_text()
    assert "Derivation of an answer" in words or "do not lead to this answer" in words


@pytest.mark.slow
@pytest.mark.req("R-21", "R-17", "S-21", "X-27")
def test_the_gold_grows_and_scores_change_from_the_first_key_to_the_last_click(opened, site):
    _, made, run = site
    before = scoring.see(made.office, made.acts("eva"), made.sees("eva"), run).result["values"]["f"]["value"]
    tab = opened("judy", f"/adjudicate/{made.package}")
    while tab.locator("#asked").count():
        right = "lost" in tab.locator("#asked").inner_text() and "Miami" in tab.locator("dl").inner_text()
        with tab.expect_navigation():
            tab.keyboard.press("2" if right else "3")
    assert tab.get_by_text("No cases to adjudicate").is_visible()
    desk = opened("eva", f"/gold/{made.package}")
    desk.get_by_label("Reason", exact=True).fill("the first round")
    desk.get_by_role("button", name="Propose version").click()
    desk.wait_for_selector("text=being computed")
    form = desk.locator("form", has=desk.get_by_role("button", name="Compute now"))
    form.evaluate(f"form => {{ form.action = form.action.replace('{made.package}', 'another') }}")
    with desk.expect_response(lambda answer: "/another/compute" in answer.url) as answer:
        desk.get_by_role("button", name="Compute now").click()
    assert answer.value.status == 404
    desk.complaints.clear()  # the browser notes the refusal
    desk = opened("eva", f"/gold/{made.package}")
    assert desk.get_by_text("being computed").count(), "an act on another package computes nothing of this one"
    desk.get_by_role("button", name="Compute now").click()
    desk.wait_for_selector("text=telltale-system")
    row = desk.locator("tr", has_text="telltale-system").locator("td.num").all_inner_texts()
    assert float(row[0]) == pytest.approx(before, abs=1e-3)
    assert float(row[1]) > float(row[0])
    assert float(row[2]) < float(row[1]), "without its own contributions"
    desk.get_by_role("button", name="Apply results").click()
    desk.wait_for_selector("text=The new gold version is active.")
    assert scoring.see(made.office, made.acts("eva"), made.sees("eva"), run).gold == "v3"
    desk.get_by_label("For", exact=True).select_option(label="reading · DEV · 1A")
    desk.get_by_label("Reason for this version of the reference").fill("adjudicated")
    desk.get_by_role("button", name="Create version").click()
    desk.wait_for_selector("text=The reference is sealed and active. The task is open.")


@pytest.mark.req("P-5", "X-4")
def test_no_page_of_reading_shows_a_team_anything(opened, site, chrome):
    address, made, _ = site
    tab = tab_of(chrome, address, made, "ada")
    for path in ("", f"/answer/{made.formal}", f"/adjudicate/{made.package}", f"/gold/{made.package}"):
        answer = tab.goto(f"{address}{BASE}{path}")
        assert answer.status in (403, 404)
        assert SEALED_WORDS not in tab.content()
    tab.context.close()
    adjudicator = opened("judy", f"/answer/{made.formal}")
    assert adjudicator.get_by_text(SEALED_WORDS).count() == 0
    adjudicator.complaints.clear()  # the browser notes the refusal


@pytest.mark.few(1)
@pytest.mark.req("P-33")
@pytest.mark.parametrize("path", ["", "/adjudicate/{package}", "/answer/{task}"])
def test_real_pages_keep_nobody_out_and_fit_a_phone(opened, site, path):
    made = site[1]
    where = path.format(package=made.blind, task=made.formal)
    tab = opened("eva", where, size=PHONE, scheme="dark")
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    found = Axe().run(tab).response["violations"]
    assert [
        (one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in ("serious", "critical")
    ] == []
