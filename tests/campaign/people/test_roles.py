"""Roles, and that nobody judges who takes part (X-4)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.membership import accept_invitation, ask_to_join, decide_join, invite, place_member
from basanite.campaign.people.roles import (
    RoleGrant,
    ask_exception,
    end_exception,
    exceptions,
    grant,
    holders,
    organisers,
    revoke,
    second_exception,
    viewer,
)
from basanite.campaign.people.teams import NewTeam, ask_to_lead, create_team, grant_team_maker
from basanite.campaign.store.tables import Event, Message
from basanite.campaign.store.vault import link_secret

EXCLUDING = ("judge", "annotator", "adjudicator", "evaluation")


def give(town, actor, person, role="judge", **more):
    return town.act(grant, actor, RoleGrant(person_id=person.id, role=role, campaign_id=town.campaign), **more)


def test_a_stranger_is_a_visitor_and_a_role_is_seen_in_its_campaign_alone(town):
    carl = town.person("Carl")
    give(town, town.small.as_eva, carl)
    assert town.ask(viewer, town.campaign, None) == VISITOR
    assert town.ask(viewer, town.campaign, "nobody") == VISITOR
    assert town.ask(viewer, town.campaign, carl.id).roles == {"judge"}
    assert town.ask(viewer, "another", carl.id).roles == frozenset()


def test_an_administrator_is_one_in_every_campaign(town):
    carl = town.person("Carl")
    town.act(grant, COMMAND, RoleGrant(person_id=carl.id, role="administrator"))
    assert town.ask(viewer, town.campaign, carl.id).staff
    assert town.ask(viewer, None, carl.id).staff


@pytest.mark.parametrize(
    ("role", "campaign"),
    [("administrator", True), ("judge", False), ("emperor", True)],
    ids=["one", "server", "unknown"],
)
def test_a_role_belongs_where_it_belongs(town, role, campaign):
    carl = town.person("Carl")
    with pytest.raises(RefusedError) as refusal:
        town.act(
            grant, COMMAND, RoleGrant(person_id=carl.id, role=role, campaign_id=town.campaign if campaign else None)
        )
    assert refusal.value.status == 422


def test_only_organisers_give_roles_and_only_administrators_make_administrators(town):
    carl = town.person("Carl")
    for actor in (town.small.as_ada, carl):
        with pytest.raises(RefusedError) as refusal:
            give(town, actor, carl)
        assert refusal.value.status == 403
    with pytest.raises(RefusedError):
        town.act(grant, town.small.as_eva, RoleGrant(person_id=carl.id, role="administrator"))


def test_a_role_that_was_taken_away_is_gone_and_can_be_given_again(town):
    carl = town.person("Carl")
    first = give(town, town.small.as_eva, carl)
    assert give(town, town.small.as_eva, carl).id == first.id
    town.act(revoke, town.small.as_eva, person_id=carl.id, role="judge", campaign_id=town.campaign)
    assert town.ask(viewer, town.campaign, carl.id).roles == frozenset()
    with pytest.raises(RefusedError):
        town.act(revoke, town.small.as_eva, person_id=carl.id, role="judge", campaign_id=town.campaign)
    assert give(town, town.small.as_eva, carl).id != first.id
    assert town.ask(holders, town.campaign, ["judge"]) == (carl.id,)


@pytest.mark.parametrize("role", EXCLUDING)
def test_who_takes_part_or_asks_to_cannot_judge(town, role):
    asking = town.person("Carl")
    town.act(ask_to_join, asking, town.small.beta)
    for person in (town.small.as_alan, asking):
        with pytest.raises(RefusedError) as refusal:
            give(town, COMMAND, person, role)
        assert refusal.value.problems[0].rule == "X-4"


@pytest.mark.parametrize("role", EXCLUDING)
def test_who_judges_gets_into_no_team_by_any_door(town, role):
    carl = town.person("Carl")
    give(town, COMMAND, carl, role)
    doors = (
        lambda: town.act(ask_to_join, carl, town.small.alpha),
        lambda: town.act(ask_to_lead, carl, town.campaign),
        lambda: town.act(grant_team_maker, COMMAND, town.campaign, carl.id),
        lambda: town.act(create_team, COMMAND, town.campaign, NewTeam(name="Gamma"), pi=carl.id),
        lambda: town.act(invite, town.small.as_ada, town.small.alpha, mail="carl@example.org"),
        lambda: town.act(place_member, COMMAND, town.small.alpha, carl.id),
    )
    for door in doors:
        with pytest.raises(RefusedError) as refusal:
            door()
        assert refusal.value.problems[0].rule == "X-4"


def test_an_invitation_taken_up_after_a_role_was_given_is_refused(town):
    carl = town.person("Carl")
    town.act(invite, town.small.as_ada, town.small.alpha, mail="carl@example.org")
    with town.office.reading() as session:
        number = session.scalars(select(Message).where(Message.template == "invited")).one().data["link"]
    give(town, COMMAND, carl)
    with pytest.raises(RefusedError, match="judge"):
        town.act(accept_invitation, carl, link_secret(town.office.vault, number))


def test_a_request_approved_after_a_role_was_given_by_a_back_door_is_refused(town):
    from basanite.campaign.store.tables import Grant

    carl = town.person("Carl")
    asked = town.act(ask_to_join, carl, town.small.alpha)
    with town.office.writing() as session:
        now = town.office.clock()
        session.add(Grant(campaign_id=town.campaign, person_id=carl.id, role="judge", at=now, by="command"))
    with pytest.raises(RefusedError, match="judge"):
        town.act(decide_join, town.small.as_ada, asked.id, accept=True)


def test_an_exception_takes_two_organisers_and_a_reason_and_is_logged(town):
    alan, otto = town.small.as_alan, Actor(town.small.otto)
    with pytest.raises(RefusedError, match="reason"):
        town.act(ask_exception, town.small.as_eva, town.campaign, alan.id, reason=" ")
    row = town.act(ask_exception, town.small.as_eva, town.campaign, alan.id, reason="the only speaker")
    with pytest.raises(RefusedError):
        give(town, COMMAND, alan)
    for second in (town.small.as_eva, COMMAND, town.small.as_ada):
        with pytest.raises(RefusedError):
            town.act(second_exception, second, row.id)
    town.act(second_exception, otto, row.id)
    give(town, COMMAND, alan)
    assert "judge" in town.ask(viewer, town.campaign, alan.id).roles
    with town.office.reading() as session:
        logged = {event.kind: event for event in session.scalars(select(Event).where(Event.subject == row.id))}
        assert logged["exception.asked"].data["reason"] == "the only speaker"
        assert logged["exception.seconded"].actor == otto.id


def test_an_exception_that_ended_excepts_nobody(town):
    row = town.act(ask_exception, town.small.as_eva, town.campaign, town.small.alan, reason="the only speaker")
    town.act(second_exception, Actor(town.small.otto), row.id)
    town.act(end_exception, town.small.as_eva, row.id)
    with pytest.raises(RefusedError):
        give(town, COMMAND, town.small.as_alan)
    assert len(town.ask(exceptions, town.campaign)) == 1


def test_where_the_campaign_says_so_a_role_takes_two_people(two_people_town):
    town = two_people_town
    carl, eva, otto = town.person("Carl"), town.small.as_eva, town.small.otto
    for second in (None, eva.id, town.small.ada, "command"):
        with pytest.raises(RefusedError):
            give(town, eva, carl, seconded_by=second)
    assert give(town, eva, carl, seconded_by=otto).seconded_by == otto


def test_the_first_two_organisers_are_made_at_the_machine_and_no_third(sqlite_office):
    from basanite.campaign.actions.plans import add_campaign
    from basanite.campaign.people.persons import Newcomer, add_person
    from basanite.testing import small_campaign_text

    with sqlite_office.writing() as session:
        text = small_campaign_text(two_people=("role",))
        campaign = add_campaign(session, sqlite_office, COMMAND, text).id
        people = [
            add_person(session, sqlite_office, Newcomer(name=f"P{n}", mail=f"p{n}@example.org")).id for n in range(3)
        ]
        for person in people[:2]:
            grant(session, sqlite_office, COMMAND, RoleGrant(person_id=person, role="evaluation", campaign_id=campaign))
        with pytest.raises(RefusedError, match="two people"):
            grant(
                session, sqlite_office, COMMAND, RoleGrant(person_id=people[2], role="evaluation", campaign_id=campaign)
            )
        assert set(organisers(session, campaign)) == set(people[:2])


def test_a_role_and_a_place_given_at_the_same_moment_are_not_both_given(both_towns):
    town = both_towns
    people = [town.person(f"Carl{number}") for number in range(6)]

    def outcome(act):
        try:
            act()
        except RefusedError:
            return 0
        return 1

    with ThreadPoolExecutor(2) as pool:
        for carl in people:
            role = pool.submit(outcome, lambda carl=carl: give(town, town.small.as_eva, carl))
            place = pool.submit(outcome, lambda carl=carl: town.act(place_member, COMMAND, town.small.alpha, carl.id))
            assert role.result() + place.result() == 1


def test_rows_that_came_from_elsewhere_are_looked_through_for_conflicts(town):
    from basanite.campaign.people.roles import duty_conflicts
    from basanite.campaign.store.tables import Grant, Membership

    assert town.ask(duty_conflicts, town.campaign) == ()
    with town.office.writing() as session:
        now = town.office.clock()
        session.add(Grant(campaign_id=town.campaign, person_id=town.small.alan, role="judge", at=now, by="command"))
        session.add(Membership(team_id=town.small.beta, person_id=town.small.ada, state="active", asked=now))
    assert set(town.ask(duty_conflicts, town.campaign)) == {town.small.ada, town.small.alan}
