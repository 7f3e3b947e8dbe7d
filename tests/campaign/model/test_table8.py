"""The plan's schedule, row by row as printed, against the calendar's answers on sample dates (M62, M64, C10, C31, C36).

Each row: stage, the days on which it is asked, tasks, domains, queries, data, how many, and what is displayed.
"""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from basanite.campaign.model.calendar import admit, allowances
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.model.windows import open_windows, stage_domains
from basanite.formats.datasets.pack_names import domains_of

ROWS = """
P 2017-11-20 2018-03-08  -     X    Q1     A1        200  yes
P 2017-11-20 2018-03-08  -     X    Q1     D         200  yes
P 2017-11-20 2018-03-08  -     X    Q1     A1+D      100  yes
P 2017-11-20 2018-03-08  -     X    Q1     E1        1    limited
P 2018-03-09 2018-04-05  -     XY   Q1     A1        200  yes
P 2018-03-09 2018-04-05  -     XY   Q1     D         200  yes
P 2018-03-09 2018-04-05  -     XY   Q1     A1+D      100  yes
P 2018-03-09 2018-04-05  -     XY   Q1     E1        1    limited
P 2018-04-06 2018-05-13  -     XY   Q2     D         200  yes
P 2018-04-06 2018-05-13  -     XY   Q2     E1+E2     1    limited
P 2018-05-14 2018-05-17  -     XY   Q2     D         200  yes
P 2018-05-14 2018-05-18  -     XY   Q2     E1+E2     5    no
P 2018-05-18 2018-05-21  -     XYZ  Q2     D         200  yes
P 2018-05-22 2018-07-04  -     XYZ  Q2     D         200  yes
P 2018-07-05 2018-07-23  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-07-24 2018-07-27  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-07-24 2018-07-27  Lang  XYZ  Q2+Q3  E1+E2+E3  1    no
P 2018-07-28 2018-08-05  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-08-06 2018-08-10  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-08-06 2018-08-10  Lang  XYZ  Q2+Q3  E1+E2+E3  5    no
P 2018-08-11 2018-08-13  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-08-11 2018-08-13  Lang  XYZ  Q2+Q3  E1+E2+E3  1    yes
P 2018-08-14 2018-09-04  Lang  XYZ  Q2+Q3  A1+A2+A3  1    yes
P 2018-08-14 2018-09-04  Lang  XYZ  Q2+Q3  D         200  yes
P 2018-08-14 2018-09-04  Lang  XYZ  Q2+Q3  E1+E2+E3  1    yes
S 2018-09-05 2018-10-02  Lang  X    Q1     A1        200  yes
S 2018-09-05 2018-10-02  Lang  X    Q1     D         200  yes
S 2018-09-05 2018-10-02  Lang  X    Q1     A1+D      100  yes
S 2018-10-03 2018-10-31  Lang  XY   Q1     D         200  yes
S 2018-11-01 2018-11-04  Lang  XY   Q2     D         200  yes
S 2018-11-05 2018-11-12  Lang  XY   Q2     D         200  yes
S 2018-11-05 2018-11-09  Lang  XY   Q2     E1+E2     5    no
S 2018-11-13 2018-11-29  Lang  XY   Q2     A1+A2     1    yes
S 2018-11-13 2018-11-29  Lang  XY   Q2     D         200  yes
S 2018-11-30 2019-01-10  Lang  XYZ  Q2     A1+A2     1    yes
S 2018-11-30 2019-01-10  Lang  XYZ  Q2     D         200  yes
S 2019-01-11 2019-01-13  Lang  XYZ  Q2     A1+A2     1    yes
S 2019-01-11 2019-01-13  Lang  XYZ  Q2+Q3  D         200  yes
S 2019-01-14 2019-01-18  Lang  XYZ  Q2+Q3  E1+E2+E3  5    no
S 2019-01-19 2019-01-21  Lang  XYZ  Q2+Q3  A1+A2     1    yes
S 2019-01-19 2019-01-21  Lang  XYZ  Q2+Q3  D         200  yes
S 2019-01-19 2019-01-21  Lang  XYZ  Q2+Q3  E1+E2+E3  1    yes
S 2019-01-22 2019-03-29  Lang  XYZ  Q2+Q3  A1+A2+A3  1    yes
S 2019-01-22 2019-03-29  Lang  XYZ  Q2+Q3  D         200  yes
S 2019-01-22 2019-03-29  Lang  XYZ  Q2+Q3  E1+E2+E3  1    yes
"""
LONG = {"A": "ANALYSIS", "D": "DEV", "E": "EVAL", "Q": "QUERY"}
DISPLAYED = {"yes": "full", "limited": "limited", "no": "none"}
NEW_YORK = ZoneInfo("America/New_York")


def long(short):
    """Q2+Q3 as archive names spell it."""
    return tuple(LONG[part[0]] + part[1:] for part in short.split("+"))


class Row:
    """One printed row."""

    def __init__(self, line):
        stage, first, last, lang, self.stages, queries, data, count, shown = line.split()
        self.line = " ".join(line.split())
        self.languages = ("1A", "1B") if stage == "P" else ("1S",)
        self.first, self.last = date.fromisoformat(first), date.fromisoformat(last)
        self.with_language_id = lang == "Lang"
        self.queries, self.data = long(queries), long(data)
        self.count, self.feedback = int(count), DISPLAYED[shown]

    def moments(self):
        """The first instant, the middle and the last second of the row."""
        start = datetime(self.first.year, self.first.month, self.first.day, tzinfo=NEW_YORK)
        end = datetime(self.last.year, self.last.month, self.last.day, 23, 59, 59, tzinfo=NEW_YORK)
        return start, start + (end - start) / 2, end

    def run(self, task, language):
        """A run that the row should take; a summary week has primaries of E2E and contrastive CLIR."""
        return Declared(
            task,
            "A",
            language=language,
            queryset="" if task in ("DomainID", "LangID") else "".join(self.queries),
            dataset=self.data,
            domains=tuple(reversed(domains_of(language, self.stages))) if task == "DomainID" else (),
        )

    def __contains__(self, day):
        return self.first <= day <= self.last


PRINTED = [Row(line) for line in ROWS.strip().splitlines()]


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: row.line)
def test_a_printed_row_is_what_the_calendar_answers(base, row):
    tasks = ("CLIR", "DomainID", *(("LangID",) if row.with_language_id else ()))
    for moment in row.moments():
        for language in row.languages:
            for task in tasks:
                window = admit(base, row.run(task, language), moment)
                assert (window.quota.count, window.feedback) == (row.count, row.feedback)
                if task == "DomainID":
                    assert set(stage_domains(base, window, language)) == set(domains_of(language, row.stages))


def test_language_identification_is_closed_before_its_first_row(base):
    run = Declared("LangID", "A", language="1A", dataset=("DEV",))
    with pytest.raises(RefusedError):
        admit(base, run, datetime(2018, 7, 4, 23, 59, tzinfo=NEW_YORK))


def days():
    """Every day of the base period."""
    day = date(2017, 11, 18)
    while day < date(2019, 4, 2):
        yield day
        day += timedelta(days=1)


def test_on_every_day_nothing_else_is_open(base):
    """Brute force over all days: the inputs that the calendar takes are those of the printed rows in force."""
    for day in days():
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=NEW_YORK)
        found = {
            (language, *(base.pack(pack).spelling for pack in one.dataset))
            for one in open_windows(base, noon)
            for language in one.languages
        }
        wanted = {(language, *row.data) for row in PRINTED if day in row for language in row.languages}
        assert found == wanted, day


def test_dev_is_open_in_the_evaluation_weeks_of_2018_and_closed_in_2019(base):
    dev = Declared("CLIR", "A", language="1A", queryset="QUERY2", dataset=("DEV",))
    assert admit(base, dev, datetime(2018, 5, 16, tzinfo=NEW_YORK)).id == "clir-week-d"
    surprise = Declared("CLIR", "A", language="1S", queryset="QUERY2QUERY3", dataset=("DEV",))
    with pytest.raises(RefusedError):
        admit(base, surprise, datetime(2019, 1, 16, tzinfo=NEW_YORK))


def test_what_makes_up_the_five_is_an_attribute_of_the_row(base):
    types = {
        name: dict(base.window(name).quota.types) for name in ("clir-week-eval", "clirs-week-eval", "1s-sanity-eval")
    }
    assert types["clir-week-eval"] == {"primary": 1, "contrastive": 4}
    assert {name: most for name, most in types["clirs-week-eval"].items() if most} == {
        "E2E/primary": 1, "CLIR/contrastive": 4,
    }  # fmt: skip
    assert types["1s-sanity-eval"] == {}
    assert {base.window(name).quota.count for name in types} == {5}


def test_the_visit_was_in_2018(base):
    [visit] = [one for one in base.milestones if one.id == "visit-2018"]
    assert visit.at.utc.astimezone(NEW_YORK).date() == date(2018, 2, 21)


def test_every_weekly_count_is_what_the_plan_says_for_its_kind_of_data(base):
    for window in base.windows:
        families = {base.pack(pack).spelling.rstrip("123") for pack in window.dataset}
        several = len(window.dataset) > 1
        if window.kind == "evaluation" or window.id == "1s-sanity-eval":
            wanted = 5
        elif families == {"EVAL"} or (families == {"ANALYSIS"} and several):
            wanted = 1
        else:
            wanted = 100 if several else 200
        assert window.quota.count == wanted, window.id


def test_allowances_of_a_day_add_up(base):
    found = {
        (one.window.dataset, one.task, one.language): one.left
        for one in allowances(base, datetime(2018, 1, 10, tzinfo=NEW_YORK))
    }
    assert found[("ANALYSIS1", "DEV"), "CLIR", "1A"] == 100
    assert found[("EVAL1",), "DomainID", "1B"] == 1
    assert len(found) == 4 * 2 * 2
