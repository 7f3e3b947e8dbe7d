"""Answers to queries from NDJSON: of a machine, of people, and the gold, each checked with its line.

Entities are compared by their strings without regard to case and spacing, literals by their value: `5` is `05`, and a
count is never a truth value.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal

from basanite.formats.records import Place, Records, read_records
from basanite.metrics.answers import Bindings, Bound
from basanite.problems import Findings, Where
from basanite.reading.package.ndjson import near
from basanite.reading.patterns import PatternError, Prefixes, parse_term
from basanite.reading.terms import Literal as LiteralTerm
from basanite.reading.values import value_of

Kind = Literal["explicit", "inferred"]
Verdict = Literal["correct", "wrong", "out-of-scope", "duplicate-of"]
KINDS: Final[tuple[Kind, ...]] = ("explicit", "inferred")
VERDICTS: Final[tuple[Verdict, ...]] = ("correct", "wrong", "out-of-scope", "duplicate-of")
RULE: Final = "R-19"
GOLD_RULE: Final = "R-17"
MOST_NAMES: Final = 1_000
LONGEST: Final = 1_000
REMEMBERED: Final = 50_000
"""Names whose plain form is kept: the same few come again and again."""


@dataclass(frozen=True)
class Answer:
    """One answer to one query about one document."""

    query: str
    document: str
    bindings: Bindings
    kind: Kind
    line: int
    provenance: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class GoldAnswer:
    """An answer that adjudicators settled: what it is worth, where it came from, and who said so, when and why."""

    answer: Answer
    verdict: Verdict = "correct"
    capabilities: frozenset[str] = frozenset()
    system: str = ""
    """The system that brought it in, where only a machine found it (S-21)."""
    by: str = ""
    when: str = ""
    why: str = ""


@dataclass(frozen=True)
class Known:
    """What answers may speak of: queries with their variables, documents, and how names are written."""

    queries: Mapping[str, tuple[str, ...]]
    """The variables of the answer to each query, without question marks."""
    documents: frozenset[str]
    prefixes: Prefixes


class _AnswerError(ValueError):
    """An answer that cannot be read; `fix` says what to write. Never leaves this module."""

    def __init__(self, message: str, fix: str, found: Any = "") -> None:
        super().__init__(message)
        self.fix, self.found = fix, found


def read_answers(path: Path, known: Known, findings: Findings, *, where: Where = "submission") -> tuple[Answer, ...]:
    """The answers of a machine or of people; what cannot be read is left out, with its problem."""
    place = Place(where, RULE)
    records = read_records(path, place, findings)
    return tuple(_answers(records, known, place, findings)) if records is not None else ()


def read_gold(path: Path, known: Known, findings: Findings) -> tuple[GoldAnswer, ...]:
    """The gold answers of one version, those that were found wrong or out of scope among them."""
    place = Place("reference", GOLD_RULE)
    records = read_records(path, place, findings)
    return tuple(_gold(records, known, place, findings)) if records is not None else ()


def _answers(records: Records, known: Known, place: Place, findings: Findings) -> Iterator[Answer]:
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            yield _answer(fields, line, known)
        except _AnswerError as error:
            findings.add(place.problem(records.file, line, str(error), error.fix, error.found))


def _gold(records: Records, known: Known, place: Place, findings: Findings) -> Iterator[GoldAnswer]:
    for row, line in enumerate(records.lines):
        report = partial(_report, findings, place, records.file, line)
        found = gold_answer(records.fields(row), line, known, report)
        if found is not None:
            yield found


def _report(findings: Findings, place: Place, file: str, line: int, message: str, fix: str, found: Any) -> None:
    findings.add(place.problem(file, line, message, fix, found))


def gold_answer(
    fields: Mapping[str, Any], line: int, known: Known, report: Callable[[str, str, Any], None]
) -> GoldAnswer | None:
    """One line of the gold; if it cannot be read, what is wrong, how to mend it and what was found are reported."""
    try:
        return _gold_answer(fields, line, known)
    except _AnswerError as error:
        report(str(error), error.fix, error.found)
        return None


def _gold_answer(fields: Mapping[str, Any], line: int, known: Known) -> GoldAnswer:
    verdict = fields.get("verdict", "correct")
    if verdict not in VERDICTS:
        raise _AnswerError(f"the verdict {verdict!r} is not known", f"write one of {', '.join(VERDICTS)}", verdict)
    if "kind" not in fields:
        raise _AnswerError("the kind is not told", f"write {' or '.join(KINDS)}")
    tags = fields.get("capabilities", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _AnswerError("capabilities are no list of words", 'write "capabilities": ["temporal"]', tags)
    who = {name: fields.get(name, "") for name in ("system", "by", "when", "why")}
    for name, text in who.items():
        if not isinstance(text, str):
            raise _AnswerError(f"{name!r} is no text", f'write "{name}": "…"', text)
    return GoldAnswer(_answer(fields, line, known), verdict, frozenset(tags), **who)


def _answer(fields: Mapping[str, Any], line: int, known: Known) -> Answer:
    query = _one_of(fields, "query", known.queries)
    document = _one_of(fields, "document", sorted(known.documents))
    kind = fields.get("kind", "explicit")
    if kind not in KINDS:
        raise _AnswerError(f"the kind {kind!r} is not known", f"write {' or '.join(KINDS)}", kind)
    pieces = fields.get("provenance", [])
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        raise _AnswerError("provenance is no list of pieces of text", 'write "provenance": [{"start": 0, …}]', pieces)
    bindings = bindings_of(fields.get("answer"), known.queries[query], known.prefixes)
    return Answer(query, document, bindings, kind, line, tuple(pieces))


def _one_of(fields: Mapping[str, Any], name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    found = fields.get(name)
    if not isinstance(found, str) or found not in known:
        fix = near(found, tuple(known)) if isinstance(found, str) else f'write "{name}": "…"'
        raise _AnswerError(f"no {name} is called {found!r}", fix, found if found is not None else "")
    return found


def bindings_of(found: Any, variables: Sequence[str], prefixes: Prefixes) -> Bindings:
    """What an answer says of each variable, in the order of their names."""
    wanted = sorted(variables)
    if not isinstance(found, dict) or sorted(name.removeprefix("?") for name in found) != wanted:
        fix = f"tell these and no others: {', '.join(f'?{name}' for name in wanted)}"
        raise _AnswerError("the answer has other variables than the query", fix, found if found is not None else "")
    by_name = {name.removeprefix("?"): bound for name, bound in found.items()}
    return tuple((name, _bound(by_name[name], prefixes)) for name in wanted)


def _bound(found: Any, prefixes: Prefixes) -> Bound:
    """A list of names is an entity; anything else is a literal."""
    if isinstance(found, list):
        names = frozenset(plain_name(name) for name in found if isinstance(name, str))
        if not found or len(found) > MOST_NAMES or len(names) == 0 or not all(isinstance(n, str) for n in found):
            raise _AnswerError("no names for an entity", f"write 1 to {MOST_NAMES} names that the text uses", found)
        return names - {""} or names
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, str | int | float) and len(str(found)) <= LONGEST:
        return literal_value(str(found), prefixes)
    raise _AnswerError("neither names nor a literal", 'write ["a name", "another"] or a literal like 5', found)


@lru_cache(maxsize=REMEMBERED)
def plain_name(name: str) -> str:
    """A name of an entity without regard to case, width and spacing.

    >>> plain_name("  New  York JETS ")
    'new york jets'
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def literal_value(text: str, prefixes: Prefixes) -> str:
    """A literal by what it is worth: numbers and truth values by value and kind, all else by its text.

    >>> [literal_value(text, Prefixes("urn:x:")) for text in ("05", "5.0", "true", '"Five"')]
    ['5', '5', 'true', 'five']
    """
    if text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    try:
        term = parse_term(text, prefixes)
    except PatternError:
        return plain_name(text)
    value = value_of(term) if isinstance(term, LiteralTerm) else None
    if value is None:
        return plain_name(text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        number = Decimal(str(value))
        return f"{number.normalize():f}" if number.is_finite() else str(number)
    return plain_name(value) if isinstance(value, str) else value.isoformat()
