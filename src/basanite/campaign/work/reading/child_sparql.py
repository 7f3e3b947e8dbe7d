"""SPARQL in the child: a query is looked through first, and sees only what its caller may see (X-3)."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from basanite.campaign.work.reading.child import Desk, RefusalError, lay_gold, unpack_package
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.generate import ReadingTask, TaskSpec
from basanite.reading.gold.scope import versions
from basanite.reading.package.annotations import annotation_path
from basanite.reading.package.model import ONTOLOGY, Package
from basanite.reading.package.ndjson import LineFaults, records
from basanite.reading.prov_rdf import assertion_rows, document_node
from basanite.reading.rdf import Graphed, oxigraph, read_rdf, write_rdf
from basanite.reading.terms import TS, TYPE, Iri, Statement, integer, names
from basanite.reading.terms import Literal as Value

LONGEST: Final = 100_000
DEEPEST: Final = 64
REFUSED: Final = {
    "SERVICE": "query this store only",
    "FROM": "omit FROM: the store holds what you may see, and you can select parts of it by GRAPH",
    **dict.fromkeys(
        ("LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH", "USING"),
        "use SELECT, ASK, CONSTRUCT or DESCRIBE: this store is read-only",
    ),
}
"""Words that no query may hold; what to do instead."""
FORMS: Final = frozenset({"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"})

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|\#[^\n\r]*)
    |(?P<string>\"{3}(?:(?:"|"")?(?:[^"\\]|\\.))*"{3}|'{3}(?:(?:'|'')?(?:[^'\\]|\\.))*'{3}
        |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    |(?P<variable>[?$]\w+)
    |(?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<name>(?:[^\W\d_](?:[\w.\-]*[\w\-])?|_)?:(?:[\w:%\-.]|\\.)*)
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\[uU]")


def fault(query: str) -> tuple[str, str] | None:
    """What is wrong with a query and what to do; None if it only asks, and only this store.

    >>> fault("SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }")[0]
    'SERVICE is not allowed'
    >>> fault('SELECT ?service { ?service ex:from "LOAD" } # DROP ALL') is None
    True
    """
    if len(query) > LONGEST:
        return f"the query has {len(query)} characters", f"write at most {LONGEST}"
    if _ESCAPE.search(query):
        return "the query has escaped characters", "write the characters themselves"
    words = [word.upper() for word in _words(query)]
    for word in words:
        if word in REFUSED:
            return f"{word} is not allowed", REFUSED[word]
    if not FORMS & set(words):
        return "this is not a query", "use SELECT, ASK, CONSTRUCT or DESCRIBE"
    return _too_deep(query)


def _words(query: str) -> Iterator[str]:
    """The words that stand alone: keywords, `a`, and names of functions."""
    for match in _TOKEN.finditer(query):
        if match.lastgroup == "word":
            yield match[0]


def _too_deep(query: str) -> tuple[str, str] | None:
    level = 0
    for match in _TOKEN.finditer(query):
        if match.lastgroup == "sign":
            level += (match[0] in "{([") - (match[0] in "})]")
        if level > DEEPEST:
            return f"nested more than {DEEPEST} deep", "use smaller steps"
    return None


GRAPH: Final = "urn:basanite:graph:"
ANSWER, GOLD_ANSWER, BINDING, VARIABLE, NAME, LITERAL, ASKS, ABOUT, KIND, VERDICT, RUN, PIECE = names(
    TS,
    "Answer",
    "GoldAnswer",
    "binding",
    "variable",
    "called",
    "literal",
    "query",
    "document",
    "kind",
    "verdict",
    "run",
    "piece",
)
START, END, EXACT = names("http://www.w3.org/ns/oa#", "start", "end", "exact")
RESULTS: Final = {"json": "JSON", "xml": "XML", "csv": "CSV", "tsv": "TSV"}
GRAPHS: Final = {"ntriples": "N_TRIPLES", "turtle": "TURTLE", "rdfxml": "RDF_XML", "jsonld": "JSON_LD"}
LARGEST: Final = 2**20


def ask(desk: Desk) -> None:
    """Look the query through, build the store, ask, and write `result` and what it is."""
    library = oxigraph()
    text = read_bounded(desk.files["query"], LARGEST).decode("utf-8", "replace")
    wrong = fault(text)
    if wrong is not None:
        raise RefusalError("X-3", *wrong, status=400)
    store = library.Store()
    fill(store, desk)
    try:
        again = partial(store.query, text, use_default_graph_as_union=True)
        desk.write("kind.json", {"format": _write(library, again(), desk, again)})
    except SyntaxError as error:
        raise RefusalError("R-23", f"the query cannot be read: {error.msg}", "fix it", status=400) from error
    except (ValueError, OSError, RuntimeError) as error:
        raise RefusalError("R-23", f"the query cannot be answered: {error}"[:300], "change it", status=400) from error


def fill(store: Any, desk: Desk) -> None:
    """Put everything into the store that the order's files hold; nothing else is there to be found."""
    library = oxigraph()
    for role, path in sorted(desk.files.items()):
        if role == "graph":
            store.bulk_load(path=str(path), format=library.RdfFormat.N_QUADS)
        elif role.startswith("task"):
            graph = library.NamedNode(f"{GRAPH}task:{desk.data['tasks'][role]}")
            store.bulk_load(path=str(path), format=library.RdfFormat.N_TRIPLES, to_graph=graph)
        elif role == "answers":
            with tempfile.TemporaryFile() as file:
                write_rdf(received_rows(path), file, "nquads")
                file.seek(0)
                store.bulk_load(file, format=library.RdfFormat.N_QUADS)


def make_graph(desk: Desk) -> None:
    """Write a package and its gold as `graph.nq`: once for each version of them; every call loads it (R-36)."""
    root = unpack_package(desk.files["package"], Path(tempfile.mkdtemp()))
    lay_gold(desk, root)
    with (desk.out / "graph.nq").open("xb") as file:
        write_rdf(package_rows(desk.package(root), gold=True), file, "nquads")


def package_rows(package: Package, gold: bool) -> Iterator[Graphed]:
    """A package as graphs: its ontology, each part with texts, queries and annotations, and the gold if it is meant."""
    ontology = Iri(GRAPH + "ontology")
    for row in read_rdf(package.root / ONTOLOGY, Findings()):
        yield Graphed(row.statement, ontology)
    for part in package.manifest.parts:
        if package.has(part):
            yield from _part_rows(package, part.name)
    for version, path in versions(package.root).items() if gold else ():
        faults = LineFaults(path.name, "R-17", Findings())
        for number, record in records(path, faults):
            node = Iri(f"urn:basanite:gold:{version}:{number}")
            yield from answer_rows(node, record, Iri(f"{GRAPH}gold:{version}"), GOLD_ANSWER)


def _part_rows(package: Package, part: str) -> Iterator[Graphed]:
    """A part as a reading task holds it, and its annotations where the package at hand has them."""
    graph = Iri(GRAPH + "part:" + quote(part, safe=""))
    documents = package.documents(part)
    whole = ReadingTask(package, TaskSpec(part, annotations=False), documents, package.queries_for(part))
    yield from (Graphed(row.statement, graph) for row in whole.rows())
    if annotation_path(package.root, part).is_file():
        for assertion in package.assertions(part, documents):
            for row in assertion_rows(assertion):
                yield row if row.graph else Graphed(row.statement, graph)


def received_rows(path: Path) -> Iterator[Graphed]:
    """Answers of runs, each in the graph of its run."""
    for number, line in enumerate(read_bounded(path, 2**31).split(b"\n")):
        if line.strip():
            record = json.loads(line)
            run = record.pop("run")
            node = Iri(f"urn:basanite:answer:{run}:{number}")
            yield from answer_rows(node, record, Iri(f"{GRAPH}run:{run}"), ANSWER)


def answer_rows(node: Iri, record: dict[str, Any], graph: Iri, kind: Iri) -> Iterator[Graphed]:
    """One answer as RDF, in the form in which answers can be sent, too."""
    said = [
        Statement(node, TYPE, kind),
        Statement(node, ASKS, Value(str(record.get("query", "")))),
        Statement(node, ABOUT, document_node(str(record.get("document", "")))),
        Statement(node, KIND, Value(str(record.get("kind", "explicit")))),
    ]
    if kind == GOLD_ANSWER:
        said.append(Statement(node, VERDICT, Value(str(record.get("verdict", "correct")))))
    for place, (name, bound) in enumerate(sorted(record.get("answer", {}).items())):
        said += _binding(node, Iri(f"{node.value}:{place}"), name.removeprefix("?"), bound)
    for place, piece in enumerate(record.get("provenance", ())):
        said += _piece(node, Iri(f"{node.value}:p{place}"), piece)
    yield from (Graphed(one, graph) for one in said)


def _binding(answer: Iri, node: Iri, name: str, bound: Any) -> Iterable[Statement]:
    yield Statement(answer, BINDING, node)
    yield Statement(node, VARIABLE, Value(name))
    if isinstance(bound, list):
        yield from (Statement(node, NAME, Value(str(one))) for one in bound)
    else:
        yield Statement(node, LITERAL, Value(str(bound)))


def _piece(answer: Iri, node: Iri, piece: dict[str, Any]) -> Iterable[Statement]:
    yield Statement(answer, PIECE, node)
    for name, place in (("start", START), ("end", END)):
        if type(piece.get(name)) is int:
            yield Statement(node, place, integer(piece[name]))
    if isinstance(piece.get("exact"), str):
        yield Statement(node, EXACT, Value(piece["exact"]))


def _write(library: Any, result: Any, desk: Desk, again: Callable[[], Any]) -> str:
    """The answer in the format that the caller takes, up to so many rows: part of an answer is none (X-13)."""
    most, out = desk.data["rows"], str(desk.out / "result")
    if isinstance(result, library.QueryTriples):
        name = str(desk.data["graphs"])
        library.serialize(limit_rows(result, most), out, format=getattr(library.RdfFormat, GRAPHS[name]))
        return name
    name = str(desk.data["results"])
    if isinstance(result, library.QuerySolutions):
        for _ in limit_rows(result, most):  # the library writes all rows or none, so they are counted first
            pass
        result = again()
    result.serialize(out, format=getattr(library.QueryResultsFormat, RESULTS[name]))
    return name


def limit_rows(rows: Iterable[Any], most: int) -> Iterator[Any]:
    """The rows, as long as there are not too many."""
    for number, row in enumerate(rows):
        if number >= most:
            raise RefusalError("X-3", f"the answer has more than {most} rows", "request fewer, with LIMIT", status=413)
        yield row
