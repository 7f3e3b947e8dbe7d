"""Tasks: one thing systems are asked to do, with what an answer and the truth look like and how one is scored.

A task is a `Task` value found by entry point. `open` looks at the inputs and gives an `Opened` run, which reads the
submission piece by piece; `spine` drives it. Everything after that (intervals, tests, reports) comes for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from basanite.analysis.results import Analysis, Comparison
from basanite.errors import SettingError, UnknownNameError
from basanite.figures import Figure
from basanite.kernel import Metric, Scores
from basanite.problems import Findings, shortened
from basanite.registry import suggestion


@dataclass(frozen=True)
class Inputs:
    """The files of one run, as the user named them."""

    submission: Path
    reference: Path | None = None
    documents: Path | None = None
    queries: Path | None = None
    metadata: tuple[Path, ...] = ()
    judgements: Path | None = None
    human: Path | None = None
    more_references: tuple[Path, ...] = ()
    """Further references of the same items (translations by other people)."""

    def against(self, references: Sequence[Path]) -> Inputs:
        """The same inputs with these references, of which there may be none."""
        return replace(self, reference=next(iter(references), None), more_references=tuple(references[1:]))


@dataclass(frozen=True)
class Setting:
    """One thing about a task that a user may set: how to read it, and what it is without being set."""

    name: str
    help: str
    parse: Callable[[str], Any]
    default: Any = None

    def read(self, value: Any) -> Any:
        """The value as it is used, or a `SettingError` that says what would do."""
        try:
            return self.parse(str(value))
        except ValueError as error:
            raise SettingError(f"{self.name}={value!r} cannot be used: {error}. {self.help}") from error


class Opened(Protocol):
    """A run that has its reference and is about to read the submission."""

    def pieces(self, findings: Findings) -> Iterator[Any]:
        """The submission, one piece (a file, some rows) at a time."""

    def examine(self, piece: Any) -> Any:
        """Read, check and count one piece; pure, so that pieces may be examined side by side."""

    def take(self, examined: Any, findings: Findings) -> None:
        """Take in an examined piece, in the order of the pieces."""

    def close(self, findings: Findings) -> None:
        """Check what only the whole submission can tell."""

    def scores(self, system: str) -> Scores:
        """The rows of every metric."""


def no_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """A task without charts of its own."""
    return ()


def no_compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """A task whose systems are compared in tables alone."""
    return ()


@dataclass(frozen=True)
class Task:
    """One thing systems are asked to do: data, with the few functions that only it can give."""

    name: str
    summary: str
    citation: str
    unit: str
    primary: str
    metrics: tuple[Metric, ...]
    open: Callable[[Inputs, Mapping[str, Any], Findings, Executor | None], Opened | None]
    settings: tuple[Setting, ...] = ()
    figures: Callable[[Analysis], tuple[Figure, ...]] = no_figures
    compared_figures: Callable[[Comparison], tuple[Figure, ...]] = no_compared_figures
    needs_reference: bool = True
    """Whether there is nothing to score without a reference."""
    several_references: bool = False
    """Whether the same items may have several references, in files of their own."""
    depth: int = 1
    """How deep the files of a submission lie: 1 at top level, 2 in folders."""

    def metric(self, name: str) -> Metric:
        """The metric of this name; the refusal of any other lists those there are."""
        known = {metric.name: metric for metric in self.metrics}
        if name not in known:
            raise UnknownNameError(f"{self.name} has no metric {name!r}. {suggestion(name, tuple(known))}")
        return known[name]

    def headline(self, name: str) -> str:
        """The name of a metric that can be the headline: one that ranks systems as the task's own does (S-27)."""
        if name == self.primary:
            return name
        parts_alone = not self.metric(self.primary).overall
        fit = [one.name for one in self.metrics if one.best != "none" and (one.overall or parts_alone)]
        if name in fit:
            return name
        known = {one.name: one for one in self.metrics}
        why = "there is no such metric"
        if name in known:
            why = "neither high nor low values of it are better, so it ranks nothing"
            why = why if known[name].best == "none" else "it has a value for each part and none for the whole"
        raise SettingError(
            f"{shortened(name)!r} cannot be the primary metric of {self.name}: {why}. Choose one of {', '.join(fit)}."
        )

    def parsed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a run: those given, read and checked, and the defaults of the others."""
        known = {setting.name: setting for setting in self.settings}
        for name in given:
            if name not in known:
                raise SettingError(f"{self.name} has no setting {name!r}. {suggestion(name, tuple(known))}")
        values = {name: known[name].read(value) for name, value in given.items()}
        return {name: values.get(name, setting.default) for name, setting in known.items()}
