"""Connections break, tabs meet, pages are loaded again, servers start again: no event is lost or counts twice."""

from __future__ import annotations

import pytest
from tests.server.annotating.staging import saved, select

pytestmark = [pytest.mark.browser, pytest.mark.req("R-15")]


@pytest.fixture(scope="module")
def project(stage):
    return stage.project(name="kept", people=("nora",), names=("nfl-022", "nfl-040", "nfl-026", "nfl-031", "nfl-009"))


def opened(tab, stage, task):
    tab.goto(f"{stage.address}/campaigns/small/annotate/{task}")
    tab.locator("#palette button").first.wait_for()
    return tab


def words_of(stage, project, name):
    from basanite.campaign.work.annotation.lookup import document_named
    from basanite.campaign.work.annotation.packages import text_of

    with stage.office.reading() as session:
        return text_of(stage.office, document_named(session, project, name)).text.split()


def long_words(stage, project, name):
    """Words of a text that stand nowhere inside of other words, each once."""
    return list(dict.fromkeys(word for word in words_of(stage, project, name) if word.isalpha() and len(word) > 5))


def mark(tab, words, key="g"):
    select(tab, words)
    tab.keyboard.press(key)


def spans(stage, task):
    """The words that the server knows to be marked for the game."""
    return sorted(one.parts for thing in stage.state(task).of("Game") for one in thing.mentions.get("mention", ()))


def once(stage, task):
    events = stage.events(task)
    assert len({one.id for one in events}) == len(events)
    return events


def test_without_a_connection_work_goes_on_and_is_sent_when_it_is_back(stage, project, visit):
    task = stage.task("nora", project, "nfl-022")
    tab = opened(visit("nora"), stage, task)
    mark(tab, "Defense")
    saved(tab)
    tab.context.set_offline(True)
    mark(tab, "carried")
    mark(tab, "Titans")
    tab.locator("#status.offline").wait_for()
    assert "saved in this browser" in tab.inner_text("#status")
    assert tab.locator(".mark").count() == 3, "the page shows what was done"
    assert len(spans(stage, task)) == 1
    tab.context.set_offline(False)
    saved(tab)
    assert len(spans(stage, task)) == 3
    once(stage, task)


@pytest.mark.slow
def test_an_answer_that_never_arrived_makes_nothing_count_twice(stage, project, visit):
    task = stage.task("nora", project, "nfl-040")
    tab = opened(visit("nora"), stage, task)
    lost = []

    def lose(route):
        if route.request.method == "POST" and len(lost) < 2:
            route.fetch()  # the server takes it
            lost.append(route)
            return route.abort()  # and the page never hears of it
        return route.continue_()

    tab.route("**/events", lose)
    word = words_of(stage, project, "nfl-040")[0]
    mark(tab, word)
    saved(tab)
    assert len(lost) == 2
    assert len(spans(stage, task)) == 1
    assert [one.kind for one in once(stage, task)] == ["create", "span.add"]


@pytest.mark.slow
def test_a_page_loaded_again_in_the_middle_goes_on_with_what_was_not_sent(stage, project, visit):
    task = stage.task("nora", project, "nfl-026")
    tab = opened(visit("nora"), stage, task)
    first, second = long_words(stage, project, "nfl-026")[:2]
    tab.route("**/events", lambda route: route.abort())
    mark(tab, first)
    mark(tab, second)
    tab.locator("#status.offline").wait_for()
    assert spans(stage, task) == []
    tab.unroute("**/events")
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.reload()
    saved(tab)
    assert tab.locator(".mark").count() >= 2
    assert len(spans(stage, task)) == 2
    tab.locator("#text").focus()
    tab.keyboard.press("Control+z")
    saved(tab)
    assert len(spans(stage, task)) == 1, "undo reaches behind the reload"
    tab.reload()
    tab.locator("#palette button").first.wait_for()
    tab.locator("#text").focus()
    tab.keyboard.press("Control+Shift+z")
    saved(tab)
    assert len(spans(stage, task)) == 2, "and so does redo"
    once(stage, task)


@pytest.mark.slow
def test_two_tabs_come_to_show_the_same(stage, project, visit):
    task = stage.task("nora", project, "nfl-031")
    one = opened(visit("nora"), stage, task)
    other = one.context.new_page()
    opened(other, stage, task)
    words = long_words(stage, project, "nfl-031")
    mark(one, words[0])
    other.locator(".mark").first.wait_for()
    mark(other, words[1])
    mark(other, words[2], "o")
    saved(other)
    one.bring_to_front()
    one.wait_for_function("() => document.querySelectorAll('.mark').length >= 3")
    games = stage.state(task).of("Game")
    assert len(games) == 1, "both tabs mean the same game"
    assert len(spans(stage, task)) == 2
    shown = "[...document.querySelectorAll('.mark')].map((one) => one.dataset.marks + one.textContent).sort().join()"
    assert one.evaluate(shown) == other.evaluate(shown)
    once(stage, task)


@pytest.mark.slow
def test_a_server_that_starts_again_finds_a_page_that_waits_for_it(tmp_path_factory, chrome):
    from tests.server.annotating.staging import staged

    stage = staged(tmp_path_factory.mktemp("restart"))
    project = stage.project(name="restart", people=("nora",), names=("nfl-009",))
    task = stage.task("nora", project, "nfl-009")
    words = long_words(stage, project, "nfl-009")
    context = chrome.new_context(viewport={"width": 1400, "height": 900})
    with stage.serving():
        tab = opened(stage.signed_in(context, "nora"), stage, task)
        mark(tab, words[0])
        saved(tab)
        port = int(stage.address.rpartition(":")[2])
    mark(tab, words[1])
    tab.locator("#status.offline").wait_for()
    with stage.serving(port=port):
        saved(tab)
        assert len(spans(stage, task)) == 2
        once(stage, task)
    context.close()
    stage.office.close()


@pytest.mark.req("R-27")
def test_all_texts_are_searched_from_the_page_and_the_search_is_written_down(stage, project, visit):
    from basanite.campaign.store.tables import ReadingSearch

    task = stage.task("nora", project, "nfl-022")
    tab = opened(visit("nora"), stage, task)
    tab.locator("#text").focus()
    tab.keyboard.press("/")
    tab.keyboard.type("touchdown")
    tab.keyboard.press("Enter")
    tab.locator("#hits mark").first.wait_for()
    with stage.office.reading() as session:
        (row,) = session.query(ReadingSearch).all()
        assert (row.text, row.person_id) == ("touchdown", stage.people["nora"])
        assert row.hits == tab.locator("#hits li").count()
