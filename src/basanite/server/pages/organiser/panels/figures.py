"""Agreement in lines with its interval or the reason why there is none, and the charts of a dashboard (R-5, S-20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from basanite.campaign.panels.watching.looking import Agreement, Heat, Progress
from basanite.figures import Axis, Chart, Table
from basanite.metrics.judgement.estimate import FEWEST_ITEMS, Estimate
from basanite.server.catalogue import plural, said


@dataclass(frozen=True)
class AgreementLine:
    """One figure of agreement; without a value there is a reason."""

    measure: str
    of: str
    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""


def agreement_lines(stands: Progress) -> tuple[AgreementLine, ...]:
    """Every figure of agreement of a panel, question by question."""
    return tuple(line for one in stands.agreement for line in _of_question(one))


def _of_question(one: Agreement) -> Iterator[AgreementLine]:
    yield _line(said("Krippendorff's alpha, {level}", level=one.level), one.title, one.alpha)
    yield _line(said("same answer, of all pairs"), one.title, one.percent)
    if one.mean is not None:
        yield _line(said("reliability of the panel's mean, ICC(1,k)"), one.title, one.mean)


def _line(measure: str, of: str, found: Estimate) -> AgreementLine:
    value = found.value if found.defined else None
    why = found.reason or said("no interval with fewer than {least} items", least=FEWEST_ITEMS)
    return AgreementLine(measure, of, value, found.low, found.high, why)


def heat_chart(heat: Heat, names: Mapping[str, str]) -> Chart:
    """Every two judges: how far they agree on the items they share."""
    labels = [f"{at} {names.get(person, '')}".strip() for at, person in enumerate(heat.judges, 1)]
    size = range(len(labels))
    rows = [
        (labels[one], labels[other], heat.cells[one][other], heat.shared[one][other]) for one in size for other in size
    ]
    columns = (said("judge"), said("other judge"), said("agreement"), said("shared items"))
    table = Table(said("Agreement of every two judges"), columns, rows)
    x, y = Axis(columns[1], columns[1], "category"), Axis(columns[0], columns[0], "category")
    return Chart(said("Who agrees with whom"), _summary(heat), "heat", table, x, y, shade=columns[2])


def _summary(heat: Heat) -> str:
    known = [cell for row in heat.cells for cell in row if cell is not None]
    if not known:
        return said("No two judges share an item yet.")
    words = said(
        "From {low} to {high}; 1 is the same answer everywhere.", low=f"{min(known):.2f}", high=f"{max(known):.2f}"
    )
    left = plural(
        heat.left_out, "{count} judge with less work is left out.", "{count} judges with less work are left out."
    )
    return f"{words} {left.striptags()}" if heat.left_out else words
