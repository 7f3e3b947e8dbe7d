"""The report on watched batches: alarms, bands, the estimated share of new data, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Mark, Table, Text
from basanite.reports.report import Facts, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, percent, plural
from basanite.representation.catalogue import measure_title
from basanite.representation.drift import MixCurve
from basanite.representation.measures.results import number_or_none
from basanite.representation.monitor import Monitor, Watched

FORMAT: Final = "basanite-monitor/1"
PREDICTED: Final = "needs labels, and these are predicted"


def monitor_report(found: Monitor) -> Report:
    """The report on all batches, ready for any output."""
    facts = _facts(found)
    return Report(
        title=f"{plural('batch', len(found.batches))} against {found.reference.name}",
        subtitle="Do new data leave the reference?",
        sections=sections_with_content(
            Section("Batches", _lead(found), (batches_table(found),)),
            Section("Measures and their bands", "", (bands_table(found), *_band_charts(found))),
            Section("Share of new data", _SHARE_LEAD, tuple(_share_figures(found))),
            Section("How this was computed", "", (_method(found), facts_table(facts)), detail=True),
            Section("Notes", "", (Text("Notes", tuple(notes(found))),)),
        ),
        facts=facts,
        data=monitor_object(found),
        records=Table("Measures", ("batch", "measure", "value", "low", "high", "outside"), tuple(_band_rows(found))),
        sentences=tuple(_sentences(found)),
    )


_SHARE_LEAD: Final = (
    "Batches of the same size are mixed from the reference and the target; the share whose measure is that of the "
    "batch is the estimate. Marks show the batch."
)


def monitor_object(found: Monitor) -> dict[str, Any]:
    """The object that `measure monitor --json` prints."""
    plan = found.plan
    settings = {
        "measures": list(plan.measures),
        "by": plan.by,
        "false_alarms": plan.false_alarms,
        "draws": plan.draws,
        "mix_draws": plan.mix_draws,
        "seed": plan.seed,
        "level": plan.level,
        "bands": {number(start): name for start, name in plan.actions.pairs},
        "labels": "predicted" if found.reference.predicted else "given",
    }
    digests = {batch.data.name: batch.data.digest for batch in found.batches}
    targets = {} if found.target is None else {found.target.name: found.target.digest}
    made: dict[str, Any] = plain_values(
        {
            "format": FORMAT,
            "task": "measure monitor",
            "reference": found.reference.name,
            "batches": {batch.data.name: _batch_object(batch, found) for batch in found.batches},
            "alarm_rate": found.alarm_rate,
            "false_alarm_rate": plan.false_alarms,
            "settings": settings,
            "digests": {found.reference.name: found.reference.digest, **targets, **digests},
            "notes": list(notes(found)),
        }
    )
    return made


def _batch_object(batch: Watched, found: Monitor) -> dict[str, Any]:
    flags = [PREDICTED] if found.reference.predicted else []
    measures = {
        name: {
            "value": value,
            "low": batch.bands.bands[name].low,
            "high": batch.bands.bands[name].high,
            "outside": name in batch.left,
            "false_alarm_rate": batch.bands.bands[name].outside,
            "flags": flags,
        }
        for name, value in batch.values.items()
    }
    return {
        "alarm": batch.alarm,
        "outside": list(batch.left),
        "new_classes": list(batch.new_classes),
        "rows": batch.data.rows,
        "band_rows": batch.bands.drawing.size,
        "measures": measures,
        "shares": {name: vars(share) for name, share in batch.shares.items()},
        "share": None if batch.share is None else vars(batch.share),
        "action": batch.action,
        "possible_actions": list(batch.possible),
    }


# --- tables ---


def batches_table(found: Monitor) -> Table:
    """One line for each batch: alarm, what left, the share of new data, the action."""
    rows = tuple(
        (
            batch.data.name,
            batch.data.rows,
            "alarm" if batch.alarm else "–",
            batch.action or "–",
            *((None,) * 3 if share is None else (share.value, share.low, share.high)),
            enumeration(batch.possible) if batch.possible else "–",
            ", ".join(map(measure_title, batch.left)) or "–",
            ", ".join(batch.new_classes[:8]) or "–",
        )
        for batch in found.batches
        for share in (batch.share if batch.share and not math.isnan(batch.share.value) else None,)
    )
    columns = ("Batch", "Rows", "Alarm", "Action", "New share", "Low", "High", "Possible", "Outside", "New classes")
    rate, by = percent(found.plan.false_alarms), measure_title(found.plan.by)
    note = f"An unchanged batch gives an alarm by its measures in {rate} of cases. New share: by {by}."
    emphasis = frozenset(at for at, batch in enumerate(found.batches) if batch.alarm)
    return Table("Batches", columns, rows, note, emphasis)


def bands_table(found: Monitor) -> Table:
    """Every measure of every batch with its band."""
    flag = PREDICTED if found.reference.predicted else ""
    rows = tuple(
        (batch, measure_title(str(name)), *row, "outside" if outside else "inside", flag)
        for batch, name, *row, outside in _band_rows(found)
    )
    columns = ("Batch", "Measure", "Value", "Band low", "Band high", "Stands", "Remarks")
    kept = columns if flag else columns[:-1]
    note = "A band is made for each batch, at its size and its mix of known classes."
    emphasis = frozenset(at for at, row in enumerate(rows) if row[5] == "outside")
    return Table("Measures and their bands", kept, tuple(row[: len(kept)] for row in rows), note, emphasis)


def _band_rows(found: Monitor) -> Iterator[tuple[Cell, ...]]:
    for batch in found.batches:
        for name, value in batch.values.items():
            band = batch.bands.bands[name]
            yield (batch.data.name, name, number_or_none(value), band.low, band.high, int(name in batch.left))


# --- charts and words ---


def _band_charts(found: Monitor) -> Iterator[Chart]:
    """The measure that tells the share, over the batches as they came, with the band of each."""
    name, title = found.plan.by, measure_title(found.plan.by)
    rows = tuple(
        row
        for at, batch in enumerate(found.batches, 1)
        for band in (batch.bands.bands[name],)
        for row in (
            (at, "band", batch.data.name, band.centre, band.low, band.high),
            (at, "batch", batch.data.name, number_or_none(batch.values[name]), None, None),
        )
    )
    outside = tuple(batch.data.name for batch in found.batches if name in batch.left)
    yield Chart(
        title=f"{title} over the batches",
        summary=f"{title} of each batch beside the band for a batch of its size. Outside: {enumeration(outside)}.",
        kind="points",
        data=Table(f"{title} over the batches", ("Batch", "Kind", "Name", "Value", "Low", "High"), rows),
        x=Axis("Batch", "batch, as they came", low=0.0, high=len(found.batches) + 1.0),
        y=Axis("Value", title),
        series="Kind",
        low="Low",
        high="High",
    )


def _share_figures(found: Monitor) -> Iterator[Chart]:
    """The curve of the chosen measure for each batch, with the batch on it."""
    for batch in found.batches:
        curve = found.curves.get(batch.data.name, {}).get(found.plan.by)
        if curve is not None and batch.share is not None and not math.isnan(batch.share.value):
            yield _share_chart(found, batch, curve)


def _share_chart(found: Monitor, batch: Watched, curve: MixCurve) -> Chart:
    name, title = found.plan.by, measure_title(found.plan.by)
    rows = tuple(
        (float(curve.shares[at]), float(curve.mean[at]), float(curve.low[at]), float(curve.high[at]))
        for at in range(len(curve.shares))
    )
    return Chart(
        title=f"{batch.data.name}: {title} against the share of new data",
        summary=_share_words(batch, found),
        kind="line",
        data=Table(f"{title} against the share of new data", ("Share", title, "Low", "High"), rows),
        x=Axis("Share", "share of new data", low=0.0, high=1.0, percent=True),
        y=Axis(title, title),
        low="Low",
        high="High",
        marks=(Mark(batch.data.name, batch.share.value if batch.share else 0.0, batch.values[name]),),
    )


def _share_words(batch: Watched, found: Monitor) -> str:
    share = batch.share
    if share is None:
        return ""
    interval = f"{percent(found.plan.level)} CI {percent(round(share.low, 3))} to {percent(round(share.high, 3))}"
    flags = f"; {'; '.join(share.flags)}" if share.flags else ""
    return f"About {percent(round(share.value, 3))} of {batch.data.name} is new ({interval}{flags})."


def _sentences(found: Monitor) -> Iterator[str]:
    alarmed = sum(batch.alarm for batch in found.batches)
    yield (
        f"{alarmed} of {plural('batch', len(found.batches))} give an alarm; unchanged batches would in "
        f"{percent(found.plan.false_alarms)} of cases."
    )
    for batch in found.batches:
        yield " ".join(_batch_words(batch, found))


def _batch_words(batch: Watched, found: Monitor) -> Iterator[str]:
    yield f"{batch.data.name}: {'alarm' if batch.alarm else 'inside its bands'}."
    if batch.new_classes:
        yield f"It has {plural('class', len(batch.new_classes))} that the reference does not know."
    if batch.share is not None and batch.action is not None:
        yield _share_words(batch, found)
        sure = len(batch.possible) < 2
        yield f"{'Action' if sure else 'Most likely action'}: {batch.action}{'.' if sure else f' ({_others(batch)}).'}"
    elif batch.alarm:
        yield "Give a target (--target) to have the share of new data estimated."


def _others(batch: Watched) -> str:
    return "possible too: " + ", ".join(name for name in batch.possible if name != batch.action)


def _lead(found: Monitor) -> str:
    return (
        f"Alarm rate {percent(round(found.alarm_rate, 3))}; the false-alarm rate of a batch is set to "
        f"{percent(found.plan.false_alarms)}, over all {plural('measure', len(found.plan.measures))} together."
    )


def notes(found: Monitor) -> Iterator[str]:
    """What must be known about bands and labels."""
    if found.reference.predicted:
        yield f"Every measure here {PREDICTED}: bands and batches both take the model's predictions for labels."
    else:
        yield "Every measure here needs labels; where batches have none, take predictions (--predicted)."
    for batch in found.batches:
        if batch.bands.drawing.short:
            rows = batch.bands.drawing.size
            yield f"{batch.data.name}: the reference has too few rows, so its band is made from {rows} of them."
    if found.target is None:
        yield "Without a target there is no curve, so no share of new data and no action."


def _method(found: Monitor) -> Text:
    plan = found.plan
    return Text(
        "Method",
        (
            f"Bands come from {plural('draw', plan.draws)} of reference rows without replacement, as many and in the "
            "same mix of known classes as the batch, widened because draws share the reference's rows. One multiple of "
            "the deviation serves all measures, chosen so that the stated share of unchanged batches leaves any band.",
            f"Shares come from {plural('draw', plan.mix_draws)} at each tenth of new rows; the interval holds all "
            "shares under which the batch's value is not unusual.",
        ),
    )


def _facts(found: Monitor) -> Facts:
    plan = found.plan
    table = ", ".join(f"from {number(start)} {name}" for start, name in plan.actions.pairs)
    digests = tuple((f"Digest of {batch.data.name}", batch.data.digest) for batch in found.batches)
    design = (("False-alarm rate", percent(plan.false_alarms)), ("Draws", f"{plan.draws:,}"), ("Seed", str(plan.seed)))
    return (*design, ("Actions", table), ("Digest of reference", found.reference.digest), *digests, _SOFTWARE)


_SOFTWARE: Final = ("Software", f"Basanite {__version__}")
