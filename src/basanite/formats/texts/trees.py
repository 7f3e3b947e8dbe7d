"""Bracketed trees as treebanks and parsers write them, `(S (NP (PRP it)) (VP (VBZ works)))`, as columns of numbers.

All trees of a file are read at once: a bracket, a word or a line's end is one number in an array, and what belongs
together follows from the numbers beside each other. Nothing recurses, so neither a deep nor a broken tree can do harm.
Several trees side by side (a forest, or words with tags alone) are read as one, as evalb does. A tree usually stands on
a line of its own; those that run over lines are distinguished by their brackets.

Parameter files of evalb (`.prm`) say which labels are deleted and which are equal, for those who have such a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded

LARGEST = 1 << 20
WORDS = {
    **{"DELETE_LABEL": 1, "DELETE_LABEL_FOR_LENGTH": 1, "QUOTE_LABEL": 1, "EQ_LABEL": 2, "EQ_WORD": 2},
    **{"CUTOFF_LEN": 1, "LABELED": 1, "DISC_ONLY": 1},
}
"""The keywords that change what is counted, and how many words follow each."""
NO_MATTER = ("DEBUG", "MAX_ERROR")
"""Every fault is told, and each sentence has values of its own."""
NUMBERS = ("CUTOFF_LEN", "LABELED", "DISC_ONLY")
UNLABELED = "LABELED 0 asks for brackets without labels: these are the unlabelled values"
DISCONTINUOUS = "DISC_ONLY 1 is not followed: trees in brackets hold no discontinuous constituent"
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
BLOCK = 1 << 19
"""Characters that are read at once."""
FIRSTS = ("first_word", "first_bracket")
TOKEN, SPACE, OPEN, CLOSE, END = range(5)
_KINDS = np.full(256, TOKEN, dtype=np.uint8)
_KINDS[list(b" \t\r\v\f")] = SPACE
_KINDS[ord("(")], _KINDS[ord(")")], _KINDS[ord("\n")] = OPEN, CLOSE, END
_BRACKET = re.compile(r"[()]")
_BANNER = re.compile(r"^\*x\*.*$", re.MULTILINE)
"""The notice at the start of some files of the Penn Treebank: lines of `*x*x*x*`."""
_PIECE = re.compile(r"\(\s*+([^\s()]*+)(?:\s++([^\s()]++)\s*+\))?|(\))|([^\s()]++)", re.ASCII)
"""An opening bracket with its label, or `(TAG word)`, or a closing bracket, or a word. No sign is tried twice
(possessive), so that time grows with the length."""
SHORT = 7
"""Bytes of a name that fit into a number, with one byte for how many they are."""
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(SHORT + 1)], dtype=np.int64)


@dataclass(frozen=True)
class Parameters:
    """What a parameter file says; a keyword that it does not hold deletes and equals nothing, as in evalb."""

    deleted: tuple[str, ...] = ()
    not_in_length: tuple[str, ...] = ()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()
    """Tags that a quotation mark may have: where only one side deletes it, both keep it."""
    cutoff: int | None = None
    remarks: tuple[str, ...] = ()
    """What the file asks for and is given in another way, or not at all."""


def read_parameters(path: Path) -> Parameters:
    """The parameters of a file; all faults of it are named in one error."""
    text = read_bounded(path, LARGEST).decode("utf-8-sig", "replace")
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1)]
    used = [(number, words) for number, words in lines if words and not words[0].startswith("#")]
    faults = [fault for number, words in used for fault in _parameter_faults(number, words)]
    if faults:
        raise SettingError(f"{path.name} is not a parameter file of evalb: {'; '.join(faults)}.")
    return _parameters([words for _, words in used])


def _parameter_faults(number: int, words: list[str]) -> Iterator[str]:
    name, values = words[0], words[1:]
    if name not in (*WORDS, *NO_MATTER):
        yield f"line {number} has the unknown word {name[:40]!r}"
    elif name in WORDS and len(values) != WORDS[name]:
        yield f"line {number}: {name} takes {WORDS[name]} of the words after it, and there are {len(values)}"
    elif name in NUMBERS and not values[0].isdecimal():
        yield f"line {number}: {values[0][:40]!r} is no {'length' if name == 'CUTOFF_LEN' else 'number'}"


def _parameters(lines: list[list[str]]) -> Parameters:
    def values(keyword: str) -> tuple[str, ...]:
        return tuple(words[1] for words in lines if words[0] == keyword)

    def pairs(keyword: str) -> tuple[tuple[str, str], ...]:
        return tuple((words[1], words[2]) for words in lines if words[0] == keyword)

    lengths = values("CUTOFF_LEN")
    asked = {UNLABELED: values("LABELED")[-1:] == ("0",), DISCONTINUOUS: values("DISC_ONLY")[-1:] not in ((), ("0",))}
    return Parameters(
        values("DELETE_LABEL"),
        values("DELETE_LABEL_FOR_LENGTH"),
        pairs("EQ_LABEL"),
        pairs("EQ_WORD"),
        values("QUOTE_LABEL"),
        int(lengths[-1]) if lengths else None,
        tuple(remark for remark, found in asked.items() if found),
    )


class Names:
    """Words, tags and labels as numbers: a short name is its own bytes, a long one gets a negative number.

    Trees that are to be compared share their names.
    """

    def __init__(self) -> None:
        self._long: dict[bytes, int] = {}
        self._names: list[bytes] = []

    def code(self, name: bytes) -> int:
        """The number of a name.

        >>> names = Names()
        >>> [names.name(names.code(name)) for name in (b"", b"NP", b"long-winded")]
        [b'', b'NP', b'long-winded']
        """
        if len(name) <= SHORT:
            return int.from_bytes(name, "little") | len(name) << 8 * SHORT
        known = self._long.get(name)
        if known is None:
            self._names.append(name)
            known = self._long[name] = -len(self._names)
        return known

    def name(self, code: int) -> bytes:
        """The name of a number."""
        if code < 0:
            return self._names[-code - 1]
        return code.to_bytes(SHORT + 1, "little")[: code >> 8 * SHORT]

    def codes(self, data: bytes, starts: Numbers, ends: Numbers) -> Numbers:
        """The numbers of many names at once, each a stretch of some bytes."""
        lengths = ends - starts
        # Eight bytes from every place on, as a number each: the places overlap, and no byte is copied.
        words = np.ndarray((len(data) + 1,), dtype="<i8", buffer=data + bytes(SHORT + 1), strides=(1,))
        codes = (words[starts] & _MASKS[np.minimum(lengths, SHORT)]) | lengths << 8 * SHORT
        long = np.flatnonzero(lengths > SHORT)
        stretches = zip(starts[long].tolist(), ends[long].tolist(), strict=True)
        codes[long] = [self.code(data[start:end]) for start, end in stretches]
        return np.asarray(codes, dtype=np.int64)


class BrokenTree(NamedTuple):
    """A text that is no tree: why, and what to do."""

    fault: str
    fix: str


@dataclass(frozen=True)
class Trees:
    """Trees in columns. Words of tree `i` are those from `first_word[i]` up to `first_word[i + 1]`, brackets alike.

    A bracket holds the words of its tree from its start up to its end, without the last; outer brackets come before
    inner ones. A broken text has neither words nor brackets.
    """

    names: Names
    words: Numbers
    tags: Numbers
    first_word: Numbers
    labels: Numbers
    starts: Numbers
    ends: Numbers
    first_bracket: Numbers
    broken: Mapping[int, BrokenTree] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.first_word) - 1


def read_trees(texts: Sequence[str], names: Names | None = None) -> Trees:
    """The trees of some texts; what is wrong with a text stands under its number in `broken`.

    >>> trees = read_trees(["(NP (DT the) (NN dog))", "(NP (DT the)"])
    >>> trees.starts.tolist(), trees.ends.tolist(), trees.broken[1].fault
    ([0], [2], '1 bracket is never closed')
    """
    names = Names() if names is None else names
    parts = [_read_block(texts[block], names) for block in _blocks(texts)]
    return parts[0] if len(parts) == 1 else _join(parts)


def _blocks(texts: Sequence[str]) -> Iterator[slice]:
    """Stretches of texts of a size that a processor keeps at hand; at least one, however empty."""
    start = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size > BLOCK:
            yield slice(start, number + 1)
            start, size = number + 1, 0
    if start < len(texts) or not start:
        yield slice(start, len(texts))


def _read_block(texts: Sequence[str], names: Names) -> Trees:
    read = _Read.of(texts)
    wrong = _wrong(read)
    if not len(wrong):
        return _trees(read, names, {})
    broken = {int(number): fault_of(texts[number]) for number in wrong}
    return _trees(_Read.of(["" if number in broken else text for number, text in enumerate(texts)]), names, broken)


def _join(parts: Sequence[Trees]) -> Trees:
    """Several blocks as one; where things begin is moved on by what came before."""
    before = np.cumsum([0, *(len(part) for part in parts)])
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("words", "tags", "labels", "starts", "ends")
    }
    broken = {
        int(first) + at: fault for first, part in zip(before, parts, strict=False) for at, fault in part.broken.items()
    }
    first_word, first_bracket = (_moved_on([getattr(part, name) for part in parts]) for name in FIRSTS)
    return Trees(parts[0].names, **columns, first_word=first_word, first_bracket=first_bracket, broken=broken)


def _moved_on(firsts: Sequence[Numbers]) -> Numbers:
    ends = np.cumsum([0, *(int(part[-1]) for part in firsts)])
    moved = [part[:-1] + end for part, end in zip(firsts, ends, strict=False)]
    return np.concatenate([*moved, ends[-1:]]).astype(np.int64)


def tree_texts(text: str) -> Iterator[tuple[int, str]]:
    """The trees of a text in which a tree may run over several lines, each with the line it begins on.

    >>> list(tree_texts("(S (A a)\\n   (B b))\\n\\n(S (A a))\\n"))
    [(1, '(S (A a)\\n   (B b))'), (4, '(S (A a))')]
    """
    text = _BANNER.sub("", text)
    start = depth = 0
    line = 1
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket.group() == "(" else -1
        if depth <= 0:
            part = text[start : bracket.end()]
            yield line + _blank_lines(part), part.strip()
            line += part.count("\n")
            start, depth = bracket.end(), 0
    rest = text[start:]
    if rest.strip():
        yield line + _blank_lines(rest), rest.strip()


def fault_of(text: str) -> BrokenTree:
    """What is wrong with a text that is no tree: the first fault from the left."""
    depth, empty = 0, False
    for _, word, closing, stray in _PIECE.findall(text):
        if stray:
            fix = "write (TAG word) for each word, and -LRB- or -RRB- for a bracket that is one"
            return BrokenTree(f"the word {stray[:40]!r} has no bracket of its own with a tag", fix)
        if closing and not depth:
            return BrokenTree("a bracket is closed that was never opened", "delete the extra `)`")
        if closing and empty:
            return BrokenTree("a bracket holds no word", "write (TAG word) for each word")
        depth += 0 if word else -1 if closing else 1
        empty = not word and not closing
    noun = "bracket is" if depth == 1 else "brackets are"
    return BrokenTree(f"{depth} {noun} never closed", "close every bracket of a tree")


@dataclass(frozen=True)
class _Read:
    """What happens in some texts, one number each (a bracket, a token, the end of a text), and the part it plays."""

    data: bytes
    tokens: tuple[Numbers, Numbers]
    """Where each token begins and ends."""
    events: NDArray[np.uint8]
    leaf: Flags
    """An opening bracket of a word with its tag, `(TAG word)`: four events."""
    opening: Flags
    """An opening bracket around others."""
    closing: Flags
    """A closing bracket of those."""
    text: Numbers
    """The number of the text."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Read:
        """The events of the texts."""
        lines = [text.replace("\n", " ") if "\n" in text else text for text in texts]
        data = "".join([f"{line}\n" for line in lines]).encode("utf-8", "surrogatepass")
        kinds = _KINDS[np.frombuffer(data, dtype=np.uint8)]
        token = kinds == TOKEN
        begins, ends = token.copy(), token.copy()
        begins[1:] &= ~token[:-1]
        ends[:-1] &= ~token[1:]  # the last sign ends a text and is no part of a token
        events = kinds[begins | (kinds > SPACE)]
        leaf = _leaves(events)
        closing = events == CLOSE
        closing[3:] &= ~leaf[:-3]
        last = events == END
        spans = np.flatnonzero(begins), np.flatnonzero(ends) + 1
        return cls(data, spans, events, leaf, (events == OPEN) & ~leaf, closing, np.cumsum(last) - last)

    @cached_property
    def depth(self) -> Numbers:
        """How many brackets around others are open after each event, all texts together."""
        return np.cumsum(self.opening.astype(np.int64) - self.closing)


def _leaves(events: NDArray[np.uint8]) -> Flags:
    leaf = np.asarray(events == OPEN, dtype=bool)
    for step, kind in ((1, TOKEN), (2, TOKEN), (3, CLOSE)):
        leaf[:-step] &= events[step:] == kind
        leaf[-step:] = False
    return leaf


def _wrong(read: _Read) -> Numbers:
    """The numbers of the texts that are no trees."""
    events, last = read.events, read.events == END
    before = np.concatenate([np.array([END], dtype=np.uint8), events[:-1]])
    stray = (events == TOKEN) & (before != OPEN)
    stray[2:] &= ~read.leaf[:-2]
    empty = read.closing & (before != CLOSE)
    depth = read.depth
    inside = depth - np.concatenate([[0], depth[last]])[read.text]
    return np.unique(read.text[stray | empty | (inside < 0) | (last & (inside != 0))])


def _trees(read: _Read, names: Names, broken: Mapping[int, BrokenTree]) -> Trees:
    """The columns of texts that are all trees."""
    events, number = read.events, int(np.count_nonzero(read.events == END))
    tokens = names.codes(read.data, *read.tokens)
    place = np.cumsum(events == TOKEN) - 1  # of the last token up to each event
    leaves, opening = np.flatnonzero(read.leaf), np.flatnonzero(read.opening)
    first_word = _firsts(read.text[leaves], number)
    words_before = np.cumsum(read.leaf) - first_word[read.text]
    labelled = events[opening + 1] == TOKEN
    labels = np.full(len(opening), names.code(b""), dtype=np.int64)
    labels[labelled] = tokens[place[opening[labelled] + 1]]
    return Trees(
        names,
        tokens[place[leaves + 2]],
        tokens[place[leaves + 1]],
        first_word,
        labels,
        words_before[opening],
        words_before[_closings(read)],
        _firsts(read.text[opening], number),
        broken,
    )


def _closings(read: _Read) -> Numbers:
    """For each opening bracket the closing one: on each level of depth, openings and closings take turns."""
    both = np.flatnonzero(read.opening | read.closing)
    level = read.depth[both] + read.closing[both]
    pairs = both[np.argsort(level, kind="stable")].reshape(-1, 2)
    return np.asarray(pairs[np.argsort(pairs[:, 0]), 1], dtype=np.int64)


def _firsts(text: Numbers, number: int) -> Numbers:
    """Where the things of each text begin, and where those of the last one end."""
    return np.concatenate([[0], np.cumsum(np.bincount(text, minlength=number))]).astype(np.int64)


def _blank_lines(part: str) -> int:
    """How many lines begin before the first character that is no space."""
    return part[: len(part) - len(part.lstrip())].count("\n")
