"""Trials: what one file says of how well systems did on items, whatever program wrote it.

A trial is one try of one system at one item; repeats of an item are trials of their own. Readers of single formats
give `Trials`; what is wrong with scores is found here, once for all of them, and nothing is dropped in silence: a trial
without a score, or a repeat that is missing, is a problem unless a setting says what it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.formats.records import Place
from basanite.problems import Findings, Problem, shortened

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

REFUSE, LOWEST, SKIP = "refuse", "lowest", "skip"
MISSING: Final = (REFUSE, LOWEST, SKIP)
"""What becomes of a trial without a score."""
MEASURES: Final = ("cost", "latency", "tokens")
"""What else a trial may say: numbers that are not negative."""
FLAGS: Final = ("refusal", "error")
"""What a trial may say with yes or no: 1 or 0."""
MISSING_FIX: Final = (
    "run it again, or set missing=lowest (it counts as the lowest score) or missing=skip (it is left out, and noted)"
)
MOST_EXPECTED: Final = 1_000_000
MOST_ADDED: Final = 10_000_000
"""No run has more repeats of an item, and no more missing trials than these are made up: a few bytes may claim any."""
NAMED: Final = 3
"""So many names are listed in a message."""


@dataclass(frozen=True)
class Trials:
    """The trials of one file, as columns of equal length, and what is known of items and of the run."""

    file: str
    digest: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    system: Numbers
    """The place of each trial's system among the systems."""
    item: Numbers
    """The place of each trial's item among the items."""
    score: Floats
    """No number (nan) where there is none."""
    lines: Sequence[int | None]
    """Where each trial stands; None where a file has no lines."""
    repeat: Sequence[Any] | Numbers | None = None
    """Which repeat of its item each trial is; None where the file does not say."""
    measures: Mapping[str, Floats] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further columns, one cell for each item: clusters and factors."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """How the run was made, where that must be the same for a comparison: task, version, prompt."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Why trials have no score, by their place."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What each item asked, by its id, to tell whether two runs asked the same."""
    notes: tuple[str, ...] = ()
    expected: int | None = None
    """How many trials of each item the run was to have, where the file says so."""
    unfinished: str = ""
    """Why the run did not come to its end, if it did not."""
    absent: tuple[str, ...] = ()
    """Items that the run was to try and has no trial of."""

    def __len__(self) -> int:
        return len(self.score)

    def chosen(self, rows: NDArray[np.bool_]) -> Trials:
        """These trials alone, with all systems and items."""
        places = np.flatnonzero(rows).tolist()
        number = {old: new for new, old in enumerate(places)}
        return replace(
            self,
            system=self.system[places],
            item=self.item[places],
            score=self.score[places],
            lines=[self.lines[at] for at in places],
            repeat=None if self.repeat is None else [self.repeat[at] for at in places],
            measures={name: column[places] for name, column in self.measures.items()},
            reasons={number[at]: why for at, why in self.reasons.items() if at in number},
        )

    def of_system(self, name: str) -> Trials:
        """The trials of one system, and the items that it has."""
        one = self.chosen(self.system == self.systems.index(name)) if len(self.systems) > 1 else self
        kept, item = np.unique(one.item, return_inverse=True)
        if len(kept) == len(self.items):
            return replace(one, systems=(name,), system=np.zeros(len(one), np.int64))
        return replace(
            one,
            systems=(name,),
            system=np.zeros(len(one), np.int64),
            items=tuple(self.items[at] for at in kept),
            item=item.astype(np.int64),
            columns={column: tuple(cells[at] for at in kept) for column, cells in self.columns.items()},
        )


@dataclass(frozen=True)
class Scale:
    """What scores may be, which of them are better, and what becomes of those that are missing."""

    low: float
    high: float
    better: str = "high"
    missing: str = REFUSE

    @property
    def worst(self) -> float:
        """The lowest score there is, in the sense of what is better."""
        return self.low if self.better == "high" else self.high


def checked_trials(trials: Trials, scale: Scale, place: Place, findings: Findings) -> Trials:
    """The trials that count; what is wrong with any of them is found, and what is missing counts as the scale says."""
    findings.extend(_repeats(trials, place))
    findings.extend(_outside(trials, scale, place))
    for name, numbers in trials.measures.items():
        findings.extend(_negative(trials, name, numbers, place))
    if scale.missing == REFUSE:
        findings.extend(_interruptions(trials, place))
        findings.extend(_missing_scores(trials, place))
        findings.extend(_uneven(trials, place))
        return trials
    if trials.unfinished:
        trials = replace(trials, notes=(*trials.notes, f"the run did not come to its end: {trials.unfinished}"))
    if scale.missing == SKIP:
        return _left_out(trials, int(np.count_nonzero(np.isnan(trials.score))))
    trials = _with_absent(trials)
    lacking = _lacking(trials)
    if lacking.sum() > MOST_ADDED:
        message, fix = f"more than {MOST_ADDED:,} repeats are missing", "set missing=skip, or give the whole run"
        findings.add(place.problem(trials.file, None, message, fix, kind="repeats"))
        return trials
    return _fill_gaps(trials, scale.worst, int(np.count_nonzero(np.isnan(trials.score))), lacking)


def trials_per_item(trials: Trials) -> Numbers:
    """How many trials each system has of each item: systems x items."""
    size = len(trials.items)
    counts = np.bincount(trials.system * size + trials.item, minlength=len(trials.systems) * size)
    return counts.reshape(len(trials.systems), size).astype(np.int64)


def _repeats(trials: Trials, place: Place) -> Iterator[Problem]:
    """The same repeat of an item twice; without numbers of repeats, the same item twice."""
    pair, size = trials.system * max(len(trials.items), 1) + trials.item, len(trials.systems) * len(trials.items)
    if trials.repeat is not None:
        codes = _repeat_codes(trials.repeat)
        number = int(codes.max(initial=0)) + 1
        pair, size = pair * number + codes, size * number
    if size <= 4 * len(pair) and (np.bincount(pair, minlength=size) <= 1).all():
        return  # quicker than to sort millions
    first = np.unique(pair, return_index=True)[1]
    again = np.ones(len(pair), bool)
    again[first] = False
    for at in np.flatnonzero(again).tolist():
        which = "" if trials.repeat is None else f", repeat {shortened(str(trials.repeat[at]))},"
        fix = "keep one record for each" if trials.repeat is not None else "number its repeats in a column 'repeat'"
        yield _problem(trials, at, place, f"{_name(trials, at)}{which} appears twice", fix)


def _repeat_codes(repeat: Sequence[Any] | Numbers) -> Numbers:
    """A number from 0 for each name of a repeat."""
    if isinstance(repeat, np.ndarray):
        return repeat
    names = {name: at for at, name in enumerate(dict.fromkeys(map(str, repeat)))}
    return np.array([names[str(name)] for name in repeat], np.int64)


def _outside(trials: Trials, scale: Scale, place: Place) -> Iterator[Problem]:
    """Scores beyond the ends of the scale."""
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero((trials.score < scale.low) | (trials.score > scale.high) | np.isinf(trials.score))
    fix = "set range=LOW..HIGH to the scale of the scores, like range=0..100"
    if 2 * len(wrong) > len(trials) > NAMED:  # another scale, and not that many mistakes (D-7)
        ends = f"{np.nanmin(trials.score):g} to {np.nanmax(trials.score):g}"
        message = f"{len(wrong)} of {len(trials)} scores lie outside {scale.low:g} to {scale.high:g}: they are {ends}"
        yield _problem(trials, int(wrong[0]), place, message, fix)
        return
    for at in wrong.tolist():
        message = f"the score {trials.score[at]:g} of {_name(trials, at)} lies outside {scale.low:g} to {scale.high:g}"
        yield _problem(trials, at, place, message, fix)


def _negative(trials: Trials, name: str, numbers: Floats, place: Place) -> Iterator[Problem]:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero((numbers < 0) | np.isinf(numbers))
    for at in wrong.tolist():
        message = f"the {name} {numbers[at]:g} of {_name(trials, at)} is not a number of 0 or more"
        yield _problem(trials, at, place, message, "write a number of 0 or more, or leave the cell empty")


def _interruptions(trials: Trials, place: Place) -> Iterator[Problem]:
    """A run that was cut off, and items that it never came to."""
    if trials.unfinished:
        yield place.problem(trials.file, None, f"the run did not come to its end: {trials.unfinished}", MISSING_FIX)
    if trials.absent:
        shown = ", ".join(map(repr, map(shortened, trials.absent[:NAMED]))) + (
            " …" if len(trials.absent) > NAMED else ""
        )
        message = f"{len(trials.absent)} items of the run have no trial: {shown}"
        yield place.problem(trials.file, None, message, MISSING_FIX, trials.absent[0], kind="absent")


def _with_absent(trials: Trials) -> Trials:
    """The trials with one without a score for each item that the run never came to."""
    if not trials.absent:
        return trials
    added, start = len(trials.absent), len(trials.items)
    nothing = np.full(added, np.nan)
    return replace(
        trials,
        items=(*trials.items, *trials.absent),
        system=np.concatenate([trials.system, np.zeros(added, np.int64)]),
        item=np.concatenate([trials.item, np.arange(start, start + added)]),
        score=np.concatenate([trials.score, nothing]),
        lines=[*trials.lines, *[None] * added],
        repeat=None,
        measures={name: np.concatenate([column, nothing]) for name, column in trials.measures.items()},
        columns={name: (*cells, *[""] * added) for name, cells in trials.columns.items()},
    )


def _missing_scores(trials: Trials, place: Place) -> Iterator[Problem]:
    """Trials that have no score, and why."""
    causes: dict[str, list[int]] = {}
    for at in np.flatnonzero(np.isnan(trials.score)).tolist():
        causes.setdefault(trials.reasons.get(at, ""), []).append(at)
    for cause, places in causes.items():
        why = f" ({shortened(cause)})" if cause else ""
        if cause and len(places) > NAMED:  # one cause is one problem (D-7)
            first = _name(trials, places[0])
            message = f"{len(places)} of {len(trials)} trials have no score{why}, the first of {first}"
            yield _problem(trials, places[0], place, message, MISSING_FIX, kind="missing")
            continue
        for at in places:
            yield _problem(trials, at, place, f"{_name(trials, at)} has no score{why}", MISSING_FIX, kind="missing")


def _uneven(trials: Trials, place: Place) -> Iterator[Problem]:
    """Items that have fewer trials than others of the same system, or than the run was to have."""
    for number, counts in enumerate(trials_per_item(trials)):
        there = counts[counts > 0]
        most = max(int(there.max(initial=0)), _planned_repeats(trials))
        few = np.flatnonzero((counts > 0) & (counts < most))
        if len(few):
            who = f" of {trials.systems[number]}" if len(trials.systems) > 1 else ""
            message = (
                f"{len(few)} of {len(there)} items{who} have fewer than {most} repeats, such as "
                f"{shortened(trials.items[few[0]])!r} with {counts[few[0]]}"
            )
            yield place.problem(trials.file, None, message, MISSING_FIX, trials.items[few[0]], kind="repeats")


def _left_out(trials: Trials, without: int) -> Trials:
    failed = np.isin(np.arange(len(trials)), np.flatnonzero(trials.measures.get("error", np.zeros(0)) == 1))
    left = trials.chosen(~np.isnan(trials.score) | failed) if without else trials  # failed trials count as errors alone
    counts = trials_per_item(left)
    most = np.maximum(counts.max(axis=1, initial=0), _planned_repeats(trials))
    few = int(np.count_nonzero((counts > 0) & (counts < most[:, None])))
    gone = sorted(set(range(len(trials.items))) - set(left.item[~np.isnan(left.score)].tolist()))
    absent = len(trials.absent)
    notes = [f"{absent} items of the run have no trial and are left out (missing=skip)"] * bool(absent)
    notes += [f"{without} of {len(trials)} trials have no score and are left out (missing=skip)"] * bool(without)
    if few:
        notes.append(
            f"{few} items have fewer repeats than others; each counts by the mean of those it has (missing=skip)"
        )
    if gone:
        shown = ", ".join(trials.items[at] for at in gone[:NAMED]) + (" …" if len(gone) > NAMED else "")
        notes.append(f"{len(gone)} items have no trial with a score and are left out: {shown}")
    return replace(left, notes=(*trials.notes, *notes))


def _planned_repeats(trials: Trials) -> int:
    """How many repeats of each item the run was to have, as far as it can be believed."""
    return trials.expected if trials.expected is not None and 0 < trials.expected <= MOST_EXPECTED else 0


def _lacking(trials: Trials) -> Numbers:
    """How many repeats each item lacks in each system: systems x items."""
    counts = trials_per_item(trials)
    most = np.maximum(counts.max(axis=1, initial=0), _planned_repeats(trials))
    return np.asarray(np.where(counts > 0, most[:, None] - counts, 0), np.int64)


def _fill_gaps(trials: Trials, worst: float, without: int, lacking: Numbers) -> Trials:
    """The trials with the lowest score for each that has none, and for each repeat that is not there."""
    size = lacking.shape[1]
    system, item = (np.repeat(part, lacking.ravel()) for part in np.divmod(np.arange(lacking.size), size))
    added = len(system)
    if not without and not added:
        return trials
    note = (
        f"{without + added} trials without a score, {added} of them missing repeats, count {worst:g} (missing=lowest)"
    )
    nothing = np.full(added, np.nan)
    return replace(
        trials,
        system=np.concatenate([trials.system, system]).astype(np.int64),
        item=np.concatenate([trials.item, item]).astype(np.int64),
        score=np.concatenate([np.where(np.isnan(trials.score), worst, trials.score), np.full(added, worst)]),
        lines=[*trials.lines, *[None] * added],
        repeat=None,
        measures={name: np.concatenate([column, nothing]) for name, column in trials.measures.items()},
        notes=(*trials.notes, note),
    )


def _name(trials: Trials, at: int) -> str:
    who = f" of {trials.systems[trials.system[at]]}" if trials.systems != ("",) else ""
    return f"item {shortened(trials.items[trials.item[at]])!r}{who}"


def _problem(trials: Trials, at: int, place: Place, message: str, fix: str, **more: Any) -> Problem:
    return place.problem(trials.file, trials.lines[at], message, fix, trials.items[trials.item[at]], **more)
