"""The panels themselves: how far judges agree, how each differs from the rest, and how rankings fit stars (R-5)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from basanite.figures import Cell, Figure, Table
from basanite.metrics.judgement.agreement import (
    CONCORDANT,
    class_agreement,
    judge_figures,
    kendalls_w,
    percent_agreement,
    rank_consistency,
)
from basanite.metrics.judgement.alpha import alpha_with_interval
from basanite.metrics.judgement.estimate import Estimate, Reals, with_interval
from basanite.metrics.judgement.intraclass import intraclass, reliability_of_mean
from basanite.tasks.readability.verdict import Examined

PANELS = ("expert", "novice")
DRAWS = 200
"""For intervals that are computed draw by draw."""


def panel_figures(examined: Examined) -> Iterator[Figure]:
    """All tables about the panels that have something in them."""
    present = [panel for panel in PANELS if examined.panels.names[panel]]
    rows = [row for panel in present for row in _agreement(panel, examined.panels.ratings[panel])]
    note = "Intervals draw passages. The reference is a mean, so the reliability of the mean stands beside alpha."
    yield Table("Agreement of the panels", ("Panel", "Measure", "Value", "Low", "High", "Remark"), rows, note)
    yield _judges(examined, present)
    yield _classes(examined, present)
    yield from _rounds(examined, present)


def _agreement(panel: str, ratings: Reals) -> Iterator[tuple[Cell, ...]]:
    classes = intraclass(ratings)
    found: dict[str, Estimate] = {
        "alpha, ordinal": alpha_with_interval(ratings, "ordinal"),
        "alpha, interval": alpha_with_interval(ratings, "interval"),
        "equal pairs": with_interval(ratings, percent_agreement, draws=DRAWS),
        "ICC(1), one rating": classes.one_way,
        "ICC(1,k), the mean of a passage": with_interval(ratings, reliability_of_mean, draws=DRAWS),
        "ICC(C,1), one rating, bias forgiven": classes.consistency,
        "ICC(C,k), the mean of the panel": with_interval(ratings, _mean_of_panel, draws=DRAWS),
    }
    yield (panel, "judges", ratings.shape[1], None, None, "")
    yield (panel, "ratings", int(np.count_nonzero(~np.isnan(ratings))), None, None, "")
    yield from ((panel, name, shown(one.value), one.low, one.high, one.reason) for name, one in found.items())


def _mean_of_panel(ratings: Reals) -> Estimate:
    return intraclass(ratings).consistency_mean


def shown(value: float) -> Cell:
    """A number for a table; undefined is empty, never 0."""
    return None if math.isnan(value) else value


def _judges(examined: Examined, present: list[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for panel in present:
        figures = judge_figures(examined.panels.ratings[panel])
        for at, (name, judge) in enumerate(zip(examined.panels.names[panel], figures, strict=True)):
            order = consistency(examined, panel, at)
            numbers = (judge.bias, judge.spread, judge.distance, judge.correlation.value, order.value)
            remark = "ranks oppose stars" if order.value < CONCORDANT else ""
            rows.append((name, panel, judge.items, *map(shown, numbers), remark))
    columns = ("Judge", "Panel", "Passages", "Bias", "Spread", "Distance", "Correlation", "Ranks as stars", "Remark")
    note = (
        "Against the mean of the others of the same panel on the same passages. Ranks as stars: the share of pairs "
        "with different stars in a round that the judge ranked in that order."
    )
    return Table("Each judge", columns, rows, note)


def consistency(examined: Examined, panel: str, at: int) -> Estimate:
    """How far one judge's rankings follow the judge's own stars, over all rounds."""
    ranks, stars = examined.panels.ranks[panel][:, at], examined.panels.ratings[panel][:, at]
    rounds = np.array([row[at] for row in examined.panels.rounds[panel]])
    found = [(rank_consistency(stars[here], ranks[here]), pairs) for here, pairs in _by_round(rounds, stars, ranks)]
    known = [(one.value, pairs) for one, pairs in found if one.defined]
    if not known:
        return Estimate(math.nan, "no ranks")
    return Estimate(sum(value * pairs for value, pairs in known) / sum(pairs for _, pairs in known))


def _by_round(rounds: np.ndarray, stars: Reals, ranks: Reals) -> Iterator[tuple[np.ndarray, int]]:
    for name in np.unique(rounds):
        here = (rounds == name) & ~np.isnan(ranks) & ~np.isnan(stars)
        pairs = int(np.count_nonzero(np.subtract.outer(stars[here], stars[here])))
        if pairs:
            yield here, pairs


def _classes(examined: Examined, present: list[str]) -> Table:
    rows = [
        (panel, f"{value:g}", shown(found.value))
        for panel in present
        for value, found in class_agreement(examined.panels.ratings[panel]).items()
    ]
    note = "The chance that another judge gives the same rating, given that one does; a rare rating hides in alpha."
    return Table("Agreement on single ratings", ("Panel", "Rating", "Agreement"), rows, note, detail=True)


def _rounds(examined: Examined, present: list[str]) -> Iterator[Table]:
    """Kendall's W of each round that a panel ranked."""
    rows: list[tuple[Cell, ...]] = []
    for panel in present:
        rounds, ranks = np.array(examined.panels.rounds[panel]), examined.panels.ranks[panel]
        for name in sorted(set(rounds.ravel()) - {""}):
            here = (rounds == name).any(axis=1)
            table = ranks[here]
            table = table[:, ~np.isnan(table).all(axis=0)]
            if table.size:
                found, whole = kendalls_w(table), int((~np.isnan(table).any(axis=1)).sum())
                rows.append((panel, str(name), table.shape[1], whole, shown(found.value), found.reason))
    if rows:
        columns = ("Panel", "Round", "Judges", "Passages", "Kendall's W", "Remark")
        yield Table(
            "Agreement of rankings", columns, rows, "Over the passages of a round that all of its judges ranked."
        )
