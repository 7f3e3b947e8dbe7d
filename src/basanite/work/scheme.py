"""A scheme of judging: questions, rounds, checks, consent, pay and how answers are combined; and how it is read.

Nothing here knows a kind of judging by name: readability, relevance or error spans are files (`presets/`), so a new
kind needs no code. What the user writes stands over a preset: a key replaces a key, a table is joined key by key, and
a list of questions replaces all questions.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema, WrapValidator

from basanite.formats.config_file import Like, Name, OneOf, Section, read_section
from basanite.formats.retrieval.instructions import sanitize_instructions
from basanite.formats.toml_file import Table, TomlReport, entry_lines, parse_toml
from basanite.problems import Findings, Problem
from basanite.work.items import KINDS
from basanite.work.questions import (
    LONGEST_TEXT,
    OneOrMore,
    Option,
    Question,
    SchemeTable,
    Words,
    _check_values,
    _with_keys,
)

CombineRule = Literal["raw", "majority", "dawid-skene", "mean"]
AdjudicateWhen = Literal["never", "differ", "apart"]
Order = Literal["random", "given"]
EVERYBODY = 0
"""As a number of judgements of an item: every judge of the group judges it."""
ALL: Final = "all"
JUDGE, EXPERT, NOVICE = "judge", "expert", "novice"
PRESETS: Final = (
    "readability", "relevance", "key-query", "key-domain", "pool", "likert", "binary", "slider", "pairwise", "ranking",
    "da", "esa", "mqm",
)  # fmt: skip
Instructions: TypeAlias = Annotated[Words, AfterValidator(lambda text: sanitize_instructions(text, limit=LONGEST_TEXT))]
Judgements: TypeAlias = Annotated[
    int,
    Field(ge=1, le=10_000),
    WrapValidator(lambda value, check: EVERYBODY if value == ALL else check(value)),
    WithJsonSchema({"anyOf": [{"const": ALL}, {"type": "integer", "minimum": 1, "maximum": 10_000}]}),
]
Money: TypeAlias = Annotated[float, Field(ge=0, le=1e6)]
LANGUAGE: Final = re.compile(r"[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*")
FILES: Final = ("panels", "verdicts", "key-query", "key-domain", "qrels", "pairs", "rankings", "appraise", "mqm")
"""What judgements can become; each is written by a module of `work.combining`."""
NEEDED: Final = {
    "panels": ("stars", "scale", "slider"),
    "verdicts": ("choice",),
    "key-query": ("choice",),
    "key-domain": ("choice",),
    "qrels": ("choice", "stars", "scale"),
    "pairs": ("choice",),
    "appraise": ("slider",),
    "mqm": ("spans",),
}
"""The widget of a question that each file is made from."""
GROUPS: Final = (JUDGE, EXPERT, NOVICE)
KIND: Final = "judging"
LARGEST: Final = 1 << 20
GROUND: Final = "ground"
"""What every preset stands on."""
REPLACED: Final = frozenset({"groups"})
"""Tables of which a part alone makes no sense."""


@dataclass(frozen=True)
class Training(Section):
    """Items that come first, whose right answers are known and shown afterwards."""

    count: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many items of training come first."""
    feedback: bool = True
    """Whether judges see the right answers."""


@dataclass(frozen=True)
class Checks(Section):
    """Hidden items with known answers: their share of a judge's items, and what counts as too few right."""

    share: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """The share of items that are hidden checks."""
    right: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Judges below this share of right answers are named to the organiser; nobody is rejected by it (P-22)."""


@dataclass(frozen=True)
class Combine(Section):
    """How several answers become one, which is part of the result's name (C08, S-18)."""

    rule: CombineRule = "raw"
    """How votes become one answer."""
    tie: Words = ""
    """The answer that a tie becomes; without one a tie goes to adjudication, or stays undecided."""
    question: Words = ""
    """The question that is combined: the first one unless another is named."""


@dataclass(frozen=True)
class Adjudicate(Section):
    """When an item goes to an adjudicator: answers differ at all, or by more than so many steps."""

    when: AdjudicateWhen = "never"
    """When answers differ at all, or by more than `more_than`."""
    more_than: Money = 0.0
    """Of `apart`: how far apart answers may be."""


@dataclass(frozen=True)
class StopAt(Section):
    """The precision at which judging ends: no new items are given out once the mean is known so well (S-33)."""

    half_width: Money = 0.0
    """Half the width of the 95 % confidence sequence of the mean, on the scale of the question; 0 is never."""
    question: Words = ""
    """The question whose mean it is: the combined one unless another is named."""


@dataclass(frozen=True)
class Consent(Section):
    """What a judge accepts before the first item (P-22)."""

    version: Words = ""
    """Its version, kept with every acceptance."""
    text: Words = ""
    """What is accepted."""


@dataclass(frozen=True)
class Pay(Section):
    """What judging is worth: for each item or each hour, and the lowest rate an hour may come to (P-22)."""

    per_item: Money = 0.0
    """For each item, instead of by the hour."""
    per_hour: Money = 0.0
    """For each hour, instead of by item."""
    currency: Words = ""
    """Three capitals of ISO 4217."""
    floor: Money = 0.0
    """The least that an hour may come to."""
    longest_seconds: Annotated[float, Field(ge=1, le=86400)] = 600.0
    """An item counts for no longer than this in hours worked: nobody is paid for a tab left open."""

    @property
    def is_paid(self) -> bool:
        """Whether there is any pay."""
        return self.per_item > 0 or self.per_hour > 0


@dataclass(frozen=True)
class Scheme(Section):
    """Everything about one kind of judging; made by `read_scheme`, which has checked it as a whole."""

    name: Name
    """A name for files."""
    title: Annotated[Words, Like("name")]
    """What judges read."""
    preset: Annotated[str, OneOf(("", *PRESETS))] = ""
    """What the scheme stands on."""
    questions: tuple[Question, ...] = ()
    """What is asked about each item."""
    instructions: Instructions = ""
    """Text for judges; `b`, `i`, `br`, `ul`, `li` and colours are kept, all other tags are not."""
    pairwise: bool = False
    """An item shows two texts, left and right, whose sides are changed at random."""
    round_size: Annotated[int, Field(ge=1, le=1000)] = 10
    """Items in a round."""
    rank_after_round: bool = False
    """Whether the items of a round are put in order at its end; then the round is the same for all its judges."""
    criteria_from: Literal["", "expert"] = ""
    """The group that lists its criteria after ranking: "expert", or "" for nobody."""
    per_item: Judgements = 1
    """Judgements of each item by each group; "all" is one by everybody."""
    groups: Mapping[str, Judgements] = field(default_factory=dict)
    """The same for `expert`, `novice` and `judge` where they differ."""
    keep_apart: OneOrMore = ()
    """Facts of which a judge should not see the same too often, such as `["query"]`; where it must, that is logged."""
    alike_at_most: Annotated[int, Field(ge=1, le=10_000)] = 1
    """How many items that are the same in `keep_apart` a judge should see."""
    together: OneOrMore = ()
    """Facts whose equal items are judged in a row by one judge, such as `["system", "document"]`."""
    balance: OneOrMore = ()
    """Facts whose values each round has in their shares, such as `["genre", "topic"]`: the first two to the item."""
    training: Training = field(default_factory=Training)
    """Items with known answers that come first."""
    checks: Checks = field(default_factory=Checks)
    """Hidden items with known answers."""
    combine: Combine = field(default_factory=Combine)
    """How several answers become one."""
    adjudicate: Adjudicate = field(default_factory=Adjudicate)
    """When an item goes to an adjudicator."""
    stop_at: StopAt = field(default_factory=StopAt)
    """The precision at which judging ends."""
    consent: Consent = field(default_factory=Consent)
    """What judges accept before the first item."""
    pay: Pay = field(default_factory=Pay)
    """What judging is worth."""
    break_every: Annotated[int, Field(ge=0, le=1000)] = 0
    """A break is offered after so many rounds; 0 is never."""
    flags: tuple[Option, ...] = ()
    """What a judge can say of an item beside the answers (X-9)."""
    order: Order = "random"
    """Items come to each judge in an order of the judge's own, or as they were given (pools: the best first)."""
    files: OneOrMore = ()
    """What judgements become in the end, beside the table of all answers."""
    shows: OneOrMore = ()
    """The kinds of blocks that an item of this scheme must have."""
    notation: Annotated[str, OneOf(("", "clir"))] = ""
    """The notation of queries, which is explained to judges: "clir" is that of cross-language retrieval."""
    languages: OneOrMore = ()
    """Tags of the languages that judges should know."""

    def check(self, table: Table) -> Self:
        """The scheme, with a key on the keyboard for every answer that has none."""
        names = [question.id for question in self.questions]
        for name in sorted({name for name in names if name and names.count(name) > 1}):
            table.add(f"two questions are called {name!r}", "give each an id of its own", key="questions", found=name)
        _check_values("flags", table)
        return replace(self, questions=_with_keys(self.questions, table))

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


def check_scheme(scheme: Scheme, top: SchemeTable) -> None:
    """Report every contradiction of a scheme."""
    for check_part in (
        _check_questions, _check_pairs, _check_groups, _check_rounds, _check_combination, _check_adjudication,
        _check_precision, _check_consent, _check_pay, _check_names, _check_files,
    ):  # fmt: skip
        check_part(scheme, top)


def _check_questions(scheme: Scheme, top: SchemeTable) -> None:
    if not scheme.questions and not scheme.rank_after_round and "questions" not in top.values:
        top.add("the scheme asks nothing", "write [[questions]], or rank_after_round = true", key="questions")
    stars = [question.id for question in scheme.questions if question.widget in ("stars", "scale")]
    if len(stars) > 1:
        message = f"{len(stars)} questions are answered by digits: {', '.join(stars)}"
        fix = "ask one of them as a slider, or have keys for the first only"
        top.add(message, fix, key="questions", severity="warn")
    spans = [question.id for question in scheme.questions if question.widget == "spans"]
    if len(spans) > 1:
        top.add(f"spans are marked by two questions: {', '.join(spans)}", "join their categories", key="questions")


def _check_pairs(scheme: Scheme, top: SchemeTable) -> None:
    asked = scheme.combined_question
    values = {option.value for option in asked.options} if asked else set()
    if scheme.pairwise and not {"left", "right"} <= values <= {"left", "right", "tie"}:
        fix = "ask first a choice with the values left and right, and tie if you like"
        top.add("pairwise judging has no question which side is better", fix, key="pairwise")


def _check_groups(scheme: Scheme, top: SchemeTable) -> None:
    for name in scheme.groups:
        if name not in GROUPS:
            top.add(f"there is no group {name!r}", f"use {', '.join(GROUPS)}", key="groups", found=name)
    if scheme.criteria_from and scheme.criteria_from not in scheme.per_group:
        fix = f"write [groups] with {scheme.criteria_from} = 3, or leave criteria_from out"
        top.add(f"nobody is in the group {scheme.criteria_from!r} that lists criteria", fix, key="criteria_from")


def _check_rounds(scheme: Scheme, top: SchemeTable) -> None:
    if not scheme.rank_after_round:
        return
    if scheme.round_size < 2:
        top.add("a round of one cannot be ranked", "write round_size = 10", key="round_size", found=scheme.round_size)
    if scheme.checks.share:
        fix = "leave [checks] out: a check would be ranked among the real items"
        top.add("a ranked round cannot contain hidden checks", fix, key="checks")
    for key, value in (("keep_apart", scheme.keep_apart), ("together", scheme.together)):
        if value:
            fix = f"leave {key} out: a ranked round is the same for all its judges"
            top.add(f"`{key}` cannot be kept in ranked rounds", fix, key=key, found=list(value))


def _check_combination(scheme: Scheme, top: SchemeTable) -> None:
    combine, asked = scheme.combine, scheme.combined_question
    table = top.table("combine", needed=False)
    if combine.question and asked is None:
        fix = f"name one of {', '.join(question.id for question in scheme.questions)}"
        table.add(f"there is no question {combine.question!r} to combine", fix, key="question", found=combine.question)
    if asked is None:
        return
    if combine.rule in ("majority", "dawid-skene") and asked.widget != "choice":
        fix = 'write rule = "mean", or ask by a choice'
        table.add(f"{combine.rule} needs a choice, and {asked.id!r} is {asked.widget}", fix, key="rule")
    if combine.rule == "dawid-skene" and len(asked.options) != 2:
        fix = 'write rule = "majority", or give it two options'
        table.add(f"Dawid-Skene needs two answers; {asked.id!r} has {len(asked.options)}", fix, key="rule")
    if combine.rule == "mean" and not asked.numeric:
        table.add(f"there is no mean of {asked.id!r}", 'write rule = "majority" or "raw"', key="rule")
    answers = [option.value for option in asked.options]
    if combine.tie and combine.tie not in answers:
        fix = f"name one of {', '.join(answers) or 'no answer: it is not a choice'}"
        table.add(f"a tie cannot become {combine.tie!r}", fix, key="tie", found=combine.tie)


def _check_adjudication(scheme: Scheme, top: SchemeTable) -> None:
    table, asked = top.table("adjudicate", needed=False), scheme.combined_question
    if scheme.adjudicate.when == "apart" and (asked is None or not asked.numeric):
        table.add("a distance needs answers that are numbers", 'write when = "differ"', key="when")
    single = [group for group, wanted in scheme.per_group.items() if wanted == 1]
    if scheme.adjudicate.when != "never" and len(single) == len(scheme.per_group) == 1:
        fix = "write per_item = 2, so that there are two to compare"
        top.add("with one judgment per item, nothing can differ", fix, key="per_item", found=1)


def _check_precision(scheme: Scheme, top: SchemeTable) -> None:
    """A precision is reached on the mean of a question with a known range, and in rounds that may be cut short."""
    table, stop, asked = top.table("stop_at", needed=False), scheme.stop_at, scheme.measured_question
    if "stop_at" not in top.values:
        return
    if not stop.half_width:
        table.add("`stop_at` names no precision", "write half_width = 0.1, or leave [stop_at] out", key="half_width")
    if asked is None:
        fix = "name a question of stars, a scale, a slider, or a choice of two"
        table.add("there is no mean whose precision could be reached", fix, key="question", found=stop.question)
    elif asked.bounds is not None and stop.half_width >= (asked.bounds[1] - asked.bounds[0]) / 2:
        fix = f"write less than half of the scale from {asked.bounds[0]:g} to {asked.bounds[1]:g}"
        table.add("this precision is reached before the first item", fix, key="half_width", found=stop.half_width)
    if scheme.rank_after_round:
        fix = "leave [stop_at] out: a ranked round cannot be cut short"
        top.add("`stop_at` cannot be kept in ranked rounds", fix, key="stop_at")


def _check_consent(scheme: Scheme, top: SchemeTable) -> None:
    table, consent = top.table("consent", needed=False), scheme.consent
    for key, value in (("version", consent.version), ("text", consent.text)):
        if not value.strip():
            fix = f'write {key} = "…" in [consent]: judges accept it before the first item'
            table.add(f"consent has no {key}", fix, key=key, rule="P-22")


def _check_pay(scheme: Scheme, top: SchemeTable) -> None:
    table, pay = top.table("pay", needed=False), scheme.pay
    if pay.per_item and pay.per_hour:
        table.add("pay is both by item and by hour", "leave one of them out", key="per_hour", rule="P-22")
    if pay.is_paid and not re.fullmatch(r"[A-Z]{3}", pay.currency):
        fix = 'write currency = "EUR": three capitals of ISO 4217'
        table.add("pay has no currency", fix, key="currency", found=pay.currency, rule="P-22")
    if pay.per_hour and pay.per_hour < pay.floor:
        fix = f"pay {pay.floor:g} per hour or more, or lower the floor"
        table.add(f"{pay.per_hour:g} per hour is below the floor", fix, key="per_hour", rule="P-22")


def _check_names(scheme: Scheme, top: SchemeTable) -> None:
    for name in scheme.shows:
        if name not in KINDS:
            top.add(f"there is no block {name!r}", f"use {', '.join(KINDS)}", key="shows", found=name)
    for tag in scheme.languages:
        if not LANGUAGE.fullmatch(tag):
            top.add(f"{tag!r} is not a tag of a language", 'write "eng", "sw" or "pt-BR"', key="languages", found=tag)


def _check_files(scheme: Scheme, top: SchemeTable) -> None:
    widgets = {question.widget for question in scheme.questions}
    for name in scheme.files:
        if name not in FILES:
            top.add(f"there is no file {name!r}", f"use {', '.join(FILES)}", key="files", found=name)
        elif name in NEEDED and not widgets & set(NEEDED[name]):
            fix = f"ask a question by {' or '.join(NEEDED[name])}"
            top.add(f"nothing that is asked could become {name!r}", fix, key="files", found=name)
    if "rankings" in scheme.files and not scheme.rank_after_round:
        top.add("there are no rankings", "write rank_after_round = true", key="files", found="rankings")
    if "pairs" in scheme.files and not scheme.pairwise:
        top.add("there are no pairs", "write pairwise = true", key="files", found="pairs")


def read_scheme(text: str, file: str = "scheme.toml") -> tuple[Scheme | None, tuple[Problem, ...]]:
    """The scheme in a text, or None, and its problems by line."""
    findings = Findings(limit=None)
    report = TomlReport(file, SchemeTable.rule, findings)
    document = _document(text, report)
    if document is None:
        return None, tuple(findings)
    values = {key: value for key, value in _over_preset(document).items() if key != "format"}
    top = SchemeTable(values, (), file, entry_lines(text), findings)
    scheme: Scheme = read_section(Scheme, top)
    if document.get("preset", "") in ("", *PRESETS):  # without its preset a scheme lacks what it never meant to say
        check_scheme(scheme, top)
    found = tuple(sorted(dict.fromkeys(findings), key=lambda problem: problem.line or 0))
    return (scheme if findings.valid else None), found


def preset_text(name: str) -> str:
    """The file of a preset, to start a scheme of one's own from.

    >>> preset_text("binary").splitlines()[0]
    'format = "basanite-judging/1"'
    """
    return files(__package__).joinpath("presets", f"{name}.toml").read_text("utf-8")


def _document(text: str, report: TomlReport) -> dict[str, Any] | None:
    """The plain values of a text that is not too large (X-8)."""
    if len(text) > LARGEST:
        report.add("the file is larger than 1 MiB", "a scheme is a page of text: is it the right file?", rule="X-8")
        return None
    return parse_toml(text, KIND, report)


def _over_preset(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the user wrote, laid over the preset that it names."""
    name = document.get("preset")
    if name not in PRESETS:
        return document
    base = tomllib.loads(preset_text(GROUND)) | tomllib.loads(preset_text(name))
    tables = {
        key: {**base[key], **value}
        for key, value in document.items()
        if isinstance(base.get(key), Mapping) and isinstance(value, Mapping)
    }
    return {**base, **document, **tables, **{key: document[key] for key in REPLACED & document.keys()}}
