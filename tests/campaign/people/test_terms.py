"""Rules accepted, agreements signed, certificates of deletion, and the register of resources (M77, M82, M93, P-26)."""

import pytest
from sqlalchemy import select

from basanite.campaign.actions.packs import check_access, find_pack
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND
from basanite.campaign.people.agreements import (
    accept_rules,
    ask_for_deletion,
    certify_deletion,
    counter_sign,
    deletions,
    look_after_agreements,
    obligations,
    refuse_signature,
    rules_of_pack,
    sign,
    standing,
    unaccepted_rules,
)
from basanite.campaign.people.membership import place_member
from basanite.campaign.people.resources import (
    NewResource,
    declare,
    mark_shared,
    overdue,
    remind_of_resources,
    resources,
    shared_with_all,
    withdraw,
)
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Message, Signature

COPY = b"%PDF-1.7 signed"


def opened(town, actor, pack="TRAIN1"):
    """Whether a person may open a pack."""
    with town.office.reading() as session:
        seen = viewer(session, town.campaign, actor.id) if actor else VISITOR
        campaign = in_force(session, town.campaign).campaign
        try:
            check_access(session, town.office, seen, town.campaign, campaign, find_pack(campaign, pack))
        except RefusedError:
            return False
        return True


def state(town, team):
    with town.office.reading() as session:
        campaign = in_force(session, town.campaign).campaign
        return standing(session, campaign, team, "data", town.office.clock()).state


def new_version(town):
    with town.office.reading() as session:
        from basanite.campaign.store.tables import PlanVersion

        old = session.scalars(select(PlanVersion).order_by(PlanVersion.version.desc())).first().text
    town.change_plan(old.replace('version = "1"', 'version = "2"'))


def test_rules_are_accepted_per_person_and_version(both_towns):
    town = both_towns
    carl = town.person("Carl")
    assert [rules.id for rules in town.ask(unaccepted_rules, town.campaign, carl.id)] == ["usage"]
    town.act(accept_rules, carl, town.campaign, "usage", "1")
    assert town.ask(unaccepted_rules, town.campaign, carl.id) == ()
    town.act(accept_rules, carl, town.campaign, "usage", "1")
    new_version(town)
    assert [rules.version for rules in town.ask(unaccepted_rules, town.campaign, carl.id)] == ["2"]


def test_a_version_that_is_not_in_force_cannot_be_accepted_and_without_acceptance_nothing_opens(town):
    carl = town.person("Carl")
    for rules, version in (("usage", "0"), ("other", "1")):
        with pytest.raises(RefusedError):
            town.act(accept_rules, carl, town.campaign, rules, version)
    town.act(place_member, COMMAND, town.small.alpha, carl.id)
    assert not opened(town, carl, "DEV")
    town.act(accept_rules, carl, town.campaign, "usage", "1")
    assert opened(town, carl, "DEV")


def test_the_usage_rules_of_a_pack_are_data(town):
    with town.office.reading() as session:
        packs = {pack.id: pack for pack in in_force(session, town.campaign).campaign.packs}
    verdicts = {rule.name: rule.allowed for rule in rules_of_pack(packs["EVAL1"])}
    assert verdicts["score-locally"] is False
    assert any("harvested" in sentence for sentence in obligations())


def test_a_pack_is_open_only_to_members_of_teams_with_the_executed_version(both_towns):
    town = both_towns
    ada, alan, bea = town.small.as_ada, town.small.as_alan, town.small.as_bea
    assert not opened(town, ada)
    row = town.act(sign, ada, town.small.alpha, "data", copy=COPY)
    assert state(town, town.small.alpha) == "uploaded"
    assert not opened(town, ada)
    town.act(counter_sign, town.small.as_eva, row.id)
    assert (opened(town, ada), opened(town, alan), opened(town, bea), opened(town, None)) == (True, True, False, False)
    assert opened(town, town.small.as_eva)
    new_version(town)
    assert state(town, town.small.alpha) == "outdated"
    for actor in (ada, alan):
        town.act(accept_rules, actor, town.campaign, "usage", "2")
    assert not opened(town, ada)


def test_only_the_pi_signs_and_only_organisers_counter_sign_once(town):
    for actor in (town.small.as_alan, town.small.as_bea):
        with pytest.raises(RefusedError):
            town.act(sign, actor, town.small.alpha, "data", copy=COPY)
    for copy in (b"", b"<script>", b"MZ"):
        with pytest.raises(RefusedError):
            town.act(sign, town.small.as_ada, town.small.alpha, "data", copy=copy)
    with pytest.raises(RefusedError):
        town.act(sign, town.small.as_ada, town.small.alpha, "other", copy=COPY)
    row = town.act(sign, town.small.as_ada, town.small.alpha, "data", copy=COPY)
    with pytest.raises(RefusedError):
        town.act(counter_sign, town.small.as_ada, row.id)
    town.act(refuse_signature, town.small.as_eva, row.id, reason="not signed")
    with pytest.raises(RefusedError):
        town.act(counter_sign, town.small.as_eva, row.id)
    assert state(town, town.small.alpha) == "refused"


def test_an_agreement_ends_and_a_certificate_of_deletion_is_asked_for_tracked_and_given(town, clock):
    row = town.act(sign, town.small.as_ada, town.small.alpha, "data", copy=COPY)
    town.act(counter_sign, town.small.as_eva, row.id)
    clock.set("2018-06-02 00:00")
    assert not opened(town, town.small.as_ada)
    town.act(look_after_agreements, town.campaign)
    town.act(look_after_agreements, town.campaign)
    (asked,) = town.ask(deletions, town.campaign, clock())
    assert (asked.team, asked.certified, asked.overdue) == (town.small.alpha, None, False)
    clock.set("2018-07-02 00:00")
    town.act(look_after_agreements, town.campaign)
    (late,) = town.ask(deletions, town.campaign, clock())
    assert late.overdue
    with pytest.raises(RefusedError):
        town.act(certify_deletion, town.small.as_alan, row.id)
    town.act(certify_deletion, town.small.as_ada, row.id, copy=COPY)
    (done,) = town.ask(deletions, town.campaign, clock())
    assert (done.certified, done.overdue) == (clock(), False)
    with town.office.reading() as session:
        sent = [message.template for message in session.scalars(select(Message)) if message.person_id == town.small.ada]
        assert (sent.count("deletion_asked"), sent.count("deletion_overdue")) == (1, 1)
        assert session.get(Signature, row.id).state == "expired"


def test_deletion_is_asked_of_executed_agreements_by_organisers(town):
    row = town.act(sign, town.small.as_ada, town.small.alpha, "data", copy=COPY)
    with pytest.raises(RefusedError):
        town.act(ask_for_deletion, town.small.as_eva, row.id)
    town.act(counter_sign, town.small.as_eva, row.id)
    with pytest.raises(RefusedError):
        town.act(ask_for_deletion, town.small.as_ada, row.id)
    town.act(ask_for_deletion, town.small.as_eva, row.id)
    assert not opened(town, town.small.as_ada)


def declared(town, actor, **more):
    options = {"kind": "harvested", "description": "news pages", "used_in": "week", **more}
    return town.act(declare, actor, town.small.alpha, NewResource(**options))


def test_harvested_data_are_due_when_the_window_closes_and_bought_data_at_once(both_towns, clock):
    town = both_towns
    harvested = declared(town, town.small.as_alan)
    bought = declared(town, town.small.as_ada, kind="purchased", used_in="")
    declared(town, town.small.as_ada, kind="open_queries", used_in="")
    declared(town, town.small.as_ada, kind="adaptation", used_in="")
    assert [entry.id for entry in town.ask(overdue, town.campaign, clock())] == [bought.id]
    clock.set("2018-04-10 00:00")
    assert {entry.id for entry in town.ask(overdue, town.campaign, clock())} == {bought.id, harvested.id}
    assert town.act(remind_of_resources, town.campaign) == 2
    assert town.act(remind_of_resources, town.campaign) == 0
    town.act(mark_shared, town.small.as_ada, bought.id, where="https://example.org/data")
    assert [entry.id for entry in town.ask(overdue, town.campaign, clock())] == [harvested.id]
    assert [entry.id for entry in town.ask(shared_with_all, town.campaign, clock())] == [bought.id]
    assert len(town.ask(resources, town.campaign, clock(), team_id=town.small.alpha)) == 4


def test_a_window_that_closes_later_moves_what_is_due(town, clock):
    from basanite.campaign.actions.plans import Extension, extend_window

    declared(town, town.small.as_ada)
    with town.office.writing() as session:
        extend_window(
            session, town.office, COMMAND, town.campaign, Extension("week", "2018-04-15 24:00", reason="a power cut")
        )
    clock.set("2018-04-10 00:00")
    assert town.ask(overdue, town.campaign, clock()) == ()


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "stolen"}, {"description": " "}, {"used_in": "never"}, {"used_in": ""}],
    ids=lambda case: str(case),
)
def test_a_declaration_that_says_too_little_is_refused(town, wrong):
    with pytest.raises(RefusedError) as refusal:
        declared(town, town.small.as_ada, **wrong)
    assert refusal.value.problems[0].rule == "M93"


def test_resources_of_another_team_do_not_exist_and_withdrawn_ones_leave_the_list(town, clock):
    row = declared(town, town.small.as_ada)
    for act in (lambda: declared(town, town.small.as_bea), lambda: town.act(withdraw, town.small.as_bea, row.id)):
        with pytest.raises(RefusedError) as refusal:
            act()
        assert refusal.value.status == 404
    town.act(withdraw, town.small.as_ada, row.id)
    assert town.ask(resources, town.campaign, clock()) == ()
