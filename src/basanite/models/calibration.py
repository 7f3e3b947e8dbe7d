"""A judge calibrated by people: corrected values of all systems, their differences, and the file that scores by them.

Values are corrected with a factor of each system's own; a difference is corrected as the mean of differences by item,
with a factor of its own, since what two systems share cancels there (L-6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np

from basanite.analysis.comparison import holm
from basanite.analysis.interval_methods import Sample, student_tails, studentized_ends
from basanite.errors import SettingError
from basanite.kernel import SHARE, SIGNED_SHARE, Ends, ends_around, settled, within
from basanite.metrics.calibration import Calibrated, HumanPart, Reals, calibrated, people_alone, why_too_few
from basanite.metrics.judgement.estimate import Estimate
from basanite.models.judge_tables import ANSWER, Key, Said
from basanite.tasks.judged import FORMAT, Graded, human_part
from basanite.work.human_sample import Drawn

CLEAR: Final = 0.05


@dataclass(frozen=True)
class SystemAnswers:
    """What the judge and people said of one system, item by item."""

    system: str
    judge: Reals
    people: Reals


@dataclass(frozen=True)
class Corrected:
    """The three values of one system, or of a difference."""

    name: str
    judge: Estimate
    corrected: Estimate
    people: Estimate
    factor: float
    p: float = math.nan
    p_adjusted: float = math.nan

    @property
    def is_clear(self) -> bool:
        """Whether a difference is significant after all comparisons."""
        return self.p_adjusted <= CLEAR


@dataclass(frozen=True)
class Calibration:
    """Everything that a judge's answers and those of people come to."""

    items: tuple[str, ...]
    part: HumanPart
    systems: tuple[SystemAnswers, ...]
    values: tuple[Corrected, ...]
    differences: tuple[Corrected, ...]
    invalid: int
    """Answers that the judge did not give in a valid form."""


def calibrate(
    judge: Mapping[Key, Said], people: Mapping[Key, Said], plan: Mapping[str, Drawn], cluster: str = ""
) -> Calibration:
    """Values and differences of all systems; refused where items, plan and judgments do not fit together."""
    items = tuple(plan)
    names = sorted({system for system, _ in judge})
    _check_fit(judge, people, plan, names)
    clusters = _clusters(judge, items, names, cluster)
    systems = tuple(SystemAnswers(name, *(_column(table, name, items) for table in (judge, people))) for name in names)
    part = human_part(
        items, [Graded(0.0, 0.0 if one.drawn else math.nan, one.drawn, one.stratum) for one in plan.values()], clusters
    )
    if why := why_too_few(part):
        raise SettingError(f"There is no corrected value: {why}.")
    values = tuple(_value(one, part) for one in systems)
    differences = _differences(systems, part)
    invalid = sum(int(np.isnan(one.judge).sum()) for one in systems)
    return Calibration(items, part, systems, values, differences, invalid)


def _check_fit(
    judge: Mapping[Key, Said], people: Mapping[Key, Said], plan: Mapping[str, Drawn], names: Sequence[str]
) -> None:
    """Refuse answers to no item of the plan, and drawn items that people have not judged for every system."""
    for who, table in (("the judge", judge), ("people", people)):
        strange = sorted({name for _, name in table} - set(plan))
        if strange:
            raise SettingError(
                f"{len(strange)} items of {who} are not in the plan, such as {strange[0]!r}: give the plan of them."
            )
    extra = sorted({name for _, name in people if not plan[name].drawn})
    if extra:
        raise SettingError(
            f"People judged {len(extra)} items that were not drawn, such as {extra[0]!r}: leave them out, since their "
            "chances are not known."
        )
    wanted = [(system, name) for name, one in plan.items() if one.drawn for system in names]
    missing = [" of ".join(filter(None, reversed(key))) for key in wanted if key not in people]
    if missing:
        raise SettingError(
            f"People have not judged {len(missing)} of the answers drawn for them, such as {missing[0]}: have them "
            "judged, since leaving them out would change the sample."
        )


def _clusters(judge: Mapping[Key, Said], items: Sequence[str], names: Sequence[str], cluster: str) -> tuple[str, ...]:
    if not cluster:
        return ()
    found = []
    for name in items:
        known = [judge[system, name].facts for system in names if (system, name) in judge]
        found.append(next((facts[cluster] for facts in known if facts.get(cluster)), ""))
    if not any(found):
        raise SettingError(f"The judge's answers have no column {cluster!r} to name clusters.")
    return tuple(found)


def _column(table: Mapping[Key, Said], system: str, items: Sequence[str]) -> Reals:
    return np.array([table[system, name].mean if (system, name) in table else math.nan for name in items])


def _value(one: SystemAnswers, part: HumanPart) -> Corrected:
    """The three values of one system; where the judge has no answer, its mean stands for one."""
    if np.isnan(one.judge).all():
        raise SettingError(f"The judge has no valid answer about {one.system or 'any item'}.")
    guess = np.where(np.isnan(one.judge), np.nanmean(one.judge), one.judge)
    found, alone = calibrated(guess, one.people, part, SHARE), people_alone(one.people, part, SHARE)
    valid = one.judge[~np.isnan(one.judge)]
    clusters = part.cluster[~np.isnan(one.judge)]
    naive = mean_estimate(valid, float(valid.mean()), clusters, SHARE)
    return Corrected(one.system, naive, _estimate(found, part, SHARE), _estimate(alone, part, SHARE), found.factor)


def _differences(systems: Sequence[SystemAnswers], part: HumanPart) -> tuple[Corrected, ...]:
    """Each pair, first minus second, with Holm's correction."""
    found = []
    for first, second in combinations(systems, 2):
        judge = first.judge - second.judge
        valid = judge[~np.isnan(judge)]
        if not len(valid):
            continue
        guess, people = np.where(np.isnan(judge), valid.mean(), judge), first.people - second.people
        one, alone = calibrated(guess, people, part, SIGNED_SHARE), people_alone(people, part, SIGNED_SHARE)
        naive = mean_estimate(valid, float(valid.mean()), part.cluster[~np.isnan(judge)], SIGNED_SHARE)
        ends = (_estimate(one, part, SIGNED_SHARE), _estimate(alone, part, SIGNED_SHARE))
        p = _p_value(one, part)
        found.append(Corrected(f"{first.system} - {second.system}", naive, *ends, one.factor, p))
    adjusted = holm([one.p for one in found])
    return tuple(
        Corrected(one.name, one.judge, one.corrected, one.people, one.factor, one.p, p)
        for one, p in zip(found, adjusted, strict=True)
    )


def _estimate(found: Calibrated, part: HumanPart, ends: Ends) -> Estimate:
    return mean_estimate(found.items, found.value, part.cluster, ends)


def mean_estimate(items: Reals, value: float, clusters: Any, ends: Ends) -> Estimate:
    """The mean of items with the interval that the task's own metric has: studentized, over clusters."""
    sums, counts = np.bincount(clusters, items), np.bincount(clusters)
    sums, counts = sums[counts > 0], counts[counts > 0]
    if len(sums) < 2:
        return Estimate(value, "no interval: one item alone")
    left_out = (sums.sum() - sums) / (counts.sum() - counts)
    found = studentized_ends(Sample(value, np.zeros(0), len(sums), 0.95, lambda: left_out, ends))
    if isinstance(found, str):
        return Estimate(settled(value, ends), found)
    around = ends_around(value, (within(found[0], ends), within(found[1], ends)))
    if around is None:
        return Estimate(settled(value, ends), "no interval: the estimate lies outside it")
    return Estimate(settled(value, ends), "", settled(around[0], ends), settled(around[1], ends))


def _p_value(found: Calibrated, part: HumanPart) -> float:
    """That the difference is 0, by Student's t with as many degrees of freedom as there are labels."""
    pulls = np.bincount(part.cluster, found.items - found.items.mean())
    error = float(np.sqrt((pulls**2).sum())) / len(found.items)
    if error == 0:
        return 1.0 if found.value == 0 else math.nan
    return student_tails(found.value / error, max(part.labelled_clusters - len(part.sizes[0]), 1))


def calibration_records(
    found: Calibration, judge: Mapping[Key, Said], terms: Mapping[str, Any], plan: Mapping[str, Drawn]
) -> Iterator[dict[str, Any]]:
    """The records of a calibration file: the reference of the task `judged`."""
    yield {"format": FORMAT, "license": dict(terms)}
    for one in found.systems:
        for name, machine, person in zip(found.items, one.judge.tolist(), one.people.tolist(), strict=True):
            said = judge.get((one.system, name))
            if said is None or not said.facts.get(ANSWER):
                continue
            facts = {key: value for key, value in said.facts.items() if key != ANSWER}
            yield {
                **facts,
                "id": name,
                "system": one.system,
                ANSWER: said.facts[ANSWER],
                "judge": None if math.isnan(machine) else machine,
                "people": None if math.isnan(person) else person,
                "drawn": plan[name].drawn,
                "stratum": plan[name].stratum,
            }
