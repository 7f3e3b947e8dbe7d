"""Query packs: a table of queries with their domains, or lines of the full form `string:Domain-Name` (M37, C38).

A folder holds `query_list.tsv` (a header; id, string, domain code) and may hold `domain_map.tsv` (code, name), which
then counts in place of the catalogue of domains (M38). A single file is such a list, or has a query of the full form on
each line, with its id and a tab before it or without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import check_regular
from basanite.formats.datasets.domains import CODE, Catalogue, name_fix, shipped_domains
from basanite.formats.factors import FactorTable
from basanite.formats.retrieval.query_faults import QueryFault, caret
from basanite.formats.retrieval.query_language import Query, parse
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""What can name a file on every system (M25)."""
LARGEST: Final = 64 * 2**20
_SAVE: Final = "save the file as UTF-8, with line feeds only and without a byte order mark"
QUERY_LIST: Final = "query_list.tsv"
DOMAIN_MAP: Final = "domain_map.tsv"
LIST_HEADER: Final = ("query_id", "query_string", "domain_id")
FIRST_COLUMN: Final = {"query_id", "queryid", "query", "id"}
FACTORS: Final = ("kind", "subtype", "domain", "words", "pack")


@dataclass(frozen=True, slots=True)
class QueryProblem(Problem):
    """A problem of a query string, with a picture: the string, and a caret below the place where it goes wrong."""

    picture: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` lists; the picture is two lines."""
        return {**Problem.as_dict(self), "picture": self.picture}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number and its fields."""

    number: int
    text: str

    @property
    def fields(self) -> list[str]:
        """What stands between tabs; at least one."""
        return self.text.split("\t")

    def column(self, field: int) -> int:
        """The column at which a field begins, both from 1."""
        return sum(len(text) + 1 for text in self.fields[: field - 1]) + 1


@dataclass(frozen=True)
class PackFile:
    """A file of a pack while it is read, and where its problems go."""

    name: str
    findings: Findings

    def report(self, line: Line, field: int | None, message: str, fix: str, *, at: int = 0, rule: str = "M37") -> None:
        """Reject a line, or a field from its character `at` (from 0) on."""
        column = None if field is None else line.column(field) + at
        found = shortened(line.text if field is None else line.fields[field - 1])
        self.findings.add(Problem(rule, self.name, line.number, field, message, fix, found, column, where="metadata"))

    def warn(self, line: Line, field: int | None, message: str, fix: str, *, rule: str = "M37") -> None:
        """Warn of a line or a field."""
        column = None if field is None else line.column(field)
        found = shortened(line.text if field is None else line.fields[field - 1])
        problem = Problem(rule, self.name, line.number, field, message, fix, found, column, "warn", "metadata")
        self.findings.add(problem)

    def report_query(self, line: Line, field: int, string: str, fault: QueryFault) -> None:
        """Add a problem of a query string, with its picture (M37)."""
        column = line.column(field) + fault.column - 1
        picture = caret(string, fault.column)
        self.findings.add(
            QueryProblem(
                rule="M37",
                file=self.name,
                line=line.number,
                field=field,
                message=fault.message,
                fix=fault.fix,
                found=shortened(string),
                column=column,
                where="metadata",
                picture=picture,
            )
        )


def read_lines(path: Path, findings: Findings) -> list[Line] | None:
    """The lines of a file that is not empty; what concerns all of them is reported (M21, M22, M23)."""
    file = PackFile(path.name, findings)
    text = _decode(_content(path), file)
    if text is None:
        return None
    lines = [Line(number, part) for number, part in enumerate(_without_marks(text, file).split("\n"), start=1)]
    if lines[-1].text:
        fix = "end the last line with a line feed"
        file.warn(lines[-1], None, "the last line has no line feed", fix, rule="M23")
    else:
        lines.pop()
    for blank in [line for line in lines if not line.text]:
        file.report(blank, None, "blank line", "delete the line", rule="M23")
    written = [line for line in lines if line.text]
    if not written:
        file.report(Line(1, ""), None, "the file is empty", "write one line for each entry")
    return written or None


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise UnreadableError(f"{path} is larger than {LARGEST >> 20} MiB; is it part of a query pack?")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror}. Check the path and your permissions."
        ) from error


def _decode(content: bytes, file: PackFile) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        line = Line(number, content.split(b"\n")[number - 1].decode("utf-8", "backslashreplace"))
        file.report(line, None, "not UTF-8", _SAVE, rule="M21")
        return None


def _without_marks(text: str, file: PackFile) -> str:
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        file.report(Line(1, "byte order mark"), None, "the file has a byte order mark", _SAVE, rule="M22")
        text = text[1:]
    if "\r" in text:
        number = text.count("\n", 0, text.index("\r")) + 1
        file.report(Line(number, "carriage return"), None, "lines end with a carriage return", _SAVE, rule="M22")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


@dataclass(frozen=True)
class PackDomains:
    """The names of codes, and the codes of names, subdomains among them."""

    names: Mapping[str, str]
    codes: Mapping[str, str]

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
        file.report(line, None, f"{len(line.fields)} fields, but two are required: code TAB name", "write two fields")
        return None
    code, name = line.fields
    if not CODE.fullmatch(code):
        message = f"the code {shortened(code)!r} is not three capital letters"
        file.report(line, 1, message, "write a code like GOV", rule="M38")
    elif fix := name_fix(name):
        file.report(line, 2, f"{shortened(name)!r} is not a name of a domain", fix, rule="M38")
    elif code in names or name in names.values():
        message = f"{shortened(code)} or {shortened(name)} already appears on an earlier line"
        file.report(line, None, message, "give each code one name, and each name one code", rule="M38")
    else:
        return code, name
    return None


def _warn_of_difference(line: Line, code: str, name: str, catalogue: Catalogue, file: PackFile) -> None:
    """The pack's own map is right for the pack, but somebody should know that it differs."""
    usual = catalogue.names.get(code, name)
    if usual != name:
        message = f"{code} is {usual} in the catalogue, not {shortened(name)}"
        file.warn(line, 2, message, "correct the map, or give a catalog of your own", rule="M38")


@dataclass(frozen=True, slots=True)
class PackedQuery:
    """A query with its id and its domain."""

    id: str
    query: Query
    domain: str
    """The code (C14)."""
    domain_name: str
    """The name of the domain, or of the subdomain that was asked for."""

    @property
    def string(self) -> str:
        """The query string."""
        return str(self.query)

    @property
    def full(self) -> str:
        """The full form, with the name of the domain after the last colon (M37)."""
        return f"{self.query}:{self.domain_name}"

    def levels(self) -> dict[str, str]:
        """What breakdowns need to know about this query (M39, M73)."""
        return {
            "kind": self.query.kind,
            "subtype": self.query.subtype,
            "domain": self.domain,
            "words": str(len(self.query.words)),
        }


@dataclass(frozen=True)
class QueryPack:
    """The queries of a pack in their order, and the names of its domains."""

    name: str
    queries: tuple[PackedQuery, ...]
    domains: Mapping[str, str]
    """The name of each code."""

    def factors(self) -> FactorTable:
        """Kind, subtype, domain, number of words and pack of each query, as a table for breakdowns (M39, M73)."""
        levels = {query.id: {**query.levels(), "pack": self.name} for query in self.queries}
        by_factor = {factor: {name: known[factor] for name, known in levels.items()} for factor in FACTORS}
        return FactorTable("query", self.name, by_factor)


def read_query_pack(path: Path, findings: Findings, domains: Catalogue | None = None) -> QueryPack | None:
    """Read a pack; its problems carry file, line and column, and the queries without any are given."""
    catalogue = domains or shipped_domains()
    listed = path / QUERY_LIST if path.is_dir() else path
    check_regular(listed)
    lines = read_lines(listed, findings)
    if lines is None:
        return None
    known = _known_domains(path, catalogue, findings)
    reader = _Reader(PackFile(listed.name, findings), known)
    is_table = listed.name == QUERY_LIST or lines[0].text.count("\t") == len(LIST_HEADER) - 1
    queries = reader.table(lines) if is_table else [query for line in lines if (query := reader.full_form(line))]
    return QueryPack(path.stem if path.is_file() else path.resolve().name, tuple(queries), known.names)


def _known_domains(path: Path, catalogue: Catalogue, findings: Findings) -> PackDomains:
    """The pack's own map where it has one, or the catalogue."""
    domain_map = path / DOMAIN_MAP
    if path.is_dir() and domain_map.exists():
        check_regular(domain_map)
        return read_domain_map(domain_map, catalogue, findings)
    return PackDomains(catalogue.names, catalogue.codes)


class _Reader:
    """Reads the lines of one list; remembers ids and queries to find what stands there twice."""

    def __init__(self, file: PackFile, domains: PackDomains) -> None:
        self.file = file
        self.domains = domains
        self._ids: dict[str, int] = {}
        self._full: dict[str, int] = {}

    def table(self, lines: Iterable[Line]) -> list[PackedQuery]:
        """Lines of id, string and code, below a header."""
        first, *rest = lines
        if first.fields[0].lower() not in FIRST_COLUMN:
            self.file.report(first, 1, "the header is missing", f"write {' TAB '.join(LIST_HEADER)} above the queries")
            rest = [first, *rest]
        return [query for line in rest if (query := self._row(line))]

    def _row(self, line: Line) -> PackedQuery | None:
        if len(line.fields) != len(LIST_HEADER):
            message = f"{len(line.fields)} fields, but {len(LIST_HEADER)} are required: {' TAB '.join(LIST_HEADER)}"
            self.file.report(line, None, message, "separate fields by one tab each, without other tabs")
            return None
        name, string, code = line.fields
        query = self._query(line, 2, string)
        known = self._code(line, code)
        if not self._usable_id(line, name) or query is None or not known:
            return None
        return self._warn_of_repeat(line, PackedQuery(name, query, code, self.domains.names[code]))

    def full_form(self, line: Line) -> PackedQuery | None:
        *ids, full = line.fields
        if len(ids) > 1:
            message = f"{len(line.fields)} fields, but one or two are required"
            self.file.report(line, None, message, "write string:Domain-Name, or an id, a tab and that")
            return None
        string, colon, name = full.rpartition(":")  # hints have colons too: the last one separates (C38)
        field = len(ids) + 1
        if not colon or "]" in name:
            message = "no domain follows the query"
            self.file.report(line, field, message, "write a colon and the name of the domain", at=len(full))
            return None
        query = self._query(line, field, string)
        code = self._name(line, field, len(string) + 1, name)
        identifier = ids[0] if ids else f"query{line.number:05d}"
        if not self._usable_id(line, identifier) or query is None or not code:
            return None
        return self._warn_of_repeat(line, PackedQuery(identifier, query, code, name))

    def _query(self, line: Line, field: int, string: str) -> Query | None:
        query = parse(string)
        if isinstance(query, QueryFault):
            self.file.report_query(line, field, string, query)
            return None
        return query

    def _code(self, line: Line, code: str) -> bool:
        if code in self.domains.names:
            return True
        fix = suggestion(code.strip().upper(), tuple(self.domains.names))
        if code.strip() in self.domains.codes:  # it is a name (C14)
            fix = f"this column has codes: write {self.domains.codes[code.strip()]}"
        self.file.report(line, 3, f"no domain has the code {shortened(code)!r}", fix, rule="M38")
        return False

    def _name(self, line: Line, field: int, at: int, name: str) -> str:
        code = self.domains.codes.get(name, "")
        if not code:
            message = f"no domain has the name {shortened(name)!r}"
            rule = "M38" if name == name.strip() else "M37"
            self.file.report(line, field, message, self.domains.cure_for_name(name), at=at, rule=rule)
        return code

    def _usable_id(self, line: Line, name: str) -> bool:
        """Whether the id can name a file and stands here for the first time."""
        if not IDENTIFIER.fullmatch(name):
            fix = "use letters, digits, points, hyphens and underscores"
            self.file.report(line, 1, f"{shortened(name)!r} cannot be the id of a query", fix)
            return False
        first = self._ids.setdefault(name, line.number)
        if first != line.number:
            message = f"the id {shortened(name)!r} already appears on line {first}"
            self.file.report(line, 1, message, "give each query its own id")
        return first == line.number

    def _warn_of_repeat(self, line: Line, query: PackedQuery) -> PackedQuery:
        """The query, with a warning if the same one has another id already."""
        first = self._full.setdefault(query.full, line.number)
        if first != line.number:
            message = f"the same query in the same domain already appears on line {first}"
            self.file.warn(line, None, message, "keep one of them")
        return query
