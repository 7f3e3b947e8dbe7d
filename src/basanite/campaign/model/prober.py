"""What a simulated prober gets out of a key: its submissions are scored as those of teams are, and shown as to teams.

Values are rounded as limited feedback rounds them, and the ladder takes its steps as on the server (X-23).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from basanite.analysis.results import Analysis
from basanite.campaign.model.exposure import Exposure, exposures
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.redaction import DECIMALS, USUAL_ERRORS, Rung, climb, round_value, standard_error
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.archives.archive import open_source
from basanite.formats.retrieval.detection_key import Key, read_key_set
from basanite.formats.retrieval.detection_lines import MATERIAL_DOCUMENT
from basanite.functions import compare, score
from basanite.problems import Findings
from basanite.synthetic.clir import Spec, write_key, write_members

Labels = frozenset[tuple[str, str]]
"""Pairs of a query and a document."""
Look = Callable[[Labels], float | None]
"""Submits yes for these pairs and no for all others, and gives the value that is shown; None: the looks are over."""
Climb = Callable[[Labels], bool | None]
"""Submits the same on the ladder, and says whether the team's value moved; None: the attempts are over."""
ROUNDING: Final = 0.0005 + 1e-9


@dataclass
class Prober:
    """What a team knows of a key, and how it asks for more."""

    documents: Mapping[str, Sequence[str]]
    """By query, the documents that answers are about."""
    beta: float
    look: Look
    climb: Climb
    found: set[tuple[str, str]] = field(default_factory=set)
    """Pairs that it holds for relevant."""

    def probe(self) -> Labels:
        """Ask until the attempts are over or everything is known; gives the pairs that it holds for relevant."""
        try:
            answered = self._answered_queries()
            for query in self.documents if answered else ():
                documents = self.documents[query]
                self._ask(_Asked(query, answered, set(range(len(documents)))), documents, None)
        except _OverError:
            self._try_more()
        return frozenset(self.found)

    def _try_more(self) -> None:
        """Climb with a document more for each query, as long as there are attempts."""
        for column in zip_longest(*self.documents.values()):
            more = {pair for pair in zip(self.documents, column, strict=True) if pair[1] is not None}
            moved = self.climb(frozenset(self.found | more))
            if moved is None:
                return
            self.found |= more if moved else set()

    def _answered_queries(self) -> int:
        """How many queries have relevant documents: yes to all of one gains its share, if it has some."""
        for query, documents in self.documents.items():
            gain = self._value(query, documents) + self.beta / len(self.documents)
            if gain > 2 * ROUNDING:
                return max(round(1 / gain), 1)
        return 0

    def _value(self, query: str, documents: Sequence[str]) -> float:
        value = self.look(frozenset((query, document) for document in documents))
        if value is None:
            raise _OverError
        return value

    def _ask(self, asked: _Asked, group: Sequence[str], inside: int | None) -> None:
        """Find the relevant documents of a group by halves; `inside` is their number, where it is known."""
        if inside == 0 or (inside is None and len(group) == 1):
            return
        if inside == len(group):
            self.found |= {(asked.query, document) for document in group}
            return
        half, rest = group[: len(group) // 2], group[len(group) // 2 :]
        hits = self._count(asked, half)
        self._ask(asked, half, hits)
        left = self._count(asked, rest) if inside is None or hits is None else inside - hits
        self._ask(asked, rest, left)

    def _count(self, asked: _Asked, group: Sequence[str]) -> int | None:
        """How many of a group are relevant; None if the value leaves it open."""
        value, all_ = self._value(asked.query, group), len(self.documents[asked.query])
        fits = {}
        for relevant in asked.counts:
            gain = 1 / (relevant * asked.answered) if relevant else 0.0
            price = self.beta / ((all_ - relevant) * len(self.documents))
            hits = round((value + len(group) * price) / (gain + price)) if relevant else 0
            off = hits * gain - (len(group) - hits) * price - value
            if 0 <= hits <= min(len(group), relevant) and abs(off) <= ROUNDING:
                fits[relevant] = hits
        asked.counts &= set(fits)
        possible = set(fits.values())
        return possible.pop() if len(possible) == 1 else None


@dataclass
class _Asked:
    """One query that is asked about."""

    query: str
    answered: int
    """How many queries have relevant documents."""
    counts: set[int]
    """How many documents may be relevant to it, as far as that is known."""


class _OverError(Exception):
    """The looks are used up."""


TASK: Final = "clir"
METRIC: Final = "aqwv"
YES, NO = "Y\t1.0", "N\t0.0"
MADE_UP: Final = Spec(queries=20, documents=60, seed=7, prevalence=67 / 1200)
"""Stands for a reference that nobody gave: small, so that looks tell as much as they ever do."""
SECONDS: Final = 30.0
"""So long a rehearsal simulates; what was done by then is said."""
LADDER_TRIES: Final = 5
FEWEST_FOLDS: Final = 2
"""AQWV needs none of the folds for thresholds, which cost most of the time."""


@dataclass(frozen=True)
class Recovery:
    """What the prober had in the end."""

    submissions: int
    """How many it made, of those that the quota lets through."""
    guesses: int
    """Pairs of a query and a document that it holds for relevant."""
    hits: int
    relevant: int
    labels: int

    @property
    def chance(self) -> float:
        """Hits that so many guesses would have without any look."""
        return self.guesses * self.relevant / self.labels

    @property
    def key_bits(self) -> float:
        """What the key holds: which of the labels are relevant, if their number is known.

        >>> round(Recovery(10, 2, 2, 67, 1200).key_bits)
        368
        """
        known = math.lgamma(self.labels + 1) - math.lgamma(self.relevant + 1)
        return (known - math.lgamma(self.labels - self.relevant + 1)) / math.log(2)


def recoveries(campaign: Campaign, reference: Path | None) -> list[tuple[Exposure, Recovery | None]]:
    """What each window exposes, and what the prober found there; None where it does not know how the value is made.

    Windows that let through the same are simulated once.
    """
    done: dict[str, Recovery] = {}
    found: list[tuple[Exposure, Recovery | None]] = []
    for exposure in exposures(campaign):
        window = campaign.window(exposure.window)
        settings = window.settings_of(exposure.task)
        if exposure.task != "CLIR" or settings.get("primary", METRIC) != METRIC:
            found.append((exposure, None))
            continue
        same = repr((exposure.plain, min(exposure.ladder_tries, LADDER_TRIES), window.ladder, sorted(settings.items())))
        if same not in done:
            done[same] = _recover(exposure, window, reference)
        found.append((exposure, done[same]))
    return found


def _recover(exposure: Exposure, window: Window, reference: Path | None) -> Recovery:
    """Let the prober submit as often as the window lets it, on a reference or on a made-up one."""
    given = {name: value for name, value in window.settings_of("CLIR").items() if name not in ("draws", "primary")}
    settings = {**given, "folds": FEWEST_FOLDS}
    errors = USUAL_ERRORS if window.ladder is None else window.ladder
    with TemporaryDirectory() as name:
        truth = reference or Path(name) / "key"
        if reference is None:
            write_key(MADE_UP, truth)
            settings.pop("document_pattern", None)  # made-up names have a form of their own
        key = _key(truth, settings)
        at = _Desk(truth, Path(name), key, settings, exposure, errors)
        found = Prober(dict.fromkeys(key.queries, key.documents.texts()), at.beta(), at.look, at.climb).probe()
    relevant = frozenset((query, one) for query in key.queries for one in _relevant(key, query))
    labels = len(key.queries) * len(key.documents)
    return Recovery(at.made, len(found), len(found & relevant), len(relevant), labels)


def _key(reference: Path, settings: Mapping[str, Any]) -> Key:
    findings = Findings()
    try:
        pattern = re.compile(str(settings.get("document_pattern", MATERIAL_DOCUMENT)))
    except re.error as error:
        raise SettingError(f"document_pattern cannot be used: it is not a regular expression ({error}).") from None
    key = read_key_set(open_source(reference, where="reference"), pattern, findings)
    if key is None:
        raise InvalidInputError(TASK, findings)
    return key


def _relevant(key: Key, query: str) -> Iterator[str]:
    names = key.documents.texts()
    return (names[place] for place in key.relevant(query).nonzero()[0])


@dataclass
class _Desk:
    """Where the prober submits: what it says is scored, and shown as the window shows it."""

    reference: Path
    folder: Path
    key: Key
    settings: Mapping[str, Any]
    exposure: Exposure
    errors: float
    made: int = 0
    best: Labels = frozenset()
    rung: Rung | None = None
    began: float = field(default_factory=time.monotonic)

    def beta(self) -> float:
        """The price of false alarms, which everybody knows."""
        return float(self._score(frozenset()).scores.settings["beta"])

    def look(self, yes: Labels) -> float | None:
        """The value of a submission as limited feedback shows it."""
        if self.made >= self.exposure.plain or self._is_late():
            return None
        self.made += 1
        value = round_value(self._score(yes).values[METRIC].value) or 0.0
        if self.rung is None or value > (self.rung.value or 0.0):
            self.best, self.rung = yes, Rung(value, 10**-DECIMALS)
        return value

    def climb(self, yes: Labels) -> bool | None:
        """Whether a submission moves the value on the ladder."""
        left = min(self.exposure.ladder_tries, LADDER_TRIES) - (self.made - self.exposure.plain)
        if left <= 0 or self.made < self.exposure.plain or self._is_late():
            return None
        self.made += 1
        value, gain, error = self._against_best(yes)
        first = self.rung is None
        self.rung = climb(self.rung, value, gain=gain, standard_error=error, tries=self.made, errors=self.errors)
        self.best = yes if self.rung.moved else self.best
        return self.rung.moved and not first

    def _against_best(self, yes: Labels) -> tuple[float, float, float]:
        """A submission's value, how much better it is than the best one, and the standard error of that."""
        if self.rung is None:
            own = self._score(yes).values[METRIC]
            return own.value or 0.0, 0.0, standard_error(own.low, own.high)
        paths = {"new": self._write_submission(yes, "new"), "best": self._write_submission(self.best, "best")}
        found = compare(TASK, submissions=paths, reference=self.reference, metrics=METRIC, **self.settings)
        (one,) = found.differences
        sign = 1.0 if one.first == "new" else -1.0
        value = found.analyses["new"].values[METRIC].value
        return value or 0.0, sign * one.difference, standard_error(one.low, one.high)

    def _score(self, yes: Labels) -> Analysis:
        draws = None if self.exposure.plain == 0 else 1
        path = self._write_submission(yes, "new")
        return score(TASK, submission=path, reference=self.reference, metrics=METRIC, draws=draws, **self.settings)

    def _write_submission(self, yes: Labels, name: str) -> Path:
        """A submission that says yes to these pairs."""
        write_members(((f"{query}.tsv", self._lines(query, yes)) for query in self.key.queries), self.folder / name)
        return self.folder / name

    def _lines(self, query: str, yes: Labels) -> bytes:
        """The answers to one query."""
        marks = ((one, YES if (query, one) in yes else NO) for one in self.key.documents.texts())
        return "".join(f"{one}\t{mark}\n" for one, mark in marks).encode()

    def _is_late(self) -> bool:
        return time.monotonic() - self.began > SECONDS
