"""A judge's work by plain forms: everything is possible, nothing is stored twice, nothing is given away."""

from __future__ import annotations

import re

import pytest
from tests.server.judging.forms import Judging, form_of
from tests.server.judging.staging import KEY, SECRET, SHORT, passage, scheme

from basanite.campaign.office import Actor
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import enrolment, judge_work, setup
from basanite.work.items import Block, item_of

TRAINING = "[training]\ncount = 1\n"


@pytest.fixture
def judging(bench, visit):
    """A judge at a panel: `judging("jo", "stars")`."""
    return lambda judge, panel: Judging(visit(judge), bench.address(panel))


def stars(bench, name, judge="jo", count=6, *, group="expert", more=SHORT):
    items = [passage(number, f"{name} passage {number} is here.") for number in range(count)]
    return bench.ready(scheme("readability", more), items, f"{judge}:{group}", name=name)


@pytest.mark.req("R-2", "P-22")
def test_a_whole_round_goes_by_plain_forms(bench, judging):
    known = passage(99, role="training", expected={"rating": {"min": 4}})
    items = [passage(number, f"Whole {number}.") for number in range(6)]
    panel = bench.panel(scheme("readability", SHORT + TRAINING), [*items, known], ["jo:expert"], name="whole")
    at = judging("jo", "whole")
    assert "What you agree to" in at.look().text
    assert "Languages and conflicts" in at.post("consent", version="1", agree="yes").text
    assert "Training" in at.post("declare", languages="en, sw").text
    told = at.answer(**{"q-rating": "2"}).text
    assert "Not as expected" in told
    assert "4 to 5" in told
    at.post("go-on")
    for rating in "435":
        page = at.answer(**{"q-rating": rating})
    assert "Rank the 3 items" in page.text
    places = re.findall(r'name="rank-(\w+)"', page.text)
    held = form_of(page.text, f"{at.base}/rank")
    order = {f"rank-{item}": str(place) for item, place in zip(places, (3, 1, 2), strict=True)}
    page = at.post("rank", round="1", key=held["key"], **order)
    assert "What were your criteria?" in page.text
    held = form_of(page.text, f"{at.base}/criteria")
    page = at.post("criteria", round="1", key=held["key"], criteria="short sentences\r\n\r\nknown words")
    assert "complete" in page.text
    assert "Item 1 of 3" in at.post("go-on").text
    assert [row.answers["rating"] for row in bench.judgements(panel)] == [2, 4, 3, 5]
    assert bench.ends(panel, "ranking")[0].content == [places[1], places[2], places[0]]
    assert bench.ends(panel, "criteria")[0].content == ["short sentences", "known words"]


@pytest.mark.req("R-2")
def test_a_form_that_is_sent_twice_is_stored_once_and_another_answer_is_not_taken(bench, judging):
    panel, at = stars(bench, "twice"), judging("jo", "twice")
    page = at.look().text
    for _ in range(3):
        assert "Item 2 of 3" in at.answer(page, **{"q-rating": "4"}).text
    other = at.answer(page, **{"q-rating": "1"}).text
    assert "already has a different answer" in other
    assert "Item 2 of 3" in other
    assert [row.answers["rating"] for row in bench.judgements(panel)] == [4]


@pytest.mark.req("R-2")
def test_the_last_answer_can_be_corrected_until_the_round_is_in_order(bench, judging):
    panel, at = stars(bench, "undo"), judging("jo", "undo")
    at.answer(**{"q-rating": "2"})
    again = at.look("?again=yes").text
    assert 'value="2" data-key="2" aria-label="2 stars" checked' in again
    assert "Item 2 of 3" in at.answer(again, **{"q-rating": "5"}).text
    assert [(row.number, row.answers["rating"]) for row in bench.judgements(panel)] == [(1, 2), (2, 5)]
    at.answer(**{"q-rating": "3"})
    page = at.answer(**{"q-rating": "3"}).text
    last = at.look("?again=yes").text
    items = re.findall(r'name="rank-(\w+)"', page)
    at.post("rank", round="1", key="k", **{f"rank-{item}": str(at) for at, item in enumerate(items, 1)})
    assert "no longer be changed" in at.answer(last, **{"q-rating": "1"}).text, "no going back to stars after ranking"
    assert len(bench.judgements(panel)) == 4


@pytest.mark.req("R-2")
def test_what_is_missing_is_asked_for_and_what_was_filled_in_stays(bench, judging):
    more = '[[questions]]\nid = "rating"\nwidget = "stars"\ntitle = "Easy?"\n'
    more += '[[questions]]\nid = "why"\nwidget = "text"\ntitle = "Why?"\nrequired = false\n'
    panel, at = stars(bench, "missing", more=more), judging("jo", "missing")
    before = at.look().text
    page = at.answer(before, **{"q-why": "It <b>rains</b>."})
    assert page.status_code == 422
    assert "Something needs your attention" in page.text
    assert "It &lt;b&gt;rains&lt;/b&gt;." in page.text
    assert form_of(page.text, f"{at.base}/answer")["key"] == form_of(before, f"{at.base}/answer")["key"]
    assert bench.judgements(panel) == []


def test_places_that_are_given_twice_are_refused_and_shown_again(bench, judging):
    panel, at = stars(bench, "places"), judging("jo", "places")
    for _ in range(3):
        page = at.answer(**{"q-rating": "3"})
    items = re.findall(r'name="rank-(\w+)"', page.text)
    wrong = at.post("rank", round="1", key="k", **{f"rank-{item}": "1" for item in items})
    assert wrong.status_code == 422
    assert "the same rank" in wrong.text
    assert bench.ends(panel, "ranking") == []


def work_through(at):
    """Do all that is on a judge's desk, whatever it is."""
    for _ in range(60):
        page = at.look().text
        if "You have finished" in page:
            return
        if f'action="{at.base}/answer"' in page:
            question = re.search(r'name="(q-[^"]+)" value="([^"]+)"', page)
            at.answer(page, **{question[1]: question[2]})
        elif "Rank the" in page:
            held = form_of(page, f"{at.base}/rank")
            order = [name for name in held if name.startswith("rank-")]
            places = {name: str(place) for place, name in enumerate(order, 1)}
            at.post("rank", page=page, round=held["round"], key=held["key"], **places)
        elif "your criteria" in page:
            held = form_of(page, f"{at.base}/criteria")
            at.post("criteria", page=page, round=held["round"], key=held["key"], criteria="")
        else:
            at.post("go-on", page=page)
    raise AssertionError("the work has no end")


@pytest.mark.req("M52", "X-9", "R-2")
def test_no_page_of_a_judge_tells_whose_it_is_what_is_right_or_who_else_judges(bench, judging):
    hidden = {"document": f"{SECRET}-doc", "team": bench.season.alpha, "answer": KEY}
    items = [passage(number, f"Blind {number}.", **hidden) for number in range(4)]
    items += [passage(60, "First.", role="training", expected={"rating": {"min": 5}}, **hidden)]
    judges = ["blind:expert", "otherjudge:expert", "thirdjudge:novice"]
    panel = bench.panel(scheme("readability", SHORT + TRAINING), items, judges, name="hidden")
    other, at = judging("otherjudge", "hidden"), judging("blind", "hidden")
    other.begin()
    other.answer(**{"q-rating": "2"})
    at.begin()
    work_through(at)
    at.look("/about")
    seen = "\n".join(at.seen)
    for secret in (SECRET, KEY, "Otherjudge", "Thirdjudge", *bench.people.values()):
        assert secret not in seen, secret
    later = seen[seen.index("Item 1 of") :]
    assert "Alpha" not in later, "teams are named where ties are declared, and nowhere else"
    assert bench.season.alpha not in later
    assert len([row for row in bench.judgements(panel) if row.person_id == bench.people["blind"]]) == 5


@pytest.mark.req("X-9")
def test_a_hidden_check_looks_like_any_other_item(bench, judging):
    more = "break_every = 0\n[checks]\nshare = 0.5\n"
    items = [passage(number, f"Text {number}.") for number in range(4)]
    items += [
        passage(70 + n, f"Text {70 + n}.", role="check", expected={"answer": "yes"}, answer=KEY) for n in range(2)
    ]
    panel = bench.ready(scheme("binary", more), items, "reader", name="alike")
    at = judging("reader", "alike")
    work_through(at)
    assert len(bench.judgements(panel)) == 6
    pages = [page for page in at.seen if f'action="{at.base}/answer"' in page]
    alike = {
        re.sub(r'Text \d+|Item \d+|item \d+|\d+ of|value="[^"]*"|data-draft="[^"]*"| open|back[^<]*', "", page)
        for page in pages
    }
    assert len(pages) >= 6
    assert len({re.sub(r"<a [^>]*again=yes.*?</a>|<li><kbd>U.*?</li>", "", one, flags=re.S) for one in alike}) == 1
    assert all(KEY not in page and "check" not in re.sub(r"checkbox|checked", "", page.lower()) for page in pages)


@pytest.fixture
def relevance(bench):
    """A panel of summaries as pictures, with what their teams say to judges."""

    def made(name, judges=("jo",), count=2):
        text = scheme("relevance", "per_item = 1\nbreak_every = 0\nkeep_apart = []\n[checks]\nshare = 0.0\n")
        panel = bench.do(setup.create, bench.season.as_eva, bench.season.campaign_id, setup.NewPanel(text, name=name))
        images = [bench.image(panel.id) for _ in range(count)]
        items = [summary(number, image) for number, image in enumerate(images)]
        bench.do(setup.add_items, bench.season.as_eva, panel.id, items)
        for judge in judges:
            bench.do(enrolment.enrol, bench.season.as_eva, panel.id, bench.person(judge))
        bench.do(setup.open_panel, bench.season.as_eva, panel.id)
        for judge in judges:
            bench.begin(panel.id, judge)
        return panel.id, images

    return made


def summary(number, image):
    told = '<b>Bold</b> <script>alert(1)</script><a href="http://evil.example">link</a><img src=x onerror=alert(2)>'
    blocks = [
        Block("query", f"flood damage {number}", "", "sw"),
        Block("domain", "GOV"),
        Block("image", image),
        Block("instructions", told, "component_1"),
    ]
    return item_of(blocks, {"system": SECRET, "query": f"q{number}", "document": "d"}, new_id=random_id)


@pytest.mark.req("M50", "M51", "X-9")
@pytest.mark.req("M87")
def test_a_judge_sees_query_domain_with_definition_summary_and_the_systems_words_in_their_box(relevance, judging):
    relevance("sees")
    page = judging("jo", "sees").look().text
    assert re.search(r'<div class="passage" dir="auto" lang="sw">flood damage \d</div>', page)
    assert "Government And Politics" in page
    assert "How places and countries are governed" in page, "the catalogue's definition"
    assert "What is in scope" in page
    box = page[page.index("Written by the system") :]
    box = box[: box.index("</section>")]
    assert "about the first part of the query" in box
    assert "<b>Bold</b>" in box
    assert not re.search(r"<(script|a|img)\b|href|src|style|onerror", box)
    assert page.count('name="q-verdict"') == 2
    assert all(f'data-key="{key}"' in page for key in "rn")
    assert SECRET not in page


@pytest.mark.req("M49")
def test_a_judge_marks_what_is_not_text_beside_the_answer(bench, relevance, judging):
    panel, _ = relevance("graphic")
    at = judging("jo", "graphic")
    assert re.search(r'<input[^>]+name="flag"[^>]+value="not-text"', at.look().text)
    at.answer(**{"q-verdict": "N", "flag": "not-text"})
    (row,) = bench.judgements(panel)
    assert list(row.flags) == ["not-text"]


@pytest.mark.req("X-9")
def test_a_picture_comes_boxed_without_cookies_and_only_while_it_is_on_the_desk(bench, relevance, judging):
    panel, images = relevance("pictures", ("jo", "kim"))
    jo, kim = judging("jo", "pictures"), judging("kim", "pictures")
    (shown,) = re.findall(r'<img src="([^"]+)"', jo.look().text)
    (others,) = re.findall(r'<img src="([^"]+)"', kim.look().text)
    answer = jo.browser.client.get(shown)
    assert answer.status_code == 200
    assert answer.content.startswith(b"\x89PNG")
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    assert shown.rpartition("/")[2] in images, "random ids, drawn when the picture was encoded again"
    assert shown != others
    assert jo.browser.client.get(others).status_code == 404, "somebody else's"
    jo.answer(**{"q-verdict": "R"})
    assert jo.browser.client.get(shown).status_code == 200, "still open to correction"
    assert judging("lee", "pictures").browser.client.get(shown).status_code in (403, 404)
    bench.do(setup.close_panel, bench.season.as_eva, panel)
    assert jo.browser.client.get(shown).status_code == 404


SPANS = "The bridge 🌉 was standing, but nobody were wanting to cross the bridge."


def translation(text=SPANS):
    blocks = [
        Block("document", "Die Brücke stand noch.", "Source", "de"),
        Block("text", text, "Translation", "en", "ltr"),
    ]
    return item_of(blocks, {"system": SECRET, "document": "d"}, new_id=random_id)


@pytest.mark.req("R-29")
def test_errors_are_marked_by_their_words_without_scripts(bench, judging):
    panel = bench.ready(scheme("esa"), [translation()], "jo", name="esa")
    at = judging("jo", "esa")
    wrong = at.answer(**{"mark-errors-1-words": "not there", "mark-errors-1-severity": "minor", "q-score": "60"})
    assert wrong.status_code == 422
    assert "do not occur" in wrong.text
    fields = {"mark-errors-1-words": "nobody were wanting", "mark-errors-1-severity": "major", "q-score": "60"}
    at.answer(
        **fields, **{"mark-errors-2-words": "bridge", "mark-errors-2-which": "2", "mark-errors-2-severity": "minor"}
    )
    (row,) = bench.judgements(panel)
    marked = [(SPANS[one["start"] : one["end"]], one["severity"]) for one in row.answers["errors"]]
    assert marked == [("nobody were wanting", "major"), ("bridge", "minor")]
    assert row.answers["errors"][1]["start"] == SPANS.rindex("bridge"), "code points, also after an emoji"
    assert row.answers["score"] == 60


@pytest.mark.req("P-33", "X-14")
def test_foreign_text_carries_its_language_and_direction_and_cannot_turn_the_page(bench, judging):
    text = "نص\u202e عربي \u200fللقراءة"
    bench.ready(scheme("readability"), [passage(1, text, lang="ar", way="rtl")], "jo:expert", name="arabic")
    page = judging("jo", "arabic").look().text
    assert '<div class="passage" dir="rtl" lang="ar">' in page
    assert "\u202e" not in page
    assert "\\u200f" not in page, "marks that belong to the script stay what they are"


@pytest.mark.req("P-22")
def test_without_consent_there_is_no_item_and_a_judge_may_stop_at_any_time(bench, judging):
    items = [passage(number, f"Stop {number}.") for number in range(4)]
    panel = bench.panel(scheme("readability", SHORT), items, ["stopper:expert"], name="stop")
    at = judging("stopper", "stop")
    assert "Stop 0" not in at.look().text
    assert "has changed" in at.post("consent", version="0", agree="yes").text
    assert "What you agree to" in at.look().text
    at.begin()
    at.answer(**{"q-rating": "3"})
    ended = at.post("withdraw").text
    assert "You have stopped" in ended
    assert "0.50 EUR" in ended
    assert "You have stopped" in at.look().text
    late = at.post("answer", assignment="x", key="k", **{"q-rating": "3"})
    assert late.status_code == 404
    assert len(bench.judgements(panel)) == 1


@pytest.mark.req("P-22")
def test_time_is_that_since_the_item_was_shown_where_no_script_measures_it(bench, judging):
    panel, at = stars(bench, "time"), judging("jo", "time")
    at.look()
    at.answer(**{"q-rating": "3"})
    at.answer(**{"q-rating": "3", "seconds": "nan"})
    first, second = bench.judgements(panel)
    assert 0 < first.seconds < 60
    assert second.seconds == 0


@pytest.mark.req("X-4")
def test_who_has_no_seat_finds_no_panel(bench, judging):
    stars(bench, "seats")
    stars(bench, "otherseats", judge="kim")
    for rest in ("", "/about", "/images/x"):
        assert judging("kim", "seats").look(rest).status_code == 404
    assert judging("stranger", "seats").look().status_code == 403


def test_my_judging_lists_every_panel_with_what_comes_next(bench, visit):
    nobody = visit("nobody")
    assert "Nothing to judge" in nobody.get("/judging").text
    assert "My judging" not in nobody.get("/").text
    panel = stars(bench, "listed", judge="lister")
    closed = stars(bench, "ended", judge="lister")
    bench.do(setup.close_panel, bench.season.as_eva, closed)
    browser = visit("lister")
    page = browser.get("/judging").text
    assert page.count('<section class="card') == 2
    assert "Round 1 of 2, item 1 of 3 · 0 of 6 done" in page
    assert page.index("Continue judging") < page.index("View"), "what can be done comes first"
    bench.do(judge_work.pause, Actor(bench.person("lister")), panel)
    assert "paused" in browser.get(f"/campaigns/{bench.season.slug}/judging").text
    assert 'href="/judging"' in browser.get("/").text


@pytest.mark.req("D-10")
def test_a_pause_keeps_the_place(bench, judging):
    stars(bench, "pause")
    at = judging("jo", "pause")
    at.answer(**{"q-rating": "3"})
    paused = at.post("pause").text
    assert "Paused" in paused
    assert "1 of 6 done" in paused, "how far one is stays known"
    assert "Paused" in at.look().text
    assert "Item 2 of 3" in at.post("go-on").text
