"""Scores from other programs: means, pass@k and pass^k, agreement of repeats, cost and latency of trials (Y-6).

A submission is a table of scores or the log of another program. There need not be a reference: items are those of the
log. With one (a table of items) every item must be there, and its columns are clusters and factors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite import __version__
from basanite.analysis.paired import IncomparableError
from basanite.analysis.results import Analysis
from basanite.errors import SettingError
from basanite.figures import Extract
from basanite.formats.items import Items, lacks_columns, take_items
from basanite.formats.records import Place, read_records
from basanite.formats.scores.plain_tables import item_name
from basanite.formats.scores.reading import logs_of_systems, read_trials
from basanite.formats.scores.trials import MISSING, REFUSE, Scale, Trials, checked_trials, trials_per_item
from basanite.kernel import SHARE, Metric, Scores
from basanite.metrics.repeats import (
    AGREEMENT,
    CLUSTERED,
    EXAMPLES,
    MEAN,
    MEASURES,
    METRICS,
    PASS_AT_1,
    TrialsOfItems,
    named_pass_metric,
    pass_metric,
)
from basanite.problems import Findings, shortened
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import names_list, number_or_nan, number_range, one_of

RULE: Final = "Y-6"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
ITEM: Final = "item"
OWN_SETTINGS: Final = ("only", "ignore")
"""Settings that say which scores are read, and do not change what they mean."""
FACTS: Final = ("task", "version", "prompt", "scorer", "inputs")
"""What must be the same for two runs to be compared."""
ANY_RANGE: Final = (-math.inf, math.inf)
AROUND: Final = 30
"""So many characters are shown before and after the first place where two prompts differ."""


@dataclass(frozen=True)
class ScoredItems(Items):
    """The items of one system, with its trials."""

    trials: Trials | None = None


@dataclass(frozen=True)
class ScoredPairs(Pairs):
    """What is kept of a system for figures and comparisons: scores by item, and how they were made."""

    facts: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """The facts that may differ."""


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The items, and what is known of each."""
    records = read_records(paths[0], REFERENCE, findings, id_name=ITEM)
    if records is None or (len(records) and lacks_columns(records, (item_name(records),), REFERENCE, findings)):
        return None
    return take_items(records, lambda fields: None, REFERENCE, findings, id_name=item_name(records))


def read_submission(path: Path, settings: Settings, findings: Findings) -> ScoredItems | None:
    """The trials of one system."""
    trials = read_trials(path, SUBMISSION, findings, score=settings["score"])
    if trials is None or not findings.valid:
        return None
    wanted, names = settings["only"], ", ".join(map(shortened, trials.systems[:10]))
    if wanted and wanted not in trials.systems:
        if trials.systems != ("",):
            message = f"no system is called {shortened(wanted)!r}; there are: {names}"
            findings.add(SUBMISSION.problem(trials.file, None, message, "name one of them"))
            return None
    elif not wanted and len(trials.systems) > 1:
        message, fix = (
            f"there are {len(trials.systems)} systems in it: {names}",
            "name one (only=NAME), or compare them",
        )
        findings.add(SUBMISSION.problem(trials.file, None, message, fix))
        return None
    one = trials.of_system(wanted) if wanted in trials.systems else trials
    return scored_items(one, settings, findings)


def scored_items(trials: Trials, settings: Settings, findings: Findings) -> ScoredItems:
    """The items of one system, its scores checked against the scale."""
    checked = checked_trials(trials, scale_of(settings), SUBMISSION, findings)
    there = np.unique(checked.item)
    first = {int(item): trials.lines[at] for at, item in reversed(list(enumerate(trials.item.tolist())))}
    return ScoredItems(
        trials.file,
        tuple(checked.items[at] for at in there),
        tuple(there.tolist()),
        [first.get(at) or 0 for at in there.tolist()],
        trials.digest,
        {name: tuple(cells[at] for at in there) for name, cells in checked.columns.items()},
        trials=checked,
    )


def scale_of(settings: Settings) -> Scale:
    """What scores may be, and what those that are missing count."""
    low, high = settings["range"]
    return Scale(low, high, settings["better"], settings["missing"])


class ScoresRun(ItemRun):
    """The trials of one system on their way to rows."""

    def count_pairs(self, pairs: Pairs) -> Counted:
        """The metrics that the trials allow, and those that were asked for by name."""
        trials = self._trials()
        block = _block(trials, pairs, self.settings)
        metrics = tuple(_metrics(block, self.settings, self.inputs.metrics))
        tables = {metric.name: pairs.table(metric.columns, metric.statistics(block)) for metric in metrics}
        return Counted(
            metrics,
            tables,
            notes=(*trials.notes, *_notes(trials, block)),
            flags={name: _left_out(table.rows) for name, table in tables.items()},
            parts={MEAN.name: {"trials": int(np.count_nonzero(~np.isnan(block.score)))}},
            signatures={metric.name: _signature(metric, self.settings) for metric in metrics},
            kept=_scored_pairs(trials, pairs, block, self.settings["ignore"]),
        )

    def scores(self, system: str) -> Scores:
        """The rows of every metric; how the run was made is among the settings, for only like runs are compared."""
        scores = super().scores(system)
        ignored = self.settings["ignore"]
        facts = {f"log_{name}": _digest(text) for name, text in self._trials().facts.items() if name not in ignored}
        kept = {name: value for name, value in scores.settings.items() if name not in OWN_SETTINGS}
        return replace(scores, settings={**kept, **facts})

    def _trials(self) -> Trials:
        assert isinstance(self.answers, ScoredItems)  # only a valid submission is scored
        assert self.answers.trials is not None
        return self.answers.trials


class ReadRun(ScoresRun):
    """A run whose trials have been read with those of other systems of the same file."""

    def pieces(self, findings: Findings) -> Iterator[Path]:
        """Nothing is left to read."""
        yield from ()


def open_scores(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open the items, if there is a table of them."""
    return opener(SPEC, ScoresRun)(inputs, settings, findings, executor)


def open_systems(inputs: Inputs, settings: Settings, findings: Findings) -> dict[str, ItemRun] | None:
    """A run for each system of a file, or of each log in a folder; None with problems where it cannot be read."""
    logs = logs_of_systems(inputs.submission)
    if logs:
        each = {name: open_scores(replace(inputs, submission=log), settings, findings) for name, log in logs.items()}
        return {name: run for name, run in each.items() if run is not None}
    trials = read_trials(inputs.submission, SUBMISSION, findings, score=settings["score"])
    if trials is None or not findings.valid:
        return None
    wanted = (settings["only"],) if settings["only"] in trials.systems else trials.systems
    runs: dict[str, ItemRun] = {}
    for name in wanted:
        run = opener(SPEC, ReadRun)(inputs, settings, findings, None)
        if run is None:
            return None
        run.answers = scored_items(trials.of_system(name), settings, findings)
        runs[name] = run
    return runs


def check_alike(analyses: Sequence[Analysis]) -> None:
    """Refuse to compare runs of different tasks, versions, prompts or inputs, and show what differs."""
    scores = [one.scores for one in analyses if isinstance(one.scores.kept, ScoredPairs)]
    if not scores:
        return
    check_facts([(one.system, one.kept.facts, one.kept.inputs) for one in scores], scores[0].kept.ignored)
    for other in scores[1:]:
        _check_items(scores[0], other)


def check_facts(
    runs: Sequence[tuple[str, Mapping[str, str], Mapping[str, str]]], ignored: tuple[str, ...] = ()
) -> None:
    """Refuse runs (name, facts, inputs) that were not made alike; what may differ is `ignored`."""
    first = runs[0]
    for other in runs[1:]:
        for name in FACTS:
            one, two = first[1].get(name), other[1].get(name)
            if one != two and name not in ignored:
                raise IncomparableError(_unlike(name, (first[0], one), (other[0], two)))
        asked, answered = first[2], other[2]
        changed = [name for name in asked if name in answered and asked[name] != answered[name]]
        if changed and "inputs" not in ignored:
            one, two = _around(asked[changed[0]], answered[changed[0]])
            raise IncomparableError(
                f"{first[0]} and {other[0]} were asked different things under {len(changed)} of the same names, such "
                f"as {shortened(changed[0])!r}: {one!r} against {two!r}. Compare runs of the same items, or set "
                "ignore=inputs."
            )


def _check_items(first: Scores, other: Scores) -> None:
    """Refuse items that only one of two systems has."""
    alone = [sorted(set(one.kept.units) - set(two.kept.units)) for one, two in ((first, other), (other, first))]
    if any(alone):
        told = ", ".join(
            f"{len(names)} only {one.system} has (such as {shortened(names[0])!r})"
            for one, names in zip((first, other), alone, strict=True)
            if names
        )
        raise IncomparableError(
            f"{first.system} and {other.system} have different items: {told}. Compare them on the same items: give "
            "logs of the same items, or a table of the items as the reference."
        )


def _unlike(name: str, first: tuple[str, str | None], other: tuple[str, str | None]) -> str:
    """That two runs were not made alike, with the difference."""
    one, two = _around(first[1] or "(not said)", other[1] or "(not said)")
    return (
        f"{first[0]} and {other[0]} are not comparable, for their {name} differs: {one!r} against {two!r}. Compare "
        f"runs made in the same way, or set ignore={name} if you know that the difference does not matter."
    )


def _around(first: str, other: str) -> tuple[str, str]:
    """Two texts from a little before their first difference on.

    >>> _around("Answer briefly.", "Answer at length.")
    ('Answer briefly.', 'Answer at length.')
    """
    start = next((at for at, pair in enumerate(zip(first, other, strict=False)) if pair[0] != pair[1]), 0)
    begin = max(0, start - AROUND)
    shown = [text[begin : start + 2 * AROUND] for text in (first, other)]
    return ("…" * bool(begin) + shown[0], "…" * bool(begin) + shown[1])


def _digest(text: str) -> str:
    """A short text as it is, a long one by its digest: it is part of a signature."""
    from hashlib import sha256

    return text if len(text) <= 40 and text.isprintable() else "sha256:" + sha256(text.encode()).hexdigest()[:12]


def _block(trials: Trials, pairs: Pairs, settings: Settings) -> TrialsOfItems:
    """The trials by the places of the units, which may be in another order than the items."""
    place = np.full(len(trials.items), -1, np.int64)
    place[np.array(pairs.answers, np.int64)] = np.arange(len(pairs.units))
    return TrialsOfItems(pairs.units, place[trials.item], trials.score, passes(trials, settings), trials.measures)


def passes(trials: Trials, settings: Settings) -> Any:
    """Whether the score of each trial is good enough to pass."""
    limit = pass_limit(settings)
    if limit is None:
        return np.zeros(len(trials), bool)
    with np.errstate(invalid="ignore"):
        return trials.score >= limit if settings["better"] == "high" else trials.score <= limit


def pass_limit(settings: Settings) -> float | None:
    """The score from which a trial passes: the one set, or the best there is."""
    if settings["pass"] is not None:
        return float(settings["pass"])
    best = settings["range"][1] if settings["better"] == "high" else settings["range"][0]
    return best if math.isfinite(best) else None


def _metrics(block: TrialsOfItems, settings: Settings, asked: Sequence[str]) -> Iterator[Metric]:
    """The mean; where trials can pass, pass@1 and what all repeats of an item give; and whatever was measured."""
    yield scaled_mean(settings)
    counts = block.counts[0]
    fewest, most = int(counts.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    named = {one.name: one for name in asked if (one := named_pass_metric(name)) is not None}
    for one in named.values():
        _check_pass(one, most, settings)
    if pass_limit(settings) is not None:
        usual = [PASS_AT_1]
        if fewest > 1:
            usual += [pass_metric(fewest), pass_metric(fewest, every=True)]
        yield from {**{one.name: one for one in usual}, **named}.values()
    if most > 1:
        yield AGREEMENT
    for one in MEASURES:
        if one.name in block.measures and not np.isnan(block.measures[one.name]).all():
            yield one


def _check_pass(metric: Metric, most: int, settings: Settings) -> None:
    """Refuse pass@k where there are fewer than k repeats, or no score from which a trial passes."""
    k = int(metric.name.rpartition("_")[2])
    if pass_limit(settings) is None:
        raise SettingError(f"{metric.display_name} needs to know which score passes: set pass=NUMBER.")
    if k > most:
        raise SettingError(f"{metric.display_name} needs {k} repeats of an item, and there are {most}. Ask for fewer.")


def scaled_mean(settings: Settings) -> Metric:
    """The mean on the scale of the scores."""
    low, high = settings["range"]
    method = MEAN.interval if math.isfinite(high - low) else "studentized"
    best, shares = settings["better"], (low, high) == SHARE
    return replace(MEAN, range=(low, high), best=best, proportion=shares, interval=method)


def _left_out(rows: Any) -> tuple[str, ...]:
    without = int(np.count_nonzero(rows[:, 1] == 0))
    return (f"{without} of {len(rows)} items have no value and are left out",) if without else ()


def _notes(trials: Trials, block: TrialsOfItems) -> Iterator[str]:
    """How many trials the items are based on, and what was recorded of the run."""
    counts = trials_per_item(trials)[0]
    there = counts[counts > 0]
    low, high = (int(there.min()), int(there.max())) if len(there) else (0, 0)
    if high > 1:
        repeats = f"{low}" if low == high else f"{low} to {high}"
        yield f"{len(there)} items with {repeats} repeats each; repeats are nested in items and are not units"
    for name in trials.measures:
        without = int(np.count_nonzero(np.isnan(trials.measures[name])))
        if 0 < without < len(trials):
            yield f"{name}: not known for {without} of {len(trials)} trials, left out there"


def _scored_pairs(trials: Trials, pairs: Pairs, block: TrialsOfItems, ignored: tuple[str, ...]) -> ScoredPairs:
    """The scores of each item in words, and how they were made."""
    shown: list[list[str]] = [[] for _ in pairs.units]
    for at, score in zip(block.item.tolist(), trials.score.tolist(), strict=True):
        shown[at].append(f"{score:g}")
    answers = tuple(", ".join(scores) for scores in shown)
    references = (None,) * len(answers)
    sides = (references, answers, pairs.columns, pairs.files)
    return ScoredPairs(pairs.unit, pairs.units, *sides, trials.facts, trials.inputs, ignored)


def _extracts(truth: Any, answers: Mapping[str, str]) -> tuple[Extract, ...]:
    """The scores of every repeat."""
    return tuple(Extract(name, ((scores, ""),)) for name, scores in answers.items())


def _signature(metric: Metric, settings: Settings) -> str:
    limit = f"|pass:{pass_limit(settings):g}" if metric.name.startswith("pass_") else ""
    low, high = settings["range"]
    parts = f"range:{low:g}..{high:g}|better:{settings['better']}|missing:{settings['missing']}"
    return f"{metric.name}{limit}|{parts}|basanite:{__version__}"


def scale_range(text: str) -> tuple[float, float]:
    """The lowest and the highest score, or `any`.

    >>> scale_range("0..100"), scale_range("any")
    ((0.0, 100.0), (-inf, inf))
    """
    return ANY_RANGE if text.strip() == "any" else number_range(text)


def _finite(text: str) -> float:
    number = number_or_nan(text)
    if not math.isfinite(number):
        raise ValueError("it is not a finite number")
    return number


def facts_list(text: str) -> tuple[str, ...]:
    """What may differ between compared runs, separated by commas."""
    names = names_list(text)
    for name in names:
        one_of(FACTS, name)
    return names


NONE: tuple[str, ...] = ()
SPEC = ItemSpec(
    name="scores",
    unit=ITEM,
    rule=RULE,
    primary=MEAN.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=lambda pairs, settings: Counted((), {}),
    clusters=("cluster",),
    id_name=ITEM,
)
TASK = Task(
    name="scores",
    summary="Scores from other programs: means, pass@k, pass^k, agreement of repeats, cost and latency",
    citation=CLUSTERED,
    unit=ITEM,
    primary=MEAN.name,
    metrics=METRICS,
    open=open_scores,
    settings=(
        Setting("only", "The system to score, where a file holds several.", str, ""),
        Setting("score", "The score that counts, where there are several: a column, a scorer or a metric.", str, ""),
        Setting("range", "The lowest and highest possible score, like 0..1, or any.", scale_range, SHARE),
        Setting("better", "Which scores are better: high or low.", partial(one_of, ("high", "low")), "high"),
        Setting("pass", "The score from which a trial passes; without it, the best score of the range.", _finite),
        Setting(
            "missing",
            "How to treat trials without a score and missing repeats: refuse, lowest (the lowest score) or skip.",
            partial(one_of, MISSING),
            REFUSE,
        ),
        Setting("ignore", f"What may differ between compared runs: {', '.join(FACTS)}.", facts_list, NONE),
    ),
    compared_figures=moved_figures(_extracts),
    needs_reference=False,
    make_metric=named_pass_metric,
    metric_examples=EXAMPLES,
    open_systems=open_systems,
    check_alike=check_alike,
    answers=AnswerFormat(
        "One row for each item with its `score`, as CSV, TSV, JSON lines or Parquet; perhaps with "
        "`repeat`, `cost` and `latency`. Or a log of inspect_ai, lm-evaluation-harness, promptfoo or "
        "DeepEval.",
        example=("item,repeat,score,cost,latency\nq01,1,1,0.0046,1.23\nq01,2,0,0.0044,1.95\n"),
    ),
)
