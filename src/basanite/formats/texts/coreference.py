"""Coreference as CoNLL-2012 and CorefUD write it: documents with the mentions of each entity.

In CoNLL-2012 the last column of a word says which entities begin and end there, `(5|(7)` or `5)`. In CorefUD, which is
CoNLL-U, it is `Entity=` in the last column; mentions may be in pieces, and empty nodes are words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from basanite.formats.file_kinds import text_kind
from basanite.formats.kinds.structure import CONLLU, COREFERENCE
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.single_file import SingleFile
from basanite.formats.texts.conllu import FORM, ID, MISC, NODE, RANGE, Lines, describe_sentences, split_lines
from basanite.problems import Findings

BEGIN: Final = re.compile(r"#\s*begin document\s*(.*?)\s*$")
END: Final = re.compile(r"#\s*end document")
MARK: Final = re.compile(r"\(([0-9]+)\)|\(([0-9]+)|([0-9]+)\)")
NOTHING: Final = frozenset({"", "-", "_", "*"})
OPENED: Final = re.compile(r"\(([^()]*)(\)?)|([^()]+)\)")
PIECE: Final = re.compile(r"(.*)\[([0-9]+)/([0-9]+)\]")
LAYOUT: Final = "give CoNLL-2012 columns between `#begin document` and `#end document`, or CoNLL-U with Entity="
SPLIT: Final = "SplitAnte="

Word = tuple[int, str]
"""A word by its sentence and its id there."""


@dataclass(frozen=True)
class Mention:
    """The words of a mention, and its head where the file says which it is."""

    words: tuple[Word, ...]
    head: Word | None = None


@dataclass
class Document:
    """The words of a document and the mentions of each entity, in their order."""

    name: str
    line: int
    words: list[str] = field(default_factory=list)
    """Of each sentence, joined: they must be the same on both sides."""
    entities: dict[str, list[Mention]] = field(default_factory=lambda: defaultdict(list))
    lines: dict[Mention, int] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Documents:
    """All documents of a file."""

    file: str
    digest: str
    documents: list[Document]
    universal: bool
    """Whether it is CorefUD."""
    split: int = 0
    """How many antecedents are of several entities; they are passed over."""


def read_coreference(path: Path, place: Place, findings: Findings) -> Documents | None:
    """The documents of a file; None if it cannot be read."""
    file = open_single(path, place, findings)
    if file is None:
        return None
    if not file.data.strip():
        findings.add(place.problem(file.name, None, "the file is empty", LAYOUT))
        return None
    kind = text_kind(file.beginning)
    if kind is CONLLU:
        lines = split_lines(file, place, findings)
        return None if lines is None else _Universal(lines, place, findings).read()
    if kind is not COREFERENCE:
        name = "no file of coreference" if kind is None else kind.name
        found = (file.beginning.lines or [""])[0]
        findings.add(place.problem(file.name, None, f"this is {name}", LAYOUT, found))
        return None
    return _Columns(file, place, findings).read()


class _Columns:
    """A file of CoNLL-2012 on its way to documents."""

    def __init__(self, file: SingleFile, place: Place, findings: Findings) -> None:
        self.file, self.place, self.findings = file, place, findings
        self.documents: list[Document] = []
        self.open: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """By entity the words at which mentions begin, and their lines."""
        self.names: list[str] = []
        """Entities in the order in which they are first named: of a mention marked twice, the first of these has it."""
        self.spans: list[tuple[str, int, int, int]] = []
        self.order: list[int] = []
        """For each word the number of its sentence."""
        self.sentence: list[str] = []
        self.current: Document | None = None

    def read(self) -> Documents | None:
        """All documents; what is wrong with a line is told."""
        try:
            text = self.file.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.file.data.count(b"\n", 0, error.start) + 1
            self._fault(line, "this is not UTF-8", "save the file as UTF-8", "")
            return None
        for number, content in enumerate(text.split("\n"), start=1):  # in one loop: files have millions of words
            cells = content.split()
            if self.current is None or not cells or content[0] == "#":
                self._border(number, content.rstrip("\r"))
                continue
            self.sentence.append(cells[3] if len(cells) > 4 else "")
            if cells[-1] not in NOTHING:
                self._marks(cells[-1], len(self.order), number)
            self.order.append(len(self.current.words))
        self._close()
        digest = digest_of([(self.file.name, self.file.raw)])
        return Documents(self.file.name, digest, self.documents, universal=False) if self.findings.valid else None

    def _fault(self, line: int, message: str, fix: str, found: str) -> None:
        self.findings.add(self.place.problem(self.file.name, line, message, fix, found))

    def _border(self, number: int, line: str) -> None:
        """A line between documents or sentences."""
        if line.startswith("#"):
            if begun := BEGIN.match(line):
                self._close()
                self.current = Document(begun[1] or f"document {len(self.documents) + 1}", number, [""])
            elif END.match(line):
                self._close()
        elif self.current is not None:
            if self.sentence:
                self._end_sentence(self.current)
                self.current.words.append("")
        elif line.strip():
            self._fault(number, "a word is outside every document", "write `#begin document` before it", line)

    def _end_sentence(self, document: Document) -> None:
        document.words[-1] = "".join(f"{word} " for word in self.sentence)
        self.sentence.clear()

    def _marks(self, cell: str, at: int, number: int) -> None:
        if MARK.sub("", cell).strip("|"):
            fix = "write marks like (5), (5 and 5), with | between them, or - for none"
            self._fault(number, f"{cell[:40]!r} marks no entity", fix, cell)
            return
        marks = list(MARK.finditer(cell))  # those of one word, then those that begin, then those that end here
        for one in marks:
            if one[1]:
                self.spans.append((one[1], at, at, number))
                self.names.append(one[1])
        for one in marks:
            if one[2]:
                self.open[one[2]].append((at, number))
                self.names.append(one[2])
        for one in marks:
            if one[3] and self.open[one[3]]:
                start, line = self.open[one[3]].pop()
                self.spans.append((one[3], start, at, line))
            elif one[3]:
                self._fault(number, f"entity {one[3]} ends here and did not begin", "write where it begins", cell)

    def _close(self) -> None:
        """End a document: every mention must have an end."""
        if self.current is None:
            return
        if self.sentence:
            self._end_sentence(self.current)
        for name, starts in self.open.items():
            for _, line in starts:
                self._fault(line, f"a mention of entity {name} begins here and never ends", "write where it ends", name)
        self.current.entities |= {name: [] for name in self.names}
        for name, first, last, line in self.spans:
            mention = Mention(((self.order[first], str(first)), (self.order[last], str(last))))
            self.current.entities[name].append(mention)
            self.current.lines.setdefault(mention, line)
        genre, _, rest = self.current.name.lstrip("(").partition("/")
        self.current.facts = {"genre": genre} if rest else {}
        self.documents.append(self.current)
        self.current, self.order, self.spans, self.names = None, [], [], []
        self.open.clear()


class _Universal:
    """CorefUD on its way to documents."""

    def __init__(self, lines: Lines, place: Place, findings: Findings) -> None:
        self.lines, self.place, self.findings = lines, place, findings
        self.split = 0
        self.open: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        """By entity the words at which mentions begin, their lines, and what is told of them."""
        self.pieces: dict[str, list[tuple[Word, ...]]] = defaultdict(list)
        self.order: list[Word] = []

    def read(self) -> Documents | None:
        """All documents; what is wrong with a line is told."""
        _, columns = describe_sentences(self.lines.comments)
        names = columns["document"]
        documents: list[Document] = []
        head = self._head_field()
        for sentence, begin, end in self.lines.rows():
            if not documents or documents[-1].name != (names[sentence] or "document"):
                self._close()
                first = self.lines.first_line[sentence]
                facts = {key: cells[sentence] for key, cells in columns.items() if key != "document"}
                documents.append(Document(names[sentence] or "document", first, facts=facts))
                self.order = []
            self._sentence(documents[-1], sentence, (begin, end), head)
        self._close()
        file = self.lines.file
        made = Documents(file.name, digest_of([(file.name, file.raw)]), documents, universal=True, split=self.split)
        return made if self.findings.valid else None

    def _head_field(self) -> int:
        """The place of the head among the parts of a mark, as `# global.Entity` says; 2 where nothing says so."""
        for line in (line for comments in self.lines.comments for line in comments if "global.Entity" in line):
            names = line.partition("=")[2].strip().split("-")
            return names.index("head") if "head" in names else -1
        return 2

    def _fault(self, line: int, message: str, fix: str, found: str) -> None:
        self.findings.add(self.place.problem(self.lines.file.name, line, message, fix, found))

    def _sentence(self, document: Document, sentence: int, rows: tuple[int, int], head: int) -> None:
        ids, forms, misc = (self.lines.columns[at] for at in (ID, FORM, MISC))
        place = len(document.words)
        document.words.append(" ".join(forms[row] for row in range(*rows) if ids[row].isdecimal()))
        for row in range(*rows):
            if RANGE.fullmatch(ids[row]):
                continue
            if not ids[row].isdecimal() and not NODE.fullmatch(ids[row]):
                fix = "number words 1, 2, 3 …, and empty nodes 3.1"
                self._fault(self.lines.line(sentence, row), f"the id {ids[row]!r} is not valid", fix, ids[row])
                continue
            self.order.append((place, ids[row]))
            if misc[row] != "_":
                for part in misc[row].split("|"):
                    if part.startswith("Entity="):
                        self._marks(document, part.removeprefix("Entity="), self.lines.line(sentence, row), head)
                    self.split += part.startswith(SPLIT)

    def _marks(self, document: Document, text: str, line: int, head: int) -> None:
        at = len(self.order) - 1
        if OPENED.sub("", text):
            self._fault(line, f"{text[:40]!r} marks no entity", "write Entity=(e1-type-head) or Entity=e1)", text)
            return
        for one in OPENED.finditer(text):
            if one[3] is not None:
                name = one[3].partition("-")[0]
                if not self.open[name]:
                    self._fault(line, f"entity {name[:40]} ends here and did not begin", "write where it begins", text)
                    continue
                begin, _, told = self.open[name].pop()
                self._add(document, name, (begin, at), told)
                continue
            fields = one[1].split("-")
            told = f"{line}|{fields[head] if 0 <= head < len(fields) else ''}"
            if one[2]:
                self._add(document, fields[0], (at, at), told)
            else:
                self.open[fields[0]].append((at, line, told))

    def _add(self, document: Document, name: str, span: tuple[int, int], told: str) -> None:
        """A mention, or a piece of one, which becomes a mention with its last piece."""
        words = tuple(self.order[span[0] : span[1] + 1])
        line, _, head = told.partition("|")
        if piece := PIECE.fullmatch(name):
            name = piece[1]
            self.pieces[name].append(words)
            if piece[2] != piece[3]:
                return
            words = tuple(word for part in self.pieces.pop(name) for word in part)
        at = int(head) if head.isdecimal() and head.isascii() and len(head) < 8 else 1
        mention = Mention(words, words[at - 1] if 0 < at <= len(words) else words[0])
        document.entities[name].append(mention)
        document.lines.setdefault(mention, int(line))

    def _close(self) -> None:
        """End a document: every mention must have an end."""
        for line in sorted({line for starts in self.open.values() for _, line, _ in starts}):
            self._fault(line, "a mention begins here and never ends", "write where it ends", "")
        self.open.clear()
        self.pieces.clear()


def mentions_once(document: Document) -> Iterator[tuple[str, Mention, bool]]:
    """Every mention with its entity, and whether it already exists: then it counts no second time."""
    seen: set[tuple[Word, ...]] = set()
    for name, mentions in document.entities.items():
        for mention in mentions:
            yield name, mention, mention.words in seen
            seen.add(mention.words)
