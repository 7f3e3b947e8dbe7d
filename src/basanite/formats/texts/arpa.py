"""Backoff models of n-grams as ARPA files, which SRILM, KenLM, IRSTLM and CMU's toolkit write and read.

Sections `\\1-grams:`, `\\2-grams:` … hold a line for each n-gram: its log-probability (base 10), its words, and perhaps
the weight with which shorter n-grams take over where no longer one is known. What precedes `\\data\\` is a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from basanite.formats.records import Place
from basanite.problems import Findings

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
MOST_ORDER: Final = 20
"""Longer n-grams are refused: no toolkit makes them."""
ABOVE_ZERO: Final = 1e-4
"""How far above 0 a logarithm may lie and still be 0: toolkits print so many digits."""
_COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d+)-grams:")


@dataclass(frozen=True)
class ArpaModel:
    """Logarithms (base 10) of n-grams by their words with one space between them."""

    order: int
    probabilities: dict[str, float] = field(default_factory=dict)
    backoffs: dict[str, float] = field(default_factory=dict)
    """Weights other than 0."""


class _Reader:
    """The lines of a model, one after the other, with all that is wrong with them."""

    def __init__(self, file: str, place: Place, findings: Findings) -> None:
        self.file, self.place, self.findings = file, place, findings
        self.sizes: dict[int, int] = {}
        self.found: dict[int, int] = {}
        self.section = 0
        self.model = ArpaModel(0)

    def tell(self, line: int | None, message: str, fix: str, found: str = "") -> None:
        self.findings.add(self.place.problem(self.file, line, message, fix, found))

    def take(self, number: int, line: str) -> None:
        """One line between `\\data\\` and `\\end\\`."""
        section = _SECTION.fullmatch(line)
        if section:
            self.section = int(section[1])
            self.found.setdefault(self.section, 0)
        elif self.section:
            self.found[self.section] += 1
            self._take_ngram(number, line)
        elif count := _COUNT.fullmatch(line):
            self.sizes[int(count[1])] = int(count[2])
        else:
            self.tell(number, "this line is not a count of n-grams", "write ngram 1=1000", line)

    def _take_ngram(self, number: int, line: str) -> None:
        cells = line.split()
        words, backoff = cells[1 : self.section + 1], cells[self.section + 1 :]
        numbers = [_number(cell) for cell in (cells[0], *backoff)]
        if len(words) < self.section or len(backoff) > 1 or any(map(math.isnan, numbers)):
            fix = f"write a log-probability, {self.section} words, and perhaps a backoff weight"
            self.tell(number, f"this line is not a {self.section}-gram", fix, line)
        elif numbers[0] > ABOVE_ZERO:
            self.tell(number, "no probability is more than 1", "write its logarithm to base 10, at most 0", cells[0])
        else:
            name = " ".join(words)
            if name in self.model.probabilities:
                self.tell(number, f"the n-gram {name!r} appears twice", "keep one of its lines", name)
            self.model.probabilities[name] = min(numbers[0], 0.0)
            if len(numbers) > 1 and numbers[1]:
                self.model.backoffs[name] = numbers[1]

    def check(self, *, ended: bool) -> None:
        """What only the whole file can tell: cut off, sections missing, no words to begin and end with."""
        if not ended:
            self.tell(None, "there is no \\end\\: the file is truncated", "copy the whole model")
        if not self.sizes or sorted(self.sizes) != list(range(1, len(self.sizes) + 1)) or len(self.sizes) > MOST_ORDER:
            fix = f"list ngram 1=…, ngram 2=… up to the order of the model, at most {MOST_ORDER}"
            self.tell(None, "counts of n-grams are missing or not 1, 2, 3, …", fix)
        for order, size in self.sizes.items():
            if ended and self.found.get(order, 0) != size:
                message = f"{self.found.get(order, 0)} {order}-grams, and {size} are announced"
                self.tell(None, message, "copy the whole model, or correct the count under \\data\\")
        if self.sizes and ended and END not in self.model.probabilities:
            self.tell(None, f"the model knows no end of a sentence, {END}", f"train it with {START} and {END}")


def read_arpa(data: bytes, file: str, place: Place, findings: Findings) -> ArpaModel | None:
    """The model in an ARPA file; None with problems where it is none, or not whole."""
    before = findings.total
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        findings.add(place.problem(file, line, "invalid UTF-8", "save the model as UTF-8"))
        return None
    reader, ended = _Reader(file, place, findings), False
    for number, row in _body(text):
        ended = row == "\\end\\"
        if ended:
            break
        reader.take(number, row)
    reader.check(ended=ended)
    if findings.total > before:
        return None
    return ArpaModel(len(reader.sizes), reader.model.probabilities, reader.model.backoffs)


def _body(text: str) -> Iterator[tuple[int, str]]:
    """The lines behind `\\data\\` that hold something; only line feeds end a line, for words may hold other marks."""
    begun = False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip(" \t\r")
        if begun and line:
            yield number, line
        begun = begun or line == "\\data\\"


def _number(cell: str) -> float:
    """A logarithm: finite, or minus infinity for a probability of 0; nan for anything else."""
    try:
        found = float(cell)
    except ValueError:
        return math.nan
    return math.nan if found == math.inf else found
