"""The campaign's file in versions: what opened is frozen, what departs from it is kept with who, why and when."""

import pytest

from basanite.campaign.actions import calendar, plans
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND
from basanite.campaign.store.tables import Event, Message
from basanite.errors import InvalidInputError
from basanite.testing import small_campaign_text

MILESTONE = '[[milestones]]\nid = "kickoff"\ntitle = "Kick-off"\nat = "2017-10-18 09:00"\nowner = "T&E"\n'


def changed(stage, old, new, reason="a reason"):
    with stage.office.writing() as session:
        text = plans.newest_version(session, stage.season.campaign_id).text
        assert old in text
        return plans.change_plan(
            session, stage.office, stage.season.as_eva, stage.season.slug, text.replace(old, new), reason=reason
        )


def deviations(stage):
    with stage.office.reading() as session:
        return plans.deviations(session, stage.season.campaign_id)


def test_a_campaign_is_added_once_and_found_by_slug_and_id(office):
    with office.writing() as session:
        row = plans.add_campaign(session, office, COMMAND, small_campaign_text(slug="fresh"))
        assert plans.current(session, "fresh").row.id == plans.current(session, row.id).row.id == row.id
        assert plans.current(session, "fresh").version == 1
        with pytest.raises(RefusedError) as twice:
            plans.add_campaign(session, office, COMMAND, small_campaign_text(slug="fresh"))
    assert twice.value.status == 409


def test_a_broken_file_is_refused_with_all_its_problems(sqlite_office):
    broken = small_campaign_text().replace("America/New_York", "Nowhere").replace('"week"', '"decade"', 1)
    with sqlite_office.writing() as session, pytest.raises(InvalidInputError) as refusal:
        plans.add_campaign(session, sqlite_office, COMMAND, broken)
    assert len(refusal.value.findings.problems) >= 2


def test_a_window_freezes_its_plan_when_it_opens_and_only_once(both):
    office, campaign = both.office, both.season.campaign_id
    with office.writing() as session:
        assert plans.freeze_opened(session, office) == 1
        assert plans.freeze_opened(session, office) == 0
        (frozen,) = plans.freezes(session, campaign)
    assert (frozen.window, frozen.plan_version, len(frozen.digest)) == ("dev", 1, 64)
    both.clock.set("2018-04-03 12:00")
    with office.writing() as session:
        assert plans.freeze_opened(session, office, campaign) == 1


def test_a_change_of_an_open_window_is_a_deviation_with_who_why_and_whether_results_were_known(stage):
    changed(stage, "count = 3", "count = 4")
    stage.submit()
    changed(stage, "count = 4", "count = 5", reason="the teams asked")
    first, second = deviations(stage)
    assert (first.results_known, second.results_known) == (False, True)
    assert (second.by, second.reason, second.window) == (stage.season.eva, "the teams asked", "dev")
    assert second.changes == [{"what": "window.quota.count", "from": 4, "to": 5}]
    assert (second.from_version, second.to_version) == (2, 3)


def test_a_change_of_claims_or_judging_touches_every_open_window_and_one_of_the_future_touches_none(stage):
    changed(stage, "count = 5", "count = 6", reason="")
    assert deviations(stage) == ()
    with pytest.raises(RefusedError) as refusal:
        changed(stage, "[[rules]]", '[judging]\nrule = "majority"\n\n[[rules]]', reason=" ")
    assert refusal.value.problems[0].rule == "P-28"
    changed(stage, "[[rules]]", '[judging]\nrule = "majority"\n\n[[rules]]')
    assert [one.changes[0]["what"] for one in deviations(stage)] == ["judging.rule"]


def test_an_extension_carries_a_reason_is_logged_and_mailed_to_every_member(both):
    office, season = both.office, both.season
    with office.writing() as session:
        extension = plans.Extension("dev", "2018-04-01 24:00 AoE", reason="the network was down")
        plan = plans.extend_window(session, office, season.as_eva, season.slug, extension)
        assert plan.campaign.window("dev").closes.zone == "AoE"
        event = session.query(Event).filter(Event.kind == "window.extended").one()
        mails = session.query(Message).filter(Message.template == "window_extended").all()
    assert event.data["reason"] == "the network was down"
    assert {mail.person_id for mail in mails} == {season.ada, season.alan, season.bea}
    assert plan.campaign.window("week") == plans.parse_plan(small_campaign_text()).window("week")


@pytest.mark.parametrize(
    ("closes", "reason"), [("2018-03-01 00:00", "why"), ("2018-05-01 00:00", " ")], ids=["earlier", "no reason"]
)
def test_an_extension_is_refused_if_it_ends_earlier_or_has_no_reason(stage, closes, reason):
    with stage.office.writing() as session, pytest.raises(RefusedError):
        plans.extend_window(
            session, stage.office, stage.season.as_eva, "small", plans.Extension("dev", closes, reason=reason)
        )


def test_only_organisers_change_the_plan(stage):
    with stage.office.writing() as session, pytest.raises(RefusedError) as refusal:
        plans.change_plan(session, stage.office, stage.season.as_ada, "small", small_campaign_text(), reason="mine")
    assert refusal.value.status == 403


def test_milestones_have_an_owner_and_a_state_whose_past_is_kept(stage):
    changed(stage, "[[rules]]", MILESTONE + "\n[[rules]]")
    campaign, eva = stage.season.campaign_id, stage.season.as_eva
    with stage.office.writing() as session:
        (before,) = calendar.milestones(session, campaign)
        assert (before.state, before.milestone.owner) == ("planned", "T&E")
        calendar.set_milestone_state(
            session, stage.office, eva, campaign, calendar.MilestoneUpdate("kickoff", "moved", "to November")
        )
        stage.clock.forward(days=1)
        calendar.set_milestone_state(session, stage.office, eva, campaign, calendar.MilestoneUpdate("kickoff", "done"))
        (after,) = calendar.milestones(session, campaign)
        assert (after.state, after.by) == ("done", stage.season.eva)
        assert session.query(Event).filter(Event.kind == "milestone.changed").count() == 2
        with pytest.raises(RefusedError):
            calendar.set_milestone_state(
                session, stage.office, eva, campaign, calendar.MilestoneUpdate("kickoff", "perhaps")
            )
