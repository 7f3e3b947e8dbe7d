"""CoNLL: one token a line with BIO tags, an empty line between sentences (P-32).

Words are cut at the ends of every mention, so no mention is lost for beginning inside a word; mentions that overlap get
columns of their own. Tags know neither values nor what lies in what, so those are left behind, and said. Read back with
the text, mentions get their exact places; without it the tokens make a text, a sentence a line, one blank between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from basanite.reading.provenance import sentences
from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.model import MENTION, MOST_OBJECTS, Annotated, Losses, Place, in_order, mentions_of

START: Final = "-DOCSTART-"
MOST_COLUMNS: Final = 50
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_TAG: Final = re.compile(r"(?:[BIES]-\S+|O|_)")


@dataclass(frozen=True)
class _Unit:
    """A mention as tags see it: one piece, one label."""

    start: int
    end: int
    label: str


def write_conll(annotated: Iterable[Annotated], losses: Losses) -> bytes:
    """All texts one after the other, each behind a line with its name."""
    found: list[str] = []
    for one in annotated:
        found += [f"{START}\t{one.document}", ""]
        found += _lines(one, losses)
    return "".join(f"{line}\n" for line in found).encode()


def _lines(one: Annotated, losses: Losses) -> Iterator[str]:
    layers = layers_of(_units(one, losses))
    cuts = sorted({place for layer in layers for unit in layer for place in (unit.start, unit.end)})
    for begin, end in sentences(one.text):
        for start, stop in _tokens(one.text, begin, end, cuts):
            tags = [_tag(layer, start, stop) for layer in layers] or ["O"]
            yield "\t".join([one.text[start:stop], *tags])
        if not any(unit.start < end < unit.end for layer in layers for unit in layer):
            yield ""  # a mention that goes on in the next sentence would be cut in two by an empty line


def _units(one: Annotated, losses: Losses) -> list[_Unit]:
    units: set[_Unit] = set()
    for thing in in_order(one.objects):
        pairs = mentions_of(thing)
        if not pairs:
            losses.add(f"{thing.category} without words of its own", thing.id)
        for what, there in (("values", thing.fields), ("notes", thing.note), ("boxes for inferred", thing.inferred)):
            if there:
                losses.add(what, thing.id)
        if thing.parent:
            losses.add("what lies in what", thing.id)
        if len(pairs) > 1:
            losses.add("that several mentions are one object", thing.id)
        for slot, mention in pairs:
            units.update(_pieces(one, thing, slot, mention, losses))
    if one.links or one.note:
        losses.add("pointers and notes on whole texts", one.document)
    return sorted(units, key=lambda unit: (unit.start, -unit.end, unit.label))


def _pieces(one: Annotated, thing: Object, slot: str, mention: Mention, losses: Losses) -> Iterator[_Unit]:
    if len(mention.parts) > 1:
        losses.add("that several pieces are one mention", mention.words(one.text))
    if slot != MENTION:
        losses.add(f"the slot {slot!r}", thing.id)
    for start, end in mention.parts:
        words = one.text[start:end]
        first, last = start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())
        if first >= last:
            losses.add("mentions of blanks alone", thing.id)
            continue
        if (first, last) != (start, end):
            losses.add("blanks at the ends of mentions", words)
        yield _Unit(first, last, re.sub(r"\s", "_", thing.category))


def layers_of(units: Sequence[_Unit]) -> list[list[_Unit]]:
    """Units in as few layers as none of them overlaps another in its own; longer ones first.

    >>> [len(layer) for layer in layers_of([_Unit(0, 9, "a"), _Unit(0, 4, "b"), _Unit(5, 9, "b")])]
    [1, 2]
    """
    layers: list[list[_Unit]] = []
    for unit in units:
        free = next((layer for layer in layers if layer[-1].end <= unit.start), None)
        if free is None:
            layers.append([unit])
        else:
            free.append(unit)
    return layers


def _tokens(text: str, begin: int, end: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    for match in _TOKEN.finditer(text, begin, end):
        inside = cuts[bisect_right(cuts, match.start()) : bisect_left(cuts, match.end())]
        edges = [match.start(), *inside, match.end()]
        yield from pairwise(edges)


def _tag(layer: Sequence[_Unit], start: int, stop: int) -> str:
    at = bisect_right(layer, start, key=lambda one: one.start) - 1
    unit = layer[at]
    if at < 0 or stop > unit.end:
        return "O"
    return f"{'B' if unit.start == start else 'I'}-{unit.label}"


@dataclass
class _Read:
    """The lines of one text."""

    name: str
    rows: list[tuple[int, str, list[str]]]


def read_conll(data: bytes, place: Place, *, texts: dict[str, str] | None = None) -> list[Annotated]:
    """All texts of a file; with the texts themselves, tokens are found in them, each behind the one before."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        place.fault(None, f"byte {error.start + 1} is not UTF-8", "save it as UTF-8")
        return []
    reads = list(_documents(lines, place))
    if any(read.name not in (texts or {}) for read in reads):
        place.lost(None, "how tokens were set apart in the text")
    return [one for read in reads for one in _annotations(read, texts or {}, place)]


def _documents(lines: Sequence[str], place: Place) -> Iterator[_Read]:
    current = _Read("document-1", [])
    count = 1
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t") if "\t" in line else line.split()
        if fields and fields[0] == START:
            if current.rows:
                yield current
            count += bool(current.rows)
            name = fields[1] if len(fields) > 1 and fields[1] not in ("-X-", "O") else f"document-{count}"
            current = _Read(name, [])
        elif not line.strip() or line.startswith("# "):
            current.rows.append((number, "", []))
        elif len(fields) < 2 or len(fields) > MOST_COLUMNS or "\0" in line:
            place.fault(number, "no token with a tag", "write the token, a tab and its tag", line)
        else:
            current.rows.append((number, fields[0], [field for field in fields[1:] if _TAG.fullmatch(field)]))
    if any(token for _, token, _ in current.rows):
        yield current


def _annotations(read: _Read, texts: dict[str, str], place: Place) -> Iterator[Annotated]:
    text = texts.get(read.name)
    found = _place_tokens(read, text, place)
    if found is None:
        return
    whole, tokens = found
    units = [unit for column in range(_columns(read)) for unit in _column(tokens, column)]
    if len(units) > MOST_OBJECTS:
        place.fault(None, f"{read.name}: more than {MOST_OBJECTS} mentions", "split the text")
        return
    ordered = sorted(units, key=lambda unit: (unit.start, -unit.end, unit.label))
    objects = tuple(
        Object(f"c{at}", unit.label, mentions={MENTION: (Mention(f"m{at}", ((unit.start, unit.end),)),)})
        for at, unit in enumerate(ordered, start=1)
    )
    yield Annotated(read.name, whole, objects)


def _columns(read: _Read) -> int:
    return max((len(tags) for _, _, tags in read.rows), default=0)


_Placed = list[tuple[int, int, list[str]]]


def _place_tokens(read: _Read, text: str | None, place: Place) -> tuple[str, _Placed] | None:
    """Where every token stands; in a text of its own if there is none."""
    tokens: _Placed = []
    made: list[str] = []
    at, between = 0, ""
    for number, token, tags in read.rows:
        if not token:
            tokens.append((at, at, []))
            between = "\n" if made else ""
            continue
        start = at + bool(made) if text is None else text.find(token, at)
        if start < 0 or (text is not None and text[at:start].strip()):
            place.fault(number, f"the token does not follow in {read.name}", "give the text that was tagged", token)
            return None
        made.append(between + token)
        at, between = start + len(token), " "
        tokens.append((start, at, tags))
    return ("".join(made) if text is None else text), tokens


def _column(tokens: _Placed, column: int) -> Iterator[_Unit]:
    """The units of one column: B begins, I goes on with the same label, everything else ends."""
    start, end, label = 0, 0, ""
    for first, last, tags in tokens:
        tag = tags[column] if column < len(tags) else "O"
        kind, _, name = tag.partition("-")
        if label and (kind in ("B", "S") or name != label):
            yield _Unit(start, end, label)
            label = ""
        if name and not label:
            start, label = first, name
        if name:
            end = last
        if label and kind in ("E", "S"):
            yield _Unit(start, end, label)
            label = ""
    if label:
        yield _Unit(start, end, label)
