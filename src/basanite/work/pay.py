"""Pay: what each judge has earned, what an hour came to, and a warning where that is below the floor (P-22).

All work that was done is paid, whatever was answered: nothing here looks at answers, and nothing rejects.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Final

from basanite.work.answers import Judgement
from basanite.work.scheme import Pay

RULE: Final = "P-22"
CENT: Final = Decimal("0.01")
COLUMNS: Final = ("judge", "items", "hours", "currency", "amount", "rate_per_hour", "below_floor")


@dataclass(frozen=True)
class Statement:
    """What one judge did and has earned."""

    judge: str
    items: int
    seconds: float
    """Time that counts: an item counts for no longer than the scheme says."""
    capped: int
    """Items that took longer than that."""
    amount: Decimal
    currency: str
    floor: float

    @property
    def hours(self) -> float:
        """The same in hours."""
        return self.seconds / 3600

    @property
    def rate(self) -> float | None:
        """What an hour came to; None where no time was taken."""
        return float(self.amount) / self.hours if self.hours > 0 else None

    @property
    def below_floor(self) -> bool:
        """Whether an hour came to less than the campaign allows."""
        return self.rate is not None and self.floor > 0 and self.rate < self.floor - 1e-9

    @property
    def bonus(self) -> Decimal:
        """What is missing to the floor: a bonus that an organiser may pay."""
        lacking = Decimal(str(self.floor)) * Decimal(str(self.hours)) - self.amount
        return max(lacking, Decimal(0)).quantize(CENT, ROUND_UP) if self.below_floor else Decimal(0)

    def sentence(self) -> str:
        """The statement in words."""
        done = f"{self.items} items in {self.hours:.2f} hours: {self.amount} {self.currency}".rstrip()
        rate = "" if self.rate is None else f", {self.rate:.2f} an hour"
        low = f"; below the floor of {self.floor:g}, {self.bonus} are missing" if self.below_floor else ""
        return f"{done}{rate}{low}."


def statements(judgements: Iterable[Judgement], pay: Pay) -> tuple[Statement, ...]:
    """A statement for every judge; each item is paid once, all roles alike.

    >>> done = [Judgement("i1", "ann", {}, seconds=90), Judgement("i2", "ann", {}, seconds=90)]
    >>> statements(done, Pay(per_item=0.5, currency="EUR", floor=12))[0].sentence()
    '2 items in 0.05 hours: 1.00 EUR, 20.00 an hour.'
    """
    work: dict[str, dict[str, float]] = {}
    for each in judgements:
        mine = work.setdefault(each.judge, {})
        mine[each.item] = mine.get(each.item, 0.0) + max(each.seconds, 0.0)
    return tuple(_statement(judge, mine, pay) for judge, mine in sorted(work.items()))


def _statement(judge: str, mine: Mapping[str, float], pay: Pay) -> Statement:
    seconds = sum(min(each, pay.longest_seconds) for each in mine.values())
    by_item = Decimal(str(pay.per_item)) * len(mine)
    by_hour = Decimal(str(pay.per_hour)) * Decimal(str(seconds)) / 3600
    capped = sum(each > pay.longest_seconds for each in mine.values())
    amount = (by_item + by_hour).quantize(CENT, ROUND_HALF_UP)
    return Statement(judge, len(mine), seconds, capped, amount, pay.currency, pay.floor)


def payroll(made: Iterable[Statement]) -> str:
    """Statements as a CSV file for anyone who pays; judges by their numbers, names are joined where they are kept."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in made:
        rate = "" if each.rate is None else f"{each.rate:.2f}"
        low = "yes" if each.below_floor else "no"
        writer.writerow((each.judge, each.items, f"{each.hours:.4f}", each.currency, each.amount, rate, low))
    return out.getvalue()
