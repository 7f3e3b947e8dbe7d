"""How teams are asked for, made, joined, handed over, left, merged and split (M61, P-34, X-7)."""

import pytest
from sqlalchemy import select

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.notices.outbox import send_due
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people import links
from basanite.campaign.people.membership import (
    Split,
    accept_invitation,
    ask_to_join,
    decide_join,
    hand_over,
    invite,
    leave,
    merge,
    place_member,
    split,
)
from basanite.campaign.people.roles import viewer
from basanite.campaign.people.teams import (
    NewTeam,
    allow_naming,
    ask_to_lead,
    create_team,
    decide_lead,
    grant_team_maker,
    members,
)
from basanite.campaign.store.tables import Link, Message, Team
from basanite.campaign.store.vault import link_secret


def told(town, template):
    with town.office.reading() as session:
        rows = session.scalars(select(Message).where(Message.template == template)).all()
        return {row.person_id for row in rows}


def leading(town, name="Carla", team="Gamma"):
    """A person who led a team through all steps."""
    carla = town.person(name)
    request = town.act(ask_to_lead, carla, town.campaign)
    town.act(decide_lead, town.small.as_eva, request.id, accept=True)
    return carla, town.act(create_team, carla, town.campaign, NewTeam(name=team, site="Graz")).id


def test_a_team_is_asked_for_granted_made_and_joined_with_a_mail_at_each_step(both_towns):
    town = both_towns
    carla, team = leading(town)
    carl = town.person("Carl")
    asked = town.act(ask_to_join, carl, team, site="Wien")
    assert town.ask(viewer, town.campaign, carl.id).team is None
    town.act(decide_join, carla, asked.id, accept=True)
    seen = town.ask(viewer, town.campaign, carl.id)
    assert (seen.team, seen.pi) == (team, False)
    assert [(member.role, member.site) for member in town.ask(members, team)] == [("pi", "Graz"), ("member", "Wien")]
    assert told(town, "lead_asked") == {town.small.eva, town.small.otto}
    assert told(town, "lead_granted") == {carla.id}
    assert told(town, "join_asked") == {carla.id}
    assert told(town, "join_approved") == {carl.id, town.small.alan}


def test_without_leave_no_team_and_without_approval_no_place(town):
    carla = town.person("Carla")
    with pytest.raises(RefusedError, match="approval of an organizer"):
        town.act(create_team, carla, town.campaign, NewTeam(name="Gamma"))
    request = town.act(ask_to_lead, carla, town.campaign)
    town.act(decide_lead, town.small.as_eva, request.id, accept=False, reason="too late")
    with pytest.raises(RefusedError):
        town.act(create_team, carla, town.campaign, NewTeam(name="Gamma"))
    asked = town.act(ask_to_join, carla, town.small.alpha)
    with pytest.raises(RefusedError) as refusal:
        town.act(decide_join, town.small.as_bea, asked.id, accept=True)
    assert refusal.value.status == 404
    with pytest.raises(RefusedError) as refusal:
        town.act(decide_join, town.small.as_alan, asked.id, accept=True)
    assert refusal.value.status == 403
    town.act(decide_join, town.small.as_ada, asked.id, accept=False)
    assert town.ask(viewer, town.campaign, carla.id).team is None
    with pytest.raises(RefusedError, match="already decided"):
        town.act(decide_join, town.small.as_ada, asked.id, accept=True)


def test_only_organisers_decide_who_leads_and_once(town):
    carla = town.person("Carla")
    request = town.act(ask_to_lead, carla, town.campaign)
    assert town.act(ask_to_lead, carla, town.campaign).id == request.id
    with pytest.raises(RefusedError):
        town.act(decide_lead, town.small.as_bea, request.id, accept=True)
    town.act(grant_team_maker, COMMAND, town.campaign, carla.id)
    with pytest.raises(RefusedError, match="already granted"):
        town.act(decide_lead, town.small.as_eva, request.id, accept=True)


def test_leave_to_make_a_team_is_used_up(town):
    carla, team = leading(town)
    town.act(leave, carla, team)
    assert "team_maker" not in town.ask(viewer, town.campaign, carla.id).roles
    with pytest.raises(RefusedError, match="approval of an organizer"):
        town.act(create_team, carla, town.campaign, NewTeam(name="Delta"))


def test_one_person_is_in_one_team_of_a_campaign(both_towns):
    town = both_towns
    carl = town.person("Carl")
    town.act(ask_to_join, carl, town.small.alpha)
    for attempt in (
        lambda: town.act(ask_to_join, carl, town.small.beta),
        lambda: town.act(ask_to_join, town.small.as_alan, town.small.beta),
        lambda: town.act(place_member, COMMAND, town.small.beta, carl.id),
        lambda: town.act(ask_to_lead, town.small.as_alan, town.campaign),
    ):
        with pytest.raises(RefusedError) as refusal:
            attempt()
        assert refusal.value.problems[0].rule == "X-7"


def test_who_took_a_request_back_may_ask_elsewhere(town):
    carl = town.person("Carl")
    town.act(ask_to_join, carl, town.small.alpha)
    town.act(leave, carl, town.small.alpha)
    town.act(ask_to_join, carl, town.small.beta)
    assert [one.person for one in town.ask(members, town.small.beta, states=("asked",))] == [carl.id]
    assert town.ask(members, town.small.alpha, states=("asked",)) == ()


def test_an_invitation_works_once_for_the_account_it_was_made_for(town):
    carl, other = town.person("Carl"), town.person("Other")
    town.act(invite, town.small.as_ada, town.small.alpha, mail="CARL@example.org ")
    secret = mailed_secret(town, "invited")
    with pytest.raises(RefusedError) as refusal:
        town.act(accept_invitation, other, secret)
    assert refusal.value.status == 404
    town.act(accept_invitation, carl, secret)
    assert town.ask(viewer, town.campaign, carl.id).team == town.small.alpha
    with pytest.raises(RefusedError):
        town.act(accept_invitation, carl, secret)


def mailed_secret(town, template):
    with town.office.reading() as session:
        message = session.scalars(select(Message).where(Message.template == template)).one()
        return link_secret(town.office.vault, message.data["link"])


def test_links_are_short_lived_and_their_secrets_are_not_in_the_database(town, clock):
    carl = town.person("Carl")
    made = town.act(links.make_link, "reset", person_id=carl.id)
    with town.office.reading() as session:
        row = session.scalars(select(Link).where(Link.purpose == "reset")).one()
        assert made.secret not in str(vars(row))
    clock.forward(hours=1)
    with pytest.raises(RefusedError):
        town.act(links.use_link, made.secret, "reset", person_id=carl.id)


def test_a_newer_link_ends_the_older_and_a_purpose_is_not_another(town):
    carl = town.person("Carl")
    old = town.act(links.make_link, "reset", person_id=carl.id)
    new = town.act(links.make_link, "reset", person_id=carl.id)
    for secret, purpose in ((old.secret, "reset"), (new.secret, "invitation"), ("nonsense", "reset")):
        with pytest.raises(RefusedError):
            town.act(links.use_link, secret, purpose, person_id=carl.id)
    town.act(links.use_link, new.secret, "reset", person_id=carl.id)


def test_the_mail_to_the_pi_leads_to_the_page_that_decides(town):
    _, team = leading(town)
    carl = town.person("Carl")
    town.act(ask_to_join, carl, team)
    send_due(town.office)
    texts = [path.read_text() for path in (town.office.settings.data / "outbox").iterdir()]
    mail = next(text for text in texts if "Carl asks to join" in text)
    assert "To: carla@example.org" in mail
    assert "/campaigns/small/team#waiting" in mail.replace("=\n", "")


def test_a_pi_hands_over_and_then_may_leave(town):
    ada, alan, alpha = town.small.as_ada, town.small.as_alan, town.small.alpha
    town.act(allow_naming, ada, alpha, agrees=True)
    with pytest.raises(RefusedError, match="hand"):
        town.act(leave, ada, alpha)
    with pytest.raises(RefusedError):
        town.act(hand_over, alan, alpha, to=alan.id)
    town.act(hand_over, ada, alpha, to=alan.id)
    assert town.ask(viewer, town.campaign, alan.id).pi
    assert not town.ask(viewer, town.campaign, ada.id).pi
    with town.office.reading() as session:
        assert session.get(Team, alpha).named_consent is None
    town.act(leave, ada, alpha)
    town.act(leave, alan, alpha)
    with town.office.reading() as session:
        assert session.get(Team, alpha).state == "left"


def test_a_pi_removes_a_member_and_a_member_removes_nobody(town):
    with pytest.raises(RefusedError):
        town.act(leave, town.small.as_alan, town.small.alpha, person_id=town.small.ada)
    with pytest.raises(RefusedError):
        town.act(leave, town.small.as_bea, town.small.alpha, person_id=town.small.alan)
    town.act(leave, town.small.as_ada, town.small.alpha, person_id=town.small.alan)
    assert town.ask(viewer, town.campaign, town.small.alan).team is None


def test_merged_teams_are_one_and_nobody_is_lost(both_towns):
    town = both_towns
    with pytest.raises(RefusedError):
        town.act(merge, town.small.as_ada, town.small.beta, into=town.small.alpha)
    town.act(merge, town.small.as_eva, town.small.beta, into=town.small.alpha)
    assert {member.person for member in town.ask(members, town.small.alpha)} == {
        town.small.ada,
        town.small.alan,
        town.small.bea,
    }
    assert [member.person for member in town.ask(members, town.small.alpha) if member.role == "pi"] == [town.small.ada]
    with town.office.reading() as session:
        old = session.get(Team, town.small.beta)
        assert (old.state, old.successor) == ("merged", town.small.alpha)
    with pytest.raises(RefusedError):
        town.act(ask_to_join, town.person("Carl"), town.small.beta)


def test_a_team_is_split_by_organisers_alone(town):
    with pytest.raises(RefusedError):
        town.act(split, town.small.as_ada, town.small.alpha, Split(name="Aleph", pi=town.small.alan))
    with pytest.raises(RefusedError, match="cannot leave"):
        town.act(split, town.small.as_eva, town.small.alpha, Split(name="Aleph", pi=town.small.ada))
    new = town.act(split, town.small.as_eva, town.small.alpha, Split(name="Aleph", pi=town.small.alan))
    seen = town.ask(viewer, town.campaign, town.small.alan)
    assert (seen.team, seen.pi) == (new.id, True)
    assert [member.person for member in town.ask(members, town.small.alpha)] == [town.small.ada]


def test_only_the_pi_agrees_to_be_named_and_may_change_it(town):
    for actor in (town.small.as_eva, COMMAND, town.small.as_alan, Actor(town.small.bea)):
        with pytest.raises(RefusedError):
            town.act(allow_naming, actor, town.small.alpha, agrees=True)
    agreed = town.act(allow_naming, town.small.as_ada, town.small.alpha, agrees=True)
    assert (agreed.named_consent, agreed.named_by) == (town.office.clock(), town.small.ada)
    assert town.act(allow_naming, town.small.as_ada, town.small.alpha, agrees=False).named_consent is None


def test_pseudonyms_are_random_and_tell_nothing_of_name_or_order(town):
    _, team = leading(town)
    _, other = leading(town, "Dora", "Delta")
    with town.office.reading() as session:
        first, second = session.get(Team, team), session.get(Team, other)
        assert first.pseudonym != second.pseudonym
        assert "gamma" not in first.pseudonym.lower()
        assert (first.code, second.code) == ("Gamma", "Delta")


@pytest.mark.parametrize(
    "name", ["Αlpha", "ALPHA", "A1pha", "Al pha", "Bèta", "B3ta", "Al\u202epha", "a" * 99, "!!", ""]
)
def test_a_name_that_looks_like_anothers_or_mixes_scripts_is_refused(town, name):
    with pytest.raises(RefusedError) as refusal:
        leading(town, team=name)
    assert refusal.value.problems[0].rule in ("X-14", "M56")


def test_a_name_in_another_script_needs_a_team_id_of_its_own(town):
    carla = town.person("Carla")
    town.act(grant_team_maker, COMMAND, town.campaign, carla.id)
    with pytest.raises(RefusedError, match="TeamID"):
        town.act(create_team, carla, town.campaign, NewTeam(name="Команда"))
    made = town.act(create_team, carla, town.campaign, NewTeam(name="Команда", code="Komanda7"))
    assert (made.name, made.code) == ("Команда", "Komanda7")
