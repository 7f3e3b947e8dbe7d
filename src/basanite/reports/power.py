"""The report on power: what the present units can show, how many would be enough, what more judges change (S-30)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from basanite import __version__
from basanite.analysis.power import PANEL_SIZES, Enough
from basanite.canonical import plain_values
from basanite.figures import Cell, Table, Text
from basanite.reports.metric_names import display_name
from basanite.reports.report import Report, Section, facts_table, sections_with_content
from basanite.reports.wording import many, number, percent, plural

POWER_FORMAT = "basanite-power/1"
NOW_COLUMNS = ("Metric", "Systems", "Value", "Units", "Variance", "Half-width", "Detectable difference")
NEEDED_COLUMNS = (
    "Metric",
    "Systems",
    "Judges",
    "Difference",
    "Units for difference",
    "Half-width",
    "Units for half-width",
)
DETECTABLE = "Detectable difference: the smallest that these units detect with the requested power."
UNPAIRED = "With one system, differences are against another that varies as much, unpaired: a paired test needs fewer."
SAME = "Every unit gives the same value, so nothing follows about how many are enough."
GUENTHER = (
    "Numbers of units are those of a two-sided paired test (Guenther 1981); none is below {fewest}, the minimum "
    "for an interval."
)
JUDGES = (
    "The variance of a unit is split into that between units and that between single judges inside a unit, by one-way "
    "analysis of variance; more judges lower the second part only. Where votes become one verdict this is approximate, "
    "for more judges also move the value. Where items have different numbers of judgments, those with fewer use "
    "theirs again, so that the part of the judges is at least what is printed."
)


def power_report(found: Sequence[Enough], *, task: str = "") -> Report:
    """The report on what one system, or every pair of systems, can show."""
    goal = found[0].goal
    facts = (
        *((("Task", task),) if task else ()),
        ("Test level", f"{goal.alpha:.6g}"),
        ("Power", percent(goal.power)),
        ("Interval level", percent(goal.level)),
        ("Software", f"Basanite {__version__}"),
    )
    needed = tuple(row for one in found for row in _units_needed(one))
    observed = tuple(_now(one) for one in found if one.units is not None)
    return Report(
        title="How many units are needed",
        subtitle=f"Power on {task}" if task else "Power from a stated variance",
        sections=sections_with_content(
            Section(
                "What these units can show",
                "",
                (_table_with_content("Present units", NOW_COLUMNS, _rows_by_name(observed, task), DETECTABLE),)
                * bool(observed),
            ),
            Section(
                "What would be enough",
                "",
                (_table_with_content("Units needed", NEEDED_COLUMNS, _rows_by_name(needed, task)),) * bool(needed),
            ),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", tuple(_notes(found))),)),
        ),
        facts=facts,
        data=power_object(found, task=task),
        records=Table("Units needed", NEEDED_COLUMNS, needed),
        sentences=tuple(sentence for one in found for sentence in power_sentences(one, task)),
    )


def _rows_by_name(rows: tuple[tuple[Cell, ...], ...], task: str) -> tuple[tuple[Cell, ...], ...]:
    """The rows with their metric's name as people write it."""
    return tuple((display_name(str(metric), task) if metric else metric, *cells) for metric, *cells in rows)


def _table_with_content(
    title: str, columns: Sequence[str], rows: tuple[tuple[Cell, ...], ...], note: str = ""
) -> Table:
    """The table without the columns in which nothing stands."""
    used = [at for at in range(len(columns)) if any(row[at] not in (None, "") for row in rows)]
    return Table(title, tuple(columns[at] for at in used), tuple(tuple(row[at] for at in used) for row in rows), note)


def power_object(found: Sequence[Enough], *, task: str = "") -> dict[str, Any]:
    """The object that `power --json` prints."""
    goal = found[0].goal
    data = {
        "format": POWER_FORMAT,
        "task": task or None,
        "alpha": goal.alpha,
        "power": goal.power,
        "level": goal.level,
        "answers": [_answer(one) for one in found],
        "notes": list(_notes(found)),
    }
    return {key: plain_values(value) for key, value in data.items()}


def _answer(one: Enough) -> dict[str, Any]:
    judged = one.spread.judge_variance is not None
    return {
        "metric": one.metric or None,
        "systems": list(one.systems),
        "value": one.value,
        "unit": one.unit,
        "units": one.units,
        "variance": one.spread.variance,
        "judge_variance": one.spread.judge_variance,
        "judges": one.spread.judges if judged else None,
        "interval_half_width": one.half_width,
        "detectable": one.detectable,
        "difference": one.target,
        "half_width": one.goal.half_width,
        "units_for_difference": one.units_for_difference(),
        "units_for_half_width": one.units_for_half_width(),
        "judges_for_difference": one.judges_for_difference,
        "judges_for_half_width": one.judges_for_half_width,
        "by_judges": [_by_judges(one, size) for size in PANEL_SIZES] if judged else [],
    }


def _by_judges(one: Enough, size: int) -> dict[str, Any]:
    return {
        "judges": size,
        "units_for_difference": one.units_for_difference(size),
        "units_for_half_width": one.units_for_half_width(size),
    }


def power_sentences(one: Enough, task: str = "") -> Iterator[str]:
    """What follows, in words: what the units can show, and how many would be enough."""
    about = f"{_subject(one, task)}: " if one.metric else ""
    if not one.is_known:
        yield about + SAME
        return
    if one.detectable is not None and one.units is not None:
        yield (
            f"{about}{plural(one.unit, one.units)} show a difference of {number(one.detectable)} or more in "
            f"{percent(one.goal.power)} of cases (two-sided test at {one.goal.alpha:.4g})."
        )
    elif one.units is not None:
        yield f"{about}{plural(one.unit, one.units)} are too few for a test at {one.goal.alpha:.4g}."
    yield from (about + words if about else words[0].upper() + words[1:] for words in _enough_in_words(one))


def _enough_in_words(one: Enough) -> Iterator[str]:
    units, size = many(one.unit), one.goal.half_width
    needed, precise = one.units_for_difference(), one.units_for_half_width()
    if needed is not None and one.target is not None:
        observed = "the observed difference" if one.goal.difference is None else "a difference"
        yield f"about {needed:,} {units} show {observed} of {number(one.target)} in {percent(one.goal.power)} of cases."
    elif one.target is not None:
        yield f"no number of {units} shows a difference as small as {number(one.target)}."
    if precise is not None and size is not None:
        yield f"about {precise:,} {units} give a {percent(one.goal.level)} CI of ± {number(size)}."
    elif size is not None:
        yield f"no number of {units} gives an interval as narrow as ± {number(size)}."
    if one.spread.judge_variance is not None and one.units is not None:
        goals = (
            (one.target, one.judges_for_difference, "show it"),
            (size, one.judges_for_half_width, "give that interval"),
        )
        yield from (_judges_in_words(one, judges, effect) for wanted, judges, effect in goals if wanted is not None)


def _judges_in_words(one: Enough, judges: int | None, effect: str) -> str:
    units = plural(one.unit, one.units or 0)
    if judges is None:
        return f"on {units}, no number of judges would {effect}: more units are needed."
    return f"on {units}, {plural('judge', judges)} for each item would {effect}."


def _subject(one: Enough, task: str) -> str:
    name = display_name(one.metric, task)
    return f"{name} of {' and '.join(one.systems)}" if one.systems else name


def _now(one: Enough) -> tuple[Cell, ...]:
    systems = " − ".join(one.systems)
    return (one.metric, systems, one.value, one.units, one.spread.variance, one.half_width, one.detectable)


def _units_needed(one: Enough) -> Iterator[tuple[Cell, ...]]:
    """The units needed as judged now, and with other numbers of judges where their part of the variance is known."""
    if not one.is_known or (one.target is None and one.goal.half_width is None):
        return
    sizes: tuple[int | None, ...] = PANEL_SIZES if one.spread.judge_variance is not None else ()
    for size in (None, *sizes):
        judges: Cell = size if size is not None else "as now"
        difference, half_width = one.units_for_difference(size), one.units_for_half_width(size)
        yield (one.metric, " − ".join(one.systems), judges, one.target, difference, one.goal.half_width, half_width)


def _notes(found: Sequence[Enough]) -> Iterator[str]:
    named = {f"{one.fewest} ({one.metric})": one.fewest for one in found}
    numbers = named if len(set(named.values())) > 1 else map(str, named.values())
    yield GUENTHER.format(fewest=" or ".join(dict.fromkeys(numbers)))
    if any(one.sides == 2 for one in found):
        yield UNPAIRED
    if any(one.spread.judge_variance is not None for one in found):
        yield JUDGES
