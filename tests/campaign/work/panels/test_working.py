"""A judge's work: one step after the other, nothing lost and nothing doubled."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from tests.campaign.work.panels.conftest import STARS, pair, pairs, passages, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Assignment, Event, Judgement
from basanite.campaign.work.panels import enrolment, judge_work, setup
from basanite.campaign.work.panels.desk import judge_desk, look_again
from basanite.campaign.work.panels.judgements import counted_judgements

YES, NO = {"verdict": "R"}, {"verdict": "N"}


def count(office, table=Judgement):
    with office.reading() as session:
        return session.scalar(select(func.count()).select_from(table))


def test_a_round_goes_from_stars_to_ranks_to_criteria_and_ends_with_a_break(bench):
    panel = bench.panel(STARS, passages(20), ["jo:expert", "kim:novice"])
    jo = bench.begin(panel, "jo")
    for position in range(1, 11):
        found = bench.desk(panel, "jo")
        assert (found.stage, found.round, found.position, found.in_round) == ("item", 1, position, 10)
        bench.say(panel, "jo", {"rating": 1 + position % 5})
    found = bench.desk(panel, "jo")
    assert found.stage == "rank"
    order = [one.item for one in sorted(found.placed, key=lambda one: -one.answers["rating"])]
    bench.do(judge_work.rank, jo, panel, judge_work.RoundReply(1, order, key="ranked"))
    assert bench.desk(panel, "jo").stage == "criteria"
    bench.do(judge_work.criteria, jo, panel, judge_work.RoundReply(1, ["short sentences", " "], key="listed"))
    assert bench.desk(panel, "jo").stage == "break"
    bench.do(judge_work.go_on, jo, panel)
    assert (bench.desk(panel, "jo").stage, bench.desk(panel, "jo").round) == ("item", 2)
    assert (bench.desk(panel, "jo").done, bench.desk(panel, "jo").of) == (10, 20)


def test_novices_list_no_criteria(bench):
    panel = bench.panel(STARS, passages(2), ["kim:novice"])
    kim = bench.begin(panel, "kim")
    bench.say_all(panel, "kim", lambda found: {"rating": 3})
    order = [one.item for one in bench.desk(panel, "kim").placed]
    bench.do(judge_work.rank, kim, panel, judge_work.RoundReply(1, order, key="ranked"))
    assert bench.desk(panel, "kim").stage == "done"


def test_an_answer_that_is_sent_again_is_stored_once(both):
    panel = both.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    jo = both.begin(panel, "jo")
    at = both.desk(panel, "jo").assignment
    first = both.do(judge_work.answer, jo, panel, at, judge_work.Answer(YES, key="one", seconds=2))
    again = both.do(judge_work.answer, jo, panel, at, judge_work.Answer(YES, key="one", seconds=9))
    other_tab = both.do(judge_work.answer, jo, panel, at, judge_work.Answer(YES, key="two", seconds=9))
    assert {again.judgement_id, other_tab.judgement_id} == {first.judgement_id}
    assert (first.repeated, again.repeated, other_tab.repeated) == (False, True, True)
    assert count(both.office) == 1
    for key in ("one", "two"):
        with pytest.raises(RefusedError, match="already has a different answer") as refusal:
            both.do(judge_work.answer, jo, panel, at, judge_work.Answer(NO, key=key))
        assert refusal.value.status == 409
    assert count(both.office) == 1


def test_of_many_answers_at_the_same_moment_one_is_stored(both):
    panel = both.panel(verdict_scheme(per_item=1), pairs(4), ["jo"])
    jo = both.begin(panel, "jo")
    for number in range(4):
        at = both.desk(panel, "jo").assignment

        def send(tab, at=at, number=number):
            answers = YES if tab % 2 else NO
            try:
                return both.do(
                    judge_work.answer, jo, panel, at, judge_work.Answer(answers, key=f"{number}-{tab % 3}")
                ).judgement_id
            except RefusedError as error:
                return error.status

        with ThreadPoolExecutor(8) as pool:
            given = set(pool.map(send, range(8)))
        assert len(given - {409}) == 1
        assert count(both.office) == number + 1
    assert both.desk(panel, "jo").stage == "done"


def test_the_last_answer_can_be_corrected_until_its_round_ends(bench):
    panel = bench.panel(STARS, passages(3), ["kim:novice"])
    kim = bench.begin(panel, "kim")
    bench.say(panel, "kim", {"rating": 1})
    first = bench.desk(panel, "kim").last
    bench.do(judge_work.correct, kim, panel, first, judge_work.Answer({"rating": 5}, key="better"))
    bench.do(judge_work.correct, kim, panel, first, judge_work.Answer({"rating": 5}, key="better"))
    assert count(bench.office) == 2
    shown = bench.ask(look_again, panel, kim.id)
    assert (shown.assignment, shown.given) == (first, {"rating": 5})
    bench.say(panel, "kim", {"rating": 2})
    with pytest.raises(RefusedError, match="no longer"):
        bench.do(judge_work.correct, kim, panel, first, judge_work.Answer({"rating": 3}, key="late"))
    bench.say(panel, "kim", {"rating": 4})
    with bench.office.reading() as session:
        assert sorted(one.answers["rating"] for one in counted_judgements(session, panel)) == [2, 4, 5]


def test_after_ranking_nobody_goes_back_to_stars(bench):
    panel = bench.panel(STARS, passages(2), ["kim:novice"])
    kim = bench.begin(panel, "kim")
    bench.say_all(panel, "kim", lambda found: {"rating": 3})
    last = bench.desk(panel, "kim").last
    order = [one.item for one in bench.desk(panel, "kim").placed]
    with pytest.raises(RefusedError, match="every item exactly once"):
        bench.do(judge_work.rank, kim, panel, judge_work.RoundReply(1, order[:1], key="short"))
    bench.do(judge_work.rank, kim, panel, judge_work.RoundReply(1, order, key="ranked"))
    bench.do(judge_work.rank, kim, panel, judge_work.RoundReply(1, order, key="sent again"))
    with pytest.raises(RefusedError, match="a different"):
        bench.do(judge_work.rank, kim, panel, judge_work.RoundReply(1, order[::-1], key="changed"))
    assert bench.desk(panel, "kim").last == ""
    with pytest.raises(RefusedError, match="no longer"):
        bench.do(judge_work.correct, kim, panel, last, judge_work.Answer({"rating": 1}, key="late"))


def test_a_judge_sees_one_item_and_nothing_else(bench):
    facts = {"system": "alpha-run-7", "team": "Alpha", "document": "secret-document"}
    panel = bench.panel(verdict_scheme(), pairs(4, **facts), ["jo", "kim"])
    bench.begin(panel, "jo")
    bench.begin(panel, "kim")
    bench.say(panel, "kim", YES)
    seen = repr(bench.desk(panel, "jo"))
    for hidden in ("alpha-run-7", "Alpha", "secret-document", bench.person("kim"), bench.person("jo")):
        assert hidden not in seen
    assert len([block for block in bench.desk(panel, "jo").blocks if block.kind == "query"]) == 1


def test_only_the_item_on_the_desk_can_be_answered_and_nobody_elses(bench):
    panel = bench.panel(verdict_scheme(), pairs(4), ["jo", "kim"])
    jo, kim = bench.begin(panel, "jo"), bench.begin(panel, "kim")
    with bench.office.reading() as session:
        mine = select(Assignment.id).where(Assignment.person_id == jo.id).order_by(Assignment.position.desc())
        last = session.scalars(mine).first()
    with pytest.raises(RefusedError, match="not next"):
        bench.do(judge_work.answer, jo, panel, last, judge_work.Answer(YES, key="ahead"))
    with pytest.raises(RefusedError) as refusal:
        bench.do(
            judge_work.answer, kim, panel, bench.desk(panel, "jo").assignment, judge_work.Answer(YES, key="another's")
        )
    assert refusal.value.status == 404
    for stranger in (bench.actor("nobody"), bench.season.as_ada, bench.season.as_eva):
        with pytest.raises(RefusedError) as refusal:
            bench.ask(judge_desk, panel, stranger.id)
        assert refusal.value.status == 404


def test_wrong_answers_are_refused_with_every_problem(bench):
    panel = bench.panel(verdict_scheme(), pairs(1), ["jo", "kim"])
    bench.begin(panel, "jo")
    with pytest.raises(RefusedError) as refusal:
        bench.say(panel, "jo", {"verdict": "perhaps", "unasked": 1})
    assert len(refusal.value.problems) == 2
    with pytest.raises(RefusedError, match="flag"):
        bench.say(panel, "jo", YES, flags=["I am bored"])
    with pytest.raises(RefusedError, match="key"):
        bench.say(panel, "jo", YES, key="")
    assert count(bench.office) == 0


def test_work_can_be_paused_and_goes_on_where_it_was(bench):
    panel = bench.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    at = bench.desk(panel, "jo").assignment
    bench.do(judge_work.pause, jo, panel)
    assert bench.desk(panel, "jo").stage == "paused"
    bench.do(judge_work.go_on, jo, panel)
    assert bench.desk(panel, "jo").assignment == at


def test_time_on_an_item_is_never_more_than_has_passed(bench, clock):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    bench.do(judge_work.mark_shown, jo, panel, bench.desk(panel, "jo").assignment)
    clock.now += timedelta(seconds=20)
    bench.say(panel, "jo", YES, seconds=9000)
    bench.say(panel, "jo", YES, seconds=float("nan"))
    with bench.office.reading() as session:
        assert sorted(one.seconds for one in counted_judgements(session, panel)) == [0, 20]


def test_training_comes_first_and_tells_what_would_have_been_right(bench):
    training = [pair(90 + at, role="training", expected={"verdict": "R"}) for at in range(2)]
    scheme = verdict_scheme(more="[training]\ncount = 2\nfeedback = true\n")
    panel = bench.panel(scheme, [*pairs(2), *training], ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    assert bench.desk(panel, "jo").stage == "training"
    bench.say(panel, "jo", NO)
    told = bench.desk(panel, "jo").feedback
    assert (told.right, told.expected, told.given) == (False, {"verdict": "R"}, NO)
    bench.do(judge_work.go_on, jo, panel)
    bench.say(panel, "jo", YES)
    assert bench.desk(panel, "jo").feedback.right
    bench.do(judge_work.go_on, jo, panel)
    assert (bench.desk(panel, "jo").stage, bench.desk(panel, "jo").done) == ("item", 0)


def test_hidden_checks_look_like_real_items(bench):
    checks = [pair(50 + at, role="check", expected={"verdict": "N"}) for at in range(4)]
    panel = bench.panel(verdict_scheme(checks=0.5, per_item=1), [*pairs(4), *checks], ["jo"])
    bench.begin(panel, "jo")
    seen = []
    while (found := bench.desk(panel, "jo")).stage == "item":
        seen.append((found.stage, [block.kind for block in found.blocks], found.feedback, found.given))
        bench.say(panel, "jo", YES)
    assert len(seen) > 4
    assert all(one == seen[0] for one in seen)


def test_a_pair_whose_sides_are_changed_is_shown_that_way(bench):
    from basanite.campaign.work.panels.desk import swap_sides
    from basanite.work.items import Block

    blocks = (Block("text", "source", "Source"), Block("text", "a", "Left"), Block("text", "b", "Right"))
    assert [(one.value, one.title) for one in swap_sides(blocks)] == [
        ("source", "Source"),
        ("b", "Left"),
        ("a", "Right"),
    ]


def test_nothing_is_taken_before_consent_or_after_the_end(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    with bench.office.reading() as session:
        mine = select(Assignment.id).where(Assignment.person_id == bench.person("jo"))
        at = session.scalars(mine).first()
    with pytest.raises(RefusedError, match="consent"):
        bench.do(judge_work.answer, bench.actor("jo"), panel, at, judge_work.Answer(YES, key="early"))
    bench.begin(panel, "jo")
    bench.do(setup.close_panel, bench.season.as_eva, panel)
    assert bench.desk(panel, "jo").stage == "closed"
    with pytest.raises(RefusedError, match="accepts no answers"):
        bench.do(judge_work.answer, bench.actor("jo"), panel, at, judge_work.Answer(YES, key="late"))


def test_every_act_stands_in_the_log_by_ids_alone(bench):
    panel = bench.panel(verdict_scheme(), pairs(1), ["jo", "kim"])
    jo = bench.begin(panel, "jo", languages=["1A"])
    bench.say(panel, "jo", YES)
    bench.do(judge_work.pause, jo, panel)
    bench.do(enrolment.withdraw, jo, panel)
    with bench.office.reading() as session:
        events = session.scalars(select(Event).where(Event.campaign_id == bench.season.campaign_id)).all()
    kinds = {event.kind for event in events}
    wanted = "panel.created panel.items panel.enrolled panel.opened consent.given judge.declared judgement.given"
    assert {*wanted.split(), "judge.paused", "judge.withdrawn"} <= kinds
    text = repr([(event.subject, event.data) for event in events])
    assert "judges.example" not in text
    assert "'R'" not in text


def test_an_answer_of_a_stranger_by_the_machine_is_refused(bench):
    panel = bench.panel(verdict_scheme(), pairs(1), ["jo", "kim"])
    with pytest.raises(RefusedError):
        bench.do(judge_work.answer, Actor("command"), panel, "nothing", judge_work.Answer(YES, key="x"))
