"""A judge's license: which model by which prompt and rubric, how far it agrees with people, and until when (L-7).

Anchors are items that people judged and the model was asked about when it was licensed. They are asked again beside
the items of every later run, where they look like any other; a model that answers them differently has drifted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.analysis.interval_methods import exact_bounds
from basanite.canonical import ten_digits
from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.kernel import SIGNED_SHARE, source_of
from basanite.metrics.judgement.estimate import Estimate
from basanite.models.calibration import Calibration, mean_estimate
from basanite.models.judge_tables import Key, Said, majority
from basanite.work.agreement import Said as Rating
from basanite.work.agreement import agreement_of
from basanite.work.questions import Question

FORMAT: Final = "basanite-judge-license/1"
LICENSE, ANCHORS, CALIBRATION = "license.json", "anchors.csv", "calibration.jsonl"
WHO: Final = ("judge", "model", "prompt", "rubric")
MOST_LEVELS: Final = 20
LARGEST: Final = 16 << 20
MOST_ANCHORS: Final = 50
ALARM: Final = 0.01
FLIPS: Final = 9_999


def license_of(
    found: Calibration,
    judge: Mapping[Key, Said],
    people: Mapping[Key, Said],
    question: Question,
    header: Mapping[str, str],
    dates: tuple[date, int],
) -> dict[str, Any]:
    """The license that a calibration gives a judge, for so many days from a date."""
    made, days = dates
    shared = {key: (judge[key], people[key]) for key in people if key in judge and judge[key].values}
    name, agreement = _agreement(shared, question)
    return {
        "format": FORMAT,
        **{one: header[one] for one in WHO},
        "question": question.id,
        "made": made.isoformat(),
        "expires": (made + timedelta(days=days)).isoformat(),
        "labels": int(found.part.labelled.sum()),
        "items": len(found.items),
        "agreement": {"figure": name, **_cells(agreement)},
        "by_class": _by_class(shared, question),
        "by_group": _by_group(shared),
        "invalid": found.invalid,
    }


def _agreement(shared: Mapping[Key, tuple[Said, Said]], question: Question) -> tuple[str, Estimate]:
    """Chance-corrected agreement of the judge with people: kappa of answers, or the intraclass correlation."""
    rows = []
    for (system, item), (machine, person) in sorted(shared.items()):
        name = f"{system}:{item}"
        sides = (("judge", machine), ("people", person))
        values = [(who, str(one.mean) if question.numeric else majority(one.words)) for who, one in sides]
        if all(value for _, value in values):
            rows += [Rating(who, name, value) for who, value in values]
    figure = "ICC(A,1)" if question.numeric else "kappa, mean"
    figures = agreement_of(rows, scale=None if question.numeric else "nominal").figures
    return ("ICC(A,1)" if question.numeric else "kappa"), figures[figure]


def _by_class(shared: Mapping[Key, tuple[Said, Said]], question: Question) -> dict[str, Any]:
    """Of the answers to which people gave each class, the share to which the judge gave it too."""
    found = {}
    for option in question.options:
        pairs = [machine.words[0] for machine, person in shared.values() if majority(person.words) == option.value]
        if pairs:
            right = pairs.count(option.value) / len(pairs)
            low, high = exact_bounds(right, len(pairs), 0.95)
            found[option.value] = {"labels": len(pairs), **_cells(Estimate(right, "", low, high))}
    return found


def _by_group(shared: Mapping[Key, tuple[Said, Said]]) -> dict[str, Any]:
    """How far the judge is above people in each level of each fact that has few: its bias there."""
    bias = {key: machine.mean - person.mean for key, (machine, person) in shared.items()}
    facts = {key: {"system": key[0], **machine.facts} for key, (machine, _) in shared.items()}
    found: dict[str, Any] = {}
    for name in sorted({name for known in facts.values() for name in known}):
        levels = sorted({known.get(name, "") for known in facts.values()} - {""})
        if 1 < len(levels) <= MOST_LEVELS:
            found[name] = {
                level: _bias([bias[key] for key in bias if facts[key].get(name) == level]) for level in levels
            }
    return found


def _bias(values: Sequence[float]) -> dict[str, Any]:
    array = np.array(values)
    if len(array) < 2:
        return {"labels": len(array), **_cells(Estimate(float(array.mean()), "no interval: one label alone"))}
    return {
        "labels": len(array),
        **_cells(mean_estimate(array, float(array.mean()), np.arange(len(array)), SIGNED_SHARE)),
    }


def _cells(one: Estimate) -> dict[str, Any]:
    numbers = {"value": ten_digits(one.value), "low": ten_digits(one.low), "high": ten_digits(one.high)}
    return numbers | ({"reason": one.reason} if one.reason else {})


def read_license(folder: Path) -> dict[str, Any]:
    """The license in a folder that `basanite judge calibrate` wrote."""
    path = folder / LICENSE
    try:
        found = json.loads(read_bounded(path, LARGEST))
    except (ValueError, RecursionError):
        found = None
    if (
        not isinstance(found, dict)
        or found.get("format") != FORMAT
        or not all(isinstance(found.get(name), str) for name in (*WHO, "question", "made", "expires"))
    ):
        raise UnreadableError(
            f"{path} is no license of a judge. Name the folder that `basanite judge calibrate` wrote."
        )
    return found


def check_licensed(terms: Mapping[str, Any], header: Mapping[str, str], today: date) -> None:
    """Refuse a judge that is not the one of the license, or a license that is over."""
    changed = [name for name in ("model", "prompt", "rubric") if terms[name] != header[name]]
    if changed:
        raise SettingError(
            f"The license is for another {' and another '.join(changed)}. Calibrate this judge by people first: "
            "basanite judge calibrate."
        )
    if today.isoformat() > terms["expires"]:
        raise SettingError(f"The license of this judge expired on {terms['expires']}. Calibrate it by people again.")


@dataclass(frozen=True)
class Drift:
    """How a judge answers its anchors now, beside how it did when it was licensed."""

    anchors: int
    changed: int
    shift: float
    """How much higher its answers are, from -1 to 1."""
    p_shift: float
    worse: float
    """How much further from people they are."""
    p_worse: float

    @property
    def alarm(self) -> bool:
        """Whether answers moved by more than chance, at 1 in 100 after looking at both."""
        return min(self.p_shift, self.p_worse) <= ALARM / 2


def drift_of(before: Sequence[float], now: Sequence[float], people: Sequence[float]) -> Drift:
    """The drift of a judge on its anchors; each p is that of all signs of the differences, drawn at random.

    >>> drift_of([1, 0, 1] * 5, [1, 0, 1] * 5, [1, 0, 1] * 5).alarm
    False
    """
    old, new, truth = (np.asarray(values, np.float64) for values in (before, now, people))
    moved, worse = new - old, abs(new - truth) - abs(old - truth)
    return Drift(
        len(old), int((moved != 0).sum()), float(moved.mean()), _signs(moved), float(worse.mean()), _signs(worse)
    )


def _signs(differences: Any) -> float:
    """The two-sided p that a mean is 0, by flipping signs."""
    if not differences.any():
        return 1.0
    words = source_of(0, "anchors").random_raw(FLIPS * len(differences)) >> np.uint64(63)
    signs = 1.0 - 2.0 * words.reshape(FLIPS, -1).astype(np.float64)
    observed = abs(float(differences.sum()))
    exceed = int((abs(signs @ differences) >= observed - 1e-12).sum())
    return (exceed + 1) / (FLIPS + 1)
