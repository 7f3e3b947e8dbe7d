"""Tasks: one thing systems are asked to do, with what an answer and the truth look like and how one is scored.

A task is a `Task` value found by entry point. `open` looks at the inputs and gives an `Opened` run, which reads the
submission piece by piece; `basanite.scoring` drives it. Everything after that (intervals, tests, reports) comes for
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from basanite.analysis.results import Analysis, Comparison
from basanite.errors import SettingError, UnknownNameError
from basanite.figures import Figure
from basanite.kernel import Metric, Scores
from basanite.problems import Findings, shortened
from basanite.registry import suggestion
from basanite.tasks.settings import Setting as Setting
from basanite.tasks.worked import Explain

CUT: Final = re.compile(r"_[0-9]+$")
"""The cut-off of a measure, at the end of its name."""


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
    metrics: tuple[str, ...] = ()
    """The metrics that are asked for by name, for tasks that make them then (`Task.make_metric`)."""

    def against(self, references: Sequence[Path]) -> Inputs:
        """The same inputs with these references, of which there may be none."""
        return replace(self, reference=next(iter(references), None), more_references=tuple(references[1:]))


class Opened(Protocol):
    """A run that has its reference and is about to read the submission."""

    def pieces(self, findings: Findings) -> Iterator[Any]:
        """The submission, one piece (a file, some rows) at a time."""

    def examine(self, piece: Any) -> Any:
        """Read, check and count one piece; pure, so that pieces may be examined side by side."""

    def take(self, examined: Any, findings: Findings) -> None:
        """Take in an examined piece, in the order of the pieces."""

    def close(self, findings: Findings) -> None:
        """Check what only the whole submission can show."""

    def scores(self, system: str) -> Scores:
        """The rows of every metric."""


@dataclass(frozen=True)
class AnswerFormat:
    """What a submission looks like: in words, and by the beginning of a file (P-42)."""

    words: str
    example: str = ""
    """The first lines of a real submission; none where it is no text."""
    file: str = ""
    """The file in the archive that the lines are from."""
    content: Literal["text", "archive", "any"] = "text"
    """What a file of it holds: text or a table, packed or not; an archive of several files; or anything."""


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
    figures: Callable[[Analysis], tuple[Figure, ...]] = lambda analysis: ()
    compared_figures: Callable[[Comparison], tuple[Figure, ...]] = lambda comparison: ()
    needs_reference: bool = True
    """Whether there is nothing to score without a reference."""
    several_references: bool = False
    """Whether the same items may have several references, in files of their own."""
    depth: int = 1
    """How deep the files of a submission lie: 1 at top level, 2 in folders."""
    make_metric: Callable[[str], Metric | None] = lambda name: None
    """What makes a metric of a family from its name (`nDCG@20`), which may be spelled in several ways (T-13)."""
    explanations: Mapping[str, Explain] = field(default_factory=dict)
    """By the name of a metric, without its cut-off: what works it out on one unit (T-27)."""
    metric_examples: str = ""
    """Names that `make_metric` takes, for the refusal of one that it does not."""
    open_systems: Callable[[Inputs, Mapping[str, Any], Findings], Mapping[str, Opened] | None] | None = None
    """Where one file may hold several systems: a run of each, by its name; "" where the file does not name it."""
    systems_in: Callable[[Path], Sequence[str] | None] = lambda path: None
    """The systems in a file of a kind that may hold the reference too, of which the setting `system` chooses one; None
    for a file of any other kind (T-29)."""
    answers: AnswerFormat | None = None
    """What people are told to send."""
    check_alike: Callable[[Sequence[Analysis]], None] = lambda analyses: None
    """Refuses to compare systems that were not run alike, with the difference, beyond what every task checks."""

    def metric(self, name: str) -> Metric:
        """The metric of this name; the refusal of any other lists those there are."""
        known = {metric.name: metric for metric in self.metrics}
        found = known.get(name) or self.make_metric(name) or self._metric_titled(name)
        if found is None:
            more = f" Or name one like {self.metric_examples}." if self.metric_examples else ""
            likely = self._with_the_cut_of(name, tuple(known)) or suggestion(name, tuple(known))
            raise UnknownNameError(f"{self.name} has no metric {name!r}. {likely}{more}")
        return found

    def _with_the_cut_of(self, name: str, known: Sequence[str]) -> str:
        """The measure that a misspelt name with a cut-off must have meant, with that cut-off: `ndgc_20`."""
        stem = CUT.sub("", name.replace("@", "_").lower())
        cut = name[len(stem) + 1 :]
        examples = (one.replace("@", "_").lower() for one in self.metric_examples.split(", "))
        near = suggestion(stem, sorted({CUT.sub("", one) for one in (*known, *examples)}))
        meant = near.removeprefix("Did you mean '").removesuffix("'?") if near.startswith("Did you mean") else ""
        return f"Did you mean {f'{meant}_{cut}'!r}?" if cut and meant and self.make_metric(f"{meant}_{cut}") else ""

    def _metric_titled(self, title: str) -> Metric | None:
        """The metric that people call so, as tables show it: `AQWV`, `F1 (macro)`."""
        if title in {one.name for one in self.metrics}:
            return None  # a key comes before any title
        return next((one for one in self.metrics if one.display_name.casefold() == title.casefold()), None)

    def explanation(self, metric: Metric) -> Explain | None:
        """What works a metric out on one unit: its own explanation, or the task's."""
        return metric.explain or self.explanations.get(metric.name) or self.explanations.get(CUT.sub("", metric.name))

    @property
    def explained_metrics(self) -> list[str]:
        """The metrics that can be worked out, by name; families of measures with some cut-off."""
        named = [metric.name for metric in self.metrics if self.explanation(metric) is not None]
        families = (name for name in self.explanations if all(CUT.sub("", one) != name for one in named))
        return [*named, *(f"{name}_10" for name in families)]

    def headline(self, name: str) -> str:
        """The name of a metric that can be the headline: one that ranks systems as the task's own does (S-27)."""
        if name == self.primary:
            return name
        parts_alone = not self.metric(self.primary).overall
        made = self.make_metric(name) or self._metric_titled(name)
        known = {one.name: one for one in (*self.metrics, *((made,) if made else ()))}
        fit = [one.name for one in known.values() if one.best != "none" and (one.overall or parts_alone)]
        name = made.name if made else name
        if name in fit:
            return name
        why = "there is no such metric"
        if name in known:
            why = "neither high nor low values of it are better, so it ranks nothing"
            why = why if known[name].best == "none" else "it has a value for each part but no overall value"
        raise SettingError(
            f"{shortened(name)!r} cannot be the primary metric of {self.name}: {why}. Choose one of {', '.join(fit)}."
        )

    def read_settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a run: those given, read and checked, and the defaults of the others."""
        known = {setting.name: setting for setting in self.settings}
        for name in given:
            if name not in known:
                raise SettingError(f"{self.name} has no setting {name!r}. {suggestion(name, tuple(known))}")
        values = {name: known[name].read(value) for name, value in given.items()}
        return {name: values.get(name, setting.default) for name, setting in known.items()}
