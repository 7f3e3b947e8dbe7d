"""What may be set about the measures, by `--set` or as keywords: definitions, limits and the level of intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any, Final

import numpy as np

from basanite.analysis.results import Value
from basanite.errors import SettingError
from basanite.registry import suggestion
from basanite.representation.measures.all_measures import Options
from basanite.representation.measures.results import Floats, SampleFigures
from basanite.tasks import Setting
from basanite.tasks.settings import one_of, yes_or_no


def share(text: str) -> float:
    """A number between 0 and 1, both left out.

    >>> share("0.9")
    0.9
    """
    number = float(text)
    if not 0 < number < 1:
        raise ValueError("it must lie between 0 and 1")
    return number


def count(least: int, most: int, text: str) -> int:
    """A whole number inside bounds."""
    number = int(text)
    if not least <= number <= most:
        raise ValueError(f"it must lie between {least:,} and {most:,}")
    return number


def weights(text: str) -> tuple[float, float, float]:
    """Three numbers: l1, l2 and b.

    >>> weights("2,-3,0.5")
    (2.0, -3.0, 0.5)
    """
    try:
        first, second, constant = map(float, text.split(","))
    except ValueError:
        raise ValueError("it must be three numbers l1,l2,b") from None
    if not all(map(isfinite, (first, second, constant))):
        raise ValueError("it must be three finite numbers")
    return first, second, constant


def _choice(*words: str) -> Any:
    return partial(one_of, words)


SETTINGS: Final = (
    Setting(
        "weighting", "FERM 2: `classes` (means of means) or `pairs` (pooled).", _choice("classes", "pairs"), "classes"
    ),
    Setting("singletons", "Classes of one row: `omit`, or `zero` as the FERM paper.", _choice("omit", "zero"), "omit"),
    Setting(
        "average", "Silhouette: `micro` (over rows) or `macro` (over classes).", _choice("micro", "macro"), "micro"
    ),
    Setting(
        "point_biserial",
        "`pearson`, `nbclust` or `clustercrit`.",
        _choice("pearson", "nbclust", "clustercrit"),
        "pearson",
    ),
    Setting("q", "Davies-Bouldin: 1 (mean distance) or 2 (root mean square).", partial(count, 1, 2), 1),
    Setting(
        "coincident",
        "Davies-Bouldin, two classes with one centroid: `inf`, or `drop` the pair as scikit-learn.",
        _choice("inf", "drop"),
        "inf",
    ),
    Setting(
        "dunn",
        "Dunn: `points`, `centroids`, `centroid_diameter` or `point_centroid`.",
        _choice("points", "centroids", "centroid_diameter", "point_centroid"),
        "points",
    ),
    Setting(
        "c_root_k",
        "C-root-K: mean `of_roots`, or `root_of_mean` as clusterCrit.",
        _choice("of_roots", "root_of_mean"),
        "of_roots",
    ),
    Setting(
        "constants",
        "C-root-K, features that never change: `omit`, count as `zero`, or `nan`.",
        _choice("omit", "zero", "nan"),
        "omit",
    ),
    Setting("shrunk", "H-score with the Ledoit-Wolf covariance: yes or no.", yes_or_no, False),
    Setting(
        "precision",
        "Tiles of distances: `float64`, the same on every machine, or `float32`, about twice as fast.",
        _choice("float32", "float64"),
        "float64",
    ),
    Setting("plan", "OTCE: `exact` or `entropic` transport.", _choice("exact", "entropic"), "exact"),
    Setting("otce_rows", "OTCE: the most rows a side.", partial(count, 2, 5000), 1000),
    Setting("otce_weights", "OTCE: l1,l2,b fitted on other tasks, like -0.2,-0.8,1.", weights, None),
    Setting("level", "Level of the intervals, like 0.95.", share, 0.95),
    Setting("accurate", "From this accuracy on a class or group counts as accurate.", share, 0.9),
    Setting("misplaced", "From this share of misplaced rows on it counts as badly formed.", share, 0.25),
)
"""Every setting of `measure`."""
_OPTIONS: Final = (
    "weighting",
    "singletons",
    "average",
    "point_biserial",
    "q",
    "shrunk",
    "precision",
    "plan",
    "otce_rows",
)
_RIVALS: Final = ("coincident", "dunn", "c_root_k", "constants", "otce_weights")
"""Written down only where they were chosen, so that the usual definitions keep the signature they always had."""


@dataclass(frozen=True)
class Choices:
    """The settings of a run, all of them decided before the data are looked at."""

    options: Options = field(default_factory=Options)
    level: float = 0.95
    accurate: float = 0.9
    misplaced: float = 0.25

    @property
    def as_dict(self) -> dict[str, Any]:
        """The settings as a result lists them."""
        mine = {"level": self.level, "accurate": self.accurate, "misplaced": self.misplaced}
        usual = Options()
        chosen = (name for name in _RIVALS if getattr(self.options, name) != getattr(usual, name))
        return {**{name: getattr(self.options, name) for name in (*_OPTIONS, *chosen)}, **mine}


def choices(given: Mapping[str, Any], *, seed: int = 0) -> Choices:
    """The settings that were given, the others as they are by default.

    >>> choices({"singletons": "zero"}).options.singletons
    'zero'
    """
    known = {setting.name: setting for setting in SETTINGS}
    for name in given:
        if name not in known:
            raise SettingError(f"measure has no setting {name!r}. {suggestion(name, tuple(known))}")
    return choices_of({name: setting.read(given[name]) for name, setting in known.items() if name in given}, seed=seed)


def choices_of(read: Mapping[str, Any], *, seed: int = 0) -> Choices:
    """The settings that were read, the others as they are by default."""
    values = {setting.name: read.get(setting.name, setting.default) for setting in SETTINGS}
    options = Options(**{name: values[name] for name in (*_OPTIONS, *_RIVALS)}, seed=seed)
    return Choices(options, values["level"], values["accurate"], values["misplaced"])


FLAG: Final = "accurate but badly formed"
Levels = Mapping[str, Mapping[str, Value]]


def misplaced_rows(samples: SampleFigures) -> Floats:
    """1 for each row that is more similar to another class than to its own, else 0; a class of one row has none.

    >>> misplaced_rows(SampleFigures(np.array([0.9, 0.2]), np.array([0.1, 0.6]), np.array([1, 0]))).tolist()
    [0.0, 1.0]
    """
    return np.asarray(np.nan_to_num(samples.own_cosine, nan=np.inf) < samples.rival_cosine, dtype=np.float64)


def flag_badly_formed(levels: Levels, choices: Choices) -> dict[str, dict[str, Value]]:
    """The same values, with the flag on the accuracy of what is accurate and yet has many rows misplaced."""
    made = {name: dict(values) for name, values in levels.items()}
    for found in made.values():
        if not {"accuracy", "misplaced"} <= found.keys():
            continue
        if found["accuracy"].value >= choices.accurate and found["misplaced"].value >= choices.misplaced:
            found["accuracy"] = replace(found["accuracy"], flags=(FLAG, *found["accuracy"].flags))
    return made


def badly_formed(breakdowns: Mapping[str, Levels]) -> Iterator[tuple[str, str]]:
    """Every class and group that carries the flag, as factor and level."""
    for factor, levels in breakdowns.items():
        for level, values in levels.items():
            if "accuracy" in values and FLAG in values["accuracy"].flags:
                yield factor, level
