"""NIST's global mapping files (GLM): rules that rewrite spellings, as csrfilt applies them before sclite.

A rule is `A => B` or `A => B / [left] __ [right]`; brackets keep spaces, so that `[ ] __ [ ]` asks for a whole word.
From left to right the first rule whose A stands at a place, with its context around it, is written as B and read no
more. B may hold alternatives, `{HE IS / HE HAS}`. Case does not matter unless the header says `case_sensitive = 'T'`.
Rules behind `;; INPUT_DEPENDENT_APPLICATION = "ctm"` (or "hyp") are for what was heard alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

COMMENT: Final = ";;"
ARROW: Final = "=>"
LONGEST: Final = 2_000
"""Letters of the right side of a rule with a context."""
HEARD: Final = ("ctm", "hyp")
SAID: Final = ("stm", "ref")

_HEADER = re.compile(r"^\s*\*", re.MULTILINE)
_CONTEXT = re.compile(r"^(.*?)\s*/\s*((?:\[[^\]]*\]|[^/\[\]_]*?))\s*__\s*(\[[^\]]*\]|\S*)\s*$")
_SIDE = re.compile(r";;\s+INPUT_DEPENDENT_APPLICATION\s*=\s*\"([^\"]*)\"")
_VALUE = re.compile(r"""["']([^"']*)["']""")


@dataclass(frozen=True)
class Rule:
    """One rule: what is found, what is written, what stands before and behind, and for which side it is."""

    found: str
    written: str
    before: str = ""
    behind: str = ""
    sides: tuple[bool, bool] = (True, True)
    """Whether it is for what was said, and for what was heard."""

    @property
    def pattern(self) -> str:
        """The rule as a regular expression that matches what is found in its context."""
        before = f"(?<={re.escape(self.before)})" if self.before else ""
        return f"{before}{re.escape(self.found)}(?={re.escape(self.behind)})"


@dataclass(frozen=True)
class Glm:
    """The rules of one file."""

    rules: tuple[Rule, ...]
    digest: str
    case_sensitive: bool = False

    def rewrite(self, text: str, *, heard: bool) -> str:
        """The text as the rules write it.

        >>> Glm((Rule("HE'S", "{HE IS / HE HAS}", " ", " "),), "").rewrite("so he's gone", heard=True)
        'so {HE IS / HE HAS} gone'
        """
        padded = f" {' '.join(text.split())} "
        rules, written, at = self._by_letter[heard], list[str](), 0
        while at < len(padded):
            pattern, numbered = rules.get(self._letter(padded[at]), (None, ()))
            fitting = pattern.match(padded, at) if pattern is not None else None
            if fitting is None:
                written.append(padded[at])
                at += 1
            else:
                written.append(numbered[(fitting.lastindex or 1) - 1].written)
                at = fitting.end()
        return " ".join("".join(written).split())

    def _letter(self, letter: str) -> str:
        return letter if self.case_sensitive else letter.lower()

    @cached_property
    def _by_letter(self) -> tuple[dict[str, tuple[re.Pattern[str], Sequence[Rule]]], ...]:
        """For either side the rules by the first letter of what they find; the first that fits is the one."""
        flags = 0 if self.case_sensitive else re.IGNORECASE
        sides: list[dict[str, tuple[re.Pattern[str], Sequence[Rule]]]] = []
        for side in (0, 1):
            groups: dict[str, list[Rule]] = {}
            for rule in self.rules:
                if rule.sides[side]:
                    groups.setdefault(self._letter(rule.found[0]), []).append(rule)
            joined = {key: "|".join(f"({one.pattern})" for one in rules) for key, rules in groups.items()}
            sides.append({key: (re.compile(joined[key], flags), rules) for key, rules in groups.items()})
        return tuple(sides)


def is_glm(text: str) -> bool:
    """Whether a file of rules is a GLM: it has header lines with `*`, or rules with a context.

    >>> is_glm("* name 'en.glm'"), is_glm("UH => %HESITATION / [ ] __ [ ]"), is_glm("gray => grey")
    (True, True, False)
    """
    return bool(_HEADER.search(text)) or any(
        ARROW in line and _context(line.partition(ARROW)[2].partition(COMMENT)[0]) for line in text.split("\n")
    )


def _context(right: str) -> re.Match[str] | None:
    """What is written, and the context of it, where a right side has one."""
    return _CONTEXT.match(right) if "__" in right and len(right) <= LONGEST else None


def parse_glm(text: str, digest: str) -> tuple[Glm, list[tuple[int, str, str]]]:
    """The rules of a file, and what is wrong with it: number and text of the line, and the fault."""
    rules: list[Rule] = []
    faults: list[tuple[int, str, str]] = []
    sides, case_sensitive = (True, True), False
    for number, line in enumerate(text.split("\n"), start=1):
        side = _SIDE.match(line.strip())
        if side is not None:
            words = side[1].lower()
            sides = (any(word in words for word in SAID), any(word in words for word in HEARD))
            sides = sides if any(sides) else (True, True)
        plain = line.partition(COMMENT)[0].strip()
        if plain.startswith("*"):
            value = _VALUE.search(plain)
            if "case_sensitive" in plain.lower() and value is not None:
                case_sensitive = value[1].lower() in ("t", "true", "yes")
        elif plain:
            found = _rule(plain, sides)
            if isinstance(found, Rule):
                rules.append(found)
            else:
                faults.append((number, line, found))
    return Glm(tuple(rules), digest, case_sensitive), faults


def _rule(line: str, sides: tuple[bool, bool]) -> Rule | str:
    left, arrow, right = line.partition(ARROW)
    if not arrow or ARROW in right:
        return f"a line needs one {ARROW} between what is found and what is written"
    context = _context(right)
    written, before, behind = context.groups() if context is not None else (right, "", "")
    found = _inside(left)
    if not found:
        return "the left side is empty"
    return Rule(found, _inside(written), _inside(before), _inside(behind), sides)


def _inside(part: str) -> str:
    """A part without the signs around it that keep its spaces."""
    part = part.strip()
    for first, last in ("[]", "''"):
        if len(part) > 1 and part[0] == first and part[-1] == last:
            return part[1:-1]
    return part
