"""Detection files, read exactly: every problem of a doubtful file, with its line, its field and its cure.

Submissions are long, and a bad one is often bad on every line. So lines are sorted into kinds of fault in bulk, what
follows an identifier is judged once for each distinct text, and a rule whose list is full is only counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from basanite.formats.retrieval.detection_files import SCALE, UNKNOWN, Answers, Documents, confidence_text
from basanite.problems import Findings, Problem, Severity, Where, shortened

MATERIAL_DOCUMENT = r"MATERIAL_[A-Za-z0-9]+-(?P<language>[A-Za-z0-9]+)_[0-9]{8}"
"""What a DocID looks like, as a regular expression (M33)."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CONFIDENCE = re.compile(rb"0\.[0-9]{1,5}|1\.0{1,5}")
DIGIT = re.compile(rb"[0-9]")
MISSING_NAMED = 20
TEXTS_REMEMBERED = 300_000
NAMES_REMEMBERED = 100_000
MORE_LINES, SPARE_LINES = 4, 10_000

_SAVE, _COPY_HINT = "save as UTF-8 with line feeds only", "`--fix OUT` writes such a copy"


@dataclass(frozen=True)
class Layout:
    """What the lines of a file must look like."""

    fields: int
    pattern: re.Pattern[str]
    """The shape of a document identifier (M33)."""
    where: Where = "submission"
    barred: frozenset[bytes] = frozenset()
    """Documents of the collection that this task leaves out; a line for one is worth a message of its own (M34)."""
    target: str = "query"
    """What files are named after, in words."""
    naming: str = "M25"
    """The rule about the names of files."""
    example: str = "query00043"

    @property
    def form(self) -> str:
        """The shape of an identifier in words where it has any, else as the expression it is."""
        known = self.pattern.pattern == MATERIAL_DOCUMENT
        return "MATERIAL_<period>-<language>_<8 digits>" if known else self.pattern.pattern

    @property
    def sketch(self) -> str:
        """The line as one would explain it to somebody."""
        return "DocID TAB Y|N TAB confidence" if self.fields == 3 else "DocID TAB Y|N"


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem that does not know its file and line yet."""

    rule: str
    field: int | None
    found: str
    message: str
    fix: str
    hint: str = ""


Explain: TypeAlias = Callable[[int], Fault]
Part: TypeAlias = tuple[bytes, bytes, bytes]
"""A line cut at its first tab: what stands before it, the tab if there is one, and the rest."""


Verdict: TypeAlias = int | tuple[str, ...]
"""What one text after an identifier means: twice the score, plus one if returned; or the rules that it breaks."""


class _Verdicts(dict[bytes, Verdict]):
    """The verdict on each distinct text after an identifier, made when first asked for."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout

    def __missing__(self, rest: bytes) -> Verdict:
        verdict = _judge(rest, self.layout)
        if len(self) < TEXTS_REMEMBERED:
            self[rest] = verdict
        return verdict


class _Strangers(dict[bytes, str]):
    """The rule that each name outside the document set breaks, found out when it is first met."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout

    def __missing__(self, name: bytes) -> str:
        shaped = self.layout.pattern.fullmatch(name.decode("utf-8", "replace"))
        rule = "M34" if name in self.layout.barred else "M26" if shaped else "M33"
        if len(self) < NAMES_REMEMBERED:
            self[name] = rule
        return rule


class LineReader:
    """Reads doubtful files of one submission or key; what it learns about one file speeds up the next."""

    def __init__(self, documents: Documents, layout: Layout) -> None:
        self.documents = documents
        self.layout = layout
        self._verdicts = _Verdicts(layout)
        self._strangers = _Strangers(layout)

    def read(self, data: bytes, name: str, findings: Findings) -> Answers | None:
        """Add all problems of one file; give its answers if none of them is a reason to reject."""
        sheet = _Sheet(name, self.layout, findings)
        if sheet.overfull(data, len(self.documents)):
            return None
        lines = sheet.lines(data)
        parts = [line.partition(b"\t") for line in lines]
        found = self.documents.position.get
        places = [found(name, UNKNOWN) for name, _, _ in parts]
        unreadable = self._report_unknown(sheet, parts, places)
        known = self._verdicts
        verdicts = [known[rest] for _, _, rest in parts]
        self._report_verdicts(sheet, lines, verdicts, unreadable)
        self._report_counts(sheet, np.array(places, dtype=np.int64))
        return None if sheet.spoilt else self._answers(places, verdicts)

    def _report_unknown(self, sheet: _Sheet, parts: Sequence[Part], places: Sequence[int]) -> set[int]:
        """Say why a line names no document of the set; give the lines whose other fields are not worth reading."""
        kinds: dict[str, list[int]] = {}
        strangers = self._strangers
        for at in [at for at, place in enumerate(places) if place == UNKNOWN]:
            name, tab, _ = parts[at]
            rule = strangers[name] if tab else "M21" if name else "M23"
            if at == 0 and tab and not DIGIT.search(name):
                rule = "M24"
            kinds.setdefault(rule, []).append(at)
        for rule, places_of_rule in kinds.items():
            sheet.report(rule, places_of_rule, lambda at, rule=rule: self._unknown_fault(rule, parts[at][0]))  # type: ignore[misc]
        return {at for rule in ("M21", "M23", "M24") for at in kinds.get(rule, ())}

    def _unknown_fault(self, rule: str, name: bytes) -> Fault:
        document = shortened(name)
        return {
            "M23": Fault(rule, None, "", "blank line", "delete the line"),
            "M21": Fault(
                rule,
                None,
                document,
                f"there is no tab here; a line is {self.layout.sketch}",
                "separate them by one tab",
            ),
            "M24": Fault(rule, 1, document, "no such document; this looks like a header", "delete the header line"),
            "M34": Fault(rule, 1, document, "CS documents are not part of this task", "delete the line"),
            "M33": Fault(
                rule, 1, document, f"not of the form {self.layout.form}", "write the DocID as the data set has it"
            ),
            "M26": Fault(rule, 1, document, "this document is not in the set", "delete the line, or correct the DocID"),
        }[rule]

    def _report_verdicts(
        self, sheet: _Sheet, lines: Sequence[bytes], verdicts: Sequence[Verdict], skipped: set[int]
    ) -> None:
        """Report what is wrong after the identifier (M27, M28, M29)."""
        broken: dict[str, list[int]] = {}
        faulty = [at for at, verdict in enumerate(verdicts) if verdict.__class__ is tuple]
        for at in faulty:
            verdict = verdicts[at]
            if isinstance(verdict, tuple) and at not in skipped:
                for rule in verdict:
                    broken.setdefault(rule, []).append(at)
        for rule in sorted(broken):
            sheet.report(rule, broken[rule], lambda at, rule=rule: _rest_fault(rule, lines[at], self.layout))  # type: ignore[misc]

    def _report_counts(self, sheet: _Sheet, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        """Report documents with more than one line, and those with none (M26)."""
        known = places[places != UNKNOWN]
        lines = np.bincount(known, minlength=len(self.documents))
        if (lines > 1).any():
            self._report_repeats(sheet, places)
        missing = np.flatnonzero(lines == 0)
        if len(missing):
            sheet.report_whole(self._missing(missing.tolist()))

    def _report_repeats(self, sheet: _Sheet, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        first: dict[int, int] = {}
        repeats = [at for at, place in enumerate(places.tolist()) if first.setdefault(place, at) != at]
        repeats = [at for at in repeats if places[at] != UNKNOWN]

        def explain(at: int) -> Fault:
            place = int(places[at])
            message = f"this document is on line {first[place] + 1} and again on line {at + 1}"
            name = shortened(self.documents.names[place])
            return Fault("M26", 1, name, message, "keep one line for each document")

        sheet.report("M26", repeats, explain)

    def _missing(self, missing: Sequence[int]) -> Fault:
        named = ", ".join(shortened(self.documents.names[place]) for place in missing[:MISSING_NAMED])
        more = " …" if len(missing) > MISSING_NAMED else ""
        message = f"lines are missing for {len(missing)} of {len(self.documents)} documents: {named}{more}"
        fix = "write one line for each document of the set"
        return Fault("M26", None, f"{len(missing)} missing", message, fix)

    def _answers(self, places: Sequence[int], verdicts: Sequence[Verdict]) -> Answers:
        packed = np.empty(len(self.documents), dtype=np.int32)
        packed[places] = verdicts
        return Answers((packed & 1).astype(bool), packed >> 1)


@dataclass
class _Sheet:
    """One file on its way through the reader, and what was found in it."""

    name: str
    layout: Layout
    findings: Findings
    spoilt: bool = False

    def report(self, rule: str, lines: Sequence[int], explain: Explain) -> None:
        """Add the problems of one rule on these lines (from 0); those beyond the rule's list are only counted."""
        self.spoilt = self.spoilt or bool(lines)
        shown = lines[: self.findings.room(rule)]
        self.findings.extend(self._problem(explain(at), at + 1) for at in shown)
        self.findings.count(rule, len(lines) - len(shown))

    def report_whole(self, fault: Fault, line: int | None = None) -> None:
        """Add a problem of the file as a whole."""
        self.spoilt = True
        self.findings.add(self._problem(fault, line))

    def lines(self, data: bytes) -> list[bytes]:
        """The lines of the file, after what concerns all of them has been reported (M21, M22, M23)."""
        lines = self._without_marks(data).split(b"\n")
        if lines[-1]:
            fix, hint = "end the last line with a line feed", "`--fix OUT` does it"
            fault = Fault("M23", None, shortened(lines[-1]), "the last line has no line feed", fix, hint)
            self.findings.add(self._problem(fault, len(lines), severity="warn"))
        else:
            lines.pop()
        self._report_encoding(data, lines)
        return lines

    def overfull(self, data: bytes, documents: int) -> bool:
        """Refuse a file with far more lines than documents unread: in memory a line costs much more than its bytes."""
        most, lines = most_lines(documents), data.count(b"\n") + data.count(b"\r")
        if lines > most:
            message = f"{lines:,} lines for {documents:,} documents"
            self.report_whole(Fault("M26", None, f"{lines} lines", message, "write one line for each document"))
        return lines > most

    def _without_marks(self, data: bytes) -> bytes:
        if data.startswith(BYTE_ORDER_MARK):
            data = data[len(BYTE_ORDER_MARK) :]
            mark = "byte order mark"
            self.report_whole(Fault("M22", None, mark, f"the file has a {mark}", _SAVE, _COPY_HINT), 1)
        if b"\r" in data:
            line = data.count(b"\n", 0, data.index(b"\r")) + 1
            fault = Fault("M22", None, "carriage return", "lines end with a carriage return", _SAVE, _COPY_HINT)
            self.report_whole(fault, line)
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _report_encoding(self, data: bytes, lines: Sequence[bytes]) -> None:
        if _is_utf8(data):
            return
        bad = [at for at, line in enumerate(lines) if not _is_utf8(line)]
        self.report("M21", bad, lambda at: Fault("M21", None, shortened(lines[at]), "not UTF-8", "save as UTF-8"))

    def _problem(self, fault: Fault, line: int | None, severity: Severity = "reject") -> Problem:
        return Problem(
            fault.rule,
            self.name,
            line,
            fault.field,
            fault.message,
            fault.fix,
            found=fault.found,
            severity=severity,
            where=self.layout.where,
            hint=fault.hint,
        )


def most_lines(documents: int) -> int:
    """How many lines a file may have before nobody reads it: some times as many as it should, and a few more."""
    return MORE_LINES * documents + SPARE_LINES


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _judge(rest: bytes, layout: Layout) -> Verdict:
    """What stands after the identifier: the decision and, where there should be one, the confidence."""
    cells = rest.split(b"\t")
    if len(cells) + 1 != layout.fields:
        return (_count_rule(layout),)
    broken = () if cells[0] in (b"Y", b"N") else ("M28",)
    if layout.fields == 3 and not CONFIDENCE.fullmatch(cells[1]):
        broken = (*broken, "M29")
    if broken:
        return broken
    score = round(float(cells[1]) * SCALE) if layout.fields == 3 else 0
    return 2 * score + (cells[0] == b"Y")


def _count_rule(layout: Layout) -> str:
    return "M27" if layout.fields == 3 else "M36"


def _rest_fault(rule: str, line: bytes, layout: Layout) -> Fault:
    """The words for a rule that the text after the identifier breaks."""
    cells = line.split(b"\t")
    if rule == _count_rule(layout):
        message = f"{len(cells)} fields, but {layout.fields} are required: {layout.sketch}"
        swapped = (len(cells), layout.where) in ((3, "reference"), (2, "submission"))
        hint = "or were --reference and --submission swapped" if swapped else ""
        return Fault(rule, None, shortened(line), message, f"write {layout.fields} fields, separated by one tab", hint)
    if rule == "M28":
        found = shortened(cells[1]) if cells[1:] else ""  # in a key, a line may be a DocID and nothing more
        return Fault(rule, 2, found, f"decision {found!r} is neither Y nor N", "write Y or N")
    found = shortened(cells[2])
    message = f"confidence {found!r} is not of the form 0.d to 0.ddddd or 1.0 to 1.00000"
    return Fault(rule, 3, found, message, _confidence_cure(cells[2]))


def _confidence_cure(cell: bytes) -> str:
    """The confidence that was probably meant, if it can be told."""
    try:
        number = float(cell)
    except ValueError:
        return "write 0.0 to 1.0 with 1 to 5 decimals"
    if not 0 <= number <= 1:
        return "confidences lie between 0.0 and 1.0"
    return f"write {confidence_text(round(number * SCALE))}"
