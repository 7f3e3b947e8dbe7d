"""The catalogue of domains: codes, names, what belongs to each, and which languages have them at which stage.

One is shipped as data beside this file; evaluations with other domains bring a file of their own (M87).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from basanite.errors import UnknownNameError
from basanite.formats.toml_file import TomlReport, read_checked_toml
from basanite.problems import Findings
from basanite.registry import suggestion

SHIPPED: Final = Path(__file__).with_name("domains.toml")
CODE: Final = re.compile(r"[A-Z]{3}")
NAME: Final = re.compile(r"[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)*")
"""Words with capital initials, joined by hyphens (M38)."""

_DOCUMENT_KEYS: Final = {"format", "domain", "stages"}
_DOMAIN_KEYS: Final = {"code", "name", "definition", "in_scope", "out_of_scope", "notes", "subdomains"}

Stages: TypeAlias = Mapping[str, Mapping[str, frozenset[str]]]
"""By language, then by stage: the codes of the domains that were made known there."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A broad subject: its code for file names, its name for query strings, and what belongs to it."""

    code: str
    name: str
    definition: str
    in_scope: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What annotators found out."""
    subdomains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Catalogue:
    """All domains of an evaluation; codes and names map one to one (M38)."""

    domains: Mapping[str, Domain]
    """By code."""
    stages: Stages

    @property
    def names(self) -> dict[str, str]:
        """The name of each code."""
        return {code: domain.name for code, domain in self.domains.items()}

    @property
    def codes(self) -> dict[str, str]:
        """The code of each name; a subdomain has the code of its domain."""
        whole = {domain.name: code for code, domain in self.domains.items()}
        return {name: code for code, domain in self.domains.items() for name in domain.subdomains} | whole

    def domain(self, code: str) -> Domain:
        """The domain of a code; an unknown code is answered with the nearest."""
        if code not in self.domains:
            raise UnknownNameError(f"No domain has the code {code!r}. {suggestion(code, tuple(self.domains))}")
        return self.domains[code]

    def domains_of(self, language: str, stages: Iterable[str] | None = None) -> frozenset[str]:
        """The codes of a language, of all its stages or of some; their order means nothing (M75, C15).

        >>> sorted(shipped_domains().domains_of("1S", "XY"))
        ['BUS', 'GOV', 'LAW', 'MIL']
        """
        of_language = _looked_up(self.stages, language, "language")
        wanted = of_language if stages is None else stages
        return frozenset().union(*(_looked_up(of_language, stage, "stage") for stage in wanted))


@cache
def shipped_domains() -> Catalogue:
    """The catalogue that comes with Basanite: the eight domains of the MATERIAL plan."""
    catalogue = load_domains(SHIPPED, Findings())
    assert catalogue is not None  # our own file, and a test reads it
    return catalogue


def load_domains(path: Path, findings: Findings) -> Catalogue | None:
    """Read a catalogue; whatever is wrong with it becomes problems, and then there is none (M38, M75, M87)."""
    return read_checked_toml(path, "domains", "M87", _catalogue, findings)


def _catalogue(document: Mapping[str, Any], report: TomlReport) -> Catalogue:
    report.unknown_keys(document, _DOCUMENT_KEYS, "the file")
    domains = [_domain(entry, place, report) for place, entry in report.tables(document, "domain")]
    if not domains:
        report.add("the file names no domain", "write one [[domain]] for each")
    _report_repeats(domains, report)
    by_code = {domain.code: domain for domain in domains}
    stages = _stages(report.table(document, "stages"), by_code, report)
    return Catalogue(MappingProxyType(by_code), MappingProxyType(stages))


def _domain(entry: Mapping[str, Any], place: str, report: TomlReport) -> Domain:
    report.unknown_keys(entry, _DOMAIN_KEYS, place)
    texts = {key: report.texts(entry, key, place) for key in ("in_scope", "out_of_scope", "notes", "subdomains")}
    code, name, definition = (report.text(entry, key, place) for key in ("code", "name", "definition"))
    if code and not CODE.fullmatch(code):
        report.add(f"the code of {place} is not three capital letters", "write a code like GOV", found=code, rule="M38")
    for words in filter(None, (name, *texts["subdomains"])):
        if fix := name_fix(words):
            report.add(f"{words!r} in {place} is not a name of a domain", fix, found=words, rule="M38")
    return Domain(code, name, definition, **texts)


def name_fix(name: str) -> str:
    """What to write instead of a name that is not of the right form; nothing if it is (M38).

    >>> name_fix("law and order")
    'write Law-And-Order'
    """
    if NAME.fullmatch(name):
        return ""
    fixed = "-".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z]+", name))
    return f"write {fixed}" if fixed else "write words with capital initials, joined by hyphens"


def _report_repeats(domains: Iterable[Domain], report: TomlReport) -> None:
    """Codes and names map one to one (M38)."""
    codes = Counter(domain.code for domain in domains if domain.code)
    names = Counter(name for domain in domains for name in (domain.name, *domain.subdomains) if name)
    for what, counts in (("code", codes), ("name", names)):
        for text in [text for text, times in counts.items() if times > 1]:
            fix = f"give each domain its own {what}"
            report.add(f"the {what} {text!r} stands for several domains", fix, found=text, rule="M38")


def _stages(
    table: Mapping[str, Any], known: Mapping[str, Domain], report: TomlReport
) -> dict[str, Mapping[str, frozenset[str]]]:
    return {
        language: MappingProxyType(
            {
                stage: _codes(stages, stage, f"stages.{language}", known, report)
                for stage in (report.table(table, language))
            }
        )
        for language, stages in table.items()
    }


def _codes(
    stages: Mapping[str, Any], stage: str, place: str, known: Mapping[str, Domain], report: TomlReport
) -> frozenset[str]:
    """The domains of one stage as a set (C15)."""
    codes = report.texts(stages, stage, place)
    for code in sorted(set(codes) - known.keys()):
        report.add(f"{place}.{stage} names {code!r}, which no domain has", suggestion(code, tuple(known)), rule="M75")
    return frozenset(codes)


def _looked_up(table: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in table:
        raise UnknownNameError(f"The catalogue knows no {what} {name!r}. {suggestion(name, tuple(table))}")
    return table[name]
