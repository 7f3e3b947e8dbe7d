"""Query packs: a table of queries with their domains, or lines of the full form `string:Domain-Name` (M37, C38).

A folder holds `query_list.tsv` (a header; id, string, domain code) and may hold `domain_map.tsv` (code, name). A single
file is such a list, or has a query of the full form on each line, with its id and a tab before it or without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.formats.bounded import check_regular
from basanite.formats.factors import FactorTable
from basanite.formats.packs.domains import Catalogue, shipped_domains
from basanite.formats.queries.pack_domains import PackDomains, read_domain_map
from basanite.formats.queries.pack_lines import IDENTIFIER, Line, PackFile, read_lines
from basanite.formats.queries.query_language import Query, QueryFault, parse
from basanite.problems import Findings, shortened

QUERY_LIST: Final = "query_list.tsv"
DOMAIN_MAP: Final = "domain_map.tsv"
LIST_HEADER: Final = ("query_id", "query_string", "domain_id")
FIRST_COLUMN: Final = {"query_id", "queryid", "query", "id"}
MAP_HEADER: Final = ("domain_id", "domain_name")
FACTORS: Final = ("kind", "subtype", "domain", "words", "pack")


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
    queries = reader.table(lines) if is_table else reader.full_forms(lines)
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

    def full_forms(self, lines: Iterable[Line]) -> list[PackedQuery]:
        """Lines of the form `string:Domain-Name`, with or without an id before it."""
        return [query for line in lines if (query := self._full_form(line))]

    def _row(self, line: Line) -> PackedQuery | None:
        if len(line.fields) != len(LIST_HEADER):
            message = f"{len(line.fields)} fields where {len(LIST_HEADER)} are wanted: {' TAB '.join(LIST_HEADER)}"
            self.file.report(line, None, message, "put one tab between the fields and none elsewhere")
            return None
        name, string, code = line.fields
        query = self._query(line, 2, string)
        known = self._code(line, code)
        if not self._usable_id(line, name) or query is None or not known:
            return None
        return self._packed(line, PackedQuery(name, query, code, self.domains.names[code]))

    def _full_form(self, line: Line) -> PackedQuery | None:
        *ids, full = line.fields
        if len(ids) > 1:
            message = f"{len(line.fields)} fields where one or two are wanted"
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
        return self._packed(line, PackedQuery(identifier, query, code, name))

    def _query(self, line: Line, field: int, string: str) -> Query | None:
        query = parse(string)
        if isinstance(query, QueryFault):
            self.file.report_query(line, field, string, query)
            return None
        return query

    def _code(self, line: Line, code: str) -> bool:
        if code in self.domains.names:
            return True
        message = f"no domain has the code {shortened(code)!r}"
        self.file.report(line, 3, message, self.domains.cure_for_code(code), rule="M38")
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
            message = f"the id {shortened(name)!r} stands on line {first} already"
            self.file.report(line, 1, message, "give each query its own id")
        return first == line.number

    def _packed(self, line: Line, query: PackedQuery) -> PackedQuery:
        """The query, with a warning if the same one has another id already."""
        first = self._full.setdefault(query.full, line.number)
        if first != line.number:
            message = f"the same query in the same domain stands on line {first} already"
            self.file.report(line, None, message, "keep one of them", severity="warn")
        return query
