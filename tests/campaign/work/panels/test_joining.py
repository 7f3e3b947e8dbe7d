"""Joining and leaving: consent first, what is declared is respected, and anyone who leaves is settled."""

import pytest
from sqlalchemy import select, text
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.membership import place_member
from basanite.campaign.people.persons import personal
from basanite.campaign.people.privacy import erase_person, export_person
from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import Assignment, Message, PanelConsent
from basanite.campaign.work.panels import enrolment, judge_work, payroll, setup
from basanite.campaign.work.panels.lookup import find_seat

YES = {"verdict": "R"}


def planned(bench, panel, judge, state="planned"):
    with bench.office.reading() as session:
        mine = select(Assignment.item_id).where(
            Assignment.panel_id == panel, Assignment.person_id == bench.person(judge), Assignment.state == state
        )
        return set(session.scalars(mine))


def test_consent_comes_before_the_first_item_and_a_changed_text_asks_again(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    jo = bench.actor("jo")
    found = bench.desk(panel, "jo")
    assert (found.stage, found.blocks, found.assignment) == ("consent", (), "")
    bench.do(enrolment.consent, jo, panel, "1")
    assert bench.desk(panel, "jo").stage == "declare"
    bench.do(enrolment.declare, jo, panel)
    assert bench.desk(panel, "jo").stage == "item"
    newer = verdict_scheme(consent="2")
    bench.do(setup.change_scheme, bench.season.as_eva, panel, newer, reason="pay is told more clearly")
    assert bench.desk(panel, "jo").stage == "consent"
    with pytest.raises(RefusedError, match="has changed"):
        bench.do(enrolment.consent, jo, panel, "1")
    bench.do(enrolment.consent, jo, panel, "2")
    bench.do(enrolment.consent, jo, panel, "2")
    assert bench.desk(panel, "jo").stage == "item"
    with bench.office.reading() as session:
        kept = session.scalars(select(PanelConsent).order_by(PanelConsent.at, PanelConsent.version)).all()
    assert [(row.version, row.person_id, row.kind) for row in kept] == [("1", jo.id, "given"), ("2", jo.id, "given")]
    assert kept[0].digest != "" != kept[1].digest


def test_withdrawal_stops_work_settles_it_and_gives_the_rest_to_others(bench):
    panel = bench.panel(verdict_scheme(per_item=2), pairs(6), ["jo", "kim", "lu"])
    jo = bench.begin(panel, "jo")
    bench.say(panel, "jo", YES, seconds=36)
    before = planned(bench, panel, "jo")
    bench.do(enrolment.withdraw, jo, panel)
    assert (bench.desk(panel, "jo").stage, bench.desk(panel, "jo").why) == ("closed", "withdrawn")
    assert planned(bench, panel, "jo") == set()
    assert before
    left = planned(bench, panel, "kim") | planned(bench, panel, "lu")
    assert before <= left
    with bench.office.reading() as session:
        done = payroll.settlement(bench.office, find_seat(session, panel, jo.id))
    assert (done.items, done.pay, done.currency) == (1, "0.50", "EUR")
    with pytest.raises(RefusedError):
        bench.do(
            judge_work.answer, jo, panel, bench.desk(panel, "kim").assignment or "x", judge_work.Answer(YES, key="late")
        )


def test_after_coming_back_a_judge_consents_anew(bench):
    panel = bench.panel(verdict_scheme(), pairs(4), ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    bench.do(enrolment.withdraw, jo, panel)
    bench.do(enrolment.enrol, bench.season.as_eva, panel, jo.id)
    assert bench.desk(panel, "jo").stage == "consent"
    bench.do(enrolment.consent, jo, panel, "1")
    found = bench.desk(panel, "jo")
    assert (found.stage, found.done) == ("item", 1)


def test_items_of_a_team_with_a_conflict_go_to_somebody_else(bench):
    alpha, beta = bench.season.alpha, bench.season.beta
    items = [*pairs(4, team=alpha), *pairs(4, start=10, team=beta)]
    merged = pairs(1, start=10, team=alpha)  # equal to one of Beta's: judged once, so it is Alpha's, too
    panel = bench.panel(verdict_scheme(), [*items, *merged], ["jo", "kim", "lu"])
    bench.begin(panel, "jo", conflicts=["Alpha"])
    theirs = {item.id for item in items[:4]} | {items[4].id}
    assert not planned(bench, panel, "jo") & theirs
    assert len(planned(bench, panel, "kim") & theirs) == len(planned(bench, panel, "lu") & theirs) == len(theirs)
    with pytest.raises(RefusedError, match="no such team"):
        bench.do(enrolment.declare, bench.actor("kim"), panel, conflicts=["Gamma"])


def test_items_in_a_language_a_judge_does_not_know_go_to_others(bench):
    items = [*pairs(3, language="sw"), *pairs(3, start=10, language="tl")]
    panel = bench.panel(verdict_scheme(), items, ["jo", "kim", "lu"])
    bench.begin(panel, "jo", languages=["sw"])
    assert planned(bench, panel, "jo") <= {item.id for item in items[:3]}
    assert bench.ask(enrolment.declared_by, panel, bench.person("jo")).languages == ("sw",)


def test_members_of_teams_do_not_judge_and_judges_join_no_team(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), opened=False)
    with pytest.raises(RefusedError, match="in a team of the campaign"):
        bench.do(enrolment.enrol, bench.season.as_eva, panel, bench.season.alan)
    bench.do(enrolment.enrol, bench.season.as_eva, panel, bench.person("jo"))
    with bench.office.reading() as session:
        assert "judge" in viewer(session, bench.season.campaign_id, bench.person("jo")).roles
    with pytest.raises(RefusedError, match="cannot be in one of its teams"):
        bench.do(place_member, bench.season.as_eva, bench.season.alpha, bench.person("jo"))
    for stranger in (bench.season.as_ada, bench.actor("jo")):
        with pytest.raises(RefusedError) as refusal:
            bench.do(enrolment.enrol, stranger, panel, bench.person("kim"))
        assert refusal.value.status == 403


def test_late_judges_get_their_share_and_nothing_that_was_begun_moves(bench):
    panel = bench.panel(verdict_scheme(per_item=1), pairs(24), ["jo"])
    bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    begun = {bench.desk(panel, "jo").round}
    bench.do(enrolment.enrol, bench.season.as_eva, panel, bench.person("kim"))
    mine, theirs = planned(bench, panel, "jo"), planned(bench, panel, "kim")
    assert begun == {1}
    assert theirs
    assert not mine & theirs
    assert len(mine | theirs) == 23


def test_a_judge_can_be_taken_off_with_a_reason_and_is_paid(bench):
    panel = bench.panel(verdict_scheme(), pairs(4), ["jo", "kim", "lu"])
    jo = bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    with pytest.raises(RefusedError, match="reason"):
        bench.do(enrolment.remove, bench.season.as_eva, panel, jo.id, reason=" ")
    bench.do(enrolment.remove, bench.season.as_eva, panel, jo.id, reason="asked for it by telephone")
    assert bench.desk(panel, "jo").why == "removed"
    with bench.office.reading() as session:
        assert payroll.settlement(bench.office, find_seat(session, panel, jo.id)).items == 1


def test_judges_are_told_once_that_there_is_something_to_judge(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo"])
    bench.do(enrolment.enrol, bench.season.as_eva, panel, bench.person("kim"))
    bench.do(enrolment.declare, bench.actor("jo"), panel, languages=["1A"])
    with bench.office.reading() as session:
        sent = session.scalars(select(Message).where(Message.template == "judging_assigned")).all()
    assert sorted(row.person_id for row in sent) == sorted([bench.person("jo"), bench.person("kim")])


def test_what_a_judge_declared_and_is_owed_is_forgotten_with_the_person(both):
    panel = both.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    jo = both.begin(panel, "jo", languages=["Tagalog"], conflicts=["Beta"])
    both.say(panel, "jo", YES)
    with both.office.reading() as session:
        raw = session.execute(text("select declared from panel_seats where person_id = :who"), {"who": jo.id}).scalar()
    assert b"Tagalog" not in bytes(raw)
    told = both.do(export_person, jo, jo.id)
    assert told["rows"]["panel_seats"][0]["consent_version"] == "1"
    assert len(told["rows"]["judgements"]) == 1
    assert told["judging"] == [
        {"panel": panel, "declared": {"languages": ["Tagalog"], "conflicts": [both.season.beta]}}
    ]
    both.do(enrolment.withdraw, jo, panel)
    both.do(erase_person, jo, jo.id)
    with both.office.reading() as session:
        seat = find_seat(session, panel, jo.id)
        assert payroll.settlement(both.office, seat) is None
        assert enrolment.declared_by(session, both.office, panel, jo.id) is None
        assert personal(session, both.office, jo.id).name == "erased"


def test_my_panels_shows_own_work_alone(bench):
    panel = bench.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    with bench.office.reading() as session:
        (mine,) = enrolment.my_panels(session, bench.person("jo"))
        assert enrolment.my_panels(session, bench.season.ada) == ()
    assert (mine.name, mine.slug, mine.done, mine.of, mine.state) == ("first", "small", 1, 3, "open")
