"""Setting up: a scheme that is checked as a whole, items that are merged, and what is frozen when a panel opens."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from tests.campaign.work.panels.conftest import pair, pairs, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.work.panels import monitor, setup
from basanite.campaign.work.panels.lookup import find_panel, items_of, panel_named


def test_a_scheme_with_mistakes_is_refused_with_all_of_them(bench):
    wrong = verdict_scheme().replace('version = "1"', "version = 1").replace("share = 0.0", "share = 7")
    with pytest.raises(RefusedError) as refusal:
        bench.do(setup.create, bench.season.as_eva, bench.season.campaign_id, setup.NewPanel(wrong, name="wrong"))
    assert len(refusal.value.problems) >= 2
    assert refusal.value.status == 422
    assert bench.ask(lambda session, office: monitor.overview(session, bench.season.campaign_id)) == ()


@pytest.mark.parametrize("name", ["", "Big", "a/b", "x" * 41, "-a"])
def test_a_panels_name_is_part_of_addresses(bench, name):
    with pytest.raises(RefusedError, match="valid panel name"):
        bench.do(
            setup.create, bench.season.as_eva, bench.season.campaign_id, setup.NewPanel(verdict_scheme(), name=name)
        )


def test_only_organisers_set_panels_up(bench):
    for stranger in (bench.season.as_ada, bench.actor("jo")):
        with pytest.raises(RefusedError) as refusal:
            bench.do(setup.create, stranger, bench.season.campaign_id, setup.NewPanel(verdict_scheme(), name="mine"))
        assert refusal.value.status == 403


def test_equal_items_are_judged_once_and_counted_for_all(both):
    panel = both.panel(verdict_scheme(), pairs(2, system="a"), opened=False)
    added = both.do(setup.add_items, both.season.as_eva, panel, [*pairs(2, system="b"), *pairs(1, start=9)])
    assert (added.new, added.merged) == (1, 2)
    again = both.do(setup.add_items, both.season.as_eva, panel, pairs(2, system="b"))
    assert (again.new, again.merged) == (0, 0)
    with both.office.reading() as session:
        rows = items_of(session, panel)
    assert [len(row.also) for row in rows] == [1, 1, 0]
    with pytest.raises(RefusedError, match="both as a hidden check"):
        both.do(setup.add_items, both.season.as_eva, panel, [pair(0, role="check", expected={"verdict": "R"})])


def test_opening_freezes_the_scheme_and_a_later_one_is_a_deviation(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"], opened=False)
    eva, campaign = bench.season.as_eva, bench.season.campaign_id
    bench.do(setup.change_scheme, eva, panel, verdict_scheme(per_item=3))
    bench.do(setup.open_panel, eva, panel)
    with pytest.raises(RefusedError, match="give a reason"):
        bench.do(setup.change_scheme, eva, panel, verdict_scheme())
    bench.begin(panel, "jo")
    bench.say(panel, "jo", {"verdict": "R"})
    bench.do(setup.change_scheme, eva, panel, verdict_scheme(), reason="too few judges came")
    found = bench.ask(lambda session, office: setup.deviations(session, campaign))
    assert [(one.version, one.by, one.reason, one.results_known) for one in found] == [
        (3, eva.id, "too few judges came", True)
    ]
    other = verdict_scheme().replace('preset = "relevance"', 'preset = "binary"')
    with pytest.raises(RefusedError, match="would lose its answers"):
        bench.do(setup.change_scheme, eva, panel, other, reason="another question")


def test_a_panel_opens_once_with_something_to_judge(bench):
    eva = bench.season.as_eva
    empty = bench.do(setup.create, eva, bench.season.campaign_id, setup.NewPanel(verdict_scheme(), name="empty"))
    with pytest.raises(RefusedError, match="no items to judge"):
        bench.do(setup.open_panel, eva, empty.id)
    panel = bench.panel(verdict_scheme(), pairs(1), ["jo"])
    with pytest.raises(RefusedError, match="already open"):
        bench.do(setup.open_panel, eva, panel)
    with bench.office.reading() as session:
        assert panel_named(session, bench.season.campaign_id, "first").warnings != []


def test_closing_opening_again_and_giving_up(bench):
    eva, panel = bench.season.as_eva, bench.panel(verdict_scheme(), pairs(1), ["jo", "kim"])
    bench.do(setup.close_panel, eva, panel)
    with pytest.raises(RefusedError, match="needs a reason"):
        bench.do(setup.reopen_panel, eva, panel, reason="")
    bench.do(setup.reopen_panel, eva, panel, reason="one judge was ill")
    bench.do(setup.cancel, eva, panel, reason="the data were wrong")
    assert bench.desk(panel, "jo").why == "cancelled"
    with pytest.raises(RefusedError, match="cancelled"):
        bench.do(setup.add_items, eva, panel, pairs(1, start=5))


@pytest.mark.parametrize("table", ["judgements", "panel_decisions", "panel_consents"])
def test_the_database_refuses_to_change_what_was_said(both, table):
    panel = both.panel(verdict_scheme(), pairs(1), ["jo", "kim"])
    both.begin(panel, "jo")
    both.say(panel, "jo", {"verdict": "R"})
    if table == "panel_decisions":
        from basanite.campaign.work.panels import adjudication

        both.begin(panel, "kim")
        both.say(panel, "kim", {"verdict": "N"})
        (case,) = both.ask(lambda session, office: adjudication.queue(session, panel))
        both.do(adjudication.decide, both.season.as_eva, case.id, {"verdict": "R"}, "it says so")
    for act in (f"delete from {table}", f"update {table} set panel_id = panel_id"):
        with pytest.raises(DBAPIError, match="kept for ever"), both.office.writing() as session:
            session.execute(text(act))
    with both.office.reading() as session:
        assert find_panel(session, panel).state == "open"
