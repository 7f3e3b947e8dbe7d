"""Answers to queries from NDJSON: of a machine, of people, and the gold, each checked with its line.

Entities are compared by their strings without regard to case, width, blanks and surrounding punctuation, values by what
they are worth. Where the ontology knows what a variable stands for, an answer is read as that, or refused (R-32).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from basanite.formats.records import Place, Records, read_records
from basanite.metrics.answers import Bindings, Bound
from basanite.problems import Findings, Where
from basanite.reading.gold.written_values import TEXTS, expected_form, written_value
from basanite.reading.ontology import THING
from basanite.reading.package.model import Package
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
QUOTED: Final = re.compile(r'"(?P<text>[^"]*)"(?:@[A-Za-z-]+|\^\^\S+)?')
"""A literal as terms are written in a package, with its language or type."""
REMEMBERED: Final = 50_000
"""Names whose plain form is kept: the same few come again and again."""
Line = TypeVar("Line")


@dataclass(frozen=True)
class Answer:
    """One answer to one query about one document."""

    query: str
    document: str
    bindings: Bindings
    kind: Kind
    line: int
    provenance: tuple[Mapping[str, Any], ...] = ()
    reader: str = ""
    """The person who gave it, where answers of several people stand in one file (R-39)."""


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
    ranges: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the variables of each query stand for, as far as the ontology knows: `thing` or a type of values."""

    @classmethod
    def of(cls, package: Package, documents: frozenset[str]) -> Known:
        """All that a package knows about its queries."""
        queries = {query.id: query.select or query.variables for query in package.queries}
        ranges = {query.id: query.ranges(package.ontology) for query in package.queries}
        return cls(queries, documents, package.manifest.prefixes, ranges)


class AnswerError(ValueError):
    """An answer that cannot be read; `fix` says what to write."""

    def __init__(self, message: str, fix: str, found: Any = "") -> None:
        super().__init__(message)
        self.fix, self.found = fix, found


def read_answers(path: Path, known: Known, findings: Findings, *, where: Where = "submission") -> tuple[Answer, ...]:
    """The answers of a machine or of people; what cannot be read is left out, with its problem."""
    place = Place(where, RULE)
    records = read_records(path, place, findings)
    return tuple(_readable(_answer, records, known, place, findings)) if records is not None else ()


def read_gold(path: Path, known: Known, findings: Findings) -> tuple[GoldAnswer, ...]:
    """The gold answers of one version, those that were found wrong or out of scope among them."""
    place = Place("reference", GOLD_RULE)
    records = read_records(path, place, findings)
    return tuple(_readable(gold_answer, records, known, place, findings)) if records is not None else ()


def _readable(
    read: Callable[[Mapping[str, Any], int, Known], Line],
    records: Records,
    known: Known,
    place: Place,
    findings: Findings,
) -> Iterator[Line]:
    """The lines that can be read; the others are reported."""
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            yield read(fields, line, known)
        except AnswerError as error:
            findings.add(place.problem(records.file, line, str(error), error.fix, error.found))


def gold_answer(fields: Mapping[str, Any], line: int, known: Known) -> GoldAnswer:
    """One line of the gold; an error says what is wrong with it, how to correct it and what was found."""
    verdict = fields.get("verdict", "correct")
    if verdict not in VERDICTS:
        raise AnswerError(f"the verdict {verdict!r} is not known", f"write one of {', '.join(VERDICTS)}", verdict)
    if "kind" not in fields:
        raise AnswerError("the kind is missing", f"write {' or '.join(KINDS)}")
    tags = fields.get("capabilities", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise AnswerError("capabilities are not a list of words", 'write "capabilities": ["temporal"]', tags)
    who = {name: fields.get(name, "") for name in ("system", "by", "when", "why")}
    for name, text in who.items():
        if not isinstance(text, str):
            raise AnswerError(f"{name!r} is not text", f'write "{name}": "…"', text)
    return GoldAnswer(_answer(fields, line, known), verdict, frozenset(tags), **who)


def _answer(fields: Mapping[str, Any], line: int, known: Known) -> Answer:
    query = _one_of(fields, "query", known.queries)
    document = _one_of(fields, "document", known.documents)
    kind = fields.get("kind", "explicit")
    if kind not in KINDS:
        raise AnswerError(f"the kind {kind!r} is not known", f"write {' or '.join(KINDS)}", kind)
    pieces = fields.get("provenance", [])
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        raise AnswerError("provenance is not a list of pieces of text", 'write "provenance": [{"start": 0, …}]', pieces)
    bindings = bindings_of(fields.get("answer"), known.queries[query], known.prefixes, known.ranges.get(query))
    reader = fields.get("reader", "")
    if not isinstance(reader, str) or len(reader) > LONGEST:
        raise AnswerError("'reader' is not text", 'write "reader": "A1"', reader)
    bindings = tuple((name, _of_reader(bound, reader.strip())) for name, bound in bindings)
    return Answer(query, document, bindings, kind, line, tuple(pieces), reader.strip())


def _of_reader(bound: Bound, reader: str) -> Bound:
    """An entity whose made-up id is that of this reader alone: the `_:g1` of another is another thing."""
    if not reader or isinstance(bound, str):
        return bound
    return frozenset(f"_:{reader}/{one[2:]}" if is_own(one) else one for one in bound)


def _one_of(fields: Mapping[str, Any], name: str, known: Collection[str]) -> str:
    found = fields.get(name)
    if not isinstance(found, str) or found not in known:
        fix = near(found, sorted(known)) if isinstance(found, str) else f'write "{name}": "…"'
        raise AnswerError(f"no {name} is called {found!r}", fix, found if found is not None else "")
    return found


def bindings_of(
    found: Any, variables: Sequence[str], prefixes: Prefixes, ranges: Mapping[str, str] | None = None
) -> Bindings:
    """What an answer says of each variable, in the order of their names; an `AnswerError` if it cannot be read."""
    wanted = sorted(variables)
    if not isinstance(found, dict) or sorted(name.removeprefix("?") for name in found) != wanted:
        fix = f"list exactly these: {', '.join(f'?{name}' for name in wanted)}"
        raise AnswerError("the answer has other variables than the query", fix, found if found is not None else "")
    by_name = {name.removeprefix("?"): bound for name, bound in found.items()}
    return tuple((name, _binding_value(name, by_name[name], prefixes, (ranges or {}).get(name, ""))) for name in wanted)


def _binding_value(name: str, found: Any, prefixes: Prefixes, range_: str) -> Bound:
    """What a variable stands for; where nothing is known of it, a list is an entity and anything else a literal."""
    if range_ == THING or (not range_ and isinstance(found, list)):
        return _entity(name, found)
    texts = [_text(name, one) for one in (found if isinstance(found, list) else [found])]
    if not range_:
        return literal_value(texts[0], prefixes)
    values = {_value(name, text, range_) for text in texts}
    if len(values) != 1:
        raise AnswerError(f"?{name} has {len(values)} values", "give one value; another one is another answer", found)
    return values.pop()


def _entity(name: str, found: Any) -> frozenset[str]:
    listed = found if isinstance(found, list) else [found]
    names = [one for one in listed if isinstance(one, str) and one.strip()]
    if not names or len(listed) > MOST_NAMES or not all(isinstance(one, str) for one in listed):
        fix = f'write 1 to {MOST_NAMES} names that the text uses, as ["Jets", "New York Jets"]'
        raise AnswerError(f"?{name} has no names for an entity", fix, found)
    if len({one.strip() for one in names if is_own(one)}) > 1:
        raise AnswerError(f"?{name} has several ids of its own", "one thing has one id, as _:g1", found)
    return frozenset(one.strip() if is_own(one) else plain_name(one) for one in names)


def is_own(name: str) -> bool:
    """Whether a name is only an id that its writer made up, as `_:g1`: it tells things apart and never decides (R-31).

    >>> is_own("_:g1"), is_own("Jets")
    (True, False)
    """
    return name.lstrip().startswith("_:")


def without_own(bindings: Bindings) -> Bindings:
    """Bindings with the names of things alone: ids that an answer made up mean nothing to anybody else."""
    return tuple((name, _names(bound) if isinstance(bound, frozenset) else bound) for name, bound in bindings)


def _names(bound: frozenset[str]) -> frozenset[str]:
    return frozenset(one for one in bound if not is_own(one))


def _text(name: str, found: Any) -> str:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, str | int | float) and (text := str(found)).strip() and len(text) <= LONGEST:
        return text
    raise AnswerError(
        f"?{name} is neither names nor a literal", 'write ["a name", "another"] or a literal like 5', found
    )


def _value(name: str, text: str, range_: str) -> str:
    """A text as the value it stands for: never nothing in silence (R-32)."""
    quoted = QUOTED.fullmatch(text.strip())
    plain = quoted["text"] if quoted else text
    value = plain_name(plain) if range_ in TEXTS else written_value(plain, range_)
    if value is None:
        raise AnswerError(f"?{name} is a value of the type {range_}, which this is not", expected_form(range_), text)
    return value


@lru_cache(maxsize=REMEMBERED)
def plain_name(name: str) -> str:
    """A name or text without regard to case, width, blanks and surrounding punctuation.

    >>> plain_name("  New  York JETS "), plain_name("“Ｊｅｔｓ”,"), plain_name("?!")
    ('new york jets', 'jets', '?!')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    words = " ".join(folded.split())
    inside = [at for at, char in enumerate(words) if not (char.isspace() or unicodedata.category(char).startswith("P"))]
    return words[inside[0] : inside[-1] + 1] if inside else words


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
