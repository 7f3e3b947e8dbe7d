"""An empty board, list or desk says why, whose move it is and what to do (D-10)."""

from __future__ import annotations

import html
import io
import re
import tarfile

import pytest
from starlette.testclient import TestClient
from tests.offices.prepared import small_season
from tests.server.accounts.conftest import CHEAP, PASSWORD
from tests.server.pages.conftest import give_passwords
from tests.server.pages.organiser.conftest import DESK, MORE, Desk

from basanite.campaign.actions.releases import LevelRelease, release
from basanite.campaign.office import COMMAND
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables import Account
from basanite.server.accounts import authentication, sessions
from basanite.testing import small_campaign_text

HOME = "/campaigns/small"
BOARD = f"{HOME}/leaderboard?of=dev|CLIR|1A|"


def words(page):
    """The text of a page's main part, in one line."""
    main = page.partition("<main")[2].partition("</main>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>|[\u2068\u2069]", " ", main)).split())


@pytest.fixture
def campaign():
    """The small season as it is."""
    return {}


@pytest.fixture
def runs(stage):
    """Both teams submit in the development window, and nobody chooses a primary run."""
    for team in ("alpha", "beta"):
        stage.submit(team=team, file="perfect", label=team, kind="contrastive")


@pytest.mark.req("D-10")
def test_a_released_board_without_primary_runs_says_who_has_none(desk, visit, stage, clock, runs):
    clock.set("2018-05-01 12:00")
    stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("dev", "top"))
    page = visit("ada").get(BOARD).text
    assert "2 teams submitted runs but chose no primary run." in words(page)
    assert "A team can ask the organizers to designate one of its runs." in words(page)
    assert f'href="{HOME}/submissions"' in page
    assert "eleased yet" not in page, "it is released"
    eva = desk().get(BOARD).text
    assert "An organizer can designate a run for a team" in words(eva)
    assert f'href="{DESK}/submissions?window=dev"' in eva
    visitor = words(visit().get(BOARD).text)
    assert "Released to the teams" in visitor
    assert "primary" not in visitor, "how many take part is for the teams"


@pytest.mark.req("D-10")
def test_an_empty_board_of_an_open_window_says_until_when_something_can_be_done(desk, visit, stage, runs):
    eva = words(desk().get(BOARD).text)
    assert "2 teams submitted runs but chose no primary run." in eva
    assert re.search(r"The window closes in \d+ days\. Until then, each team can choose one\.", eva)
    ada = words(visit("ada").get(BOARD).text)
    assert "Your team has runs here, but no primary run." in ada
    assert "2 teams" not in ada, "others' runs are not out"
    visitor = words(visit().get(BOARD).text)
    assert "The window is still open" in visitor
    assert "runs here" not in visitor


@pytest.mark.req("D-10")
def test_a_board_that_waits_for_its_release_says_whose_move_it_is(visit, stage, clock):
    clock.set("2018-04-03 12:00")
    stage.submit(label="blind", dataset=("EVAL1",))
    clock.set("2018-04-10 12:00")
    for who in ("bea", None):
        page = words(visit(who).get(f"{HOME}/leaderboard?of=week|CLIR|1A|").text)
        assert "Not released yet The window closed 1 day" in page
        assert "The organizers decide when to release the results." in page


@pytest.mark.req("D-10")
def test_a_public_release_without_a_run_to_compare_is_not_called_unreleased(visit, stage, clock, runs):
    assert "Nothing is public yet" in visit().get(f"{HOME}/results").text
    clock.set("2018-05-01 12:00")
    for level in ("top", "public"):
        stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("dev", level))
    page = visit().get(f"{HOME}/results").text
    assert "Nothing is public yet" not in page
    assert "Public, but without comparable runs" in page
    assert "2 teams submitted runs but chose no primary run." in words(visit().get(BOARD).text)


@pytest.mark.req("X-11", "D-10")
def test_an_organizer_without_a_second_factor_reads_that_one_is_needed_and_where(desk):
    weak = desk("eva", strong=False)
    answer = weak.get(DESK)
    assert answer.status_code == 403
    assert "Second factor required" in answer.text
    assert 'href="/account/second-factor">Set up a second factor</a>' in answer.text
    assert "only for" not in words(answer.text)
    home = weak.get(HOME).text
    assert "Join a team" not in home, "an organizer needs none"
    told = weak.client.get(f"/api/v1{HOME}/panels").json()
    assert "second factor" in told["detail"]


@pytest.mark.req("D-10")
def test_another_role_is_told_whose_page_it_is(visit, stage):
    answer = visit("ada").get(DESK)
    assert answer.status_code == 403
    assert "Only the evaluation team can do this." in words(answer.text)
    assert "second factor" not in answer.text


def newcomer(stage):
    """Somebody who has an account and nothing else."""
    with stage.office.writing() as session:
        person = add_person(session, stage.office, Newcomer(name="Nora", mail="nora@example.org"))
        account = session.get_one(Account, person.id)
        account.password, account.confirmed = authentication.hash_password(CHEAP, PASSWORD), stage.office.clock()
        return person.id


@pytest.mark.req("D-10")
@pytest.mark.parametrize("role", ["", "judge", "annotator", "adjudicator"])
def test_only_who_may_take_part_is_told_to_join_a_team(visit, stage, role):
    person = newcomer(stage)
    if role:
        stage.do(grant, COMMAND, RoleGrant(person_id=person, role=role, campaign_id=stage.season.campaign_id))
    nora = visit("nora")
    for part in ("", "/packs"):
        page = nora.get(HOME + part).text
        assert ("Join a team, or ask to lead one." in page) == (role == ""), part
        assert (f'<a href="{HOME}/team"' in page) == (role == ""), part
    assert ("need no team for it" in nora.get(f"{HOME}/team").text) == (role != "")


@pytest.mark.req("D-10")
def test_who_has_asked_for_a_place_is_not_told_to_ask(visit, stage):
    newcomer(stage)
    nora = visit("nora")
    nora.send(f"{HOME}/team", f"{HOME}/team/join", team=stage.season.alpha, site="")
    assert "Join a team, or ask to lead one." not in nora.get(HOME).text


@pytest.mark.req("D-10", "M89")
@pytest.mark.parametrize("campaign", [{"more": MORE}], indirect=False)
def test_a_key_that_is_out_is_not_said_to_come(visit, stage, clock, campaign):
    clock.set("2018-05-01 12:00")
    assert "Decryption key available" in visit("ada").get(f"{HOME}/packs").text
    clock.set("2018-05-10 12:00")
    page = visit("ada").get(f"{HOME}/packs").text
    assert "Decryption key available" not in page
    assert "The decryption key has been published. It appears here when the points above are settled." in page


@pytest.fixture
def fresh(office, clock, app):
    """The desk of a campaign in which nothing is set up but its people."""
    made = small_season(office, small_campaign_text(two_people=("reference",)))
    give_passwords(office, made)

    def opened(who="eva"):
        with office.writing() as session:
            cookie = sessions.start(session, office, getattr(made, who), strong=True)
        client = TestClient(app)
        client.cookies.set(sessions.cookie_name(office), cookie)
        return Desk(client)

    return opened


def tasks(page):
    """The entries of the checklist: where each leads, by its text."""
    part = page.partition('id="to-do"')[2].partition("</section>")[0]
    return {
        " ".join(re.sub(r"[\u2068\u2069]", "", text).split()): address
        for address, text in re.findall(r'href="([^"]+)"><bdi>(.*?)</bdi></a>', part)
    }


@pytest.mark.req("D-10")
def test_a_new_campaign_shows_what_is_to_be_set_up_until_it_can_take_a_submission(fresh, pack):
    eva, otto = fresh(), fresh("otto")
    page = eva.page()
    assert "There are no open decisions" not in page
    assert tasks(page) == {
        "Add the reference for CLIR · DEV · 1A · QUERY1": f"{DESK}/references",
        "Add the reference for CLIR · EVAL1 · 1A · QUERY1": f"{DESK}/references",
        "Add the files of DEV": f"{DESK}/packs",
        "Add the files of EVAL1": f"{DESK}/packs",
    }
    for pack_id in ("DEV", "EVAL1"):
        place = f"CLIR|{pack_id}|1A|QUERY1"
        eva.upload("/references", "/references", archive(pack.key), "key.tgz", place=place, reason="first")
        eva.upload("/packs", f"/packs/{pack_id}/files", b"text", "data.txt")
    waiting = tasks(eva.page())
    assert waiting == {"Approve the reference for CLIR · DEV · 1A · QUERY1": f"{DESK}/approvals"}
    for _ in ("DEV", "EVAL1"):
        number = re.search(rf'action="{DESK}/approvals/([^"]+)"', otto.page("/approvals"))[1]
        otto.act("/approvals", f"/approvals/{number}", agree="yes")
    done = eva.page()
    assert tasks(done) == {}
    assert "There are no open decisions" in done


def archive(folder):
    """A folder as a packed archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(folder, arcname=".")
    return packed.getvalue()


@pytest.mark.req("D-10")
def test_a_team_reads_why_it_can_submit_nothing_now(fresh, clock):
    ada = fresh("ada")
    submit = words(ada.get(f"{HOME}/submit").text)
    assert "“Development on DEV” is open, but the organizers have not added its reference yet." in submit
    home = ada.get(HOME).text
    assert "Open, but not ready" in home
    assert "waiting for the organizers" in home
    assert f'href="{HOME}/submit">Submit a run' not in home
    clock.set("2018-04-01 12:00")
    assert re.search(
        r"No window is open\. “Evaluation week” opens in \d+ h", words(fresh("ada").get(f"{HOME}/submit").text)
    )
    clock.set("2018-06-01 12:00")
    assert "No window is open, and none is planned." in words(fresh("ada").get(f"{HOME}/submit").text)


@pytest.mark.req("D-10")
def test_a_team_that_has_used_its_attempts_reads_when_the_next_ones_come(visit, stage):
    for number in range(3):
        stage.submit(label=f"run{number}", kind="contrastive")
    assert "Your team has used all its attempts. Attempts reset in" in words(visit("ada").get(f"{HOME}/submit").text)
