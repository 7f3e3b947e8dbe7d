"""The report of a whole campaign, for every output there is: boards, participation, plan, deviations, appeals.

Values come through `results.seeing` alone, for anyone who the report is for: the evaluation team, or the public as it
sees things now.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.actions import appeals, plans, rescoring
from basanite.campaign.actions.overview import runs_by_window
from basanite.campaign.archive.public_record import BoardPage, Departure, Gathered, gather
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.office import Office
from basanite.campaign.results.views import BoardRow, SeenBoard
from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.reports.metric_names import display_name
from basanite.reports.outputs import latex
from basanite.reports.outputs.data_files import csv_cell
from basanite.reports.report import LONG_COLUMNS, Facts, Headline, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, plural

COLUMNS = ("System", "Value", "Low", "High", "Ranks", "Group", "Results seen before", "Note")


def board_table(board: SeenBoard, title: str, *, keys: bool = False) -> Table:
    """A board as a table; with `keys`, the column of values has the key of its metric, for programs."""
    name = board.metric if keys else display_name(board.metric, board.task)
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(board.left_out.items()))
    note = f"Not compared: {left_out}." if left_out else "All systems are compared."
    return Table(title, (COLUMNS[0], name or COLUMNS[1], *COLUMNS[2:]), [_row(row) for row in board.rows], note)


def as_csv(table: Table) -> str:
    """A table for spreadsheets, in which nothing can act as a formula (X-14)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(csv_cell, table.columns))
    writer.writerows(map(csv_cell, row) for row in table.rows)
    return text.getvalue()


def as_latex(table: Table, title: str) -> str:
    """A table for a paper."""
    report = Report(title, "", (Section(title, "", (table,)),), (), {})
    return latex.render(report).decode()


def _row(row: BoardRow) -> tuple[Cell, ...]:
    ranks = (
        "" if row.ranks is None else str(row.ranks[0]) if len(set(row.ranks)) == 1 else "–".join(map(str, row.ranks))
    )
    note = "; ".join(filter(None, ("baseline" if row.baseline else "", row.note)))
    return row.name, row.value, row.low, row.high, ranks, row.group, row.looks, note


MOST_BARS = 60
"""Systems that a chart draws; the table beside it holds all."""
STATES = ("scored", "invalid", "failed")


def season_report(session: Session, office: Office, viewer: Viewer, campaign_id: str) -> Report:
    """The report of a campaign as somebody may see it at this moment."""
    plan = plans.current(session, campaign_id)
    found = gather(session, office, plan.row.slug, viewer=viewer, receipts=False)
    inside = tuple(_inside(session, plan.row.id, found)) if viewer.staff else ()
    return Report(
        title=plan.campaign.title,
        subtitle="Campaign report" if viewer.staff else "Released campaign results",
        sections=sections_with_content(
            *(_board(page) for page in found.boards),
            Section("Systems", "What each team wrote about its run.", tuple(_descriptions(found))),
            Section("Calendar", "", (_calendar(found),)),
            Section("Deviations", "Changes to the plan frozen when a window opened (P-28).", (_deviations(found),)),
            *inside,
            Section("How this was made", "", (facts_table(_facts(found)),), detail=True),
        ),
        facts=_facts(found),
        data=_data(found),
        records=Table("Values", LONG_COLUMNS, tuple(_records(found))),
        headlines=_headlines(found),
        sentences=tuple(_sentences(found)),
    )


def public_report(session: Session, office: Office, campaign_id: str) -> Report:
    """The report as everybody may see it."""
    return season_report(session, office, VISITOR, campaign_id)


def board_chart(board: SeenBoard, title: str) -> Chart | None:
    """The values of a board with their intervals, best first; None where there is nothing to draw."""
    rows = [row for row in board.rows if row.value is not None][:MOST_BARS]
    if not rows:
        return None
    bounds = all(row.low is not None and row.high is not None for row in rows)
    bars = [(row.name, row.value, row.low, row.high, row.group) for row in rows]
    name = display_name(board.metric, board.task)
    table = Table(title, ("System", name, "Low", "High", "Group"), bars)
    return Chart(
        title,
        board_verdict(board),
        "bars",
        table,
        Axis(name, name),
        Axis("System", "", "category"),
        low="Low" if bounds else None,
        high="High" if bounds else None,
    )


def _board(page: BoardPage) -> Section:
    chart = board_chart(page.board, f"{page.title}: values with 95% CIs")
    figures: tuple[Figure, ...] = (board_table(page.board, page.title),)
    return Section(page.title, board_verdict(page.board), figures if chart is None else (chart, *figures))


def board_verdict(board: SeenBoard) -> str:
    """What a board says: the first group, without claiming an order inside of it."""
    ranked = [row for row in board.rows if row.value is not None and not row.baseline]
    if not ranked:
        return "No systems are compared here."
    first = [row.name for row in ranked if row.group == 1]
    if not first:
        best = ranked[0]
        return f"{plural('system', len(ranked))}; the highest value is {number(best.value)} ({best.name})."
    others = len(ranked) - len(first)
    if len(first) == 1:
        return (
            f"{first[0]} is significantly better than all others." if others else f"{first[0]} is the only system here."
        )
    ahead = " and are ahead of the others" if others else ""
    return f"{enumeration(tuple(first[:6]))} are not significantly different{ahead}."


def _calendar(found: Gathered) -> Table:
    rows = [
        (
            one.title,
            f"{one.opens.utc:%Y-%m-%d %H:%M}",
            f"{one.closes.utc:%Y-%m-%d %H:%M}",
            ", ".join(one.tasks),
            " + ".join(one.dataset),
            one.feedback,
        )
        for one in found.campaign.windows
    ]
    return Table("Windows", ("Window", "Opens (UTC)", "Closes (UTC)", "Tasks", "Data", "Feedback"), rows)


def _deviations(found: Gathered) -> Figure:
    if not found.departures:
        return Text("Deviations", ("None. The plan that was frozen when each window opened applies.",))
    rows = [
        (
            f"{one.at:%Y-%m-%d %H:%M}",
            _where(found, one),
            "; ".join(one.changes),
            one.reason,
            "yes" if one.results_known else "no",
        )
        for one in found.departures
    ]
    return Table("Deviations", ("At (UTC)", "Window", "Changed", "Reason", "Results known"), rows)


def _where(found: Gathered, one: Departure) -> str:
    """The window, and the panel of judges if its scheme was changed."""
    return ", ".join(filter(None, (_window_title(found, one.window), f"panel {one.panel}" if one.panel else "")))


def _descriptions(found: Gathered) -> Iterator[Figure]:
    names = list(dict.fromkeys(name for one in found.systems for name in one.description))
    if not names:
        return
    rows = [
        (one.name, _window_title(found, one.window), one.task, *(str(one.description.get(name, "")) for name in names))
        for one in found.systems
        if one.description
    ]
    heads = ("Description" if name == "text" else name for name in names)
    yield Table("Descriptions", ("System", "Window", "Task", *heads), rows)


def _window_title(found: Gathered, window: str) -> str:
    """What a window is called: nobody reads its id."""
    return next((one.title for one in found.campaign.windows if one.id == window), window)


def _inside(session: Session, campaign_id: str, found: Gathered) -> Iterator[Section]:
    """What only the evaluation team is told: participation, appeals, re-scorings."""
    runs = runs_by_window(session, campaign_id)
    yield Section("Participation", "", (_participation(found, runs),))
    heard = [
        (one.number, _window_title(found, one.window), f"{one.at:%Y-%m-%d}", one.state, one.decision)
        for one in appeals.appeals(session, campaign_id)
    ]
    columns = ("Appeal", "Window", "Made", "State", "Reason for the decision")
    yield Section("Appeals", "", (Table("Appeals", columns, heard) if heard else Text("Appeals", ("None.",)),))
    again = [
        (f"{one.made:%Y-%m-%d %H:%M}", one.state, one.reason, len(rescoring.items(session, one)))
        for one in rescoring.batches(session, campaign_id)
    ]
    titles = ("Started (UTC)", "State", "Reason", "Submissions")
    yield Section(
        "Re-scorings", "", (Table("Re-scorings", titles, again) if again else Text("Re-scorings", ("None.",)),)
    )


def _participation(found: Gathered, runs: Mapping[str, Mapping[str, int]]) -> Table:
    rows: list[tuple[str | int, ...]] = []
    for window in found.campaign.windows:
        counts = runs.get(window.id, {})
        ended = [counts.get(state, 0) for state in STATES]
        rows.append((window.title, *ended, sum(counts.values()) - sum(ended)))
    return Table("Submissions by window", ("Window", "Scored", "Not valid", "Failed (our fault)", "In progress"), rows)


def _sentences(found: Gathered) -> Iterator[str]:
    yield f"{plural('board', len(found.boards))} with {plural('system', len(found.systems))}."
    for page in found.boards[:5]:
        yield f"{page.title}: {board_verdict(page.board)}"
    yield (
        f"{plural('deviation', len(found.departures))} from the plan."
        if found.departures
        else "No deviations from the plan."
    )


def _headlines(found: Gathered) -> tuple[Headline, ...]:
    """The values of the only board there is; several boards have values that no line can hold side by side."""
    if len(found.boards) != 1:
        return ()
    board = found.boards[0].board
    name = display_name(board.metric, board.task)
    return tuple(
        Headline(row.name, name, row.value, row.low, row.high, 0, "", 0.95, group=row.group)
        for row in board.rows[:MOST_BARS]
        if row.value is not None
    )


def _records(found: Gathered) -> Iterator[tuple[Cell, ...]]:
    for page in found.boards:
        for row in page.board.rows:
            if row.value is not None:
                yield row.name, page.board.metric, "board", page.title, row.value, row.low, row.high, None, None, "", ""


def _facts(found: Gathered) -> Facts:
    return (
        ("Campaign", found.campaign.slug),
        ("Plan", found.campaign.plan_version),
        ("Version of the campaign file", str(found.versions)),
        ("Digest of the campaign file", found.plan_digest),
        ("As of (UTC)", f"{found.at:%Y-%m-%d %H:%M}"),
        ("Software", f"basanite {__version__}"),
    )


def _data(found: Gathered) -> dict[str, Any]:
    return {
        "campaign": found.campaign.slug,
        "plan_digest": found.plan_digest,
        "boards": [
            {
                "window": page.board.window,
                "task": page.board.task,
                "language": page.board.language,
                "track": page.board.track,
                "metric": page.board.metric,
                "rows": [vars(row) | {"ranks": list(row.ranks) if row.ranks else None} for row in page.board.rows],
            }
            for page in found.boards
        ],
        "deviations": [
            vars(one) | {"at": one.at.isoformat(), "changes": list(one.changes)} for one in found.departures
        ],
    }
