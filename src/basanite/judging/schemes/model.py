"""A scheme of judging as values: questions, rounds, checks, consent, pay and how answers are combined.

Nothing here knows a kind of judging by name: readability, relevance or error spans are files (`presets/`), so a new
kind needs no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Widget = Literal["stars", "choice", "scale", "slider", "spans", "text"]
CombineRule = Literal["raw", "majority", "dawid-skene", "mean"]
AdjudicateWhen = Literal["never", "differ", "apart"]
Order = Literal["random", "given"]
EVERYBODY = 0
"""As a number of judgements of an item: every judge of the group judges it."""
JUDGE, EXPERT, NOVICE = "judge", "expert", "novice"


@dataclass(frozen=True)
class Option:
    """One answer of a choice, with the key that gives it."""

    value: str
    title: str
    key: str = ""
    help: str = ""


@dataclass(frozen=True)
class Category:
    """A kind of error that a span can have."""

    value: str
    title: str
    key: str = ""
    help: str = ""


@dataclass(frozen=True)
class Severity:
    """How bad an error is, and what it costs."""

    value: str
    title: str
    key: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Question:
    """One question about an item: how it is asked, and which answers there are."""

    id: str
    widget: Widget
    title: str
    help: str = ""
    required: bool = True
    options: tuple[Option, ...] = ()
    """Of a choice."""
    lo: float = 1.0
    hi: float = 5.0
    step: float = 1.0
    """Of stars, scales and sliders."""
    labels: tuple[str, ...] = ()
    """Words for the steps of a scale, from the lowest: one for each, or one for each end."""
    categories: tuple[Category, ...] = ()
    severities: tuple[Severity, ...] = ()
    most: int = 0
    """Of spans: how many may be marked; 0 is any number."""
    on: str = "text"
    """Of spans: the kind of block whose text is marked."""
    longest: int = 1000
    """Of a text: how many characters."""

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers."""
        return self.widget in ("stars", "scale", "slider")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest answer as numbers; a choice of two is 0 or 1, others have no mean."""
        if self.widget == "choice" and len(self.options) == 2:
            return 0.0, 1.0
        return (self.lo, self.hi) if self.numeric else None

    @property
    def steps(self) -> tuple[float, ...]:
        """All answers of stars or a scale, from the lowest.

        >>> Question("rating", "stars", "How readable?").steps
        (1.0, 2.0, 3.0, 4.0, 5.0)
        """
        return tuple(self.lo + at * self.step for at in range(round((self.hi - self.lo) / self.step) + 1))


@dataclass(frozen=True)
class Training:
    """Items that come first, whose right answers are known and shown afterwards."""

    count: int = 0
    feedback: bool = True


@dataclass(frozen=True)
class Checks:
    """Hidden items with known answers: their share of a judge's items, and what counts as too few right."""

    share: float = 0.0
    right: float = 0.7
    """Judges below this share of right answers are named to the organiser; nobody is rejected by it (P-22)."""


@dataclass(frozen=True)
class Combine:
    """How several answers become one, which is part of the result's name (C08, S-18)."""

    rule: CombineRule = "raw"
    tie: str = ""
    """The answer that a tie becomes; without one a tie goes to adjudication, or stays undecided."""
    question: str = ""
    """The question that is combined: the first one unless another is named."""


@dataclass(frozen=True)
class Adjudicate:
    """When an item goes to an adjudicator: answers differ at all, or by more than so many steps."""

    when: AdjudicateWhen = "never"
    more_than: float = 0.0


@dataclass(frozen=True)
class StopAt:
    """The precision at which judging ends: no new items are given out once the mean is known so well (S-33)."""

    half_width: float = 0.0
    """Half the width of the 95 % confidence sequence of the mean, on the scale of the question; 0 is never."""
    question: str = ""
    """The question whose mean it is: the combined one unless another is named."""


@dataclass(frozen=True)
class Consent:
    """What a judge accepts before the first item (P-22)."""

    version: str = ""
    text: str = ""


@dataclass(frozen=True)
class Pay:
    """What judging is worth: for each item or each hour, and the lowest rate an hour may come to (P-22)."""

    per_item: float = 0.0
    per_hour: float = 0.0
    currency: str = ""
    floor: float = 0.0
    longest_seconds: float = 600.0
    """An item counts for no longer than this in hours worked: nobody is paid for a tab left open."""

    @property
    def is_paid(self) -> bool:
        """Whether there is any pay."""
        return self.per_item > 0 or self.per_hour > 0


@dataclass(frozen=True)
class Scheme:
    """Everything about one kind of judging; made by `read_scheme`, which has checked it as a whole."""

    name: str
    title: str
    preset: str = ""
    questions: tuple[Question, ...] = ()
    instructions: str = ""
    pairwise: bool = False
    """An item shows two texts, left and right, whose sides are changed at random."""
    round_size: int = 10
    rank_after_round: bool = False
    criteria_from: str = ""
    """The group that lists its criteria after ranking: "expert", or "" for nobody."""
    per_item: int = 1
    """K: judgements of each item by each group; 0 is everybody."""
    groups: Mapping[str, int] = field(default_factory=dict)
    """K for each group of judges where they differ (experts and novices)."""
    keep_apart: tuple[str, ...] = ()
    """Facts of which a judge should not see the same value twice, together (such as query)."""
    together: tuple[str, ...] = ()
    """Facts whose equal items are judged in a row by one judge (segments of a document)."""
    balance: tuple[str, ...] = ()
    """Facts whose values each round has in their shares (genre, topic)."""
    training: Training = field(default_factory=Training)
    checks: Checks = field(default_factory=Checks)
    combine: Combine = field(default_factory=Combine)
    adjudicate: Adjudicate = field(default_factory=Adjudicate)
    stop_at: StopAt = field(default_factory=StopAt)
    consent: Consent = field(default_factory=Consent)
    pay: Pay = field(default_factory=Pay)
    break_every: int = 0
    """A break is offered after so many rounds; 0 is never."""
    flags: tuple[Option, ...] = ()
    """What a judge can say of an item beside the answers (X-9)."""
    order: Order = "random"
    """Items come to each judge in an order of the judge's own, or as they were given (pools: the best first)."""
    files: tuple[str, ...] = ()
    """What judgements become in the end, beside the table of all answers."""
    shows: tuple[str, ...] = ()
    """The kinds of blocks that an item of this scheme must have."""
    languages: tuple[str, ...] = ()

    @property
    def per_group(self) -> Mapping[str, int]:
        """K for each group of judges; one group of plain judges unless groups are declared."""
        return self.groups or {JUDGE: self.per_item}

    @property
    def combined_question(self) -> Question | None:
        """The question whose answers become the result."""
        named = self.combine.question
        return next((each for each in self.questions if not named or each.id == named), None)

    @property
    def measured_question(self) -> Question | None:
        """The question whose mean is watched while judging goes on; None where no answer has a mean."""
        named = self.stop_at.question
        asked = next((each for each in self.questions if each.id == named), None) if named else self.combined_question
        return asked if asked is not None and asked.bounds is not None else None

    def question(self, name: str) -> Question:
        """The question of that id."""
        return next(each for each in self.questions if each.id == name)

    def as_dict(self) -> dict[str, Any]:
        """The scheme as plain values for JSON."""
        return asdict(self) | {"groups": dict(self.groups)}
