"""Small analyses and comparisons with plausible numbers, for every output to show."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from basanite.analysis.results import Analysis, Comparison, Design, Difference, Ranking, Value
from basanite.figures import Axis, Chart, Excerpt, Excerpts, Extract, Figure, Mark, Table, Text
from basanite.kernel import Metric, Scores, UnitRows
from basanite.problems import Findings, Problem

HOSTILE = "=cmd|'/c calc'!A1</script><img src=x onerror=alert(1)>\u202e[bold red]"
MEASURES = (
    ("aqwv", "mean query-weighted value of the submitted decisions, third form", False),
    ("pmiss", "share of relevant documents that were not returned", False),
    ("pfa", "share of other documents that were returned", False),
    ("mqwv", "query-weighted value at the best single threshold", True),
    ("auc", "area under the ROC curve, mean over queries", False),
)
ROWS = UnitRows("query", ("q1",), ("value", "count"), np.array([[0.3, 1.0]]))
PHI = NormalDist()


def _statistics(block: object) -> np.ndarray:
    raise NotImplementedError


def metrics() -> tuple[Metric, ...]:
    return tuple(
        Metric(
            name=name,
            summary=summary,
            citation="MATERIAL evaluation plan, section 4.1",
            family="detection",
            statistics=_statistics,
            reduce=_statistics,
            range=(-40.0, 1.0),
            best="low" if name in ("pmiss", "pfa") else "high",
            unit="query",
            optimistic=optimistic,
        )
        for name, summary, optimistic in MEASURES
    )


def value(centre: float, half: float = 0.03, units: int = 300, **more: object) -> Value:
    return Value(centre, centre - half, centre + half, units, **more)  # type: ignore[arg-type]


def values(shift: float = 0.0) -> dict[str, Value]:
    return {
        "aqwv": value(0.3127 + shift, parts={"pmiss part": 0.41, "pfa part": 0.2773, "threshold": math.inf}),
        "pmiss": value(0.4132 - shift),
        "pfa": value(0.0021, 0.0003),
        "mqwv": value(0.3554 + shift, undefined=2),
        "auc": Value(math.nan, None, None, 300, 300, ("no query has scores",)),
    }


def breakdowns(shift: float = 0.0) -> dict[str, dict[str, dict[str, Value]]]:
    genres = {"news text": (0.41, 0.04, 180), "topical text": (0.35, 0.05, 160), "blog": (0.22, 0.07, 90)}
    genres |= {"conversational speech": (0.12, 0.09, 70), "news broadcast": (0.2, 0.08, 84)}
    by_genre = {
        level: {"aqwv": value(centre + shift, half, units), "pmiss": value(0.8 - centre, half, units)}
        for level, (centre, half, units) in genres.items()
    }
    few = Value(-0.05, None, None, 6, 0, ("too few for an interval",))
    by_genre["topical broadcast"] = {"aqwv": few, "pmiss": few}
    kinds = {"lexical": (0.36, 0.04, 200), "conceptual": (0.19, 0.07, 60), "hybrid": (0.28, 0.08, 40)}
    by_kind = {kind: {"aqwv": value(centre + shift, half, units)} for kind, (centre, half, units) in kinds.items()}
    return {"genre": by_genre, "query kind": by_kind}


def analysis(system: str = "Team Ochre 2", shift: float = 0.0) -> Analysis:
    scores = Scores(
        task="clir",
        system=system,
        metrics=metrics(),
        tables={"aqwv": ROWS},
        primary="aqwv",
        settings={"beta": 40.0, "language": "sw"},
        digests={"submission": "sha256:" + "ab12" * 16, "reference": "sha256:" + "cd34" * 16},
        notes=("Intervals are over queries, these documents fixed.",),
    )
    design = Design()
    notes = (
        "No cluster column: units treated as independent.",
        "2 queries have no relevant document and count in pfa only.",
    )
    return Analysis(scores, values(shift), breakdowns(shift), design, "clir|beta:40|v:0.1.0|seed:0", notes)


def threshold_curves() -> Chart:
    names = {"all queries": 0.30, "queries with relevant": 0.36, "third form": 0.33}
    rows = [
        (name, round(t / 200, 4), peak - 1.7 * (t / 200 - 0.42) ** 2 - 0.5 * (t < 30) * (0.15 - t / 200))
        for name, peak in names.items()
        for t in range(201)
    ]
    data = Table("Value by threshold", ("Variant", "Threshold", "QWV"), rows)
    return Chart(
        title="Query-weighted value by threshold",
        summary="All three variants peak near a threshold of 0.42; the submitted decisions at 0.55 give 0.3127.",
        kind="line",
        data=data,
        x=Axis("Threshold", "Threshold", low=0.0, high=1.0),
        y=Axis("QWV", "Query-weighted value", low=-0.2, high=0.5),
        series="Variant",
        marks=(Mark("submitted", 0.55, 0.3013), Mark("best threshold", 0.42, 0.33)),
    )


def det_curve() -> Chart:
    parts = (("all documents", 1.9), ("text", 2.3), ("speech", 1.4))
    rows = [(part, PHI.cdf(z), PHI.cdf(-shift - z)) for part, shift in parts for z in np.linspace(-3.6, -0.2, 120)]
    lines = tuple(
        (f"AQWV {level:.1f}", tuple((pfa, 1 - level - 40 * pfa) for pfa in np.geomspace(0.0001, (1 - level) / 41, 60)))
        for level in (0.2, 0.4, 0.6)
    )
    return Chart(
        title="Detection error trade-off",
        summary="Misses against false alarms on normal-deviate axes. Text lies below speech throughout.",
        kind="line",
        data=Table("DET", ("Part", "False alarms", "Misses"), rows),
        x=Axis("False alarms", "False-alarm probability", "deviate", 0.0001, 0.4),
        y=Axis("Misses", "Miss probability", "deviate", 0.01, 0.98),
        series="Part",
        marks=(Mark("submitted", 0.0021, 0.4132 + 0.35),),
        guides=lines,
    )


def small_multiples() -> Chart:
    rows = [
        (genre, system, n, base + gain * math.log10(n))
        for genre, base in (("news", 0.1), ("blog", 0.05), ("speech", 0.0), ("web", 0.08))
        for system, gain in (("ours", 0.12), ("baseline", 0.08))
        for n in (10, 30, 100, 300, 1000)
    ]
    return Chart(
        title="Learning curves by genre",
        summary="Ours stays above the baseline in every genre.",
        kind="line",
        data=Table("Learning", ("Genre", "System", "Examples", "Value"), rows),
        x=Axis("Examples", "Examples", "log"),
        y=Axis("Value", "Value"),
        series="System",
        facet="Genre",
    )


def points_chart() -> Chart:
    rows = [
        ("A", 0.2, 0.3, 0.25, 0.35),
        ("A", 0.5, 0.45, 0.4, 0.5),
        ("B", 0.3, 0.5, 0.42, 0.58),
        ("B", 0.7, 0.6, 0.5, 0.7),
    ]
    return Chart(
        title="Value by share of training data",
        summary="B lies above A.",
        kind="points",
        data=Table("Points", ("System", "Share", "Value", "Low", "High"), rows),
        x=Axis("Share", "Share of data", percent=True),
        y=Axis("Value", "Value"),
        series="System",
        low="Low",
        high="High",
    )


def figures() -> tuple[Figure, ...]:
    text = Text("Loss split", ("Of the 0.64 lost, 0.04 is calibration (best threshold minus submitted).",))
    return (threshold_curves(), text, det_curve(), small_multiples(), excerpts())


def excerpts(word: str = "umber") -> Excerpts:
    marked = Extract("Ochre", (("the ", ""), (word, "changed"), (" ", ""), ("hill", "added"), ("stone", "missing")))
    return Excerpts(
        f"Where they differ: {word}", word, (Excerpt(word, "+0.25", (Extract(word, ((word, ""),)), marked)),)
    )


def difference(first: str, second: str, size: float, verdict: str, **more: object) -> Difference:
    p = 0.0001 if verdict in ("first", "second") else 0.2131
    moved = (("query00043", 0.11), ("query00107", -0.06))
    fields = {"low": size - 0.03, "high": size + 0.03, "p": p, "p_adjusted": min(1.0, 3 * p), "moved": moved, **more}
    return Difference("aqwv", first, second, size, verdict=verdict, **fields)  # type: ignore[arg-type]


def comparison(names: tuple[str, str, str] = ("Ochre", "Umber", "Sienna")) -> Comparison:
    a, b, c = names
    rankings = {
        metric: Ranking(metric, (a, b, c), ((a,), (b, c)), {a: (1, 1), b: (2, 3), c: (2, 3)}, (a,))
        for metric in ("aqwv", "pmiss")
    }
    undecided = "p and the interval disagree; most of it comes from query00043"
    return Comparison(
        task="clir",
        systems=names,
        analyses={name: analysis(name, shift) for name, shift in zip(names, (0.08, 0.0, -0.02), strict=True)},
        differences=(
            difference(a, b, 0.08, "first"),
            difference(a, c, 0.1, "first"),
            difference(b, c, 0.02, "undecided", note=undecided),
        ),
        rankings=rankings,
        family_size=3,
        draws=10_000,
        notes=("One weight matrix is shared by all systems.",),
    )


def findings() -> Findings:
    found = Findings()
    found.add(
        Problem("M29", "query00043.tsv", 3, 3, "The confidence is not a decimal.", "Write 0.0 to 1.0.", found=HOSTILE)
    )
    found.add(Problem("M55", HOSTILE, None, None, "The name does not follow the plan.", "Rename it.", severity="warn"))
    return found


def hostile_analysis() -> Analysis:
    """Every name that a stranger may choose is the hostile one."""
    plain = analysis(HOSTILE)
    levels = {HOSTILE: {HOSTILE: {"aqwv": value(0.3), HOSTILE: value(-0.4)}}}
    scores = replace(plain.scores, settings={HOSTILE: HOSTILE}, notes=(HOSTILE,))
    values = {**plain.values, "pmiss": value(0.4, flags=(HOSTILE,))}
    return replace(plain, scores=scores, values=values, breakdowns=levels, signature=HOSTILE, notes=(HOSTILE,))


def hostile_chart() -> Chart:
    data = Table(HOSTILE, (HOSTILE, "x", "y"), [(HOSTILE, 0.1, 0.2), (HOSTILE, 0.2, 0.4)], HOSTILE)
    x, y = Axis("x", HOSTILE), Axis("y", HOSTILE)
    marks, guides = (Mark(HOSTILE, 0.1, 0.2),), ((HOSTILE, ((0.1, 0.2), (0.2, 0.3))),)
    return Chart(HOSTILE, HOSTILE, "line", data, x, y, series=HOSTILE, facet=HOSTILE, marks=marks, guides=guides)


def many_systems(count: int) -> Comparison:
    names = tuple(f"System {index}" for index in range(1, count + 1))
    pairs = [(first, second) for at, first in enumerate(names) for second in names[at + 1 :]]
    ranks = {name: (rank, rank) for rank, name in enumerate(names, 1)}
    return Comparison(
        task="clir",
        systems=names,
        analyses={name: analysis(name, -0.02 * index) for index, name in enumerate(names)},
        differences=tuple(difference(first, second, 0.05, "first") for first, second in pairs),
        rankings={"aqwv": Ranking("aqwv", names, tuple((name,) for name in names), ranks, names[:1])},
        family_size=len(pairs),
        draws=10_000,
    )


def crowded_chart() -> Chart:
    """Everything that could collide: marks beside each other, one off the scale, guides at nearly one height."""
    rows = [
        (name, t / 50, top - 2.4 * (t / 50 - 0.5) ** 2)
        for name, top in (("first", 0.8), ("second", -0.7))
        for t in range(51)
    ]
    near = (("oracle 0.853 (optimistic)", 0.853), ("cross-fitted 0.840", 0.84), ("random", 0.02))
    marks = (
        Mark("submitted decisions", 0.52, 0.79),
        Mark("best threshold 0.800", 0.5, 0.8),
        Mark("far away", 3.0, 0.4),
        Mark("far below", 0.9, -7.0),
    )
    return Chart(
        title="A crowded chart",
        summary="Two curves, of which one leaves the plot.",
        kind="line",
        data=Table("Crowded", ("System", "Threshold", "Value"), rows),
        x=Axis("Threshold", "threshold", low=0.0, high=1.0),
        y=Axis("Value", "value", low=-1.0, high=1.0),
        series="System",
        marks=marks,
        guides=tuple((label, ((0.0, level), (1.0, level))) for label, level in near),
    )


def full_bars() -> Chart:
    """Bars up to the end of their axis, long names, an interval below zero, and a level with few units."""
    rows = (
        ("extended morphological", 1.0, 1.0, 1.0),
        ("speech", 0.26, -0.13, 0.63),
        ("few", 0.5, None, None),
    )
    data = Table("Bars", ("Level", "Value", "Low", "High"), rows, muted=frozenset({2}))
    axes = Axis("Value", "value"), Axis("Level", "level", "category")
    return Chart("Value by level", "Three levels.", "bars", data, *axes, low="Low", high="High")
