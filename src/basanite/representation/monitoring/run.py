"""Batches of new data against a reference: do their measures leave the band, how much is new, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from basanite.errors import FeaturesError, SettingError, UnknownNameError
from basanite.metrics.representation.everything import NAMES, Options, measure
from basanite.registry import suggestion
from basanite.representation.data import Data
from basanite.representation.monitoring.actions import USUAL, Actions, actions_of
from basanite.representation.monitoring.band import Bands, bands_of, drawing_of
from basanite.representation.monitoring.share import MixCurve, Share, mix_curves, shares_of
from basanite.representation.threads import threads_for

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
    def watched(self) -> tuple[str, ...]:
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
        raise SettingError("Give at least one batch to look at.")
    found, curves = [], {}
    with threads_for(reference.rows * reference.dimensions):
        for at, batch in enumerate(batches, 1):
            one, curve = _watched(reference, batch, plan, target, executor)
            found.append(one)
            curves[batch.name] = curve
            progress("batch", at, len(batches))
    return Monitor(reference, target, plan, tuple(found), curves)


def _watched(
    reference: Data, batch: Data, plan: MonitorPlan, target: Data | None, executor: Executor | None
) -> tuple[Watched, dict[str, MixCurve]]:
    if batch.dimensions != reference.dimensions:
        raise FeaturesError(
            f"{batch.name} has {batch.dimensions} features a row, the reference {reference.dimensions}: "
            "both must come from the same layer of one model."
        )
    names, drawing = plan.watched, drawing_of(reference, batch.classes)
    values = _values(batch, names, plan.options)
    bands = bands_of(
        reference,
        drawing,
        names,
        plan.options,
        draws=plan.draws,
        seed=plan.seed,
        false_alarms=plan.false_alarms,
        executor=executor,
    )
    left = tuple(name for name in names if not bands.bands[name].low <= values[name] <= bands.bands[name].high)
    known = set(reference.classes.names)
    new = tuple(str(name) for name in batch.classes.names if name not in known)
    curves = _curves(reference, target, plan, bands, executor) if target is not None else {}
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


def _curves(
    reference: Data, target: Data, plan: MonitorPlan, bands: Bands, executor: Executor | None
) -> dict[str, MixCurve]:
    return mix_curves(
        reference,
        target,
        bands.drawing,
        plan.watched,
        plan.options,
        draws=plan.mix_draws,
        seed=plan.seed,
        level=plan.level,
        executor=executor,
    )
