"""An adjudicator's day: the queue by disagreement, cases decided with reasons, opened again, all of it on record."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from sqlalchemy import select
from tests.server.pages.test_in_a_browser import tab_to
from tests.server.panels.conftest import DESK, QUEUES
from tests.server.panels.staging import SYSTEM, documents, scheme

from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Event, PanelDecision, PanelItem
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import adjudication, judge_work, setup
from basanite.campaign.work.panels import items as panel_items
from basanite.work.items import Block, item_of
from basanite.work.scheme import read_scheme


def decisions(bench, panel):
    """What was decided on a panel, in order: kind, answers, reason and who."""
    with bench.office.reading() as session:
        rows = session.scalars(
            select(PanelDecision)
            .where(PanelDecision.panel_id == panel)
            .order_by(PanelDecision.at, PanelDecision.number)
        )
        return [(row.kind, row.answers.get("relevant"), row.reason, row.by) for row in rows]


def cases(bench, panel):
    with bench.office.reading() as session:
        return [one.id for one in adjudication.queue(session, panel)]


@pytest.mark.slow
@pytest.mark.req("M88")
@pytest.mark.browser
def test_an_adjudicator_decides_all_cases_with_the_mouse(opened, bench):
    panel = bench.key("key-mouse")
    tab = opened("zoe", QUEUES)
    tab.get_by_role("link", name="2 cases to decide").click()
    assert "Start with the first item" in tab.inner_text("main")
    tab.get_by_role("link", name="Start with the first item").click()
    voices = tab.locator(".voice")
    assert voices.count() == 2
    assert {"Relevant", "Not relevant"} == {words.strip() for words in voices.locator(".said").all_inner_texts()}
    assert re.search(r"(ada|ben) \d", voices.first.inner_text()), "the reason stands beside the answer"
    tab.locator(".offer", has_text="Judge A").click()
    tab.get_by_text("the instructions say so").click()
    tab.get_by_role("button", name="Save and open next case").click()
    tab.wait_for_selector("text=Decision saved. This is the next case.")
    tab.locator(".offer", has_text="None of these").click()
    tab.get_by_text("other reason", exact=True).click()
    tab.get_by_label("In your own words").fill("the scan cannot be read")
    tab.get_by_role("button", name="Save and open next case").click()
    tab.wait_for_selector("text=There are no other open cases")
    found = decisions(bench, panel)
    assert [one[0] for one in found] == ["decided", "none"]
    assert [one[2] for one in found] == ["guidelines", "other: the scan cannot be read"]
    assert {one[3] for one in found} == {bench.people["zoe"]}
    assert cases(bench, panel) == []
    assert tab.complaints == []


@pytest.mark.slow
@pytest.mark.req("M88", "P-33")
@pytest.mark.browser
def test_an_adjudicator_decides_by_the_keyboard_alone(opened, bench):
    panel = bench.key("key-keys")
    tab = opened("zoe", f"{QUEUES}/key-keys")
    tab_to(tab, "Start with the first item")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".voice")
    tab.keyboard.press("2")
    assert tab.locator("input[name=take]:checked").get_attribute("data-key") == "2"
    tab.keyboard.press("q")
    tab.keyboard.press("d")
    tab.wait_for_selector("text=This is the next case.")
    reached = focus_on_radio(tab, "take")
    tab.keyboard.press("Space")
    assert tab.locator("input[name=take]:checked").get_attribute("value") == reached
    focus_on_radio(tab, "code")
    tab.keyboard.press("Space")
    tab_to(tab, "In your own words")
    tab.keyboard.type("q1 is not a key here")
    tab_to(tab, "Save and open next case")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=There are no other open cases")
    found = decisions(bench, panel)
    assert [one[0] for one in found] == ["decided", "decided"]
    assert found[1][2] == "overlooked: q1 is not a key here"


def focus_on_radio(tab, group):
    """Press Tab until a radio button of this group has the focus; gives its value."""
    for _ in range(60):
        tab.keyboard.press("Tab")
        name, value = tab.evaluate("[document.activeElement.name, document.activeElement.value]")
        if name == group:
            return value
    raise AssertionError(f"{group} cannot be reached by keyboard")


@pytest.mark.slow
@pytest.mark.req("P-33")
@pytest.mark.browser
def test_keys_can_be_switched_off_and_what_is_read_aloud_has_names(opened, bench):
    bench.key("key-named")
    tab = opened("zoe", f"{QUEUES}/key-named")
    tab.get_by_role("link", name="Start with the first item").click()
    spoken = tab.locator("main").aria_snapshot()
    order = [
        'heading "Case" [level=1]',
        'heading "What the judges saw"',
        'heading "Their answers"',
        'heading "Your decision"',
        'radio "Not relevant Judge' if 'radio "Not relevant Judge' in spoken else 'radio "Relevant Judge',
        'radio "None of these',
        'radio "a judge overlooked something"',
        'textbox "In your words"',
        'button "Save and open next case"',
    ]
    at = [spoken.find(one) for one in order]
    assert -1 not in at, spoken
    assert at == sorted(at)
    found = Axe().run(tab).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    tab.get_by_label("Keyboard shortcuts").uncheck()
    tab.keyboard.press("1")
    assert tab.locator("input[name=take]:checked").count() == 0
    tab.reload()
    assert not tab.get_by_label("Keyboard shortcuts").is_checked(), "the choice is remembered"


def test_a_reason_is_needed_and_what_was_chosen_stays(visit, bench):
    panel = bench.key("key-reason")
    address = f"{QUEUES}/key-reason/{cases(bench, panel)[0]}"
    zoe = visit("zoe")
    answer = zoe.send(address, take="A", code="", reason="")
    assert (answer.status_code, "no reason was chosen" in answer.text) == (422, True)
    answer = zoe.send(address, take="A", code="other", reason=" ")
    assert (answer.status_code, "“Other reason” needs an explanation" in answer.text) == (422, True)
    assert re.search(r'value="other"[^>]*checked', answer.text)
    assert zoe.send(address, take="Z", code="borderline").status_code == 422
    assert zoe.send(address, take="own", code="borderline", **{"q-relevant": "M"}).status_code == 422
    assert decisions(bench, panel) == []


@pytest.mark.req("M88")
def test_another_answer_can_be_given_and_a_decided_case_opened_again(visit, bench):
    panel = bench.key("key-again")
    case = cases(bench, panel)[0]
    address, zoe = f"{QUEUES}/key-again/{case}", visit("zoe")
    zoe.send(address, take="own", code="borderline", reason="", **{"q-relevant": "Y"})
    assert "Decided" in zoe.page(address)
    twice = zoe.send(f"{QUEUES}/key-again", address, take="A", code="borderline")
    assert (twice.status_code, "already decided" in twice.text) == (409, True)
    assert zoe.send(address, f"{address}/reopen", reason="").status_code == 422
    assert "reopened" in zoe.send(address, f"{address}/reopen", reason="a new scan came").text
    zoe.send(address, take="none", code="guidelines")
    assert [one[:2] for one in decisions(bench, panel)] == [("decided", "Y"), ("reopened", None), ("none", None)]
    page = zoe.page(address)
    for words in ("a new scan came", "borderline", "Zoe", "reopened", "none of these"):
        assert words in page
    with bench.office.reading() as session:
        kinds = list(session.scalars(select(Event.kind).where(Event.kind.like("case.%")).order_by(Event.sequence)))
    assert kinds[-3:] == ["case.decided", "case.reopened", "case.none"]


@pytest.mark.req("M88")
def test_what_all_judges_said_is_accepted_at_once(visit, bench):
    panel = bench.key("key-alike")
    zoe = visit("zoe")
    assert "Judges agree on 3 cases." in zoe.page(f"{QUEUES}/key-alike")
    answer = zoe.send(f"{QUEUES}/key-alike", f"{QUEUES}/key-alike/accept")
    assert "3 unanimous items are accepted" in answer.text
    found = decisions(bench, panel)
    assert sorted(one[1] for one in found) == ["N", "Y", "Y"]
    assert {one[2] for one in found} == {"judges agree"}
    assert len(cases(bench, panel)) == 2, "where they differ, nothing was decided"
    assert "Accept unanimous answers" not in zoe.page(f"{QUEUES}/key-alike")


@pytest.mark.req("X-4", "M52")
def test_nothing_that_an_adjudicator_gets_tells_the_system_or_a_judge(visit, bench):
    panel = bench.key("key-blind")
    zoe, judges = visit("zoe"), [bench.people[one] for one in ("ada", "ben")]
    pages = [zoe.page(f"{QUEUES}/key-blind"), *(zoe.page(f"{QUEUES}/key-blind/{one}") for one in cases(bench, panel))]
    for page in pages:
        for secret in (SYSTEM, "MATERIAL_", *judges, "ada@example.org"):
            assert secret not in page
    assert SYSTEM in visit("eva").page(f"{DESK}/key-blind/items"), "organisers see whose it is"


@pytest.mark.req("X-4")
def test_nobody_decides_on_the_own_judgement(visit, bench):
    bench.adjudicator("ada")
    panel = bench.key("key-own")
    address = f"{QUEUES}/key-own/{cases(bench, panel)[0]}"
    page = visit("ada").page(address)
    assert "You judged this item yourself" in page
    assert "Save and open next case" not in page
    refused = visit("ada").send(f"{QUEUES}/key-own", address, take="A", code="borderline")
    assert refused.status_code == 403
    assert decisions(bench, panel) == []


def test_a_case_of_another_panel_or_of_nothing_is_not_there(visit, bench):
    one, other = bench.key("key-here"), bench.key("key-there")
    zoe = visit("zoe")
    assert zoe.get(f"{QUEUES}/key-here/{cases(bench, other)[0]}").status_code == 404
    assert zoe.get(f"{QUEUES}/key-here/{'0' * 20}").status_code == 404
    assert zoe.get(f"{QUEUES}/no-such-panel").status_code == 404
    assert cases(bench, one)


def test_judges_and_teams_do_not_reach_the_queue(visit, bench):
    bench.key("key-shut")
    for who in ("cleo", "eve"):
        bench.person(who)
        assert visit(who).get(f"{QUEUES}/key-shut").status_code == 403


def test_error_spans_and_stars_are_told_in_words(visit, bench):
    text = scheme("mqm", 'per_item = 2\n[adjudicate]\nwhen = "differ"\n')
    panel = bench.panel(text, documents_for_spans(), ["ada", "ben"], name="spans")
    marks = {"ada": [{"start": 0, "end": 5, "category": first(text), "severity": "major"}], "ben": []}
    for who, spans in marks.items():
        bench.judged(panel, who, lambda number, spans=spans: {spans_question(text): spans})
    case = cases(bench, panel)[0]
    page = visit("zoe").page(f"{QUEUES}/spans/{case}")
    assert "no words are marked" in page
    assert "0–5" in page


def documents_for_spans():
    blocks = [Block("context", "Es regnete."), Block("text", "It was raining.")]
    return [item_of(blocks, {"system": SYSTEM, "document": "d1"}, new_id=random_id)]


def held(text):
    return read_scheme(text, "x.toml")[0]


def spans_question(text):
    return next(one.id for one in held(text).questions if one.widget == "spans")


def first(text):
    return held(text).question(spans_question(text)).categories[0].value


def test_the_queue_of_a_panel_without_judgements_says_so(visit, bench):
    bench.panel(scheme("key-query"), documents(2), [], name="empty")
    assert "Nothing to decide" in visit("zoe").page(f"{QUEUES}/empty")


def test_what_was_hidden_from_judges_is_hidden_from_adjudicators_too(visit, bench):

    told = Block("instructions", "We are <b>team Alpha</b>", "general")
    items = [
        item_of([Block("query", "q"), Block("document", "d"), told], {"query": "q", "document": "d"}, new_id=random_id)
    ]
    panel = bench.panel(scheme("key-query"), items, ["ada", "ben"], name="hidden")
    with bench.office.reading() as session:
        item = session.scalars(select(PanelItem).where(PanelItem.panel_id == panel)).one()
    bench.do(panel_items.hide, bench.season.as_eva, item.id, 2, reason="names its maker")
    for who, mark in (("ada", "Y"), ("ben", "N")):
        assert "instructions" not in [block.kind for block in began(bench, panel, who).blocks]
        found = bench.desk(panel, who)
        bench.do(
            judge_work.answer,
            Actor(bench.people[who]),
            panel,
            found.assignment,
            judge_work.Answer({"relevant": mark}, key=who),
        )
    assert "team Alpha" not in visit("zoe").page(f"{QUEUES}/hidden/{item.id}")


def began(bench, panel, who):
    bench.begin(panel, who)
    return bench.desk(panel, who)


def test_a_cancelled_panel_is_no_queue(visit, bench):
    panel = bench.key("key-gone")
    bench.do(setup.cancel, bench.season.as_eva, panel, reason="wrong documents")
    assert "key-gone" not in visit("zoe").page(QUEUES)
