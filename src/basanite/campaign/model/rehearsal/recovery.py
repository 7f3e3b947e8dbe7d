"""What a simulated prober gets out of a key: its submissions are scored as those of teams are, and shown as to teams.

Values are rounded as limited feedback rounds them, and the ladder takes its steps as on the server (X-23).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from basanite.analysis.results import Analysis
from basanite.campaign.model.exposure import Exposure, exposures
from basanite.campaign.model.hiding.results import DECIMALS, rounded
from basanite.campaign.model.ladder import USUAL_ERRORS, Rung, climb, standard_error
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.rehearsal.prober import Labels, Prober
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.archives.archive import open_source
from basanite.formats.retrieval.detection_key import Key, read_key_set
from basanite.formats.retrieval.detection_lines import MATERIAL_DOCUMENT
from basanite.interface import compare, score
from basanite.problems import Findings
from basanite.synthetic.clir import Spec, write_key, write_members

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
        same = repr((exposure.plain, min(exposure.laddered, LADDER_TRIES), window.ladder, sorted(settings.items())))
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
        return float(self._scored(frozenset()).scores.settings["beta"])

    def look(self, yes: Labels) -> float | None:
        """The value of a submission as limited feedback shows it."""
        if self.made >= self.exposure.plain or self._is_late():
            return None
        self.made += 1
        value = rounded(self._scored(yes).values[METRIC].value) or 0.0
        if self.rung is None or value > (self.rung.value or 0.0):
            self.best, self.rung = yes, Rung(value, 10**-DECIMALS)
        return value

    def climb(self, yes: Labels) -> bool | None:
        """Whether a submission moves the value on the ladder."""
        left = min(self.exposure.laddered, LADDER_TRIES) - (self.made - self.exposure.plain)
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
            own = self._scored(yes).values[METRIC]
            return own.value or 0.0, 0.0, standard_error(own.low, own.high)
        paths = {"new": self._written(yes, "new"), "best": self._written(self.best, "best")}
        found = compare(TASK, submissions=paths, reference=self.reference, metrics=METRIC, **self.settings)
        (one,) = found.differences
        sign = 1.0 if one.first == "new" else -1.0
        value = found.analyses["new"].values[METRIC].value
        return value or 0.0, sign * one.difference, standard_error(one.low, one.high)

    def _scored(self, yes: Labels) -> Analysis:
        draws = None if self.exposure.plain == 0 else 1
        path = self._written(yes, "new")
        return score(TASK, submission=path, reference=self.reference, metrics=METRIC, draws=draws, **self.settings)

    def _written(self, yes: Labels, name: str) -> Path:
        """A submission that says yes to these pairs."""
        write_members(((f"{query}.tsv", self._lines(query, yes)) for query in self.key.queries), self.folder / name)
        return self.folder / name

    def _lines(self, query: str, yes: Labels) -> bytes:
        """The answers to one query."""
        marks = ((one, YES if (query, one) in yes else NO) for one in self.key.documents.texts())
        return "".join(f"{one}\t{mark}\n" for one, mark in marks).encode()

    def _is_late(self) -> bool:
        return time.monotonic() - self.began > SECONDS
