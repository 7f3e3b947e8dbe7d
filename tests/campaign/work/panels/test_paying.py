"""Pay: all work is paid, a low rate is said, and what leaves for a spreadsheet acts in none."""

import csv
import io

import pytest
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.persons import NewDetails, change_personal
from basanite.campaign.work.panels import judge_work, payroll

YES = {"verdict": "R"}


def test_a_statement_has_items_hours_pay_rate_and_a_warning_below_the_floor(bench):
    panel = bench.panel(verdict_scheme(), pairs(4), ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    bench.begin(panel, "kim")
    bench.say(panel, "jo", YES, seconds=30)
    bench.do(
        judge_work.correct,
        jo,
        panel,
        bench.desk(panel, "jo").last,
        judge_work.Answer({"verdict": "N"}, key="again", seconds=6),
    )
    bench.say(panel, "jo", YES, seconds=36)
    for _ in range(2):
        bench.say(panel, "kim", YES, seconds=360)
    lines = {one.person_id: one for one in bench.ask(payroll.statements, panel)}
    mine, theirs = lines[jo.id], lines[bench.person("kim")]
    assert (mine.items, mine.pay, mine.currency, mine.rate, mine.below_floor) == (2, "1.00", "EUR", 50.0, False)
    assert mine.hours == pytest.approx(72 / 3600)
    assert (theirs.items, theirs.pay, theirs.rate, theirs.below_floor, theirs.missing) == (2, "1.00", 5.0, True, "1.40")


def test_the_payroll_is_a_table_in_which_no_name_is_a_formula(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    jo = bench.begin(panel, "jo")
    bench.do(change_personal, jo, jo.id, NewDetails(name='=HYPERLINK("x")'))
    bench.say(panel, "jo", YES, seconds=60)
    content = bench.do(payroll.payroll, bench.season.as_eva, panel)
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    row = next(row for row in rows if row["person"] == jo.id)
    assert row["name"] == '\'=HYPERLINK("x")'
    assert (row["mail"], row["items"], row["pay"]) == ("jo@judges.example", "1", "0.50")
    assert len(rows) == 2
    with pytest.raises(RefusedError):
        bench.do(payroll.payroll, jo, panel)


def test_a_judge_sees_the_own_statement(bench):
    panel = bench.panel(verdict_scheme(), pairs(2), ["jo", "kim"])
    bench.begin(panel, "jo")
    bench.say(panel, "jo", YES)
    with bench.office.reading() as session:
        assert payroll.statement(session, panel, bench.person("jo")).items == 1
        assert payroll.statement(session, panel, bench.season.ada) is None
