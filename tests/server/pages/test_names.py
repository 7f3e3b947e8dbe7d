"""Nobody is taken for an organizer or for another team, and no name of one campaign shows in another (X-26)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.cli.running import here
from tests.server.accounts.conftest import PASSWORD, Browser
from tests.server.pages.test_participant import newcomer

from basanite.campaign.office import Actor
from basanite.campaign.people.persons import NewDetails, by_mail, change_personal, personal
from basanite.campaign.people.teams import grant_team_maker
from basanite.campaign.store.tables import Team

HOME = "/campaigns/small"
SAME = "can be confused with that of an organizer"
MIXED = "mixes letters of several scripts"
REASONS = (SAME, MIXED, "contains invisible characters", "contains control characters")
LIKE_EVA = {
    "the same": "Eva Low",
    "case and spaces": "eva  LOW",
    "cyrillic": "Еvа Lоw",
    "whole words": "Еѵа Low",
    "greek": "Ενα Lοω",
    "lisu": "ꓰꓦꓮ ꓡꓳꓪ",
    "cherokee": "ᎬᏙᎪ Low",
    "small capitals": "ᴇᴠᴀ ʟᴏᴡ",
    "bold": "𝐄𝐯𝐚 𝐋𝐨𝐰",
    "wide": "Ｅｖａ Ｌｏｗ",
    "zero": "Eva L0w",
    "capital i": "Eva Iow",
    "vv": "Eva Lovv",
    "marks": "É̱va Löw",
    "zero width": "Eva\u200b Low",
    "direction": "Eva\u202e Low\u202c",
    "filler": "Eva\u3164Low",
    "dots": "Eva.Low",
}


@pytest.fixture(autouse=True)
def eva_low(stage):
    """The organizer has a full name, as organizers do."""
    with stage.office.writing() as session:
        change_personal(session, stage.office, Actor(stage.season.eva), stage.season.eva, NewDetails(name="Eva Low"))


def name_of(stage, person):
    with stage.office.reading() as session:
        return personal(session, stage.office, person).name


@pytest.mark.few(5)
@pytest.mark.req("X-26", case="bad")
@pytest.mark.parametrize("name", LIKE_EVA.values(), ids=LIKE_EVA)
def test_nobody_renames_themselves_to_look_like_an_organizer(visit, stage, name):
    answer = visit("ada").send("/account", "/account/profile", name=name, zone="UTC")
    assert answer.status_code == 422, name_of(stage, stage.season.ada)
    assert any(words in answer.text for words in REASONS), answer.text
    assert name_of(stage, stage.season.ada) == "Ada"


@pytest.mark.req("X-26", case="bad")
@pytest.mark.parametrize(
    "name", ["Eva Low", "Еva Low", "ᴇᴠᴀ ʟᴏᴡ", "Evaluation Team", "Max, organiser", "Adm1n", "\u3164\u3164"]
)
def test_nobody_signs_up_as_an_organizer(visit, stage, name):
    sent = {"name": name, "mail": "eva.low@example.org", "password": PASSWORD}
    answer = visit().send("/sign-up", **sent)
    assert answer.status_code == 422
    assert any(words in answer.text for words in REASONS), answer.text
    known = visit().send("/sign-up", **sent | {"mail": "ada@example.org"})
    assert known.status_code == 422, "whether there is an account with the address makes no difference"
    with stage.office.reading() as session:
        assert by_mail(session, stage.office, "eva.low@example.org") is None


@pytest.mark.few(3)
@pytest.mark.req("X-26", case="good")
@pytest.mark.parametrize(
    "name", ["Ada", "Alan", "Eva Lowe", "山田 Taro", "Анна Павлова", "Kaʻahumanu O'Neil", "Nguyễn Văn A"]
)
def test_people_may_share_a_name_and_write_it_in_their_script(visit, stage, name):
    answer = visit().send("/sign-up", name=name, mail="new@example.org", password=PASSWORD)
    assert answer.status_code == 200, answer.text
    with stage.office.reading() as session:
        made = by_mail(session, stage.office, "new@example.org")
        assert personal(session, stage.office, made.id).name == name
    kept = visit("eva").send("/account", "/account/profile", name="Eva Low", zone="Europe/Paris")
    assert "Your changes are saved" in kept.text, "who has a name keeps it"


@pytest.mark.req("X-26", case="bad")
def test_nobody_is_taken_for_another_team_and_no_team_for_an_organizer(visit, stage):
    answer = visit("ada").send("/account", "/account/profile", name="Βeta", zone="UTC")
    assert MIXED in answer.text
    answer = visit("ada").send("/account", "/account/profile", name="B3ta", zone="UTC")
    assert (answer.status_code, SAME in answer.text) == (422, True)
    own = visit("ada").send("/account", "/account/profile", name="Alpha", zone="UTC")
    assert "Your changes are saved" in own.text, "the name of the own team is nobody else's"
    person = newcomer(stage.office)
    with stage.office.writing() as session:
        grant_team_maker(session, stage.office, Actor(stage.season.eva), stage.season.campaign_id, person)
        pseudonym = session.get_one(Team, stage.season.beta).pseudonym
    browser, page = visit("nora"), f"{HOME}/team"
    for name in ("Eva Low", "EVA L0W", "Organizers", "Evaluation team"):
        answer = browser.send(page, f"{page}/make", name=name, code="Gamma")
        assert (answer.status_code, SAME in answer.text) == (422, True), name
    answer = browser.send(page, f"{page}/make", name=pseudonym, code="Gamma")
    assert "looks the same" in answer.text, "nor for what another team is called where it is not named"
    assert "you are the PI" in browser.send(page, f"{page}/make", name="Gamma", code="Gamma").text


@pytest.mark.req("X-26")
def test_of_two_teams_with_one_name_that_are_made_at_the_same_moment_one_is_refused(app, stage):
    names = {"Nora": "Nova Labs", "Nils": "N0va-Labs", "Nina": "NovaLabs", "Noah": "Nova_Labs"}
    browsers = []
    for who in names:
        person, browser = newcomer(stage.office, who), Browser(TestClient(app))
        with stage.office.writing() as session:
            grant_team_maker(session, stage.office, Actor(stage.season.eva), stage.season.campaign_id, person)
        assert browser.sign_in(f"{who.lower()}@example.org").status_code == 200
        browsers.append(browser)
    page = f"{HOME}/team"

    def make(browser, name, code):
        return browser.send(page, f"{page}/make", name=name, code=code).status_code

    with ThreadPoolExecutor(4) as pool:
        codes = ("One", "Two", "Three", "Four")
        answers = sorted(pool.map(make, browsers, names.values(), codes))
    assert answers == [200, 422, 422, 422]
    with stage.office.reading() as session:
        assert len(session.scalars(select(Team.name).where(Team.code.in_(codes))).all()) == 1


@pytest.mark.req("X-26")
def test_commands_refuse_such_names_too(stage):
    newcomer(stage.office)
    data = ("--data", str(stage.office.settings.data))
    for words in (
        ("people", "add", "new@example.org", "--name", "ᴇᴠᴀ Low"),
        ("people", "correct", "ada@example.org", "--name", "eva low"),
        ("team", "add", "Eva Low", "--pi", "nora@example.org"),
        ("team", "split", "Alpha", "--name", "Eva L0w", "--pi", "alan@example.org"),
    ):
        done = here("admin", *words, *data)
        assert done.code != 0, words
        assert SAME in done.stderr, done.stderr
    assert name_of(stage, stage.season.ada) == "Ada"
