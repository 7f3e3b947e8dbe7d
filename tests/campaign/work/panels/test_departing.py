"""Judging by another scheme than a panel was opened under stands in the report of the season, as any deviation."""

from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.archive.campaign_report import season_report
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.people.roles import viewer
from basanite.campaign.work.panels import setup


def deviations(bench, who):
    """The section of the report, and the same in data."""
    found = bench.ask(season_report, who, bench.season.campaign_id)
    section = next(one for one in found.sections if one.title == "Deviations")
    return section.figures[0], found.data["deviations"]


def test_a_changed_scheme_stands_among_the_deviations_of_the_report(bench):
    panel = bench.panel(verdict_scheme(per_item=3), pairs(2), ["jo", "kim"])
    with bench.office.reading() as session:
        eva = viewer(session, bench.season.campaign_id, bench.season.as_eva.id)
    empty, none = deviations(bench, eva)
    assert none == []
    assert "None." in empty.paragraphs[0]
    changed = verdict_scheme(checks=0.25).replace("at any time", "whenever you like")
    bench.do(setup.change_scheme, bench.season.as_eva, panel, changed, reason="too few judges came")
    table, listed = deviations(bench, eva)
    _, where, changes, reason, known = table.rows[0]
    assert (where, reason, known) == ("panel first", "too few judges came", "no")
    assert {"per_item: 3 became 2", "checks.share: 0.0 became 0.25"} <= set(changes.split("; "))
    assert [one["panel"] for one in listed] == ["first"]


def test_judges_and_everybody_else_learn_which_parts_were_changed_and_not_what_they_say(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    bench.do(setup.change_scheme, bench.season.as_eva, panel, verdict_scheme(checks=0.25), reason="some rush")
    _, listed = deviations(bench, VISITOR)
    assert [one["changes"] for one in listed] == [["checks.share"]]
