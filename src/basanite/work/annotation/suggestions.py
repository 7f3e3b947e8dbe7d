"""Suggestions for annotators: from a list of words and patterns, from another tool's file, or from a model (R-41).

A suggestion is words of a text with a label, and says where it comes from. How far suggesting changes what people mark
is measured on texts that are shown without: annotators agree with the same suggestions there, too, as far as these are
right, so the difference is what showing them does.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion as nearest
from basanite.work.annotation.config.model import MENTION, Config
from basanite.work.annotation.events import Object, Part, State
from basanite.work.annotation.mark_scores import count_table, f1_difference, f1_of

RULE: Final = "R-41"
MOST_RULES: Final = 10_000
MOST_IN_A_TEXT: Final = 2_000
LONGEST_PATTERN: Final = 200
LONGEST_LINE: Final = 2_000
"""Characters of a line that patterns look at."""
LOOSE: Final = 3
"""Quantifiers without an end in one pattern: more could take for ever on a text made for that."""
OUTCOMES: Final = ("accepted", "changed", "refused", "open")
_NESTED: Final = re.compile(r"\)[*+{]|\\[1-9]|\(\?P=")
_UNBOUNDED: Final = re.compile(r"(?<!\\)[*+]|\{\d*,\}")


@dataclass(frozen=True)
class Suggested:
    """Words with a label, and how sure the source is, if it says so."""

    category: str
    parts: tuple[Part, ...]
    score: float | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, tuple[Part, ...]]:
        """What it suggests, without how sure."""
        return self.category, self.parts


@dataclass(frozen=True)
class Rule:
    """A label and the words, or the pattern, that it is suggested for."""

    category: str
    pattern: re.Pattern[str]


def read_rules(text: str, config: Config, findings: Findings, *, file: str = "rules") -> tuple[Rule, ...]:
    """Rules from lines of a label, a tab, and words or a /pattern/; every line that is none is a problem."""
    found = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        label, tab, words = line.partition("\t")
        fault = _rule_fault(label.strip(), tab, words.strip(), config)
        if fault is not None:
            problem = Problem(RULE, file, number, None, *fault, shortened(line), where="reference")
            findings.add(problem)
        else:
            found.append(Rule(label.strip(), _pattern_of(words.strip())))
    if len(found) > MOST_RULES:
        findings.add(Problem(RULE, file, None, None, f"{len(found)} rules", f"give at most {MOST_RULES}"))
    elif not found and findings.valid:
        findings.add(
            Problem(RULE, file, None, None, "there is no rule", "write a label, a tab, and words or /a pattern/")
        )
    return tuple(found)


def _rule_fault(label: str, tab: str, words: str, config: Config) -> tuple[str, str] | None:
    if not tab or not words:
        return "this is not a rule", "write a label, a tab, and words or /a pattern/"
    known = [one.name for one in config.categories.values() if can_suggest(config, one.name)]
    if label not in known:
        return f"there is no label {label[:60]!r} of words", nearest(label, known)
    if not _is_pattern(words):
        return None
    inner = words[1:-1]
    if len(inner) > LONGEST_PATTERN or _NESTED.search(inner) or len(_UNBOUNDED.findall(inner)) > LOOSE:
        return "this pattern could take too long", f"repeat no group, and use * and + at most {LOOSE} times"
    try:
        empty = re.compile(inner).match("")
    except re.error as error:
        return f"this pattern cannot be read: {error}", "write a regular expression of Python between slashes"
    return ("this pattern matches nothing at all", "let it need at least one character") if empty else None


def _is_pattern(words: str) -> bool:
    return len(words) > 2 and words.startswith("/") and words.endswith("/")


def _pattern_of(words: str) -> re.Pattern[str]:
    if _is_pattern(words):
        return re.compile(words[1:-1])
    before = r"(?<!\w)" if words[0].isalnum() else ""
    after = r"(?!\w)" if words[-1].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{after}")


def can_suggest(config: Config, name: str) -> bool:
    """Whether a label is one of words that lie in nothing else."""
    category = config.categories.get(name)
    return category is not None and not category.parent and not category.single and category.field(MENTION) is not None


def matches(rules: Sequence[Rule], text: str) -> tuple[Suggested, ...]:
    """What some rules suggest for a text, in its order.

    >>> matches([Rule("Place", re.compile("Bonn"))], "From Bonn to Bonn.")[1].parts
    ((13, 17),)
    """
    found: dict[tuple[str, tuple[Part, ...]], Suggested] = {}
    for start, line in _lines(text):
        for rule in rules:
            for match in rule.pattern.finditer(line):
                if match.end() > match.start():
                    one = Suggested(rule.category, ((start + match.start(), start + match.end()),))
                    found.setdefault(one.key, one)
    return tuple(sorted(found.values(), key=lambda one: (one.parts, one.category)))[:MOST_IN_A_TEXT]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        for at in range(0, len(line), LONGEST_LINE):
            yield start + at, line[at : at + LONGEST_LINE]
        start += len(line) + 1


def suggested_in(config: Config, objects: Iterable[Object]) -> Iterator[Suggested]:
    """The marks of an annotation as suggestions: those of words that lie in nothing else."""
    for one in objects:
        if can_suggest(config, one.category):
            for mention in one.mentions.get(MENTION, ()):
                yield Suggested(one.category, mention.parts, None, dict(one.fields))


def is_withheld(seed: int, task: str, share: float) -> bool:
    """Whether a task is shown without suggestions: by lot, the same again from the seed."""
    draw = int.from_bytes(hashlib.sha256(f"{seed}:suggest:{task}".encode()).digest()[:8], "big")
    return draw < share * 2**64


def outcome_of(one: Suggested, id_: str, state: State) -> str:
    """What became of a suggestion in a record.

    One that was accepted and then got other words, another label or other values counts as changed; one whose object is
    gone again counts as refused.
    """
    if id_ in state.dismissed:
        return "refused"
    if id_ not in state.suggested:
        return "open"
    thing = state.objects.get(state.suggested[id_])
    if thing is None or not thing.mentions.get(MENTION):
        return "refused"
    same = thing.category == one.category and [mention.parts for mention in thing.mentions[MENTION]] == [one.parts]
    return "accepted" if same and dict(thing.fields) == dict(one.fields) else "changed"


@dataclass(frozen=True)
class Marked:
    """A finished text: what was suggested, what was marked, and how long it took."""

    suggested: frozenset[tuple[str, tuple[Part, ...]]]
    marked: frozenset[tuple[str, tuple[Part, ...]]]
    minutes: float
    length: int


@dataclass(frozen=True)
class Bias:
    """Agreement with the same suggestions where they are shown and where they are not, and the difference."""

    shown: Estimate
    withheld: Estimate
    difference: Estimate
    texts: tuple[int, int]
    speed: tuple[float, float]
    """Minutes for 1,000 characters, with and without."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it; what is undefined is null, with its reason."""
        figures = {"shown": self.shown, "withheld": self.withheld, "difference": self.difference}
        plain = {
            name: {
                "value": one.value if one.is_defined else None,
                "low": one.low,
                "high": one.high,
                "reason": one.reason,
            }
            for name, one in figures.items()
        }
        speed = [None if np.isnan(one) else round(one, 3) for one in self.speed]
        return {**plain, "texts": list(self.texts), "minutes_per_1000": speed}


def bias_of(shown: Sequence[Marked], withheld: Sequence[Marked], *, draws: int = 2_000, seed: int = 0) -> Bias:
    """How far showing suggestions draws annotators towards them: F1 with, F1 without, and the difference.

    Texts of each group are drawn with replacement for the interval.
    """
    one, other = (count_table((text.suggested, text.marked) for text in group) for group in (shown, withheld))
    gap = f1_difference(one, other, draws=draws, seed=seed)
    speed = _speed(shown), _speed(withheld)
    return Bias(f1_of(one), f1_of(other), gap, (len(shown), len(withheld)), speed)


def _speed(texts: Sequence[Marked]) -> float:
    length = sum(one.length for one in texts)
    return 1000 * sum(one.minutes for one in texts) / length if length else float("nan")


def tally(outcomes: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Outcomes by source: pairs of source and outcome, counted."""
    found: dict[str, Counter[str]] = {}
    for source, outcome in outcomes:
        found.setdefault(source, Counter())[outcome] += 1
    return {source: {name: counts[name] for name in OUTCOMES} for source, counts in sorted(found.items())}
