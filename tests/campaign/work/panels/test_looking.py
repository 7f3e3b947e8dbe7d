"""A panel at a glance: figures that are those of the metrics, computed once for each state."""

import math

import numpy as np
import pytest
from sqlalchemy import event
from tests.campaign.work.panels.conftest import STARS, pair, pairs, passages, verdict_scheme

from basanite.campaign.work.panels import adjudication, monitor
from basanite.campaign.work.panels.judgements import counted_judgements, values_of
from basanite.metrics.judgement.agreement import judge_figures, percent_agreement
from basanite.metrics.judgement.alpha import alpha_with_interval

YES, NO = {"verdict": "R"}, {"verdict": "N"}


def rated(bench, judges, stars):
    """A panel on which every judge gave these stars, items x judges."""
    items = passages(len(stars))
    panel = bench.panel(STARS.replace("stars", "s") + "rank_after_round = false\n", items, judges)
    texts = {item.blocks: at for at, item in enumerate(items)}
    for column, judge in enumerate(one.partition(":")[0] for one in judges):
        bench.begin(panel, judge)
        bench.say_all(panel, judge, lambda found, c=column: {"rating": int(stars[texts[found.blocks]][c])})
    return panel


def test_agreement_and_bias_are_those_of_the_metrics(bench):
    dice = np.random.default_rng(5)
    stars = dice.integers(1, 6, (17, 3))
    panel = rated(bench, ["jo:novice", "kim:novice", "lu:novice"], stars)
    found = bench.ask(monitor.progress, panel)
    (agreement,) = found.agreement
    wanted = alpha_with_interval(stars, "interval")
    assert agreement.alpha == wanted
    assert agreement.percent == percent_agreement(stars)
    assert agreement.alpha.low is not None
    order = {bench.person(name): at for at, name in enumerate(("jo", "kim", "lu"))}
    figures = judge_figures(stars)
    for line in found.judges:
        assert line.bias == pytest.approx(figures[order[line.person_id]].bias)
        assert (line.done, line.of, line.median_seconds) == (17, 17, 3.0)
    assert (found.done, found.of, found.items, dict(found.per_item)) == (51, 51, 17, {3: 17})
    one, other = (order[person] for person in found.heat.judges[:2])
    assert found.heat.cells[0][1] == pytest.approx(1 - np.abs(stars[:, one] - stars[:, other]).mean() / 4)
    assert found.heat.shared[0][1] == 17


def test_unanimous_judgements_have_no_alpha_and_the_reason_is_said(bench):
    panel = rated(bench, ["jo:novice", "kim:novice"], [[4, 4]] * 3)
    (agreement,) = bench.ask(monitor.progress, panel).agreement
    assert math.isnan(agreement.alpha.value)
    assert "all ratings are the same" in agreement.alpha.reason


def test_agreement_of_verdicts_counts_who_says_the_same(bench):
    panel = bench.panel(verdict_scheme(per_item=3), pairs(4), ["jo", "kim", "lu"])
    for judge, answer in (("jo", YES), ("kim", YES), ("lu", NO)):
        bench.begin(panel, judge)
        bench.say_all(panel, judge, lambda found, a=answer: a)
    found = bench.ask(monitor.progress, panel)
    alike = {line.person_id: line.with_others for line in found.judges}
    assert alike == {bench.person("jo"): 0.5, bench.person("kim"): 0.5, bench.person("lu"): 0.0}
    assert all(line.bias is None for line in found.judges)


def test_hidden_checks_are_counted_for_each_judge_and_reject_nobody(bench):
    checks = [pair(50 + at, role="check", expected={"verdict": "R"}) for at in range(5)]
    scheme = verdict_scheme(checks=0.5, per_item=2)
    panel = bench.panel(scheme, [*pairs(6), *checks], ["jo", "kim"])
    for judge, answer in (("jo", YES), ("kim", NO)):
        bench.begin(panel, judge)
        bench.say_all(panel, judge, lambda found, a=answer: a)
    lines = {line.person_id: line for line in bench.ask(monitor.progress, panel).judges}
    jo, kim = lines[bench.person("jo")], lines[bench.person("kim")]
    assert jo.checks == jo.checks_right > 0
    assert (kim.checks_right, jo.weak, kim.weak, kim.state) == (0, False, True, "active")
    with bench.office.reading() as session:
        assert {one.role for one in counted_judgements(session, panel)} == {"real"}


def test_flags_reach_the_organiser_with_the_facts_of_the_item(bench):
    panel = bench.panel(verdict_scheme(), pairs(1, system="alpha-run"), ["jo", "kim"])
    bench.begin(panel, "jo")
    bench.say(panel, "jo", NO, flags=["not-text", "addresses-me"])
    found = bench.ask(lambda session, office: monitor.flags(session, panel))
    assert {(flag.flag, flag.person_id, flag.facts["system"]) for flag in found} == {
        ("not-text", bench.person("jo"), "alpha-run"),
        ("addresses-me", bench.person("jo"), "alpha-run"),
    }
    assert bench.ask(monitor.progress, panel).flags == 2


def test_a_dashboard_is_computed_once_until_something_is_said(bench):
    panel = bench.panel(verdict_scheme(), pairs(3), ["jo", "kim"])
    bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    first = bench.ask(monitor.progress, panel)
    asked = []
    event.listen(bench.office.database.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    assert bench.ask(monitor.progress, panel) is first
    assert not [text for text in asked if "judgements.answers" in text]
    bench.say(panel, "jo", NO)
    assert bench.ask(monitor.progress, panel).done == first.done + 1
    kim = bench.begin(panel, "kim")
    bench.say_all(panel, "kim", lambda found: YES)
    before = bench.ask(monitor.progress, panel)
    case = bench.ask(lambda session, office: adjudication.queue(session, panel))[0]
    bench.do(adjudication.decide, bench.season.as_eva, case.id, YES, "because")
    assert bench.ask(monitor.progress, panel) is not before
    assert kim.id in {line.person_id for line in before.judges}


def test_values_with_gaps_become_tables_of_ratings(bench):
    panel = bench.panel(verdict_scheme(), pairs(3), ["jo", "kim", "lu"])
    bench.begin(panel, "jo")
    bench.say_all(panel, "jo", lambda found: YES)
    with bench.office.reading() as session:
        rows = counted_judgements(session, panel)
    values = values_of(rows, bench.desk(panel, "jo").scheme.questions[0])
    assert values.table().shape == (2, 1)
    assert np.isnan(values.bias()).all()
