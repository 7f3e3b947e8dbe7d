"""The domains that a query pack may name: those of its own map, or of the catalogue (M38)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from basanite.formats.packs.domains import CODE, Catalogue, name_fix
from basanite.formats.queries.pack_lines import Line, PackFile, read_lines
from basanite.problems import Findings, shortened
from basanite.registry import suggestion


@dataclass(frozen=True)
class PackDomains:
    """The names of codes, and the codes of names, subdomains among them."""

    names: Mapping[str, str]
    codes: Mapping[str, str]

    def cure_for_code(self, code: str) -> str:
        """What to write instead of an unknown code (C14)."""
        if code.strip() in self.codes:
            return f"this column has codes: write {self.codes[code.strip()]}"
        return suggestion(code.strip().upper(), tuple(self.names))

    def cure_for_name(self, name: str) -> str:
        """What to write instead of an unknown name (C14)."""
        if name.strip() in self.names:
            return f"query strings have names: write {self.names[name.strip()]}"
        near = {known.casefold(): known for known in self.codes}
        spelt = name.strip().casefold().replace(" ", "-")
        return f"write {near[spelt]}" if spelt in near else suggestion(name, tuple(self.codes))


def read_domain_map(path: Path, catalogue: Catalogue, findings: Findings) -> PackDomains:
    """Read a pack's own map of codes and names; a header is passed over."""
    file = PackFile(path.name, findings)
    lines = read_lines(path, findings) or []
    headed = bool(lines) and not CODE.fullmatch(lines[0].fields[0])
    names: dict[str, str] = {}
    for line in lines[headed:]:
        if entry := _entry(line, names, file):
            names[entry[0]] = entry[1]
            _warn_of_difference(line, *entry, catalogue, file)
    subdomains = {name: code for name, code in catalogue.codes.items() if code in names}
    return PackDomains(names, {**subdomains, **{name: code for code, name in names.items()}})


def _entry(line: Line, names: Mapping[str, str], file: PackFile) -> tuple[str, str] | None:
    """The code and the name of a line, if both are well formed and new: they map one to one (M38)."""
    if len(line.fields) != 2:
        file.report(line, None, f"{len(line.fields)} fields where two are wanted: code TAB name", "write two fields")
        return None
    code, name = line.fields
    if not CODE.fullmatch(code):
        message = f"the code {shortened(code)!r} is not three capital letters"
        file.report(line, 1, message, "write a code like GOV", rule="M38")
    elif fix := name_fix(name):
        file.report(line, 2, f"{shortened(name)!r} is no name of a domain", fix, rule="M38")
    elif code in names or name in names.values():
        message = f"{shortened(code)} or {shortened(name)} stands on an earlier line already"
        file.report(line, None, message, "give each code one name, and each name one code", rule="M38")
    else:
        return code, name
    return None


def _warn_of_difference(line: Line, code: str, name: str, catalogue: Catalogue, file: PackFile) -> None:
    """The pack's own map is right for the pack, but somebody should know that it differs."""
    usual = catalogue.names.get(code, name)
    if usual != name:
        message = f"{code} is {usual} in the catalogue, not {shortened(name)}"
        file.report(line, 2, message, "mend the map, or bring a catalogue of your own", rule="M38", severity="warn")
