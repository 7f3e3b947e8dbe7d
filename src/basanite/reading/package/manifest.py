"""`package.toml`: what a reading package is called, which parts and phases it has, and how its names are shortened."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.formats.packs.toml_document import TomlReport, read_toml
from basanite.problems import Findings
from basanite.reading.patterns import Prefixes
from basanite.registry import suggestion

FILE: Final = "package.toml"
KIND: Final = "reading-package"
CAPABILITIES: Final = frozenset({"anaphora", "causal", "modal", "temporal", "spatial", "sentiment", "belief"})
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,99}")
_NAMESPACE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`\x00-\x20]*[#/:]")
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")
_KEYS: Final = {
    *("format", "name", "version", "title", "licence", "citation", "namespace"),
    *("capabilities", "prefixes", "parts", "phases"),
}
_PHASE_KEYS: Final = {"name", "in_scope", "target_ratio", "documents", "preparation_days"}


@dataclass(frozen=True)
class Part:
    """A part of the corpus; a sealed one is shown to nobody before its evaluation."""

    name: str
    sealed: bool = False


@dataclass(frozen=True)
class Phase:
    """What a phase of the programme asks for, and how much of it (R-24)."""

    name: str
    in_scope: frozenset[str]
    target_ratio: float
    documents: int
    preparation_days: int


@dataclass(frozen=True)
class Manifest:
    """Everything that `package.toml` says."""

    name: str
    version: str
    title: str
    licence: str
    citation: str
    prefixes: Prefixes
    parts: tuple[Part, ...] = ()
    phases: tuple[Phase, ...] = ()
    capabilities: frozenset[str] = field(default=CAPABILITIES)

    def part(self, name: str) -> Part:
        """The part of this name; an unknown one is answered with the nearest."""
        found = next((part for part in self.parts if part.name == name), None)
        if found is None:
            near = suggestion(name, [part.name for part in self.parts])
            raise SettingError(f"The package has no part {name!r}. {near}")
        return found

    def phase(self, name: str) -> Phase:
        """The phase of this name; an unknown one is answered with the nearest."""
        found = next((phase for phase in self.phases if phase.name == name), None)
        if found is None:
            near = suggestion(name, [phase.name for phase in self.phases])
            raise SettingError(f"The package has no phase {name!r}. {near}")
        return found


def read_manifest(root: Path, findings: Findings) -> Manifest | None:
    """The manifest of a package; nothing if there is none to go on with."""
    path = root / FILE
    report = TomlReport(FILE, "R-7", findings)
    document = read_toml(path, KIND, report)
    if document is None:
        return None
    report.unknown_keys(document, _KEYS, FILE)
    texts = {key: report.text(document, key, FILE) for key in ("name", "version", "title", "licence", "citation")}
    _check_name(report, "name", texts["name"])
    capabilities = CAPABILITIES | set(report.texts(document, "capabilities", FILE))
    return Manifest(
        **texts,
        prefixes=_prefixes(document, report),
        parts=tuple(_parts(document, report)),
        phases=tuple(_phases(document, capabilities, report)),
        capabilities=capabilities,
    )


def _check_name(report: TomlReport, what: str, name: str) -> None:
    if name and not NAME.fullmatch(name):
        fix = "use letters, digits, '.', '_' and '-', and begin with a letter or digit"
        report.add(f"the {what} {name[:60]!r} cannot be part of a file name", fix, found=name)


def _prefixes(document: Mapping[str, Any], report: TomlReport) -> Prefixes:
    namespace = report.text(document, "namespace", FILE)
    names = {"namespace": namespace, **report.table(document, "prefixes")}
    for name, iri in names.items():
        good = isinstance(iri, str) and _NAMESPACE.fullmatch(iri) and _PREFIX.fullmatch(name)
        if not good and (iri or name != "namespace"):
            fix = 'write a full IRI that ends in #, / or :, such as "https://nfl.example/scoring#"'
            report.add(f"{name!r} is no prefix with a namespace", fix, found=str(iri))
    own = {name: iri for name, iri in names.items() if name != "namespace" and isinstance(iri, str)}
    return Prefixes(namespace or "urn:unknown:", own)


def _parts(document: Mapping[str, Any], report: TomlReport) -> Iterator[Part]:
    parts = report.table(document, "parts")
    if not parts:
        report.add("the package has no parts", "write [parts.train] and [parts.test] with sealed = true")
    for name, entry in parts.items():
        _check_name(report, "part", name)
        sealed = entry.get("sealed", False) if isinstance(entry, Mapping) else None
        if not isinstance(sealed, bool):
            report.add(f"`sealed` of part {name} is neither true nor false", "write sealed = true", found=repr(sealed))
        elif isinstance(entry, Mapping):
            report.unknown_keys(entry, {"sealed"}, f"part {name}")
        if NAME.fullmatch(name):
            yield Part(name, sealed is not False)  # what cannot be read is kept closed


def _phases(document: Mapping[str, Any], capabilities: frozenset[str], report: TomlReport) -> Iterator[Phase]:
    taken: set[str] = set()
    for place, entry in report.tables(document, "phases"):
        report.unknown_keys(entry, _PHASE_KEYS, place)
        name = report.text(entry, "name", place)
        if name in taken:
            report.add(f"the phase {name!r} stands twice", "rename one of them", found=name, rule="R-24")
        taken.add(name)
        scope = frozenset(report.texts(entry, "in_scope", place))
        for tag in sorted(scope - capabilities):
            fix = f"{suggestion(tag, sorted(capabilities))} Or add it to `capabilities`."
            report.add(f"{place} has the unknown capability {tag!r}", fix, found=tag, rule="R-24")
        yield Phase(
            name,
            scope,
            _number(report, entry, "target_ratio", place),
            int(_number(report, entry, "documents", place)),
            int(_number(report, entry, "preparation_days", place)),
        )


def _number(report: TomlReport, entry: Mapping[str, Any], key: str, place: str) -> float:
    value, whole = entry.get(key), key != "target_ratio"
    if isinstance(value, int if whole else int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return value
    words = "whole number" if whole else "number"
    report.add(f"`{key}` of {place} is no {words} above 0", f"write {key} = 1", found=repr(value), rule="R-24")
    return 0
