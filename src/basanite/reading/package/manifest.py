"""`package.toml`: what a reading package is called, which parts and phases it has, and how its names are shortened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import Section, WrongError, read_section
from basanite.formats.toml_file import LARGEST, Table, TomlReport, entry_lines, read_toml
from basanite.problems import Findings
from basanite.reading.patterns import Prefixes
from basanite.registry import suggestion

FILE: Final = "package.toml"
KIND: Final = "reading-package"
CAPABILITIES: Final = frozenset({"anaphora", "causal", "modal", "temporal", "spatial", "sentiment", "belief"})
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]{0,99}")
NAME_FIX: Final = "use letters, digits, '.', '_' and '-', and begin with a letter or digit"
_NAMESPACE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"{}|\\^`\x00-\x20]*[#/:]")
PREFIX_FIX: Final = 'write a full IRI that ends in #, / or :, such as "https://nfl.example/scoring#"'
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")


class ManifestTable(Table):
    """One table of `package.toml`."""

    rule: ClassVar[str] = "R-7"
    whole_file: ClassVar[str] = FILE

    def add(self, message: str, fix: str, **more: Any) -> None:
        """Report a problem; those of phases are a matter of R-24."""
        more.setdefault("rule", "R-24" if "phases" in self.path else "")
        super().add(message, fix, **more)


def _part_of_file_name(text: str) -> str:
    if text.strip() and not NAME.fullmatch(text):
        raise WrongError(f"the {{key}} {text[:60]!r} cannot be part of a file name", NAME_FIX, instead=text)
    return text


def _namespace(text: str) -> str:
    if text.strip() and not _NAMESPACE.fullmatch(text):
        raise WrongError("'{key}' is not a prefix with a namespace", PREFIX_FIX, instead=text)
    return text


def _closed_if_unreadable(value: Any) -> Any:
    if not isinstance(value, bool):
        raise WrongError("`sealed` of {place} is neither true nor false", "write sealed = true", instead=True)
    return value


def _distinct(value: Any) -> Any:
    return frozenset(value) if isinstance(value, tuple) and all(isinstance(one, str) for one in value) else value


Namespace: TypeAlias = Annotated[str, AfterValidator(_namespace)]
Capabilities: TypeAlias = Annotated[frozenset[str], BeforeValidator(_distinct)]


@dataclass(frozen=True)
class PartEntry(Section):
    """A part of the corpus."""

    may_be_empty: ClassVar[bool] = True

    sealed: Annotated[bool, BeforeValidator(_closed_if_unreadable)] = False
    """Whether nobody sees it before its evaluation; it never leaves in a release."""


@dataclass(frozen=True)
class Phase(Section):
    """What a phase of the programme asks for, and how much of it (R-24)."""

    name: str
    """What the phase is called."""
    target_ratio: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The ratio of machine to human F that is aimed at."""
    documents: Annotated[int, Field(ge=1)]
    """How many documents the corpus should have."""
    preparation_days: Annotated[int, Field(ge=1)]
    """How many days there are to prepare."""
    in_scope: Capabilities = frozenset()
    """The capabilities that are in scope."""


@dataclass(frozen=True)
class PackageFile(Section):
    """What `package.toml` may say."""

    name: Annotated[str, AfterValidator(_part_of_file_name)]
    """The name of the package, fit for files."""
    version: str
    """Its version."""
    title: str
    """The title that people see."""
    licence: str
    """The licence of what is in it: an SPDX name."""
    citation: str
    """Who made it, what it is called, when."""
    namespace: Namespace
    """Where names without a prefix live: a full IRI that ends in `#`, `/` or `:`."""
    parts: Mapping[str, PartEntry]
    """The parts of the corpus, `[parts.NAME]` each."""
    prefixes: Mapping[str, Namespace] = field(default_factory=dict)
    """Short names of other namespaces."""
    capabilities: Capabilities = frozenset()
    """Tags beyond the usual ones."""
    phases: tuple[Phase, ...] = ()
    """What each phase of the programme asks for."""

    def check(self, table: Table) -> Manifest:
        """The manifest, with everything that must fit together in it checked."""
        for name in table.table("prefixes", needed=False).values:
            if not _PREFIX.fullmatch(name):
                table.add(f"{name!r} is not a prefix with a namespace", PREFIX_FIX, key=("prefixes", name), found=name)
        for name in self.parts:
            if not NAME.fullmatch(name):
                message = f"the part {name[:60]!r} cannot be part of a file name"
                table.add(message, NAME_FIX, key=("parts", name), found=name)
        capabilities = CAPABILITIES | self.capabilities
        self._check_phases(table, capabilities)
        texts = {key: getattr(self, key) for key in ("name", "version", "title", "licence", "citation")}
        prefixes = Prefixes(self.namespace or "urn:unknown:", self.prefixes)
        unreadable = {name for name, entry in table.table("parts").values.items() if not isinstance(entry, Mapping)}
        parts = (
            Part(name, one.sealed or name in unreadable) for name, one in self.parts.items() if NAME.fullmatch(name)
        )
        return Manifest(**texts, prefixes=prefixes, parts=tuple(parts), phases=self.phases, capabilities=capabilities)

    def _check_phases(self, table: Table, capabilities: frozenset[str]) -> None:
        names = [phase.name for phase in self.phases]
        for at, (phase, entry) in enumerate(zip(self.phases, table.tables("phases"), strict=True)):
            if phase.name in names[:at]:
                entry.add(f"the phase {phase.name!r} appears twice", "rename one of them", key="name", found=phase.name)
            for tag in sorted(phase.in_scope - capabilities):
                fix = f"{suggestion(tag, sorted(capabilities))} Or add it to `capabilities`."
                entry.add(f"{entry.place} has the unknown capability {tag!r}", fix, key="in_scope", found=tag)


@dataclass(frozen=True)
class Part:
    """A part of the corpus; a sealed one is shown to nobody before its evaluation."""

    name: str
    sealed: bool = False


PartOrPhase = TypeVar("PartOrPhase", Part, Phase)


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
        return _named_one("part", name, self.parts)

    def phase(self, name: str) -> Phase:
        """The phase of this name; an unknown one is answered with the nearest."""
        return _named_one("phase", name, self.phases)


def _named_one(kind: str, name: str, known: tuple[PartOrPhase, ...]) -> PartOrPhase:
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise SettingError(f"The package has no {kind} {name!r}. {suggestion(name, [one.name for one in known])}")
    return found


def read_manifest(root: Path, findings: Findings) -> Manifest | None:
    """The manifest of a package; nothing if there is none to go on with."""
    document = read_toml(root / FILE, KIND, TomlReport(FILE, ManifestTable.rule, findings))
    if document is None:
        return None
    lines = entry_lines(read_bounded(root / FILE, LARGEST).decode())
    found = Findings(limit=None)
    manifest: Manifest = read_section(PackageFile, ManifestTable(document, (), FILE, lines, found))
    findings.extend(dict.fromkeys(found))  # tables are looked at twice
    return manifest
