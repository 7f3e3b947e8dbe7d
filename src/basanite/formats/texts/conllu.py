"""CoNLL-U as treebanks and parsers write it: sentences of words in ten columns, with every fault named.

A word has an id of 1, 2, 3 …; a line `3-4` is one token of the text whose words follow; a line `3.1` is an empty node,
which is no word of the text and is passed over here, as the script of the CoNLL 2018 shared task does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter, methodcaller, ne
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.formats.file_kinds import text_kind
from basanite.formats.kinds.structure import CONLLU
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.single_file import SingleFile
from basanite.problems import Findings, Problem

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
COLUMNS: Final = 10
BLANKS: Final = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Spaces that a form may hold; the characters of tokens are compared without them."""
RANGE: Final = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
NODE: Final = re.compile(r"[0-9]+\.[1-9][0-9]*")
COMMENT: Final = re.compile(r"#\s*([\w:.-]+)\s*=\s*(.*?)\s*$")
NEWDOC: Final = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*?))?\s*$")
FACT: Final = "meta::"
"""What comments about a whole document begin with: `# meta::genre = academic`."""
TABS: Final = COLUMNS - 1
LONGEST_NUMBER: Final = 7
_NUMBERS: Final = [str(number) for number in range(1, 1001)]


@dataclass(frozen=True)
class Lines:
    """All lines of a file that are no comments, in columns, sentence by sentence."""

    file: SingleFile
    columns: Sequence[list[str]]
    first_row: list[int]
    """The first row of each sentence, and where the last one ends."""
    first_line: list[int]
    comments: list[list[str]]
    """What stands before each sentence."""

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Of each sentence its number, its first row and the row after its last one."""
        return zip(range(len(self.first_line)), self.first_row[:-1], self.first_row[1:], strict=True)

    def line(self, sentence: int, row: int) -> int:
        """The line of a row, which belongs to this sentence."""
        return self.first_line[sentence] + row - self.first_row[sentence]


@dataclass(frozen=True)
class Treebank:
    """All words of a file in columns. Places of characters are counted in `text`, the tokens without blanks."""

    file: str
    digest: str
    text: str
    token_starts: Numbers
    token_ends: Numbers
    sentence_starts: Numbers
    """The first character of each sentence."""
    sentence_ends: Numbers
    first_word: Numbers
    """The first word of each sentence, and where the last one ends."""
    first_line: Sequence[int]
    starts: Numbers
    """Where the token of each word begins in the text."""
    ends: Numbers
    several: Flags
    """Whether a word is one of a token of several words."""
    parents: Numbers
    """The word that each word depends on; -1 for a root."""
    forms: Sequence[str]
    lemmas: Sequence[str]
    upos: Sequence[str]
    xpos: Sequence[str]
    feats: Sequence[str]
    relations: Sequence[str]
    names: tuple[str, ...]
    """The `sent_id` of each sentence if all have one of their own; else their numbers."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The document of each sentence, and what comments say of it."""

    def line_at(self, character: int) -> int:
        """The line of the sentence that holds this character of the text."""
        at = int(np.searchsorted(self.sentence_starts, character, side="right")) - 1
        return self.first_line[max(at, 0)]


def read_treebank(path: Path, place: Place, findings: Findings, *, any_graph: bool = False) -> Treebank | None:
    """The words of a file; None, with all faults named, if it cannot be scored.

    With `any_graph` a sentence may have several roots or a cycle, which is a warning then.
    """
    file = open_single(path, place, findings)
    lines = None if file is None else split_lines(file, place, findings)
    return None if lines is None else treebank_of(lines, place, findings, any_graph=any_graph)


def treebank_of(lines: Lines, place: Place, findings: Findings, *, any_graph: bool = False) -> Treebank | None:
    """The words of lines that are split already."""
    return _Builder(lines, place, findings).build(any_graph=any_graph)


def split_lines(file: SingleFile, place: Place, findings: Findings) -> Lines | None:
    """The lines of a file in ten columns; None if it is something else or some line has not ten."""
    refusal = _foreign(file, place)
    if refusal is not None:
        findings.add(refusal)
        return None
    text = _file_text(file, place, findings)
    return None if text is None else _split(file, text, place, findings)


def _foreign(file: SingleFile, place: Place) -> Problem | None:
    """The one problem of a file that is something else."""
    start = file.beginning
    if not file.data.strip():
        return place.problem(file.name, None, "the file is empty", "give a file in CoNLL-U")
    kind = text_kind(start)
    if kind is CONLLU or ("\t" in start.text and _mostly_columns(start.lines)):
        return None
    if kind is not None:
        message = f"this looks like {kind.name}"
        return place.problem(file.name, None, message, kind.fix or "give a file in CoNLL-U", start.lines[0])
    message = "this is not CoNLL-U: most of its first lines have no ten columns with tabs between"
    fix = "give words in ten columns (ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC), separated by tabs"
    return place.problem(file.name, None, message, fix, (start.lines or [""])[0])


def _mostly_columns(lines: Sequence[str]) -> bool:
    words = [line for line in lines if not line.startswith("#")]
    return 2 * sum(line.count("\t") == COLUMNS - 1 for line in words) >= max(len(words), 1)


def _file_text(file: SingleFile, place: Place, findings: Findings) -> str | None:
    try:
        text = file.data.decode("utf-8-sig")
        return text.replace("\r\n", "\n") if "\r" in text else text
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        found = file.data[error.start : error.start + 20]
        findings.add(place.problem(file.name, line, "this is not UTF-8", "save the file as UTF-8", found))
        return None


def _split(file: SingleFile, text: str, place: Place, findings: Findings) -> Lines | None:
    """Sentences have an empty line after each; the last one may lack it. Comments stand before the first word."""
    kept: list[str] = []
    first_row, first_line, comments = [0], list[int](), list[list[str]]()
    before: list[str] = []
    number = 1
    for block in text.split("\n\n"):
        lines = block.split("\n")
        first = 0
        while first < len(lines) and lines[first][:1] in ("#", ""):  # a further empty line between two sentences
            before += [lines[first]] * bool(lines[first])
            first += 1
        rows = lines[first:] if lines[-1] else lines[first:-1]
        if rows:
            kept += rows
            first_row.append(len(kept))
            first_line.append(number + first)
            comments.append(before)
            before = []
        number += len(lines) + 1
    columns = "\t".join(kept).split("\t")
    made = Lines(file, [columns[at::COLUMNS] for at in range(COLUMNS)], first_row, first_line, comments)
    uneven = any(map(partial(ne, TABS), map(methodcaller("count", "\t"), kept)))
    wrong = [at for at, line in enumerate(kept) if line.count("\t") != TABS] if uneven else []
    for at in wrong:
        sentence = bisect_right(first_row, at) - 1
        findings.add(_wrong_line(file.name, made.line(sentence, at), kept[at], place))
    if not kept:
        findings.add(place.problem(file.name, None, "there is no sentence in it", "give a file in CoNLL-U"))
    return None if wrong or not kept else made


def _wrong_line(name: str, line: int, text: str, place: Place) -> Problem:
    if text.startswith("#"):
        return place.problem(name, line, "there is a comment inside a sentence", "put it before the first word", text)
    message, fix = f"{text.count(chr(9)) + 1} columns in place of {COLUMNS}", "separate ten columns by tabs"
    if not text.strip():
        message, fix = "there is a line of blanks inside a sentence", "leave the line between two sentences empty"
    return place.problem(name, line, message, fix, text)


class _Builder:
    """Lines on their way to words and tokens."""

    def __init__(self, lines: Lines, place: Place, findings: Findings) -> None:
        self.lines, self.place, self.findings = lines, place, findings
        self.name = lines.file.name
        self.words: list[int] = []
        """The rows of words, and for each token its row, its number of words, and whether it has a line of its own."""
        self.tokens: list[int] = []
        self.sizes: list[int] = []
        self.several: list[bool] = []
        self.first_word, self.first_token = [0], [0]

    def build(self, *, any_graph: bool) -> Treebank | None:
        """The columns of all sentences, if there is nothing wrong with any."""
        for sentence, begin, end in self.lines.rows():
            self._add(sentence, begin, end)
        if not self.findings.valid:
            return None
        parents = self._parents()
        if parents is not None:
            self._check_graphs(parents, any_graph=any_graph)
        return self._treebank(parents) if parents is not None and self.findings.valid else None

    def _fault(self, line: int | None, message: str, fix: str, found: str = "") -> None:
        self.findings.add(self.place.problem(self.name, line, message, fix, found))

    def _add(self, sentence: int, begin: int, end: int) -> None:
        if self.lines.columns[ID][begin:end] == _NUMBERS[: end - begin]:
            self.words += range(begin, end)
            self.tokens += range(begin, end)
            self.sizes += [1] * (end - begin)
            self.several += [False] * (end - begin)
        else:
            self._add_mixed(sentence, begin, end)
        self.first_word.append(len(self.words))
        self.first_token.append(len(self.tokens))

    def _add_mixed(self, sentence: int, begin: int, end: int) -> None:
        """A sentence with other lines among its words: tokens of several words, empty nodes, wrong ids."""
        first, open_until = len(self.words), 0
        for row in range(begin, end):
            name, following = self.lines.columns[ID][row], len(self.words) - first + 1
            if name == str(following):
                self.words.append(row)
                if following > open_until:
                    self._add_token(row, 1, several=False)
            elif whole := RANGE.fullmatch(name):
                last = int(whole[2][:LONGEST_NUMBER])
                if whole[1] != str(following) or not open_until < following <= last <= end - begin:
                    fix = f"write the range of its words, which begin with {following}, before them"
                    self._fault(self.lines.line(sentence, row), f"the token {name} does not fit its words", fix, name)
                    continue
                open_until = last
                self._add_token(row, last - following + 1, several=True)
            elif not NODE.fullmatch(name):
                fix = f"number the words of a sentence 1, 2, 3 …; the next one is {following}"
                self._fault(self.lines.line(sentence, row), f"the id {name!r} is not valid, or out of order", fix, name)
        number, line = len(self.words) - first, self.lines.first_line[sentence]
        if not number:
            self._fault(line, "the sentence has no words", "leave it out on both sides")
        elif open_until > number:
            fix = "write all words of the token below it"
            self._fault(line, f"a token ends with word {open_until} of {number}", fix)

    def _add_token(self, row: int, size: int, *, several: bool) -> None:
        self.tokens.append(row)
        self.sizes.append(size)
        self.several.append(several)

    def _column(self, column: int) -> Sequence[str]:
        """The cells of all words."""
        return self._rows_of(column, self.words)

    def _rows_of(self, column: int, rows: Sequence[int]) -> Sequence[str]:
        cells = self.lines.columns[column]
        if len(rows) == len(cells):
            return cells
        return itemgetter(*rows)(cells) if len(rows) > 1 else [cells[row] for row in rows]

    def _parents(self) -> Numbers | None:
        """The word that each word depends on, -1 for roots; None with every wrong HEAD told."""
        texts = self._column(HEAD)
        first = np.array(self.first_word)
        begin, size = (np.repeat(one, np.diff(first)) for one in (first[:-1], np.diff(first)))
        joined = "".join(texts)
        if all(texts) and joined.isascii() and joined.isdecimal() and max(map(len, texts)) <= LONGEST_NUMBER:
            heads = np.array(list(map(int, texts)), dtype=np.int64)
            if not (heads > size).any():
                return np.where(heads > 0, heads - 1 + begin, -1)
        for at, text in enumerate(texts):
            number = text.isascii() and text.isdecimal()
            if not number or int(text[:LONGEST_NUMBER]) > size[at] or len(text) > LONGEST_NUMBER:
                sentence = bisect_right(self.first_word, at) - 1
                message = f"HEAD {text[:40]!r} is {'outside its sentence' if number else 'not a number'}"
                fix = f"write 0 for the root, or the number of the word that it depends on, 1 to {size[at]}"
                self._fault(self.lines.line(sentence, self.words[at]), message, fix, text)
        return None

    def _check_graphs(self, parents: Numbers, *, any_graph: bool) -> None:
        """One root for each sentence, and no word that depends on itself by way of others."""
        number = len(self.lines.first_line)
        sentence = np.repeat(np.arange(number), np.diff(self.first_word))
        roots = np.bincount(sentence[parents < 0], minlength=number)
        turning = np.bincount(sentence[_in_cycles(parents)], minlength=number)
        taken = any_graph and self.place.where == "submission"
        for at in np.flatnonzero((roots != 1) | (turning > 0)).tolist():
            message = f"the sentence has {roots[at]} roots"
            if turning[at]:
                message = f"{turning[at]} words of the sentence depend on each other in a circle, or on one of these"
            fix = "write HEAD 0 for one word of the sentence, and let every other one lead to it"
            hint = "" if taken else "`--set trees=any` takes such sentences of a submission as they are"
            problem = self.place.problem(
                self.name, self.lines.first_line[at], message, fix, hint=hint, severity="warn" if taken else "reject"
            )
            self.findings.add(replace(problem, kind="tree"))

    def _treebank(self, parents: Numbers) -> Treebank | None:
        forms = self._rows_of(FORM, self.tokens)
        text = "".join(forms)
        if any(sign in text for sign in BLANKS):
            table = dict.fromkeys(map(ord, BLANKS))
            forms = [form.translate(table) for form in forms]
            text = "".join(forms)
        if not all(forms):
            at = bisect_right(self.first_token, forms.index("")) - 1
            self._fault(
                self.lines.first_line[at], "a word of the sentence has no form", "write its form in the second column"
            )
            return None
        ends = np.cumsum(np.fromiter(map(len, forms), np.int64, len(forms)))
        starts = np.concatenate([[0], ends[:-1]])
        token = np.repeat(np.arange(len(forms)), self.sizes)
        several = np.array(self.several, dtype=bool)[token]
        first_token = np.array(self.first_token)
        names, columns = describe_sentences(self.lines.comments)
        return Treebank(
            file=self.name,
            digest=digest_of([(self.name, self.lines.file.raw)]),
            text=text,
            token_starts=starts,
            token_ends=ends,
            sentence_starts=starts[first_token[:-1]],
            sentence_ends=ends[first_token[1:] - 1],
            first_word=np.array(self.first_word),
            first_line=self.lines.first_line,
            starts=starts[token],
            ends=ends[token],
            several=several,
            parents=parents,
            forms=_forms(self._column(FORM), forms, token, several),
            lemmas=self._column(LEMMA),
            upos=self._column(UPOS),
            xpos=self._column(XPOS),
            feats=self._column(FEATS),
            relations=self._column(DEPREL),
            names=names,
            columns=columns,
        )


def _forms(words: Sequence[str], tokens: Sequence[str], token: Numbers, several: Flags) -> Sequence[str]:
    """The form of each word; that of one which is a token of its own is without blanks."""
    if not several.any():
        return tokens
    rows = zip(words, token.tolist(), several.tolist(), strict=True)
    return [word if inside else tokens[at] for word, at, inside in rows]


def _in_cycles(parents: Numbers) -> Flags:
    """The words from which no way leads to a root: every step goes twice as far as the one before."""
    far = np.append(parents, -1)
    for _ in range(max(len(parents), 1).bit_length() + 1):
        far = np.where(far < 0, -1, far[far])
    return np.asarray(far[:-1] >= 0)


def describe_sentences(comments: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The name of each sentence, its document, and what comments say of the document (`# meta::genre = news`).

    Names are `sent_id` where all sentences have one of their own, else numbers.
    """
    documents = 0
    facts: dict[str, str] = {"document": ""}
    names: list[str] = []
    rows: list[dict[str, str]] = []
    for lines in comments:
        name = ""
        for line in lines:
            if "newdoc" in line and (begun := NEWDOC.match(line)):
                documents += 1
                facts = {"document": begun[1] or f"document {documents}"}
            elif ("sent_id" in line or FACT in line) and (said := COMMENT.match(line)):
                name = said[2] if said[1] == "sent_id" else name
                if said[1].startswith(FACT):
                    facts = {**facts, said[1].removeprefix(FACT): said[2]}
        names.append(name)
        rows.append(facts)
    columns = {
        name: tuple(row.get(name, "") for row in rows) for name in dict.fromkeys(name for row in rows for name in row)
    }
    if all(names) and len(set(names)) == len(names):
        return tuple(names), columns
    return tuple(str(number) for number in range(1, len(names) + 1)), columns
