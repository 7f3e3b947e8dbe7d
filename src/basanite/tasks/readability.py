"""Readability: a machine's ratings of passages against an expert panel, and whether it beats novices (R-4, S-3).

What the report on readability shows: the verdict with its conditions, the nulls drawn, rivals and panels (S-3).

The panels themselves: how far judges agree, how each differs from the rest, and how rankings fit stars (R-5).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from basanite.analysis.results import Analysis
from basanite.figures import Axis, Cell, Chart, Figure, Mark, Table, Text
from basanite.metrics.judgement.agreement import (
    CONCORDANT,
    class_agreement,
    intraclass,
    judge_figures,
    kendalls_w,
    percent_agreement,
    rank_consistency,
    reliability_of_mean,
)
from basanite.metrics.judgement.alpha import alpha_with_interval
from basanite.metrics.judgement.crossed import redrawn
from basanite.metrics.judgement.estimate import Estimate, with_interval
from basanite.metrics.judgement.formulas import baseline_ratings
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
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.readability_panels import (
    EVERY,
    FIXED,
    PASSAGE,
    RULE,
    Examined,
    PanelFindings,
    Passage,
    conditions,
    examine,
    panels_of,
    parts_of,
    read_reference,
    read_submission,
    readings_of,
    verdict,
)
from basanite.tasks.settings import number_or_nan, number_range, one_of, whole_number

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
        "ICC(C,k), the mean of the panel": with_interval(
            ratings, lambda drawn: intraclass(drawn).consistency_mean, draws=DRAWS
        ),
    }
    yield (panel, "judges", ratings.shape[1], None, None, "")
    yield (panel, "ratings", int(np.count_nonzero(~np.isnan(ratings))), None, None, "")
    yield from ((panel, name, table_number(one.value), one.low, one.high, one.reason) for name, one in found.items())


def table_number(value: float) -> Cell:
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
            rows.append((name, panel, judge.items, *map(table_number, numbers), remark))
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
    known = [(one.value, pairs) for one, pairs in found if one.is_defined]
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
        (panel, f"{value:g}", table_number(found.value))
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
                rows.append((panel, str(name), table.shape[1], whole, table_number(found.value), found.reason))
    if rows:
        columns = ("Panel", "Round", "Judges", "Passages", "Kendall's W", "Remark")
        yield Table(
            "Agreement of rankings", columns, rows, "Over the passages of a round that all of its judges ranked."
        )


BINS = 25
NAMES = tuple(metric.name for metric in METRICS)
TITLES = {metric.name: metric.display_name for metric in METRICS}


def readability_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """The task's own part of a report."""
    examined = analysis.scores.kept
    if not isinstance(examined, Examined):
        return ()
    return tuple(_figures(examined, analysis.scores.system))


def _figures(examined: Examined, system: str) -> Iterator[Figure]:
    if examined.found is not None:
        said = verdict(examined.found, examined.declared)
        yield Text("Verdict", (f"{system}: {said}.",))
        yield _conditions(examined.found, examined.declared)
        for name in NAMES:
            yield from _null(examined.found, name, system)
        yield _rivals(examined, examined.found, system)
    yield _scatter(examined, system)
    yield from panel_figures(examined)


def _conditions(found: PanelFindings, declared: str) -> Table:
    rows = [(one.name, "yes" if one.holds else "no", one.figures) for one in conditions(found, declared)]
    return Table("What the verdict asks for", ("Condition", "Holds", "Figures"), rows, "All of them must hold.")


def _null(found: PanelFindings, name: str, system: str) -> Iterator[Chart]:
    """The null as a histogram, with the critical value and the system's own marked."""
    drawn, test = found.nulls[name], found.tests[name]
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn) or math.isnan(test.value):
        return
    counts, edges = np.histogram(drawn, bins=BINS)
    shares = counts / len(drawn)
    rows = [(float(edge), float(share)) for edge, share in zip(edges, [*shares, 0.0], strict=True)]
    rows.insert(0, (rows[0][0], 0.0))
    top, ends = float(shares.max()), (min(float(edges[0]), test.value), max(float(edges[-1]), test.value))
    room = 0.05 * (ends[1] - ends[0] or 1.0)
    yield Chart(
        title=f"Null: {TITLES[name]} ({FIXED})",
        summary=_correlation_sentence(found, name, system),
        kind="line",
        data=Table(f"Null: {TITLES[name]}", ("value", "share of draws"), rows, detail=True),
        x=Axis("value", TITLES[name], low=ends[0] - room, high=ends[1] + room),
        y=Axis("share of draws", "share of draws", low=0.0, high=1.15 * top, percent=True),
        marks=(Mark(system, test.value, 0.14 * top),),
        guides=(("critical", ((test.critical, 0.0), (test.critical, 1.1 * top))),)
        if math.isfinite(test.critical)
        else (),
        step=True,
    )


def _correlation_sentence(found: PanelFindings, name: str, system: str) -> str:
    test, place, novices = found.tests[name], found.place(name), len(found.novices)
    side = "above" if test.above else "not above"
    return (
        f"{system} has {test.value:.4g}, {side} the critical value {test.critical:.4g} (upper 2.5% of {test.draws:,} "
        f"draws); p = {test.p:.4f}. Place {place} of {novices + 1}: itself among {novices} novices."
    )


def _rivals(examined: Examined, found: PanelFindings, system: str) -> Table:
    """The machine, the baselines, the best constant, and each novice as if the machine against the others."""
    constant = {NAMES[0]: found.constant_value}
    block = examined.block
    constant[NAMES[1]] = float(worth(np.full(len(block.machine), found.constant), gold_of(block.experts)).mean())
    people = zip(examined.panels.names["novice"], found.novices, strict=True)
    rows: list[tuple[Cell, ...]] = [(system, "machine", *_cells(found.observed))]
    rows += [(name, "baseline", *_cells(each)) for name, each in examined.baselines.items()]
    rows.append((f"{found.constant:.4g} throughout", "best constant", *_cells(constant)))
    rows += [(name, "novice", *_cells(each)) for name, each in people]
    best = sorted(rows[1:], key=lambda row: -row[2] if isinstance(row[2], float) else math.inf)
    note = (
        "Novices are scored against the other novices on the passages they rated. Baselines rate passages that they "
        "did not learn from. The constant is an oracle: it uses the reference."
    )
    return Table(
        "The machine among its rivals", ("Who", "Kind", *TITLES.values()), [rows[0], *best], note, frozenset({0})
    )


def _cells(values: Mapping[str, float]) -> Iterator[Cell]:
    """The three values; undefined is None, never 0."""
    for name in NAMES:
        value = values.get(name, math.nan)
        yield None if math.isnan(value) else value


def _scatter(examined: Examined, system: str) -> Chart:
    means = gold_of(examined.block.experts).mean
    rows = [
        (unit, float(mean), float(own))
        for unit, mean, own in zip(examined.units, means, examined.block.machine, strict=True)
    ]
    return Chart(
        title="Machine and experts, passage by passage",
        summary=f"Each point is a passage: the mean of the experts across, the rating of {system} upwards.",
        kind="points",
        data=Table("Ratings of passages", ("passage", "experts", "machine"), rows, detail=True),
        x=Axis("experts", "mean of the experts"),
        y=Axis("machine", f"rating of {system}"),
    )


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
    low, high = settings["scale"]  # a gain is no larger than the scale is long
    return Counted(
        (replace(SCORE_DIFFERENCE, range=(low - high, high - low)), PROPORTIONAL_TARGET, CORRELATION),
        dict.fromkeys((metric.name for metric in METRICS), table),
        notes=tuple(_stray_notes(examined)),
        flags=_flags(examined),
        parts=parts,
        signatures=_signatures(settings),
        kept=examined,
    )


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


def _stray_notes(examined: Examined) -> Iterator[str]:
    experts = (~np.isnan(examined.block.experts)).sum(axis=1)
    yield f"experts: {examined.block.experts.shape[1]}, a passage was rated by {experts.min()} of them at least"
    found = examined.found
    if found is None:
        yield "no novices: there is no score_difference, no test and no verdict"
        return
    yield f"verdict: {verdict(found, examined.declared)}"
    yield f"p and critical come from the plan's null, {FIXED}; the interval of score_difference resamples both"
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
        raise ValueError("it is not a step above 0")
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
    summary="Readability ratings of passages, compared with a panel of experts and with novices",
    citation=PLAN,
    unit=PASSAGE,
    primary=SCORE_DIFFERENCE.name,
    metrics=METRICS,
    open=opener(SPEC),
    settings=(
        Setting("scale", "The judges' scale, as 1..5; ratings outside it are refused.", number_range, (1.0, 5.0)),
        Setting("step", "The step between ratings, to which the machine's ratings are rounded.", step_size, 1.0),
        Setting(
            "verdict",
            "holm (all three metrics, adjusted) or the one metric declared beforehand.",
            partial(one_of, (EVERY, *(metric.name for metric in METRICS))),
            EVERY,
        ),
        Setting(
            "null_draws",
            "How many times a random novice is drawn for every passage.",
            partial(whole_number, FEWEST_DRAWS, MOST_DRAWS),
            10_000,
        ),
        Setting("null_seed", "The seed of those draws.", partial(whole_number, 0, 2**31 - 1), 0),
    ),
    figures=readability_figures,
    answers=AnswerFormat(
        "One row for each passage with its `rating`, as CSV, TSV or JSON lines.",
        example=("passage,rating\np01,5.00\np02,3.04\np03,2.23\n"),
    ),
)
