"""A team tests its own runs against each other, where it sees all of both, and a few times an hour."""

from dataclasses import asdict

import pytest

from basanite.campaign.actions import plans
from basanite.campaign.jobs import comparison
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.people.roles import viewer
from basanite.campaign.results import own_runs
from basanite.testing import small_campaign_text


def looking(stage, who):
    with stage.office.reading() as session:
        return viewer(session, stage.season.campaign_id, getattr(stage.season, who))


def compared(stage, who, runs):
    with stage.office.reading() as session:
        return own_runs.own_comparison(session, stage.office, looking(stage, who), stage.season.campaign_id, runs)


def ask(stage, who, runs):
    seen, actor = looking(stage, who), Actor(getattr(stage.season, who))
    stage.do(own_runs.ask, actor, seen, stage.season.campaign_id, runs)


def order(stage, who, runs):
    with stage.office.reading() as session:
        args = stage.office, looking(stage, who), stage.season.campaign_id, runs
        return asdict(own_runs._chosen(session, *args).order())


def two(stage, **more):
    """A perfect run and a silent one of one team."""
    return [stage.submit("alpha", file, label, "contrastive", **more) for file, label in
            (("perfect", "one"), ("silent", "two"))]  # fmt: skip


def test_a_comparison_is_asked_for_computed_and_told_in_numbers_and_words(stage):
    runs = two(stage)
    assert compared(stage, "ada", runs).state == "open"
    ask(stage, "ada", runs)
    ask(stage, "alan", runs[::-1])
    assert compared(stage, "alan", runs).state == "computing"
    assert comparison.compare(stage.office, **order(stage, "ada", runs)) == "there"
    found = compared(stage, "ada", runs)
    assert (found.state, found.metric, len(found.pairs)) == ("there", "aqwv", 1)
    (pair,) = found.pairs
    sign = 1 if pair.first == runs[0] else -1
    assert sign * pair.difference == pytest.approx(1.0)
    assert 0 <= pair.p_adjusted <= 1
    assert pair.verdict in (("first" if sign > 0 else "second"), "undecided", "no difference shown")


def test_one_that_never_came_may_be_asked_for_again_after_an_hour(stage):
    runs = two(stage)
    ask(stage, "ada", runs)
    stage.clock.forward(hours=2)
    assert compared(stage, "ada", runs).state == "failed"
    ask(stage, "ada", runs)
    assert compared(stage, "ada", runs).state == "computing"


@pytest.mark.parametrize("words", ['kind = "development"\nladder = 2.0', 'kind = "development"\nfeedback = "limited"'])
def test_limited_feedback_and_ladders_refuse(stage, words):
    text = small_campaign_text().replace('feedback = "full"\n', "" if "feedback" in words else 'feedback = "full"\n')
    text = text.replace('kind = "development"', words)
    stage.do(plans.change_plan, stage.season.as_eva, "small", text, reason="less is shown")
    assert refused(stage, two(stage))


def test_a_blind_week_refuses(stage):
    stage.clock.set("2018-04-04 12:00")
    assert refused(stage, two(stage, dataset="EVAL1"))


def refused(stage, runs):
    with pytest.raises(RefusedError, match="more about these runs than their window shows"):
        ask(stage, "ada", runs)
    return compared(stage, "ada", runs).state == "refused"


def test_runs_of_others_do_not_exist(stage):
    mine, theirs = two(stage)[0], stage.submit("beta", "perfect", "other")
    with pytest.raises(RefusedError) as refused:
        ask(stage, "ada", [mine, theirs])
    assert refused.value.status == 404
    with pytest.raises(RefusedError):
        ask(stage, "eva", [mine, theirs])


def test_a_team_asks_for_a_few_comparisons_an_hour(stage, monkeypatch):
    monkeypatch.setattr(own_runs, "MOST_AN_HOUR", 1)
    runs = [*two(stage), stage.submit("alpha", "perfect", "three", "contrastive")]
    ask(stage, "ada", runs[:2])
    with pytest.raises(RefusedError) as refused:
        ask(stage, "alan", runs[1:])
    assert (refused.value.status, refused.value.retry_at is not None) == (429, True)
    stage.clock.forward(hours=1, minutes=1)
    ask(stage, "alan", runs[1:])
    with pytest.raises(RefusedError, match="two to eight"):
        ask(stage, "ada", runs[:1])
