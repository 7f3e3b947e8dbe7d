"""Values of one query, worked out: AP, nDCG, RR, precision and recall of a ranking; AQWV and its rates of decisions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from basanite.figures import Cell
from basanite.formats.retrieval.trec import rank_documents
from basanite.metrics.retrieval.measure_names import read_measure
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows

Ranks: TypeAlias = list[tuple[int, str, int | None]]
"""Rank, document and grade, None for a document that nobody judged, from the top down."""
Finish: TypeAlias = Callable[[Ranks, "Query"], tuple[list[Step], float]]


class Query:
    """A query as the settings of the run see it: its ranking, grades, and what counts as relevant."""

    def __init__(self, case: Case) -> None:
        judged, settings = case.reference, case.settings
        self.grades: Mapping[str, int] = judged.grades
        ranking = rank_documents(case.answer)[: settings["depth"]]
        if settings["judged_only"]:
            ranking = [name for name in ranking if self.grades.get(name, -1) >= 0]
        measure = read_measure(case.metric.name)
        given = {} if measure is None else dict(measure.parameters)
        self.least: int = given.get("rel") or settings["least"]
        if given.get("judged_only"):
            ranking = [name for name in ranking if self.grades.get(name, -1) >= 0]
        self.cut = None if measure is None or measure.cut is None else int(measure.cut)
        self.exponential = given.get("dcg") == "exp-log2" or settings["gain"] == "exp"
        self.stated: Mapping[int, float] = {} if settings["gain"] in (None, "exp") else dict(settings["gain"])
        self.ranks: Ranks = [(at, name, self.grades.get(name)) for at, name in enumerate(ranking, start=1)]
        self.relevant = sum(grade >= self.least for grade in self.grades.values())

    def is_relevant(self, grade: int | None) -> bool:
        """Whether a document of this grade is relevant."""
        return grade is not None and grade >= self.least

    def gain(self, grade: int | None) -> float:
        """What a document of this grade is worth in nDCG."""
        if grade is None or grade <= 0:
            return 0.0
        return 2.0**grade - 1 if self.exponential else self.stated.get(grade, float(grade))

    @property
    def first(self) -> Ranks:
        """The documents down to the cut-off."""
        return self.ranks[: self.cut]


def of_ranking(case: Case, finish: Finish) -> Worked:
    """A measure of one ranking: the documents from the top down, and what becomes of them."""
    query = Query(case)
    said = f"{query.relevant} of {len(query.grades)} judged documents are relevant (grade {query.least} or more)."
    cut = f" The first {query.cut} count." if query.cut is not None else ""
    rows: list[tuple[Cell, ...]] = [
        (rank, name, "not judged" if grade is None else str(grade), "yes" if query.is_relevant(grade) else "")
        for rank, name, grade in query.first
        if query.is_relevant(grade) or rank <= 10
    ]
    table = shown_rows("The first ten, and every relevant document", ("Rank", "Document", "Grade", "Relevant"), rows)
    if not case.row.get("with_relevant", 1.0) and case.settings["without_relevant"] == "leave_out":
        return Worked((Step("Left out", ("The query has no relevant document and is left out.",)),), math.nan)
    steps, value = finish(query.first, query)
    return Worked((Step("The ranking", (said + cut,), table=table), *steps), value)


def average_precision(ranks: Ranks, query: Query) -> tuple[list[Step], float]:
    """The precision at each relevant document, over all relevant documents."""
    found = [rank for rank, _, grade in ranks if query.is_relevant(grade)]
    terms = [f"{at}/{rank}" for at, rank in enumerate(found, start=1)]
    total = math.fsum(at / rank for at, rank in enumerate(found, start=1))
    value = total / query.relevant if query.relevant else 0.0
    shown = " + ".join(terms[:20]) + (" + …" if len(terms) > 20 else "") or "0"
    said = "For each relevant document: the relevant ones at or above it, over its rank. Missed ones count 0."
    formula = f"({shown}) / {query.relevant} = {short(value)}"
    return [Step("Average precision", (said,), formula)], value


def reciprocal_rank(ranks: Ranks, query: Query) -> tuple[list[Step], float]:
    """One over the rank of the first relevant document."""
    first = next((rank for rank, _, grade in ranks if query.is_relevant(grade)), None)
    formula = "no relevant document: 0" if first is None else f"1 / {first} = {short(1 / first)}"
    return [Step("Reciprocal rank", (), formula)], 0.0 if first is None else 1 / first


def discounted_gain(ranks: Ranks, query: Query) -> tuple[list[Step], float]:
    """nDCG: discounted gains over those of the best possible ranking."""
    gains = [(rank, query.gain(grade)) for rank, _, grade in ranks]
    ideal = sorted((query.gain(grade) for grade in query.grades.values()), reverse=True)[: query.cut]
    sums, steps = [], []
    for title, pairs in (("DCG", gains), ("Ideal DCG", list(enumerate(ideal, start=1)))):
        worth = [(rank, gain) for rank, gain in pairs if gain]
        total = math.fsum(gain / math.log2(rank + 1) for rank, gain in worth)
        terms = [f"{short(gain)}/log2({rank + 1})" for rank, gain in worth]
        shown = " + ".join(terms[:12]) + (" + …" if len(terms) > 12 else "") or "0"
        said = "Each gain is divided by log2(rank + 1)." if title == "DCG" else "The same of the best possible ranking."
        steps.append(Step(title, (said,), f"{shown} = {short(total)}"))
        sums.append(total)
    value = sums[0] / sums[1] if sums[1] else 0.0
    formula = f"DCG / ideal DCG = {division(*sums)}" if sums[1] else "there is nothing to gain: 0"
    return [*steps, Step("nDCG", (), formula)], value


def precision(ranks: Ranks, query: Query) -> tuple[list[Step], float]:
    """The share of the first documents that are relevant."""
    hits = sum(query.is_relevant(grade) for _, _, grade in ranks)
    cut = query.cut or len(ranks)
    said = "The cut-off divides, even where fewer were retrieved."
    return [Step("Precision", (said,), f"relevant / cut-off = {division(hits, cut)}")], hits / cut if cut else 0.0


def recall(ranks: Ranks, query: Query) -> tuple[list[Step], float]:
    """The share of the relevant documents that were found."""
    hits = sum(query.is_relevant(grade) for _, _, grade in ranks)
    value = hits / query.relevant if query.relevant else 0.0
    return [Step("Recall", (), f"found / relevant = {division(hits, query.relevant)}")], value


RANKING: Final[Mapping[str, Explain]] = {
    name: partial(of_ranking, finish=finish)
    for name, finish in (
        ("map", average_precision),
        ("ap", average_precision),
        ("rr", reciprocal_rank),
        ("ndcg", discounted_gain),
        ("p", precision),
        ("r", recall),
        ("recall", recall),
    )
}


def _counts(case: Case) -> tuple[int, int, int, int]:
    """Relevant documents, missed ones, other documents, and false alarms of a query."""
    truth = case.run.key.relevant(case.unit)
    relevant = int(truth.sum())
    other = len(truth) - relevant
    return relevant, round(case.row["pmiss"] * relevant), other, round(case.row["pfa"] * other)


def _rate_steps(case: Case) -> tuple[list[Step], float | None, float]:
    """Pmiss and PFA of the query; no Pmiss without relevant documents."""
    relevant, missed, other, alarms = _counts(case)
    said = (
        f"{relevant} documents are relevant and {missed} of them were not returned; {other} are not relevant and "
        f"{alarms} of them were returned."
    )
    miss = missed / relevant if relevant else None
    alarm = alarms / other if other else 0.0
    steps = [
        Step("The decisions", (said,)),
        Step("Pmiss", (), f"missed / relevant = {division(missed, relevant)}"),
        Step(
            "PFA", (), f"false alarms / not relevant = {division(alarms, other)}" if other else "no other document: 0"
        ),
    ]
    return steps, miss, alarm


def query_value(case: Case, *, without: str) -> Worked:
    """AQWV of one query: misses weighed against false alarms; `without` says what a query without relevant ones is."""
    steps, miss, alarm = _rate_steps(case)
    beta = float(case.metric.settings["beta"])
    if miss is None and without == "undefined":
        said = "The query has no relevant document, so Pmiss and the value are undefined."
        return Worked((*steps, Step("Query value", (said,))), math.nan)
    value = 1 - ((miss or 0.0) + beta * alarm)
    formula = f"1 − (Pmiss + β × PFA) = 1 − ({short(miss or 0.0)} + {short(beta)} × {short(alarm)}) = {short(value)}"
    said = "AQWV of a submission is the mean over queries: Pmiss over those with relevant documents, PFA over all."
    return Worked((*steps, Step("Query value", (said,), formula)), value)


def rate(case: Case, *, miss: bool) -> Worked:
    """Pmiss or PFA of one query."""
    steps, missed, alarm = _rate_steps(case)
    value: Any = missed if miss else alarm
    return Worked((steps[0], steps[1 if miss else 2]), math.nan if value is None else value)


DETECTION: Final[Mapping[str, Explain]] = {
    "aqwv": partial(query_value, without="undefined"),
    "aqwv_relevant": partial(query_value, without="undefined"),
    "aqwv_all": partial(query_value, without="zero"),
    "pmiss": partial(rate, miss=True),
    "pfa": partial(rate, miss=False),
}
