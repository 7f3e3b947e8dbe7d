"""brat standoff: a text and a file of lines beside it (P-32).

Every mention is a text-bound line `T`; further mentions of the same object are joined to the first by `Equiv`, values
are attributes, a longer value is a note of type `Field`, and `in` is the relation to the object that it lies in. What
has no words has no place in brat: it is left behind, and said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.model import (
    MENTION,
    MOST_OBJECTS,
    Annotated,
    Link,
    Losses,
    Place,
    by_slot,
    check_parts,
    in_order,
    mentions_of,
    merge_parts,
)
from basanite.work.exchange.offsets import Quoted, Text, way_of

IN: Final = "in"
SLOT: Final = "slot"
INFERRED: Final = "inferred"
FIELD: Final = "Field"
NOTES: Final = "AnnotatorNotes"
LONGEST_LINE: Final = 100_000
_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN: Final = re.compile(r"[^\s]{1,200}")
_PARTS: Final = re.compile(r"[0-9]{1,10} [0-9]{1,10}(?:;[0-9]{1,10} [0-9]{1,10}){0,99}")


def write_brat(annotated: Iterable[Annotated], losses: Losses) -> Iterator[tuple[str, bytes]]:
    """The two files of each text by name."""
    for one in annotated:
        yield f"{one.document}.txt", one.text.encode()
        lines = _Writer(one, losses).lines()
        yield f"{one.document}.ann", "".join(f"{line}\n" for line in lines).encode()


class _Writer:
    """One text on its way out."""

    def __init__(self, one: Annotated, losses: Losses) -> None:
        self.one, self.losses = one, losses
        self.names: dict[str, str] = {}
        self.counts = {"T": 0, "A": 0, "R": 0, "#": 0}

    def lines(self) -> list[str]:
        """All lines: words first, then what is said of them, then what lies in what."""
        found: list[str] = []
        kept = [thing for thing in in_order(self.one.objects) if self._keeps(thing)]
        for thing in kept:
            found += self._mention_lines(thing)
        for thing in kept:
            found += self._field_lines(thing)
        found += [line for thing in kept for line in self._inside(thing)]
        found += [line for link in self.one.links for line in self._link(link)]
        if self.one.note:
            self.losses.add("notes on whole texts", self.one.note)
        return found

    def _keeps(self, thing: Object) -> bool:
        if not mentions_of(thing):
            self.losses.add(f"{thing.category} without words of its own", thing.id)
        elif not _TYPE.fullmatch(thing.category):
            self.losses.add("categories whose name brat does not know", thing.category)
        else:
            return True
        return False

    def _next(self, kind: str) -> str:
        self.counts[kind] += 1
        return f"{kind}{self.counts[kind]}"

    def _mention_lines(self, thing: Object) -> Iterator[str]:
        names = []
        for slot, mention in mentions_of(thing):
            name = self._next("T")
            places = ";".join(f"{start} {end}" for start, end in mention.parts)
            yield f"{name}\t{thing.category} {places}\t{_one_line(mention.words(self.one.text))}"
            if slot != MENTION:
                yield f"{self._next('A')}\t{SLOT} {name} {slot}"
            names.append(name)
        self.names[thing.id] = names[0]
        if len(names) > 1:
            yield f"*\tEquiv {' '.join(names)}"

    def _field_lines(self, thing: Object) -> Iterator[str]:
        name = self.names[thing.id]
        for key, value in sorted(thing.fields.items()):
            if _PLAIN.fullmatch(value) and _TYPE.fullmatch(key) and key not in (SLOT, INFERRED):
                yield f"{self._next('A')}\t{key} {name} {value}"
            else:
                yield f"{self._next('#')}\t{FIELD} {name}\t{json.dumps([key, value], ensure_ascii=False)}"
        if thing.inferred:
            yield f"{self._next('A')}\t{INFERRED} {name}"
        if thing.note:
            yield f"{self._next('#')}\t{NOTES} {name}\t{_one_line(thing.note)}"
            if thing.note != _one_line(thing.note):
                self.losses.add("line ends in notes", thing.note)

    def _inside(self, thing: Object) -> Iterator[str]:
        if thing.parent in self.names:
            yield f"{self._next('R')}\t{IN} Arg1:{self.names[thing.id]} Arg2:{self.names[thing.parent]}"
        elif thing.parent:
            self.losses.add("that something lies in an object without words", f"{thing.id} in {thing.parent}")

    def _link(self, link: Link) -> Iterator[str]:
        if link.source in self.names and link.target in self.names and _TYPE.fullmatch(link.kind):
            yield f"{self._next('R')}\t{link.kind} Arg1:{self.names[link.source]} Arg2:{self.names[link.target]}"
        else:
            self.losses.add("pointers from or to an object without words", link.kind)


def _one_line(words: str) -> str:
    return " ".join(words.split("\n")).replace("\t", " ")


@dataclass
class _Bound:
    """A text-bound line."""

    line: int
    category: str
    quoted: Quoted
    attributes: dict[str, str] = field(default_factory=dict)
    note: str = ""


def read_brat(name: str, text: bytes, ann: bytes, place: Place) -> Annotated | None:
    """One text with its lines; what cannot be read is a problem, what cannot be kept a warning."""
    raw = _decode(text, f"{name}.txt", place)
    lines = _decode(ann, f"{name}.ann", place)
    if raw is None or lines is None:
        return None
    reader = _Reader(Text(raw), Place(f"{name}.ann", place.findings))
    for number, line in enumerate(lines.splitlines(), start=1):
        reader.take(number, line)
    objects, links = reader.objects()
    return Annotated(name, reader.text.plain, in_order(objects), tuple(links))


def _decode(data: bytes, file: str, place: Place) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        Place(file, place.findings).fault(None, f"byte {error.start + 1} is not UTF-8", "save it as UTF-8")
        return None


class _Reader:
    """The lines of one file, taken in one by one."""

    def __init__(self, text: Text, place: Place) -> None:
        self.text, self.place = text, place
        self.bound: dict[str, _Bound] = {}
        self.triggers: dict[str, str] = {}
        self.later: list[tuple[int, str]] = []
        self.same: dict[str, str] = {}

    def take(self, number: int, line: str) -> None:
        """Words are kept at once; what is said of them waits until all are known."""
        if not line.strip():
            return
        if len(line) > LONGEST_LINE or "\0" in line:
            self.place.fault(number, "the line is too long or has a NUL", "fix the line", line)
        elif line[0] == "T":
            self._take_bound(number, line)
        elif line[0] == "E":
            self._take_event(number, line)
        elif line[0] in "ARM#*N":
            self.later.append((number, line))
        else:
            self.place.fault(number, "the line is not in brat's format", "begin it with T, E, A, R, #, * or N", line)

    def _take_bound(self, number: int, line: str) -> None:
        name, _, rest = line.partition("\t")
        about, _, words = rest.partition("\t")
        category, _, places = about.partition(" ")
        if not _PARTS.fullmatch(places) or not category or name in self.bound:
            fix = "write T1, a tab, the type and the positions, a tab, the words; each name once"
            self.place.fault(number, "the line marks no words", fix, line)
        elif len(self.bound) >= MOST_OBJECTS:
            self.place.fault(number, f"more than {MOST_OBJECTS} marks", "split the text")
        else:
            pairs = (part.split(" ") for part in places.split(";"))
            parts = tuple((int(start), int(end)) for start, end in pairs)
            self.bound[name] = _Bound(number, category, Quoted(parts, words or None))

    def _take_event(self, number: int, line: str) -> None:
        """An event is its trigger; its arguments point from it."""
        name, _, rest = line.partition("\t")
        trigger, *arguments = rest.split() or [""]
        self.triggers[name] = trigger.rpartition(":")[2]
        for argument in arguments:
            role, _, target = argument.partition(":")
            self.later.append((number, f"R\t{role} Arg1:{name} Arg2:{target}"))

    def objects(self) -> tuple[list[Object], list[Link]]:
        """Everything together, once all lines are in."""
        links: list[Link] = []
        parents: dict[str, str] = {}
        for number, line in self.later:
            _LATER[line[0]](self, number, line, links, parents)
        way = way_of(self.text, [bound.quoted for bound in self.bound.values()], "code-points")
        grouped: dict[str, list[tuple[str, Mention]]] = {}
        for name, bound in self.bound.items():
            for mention in self._mention(name, bound, way):
                slot = bound.attributes.pop(SLOT, MENTION)
                grouped.setdefault(self._first(name), []).append((slot, mention))
        groups: dict[str, list[_Bound]] = {}
        for name, bound in self.bound.items():
            groups.setdefault(self._first(name), []).append(bound)
        things = [self._object(name, groups[name], pairs, parents) for name, pairs in grouped.items()]
        known = {one.id for one in things}
        return things, [link for link in links if link.source in known and link.target in known]

    def _mention(self, name: str, bound: _Bound, way: str) -> Iterator[Mention]:
        parts = self.text.parts(bound.quoted, way)
        if not check_parts(parts, len(self.text.plain)):
            parts = merge_parts(parts) if all(a < b for a, b in parts) else parts
        if not check_parts(parts, len(self.text.plain)):
            self.place.fault(bound.line, "the words lie outside of the text", "check the positions", name)
        elif bound.quoted.words is not None and not self.text.says(bound.quoted, way):
            stands = " ".join(self.text.plain[start:end] for start, end in parts)
            self.place.fault(bound.line, f"there stands {stands[:60]!r}", "check the positions", bound.quoted.words)
        else:
            yield Mention(name, merge_parts(parts))

    def _object(
        self, name: str, group: list[_Bound], pairs: list[tuple[str, Mention]], parents: Mapping[str, str]
    ) -> Object:
        fields = {key: value for bound in reversed(group) for key, value in bound.attributes.items()}
        inferred = fields.pop(INFERRED, "") != ""
        note = next((bound.note for bound in group if bound.note), "")
        parent = self._first(parents.get(name, ""))
        return Object(name, group[0].category, parent, fields, by_slot(pairs), inferred, note)

    def _first(self, name: str) -> str:
        """The name that stands for all mentions of one object."""
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name

    def _target(self, name: str) -> str:
        """The words that a name stands for: itself, or the trigger of an event."""
        return self.triggers.get(name, name)

    def attribute(self, number: int, line: str, links: list[Link], parents: dict[str, str]) -> None:
        """`A1 TAB name T1 value`."""
        _, _, rest = line.partition("\t")
        name, _, about = rest.partition(" ")
        target, _, value = about.partition(" ")
        bound = self.bound.get(self._target(target))
        if bound is None or not name:
            self.place.lost(number, "an attribute of something that does not exist", line)
        else:
            bound.attributes[name] = value or ("true" if name == INFERRED else name)

    def relation(self, number: int, line: str, links: list[Link], parents: dict[str, str]) -> None:
        """`R1 TAB kind Arg1:T1 Arg2:T2`."""
        kind, *arguments = line.partition("\t")[2].split() or [""]
        ends = [self._target(argument.partition(":")[2]) for argument in arguments[:2]]
        if len(ends) != 2 or not all(end in self.bound for end in ends):
            self.place.lost(number, "a relation with something that does not exist", line)
        elif kind == IN:
            parents[self._first(ends[0])] = ends[1]
        else:
            links.append(Link(kind, self._first(ends[0]), self._first(ends[1])))

    def remark(self, number: int, line: str, links: list[Link], parents: dict[str, str]) -> None:
        """`#1 TAB type T1 TAB text`."""
        _, _, rest = line.partition("\t")
        about, _, text = rest.partition("\t")
        kind, _, target = about.partition(" ")
        bound = self.bound.get(self._target(target))
        if bound is None:
            self.place.lost(number, "a note on something that does not exist", line)
        elif kind == FIELD:
            self._field(number, bound, text)
        else:
            bound.note = f"{bound.note}\n{text}" if bound.note else text

    def _field(self, number: int, bound: _Bound, text: str) -> None:
        try:
            key, value = json.loads(text[:LONGEST_LINE])
            bound.attributes[str(key)] = str(value)
        except (ValueError, TypeError, RecursionError):
            self.place.lost(number, "an invalid value", text)

    def equal(self, number: int, line: str, links: list[Link], parents: dict[str, str]) -> None:
        """`* TAB Equiv T1 T2`: mentions of one object."""
        kind, *names = line.partition("\t")[2].split() or [""]
        known = [name for name in names if name in self.bound]
        if kind != "Equiv" or len(known) < 2:
            self.place.lost(number, f"the relation {kind[:40]!r}", line)
            return
        first = self._first(known[0])
        for name in known:
            self.same[self._first(name)] = first

    def normal(self, number: int, line: str, links: list[Link], parents: dict[str, str]) -> None:
        """`N1 TAB Reference T1 RID:EID TAB text`: a pointer to a data base."""
        about, _, _ = line.partition("\t")[2].partition("\t")
        _, _, rest = about.partition(" ")
        target, _, reference = rest.partition(" ")
        bound = self.bound.get(self._target(target))
        if bound is None:
            self.place.lost(number, "a reference of something that does not exist", line)
        else:
            bound.attributes["reference"] = reference


_Later = Callable[[_Reader, int, str, list[Link], dict[str, str]], None]
_LATER: Final[Mapping[str, _Later]] = {
    "A": _Reader.attribute,
    "M": _Reader.attribute,
    "R": _Reader.relation,
    "#": _Reader.remark,
    "*": _Reader.equal,
    "N": _Reader.normal,
}
