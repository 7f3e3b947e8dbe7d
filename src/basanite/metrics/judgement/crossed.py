"""The machine's lead over novices on each readability metric, with passages and novices both drawn again (S-3).

The plan's null mixes novices passage by passage, which takes away what each novice has of their own (a bias, a narrow
scale). Here whole novices and whole passages are drawn with replacement, so the interval speaks of other novices and
other passages. The lead is the machine's value less the mean of the novices' own; the score difference is such a lead
already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from basanite.kernel import column_ratio, ends_around, ratio, source_of
from basanite.metrics.judgement.readability import METRICS, Readings, Reals, gold_of, novice_errors, rows, rows_of
from basanite.metrics.relevance import pearson

DRAWS_AT_A_TIME = 256
MOST_UNDEFINED = 0.05


@dataclass(frozen=True)
class Lead:
    """Machine less novices, with its interval; none where more than 5% of the draws are undefined or it would exclude
    the value (S-24), and then the reason."""

    value: float
    low: float | None
    high: float | None
    undefined: int
    reason: str = ""


def drawn_weights(size: int, *, draws: int, source: np.random.PCG64) -> Reals:
    """How often each of `size` things is in each draw with replacement."""
    words = source.random_raw(draws * size).reshape(draws, size) >> np.uint64(32)
    chosen = ((words * np.uint64(size)) >> np.uint64(32)).astype(np.int64) + np.arange(draws)[:, None] * size
    return np.bincount(chosen.ravel(), minlength=draws * size).reshape(draws, size).astype(np.float64)


def leads(block: Readings, *, draws: int, seed: int, level: float = 0.95) -> dict[str, Lead]:
    """The lead on every metric, by its name."""
    passages, novices = block.novices.shape
    observed = _lead_values(block, np.ones((1, passages)), np.ones((1, novices)))[:, 0]
    found = np.concatenate(list(_lead_draws(block, draws=draws, seed=seed)), axis=1)
    return {metric.name: _lead(observed[at], found[at], level) for at, metric in enumerate(METRICS)}


def _lead_draws(block: Readings, *, draws: int, seed: int) -> Iterator[Reals]:
    passages, novices = block.novices.shape
    source = source_of(seed, "crossed")
    for start in range(0, draws, DRAWS_AT_A_TIME):
        count = min(DRAWS_AT_A_TIME, draws - start)
        kept = drawn_weights(passages, draws=count, source=source)
        yield _lead_values(block, kept, drawn_weights(novices, draws=count, source=source))


def _lead_values(block: Readings, kept: Reals, people: Reals) -> Reals:
    """`[3, draws]`: weights of passages, `kept[draws, passages]`, and of novices, `people[draws, novices]`."""
    gold = gold_of(block.experts)
    expected = _expected_errors(novice_errors(block.novices, gold), people)
    own = rows(block)
    compared = ~np.isnan(expected) & (own[:, 3] > 0)
    gain = np.where(compared, np.nan_to_num(expected) - np.abs(np.nan_to_num(gold.mean - block.machine)), 0)
    with np.errstate(all="ignore"):
        first = ratio((kept * gain).sum(axis=1), (kept * compared).sum(axis=1))
        worth = partial(column_ratio, top=2, bottom=3)
        theirs = [_novices_mean(block, kept, people, metric) for metric in (worth, pearson)]
        sums = kept @ own
        return np.stack([first, METRICS[1].value(sums) - theirs[0], METRICS[2].value(sums) - theirs[1]])


def _expected_errors(errors: Reals, people: Reals) -> Reals:
    """The mean error of the drawn novices on each passage, `[draws, passages]`; nan where none of them rated it."""
    known = ~np.isnan(errors)
    return ratio(people @ np.where(known, errors, 0).T, people @ known.T.astype(np.float64))


def _novices_mean(block: Readings, kept: Reals, people: Reals, value: Callable[[Reals], Reals]) -> Reals:
    """The mean of a metric over drawn novices, each taken as the machine; those it is undefined for count nothing."""
    gold, nobody = gold_of(block.experts), np.full(len(block.machine), np.nan)
    each = np.stack([value(kept @ rows_of(gold, column, nobody)) for column in block.novices.T], axis=1)
    known = ~np.isnan(each)
    return ratio((people * np.where(known, each, 0)).sum(axis=1), (people * known).sum(axis=1))


def _lead(observed: float, found: Reals, level: float) -> Lead:
    defined = found[np.isfinite(found)]
    undefined = len(found) - len(defined)
    if undefined > MOST_UNDEFINED * len(found) or not np.isfinite(observed):
        return Lead(float(observed), None, None, undefined, "too many draws are undefined")
    low, high = (float(end) for end in np.quantile(defined, ((1 - level) / 2, (1 + level) / 2)))
    around = ends_around(float(observed), (low, high), 1.0)  # ratings are of this size
    if around is None:
        return Lead(float(observed), None, None, undefined, "the estimate lies outside it")
    return Lead(float(observed), *around, undefined)


def redrawn(block: Readings) -> Callable[[int], Callable[[int], Reals]]:
    """For intervals: given a seed, a source of rows `[draws, passages, s]` in which whole novices are drawn again."""
    gold, fixed = gold_of(block.experts), rows(block)
    errors = novice_errors(block.novices, gold)

    def rows_of_seed(seed: int) -> Callable[[int], Reals]:
        source = source_of(seed, "novices")

        def some(count: int) -> Reals:
            people = drawn_weights(block.novices.shape[1], draws=count, source=source)
            expected = _expected_errors(errors, people)
            made = np.tile(fixed, (count, 1, 1))
            compared = ~np.isnan(expected) & (fixed[:, 3] > 0)
            own = np.abs(np.nan_to_num(gold.mean - block.machine))
            made[..., 0], made[..., 1] = np.where(compared, np.nan_to_num(expected) - own, 0), compared
            return made

        return some

    return rows_of_seed
