"""TOML files of ours, shipped or edited by users: the `format` line, and problems where an entry is not as wanted."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.formats.bounded import read_bounded
from basanite.formats.toml.depth import too_deep
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

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
        report.rule, report.file, line, None, words, "mend the syntax of this line", column=column, where="metadata"
    )
