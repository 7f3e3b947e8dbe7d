"""The report of a whole campaign, for every output there is: boards, participation, plan, deviations, appeals.

Values come through `results.seeing` alone, for whoever the report is for: the evaluation team, or the public as it
sees things now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.keeping.publishing.gathering import BoardPage, Departure, Gathered, gather
from basanite.campaign.keeping.publishing.tables import board_table
from basanite.campaign.model.viewer import VISITOR, Viewer
from basanite.campaign.office import Office
from basanite.campaign.organising import appeals, plans, rescoring
from basanite.campaign.organising.looking.waiting import runs_by_window
from basanite.campaign.results.seen import BoardRow, SeenBoard
from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.reports.model import LONG_COLUMNS, Facts, Headline, Report, Section, facts_table, filled
from basanite.reports.wording import listed, number, plural

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
        subtitle="Report of the campaign" if viewer.staff else "Released results of the campaign",
        sections=filled(
            *(_board(page) for page in found.boards),
            Section("Systems", "What each team wrote about its run.", tuple(_descriptions(found))),
            Section("Calendar", "", (_calendar(found),)),
            Section("Deviations", "Changes of what was frozen when a window opened (P-28).", (_deviations(found),)),
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
    table = Table(title, ("System", board.metric, "Low", "High", "Group"), [_bar(row) for row in rows])
    return Chart(
        title,
        _in_words(board),
        "bars",
        table,
        Axis(board.metric, board.metric),
        Axis("System", "", "category"),
        low="Low" if bounds else None,
        high="High" if bounds else None,
    )


def _bar(row: BoardRow) -> tuple[Cell, ...]:
    return row.name, row.value, row.low, row.high, row.group


def _board(page: BoardPage) -> Section:
    chart = board_chart(page.board, f"{page.title}: values with intervals")
    figures: tuple[Figure, ...] = (board_table(page.board, page.title),)
    return Section(page.title, _in_words(page.board), figures if chart is None else (chart, *figures))


def _in_words(board: SeenBoard) -> str:
    """What a board says: the first group, without claiming an order inside of it."""
    ranked = [row for row in board.rows if row.value is not None and not row.baseline]
    if not ranked:
        return "No system is compared here."
    first = [row.name for row in ranked if row.group == 1]
    if not first:
        best = ranked[0]
        return f"{plural('system', len(ranked))}; the highest value is {number(best.value)} ({best.name})."
    others = len(ranked) - len(first)
    if len(first) == 1:
        return f"{first[0]} is shown better than all others." if others else f"{first[0]} is the only system here."
    return f"{listed(tuple(first[:6]))} cannot be told apart{' and are ahead of the others' if others else ''}."


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
        return Text("Deviations", ("None. What was frozen when each window opened is what holds.",))
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
    return ", ".join(filter(None, (_titled(found, one.window), f"panel {one.panel}" if one.panel else "")))


def _descriptions(found: Gathered) -> Iterator[Figure]:
    names = list(dict.fromkeys(name for one in found.systems for name in one.description))
    if not names:
        return
    rows = [
        (one.name, _titled(found, one.window), one.task, *(str(one.description.get(name, "")) for name in names))
        for one in found.systems
        if one.description
    ]
    heads = ("Description" if name == "text" else name for name in names)
    yield Table("Descriptions", ("System", "Window", "Task", *heads), rows)


def _titled(found: Gathered, window: str) -> str:
    """What a window is called: nobody reads its id."""
    return next((one.title for one in found.campaign.windows if one.id == window), window)


def _inside(session: Session, campaign_id: str, found: Gathered) -> Iterator[Section]:
    """What only the evaluation team is told: participation, appeals, re-scorings."""
    runs = runs_by_window(session, campaign_id)
    yield Section("Participation", "", (_participation(found, runs),))
    heard = [
        (one.number, _titled(found, one.window), f"{one.at:%Y-%m-%d}", one.state, one.decision)
        for one in appeals.appeals(session, campaign_id)
    ]
    columns = ("Appeal", "Window", "Made", "State", "Reason of the decision")
    yield Section("Appeals", "", (Table("Appeals", columns, heard) if heard else Text("Appeals", ("None.",)),))
    again = [
        (f"{one.made:%Y-%m-%d %H:%M}", one.state, one.reason, len(rescoring.items(session, one)))
        for one in rescoring.batches(session, campaign_id)
    ]
    titles = ("Begun (UTC)", "State", "Reason", "Submissions")
    yield Section(
        "Re-scorings", "", (Table("Re-scorings", titles, again) if again else Text("Re-scorings", ("None.",)),)
    )


def _participation(found: Gathered, runs: Mapping[str, Mapping[str, int]]) -> Table:
    rows: list[tuple[str | int, ...]] = [
        (one.title, *(runs.get(one.id, {}).get(state, 0) for state in STATES), _under_way(runs.get(one.id, {})))
        for one in found.campaign.windows
    ]
    return Table(
        "Submissions by window", ("Window", "Scored", "Not valid", "Failed by our fault", "On their way"), rows
    )


def _under_way(states: Mapping[str, int]) -> int:
    return sum(count for state, count in states.items() if state not in STATES)


def _sentences(found: Gathered) -> Iterator[str]:
    yield f"{plural('board', len(found.boards))} with {plural('system', len(found.systems))}."
    for page in found.boards[:5]:
        yield f"{page.title}: {_in_words(page.board)}"
    yield (
        f"{plural('deviation', len(found.departures))} from the plan."
        if found.departures
        else "No deviation from the plan."
    )


def _headlines(found: Gathered) -> tuple[Headline, ...]:
    """The values of the only board there is; several boards have values that no line can hold side by side."""
    if len(found.boards) != 1:
        return ()
    board = found.boards[0].board
    return tuple(
        Headline(row.name, board.metric, row.value, row.low, row.high, 0, "", 0.95, group=row.group)
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
        ("Version of the campaign's file", str(found.versions)),
        ("Digest of the campaign's file", found.plan_digest),
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
