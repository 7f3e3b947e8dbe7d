"""The report on advice: what to do in words, the gain of each policy, and what each would do from now on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from basanite.analysis.advice import KEEP, Advice, Gain, Policy
from basanite.analysis.results import Value, difference_object
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.reports.analysis import design_facts
from basanite.reports.report import Facts, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import number, percent, with_interval

ADVICE_FORMAT = "basanite-advice/1"
GAIN_COLUMNS = ("Policy", "Value", "Gain", "Low", "High", "p", "Remarks")
LEAD = "What each policy would have given on queries that had no part in choosing it, against what was submitted."
MANY = "not made by one threshold"
OPTIMISTIC = "optimistic (oracle: uses the reference)"


def advice_report(advice: Advice) -> Report:
    """The report on one advice."""
    facts = _facts(advice)
    return Report(
        title=advice.system,
        subtitle="Which threshold would have been best",
        sections=sections_with_content(
            Section("Gains", LEAD, (gains_table(advice),)),
            Section("From now on", "", (thresholds_table(advice),)),
            Section("A closer look", "", (*_gain_chart(advice), *_curves(advice)), detail=True),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", advice.notes),)),
        ),
        facts=facts,
        data=advice_object(advice),
        records=Table("Gains", GAIN_COLUMNS, tuple(_gain_row(gain) for gain in advice.gains)),
        sentences=tuple(sentences(advice)),
    )


def advice_object(advice: Advice) -> dict[str, Any]:
    """The object that `advise --json` prints."""
    data = {
        "format": ADVICE_FORMAT,
        "task": advice.task,
        "metric": advice.metric.name,
        "advice": advice.advice,
        "sentences": list(sentences(advice)),
        "submitted": {"value": advice.submitted, "threshold": advice.threshold},
        "policies": {gain.policy.name: _policy_object(gain, advice) for gain in advice.gains},
        "optimistic": advice.optimistic,
        "settings": {**_design(advice), **advice.settings},
        "digests": dict(advice.digests),
        "notes": list(advice.notes),
    }
    return {key: plain_values(value) for key, value in data.items()}


def sentences(advice: Advice) -> Iterator[str]:
    """The advice in words, then why."""
    yield _verdict(advice)
    for gain in advice.gains:
        yield _why(gain, advice)
    if not math.isnan(advice.submitted):
        mqwv, oracle = (number(advice.optimistic[name]) for name in ("mqwv", "oracle"))
        yield f"MQWV {mqwv} and oracle {oracle} are optimistic, because they use the reference to choose thresholds."


def gains_table(advice: Advice) -> Table:
    """Each policy against the submitted decisions, the advised one in bold, maxima last."""
    kept = (KEEP, _cell(advice.submitted), None, None, None, None, "the submitted decisions")
    maxima = [(name, _cell(value), None, None, None, None, OPTIMISTIC) for name, value in advice.optimistic.items()]
    rows = (kept, *(_gain_row(gain) for gain in advice.gains), *maxima)
    emphasis = frozenset(at for at, row in enumerate(rows) if row[0] == advice.advice)
    muted = frozenset(range(len(rows) - len(maxima), len(rows)))
    return Table(f"{advice.metric.display_name} by policy", GAIN_COLUMNS, rows, _gains_note(advice), emphasis, muted)


def thresholds_table(advice: Advice) -> Table:
    """The thresholds that decided in the folds, and what to use from now on."""
    submitted: tuple[Cell, ...] = (
        KEEP,
        _cell(advice.threshold),
        None,
        None,
        "" if advice.threshold is not None else MANY,
    )
    rows = (submitted, *(_threshold_row(gain.policy) for gain in advice.gains))
    note = "Lowest and highest threshold of a query; each is fitted on the other queries. ∞: nothing is returned."
    return Table("Thresholds", ("Policy", "Use", "Lowest", "Highest", "Remarks"), rows, note)


def _verdict(advice: Advice) -> str:
    best = advice.best
    if best is None:
        return "Keep the submitted decisions: no other policy is shown to be better."
    threshold = best.policy.from_now_on.get("threshold")
    if threshold is None:
        return "Calibrate: turn confidences into probabilities, and set the best threshold for each query."
    if math.isinf(threshold):
        return "Return nothing: on these queries no threshold is better than silence."
    return f"Change the threshold: return documents with a confidence of {threshold:.5g} or more."


def _why(gain: Gain, advice: Advice) -> str:
    found = gain.difference
    if math.isnan(found.difference):
        return f"The gain of {gain.policy.name} is undefined."
    shown = with_interval(Value(found.difference, found.low, found.high, 0), _level(advice))
    words = f"{gain.policy.name} ({gain.policy.summary}) would have given {number(gain.value)}: a gain of {shown}"
    return f"{words}{_reading(gain)}."


def _reading(gain: Gain) -> str:
    """What the interval says, in words."""
    found = gain.difference
    if found.verdict == "identical":
        return ", for it decides the same"
    if found.low is None or found.high is None:
        return f"; {found.note}" if found.note else ""
    if found.low <= 0 <= found.high:
        return ", which may be none at all"
    return "" if gain.clear else f"; yet {found.note}" if found.note else ", a loss"


def _gain_row(gain: Gain) -> tuple[Cell, ...]:
    found = gain.difference
    remarks = found.note if found.verdict in ("undecided", "identical", "undefined") else found.note or _side(gain)
    return (
        gain.policy.name,
        _cell(gain.value),
        _cell(found.difference),
        found.low,
        found.high,
        _cell(found.p),
        remarks,
    )


def _side(gain: Gain) -> str:
    return {"first": "better", "second": "worse"}.get(gain.difference.verdict, gain.difference.verdict)


def _threshold_row(policy: Policy) -> tuple[Cell, ...]:
    use = policy.from_now_on.get("threshold")
    lowest, highest = (float(end(policy.by_unit)) for end in (np.min, np.max))
    return (policy.name, use, lowest, highest, "" if use is not None else "one for each query, by the rule")


def _gain_chart(advice: Advice) -> tuple[Figure, ...]:
    """The gains as bars, where there are any with an interval."""
    rows = tuple(
        (gain.policy.name, gain.difference.difference, gain.difference.low, gain.difference.high)
        for gain in advice.gains
        if gain.difference.low is not None
    )
    if not rows:
        return ()
    data = Table("Gain over the submitted decisions", ("Policy", "Gain", "Low", "High"), rows)
    shown = (f"{name} {number(gain)} ({number(low)} to {number(high)})" for name, gain, low, high in rows)
    summary = f"How much more each policy would have given than the submitted decisions: {', '.join(shown)}."
    x, y = Axis("Gain", f"gain in {advice.metric.display_name}"), Axis("Policy", "policy", "category")
    return (Chart(data.title, summary, "bars", data, x, y, low="Low", high="High"),)


def _curves(advice: Advice) -> Iterator[Chart]:
    for policy in (gain.policy for gain in advice.gains if gain.policy.curve):
        data = Table("Probability by confidence", ("confidence", "probability"), tuple(policy.curve))
        yield Chart(
            title=f"What a confidence is worth ({policy.name})",
            summary="The share of documents of each confidence that are relevant, fitted on all queries. On the thin "
            "line confidences would be probabilities.",
            kind="line",
            data=data,
            x=Axis("confidence", "confidence", low=0.0, high=1.0),
            y=Axis("probability", "probability of relevance", low=0.0, high=1.0),
            guides=(("confidence = probability", ((0.0, 0.0), (1.0, 1.0))),),
        )


def _policy_object(gain: Gain, advice: Advice) -> dict[str, Any]:
    policy = gain.policy
    compared = difference_object(gain.difference)
    shared = ("low", "high", "p", "verdict", "note")
    return {
        "summary": policy.summary,
        "value": gain.value,
        "gain": gain.difference.difference,
        **{name: compared[name] for name in shared},
        "level": _level(advice),
        "from_now_on": {name: _finite(value) for name, value in policy.from_now_on.items()},
        "thresholds": {unit: _finite(at) for unit, at in zip(policy.table.units, policy.by_unit, strict=True)},
        "curve": [list(point) for point in policy.curve],
    }


def _finite(value: float) -> float | str:
    return "nothing is returned" if math.isinf(value) else float(value)


def _level(advice: Advice) -> float:
    return 1 - (1 - advice.design.level) / max(len(advice.gains), 1)


def _cell(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _gains_note(advice: Advice) -> str:
    return (
        f"Low and high: {percent(_level(advice))} intervals of the gain, so that all cover together at "
        f"{percent(advice.design.level)}; {advice.design.draws:,} draws, seed {advice.design.seed}."
    )


def _design(advice: Advice) -> dict[str, Any]:
    design = advice.design
    return {"draws": design.draws, "seed": design.seed, "level": design.level, "interval": design.interval}


def _facts(advice: Advice) -> Facts:
    settings = tuple((f"Setting {name}", str(value)) for name, value in sorted(advice.settings.items()))
    digests = tuple((f"Digest of {name}", digest) for name, digest in sorted(advice.digests.items()))
    return (("Task", advice.task), *design_facts(advice.design), *settings, *digests)
