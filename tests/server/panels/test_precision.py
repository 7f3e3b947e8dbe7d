"""While judging goes on, intervals are labeled interim, a confidence sequence stays valid, and judging can stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.judging.staging import passage, scheme
from tests.server.panels.conftest import DESK

from basanite.campaign.office import Actor
from basanite.campaign.work.panels import enrolment, judge_work, setup

ALONE = 'per_item = 1\n[adjudicate]\nwhen = "never"\n'
STOP = f"{ALONE}[stop_at]\nhalf_width = 0.8\n"
API = "/api/v1/campaigns/small/panels"


def begun(bench, name, text, items=60, judge="ada"):
    panel = bench.panel(text, [passage(number) for number in range(items)], [judge], name=name)
    bench.begin(panel, judge)
    return panel


def say(bench, panel, value, judge="ada"):
    """Answer the item on the desk; False if there is none."""
    found = bench.desk(panel, judge)
    if found.stage != "item":
        return False
    who = Actor(bench.person(judge))
    bench.do(
        judge_work.answer,
        who,
        panel,
        found.assignment,
        judge_work.Answer({"agree": value}, key=f"k-{found.assignment}", seconds=5),
    )
    return True


@pytest.mark.req("S-33")
def test_an_open_panel_shows_interim_intervals_and_a_sequence_and_a_closed_one_final_ones(visit, bench):
    panel = begun(bench, "final", scheme("likert", ALONE), 20)
    for number in range(20):
        assert say(bench, panel, 2 + number % 3)
    eva = visit("eva")
    page = eva.page(f"{DESK}/final")
    assert "95% CI, interim" in page
    assert "95% confidence sequence" in page
    assert "with repeated looks" in page
    shown = eva.get(f"{API}/final/progress").json()
    assert shown["interim"] is True
    precision = shown["precision"]
    assert (precision["items"], precision["wanted"], precision["reached"]) == (20, None, False)
    assert 1 <= precision["low"] < 2.95 == precision["mean"] < precision["high"] <= 5
    assert precision["half_width"] == pytest.approx((precision["high"] - precision["low"]) / 2)
    bench.do(setup.close_panel, Actor(bench.season.eva), panel)
    page = eva.page(f"{DESK}/final")
    assert "95% confidence sequence" in page
    assert "interim" not in page


@pytest.mark.req("S-33")
def test_judging_stops_when_the_declared_precision_is_reached_and_nothing_on_a_desk_is_lost(visit, bench):
    panel = begun(bench, "precise", scheme("likert", STOP), 60)
    eva, ada = visit("eva"), visit("ada")
    assert say(bench, panel, 3)
    assert "judging stops at 0.8" in eva.page(f"{DESK}/precise")
    answers = 1
    while True:
        ada.page(bench.address("precise"))  # the item is on the desk, and may be answered whatever happens then
        if not say(bench, panel, 3):
            break
        answers += 1
    assert 10 < answers < 60
    assert "no new items are assigned" in ada.page(bench.address("precise"))
    page = eva.page(f"{DESK}/precise")
    assert "The planned precision is reached" in page
    shown = eva.get(f"{API}/precise/progress").json()["precision"]
    assert shown["reached"] is True
    assert shown["half_width"] <= 0.8
    assert shown["items"] == answers


@pytest.mark.req("S-33")
def test_answers_that_drift_have_no_sequence_and_do_not_stop_judging(visit, bench):
    panel = begun(bench, "drifting", scheme("likert", STOP.replace("0.8", "0.3")), 100)
    for number in range(90):
        assert say(bench, panel, 1 if number < 30 else 5)
    eva = visit("eva")
    shown = eva.get(f"{API}/drifting/progress").json()["precision"]
    assert (shown["low"], shown["high"], shown["half_width"], shown["reached"]) == (None, None, None, False)
    assert "early and late" in shown["note"]
    page = eva.page(f"{DESK}/drifting")
    assert "early and late items differ by more than chance" in page
    assert "nan" not in page
    assert "The planned precision is reached" not in page


@pytest.mark.req("S-33")
def test_a_judge_who_withdraws_is_no_longer_waited_for(visit, bench):
    text = scheme("likert", STOP.replace("per_item = 1", 'per_item = "all"'))
    panel = bench.panel(text, [passage(number) for number in range(60)], ["ada", "ben"], name="alone")
    for judge in ("ada", "ben"):
        bench.begin(panel, judge)
    for _ in range(40):
        assert say(bench, panel, 3)
    assert bench.desk(panel, "ada").stage == "item", "no item is finished before both judges have answered"
    bench.do(enrolment.withdraw, Actor(bench.person("ben")), panel)
    assert bench.desk(panel, "ada").why == "precise"
    assert "no new items are assigned" in visit("ada").page(bench.address("alone"))


@pytest.mark.req("S-33")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[stop_at]\nhalf_width = -1\n", "half_width"),
        ("[stop_at]\nhalf_width = nan\n", "half_width"),
        ("[stop_at]\nhalf_width = 2\n", "reached before the first item"),
        ("[stop_at]\n", "half_width"),
        ('[stop_at]\nhalf_width = 0.2\nquestion = "none"\n', "no mean"),
        ("[stop_at]\nhalf_width = 0.2\ncolour = 1\n", "colour"),
    ],
)
def test_a_precision_that_means_nothing_is_refused_with_its_line(visit, bench, more, words):
    eva = visit("eva")
    answer = eva.upload(f"{DESK}/new", f"{DESK}/new", b"", act="create", name="wrong", text=scheme("likert", more))
    assert answer.status_code == 422
    assert words in answer.text


@pytest.mark.slow
@pytest.mark.req("S-33")
@pytest.mark.browser
def test_the_dashboard_tells_the_organizer_in_a_browser(opened, bench, tmp_path: Path):
    panel = begun(bench, "shown", scheme("likert", STOP), 40)
    while say(bench, panel, 3):
        pass
    tab = opened("eva", f"{DESK}/shown")
    assert tab.get_by_role("heading", name="Precision").is_visible()
    assert tab.get_by_text("The planned precision is reached").is_visible()
    assert tab.get_by_text("interim", exact=True).first.is_visible()
    tab.screenshot(path=tmp_path / "precision.png", full_page=True)
    assert tab.complaints == []
