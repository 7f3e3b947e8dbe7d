"""Results are let out level by level, each an act with its time; PIs certify or appeal before others see them."""

import pytest
from sqlalchemy import text
from tests.campaign.staging import staged

from basanite.campaign.actions import appeals, approvals, plans, releases, two_people, upkeep
from basanite.campaign.intake import standings
from basanite.campaign.jobs.queue import client
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.people.roles import viewer
from basanite.campaign.results import boards, facts, visibility
from basanite.campaign.store.tables import Batch, Event, Message, Receipt, Release
from basanite.testing import small_campaign_text

CLOSED = "2018-04-09 06:00"


@pytest.fixture
def over(stage):
    """The evaluation week is over: Alpha submitted a perfect primary run, Beta a silent one."""
    stage.clock.set("2018-04-03 12:00")
    runs = stage.submit("alpha", "perfect"), stage.submit("beta", "silent")
    stage.clock.set(CLOSED)
    return stage, runs


def level(stage, who, run):
    season = stage.season
    with stage.office.reading() as session:
        seen = VISITOR if who is None else viewer(session, season.campaign_id, getattr(season, who))
        try:
            found = visibility.result(session, stage.office, seen, run)
        except RefusedError:
            return "404"
        return "nothing" if found is None else found.level


def release(stage, what, reason="", **names):
    wanted = releases.LevelRelease("week", what, reason)
    return stage.do(releases.release, stage.season.as_eva, stage.season.campaign_id, wanted, **names)


def certify(stage):
    release(stage, "certification")
    stage.clock.forward(days=7)


def test_each_level_is_an_act_of_its_own_with_its_time(over):
    stage, (alpha, _) = over
    certify(stage)
    seen = []
    for what in ("top", "details", "e2e", "public"):
        stage.clock.forward(days=1)
        release(stage, what)
        seen.append([level(stage, who, alpha) for who in ("alan", "bea", None)])
    assert seen == [["top", "top", "404"], ["full", "full", "404"], ["full", "full", "404"], ["full", "full", "full"]]
    with stage.office.reading() as session:
        rows = releases.releases(session, stage.season.campaign_id, "week")
        assert [row.level for row in rows] == ["certification", "top", "details", "e2e", "public"]
        assert len({row.at for row in rows}) == 5
        assert session.query(Event).filter(Event.kind == "results.released").count() == 5


def test_a_level_before_its_turn_twice_or_of_an_open_window_is_refused(over):
    stage, _ = over
    with pytest.raises(RefusedError, match="no PI has seen"):
        release(stage, "top")
    release(stage, "certification")
    with pytest.raises(RefusedError, match="certification runs until"):
        release(stage, "top")
    stage.clock.forward(days=7)
    with pytest.raises(RefusedError, match="comes after"):
        release(stage, "details")
    release(stage, "top")
    for what in ("top", "certification", "everything"):
        with pytest.raises(RefusedError):
            release(stage, what)
    with pytest.raises(RefusedError):
        stage.do(
            releases.release, stage.season.as_ada, stage.season.campaign_id, releases.LevelRelease("week", "details")
        )


def test_an_open_blind_window_cannot_be_released_and_tells_a_team_only_that_its_run_is_valid(stage):
    stage.clock.set("2018-04-03 12:00")
    run = stage.submit("alpha", "perfect")
    with pytest.raises(RefusedError, match="the window, including its grace period, ends"):
        release(stage, "certification")
    assert (level(stage, "ada", run), level(stage, "bea", run), level(stage, "eva", run)) == ("nothing", "404", "full")
    with stage.office.reading() as session:
        ada = viewer(session, stage.season.campaign_id, stage.season.ada)
        seen = visibility.submission(session, stage.office, ada, run)
    assert (seen.state, seen.final, seen.result, seen.problems["valid"]) == ("accepted", True, None, True)


def test_in_certification_each_pi_sees_the_own_results_alone(over):
    stage, (alpha, beta) = over
    release(stage, "certification")
    assert [level(stage, who, alpha) for who in ("ada", "alan", "bea", None)] == ["full", "nothing", "404", "404"]
    assert level(stage, "bea", beta) == "full"
    with stage.office.reading() as session:
        told = session.query(Message).filter(Message.template == "results_to_certify").all()
        assert {one.person_id for one in told} == {stage.season.ada, stage.season.bea}
        ada = viewer(session, stage.season.campaign_id, stage.season.ada)
        board = visibility.board(
            session, stage.office, ada, stage.season.campaign_id, boards.Subject("week", "CLIR", language="1A")
        )
        assert [(row.own, row.ranks) for row in board.rows] == [(True, None)]
        assert board.left_out == {}


def test_a_pi_confirms_or_appeals_with_number_deadline_decision_and_reason(over):
    stage, (_, beta) = over
    campaign, ada, bea, eva = stage.season.campaign_id, stage.season.as_ada, stage.season.as_bea, stage.season.as_eva
    with pytest.raises(RefusedError, match="not been sent for certification"):
        stage.do(appeals.certify, ada, campaign, "week")
    release(stage, "certification")
    stage.do(appeals.certify, ada, campaign, "week")
    with pytest.raises(RefusedError, match="only a team's PI"):
        stage.do(appeals.certify, stage.season.as_alan, campaign, "week")
    first = stage.do(
        appeals.open_appeal, bea, campaign, appeals.Objection("week", "query 3 is wrong", submission_id=beta)
    )
    second = stage.do(appeals.open_appeal, bea, campaign, appeals.Objection("week", "and so is query 4"))
    assert (first.number, second.number) == (1, 2)
    assert first.deadline > stage.clock()
    stage.do(appeals.decide_appeal, eva, second.id, appeals.Decision(upheld=False, reason="it is not"))
    with pytest.raises(RefusedError):
        stage.do(appeals.decide_appeal, eva, second.id, appeals.Decision(upheld=True, reason="after all"))
    batch = stage.do(appeals.decide_appeal, eva, first.id, appeals.Decision(upheld=True, reason="it is wrong"))
    with stage.office.reading() as session:
        row = session.get(Batch, batch.id)
        assert (row.appeal_id, row.state) == (first.id, "running")
        states = {one.number: (one.state, one.decision) for one in appeals.appeals(session, campaign)}
    assert states == {1: ("upheld", "it is wrong"), 2: ("refused", "it is not")}


def test_a_release_lists_the_appeals_that_are_open_and_later_ones_come_too_late(over):
    stage, _ = over
    release(stage, "certification")
    stage.do(
        appeals.open_appeal, stage.season.as_bea, stage.season.campaign_id, appeals.Objection("week", "this is wrong")
    )
    stage.clock.forward(days=7)
    assert release(stage, "top").open_appeals == [1]
    with pytest.raises(RefusedError, match="the deadline was"):
        stage.do(
            appeals.open_appeal, stage.season.as_bea, stage.season.campaign_id, appeals.Objection("week", "and this")
        )


def test_a_release_takes_two_people_where_the_campaign_says_so(sqlite_office, clock, pack):
    stage = staged(sqlite_office, clock, pack, two_people=("release", "void"))
    clock.set("2018-04-03 12:00")
    run = stage.submit("alpha", "perfect")
    clock.set(CLOSED)
    campaign, eva = stage.season.campaign_id, stage.season.as_eva
    with pytest.raises(RefusedError, match="two people"):
        release(stage, "certification")
    with pytest.raises(RefusedError):
        release(stage, "certification", seconded_by=stage.season.eva)
    with pytest.raises(RefusedError):
        release(stage, "certification", seconded_by=stage.season.ada)
    asked = stage.do(releases.ask, eva, campaign, releases.LevelRelease("week", "certification", reason="it is time"))
    with stage.office.reading() as session:
        assert [one.id for one in two_people.waiting_requests(session, campaign)] == [asked.id]
        assert session.query(Release).count() == 0
    stage.do(approvals.agree, Actor(stage.season.otto), asked.id)
    with stage.office.reading() as session:
        row = session.query(Release).one()
        assert (row.by, row.seconded_by) == (stage.season.eva, stage.season.otto)
    void = stage.do(approvals.ask_to_void, eva, campaign, run, reason="it was copied")
    stage.do(approvals.refuse, Actor(stage.season.otto), void.id)
    with pytest.raises(RefusedError):
        stage.do(approvals.agree, Actor(stage.season.otto), void.id)
    with pytest.raises(RefusedError):
        stage.do(standings.disqualify, eva, run, reason="it was copied")


def test_a_run_without_the_description_its_track_requires_is_held_back_until_it_has_one(sqlite_office, clock, pack):
    track = '[[tracks]]\nid = "open"\ntitle = "Open"\nrequired = ["text", "data"]\n'
    stage = staged(sqlite_office, clock, pack, more=track)
    clock.set("2018-04-03 12:00")
    bare = stage.submit("alpha", "perfect", track="open", description={"text": "a system"})
    full = stage.submit("beta", "silent", track="open", description={"text": "a system", "data": "none"})
    clock.set(CLOSED)
    certify(stage)
    with stage.office.reading() as session:
        ready = releases.readiness(session, stage.office, stage.season.campaign_id, "week", "top")
    assert (ready.held, ready.obstacles) == ((bare,), ())
    release(stage, "top")
    assert (level(stage, "ada", bare), level(stage, "bea", full), level(stage, "ada", full)) == (
        "nothing",
        "full",
        "top",
    )
    with stage.office.reading() as session:
        ada = viewer(session, stage.season.campaign_id, stage.season.ada)
        subject = boards.Subject("week", "CLIR", language="1A", track="open")
        board = visibility.board(session, stage.office, ada, stage.season.campaign_id, subject)
    assert board.left_out == {"description incomplete": 1}


def test_score_receipts_are_made_when_results_are_released_and_not_before(over):
    stage, (alpha, beta) = over
    assert upkeep.sign(stage.office) == 0
    certify(stage)
    release(stage, "top")
    assert upkeep.sign(stage.office) == 2
    assert upkeep.sign(stage.office) == 0
    with stage.office.reading() as session:
        made = session.query(Receipt).filter(Receipt.kind == "score").all()
    assert {one.submission_id for one in made} == {alpha, beta}


def test_looking_for_receipts_touches_only_what_has_none(both):
    stage = both
    for label in ("one", "two", "three"):
        stage.submit("alpha", "perfect", label=label, kind="contrastive")
    stage.clock.set("2018-04-03 12:00")
    stage.submit("alpha", "perfect")
    assert upkeep.sign(stage.office) == 3
    with stage.office.writing() as session:
        windows = ["dev"]
        question = upkeep.without_receipt(stage.season.campaign_id, windows)
        assert session.scalars(question).all() == [], "blind and signed ones are not loaded"
        if stage.office.database.is_sqlite:
            sql = question.compile(session.get_bind(), compile_kwargs={"literal_binds": True})
            plan = " ".join(str(row) for row in session.execute(text(f"EXPLAIN QUERY PLAN {sql}")))
            assert "ix_submissions_unsigned" in plan, plan
    stage.clock.set(CLOSED)
    certify(stage)
    release(stage, "top")
    assert (upkeep.sign(stage.office), upkeep.sign(stage.office)) == (1, 0)


def test_a_comparison_that_failed_is_asked_for_again_on_another_day_or_by_an_organiser(over):
    stage, _ = over
    certify(stage)
    release(stage, "top")
    campaign, eva = stage.season.campaign_id, stage.season.as_eva
    assert (upkeep.compare(stage.office), len(asked(stage))) == (1, 1)
    assert (upkeep.compare(stage.office), len(asked(stage))) == (1, 1)
    for number in range(facts.MOST_TURNS):
        assert stage.do(upkeep.compare_again, eva, campaign) == 1
        assert len(asked(stage)) == number + 2
    with pytest.raises(RefusedError, match="already requested"):
        stage.do(upkeep.compare_again, eva, campaign)
    with pytest.raises(RefusedError):
        stage.do(upkeep.compare_again, stage.season.as_ada, campaign)
    stage.clock.forward(days=1)
    assert upkeep.compare(stage.office) == 1
    assert len(asked(stage)) == facts.MOST_TURNS + 2
    stage.compare_all()
    assert (upkeep.compare(stage.office), stage.do(upkeep.compare_again, eva, campaign)) == (0, 0)


def asked(stage):
    """The keys of all comparisons that were ever asked for."""
    return {job.workflow_id for job in client(stage.office).list_workflows(name="compare")}


def test_plans_of_opened_windows_are_frozen_by_the_duty(over):
    stage, _ = over
    upkeep.freeze(stage.office)
    with stage.office.reading() as session:
        assert {one.window for one in plans.freezes(session, stage.season.campaign_id)} == {"dev", "week"}


def test_where_the_plan_fixes_moments_a_release_takes_effect_and_is_told_at_the_next_of_them(
    sqlite_office, clock, pack
):
    text = small_campaign_text().replace(
        'certification = "7 days"', 'certification = "0 min"\nresults_at = ["2018-04-16 09:00"]'
    )
    stage = staged(sqlite_office, clock, pack)
    stage.do(plans.change_plan, stage.season.as_eva, "small", text, reason="fixed moments")
    clock.set("2018-04-03 12:00")
    run = stage.submit("alpha", "perfect")
    clock.set(CLOSED)
    release(stage, "top")
    assert level(stage, "ada", run) == "nothing"
    with stage.office.reading() as session:
        mail = session.query(Message).filter(Message.template == "results_released").first()
        assert f"{mail.due:%Y-%m-%d %H:%M}" == "2018-04-16 13:00"
    clock.set("2018-04-16 13:00")
    assert level(stage, "ada", run) == "top"
