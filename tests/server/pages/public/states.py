"""Public pages in the states that must look right."""

from __future__ import annotations

from tests.server.pages.states import NOW, count, name, row, seen, several

from basanite.campaign.archive.public_record import BoardPage as Released
from basanite.campaign.archive.public_record import Departure
from basanite.campaign.results.views import BoardRow, Provenance, SeenBoard
from basanite.figures import Table
from basanite.server.pages import program, results
from basanite.server.pages.values import values_of


def results_page(state):
    cards = several(state, lambda s, n: results.BoardCard(f"b{n}", name(s), "aqwv", 7, (name(s), name(s))), 60)
    systems = several(state, lambda s, n: results.SystemLine(f"s{n}", name(s), name(s)), results.MOST_SYSTEMS)
    truths = several(state, lambda s, n: results.ReferenceLine(name(s), 1, "c" * 64), 20)
    more = max(count(state) - len(systems), 0)
    return results.ResultsPage("Released results", cards, systems, truths, min(count(state), 3), NOW, more)


def board_page(state):
    def line(s, n):
        label = name(s) if n == 1 else f"{name(s)} {n}"
        return BoardRow(label, False, n == 3, 0.5 - n / 50000, 0.4, 0.6, (n, n + 2), 1 + n // 4, 3, None, name(s))

    rows = several(state, line)
    made = Provenance(1, "6.0.4", 1, "basanite 1.0")
    found = SeenBoard(
        "small", "week", "CLIR", "1A", "", "aqwv", rows, {name(state): 2}, "named", "full", (name(state),), made
    )
    return results.board_page(Released("week-clir", name(state), found, ()))


def system_page(state):
    one = seen(state)
    words = several(state, lambda s, n: (name(s), name(s)), 30)
    return results.SystemPage(
        name(state), "CLIR · 1A", name(state), "on time", "full", words, values_of(one.result.data), "1.0", "6.0.4", 1
    )


def plan_page(state):
    gone = several(
        state, lambda s, n: Departure(name(s), NOW, name(s), n % 2 == 0, (name(s),)), results.MOST_DEPARTURES
    )
    return results.PlanPage("Plan", several(state, row, 200), gone, 2, "d" * 64, name(state))


def program_page(state):
    table = Table("Progress", ("Campaign", "Value"), several(state, lambda s, n: (name(s), 0.5)))
    sections = several(state, lambda s, n: program.ProgramSection(name(s), name(s), (), (table,)), 3)
    years = (2017, 2018) if sections else ()
    return program.ProgramPage("Program", (name(state),) if sections else (), sections, years, 2018)


ALL = {
    program.ProgramPage: program_page,
    results.ResultsPage: results_page,
    results.BoardPage: board_page,
    results.SystemPage: system_page,
    results.PlanPage: plan_page,
}
"""By the dataclass of a page, what makes it in a state."""
