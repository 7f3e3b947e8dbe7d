"""The six conditions and the floor, the runs they make for any number of teams, and the contrasts of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from basanite.formats.config_file import Name, Needed, Section, Usual

Source = Literal["nothing", "features", "preprocessor"]
Learning = Literal["none", "shallow", "deep"]
Hypothesis = Literal["superior", "not inferior"]


@dataclass(frozen=True)
class Condition:
    """One way of chaining feature extraction, unsupervised learning and a classifier (figure 2 of the plan)."""

    number: int
    title: str
    source: Source
    learning: Learning
    strong: bool
    """Whether the strong shallow classifier is used; otherwise the team's simple linear one."""

    @property
    def by_team(self) -> bool:
        """Whether a part of it is a team's, so that each team has a run of its own (H-18)."""
        return self.source == "preprocessor" or (self.source == "features" and not self.strong)


FLOOR: Final = Condition(0, "FLOOR", "nothing", "none", False)
"""The run that learns nothing, which every evaluation has (H-38)."""
CONDITIONS: Final = (
    FLOOR,
    Condition(1, "FE/SOTA", "features", "none", True),
    Condition(2, "FE/SLC", "features", "none", False),
    Condition(3, "PRE/SOTA", "preprocessor", "none", True),
    Condition(4, "PRE/SLC", "preprocessor", "none", False),
    Condition(5, "PRE/SUL/SLC", "preprocessor", "shallow", False),
    Condition(6, "PRE/DUL/SLC", "preprocessor", "deep", False),
)


@dataclass(frozen=True)
class Run:
    """One run of a task: a condition, and the letter of the team whose parts are in it ("" for 0 and 1)."""

    condition: Condition
    team: str = ""

    @property
    def name(self) -> str:
        """The id of the run: 0, 1, 2a, 2b … (A42)."""
        return f"{self.condition.number}{self.team}"


def runs(letters: Sequence[str]) -> tuple[Run, ...]:
    """All runs of a task: the floor and condition 1 once, the others once for each team (H-18, H-38).

    >>> [run.name for run in runs("ns")]
    ['0', '1', '2n', '2s', '3n', '3s', '4n', '4s', '5n', '5s', '6n', '6s']
    """
    return tuple(
        Run(condition, letter) for condition in CONDITIONS for letter in (letters if condition.by_team else ("",))
    )


@dataclass(frozen=True)
class Claim(Section):
    """A sentence that the evaluation tests: one condition against another, by a hypothesis fixed beforehand (A1)."""

    name: Name
    """A short name."""
    sentence: str
    """What is claimed."""
    system: Annotated[int, Field(ge=1, le=6), Needed("{place} has no condition `{key}`", "write {key} = 6")]
    """The condition that the claim is about."""
    against: Annotated[int, Field(ge=1, le=6), Needed("{place} has no condition `{key}`", "write {key} = 6")]
    """The condition it is held against."""
    hypothesis: Annotated[Hypothesis, Usual("`superior`")]
    """`superior`, or `not inferior` by the task's margin."""
    headline: bool = False
    """Whether it stands at the top of the report."""

    def canonical(self) -> dict[str, Any]:
        """The claim as plain data."""
        return asdict(self)


CLAIMS: Final = (
    Claim(
        "central",
        "Representations learned without labels, given to a simple linear classifier, do better than a strong shallow "
        "classifier on the same preprocessed data.",
        6,
        3,
        "superior",
        headline=True,
    ),
    Claim(
        "comparable",
        "The deep system is not significantly outperformed by the strong shallow classifier on features made by hand.",
        6,
        1,
        "not inferior",
        headline=True,
    ),
    Claim("learns", "The deep system does better than its linear classifier without it.", 6, 4, "superior"),
    Claim("depth", "The deep system does better than its own one-layer mode.", 6, 5, "superior"),
)
"""The built-in claims; the first two are the headlines (A1)."""
