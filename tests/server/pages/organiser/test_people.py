"""People, roles, acts of two and teams on the organisers' pages: the same rules as everywhere, with confirmations."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from tests.server.pages.organiser.conftest import DESK, MORE
from tests.server.pages.test_participant import newcomer

from basanite.campaign.office import Actor
from basanite.campaign.people.privacy import note_address
from basanite.campaign.people.roles import viewer
from basanite.campaign.people.teams import ask_to_lead
from basanite.campaign.store.tables import Approval, DutyException, Event, Grant, Membership, Submission, Team


def roles_of(stage, person):
    with stage.office.reading() as session:
        return viewer(session, stage.season.campaign_id, person).roles


@pytest.mark.req("P-7")
def test_a_request_to_lead_waits_on_the_desk_and_is_granted_with_a_mail(desk, visit, stage):
    person = newcomer(stage.office)
    stage.do(ask_to_lead, Actor(person), stage.season.campaign_id, text="We bring a new idea.\nAnd a second line.")
    eva = desk()
    assert "1 person asks to lead a team" in eva.page()
    page = eva.page("/people")
    assert "Nora" in page
    assert "new idea.\nAnd a second" in page, "lines stay lines"
    with stage.office.reading() as session:
        asked = session.scalars(select(Event.subject).where(Event.kind == "lead.asked")).one()
    assert "can create a team now" in eva.act("/people", f"/people/requests/{asked}", accept="yes").text
    assert "team_maker" in roles_of(stage, person)
    assert "Create your team" in visit("nora").get("/campaigns/small/team").text
    assert "is already granted" in eva.act("/people", f"/people/requests/{asked}", accept="no").text


@pytest.mark.req("P-7")
def test_a_request_is_refused_with_a_reason(desk, stage):
    person = newcomer(stage.office)
    asked = stage.do(ask_to_lead, Actor(person), stage.season.campaign_id).id
    answer = desk().act("/people", f"/people/requests/{asked}", accept="no", reason="the season is full")
    assert "Declined" in answer.text
    assert roles_of(stage, person) == frozenset()


@pytest.mark.req("X-4", case="good")
def test_a_role_is_given_and_taken_away_after_a_confirmation(desk, stage):
    person, eva = newcomer(stage.office), desk()
    eva.act("/people", "/people/grant", mail="nora@example.org", role="judge", reason="she knows the language")
    assert "judge" in roles_of(stage, person)
    page = eva.page("/people?role=judge")
    assert "Nora" in page
    assert "ada@example.org" not in page
    confirm = f"/people/{person}/revoke/judge"
    assert "loses all permissions of this role" in eva.page(confirm)
    assert "revoked" in eva.act(confirm).text
    assert roles_of(stage, person) == frozenset()


@pytest.mark.req("X-26", case="bad")
def test_who_has_no_part_in_a_campaign_is_named_on_none_of_its_pages(desk, stage):
    person, eva, season = newcomer(stage.office, "Stranger"), desk(), stage.season
    for role in ("judge", "evaluation", "team_maker"):
        answer = eva.get(f"{DESK}/people/{person}/revoke/{role}")
        assert (answer.status_code, "Stranger" in answer.text) == (404, False), role
    for somebody in (person, season.bea):
        answer = eva.get(f"{DESK}/teams/{season.alpha}/remove/{somebody}")
        assert answer.status_code == 404, "she is of another team, or of none"
        assert "leaves" not in answer.text
    assert "Alan leaves Alpha" in eva.page(f"/teams/{season.alpha}/remove/{season.alan}").replace("<bdi>", "").replace(
        "</bdi>", ""
    )
    for page in ("", "/people", "/teams", "/log", f"/teams/{season.alpha}", "/approvals"):
        assert "Stranger" not in eva.page(page), page


@pytest.mark.req("X-4", case="bad")
@pytest.mark.parametrize(
    ("mail", "role", "why"),
    [
        ("ada@example.org", "judge", "is in a team"),
        ("nobody@example.org", "judge", "there is no account"),
        ("nora@example.org", "emperor", "no role"),
        ("nora@example.org", "administrator", "whole server"),
    ],
)
def test_a_role_that_may_not_be_given_is_refused_and_what_was_typed_stays(desk, stage, mail, role, why):
    newcomer(stage.office)
    answer = desk().act("/people", "/people/grant", mail=mail, role=role, reason="because we need one")
    assert answer.status_code in (409, 422)
    assert why in answer.text
    assert "because we need one" in answer.text


def test_nobody_takes_the_own_role_away(desk, stage):
    confirm = f"/people/{stage.season.eva}/revoke/evaluation"
    assert desk().act(confirm).status_code == 409
    assert "evaluation" in roles_of(stage, stage.season.eva)
    assert "revoked" in desk("otto").act(confirm).text


@pytest.mark.req("X-4")
def test_an_exception_holds_when_another_organiser_agrees(desk, stage):
    eva, otto = desk(), desk("otto")
    eva.act("/people", "/people/exceptions", mail="ada@example.org", reason="nobody else reads the language")
    with stage.office.reading() as session:
        waiting = session.scalars(select(DutyException.id)).one()
    assert eva.act("/people", f"/people/exceptions/{waiting}", agree="yes").status_code == 403
    assert "exception is active" in otto.act("/people", f"/people/exceptions/{waiting}", agree="yes").text
    eva.act("/people", "/people/grant", mail="ada@example.org", role="judge", reason="by exception")
    assert "judge" in roles_of(stage, stage.season.ada)
    assert "ended" in otto.act("/people", f"/people/exceptions/{waiting}", agree="no").text


class TestTwoPeople:
    @pytest.fixture
    def campaign(self):
        return {"two_people": ("role", "void", "release"), "more": MORE}

    @pytest.mark.req("X-4")
    def test_an_act_waits_for_somebody_else_and_is_then_done(self, desk, stage):
        person, eva, otto = newcomer(stage.office), desk(), desk("otto")
        asked = eva.act("/people", "/people/grant", mail="nora@example.org", role="judge", reason="needed")
        assert "waits for a second organizer" in asked.text
        assert roles_of(stage, person) == frozenset()
        with stage.office.reading() as session:
            act = session.scalars(select(Approval.id)).one()
        assert "Approve" not in eva.page("/approvals"), "nobody is the own second"
        assert eva.act("/approvals", f"/approvals/{act}", agree="yes").status_code == 403
        page = otto.page("/approvals")
        assert "Nora: judge" in page
        assert "Approved and carried out" in otto.act("/approvals", f"/approvals/{act}", agree="yes").text
        assert "judge" in roles_of(stage, person)

    def test_an_act_can_be_refused_and_nothing_is_done(self, desk, stage):
        run = stage.submit(file="perfect")
        eva, otto = desk(), desk("otto")
        assert "another organizer must approve" in eva.page(f"/submissions/{run}/void")
        eva.act(f"/submissions/{run}/void", reason="it was copied")
        with stage.office.reading() as session:
            act = session.scalars(select(Approval.id)).one()
        assert "Nothing was done" in otto.act("/approvals", f"/approvals/{act}", agree="no").text
        with stage.office.reading() as session:
            assert session.get(Submission, run).standing == "on time"

    def test_an_act_of_another_campaign_is_not_here(self, desk):
        assert desk().act("/approvals", "/approvals/unknown", agree="yes").status_code == 404


def test_a_team_is_made_filled_led_by_another_and_split(desk, stage):
    person, eva = newcomer(stage.office), desk()
    eva.act("/teams", mail="nora@example.org", name="Gamma", track="open")
    with stage.office.reading() as session:
        gamma = session.scalars(select(Team.id).where(Team.name == "Gamma")).one()
    assert "Gamma" in eva.page("/teams")
    alpha = f"/teams/{stage.season.alpha}"
    assert eva.act(alpha, f"{alpha}/place", mail="nora@example.org").status_code == 409, "one person, one team"
    other = newcomer(stage.office, "Olga")
    assert "added to the team" in eva.act(alpha, f"{alpha}/place", mail="olga@example.org").text
    assert "new PI" in eva.act(alpha, f"{alpha}/pi", person=stage.season.alan).text
    split = eva.act(alpha, f"{alpha}/split", name="Delta", pi=other, people=[other, stage.season.ada])
    assert "team is split" in split.text
    with stage.office.reading() as session:
        delta = session.scalars(select(Team.id).where(Team.name == "Delta")).one()
        members = session.scalars(select(Membership.person_id).where(Membership.team_id == delta)).all()
    assert set(members) == {other, stage.season.ada}
    assert person not in members
    assert eva.page(f"/teams/{gamma}")


@pytest.mark.req("P-34")
def test_teams_are_merged_after_a_confirmation(desk, stage):
    eva, alpha, beta = desk(), stage.season.alpha, stage.season.beta
    page = eva.get(f"{DESK}/teams/{beta}/merge?into={alpha}").text
    assert "members of Beta move to Alpha" in page.replace("\u2068", "").replace("\u2069", "")
    assert "merged" in eva.act(f"/teams/{beta}/merge/{alpha}").text
    with stage.office.reading() as session:
        assert session.get(Team, beta).state == "merged"
        assert viewer(session, stage.season.campaign_id, stage.season.bea).team == alpha
    assert eva.get(f"{DESK}/teams/{alpha}/merge/{alpha}").status_code == 404


def test_a_member_is_taken_out_after_a_confirmation(desk, stage):
    confirm = f"/teams/{stage.season.alpha}/remove/{stage.season.alan}"
    assert "stays with the team" in desk().page(confirm)
    assert "removed from the team" in desk().act(confirm).text
    with stage.office.reading() as session:
        assert viewer(session, stage.season.campaign_id, stage.season.alan).team is None


def test_all_runs_of_a_team_are_disqualified_with_a_reason(desk, stage):
    runs = [stage.submit(file="perfect", kind=kind) for kind in ("primary", "contrastive")]
    confirm, eva = f"/teams/{stage.season.alpha}/disqualify", desk()
    assert "2 runs are excluded from all comparisons" in eva.page(confirm)
    assert eva.act(confirm, reason="").status_code == 422
    assert "disqualified" in eva.act(confirm, reason="they trained on the test set").text
    with stage.office.reading() as session:
        assert {session.get(Submission, run).standing for run in runs} == {"disqualified"}


@pytest.mark.req("X-7")
def test_near_identical_runs_and_shared_addresses_are_shown_to_organisers(desk, visit, stage):
    stage.submit(team="alpha", file="perfect", label="ours")
    stage.submit(team="beta", file="perfect", label="theirs")
    with stage.office.writing() as session:
        rows = {row.label: row for row in session.scalars(select(Submission))}
        rows["theirs"].similar_to = rows["ours"].id
        for person in (stage.season.alan, stage.season.bea):
            note_address(session, stage.office, person, "192.0.2.7")
    page = desk().page("/teams")
    assert "Nearly identical run" in page
    assert "Same email domain, several teams" in page
    assert "Alan" in page
    for who in ("ada", "bea"):
        assert visit(who).get(f"{DESK}/teams").status_code == 403


def test_extra_attempts_need_a_number_and_a_reason(desk, visit, stage):
    eva, alpha = desk(), f"/teams/{stage.season.alpha}"
    assert eva.act(alpha, f"{alpha}/extra", window="dev", count="2", reason="").status_code == 422
    assert eva.act(alpha, f"{alpha}/extra", window="dev", count="many", reason="our disk").status_code == 422
    assert "extra attempts" in eva.act(alpha, f"{alpha}/extra", window="dev", count="2", reason="our disk").text
    assert 'class="big">5</span>' in visit("ada").get("/campaigns/small/calendar").text


@pytest.mark.req("X-11")
def test_an_organiser_without_a_second_factor_acts_as_nobody(desk):
    weak = desk(strong=False)
    assert weak.get(DESK).status_code == 403
    assert weak.get(f"{DESK}/people").status_code == 403


def test_a_team_of_another_campaign_is_not_here(desk):
    assert desk().get(f"{DESK}/teams/unknown").status_code == 404
    assert desk().get(f"{DESK}/people/x/revoke/emperor").status_code == 404


def test_grants_hold_who_gave_them(desk, stage):
    newcomer(stage.office)
    desk().act("/people", "/people/grant", mail="nora@example.org", role="annotator", reason="she asked")
    with stage.office.reading() as session:
        row = session.scalars(select(Grant).where(Grant.role == "annotator")).one()
    assert (row.by, row.reason) == (stage.season.eva, "she asked")
