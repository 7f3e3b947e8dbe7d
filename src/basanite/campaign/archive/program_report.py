"""A program of campaigns at a glance: how far each task came, campaign by campaign, for every output (P-45).

Values of different campaigns stand side by side and are never tested against each other: their data differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.archive.campaign_report import board_verdict
from basanite.campaign.archive.public_record import gather
from basanite.campaign.model.policy import Viewer
from basanite.campaign.office import Office
from basanite.campaign.results.views import BoardRow, SeenBoard
from basanite.campaign.store.tables import CampaignRow
from basanite.figures import Axis, Cell, Chart, Table
from basanite.reports.metric_names import display_name
from basanite.reports.report import Report, Section, facts_table, sections_with_content
from basanite.reports.wording import plural

MOST_CAMPAIGNS = 50
"""The newest so many are shown."""
COLUMNS = ("Campaign", "Board", "Closes", "Systems", "Best system", "Value", "Low", "High")


@dataclass(frozen=True)
class Step:
    """One board of one campaign: how far its task had come by then."""

    campaign: str
    window: str
    title: str
    closes: datetime
    board: SeenBoard

    @property
    def ranked(self) -> list[BoardRow]:
        """The systems with a value, best first, without baselines."""
        return [row for row in self.board.rows if row.value is not None and not row.baseline]

    @property
    def label(self) -> str:
        """What sentences call it."""
        return f"{self.campaign}: {self.window}"


def program_steps(
    session: Session, office: Office, viewers: Mapping[str, Viewer], year: int | None = None
) -> list[Step]:
    """The boards that somebody may see, in the order in which their windows close; `viewers` by campaign."""
    found = []
    query = select(CampaignRow.slug).where(CampaignRow.published.is_not(None), CampaignRow.slug.in_(viewers))
    for slug in session.scalars(query.order_by(CampaignRow.made.desc()).limit(MOST_CAMPAIGNS)):
        held = gather(session, office, slug, viewer=viewers[slug], receipts=False)
        windows = {window.id: window for window in held.campaign.windows}
        for page in held.boards:
            window = windows[page.board.window]
            step = Step(held.campaign.title, window.title, page.title, window.closes.utc, page.board)
            if step.ranked and year in (None, step.closes.year):
                found.append(step)
    return sorted(found, key=lambda one: (one.closes, one.campaign, one.title))


def program_report(steps: Sequence[Step], title: str) -> Report:
    """Progress by task, the verdict of every board, and the place of every team."""
    tasks = sorted({_task(step) for step in steps})
    campaigns = list(dict.fromkeys(step.campaign for step in steps))
    facts = (
        ("Campaigns", str(len(campaigns))),
        ("Boards", str(len(steps))),
        ("Made by", f"Basanite {__version__}"),
    )
    return Report(
        title,
        f"{plural('campaign', len(campaigns))}, {plural('board', len(steps))}",
        sections_with_content(
            *(_progress(task, [step for step in steps if _task(step) == task]) for task in tasks),
            Section("Verdicts", "What each board shows by its tests.", (_verdicts(steps),)),
            Section("Teams", "The ranks that each team could have, by campaign.", (team_table(steps),)),
            Section("How this was made", "", (facts_table(facts),), detail=True),
        ),
        facts,
        {"campaigns": campaigns, "boards": [_as_data(step) for step in steps]},
        Table("Values", COLUMNS, [_row(step) for step in steps]),
        sentences=tuple(_sentences(tasks, steps)),
    )


def _task(step: Step) -> tuple[str, str, str]:
    """What may stand in one line of progress: one task, language and metric."""
    return step.board.task, step.board.language, step.board.metric


def _progress(task: tuple[str, str, str], steps: Sequence[Step]) -> Section:
    name = display_name(task[2], task[0])
    title = " ".join(filter(None, task[:2]))
    lead = "Campaigns have data of their own, so a difference between them may come from the data."
    table = Table(title, COLUMNS, [_row(step) for step in steps], note=f"{name} of the best system of each board.")
    return Section(f"Progress: {title}", lead, (_chart(title, name, steps), table))


def _chart(title: str, name: str, steps: Sequence[Step]) -> Chart:
    once = len({step.campaign for step in steps}) == len(steps)  # then short names tell them apart
    bars: list[tuple[Cell, ...]] = [
        (step.campaign if once else step.label, row.value, row.low, row.high) for step, row in _best(steps)
    ]
    bounds = all(low is not None and high is not None for *_, low, high in bars)
    summary = f"{name} of the best system, in the order of time: " + ", ".join(
        f"{step.label} {row.value:.4g}" for step, row in _best(steps)
    )
    data = Table(title, ("Board", name, "Low", "High"), bars)
    low, high = ("Low", "High") if bounds else (None, None)
    axes = Axis(name, name), Axis("Board", "", "category")
    return Chart(f"{title}: best value", f"{summary}.", "bars", data, *axes, low=low, high=high)


def _best(steps: Sequence[Step]) -> list[tuple[Step, BoardRow]]:
    return [(step, step.ranked[0]) for step in steps]


def _row(step: Step) -> tuple[Cell, ...]:
    best = step.ranked[0]
    day = f"{step.closes:%Y-%m-%d}"
    return step.campaign, step.title, day, len(step.ranked), best.name, best.value, best.low, best.high


def _verdicts(steps: Sequence[Step]) -> Table:
    rows = [(one.campaign, one.title, board_verdict(one.board)) for one in steps]
    return Table("Verdicts", (*COLUMNS[:2], "Verdict"), rows)


def team_table(steps: Sequence[Step]) -> Table:
    """The best place of each team in each campaign; teams are known by the names that boards show."""
    campaigns = list(dict.fromkeys(step.campaign for step in steps))
    places: dict[str, dict[str, tuple[int, int]]] = {}
    for step in steps:
        for row in step.ranked:
            if row.ranks is not None:
                held = places.setdefault(row.name, {})
                held[step.campaign] = min(held.get(step.campaign, row.ranks), row.ranks)
    rows: list[tuple[Cell, ...]] = [
        (name, *(_ranks(held.get(campaign)) for campaign in campaigns)) for name, held in sorted(places.items())
    ]
    note = "The best range of ranks over the boards of a campaign. A team with two names has two rows."
    return Table("Teams", ("Team", *campaigns), rows, note)


def _ranks(ranks: tuple[int, int] | None) -> str:
    return "–" if ranks is None else str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _sentences(tasks: Sequence[tuple[str, str, str]], steps: Sequence[Step]) -> Iterator[str]:
    for task in tasks:
        found = _best([step for step in steps if _task(step) == task])
        first, last = found[0], found[-1]
        name = display_name(task[2], task[0])
        what = " ".join(filter(None, task[:2]))
        since = f" from {first[1].value:.4g} ({first[0].label}) to" if len(found) > 1 else ""
        yield f"{what}: {name}{since} {last[1].value:.4g} ({last[0].label})."


def _as_data(step: Step) -> dict[str, object]:
    best = step.ranked[0]
    return {
        "campaign": step.campaign,
        "board": step.title,
        "task": step.board.task,
        "language": step.board.language,
        "metric": step.board.metric,
        "closes": step.closes.isoformat(),
        "systems": len(step.ranked),
        "best": best.name,
        "value": best.value,
        "interval": [best.low, best.high],
        "verdict": board_verdict(step.board),
    }
