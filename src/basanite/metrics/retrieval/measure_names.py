"""Measures of rankings by name and cut-off, as ir_measures and trec_eval spell them: `nDCG@20`, `recall_100` (T-13).

A name is read into a family of measures, a cut-off and parameters, and becomes a metric: the mean over queries of what
`measures` computes for each. Any number of them can be asked for; none is registered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from basanite.errors import SettingError
from basanite.kernel import Metric, Reduce, Rows, column_ratio
from basanite.metrics.retrieval.measures import (
    CUT,
    ERR_GRADE,
    FAMILIES,
    GEOMETRIC,
    LEVEL,
    MEAN,
    NO_CUT,
    SUM,
    Family,
    Ranked,
    judged_part,
)
from basanite.metrics.retrieval.ranking import Reals

LEAST_MEAN: Final = 1e-5
"""What a geometric mean takes for a value of 0, as trec_eval does."""
EVERYWHERE: Final[Mapping[str, Any]] = {"rel": 0, "judged_only": False}
"""What every measure may be given: its own lowest relevant grade (0: the task's); to leave out unjudged documents."""
EXAMPLES: Final = "nDCG@20, P@5, R@1000, RR@10, AP@100, Success@5, RBP(p=0.8), ERR@20, bpref, ndcg_cut_20, recall_100"


@dataclass(frozen=True)
class Measure:
    """One measure: its family, its cut-off (or level of recall) and its parameters."""

    name: str
    family: Family
    cut: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def of(self, query: Ranked) -> float:
        """The value of one query."""
        given = {**self.parameters}
        rel, judged_only = given.pop("rel", 0), given.pop("judged_only", False)
        if rel:
            query = replace(query, least=rel)
        if judged_only:
            query = judged_part(query)
        if self.family.cut == LEVEL:
            return float(self.family.value(query, self.cut, **given))
        cut = {"cut": int(self.cut)} if self.cut is not None else {}
        return float(self.family.value(query, **cut, **given))

    @property
    def words(self) -> str:
        """The measure as its first name, parameters and cut-off say it."""
        given = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        cut = "" if self.cut is None else f"@{self.cut:g}"
        return f"{self.family.names[0]}{f'({given})' if given else ''}{cut}"

    @property
    def trec_eval(self) -> str:
        """The name that trec_eval gives it; its own name where trec_eval has no such measure."""
        known, cut = self.family.trec_eval, self.cut
        if not known or self.parameters:
            return self.words
        if cut is None:
            return known
        spelled = f"{cut:.2f}" if self.family.cut == LEVEL else f"{cut:g}"
        return f"{known}_cut_{spelled}" if known in ("map", "ndcg") else f"{known}_{spelled}"


def key_of(name: str) -> str:
    """A measure's name as JSON has it: lower case, with @ and brackets as _.

    >>> key_of("nDCG@20"), key_of("RBP(p=0.8)"), key_of("ndcg_cut.20"), key_of("nDCG(dcg='exp-log2')@10")
    ('ndcg_20', 'rbp_p0.8', 'ndcg_cut_20', 'ndcg_dcgexp-log2_10')
    """
    plain = re.sub(r"[\s'\"=]", "", name.strip())
    plain = re.sub(r"(?<=[a-z_])\.(?=\d)", "_", plain, flags=re.IGNORECASE)  # trec_eval's ndcg_cut.20
    return re.sub(r"[@(),_]+", "_", plain).strip("_").lower()


def read_measure(name: str) -> Measure | None:
    """The measure of this name; None where no family has it, a refusal where its cut-off or parameters do not fit.

    >>> read_measure("RBP(p=0.5)@10").words, read_measure("ndcg_cut_20").words, read_measure("happiness")
    ('RBP(p=0.5)@10', 'nDCG@20', None)
    """
    key = key_of(name)
    known = ((key_of(spelled), family) for family in FAMILIES for spelled in family.names)
    fitting = [(spelled, family) for spelled, family in known if key == spelled or key.startswith(f"{spelled}_")]
    if not fitting:
        return None
    spelled, family = max(fitting, key=lambda pair: len(pair[0]))
    cut, parameters = _arguments(name, key[len(spelled) :].strip("_"), family)
    _check_cut(name, cut, family, spelled)
    return Measure(key, family, cut, parameters)


def _arguments(name: str, text: str, family: Family) -> tuple[float | None, dict[str, Any]]:
    """The cut-off and the parameters that follow a family's name."""
    allowed = {**family.parameters, **({} if family.by_part or family.over == SUM else EVERYWHERE)}
    cuts: list[float] = []
    given: dict[str, Any] = {}
    while text:
        parameter = next((one for one in allowed if text.startswith(one)), "")
        value, _, text = text.removeprefix(parameter).partition("_")
        if parameter:
            given[parameter] = _parameter(name, parameter, value, allowed[parameter])
        elif re.fullmatch(r"\d+(\.\d+)?", value):
            cuts.append(float(value))
        else:
            words = f"It takes {', '.join(allowed)}." if allowed else "It takes none."
            raise SettingError(f"{name!r} cannot be read: {family.names[0]} has no parameter {value!r}. {words}")
    if len(cuts) > 1:
        raise SettingError(
            f"{name!r} has {len(cuts)} cut-offs. Write one measure for each, such as nDCG@5 and nDCG@20."
        )
    return (cuts[0] if cuts else None), given


def _parameter(name: str, parameter: str, value: str, usual: Any) -> Any:
    """The value of a parameter, of the type of its usual one."""
    try:
        if isinstance(usual, bool):
            return {"true": True, "false": False}[value]
        found = type(usual)(value)
    except (ValueError, KeyError):
        raise SettingError(
            f"{name!r} cannot be read: {value!r} is not a {parameter}. Write one like {usual}."
        ) from None
    words = {"dcg": found in ("log2", "exp-log2"), "p": parameter != "p" or 0 < found < 1}
    if not words.get(parameter, True) or (parameter in ("alpha", "beta", "max_rel", "rel") and found < 0):
        raise SettingError(f"{name!r} cannot be read: {parameter} cannot be {value}. Write one like {usual}.")
    return found


def _check_cut(name: str, cut: float | None, family: Family, spelled: str) -> None:
    """Refuse a cut-off that is missing, stands where there is none, or is not a whole number."""
    first = family.names[0]
    if family.cut == LEVEL:
        if cut is None or not 0 <= cut <= 1:
            raise SettingError(f"{name!r} needs a recall from 0 to 1: write {first}@0.1.")
    elif cut is None:
        if family.cut == CUT or spelled.endswith("_cut"):
            raise SettingError(f"{name!r} needs a cut-off: write {first}@10.")
    elif family.cut == NO_CUT:
        raise SettingError(f"{name!r} cannot be read: {first} has no cut-off.")
    elif cut < 1 or not cut.is_integer():
        raise SettingError(f"{name!r} needs a cut-off of 1, 2, 3 …: write {first}@10.")


@dataclass(frozen=True)
class RankedBlock:
    """The judged queries of one system, and whether those without relevant documents leave the mean."""

    units: Sequence[str]
    queries: Sequence[Ranked]
    leave_out: bool = False


def measure_rows(block: RankedBlock, measure: Measure) -> Rows:
    """The value of each query and whether it counts: a row of `VALUE_COLUMNS`."""
    family = measure.family
    if family.names[0] == "ERR":
        _check_grades(block, int(measure.parameters.get("max_rel", ERR_GRADE)))
    values = np.array([measure.of(query) for query in block.queries], dtype=np.float64)
    if family.over == GEOMETRIC:
        values = np.log(np.maximum(values, LEAST_MEAN))
    counted = np.ones(len(values))
    if family.answered:
        counted = np.array([len(query.grades) > 0 for query in block.queries], dtype=np.float64)
    elif block.leave_out and family.over != SUM:
        counted = np.array([query.total > 0 for query in block.queries], dtype=np.float64)
    return np.column_stack([values * counted, counted])


def _check_grades(block: RankedBlock, most: int) -> None:
    """Refuse grades above those of ERR: what satisfies a reader would be more than certain."""
    highest = max((int(query.pool.max(initial=0)) for query in block.queries), default=0)
    if highest > most:
        raise SettingError(f"ERR takes grades up to {most}, and one is {highest}: write ERR(max_rel={highest})@20.")


def _geometric(sums: Rows) -> Reals:
    return np.asarray(np.exp(column_ratio(sums, 0, 1)))


def _sum(sums: Rows) -> Reals:
    return np.asarray(sums[..., 0])


VALUE_COLUMNS: Final = ("value", "counted")
REDUCE: Final[Mapping[str, Reduce]] = {MEAN: partial(column_ratio, top=0, bottom=1), SUM: _sum, GEOMETRIC: _geometric}


def metric_of(measure: Measure) -> Metric:
    """The metric of a measure: its mean over queries, or their number or geometric mean."""
    family = measure.family
    binary = family.names[0] == "Success"
    return Metric(
        name=measure.name,
        title=measure.words,
        summary=f"{measure.words}: {family.summary[:1].lower()}{family.summary[1:]}, {family.over} over queries",
        citation=family.citation,
        family="ranking",
        statistics=partial(measure_rows, measure=measure),
        reduce=REDUCE[family.over],
        range=family.range,
        best=family.best,
        columns=VALUE_COLUMNS,
        unit="query",
        linear=family.over == MEAN and not family.answered,
        proportion=binary,
        interval="wilson" if binary else "studentized",
        carrier=VALUE_COLUMNS[1] if family.answered else None,
    )
