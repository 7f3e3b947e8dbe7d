"""Readability: a machine's ratings of passages against an expert panel, and whether it beats novices (R-4, S-3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from basanite.kernel import Ends
from basanite.metrics.judgement.baselines import baseline_ratings
from basanite.metrics.judgement.crossed import redrawn
from basanite.metrics.judgement.readability import (
    COLUMNS,
    CORRELATION,
    METRICS,
    PLAN,
    PROPORTIONAL_TARGET,
    SCORE_DIFFERENCE,
    Readings,
    Reals,
    gold_of,
    rows,
    to_scale,
    values,
    worth,
)
from basanite.tasks import Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.readability.figures import readability_figures
from basanite.tasks.readability.panels import (
    PASSAGE,
    RULE,
    Passage,
    panels_of,
    read_reference,
    read_submission,
    readings_of,
)
from basanite.tasks.readability.verdict import EVERY, FIXED, Examined, examine, parts_of, verdict
from basanite.tasks.setting_kinds import number_or_nan, number_range, one_of, whole_number

FEWEST_DRAWS, MOST_DRAWS = 100, 1_000_000


def count(pairs: Pairs, settings: Settings) -> Counted:
    """The rows of all three metrics, the tests of the plan and of S-3, and what the report shows of the panels."""
    panels = panels_of(pairs.references)
    block = readings_of(pairs, panels)
    table = pairs.table(COLUMNS, rows(block))
    found = examine(block, draws=settings["null_draws"], seed=settings["null_seed"])
    if found is not None:
        table = replace(table, redrawn=redrawn(block))
    parts = {metric.name: dict[str, float]() for metric in METRICS} | (parts_of(found) if found else {})
    parts[PROPORTIONAL_TARGET.name] |= _target_parts(block, settings)
    examined = Examined(pairs.units, panels, block, found, settings["verdict"], _baselines(pairs, block, settings))
    return Counted(
        (replace(SCORE_DIFFERENCE, range=_gain_ends(settings)), PROPORTIONAL_TARGET, CORRELATION),
        dict.fromkeys((metric.name for metric in METRICS), table),
        notes=tuple(_said(examined)),
        flags=_flags(examined),
        parts=parts,
        signatures=_signatures(settings),
        kept=examined,
    )


def _gain_ends(settings: Settings) -> Ends:
    """Neither the machine nor a novice can lie further from the experts than the scale is long."""
    low, high = settings["scale"]
    return low - high, high - low


def _target_parts(block: Readings, settings: Settings) -> dict[str, float]:
    """The value with the machine's ratings brought to the scale, and the experts, whose range widens with them."""
    low, high = settings["scale"]
    on_scale = worth(to_scale(block.machine, low, high, settings["step"]), gold_of(block.experts))
    experts = (~np.isnan(block.experts)).sum(axis=1)
    counts = {"experts": float(block.experts.shape[1]), "fewest_experts": float(experts.min())}
    return {"rounded": float(on_scale.mean()), **counts}


def _baselines(pairs: Pairs, block: Readings, settings: Settings) -> dict[str, dict[str, float]]:
    """The values of each baseline, where the reference holds the texts of all passages (R-6)."""
    passages: Sequence[Passage] = pairs.references
    if not all(passage.text for passage in passages):
        return {}
    made: dict[str, Reals] = baseline_ratings(
        [passage.text for passage in passages],
        gold_of(block.experts).mean,
        scale=settings["scale"],
        seed=settings["null_seed"],
    )
    return {name: values(block.experts, block.novices, ratings) for name, ratings in made.items()}


def _said(examined: Examined) -> Iterator[str]:
    experts = (~np.isnan(examined.block.experts)).sum(axis=1)
    yield f"experts: {examined.block.experts.shape[1]}, a passage was rated by {experts.min()} of them at least"
    found = examined.found
    if found is None:
        yield "no novices: there is no score_difference, no test and no verdict"
        return
    yield f"verdict: {verdict(found, examined.declared)}"
    yield f"p and critical come from the plan's null, {FIXED}; the interval of score_difference draws both anew"
    yield "intervals in breakdowns draw passages, these novices fixed"
    if found.strays:
        yield "the draws of the null stray from its known mean and spread: use more null_draws"


def _flags(examined: Examined) -> dict[str, tuple[str, ...]]:
    if examined.found is None:
        return {SCORE_DIFFERENCE.name: ("undefined: there are no novices",)}
    own = examined.found.observed[SCORE_DIFFERENCE.name]
    beaten = own > examined.found.constant_value + 1e-8
    flags: dict[str, tuple[str, ...]] = {} if beaten else {SCORE_DIFFERENCE.name: ("a constant rating does as well",)}
    if np.isnan(examined.found.observed[CORRELATION.name]):
        flags[CORRELATION.name] = ("undefined: the machine's or the experts' ratings do not vary",)
    return flags


def _signatures(settings: Settings) -> dict[str, str]:
    return {
        SCORE_DIFFERENCE.name: "reference: mean of experts; mean over novices, then passages",
        PROPORTIONAL_TARGET.name: "1 / (1 + max - min) inside the experts' range, else 0; ratings as submitted",
        CORRELATION.name: "Pearson with the mean of experts; undefined where one side is constant",
    }


def step_size(text: str) -> float:
    """The distance of two neighbouring ratings of the scale."""
    found = number_or_nan(text)
    if not 0 < found <= 1000:
        raise ValueError("it is no step above 0")
    return found


SPEC = ItemSpec(
    name="readability",
    unit=PASSAGE,
    rule=RULE,
    primary=SCORE_DIFFERENCE.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    id_name=PASSAGE,
)
TASK = Task(
    name="readability",
    summary="Ratings of how readable passages are, against an expert panel and novices",
    citation=PLAN,
    unit=PASSAGE,
    primary=SCORE_DIFFERENCE.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=(
        Setting("scale", "The judges' scale, as 1..5; ratings outside it are refused.", number_range, (1.0, 5.0)),
        Setting("step", "The distance of neighbouring ratings, to which the machine's are rounded.", step_size, 1.0),
        Setting(
            "verdict",
            "holm (all three metrics, adjusted) or the one metric declared beforehand.",
            partial(one_of, (EVERY, *(metric.name for metric in METRICS))),
            EVERY,
        ),
        Setting(
            "null_draws",
            "How often a random novice is drawn for every passage.",
            partial(whole_number, FEWEST_DRAWS, MOST_DRAWS),
            10_000,
        ),
        Setting("null_seed", "The seed of those draws.", partial(whole_number, 0, 2**31 - 1), 0),
    ),
    figures=readability_figures,
)
