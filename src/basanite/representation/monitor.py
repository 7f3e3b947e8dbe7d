"""Batches of new data against a reference: do their measures leave the band, how much is new, and what to do."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from basanite.errors import FeaturesError, SettingError, UnknownNameError
from basanite.formats.bounded import read_bounded
from basanite.registry import suggestion
from basanite.representation.data import Data, threads_for
from basanite.representation.drift import Bands, MixCurve, Sampling, Share, bands_of, drawing_of, mix_curves, shares_of
from basanite.representation.measures.all_measures import NAMES, Options, measure

USUAL: Final = "0=keep,0.2=fine-tune,0.5=retrain"
MOST_BYTES: Final = 1 << 16


@dataclass(frozen=True)
class Actions:
    """Actions by the share from which they hold, in rising order; the first holds from 0."""

    starts: tuple[float, ...]
    names: tuple[str, ...]

    def at(self, share: float) -> str:
        """The action at a share of new data.

        >>> actions_of("0=keep,0.2=fine-tune,0.5=retrain").at(0.3)
        'fine-tune'
        """
        return self.names[max(sum(start <= share for start in self.starts) - 1, 0)]

    def between(self, low: float, high: float) -> tuple[str, ...]:
        """Every action that may be right if the share lies between these."""
        kept = [self.at(low), *(name for start, name in self.pairs if low < start <= high)]
        return tuple(dict.fromkeys(kept))

    @property
    def pairs(self) -> tuple[tuple[float, str], ...]:
        """Shares with their actions."""
        return tuple(zip(self.starts, self.names, strict=True))


def actions_of(text: str) -> Actions:
    """The table from `0=keep,0.2=fine-tune,…`, or from a file with lines `share,action`."""
    if "=" not in text:
        text = _from_file(Path(text))
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    try:
        starts = tuple(float(start) for start, _, _ in pairs)
    except ValueError as error:
        raise _wrong(text) from error
    names = tuple(name.strip() for _, _, name in pairs)
    rising = all(low < high for low, high in pairwise(starts))
    if not starts or starts[0] != 0 or not rising or starts[-1] > 1 or not all(names):
        raise _wrong(text)
    return Actions(starts, names)


def _from_file(path: Path) -> str:
    text = read_bounded(path, MOST_BYTES).decode("utf-8-sig", "backslashreplace")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    body = rows[1:] if rows and not rows[0][0].strip().replace(".", "", 1).isdigit() else rows
    if not body or any(len(row) != 2 for row in body):
        raise _wrong(path.name)
    return ",".join(f"{start}={name}" for start, name in body)


def _wrong(text: str) -> SettingError:
    return SettingError(
        f"{text!r} is not a table of actions. Write shares of new data, rising from 0, each with what to do: {USUAL}"
    )


WATCHED: Final = ("ferm1", "ferm2", "gap", "collapse", "silhouette", "rs", "point_biserial")
NOT_WATCHED: Final = ("leep", "otce_wd", "otce_wt")
DRAWS: Final = 300
MIX_DRAWS: Final = 60
FALSE_ALARMS: Final = 0.05


@dataclass(frozen=True)
class MonitorPlan:
    """Everything that is fixed before a batch is looked at."""

    names: tuple[str, ...] = WATCHED
    by: str = "ferm1"
    """The measure whose curve tells the share of new data."""
    options: Options = field(default_factory=Options)
    actions: Actions = field(default_factory=lambda: actions_of(USUAL))
    false_alarms: float = FALSE_ALARMS
    draws: int = DRAWS
    mix_draws: int = MIX_DRAWS
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        for name in (*self.names, self.by):
            if name not in NAMES or name in NOT_WATCHED:
                known = tuple(one for one in NAMES if one not in NOT_WATCHED)
                raise UnknownNameError(f"No measure to watch is called {name!r}. {suggestion(name, known)}")
        if not 0 < self.false_alarms < 0.5:
            raise SettingError(f"A false-alarm rate of {self.false_alarms} cannot be used: it lies between 0 and 0.5.")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, the one that tells the share among them."""
        return tuple(name for name in NAMES if name in {*self.names, self.by})


@dataclass(frozen=True)
class Watched:
    """What was found about one batch."""

    data: Data
    values: Mapping[str, float]
    bands: Bands
    left: tuple[str, ...]
    """Measures that left their band."""
    new_classes: tuple[str, ...]
    """Labels that the reference does not have."""
    shares: Mapping[str, Share]
    share: Share | None
    action: str | None
    possible: tuple[str, ...]
    """Every action that the interval of the share allows."""

    @property
    def alarm(self) -> bool:
        """Whether something left the reference: a measure its band, or a label the known classes."""
        return bool(self.left or self.new_classes)


@dataclass(frozen=True)
class Monitor:
    """All batches against one reference."""

    reference: Data
    target: Data | None
    plan: MonitorPlan
    batches: tuple[Watched, ...]
    curves: Mapping[str, Mapping[str, MixCurve]]
    """By batch, then by measure."""

    @property
    def alarm_rate(self) -> float:
        """The share of batches with an alarm."""
        return sum(batch.alarm for batch in self.batches) / len(self.batches)


def monitor(
    reference: Data,
    batches: Sequence[Data],
    plan: MonitorPlan,
    *,
    target: Data | None = None,
    progress: Callable[[str, int, int], None] = lambda name, done, of: None,
    executor: Executor | None = None,
) -> Monitor:
    """Hold every batch against bands made for it from the reference; with a target, estimate what share is new."""
    if not batches:
        raise SettingError("Give at least one batch.")
    found, curves = [], {}
    with threads_for(reference.rows * reference.dimensions):
        for at, batch in enumerate(batches, 1):
            one, curve = _check_batch(reference, batch, plan, target, executor)
            found.append(one)
            curves[batch.name] = curve
            progress("batch", at, len(batches))
    return Monitor(reference, target, plan, tuple(found), curves)


def _check_batch(
    reference: Data, batch: Data, plan: MonitorPlan, target: Data | None, executor: Executor | None
) -> tuple[Watched, dict[str, MixCurve]]:
    if batch.dimensions != reference.dimensions:
        raise FeaturesError(
            f"{batch.name} has {batch.dimensions} features a row, the reference {reference.dimensions}: "
            "both must come from the same layer of one model."
        )
    names, drawing = plan.measures, drawing_of(reference, batch.classes)
    values = _values(batch, names, plan.options)
    sampling = Sampling(names, plan.options, plan.draws, plan.seed, executor)
    bands = bands_of(reference, drawing, sampling, false_alarms=plan.false_alarms)
    left = tuple(name for name in names if not bands.bands[name].low <= values[name] <= bands.bands[name].high)
    known = set(reference.classes.names)
    new = tuple(str(name) for name in batch.classes.names if name not in known)
    curves = {}
    if target is not None:
        mixing = replace(sampling, draws=plan.mix_draws)
        curves = mix_curves(reference, target, drawing, mixing, level=plan.level)
    shares = shares_of(values, curves)
    share = shares.get(plan.by)
    told = share is not None and share.value == share.value
    action = plan.actions.at(share.value) if share is not None and told else None
    possible = plan.actions.between(share.low, share.high) if share is not None and told else ()
    return Watched(batch, values, bands, left, new, shares, share, action, possible), curves


def _values(batch: Data, names: Sequence[str], options: Options) -> dict[str, float]:
    if len(batch.classes) < 2:
        return dict.fromkeys(names, float("nan"))
    found = measure(batch.features, batch.classes, names=names, options=options).values
    return {name: found[name].value for name in names}
