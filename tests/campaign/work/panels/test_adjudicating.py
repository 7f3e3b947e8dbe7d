"""Disagreements: seen side by side, decided by somebody who did not judge, with who, when and why."""

import pytest
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.work.panels import adjudication
from basanite.campaign.work.panels.adjudication import NONE_OF_THESE

YES, NO = {"verdict": "R"}, {"verdict": "N"}


def disputed(bench, judges=("jo", "kim"), count=3):
    """A panel on which the first judge says yes to all and the others no to all but the first item."""
    items = pairs(count, system="alpha-run")
    panel = bench.panel(verdict_scheme(per_item=len(judges)), items, judges)
    first = items[0].blocks
    for judge in judges:
        bench.begin(panel, judge)
        bench.say_all(panel, judge, lambda found, j=judge: YES if j == judges[0] or found.blocks == first else NO)
    return panel


def queue(bench, panel, **options):
    return bench.ask(lambda session, office: adjudication.queue(session, panel, **options))


def adjudicator(bench, name):
    bench.do(
        grant,
        bench.season.as_eva,
        RoleGrant(person_id=bench.person(name), role="adjudicator", campaign_id=bench.season.campaign_id),
    )
    return bench.actor(name)


def test_a_case_is_decided_once_with_who_when_and_why(both):
    panel = disputed(both)
    ruth = adjudicator(both, "ruth")
    first, second = queue(both, panel)
    assert (first.state, first.disagreement, first.questions) == ("open", 1.0, ("verdict",))
    with pytest.raises(RefusedError, match="reason"):
        both.do(adjudication.decide, ruth, first.id, YES, " ")
    both.do(adjudication.decide, ruth, first.id, YES, "the summary names it")
    with pytest.raises(RefusedError, match="already decided"):
        both.do(adjudication.decide, ruth, first.id, NO, "no")
    both.do(adjudication.decide, ruth, second.id, NONE_OF_THESE, "the picture is empty")
    assert queue(both, panel) == ()
    assert {case.state for case in queue(both, panel, everything=True)} == {"decided", "none"}
    both.do(adjudication.reopen, ruth, first.id, "a judge wrote to us")
    both.do(adjudication.decide, ruth, first.id, NO, "it is about another one")
    seen = both.ask(adjudication.case, first.id)
    assert [(step.kind, step.by, step.reason) for step in seen.history] == [
        ("decided", ruth.id, "the summary names it"),
        ("reopened", ruth.id, "a judge wrote to us"),
        ("decided", ruth.id, "it is about another one"),
    ]
    assert all(step.at is not None for step in seen.history)


def test_judgements_stand_side_by_side_without_names_or_systems(bench):
    panel = disputed(bench)
    seen = bench.ask(adjudication.case, queue(bench, panel)[0].id)
    assert {voice.letter: voice.answers["verdict"] for voice in seen.voices} in (
        {"A": "R", "B": "N"},
        {"A": "N", "B": "R"},
    )
    for hidden in ("alpha-run", bench.person("jo"), bench.person("kim")):
        assert hidden not in repr(seen)


def test_nobody_decides_on_own_judgements_or_without_the_role(bench):
    panel = disputed(bench)
    case = queue(bench, panel)[0]
    jo = adjudicator(bench, "jo")
    with pytest.raises(RefusedError, match="judged this item yourself") as refusal:
        bench.do(adjudication.decide, jo, case.id, YES, "I know")
    assert refusal.value.status == 403
    assert bench.ask(adjudication.case, case.id, viewer=jo.id).own
    for stranger in (bench.actor("lu"), bench.actor("kim"), bench.season.as_ada):
        with pytest.raises(RefusedError) as refusal:
            bench.do(adjudication.decide, stranger, case.id, YES, "because")
        assert refusal.value.status == 404


def test_the_widest_disagreement_comes_first(bench):
    panel = disputed(bench, ("jo", "kim", "lu"))
    values = [case.disagreement for case in queue(bench, panel)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 2


def test_agreement_is_no_case(bench):
    panel = disputed(bench, count=1)
    assert queue(bench, panel) == ()
    assert bench.ask(lambda session, office: adjudication.open_cases(session, panel)) == 0
