"""The program: campaigns of several years side by side, as far as each reader may see them (P-45)."""

from __future__ import annotations

import io
import json

import pytest
from tests.campaign.staging import SEED, SEEDS, Stage, staged
from tests.server.pages.conftest import give_passwords

from basanite.campaign.actions.releases import LevelRelease, release
from basanite.campaign.office import Actor
from basanite.campaign.people.teams import allow_naming
from basanite.testing import season, small_campaign_text

pytestmark = pytest.mark.req("P-45")
LEVELS = ("certification", "top", "details", "public")


@pytest.fixture
def stage(office, clock, pack):
    return staged(office, clock, pack)


@pytest.fixture
def later(office, clock, pack, stage):
    """The same campaign a year later, with the same people, in which a team has become better; both have been run."""
    text = small_campaign_text(slug="next").replace("2018-", "2019-").replace("2017-", "2018-")
    made = Stage(office, season(office, text.replace("A small season", "The next season")), clock, pack)
    office.vault.keep(SEEDS, made.season.campaign_id, SEED)
    give_passwords(office, stage.season)
    run(stage, clock, "2018", {"alpha": "silent", "beta": "silent"})
    for dataset in ("DEV", "EVAL1"):
        made.add_reference(dataset)
    run(made, clock, "2019", {"alpha": "perfect", "beta": "silent"})
    return made


def run(made, clock, year, files):
    """Submit to the evaluation week, close it, and let everything out that this stage releases."""
    clock.set(f"{year}-04-03 12:00")
    for team, file in files.items():
        made.submit(team=team, file=file, label=team, description={"text": "a system"})
    clock.set(f"{year}-04-20 12:00")


def let_out(made, *levels):
    for team, person in ((made.season.alpha, made.season.ada), (made.season.beta, made.season.bea)):
        made.do(allow_naming, Actor(person), team, agrees=True)
    for level in levels:
        made.do(release, Actor(made.season.eva), made.season.campaign_id, LevelRelease("week", level))
        made.clock.forward(days=8)  # certification takes seven
    made.compare_all()


def boards(browser, query=""):
    """The values of the report's JSON, by campaign."""
    answer = browser.get(f"/program/report?kind=json{query}")
    assert answer.status_code == 200
    return {one["campaign"]: one for one in json.loads(answer.content)["boards"]}


def test_progress_verdicts_and_teams_of_two_years_stand_side_by_side(visit, stage, later):
    let_out(stage, *LEVELS)
    let_out(later, *LEVELS)
    browser = visit()
    found = boards(browser)
    assert [(found[name]["value"], found[name]["systems"]) for name in ("A small season", "The next season")] == [
        (0.0, 2),
        (1.0, 2),
    ]
    assert found["The next season"]["best"] == "Alpha"
    page = browser.get("/program").text
    assert "AQWV from 0 (A small season: Evaluation week) to 1 (The next season: Evaluation week)" in page
    assert page.count("<svg") >= 2, "a chart, wide and narrow"
    assert "Verdicts" in page
    assert 'href="/program"' in browser.get("/").text
    assert set(boards(browser, "&year=2019")) == {"The next season"}
    assert "Nothing is public yet" in browser.get("/program?year=1999").text


def test_the_same_comes_as_page_and_as_slides(visit, stage, later):
    from pptx import Presentation

    let_out(stage, *LEVELS)
    let_out(later, *LEVELS)
    browser = visit()
    html = browser.get("/program/report?kind=html").text
    slides = Presentation(io.BytesIO(browser.get("/program/report?kind=pptx").content)).slides
    words = " ".join(shape.text_frame.text for slide in slides for shape in slide.shapes if shape.has_text_frame)
    for text in (html, words):
        assert "AQWV from 0 (A small season: Evaluation week) to 1 (The next season" in text
        assert "Verdicts" in text


def test_what_is_not_public_is_shown_to_organizers_alone(visit, stage, later):
    let_out(stage, *LEVELS)
    assert set(boards(visit())) == {"A small season"}
    assert set(boards(visit("ada"))) == {"A small season"}, "a team's own view is not the public's"
    assert "1.0000" not in visit("bea").get("/program").text
