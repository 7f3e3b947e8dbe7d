"""TOML files that people write: how deep they nest, where each entry stands, and tables that report what is wrong.

The reader of TOML tells values but no lines, so they are looked up here. A look at headers and keys is enough for the
files people write; what stands inside a table in braces is found at the line where that table begins.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem, Severity, Where, shortened
from basanite.registry import suggestion

Made = TypeVar("Made")
DEEPEST: Final = 64
_TEXT: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""' r"|'''.*?'''" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*", re.DOTALL
)
_DOTTED: Final = re.compile(r"(?:[\w-]+\s*\.\s*){64}")


def too_deep(text: str) -> bool:
    """Whether lists, braces or dotted names nest deeper than any file of ours does.

    >>> too_deep("a = [[1]]"), too_deep("a = " + "[" * 65 + "]" * 65)
    (False, True)
    """
    bare = _TEXT.sub("t", text)
    depth = 0
    for char in re.findall(r"[\[\]{}]", bare):
        depth = depth + 1 if char in "[{" else max(depth - 1, 0)
        if depth > DEEPEST:
            return True
    return bool(_DOTTED.search(bare))


EntryPath: TypeAlias = tuple[str | int, ...]
_KEY: Final = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_HEADER: Final = re.compile(rf"\s*(\[\[?)\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_ENTRY: Final = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=(.*)")
_PART: Final = re.compile(_KEY)
_LONG_TEXT: Final = re.compile(r'"""|\'\'\'')


def entry_lines(text: str) -> dict[EntryPath, int]:
    """The line of every table and key by its path; tables of an array are numbered from 0.

    >>> entry_lines('a = 1\\n[[teams]]\\nletter = "x"\\n')
    {('a',): 1, ('teams', 0): 2, ('teams', 0, 'letter'): 3}
    """
    found: dict[EntryPath, int] = {}
    arrays = Counter[EntryPath]()
    table: EntryPath = ()
    for number, line in _outside_texts(text):
        header, entry = _HEADER.match(line), _ENTRY.match(line)
        if header:
            table = _table_path(_parts(header[2]), header[1] == "[[", arrays)
            found.setdefault(table, number)
        elif entry:
            found.setdefault((*table, *_parts(entry[1])), number)
    return found


def line_of(lines: Mapping[EntryPath, int], path: EntryPath) -> int | None:
    """The line of an entry, or else of the nearest table around it."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), None)


def _table_path(parts: EntryPath, is_array: bool, arrays: Counter[EntryPath]) -> EntryPath:
    """The path that a header opens, with the number of each array's table on the way."""
    path: EntryPath = ()
    for at, part in enumerate(parts):
        path = (*path, part)
        if is_array and at == len(parts) - 1:
            arrays[path] += 1
        if arrays[path]:
            path = (*path, arrays[path] - 1)
    return path


def _parts(dotted: str) -> EntryPath:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _outside_texts(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not inside a text of several lines."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            yield number, line
        inside ^= len(_LONG_TEXT.findall(line)) % 2 == 1


@dataclass(frozen=True)
class Table:
    """One table of a file: its values, where it stands, and where its problems go."""

    rule: ClassVar[str] = "X-8"
    whole_file: ClassVar[str] = "the file"
    """What messages call the table that holds all others."""
    first_line: ClassVar[int | None] = None
    """Where a problem stands that has no line of its own."""
    most_tables: ClassVar[int | None] = None
    """How many tables an array may have."""
    where: ClassVar[Where] = "metadata"
    """The kind of file, as problems name it."""
    entry_form: ClassVar[str] = "{key} = {value}"
    """How the language of the file writes an entry; below, how it writes a table and a list of tables."""
    table_form: ClassVar[str] = "write [{key}] above its keys"
    tables_form: ClassVar[str] = "write [[{key}]] above the keys of each"

    values: Mapping[str, Any]
    path: EntryPath
    file: str
    lines: Mapping[EntryPath, int]
    findings: Findings = field(default_factory=Findings)

    @property
    def place(self) -> str:
        """The table in words: an entry of an array by its id, since that is how its writer knows it."""
        return ".".join(str(part + 1 if isinstance(part, int) else part) for part in self.path) or self.whole_file

    def add(
        self,
        message: str,
        fix: str,
        *,
        key: str | EntryPath = (),
        found: Any = "",
        rule: str = "",
        severity: Severity = "reject",
    ) -> None:
        """Report a problem of this table, of one of its keys, or of something further inside."""
        inside = key if isinstance(key, tuple) else (key,) if key else ()
        line = line_of(self.lines, (*self.path, *inside)) or self.first_line
        text = shortened(found if isinstance(found, str) else repr(found))
        problem = Problem(
            rule or self.rule, self.file, line, None, message, fix, text, severity=severity, where=self.where
        )
        self.findings.add(problem)

    def check_keys(self, keys: Collection[str]) -> None:
        """Report keys that nobody reads, since they are mostly misspelt ones."""
        for key in self.values:
            if key not in keys:
                self.add(f"{self.place} has an unknown key `{key}`", suggestion(key, tuple(keys)), key=key, found=key)

    def table(self, key: str, *, needed: bool = True) -> Self:
        """A table inside this one; an empty one, with a problem, if it is something else."""
        value = self.values.get(key, {})
        if not isinstance(value, Mapping) or (needed and not value):
            self.add(f"{self.place} has no table `{key}`", self.table_form.replace("{key}", key), key=key, found=value)
            value = {}
        return replace(self, values=value, path=(*self.path, key))

    def tables(self, key: str) -> list[Self]:
        """The tables of an array of tables."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            self.add(f"`{key}` is not a list of tables", self.tables_form.replace("{key}", key), key=key, found=value)
            return []
        if self.most_tables is not None and len(value) > self.most_tables:
            fix = f"at most {self.most_tables} are read"
            self.add(f"{len(value)} entries in `{key}` of {self.place}", fix, key=key)
        return [
            replace(self, values=entry, path=(*self.path, key, at))
            for at, entry in enumerate(value[: self.most_tables])
        ]


LARGEST: Final = 4 * 2**20
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class TomlReport:
    """What is wrong with one file, under one rule unless another is named."""

    file: str
    rule: str
    findings: Findings

    def add(self, message: str, fix: str, *, found: str = "", rule: str = "") -> None:
        """Add a problem of an entry; TOML readers do not tell lines, so the message names the entry."""
        problem = Problem(rule or self.rule, self.file, None, None, message, fix, shortened(found), where="metadata")
        self.findings.add(problem)

    def tables(self, document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The tables of an array, each with words for its place."""
        entries = document.get(key, [])
        for number, entry in enumerate(entries if isinstance(entries, list) else [entries], start=1):
            if isinstance(entry, Mapping):
                yield f"{key} {number}", entry
            else:
                self.add(f"{key} {number} is not a table", f"write [[{key}]] above its keys", found=repr(entry))

    def table(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """One table of the document; an empty one if it has none."""
        value = document.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.add(f"{key} is not a table", f"write [{key}] above its keys", found=repr(value))
        return {}

    def text(self, entry: Mapping[str, Any], key: str, place: str, *, needed: bool = True) -> str:
        """A text of an entry; "" with a problem if it is missing or something else."""
        value = entry.get(key, "")
        if isinstance(value, str) and (value.strip() or not needed):
            return value
        self.add(f"{place} has no text `{key}`", f'write {key} = "…"', found=repr(value))
        return ""

    def texts(self, entry: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
        """A list of texts; none with a problem if it is something else."""
        value = entry.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.add(f"`{key}` of {place} is not a list of texts", f'write {key} = ["…", "…"]', found=repr(value))
        return ()

    def unknown_keys(self, entry: Mapping[str, Any], known: Set[str], place: str) -> None:
        """Report keys that nobody reads, since they are mostly misspelt ones."""
        for key in sorted(entry.keys() - known):
            self.add(f"{place} has an unknown key `{key}`", suggestion(key, tuple(known)), found=key)


def read_toml(path: Path, kind: str, report: TomlReport) -> dict[str, Any] | None:
    """The document of a file that says `format = "basanite-KIND/1"`; nothing, with a problem, if it is none."""
    try:
        text = read_bounded(path, LARGEST).decode()
    except UnicodeDecodeError:
        report.add("the file is not UTF-8", "save it as UTF-8")
        return None
    return parse_toml(text, kind, report)


def read_checked_toml(
    path: Path, kind: str, rule: str, make: Callable[[Mapping[str, Any], TomlReport], Made], findings: Findings
) -> Made | None:
    """What a file says, made by a reader of its document; None where anything is wrong, which becomes problems."""
    found = Findings(limit=None)
    report = TomlReport(path.name, rule, found)
    document = read_toml(path, kind, report)
    made = None if document is None else make(document, report)
    findings.merge(found)
    return made if found.valid else None


def parse_toml(text: str, kind: str, report: TomlReport) -> dict[str, Any] | None:
    """The document of a text that says `format = "basanite-KIND/1"`; nothing, with a problem, if it is none."""
    if too_deep(text):
        report.add("tables or lists are nested too deep", "write plain tables", rule="X-8")
        return None
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        report.findings.add(_syntax_problem(report, str(error)))
        return None
    except (RecursionError, ValueError):  # nested too deep, or a number of thousands of digits
        report.add("not TOML that can be read: nested too deep, or a number too long", "write plain tables and texts")
        return None
    return document if _right_format(document.get("format"), kind, report) else None


def _right_format(found: Any, kind: str, report: TomlReport) -> bool:
    wanted = f"basanite-{kind}/1"
    if found == wanted:
        return True
    newer = isinstance(found, str) and re.fullmatch(rf"basanite-{kind}/[1-9][0-9]{{0,3}}", found)
    why, fix = (": it is of a newer version", "update Basanite, or") if newer else ("", "")
    message = f'the file does not say format = "{wanted}"{why}'
    report.add(message, f'{fix} write format = "{wanted}" first'.strip(), found=repr(found))
    return False


def _syntax_problem(report: TomlReport, message: str) -> Problem:
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place and place[1] else (None, None)
    words = f"not TOML: {_PLACE.sub('', message)}"
    return Problem(
        report.rule, report.file, line, None, words, "fix the syntax of this line", column=column, where="metadata"
    )
