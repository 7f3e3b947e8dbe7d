"""Teams in order, for one condition, task and metric at a time, with what is significant; never one over all (H-23)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from basanite.analysis.ranking import groups, holm, rank_ranges
from basanite.harness.analysis.gains import Comparer
from basanite.harness.analysis.model import Pair, TeamRanking
from basanite.harness.analysis.standing import run_of


def team_ranking(
    comparer: Comparer, teams: Sequence[str], condition: int, *, missing: Mapping[str, str], alpha: float
) -> TeamRanking:
    """The teams that have a run of this condition, the best first; p adjusted over all pairs by Holm."""
    found = [team for team in teams if team not in missing]
    values = {team: comparer.value(run_of(condition, team)).value for team in found}
    order = sorted(found, key=lambda team: values[team] if comparer.low else -values[team])
    pairs = _pairs(comparer, order, condition)
    beaten = {_winner(pair) for pair in pairs if pair.p_adjusted <= alpha and pair.gain.value != 0}
    return TeamRanking(
        comparer.metric,
        "low" if comparer.low else "high",
        condition,
        tuple(order),
        values,
        pairs,
        groups(order, beaten),
        rank_ranges(order, beaten),
        missing,
    )


def _pairs(comparer: Comparer, order: Sequence[str], condition: int) -> tuple[Pair, ...]:
    places = list(combinations(order, 2))
    gains = [comparer.gain(run_of(condition, first), run_of(condition, second)) for first, second in places]
    adjusted = holm([gain.p for gain in gains])
    return tuple(Pair(first, second, gain, p) for (first, second), gain, p in zip(places, gains, adjusted, strict=True))


def _winner(pair: Pair) -> tuple[str, str]:
    return (pair.first, pair.second) if pair.gain.value > 0 else (pair.second, pair.first)


def said(ranking: TeamRanking, names: Mapping[str, str], alpha: float) -> str:
    """The ranking as a sentence, with whether its differences are significant."""
    if not ranking.order:
        return "No team has a value here."
    line = " before ".join(f"{names[team]} ({ranking.values[team]:.4g})" for team in ranking.order)
    if len(ranking.order) == 1:
        return f"{line}: the only team with a value."
    shown = [pair for pair in ranking.pairs if pair.p_adjusted <= alpha]
    same = [pair for pair in ranking.pairs if pair.gain.error == 0 and pair.gain.value == 0]
    if len(same) == len(ranking.pairs):
        return f"{line}: the results are the same."
    if not shown:
        return f"{line}: no difference is significant."
    if len(shown) == len(ranking.pairs):
        return f"{line}: {'the difference is' if len(shown) == 1 else 'all differences are'} significant."
    parts = ", ".join(f"{names[pair.first]} and {names[pair.second]}" for pair in shown)
    return f"{line}: significant between {parts}; not between the others."
