"""What detection tasks share: reading a submission of one file per target, its checks, and the rows of its metrics.

What a false alarm costs against a miss, by language and task: the plan's table, or constants of one's own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.formats.archives.archive import Limits, Source, check_archive_name, open_source
from basanite.formats.archives.members import Member, member_digest
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.retrieval.detection_files import SCALE, Answers, confidence_text, read_answers
from basanite.formats.retrieval.detection_key import SUFFIX, Key, key_from_lists, nearest_query, query_of, read_key_set
from basanite.formats.retrieval.detection_lines import Layout, LineReader
from basanite.formats.retrieval.query_packs import read_query_pack
from basanite.problems import Findings, Problem
from basanite.tasks import Inputs, Setting
from basanite.tasks.settings import number_or_nan

HALF = SCALE // 2
NAMED = 5
"""So many targets are named where there are more."""
EVERY = {"query": "all queries", "domain": "all domains", "language": "all languages"}

Run = TypeVar("Run", bound="DetectionRun")


@dataclass(frozen=True)
class Span:
    """The lowest score that was returned and the highest that was not, with their documents (M31)."""

    lowest_returned: tuple[int, int] | None
    highest_rejected: tuple[int, int] | None

    @classmethod
    def of(cls, answers: Answers) -> Span:
        """The span of one file; each pair is a score and the place of its document."""
        returned = np.flatnonzero(answers.returned)
        low = int(returned[np.argmin(answers.score[returned])]) if len(returned) else None
        others = answers.score.copy()
        others[returned] = -1
        high = int(np.argmax(others)) if len(returned) < len(others) else None
        return cls(
            None if low is None else (int(answers.score[low]), low),
            None if high is None else (int(answers.score[high]), high),
        )

    def broken(self) -> bool:
        """Whether no one threshold can have made these decisions."""
        if self.lowest_returned is None or self.highest_rejected is None:
            return False
        return self.highest_rejected[0] >= self.lowest_returned[0]


@dataclass(frozen=True)
class Examined:
    """One file of a submission, read, checked and counted."""

    member: str
    size: int
    sha256: str
    target: str | None
    findings: Findings
    span: Span = Span(None, None)
    constant: bool = False
    """Whether every document of the file has confidence 0.5, as systems without scores write it (M30)."""
    counted: Any = None
    """What the task counted, where the truth is known and the file has no problem."""
    part: Any = None
    """What else the task has to remember of the file."""


class DetectionRun(ABC):
    """A submission of one file per target (query, domain, language), on its way from bytes to rows."""

    def __init__(
        self, key: Key, source: Source, layout: Layout, tables: Sequence[FactorTable], limit: int | None = None
    ) -> None:
        self.key = key
        self.source = source
        self.layout = layout
        self.tables = tables
        self.reader = LineReader(key.documents, layout)
        self.spans: dict[str, Span] = {}
        self.constant = True
        self._limit = limit
        self._targets = frozenset(key.queries)
        self._extra: list[str] = []
        self.unscored: SettingError | None = None
        """What is missing to score the run, which validating it does not need."""

    @abstractmethod
    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> Any:
        """What the task needs to know of one target; files may be counted side by side, so nothing is changed here."""

    @abstractmethod
    def keep(self, target: str, counted: Any) -> None:
        """Keep what was counted, one target after the other."""

    def pieces(self, findings: Findings) -> Iterator[Member]:
        """The files of the submission, hashed where they are examined."""
        name = check_archive_name(self.source.name) if self.source.kind == "archive" else None
        if name is not None:
            findings.add(name)
        return self.source.members(findings, hashed=False)

    def examine(self, piece: Member) -> Examined:
        """Read one file; count it if the truth is known."""
        findings = Findings(self._limit)
        target = query_of(piece, findings, self.layout)
        examined = Examined(piece.name, len(piece.data), member_digest(piece.data), target, findings)
        if target is None or target not in self._targets:
            return examined
        return self._read(examined, piece.data)

    def _read(self, examined: Examined, data: bytes) -> Examined:
        """Read the rows of a target's file, fast if nothing about them is in doubt."""
        answers = read_answers(data, self.key.documents)
        if answers is None:
            answers = self.reader.read(data, examined.member, examined.findings)
        if answers is None or examined.target is None:
            return examined
        return self._with_counts(examined, examined.target, answers)

    def _with_counts(self, examined: Examined, target: str, answers: Answers) -> Examined:
        counted = self.count(target, self.key.relevant(target), answers) if self.key.has_reference else None
        constant = bool((answers.score == HALF).all())
        return replace(examined, span=Span.of(answers), constant=constant, counted=counted)

    def take(self, examined: Examined, findings: Findings) -> None:
        """Take in one examined file."""
        findings.merge(examined.findings)
        self.source.digest.add(examined.member, examined.size, examined.sha256)
        if examined.target is None:
            return
        if examined.target not in self._targets:
            self._extra.append(examined.target)
            return
        self.constant = self.constant and examined.constant
        self.spans[examined.target] = examined.span
        if examined.counted is not None and findings.valid:
            self.keep(examined.target, examined.counted)

    def close(self, findings: Findings) -> None:
        """Check which files there are (M25) and whether one threshold can have decided (M31)."""
        findings.extend(self._file_problems())
        if not self.constant:
            findings.extend(self._threshold_problems())

    def _file_problems(self) -> Iterator[Problem]:
        noun = self.layout.target
        if self._extra and not self.spans and not any(map(self.nearest, self._extra)):
            yield self._other_set()
            return
        for query in self._extra:
            near = self.nearest(query)
            fix = f"rename it to {self.file_of(near)}" if near is not None else "leave it out"
            message = f"no such {noun}: names must be equal character by character"
            yield self._file_problem(query, message, fix)
        if self.source.complete:
            for query in (query for query in self.key.queries if query not in self.spans):
                message, fix = f"the file of this {noun} is missing", f"write one file for each {noun}"
                yield replace(self._file_problem(query, message, fix), kind="missing")

    def _other_set(self) -> Problem:
        """No target in common has one cause, and it is told in place of all that follows from it (D-7)."""
        nouns = EVERY[self.layout.target].removeprefix("all ")
        known = ", ".join(self.key.queries[:NAMED]) + (" …" if len(self.key.queries) > NAMED else "")
        message = f"none of your {len(self._extra)} {nouns} is in this data set: is this the right one?"
        fix = f"send files for its {len(self.key.queries)} {nouns}: {known}"
        return self._file_problem(self._extra[0], message, fix)

    def nearest(self, target: str) -> str | None:
        """The target that a file with a strange name is probably meant for."""
        return nearest_query(target, self.key.queries)

    def file_of(self, target: str) -> str:
        """Where the file of a target belongs."""
        return target + SUFFIX

    def _file_problem(self, query: str, message: str, fix: str) -> Problem:
        file = self.file_of(query)
        return Problem(self.layout.naming, file, None, None, message, fix, found=file, where=self.layout.where)

    def _threshold_problems(self) -> Iterator[Problem]:
        broken = [query for query, span in self.spans.items() if span.broken()]
        for query in broken:
            yield self._threshold_problem(query, query)
        extremes = self._extremes()
        if not broken and extremes is not None:
            low, high = extremes
            if Span(self.spans[low].lowest_returned, self.spans[high].highest_rejected).broken():
                yield self._threshold_problem(low, high)

    def _extremes(self) -> tuple[str, str] | None:
        """The queries with the lowest score returned and the highest rejected, if there are both."""
        lows = {query: span.lowest_returned for query, span in self.spans.items() if span.lowest_returned}
        highs = {query: span.highest_rejected for query, span in self.spans.items() if span.highest_rejected}
        if not lows or not highs:
            return None
        return min(lows, key=lambda query: lows[query][0]), max(highs, key=lambda query: highs[query][0])

    def decision_threshold(self) -> float | None:
        """The threshold that made the decisions, if one can have made them all."""
        extremes = self._extremes()
        if extremes is None:
            return None
        low, high = self.spans[extremes[0]].lowest_returned, self.spans[extremes[1]].highest_rejected
        return None if low is None or Span(low, high).broken() else low[0] / SCALE

    def _threshold_problem(self, low: str, high: str) -> Problem:
        returned, rejected = self.spans[low].lowest_returned, self.spans[high].highest_rejected
        assert returned is not None
        assert rejected is not None
        names = self.key.documents.texts()
        yes = f"{names[returned[1]]} is Y with {confidence_text(returned[0])} in {self.file_of(low)}"
        no = f"{names[rejected[1]]} is N with {confidence_text(rejected[0])} in {self.file_of(high)}"
        return Problem(
            "M31",
            self.file_of(low),
            None,
            3,
            f"no one threshold can have decided: {yes}, {no}",
            f"return every document at or above one threshold and no other, for {EVERY[self.layout.target]}",
            found=f"{confidence_text(returned[0])} Y, {confidence_text(rejected[0])} N",
            severity="warn",
            where=self.layout.where,
        )


@dataclass(frozen=True)
class Opening:
    """How a task wants its files: what their lines and names look like, how deep they lie, and what is left out."""

    layout: Layout
    depth: int = 1
    limits: Callable[[Key], Limits] | None = None
    barred: tuple[str, str] | None = None
    """A factor of documents and the level of it that the task leaves out (M34)."""


def open_run(
    make: type[Run], inputs: Inputs, opening: Opening, findings: Findings, executor: Executor | None = None
) -> Run | None:
    """Read the key (or the lists that stand for it) and the metadata; None if they cannot be trusted."""
    tables = [*read_factor_tables(inputs.metadata, findings), *_query_factors(inputs, findings)]
    layout = replace(opening.layout, barred=_barred_documents(tables, opening.barred))
    key = _key(inputs, layout, findings, executor)
    if key is None or not findings.valid:
        return None
    source = open_source(inputs.submission, limits=(opening.limits or _limits)(key), depth=opening.depth)
    return make(key, source, layout, tables, findings.limit)


@contextmanager
def note_unscored(run: DetectionRun) -> Iterator[None]:
    """Note what is missing to score a run: anyone who only validates it need not know (beta)."""
    try:
        yield
    except SettingError as error:
        run.unscored = error


def _query_factors(inputs: Inputs, findings: Findings) -> Iterator[FactorTable]:
    """Kind, subtype, domain and number of words of the queries, where a key is there and the query pack too (M39)."""
    if inputs.reference is not None and inputs.queries is not None:
        pack = read_query_pack(inputs.queries, findings)
        if pack is not None:
            yield pack.factors()


def _barred_documents(tables: Sequence[FactorTable], left_out: tuple[str, str] | None) -> frozenset[bytes]:
    """The documents with the level of a factor that a task leaves out."""
    if left_out is None:
        return frozenset()
    factor, level = left_out
    known = (table.levels[factor] for table in tables if table.subject == "document" and factor in table.levels)
    return frozenset(name.encode() for levels in known for name, found in levels.items() if found == level)


def _limits(key: Key) -> Limits:
    """Room for every target's file and a few strays, so that a flood of members is refused at once (M85)."""
    return Limits(members=4 * len(key.queries) + 100)


def _key(inputs: Inputs, layout: Layout, findings: Findings, executor: Executor | None) -> Key | None:
    if inputs.reference is not None:
        source = open_source(inputs.reference, where="reference")
        return read_key_set(source, layout.pattern, findings, executor, layout)
    if inputs.documents is None or inputs.queries is None:
        raise SettingError("Give --reference, or both --documents and --queries to validate without a key.")
    return key_from_lists(inputs.documents, inputs.queries, layout.pattern, findings)


PLAN = "MATERIAL v6.0.4"
VALUE, PRIOR = 1.0, 1 / 600


def beta_of_constants(cost: float, value: float, prior: float) -> float:
    """beta = C/V (1/P - 1): what a false alarm costs against what a hit is worth (M04).

    >>> round(beta_of_constants(0.1, 1, 1 / 600), 4)
    59.9
    """
    if value == 0:
        raise SettingError("value=0 cannot be used: beta = cost/value (1/prior - 1) divides by it.")
    if not 0 < prior < 1:
        raise SettingError(f"prior={prior:g} cannot be used: it is a probability between 0 and 1, neither included.")
    return cost / value * (1 / prior - 1)


@dataclass(frozen=True)
class Betas:
    """One task's column of the plan's Table 1."""

    task: str
    printed: Mapping[str, float]
    """By language: the values as they are printed, not what their constants give when multiplied out (C02)."""
    cost: Mapping[str, float]
    """By language: C. The plan heads two columns of CLIR+S with C; the first of them is V (C01)."""

    def values_for(self, settings: Mapping[str, Any], language: str | None, *, name: str = "beta") -> dict[str, Any]:
        """Which beta is used, and what the constants give: both are shown (M03, M04)."""
        value, prior = settings["value"], settings["prior"]
        value, prior = VALUE if value is None else value, PRIOR if prior is None else prior
        cost = self.cost.get(language or "") if settings["cost"] is None else settings["cost"]
        beta_of_constants(1.0, value, prior)  # what cannot be used is refused even where it is not needed
        derived = None if cost is None else beta_of_constants(cost, value, prior)
        return {name: self._chosen(settings, language, derived, name), f"{name}_from_constants": derived}

    def _chosen(self, settings: Mapping[str, Any], language: str | None, derived: float | None, name: str) -> float:
        if settings[name] is not None:
            return float(settings[name])
        if derived is not None and any(settings[name] is not None for name in ("cost", "value", "prior")):
            return derived
        if language is not None and language in self.printed:
            return self.printed[language]
        known = ", ".join(self.printed)
        what = (
            f"No beta is known for language {language!r} and {self.task}" if language else "The language is not known"
        )
        raise SettingError(
            f"{what}, and there is no default. Set {name} (--set {name}=20), or language to one of {known}."
        )

    def settings(self) -> tuple[Setting, ...]:
        """The settings that decide about beta."""
        languages = ", ".join(self.printed)
        return (
            Setting("beta", "The cost of a false alarm relative to a miss; overrides language and constants.", number),
            Setting("language", f"One of {languages}; read from the DocIDs if they name one.", str),
            Setting("cost", "C of beta = C/V (1/P - 1).", number),
            Setting("value", "V of beta = C/V (1/P - 1).", number),
            Setting("prior", "P of beta = C/V (1/P - 1), a probability.", number),
        )


CLIR_BETAS = Betas("CLIR", {"1A": 20.0, "1B": 20.0, "1S": 40.0}, {"1A": 0.0333, "1B": 0.0333, "1S": 0.0668})
E2E_BETAS = Betas("E2E", {"1A": 59.9, "1B": 59.9, "1S": 40.0}, {"1A": 0.1, "1B": 0.1, "1S": 0.0668})


def language_of(documents: Iterable[str], pattern: re.Pattern[str]) -> str | None:
    """The one language that the document identifiers name, if they do."""
    if "language" not in pattern.groupindex:
        return None
    matches = (pattern.fullmatch(name) for name in documents)
    found = {match["language"] for match in matches if match is not None}
    return found.pop() if len(found) == 1 else None


def number(text: str) -> float:
    """A setting that is a finite number, 0 or more."""
    value = number_or_nan(text)
    if not 0 <= value < float("inf"):
        raise ValueError("it must be a finite number, 0 or more")
    return value
