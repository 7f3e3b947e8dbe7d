"""Writers of RDF for the benchmark: the same statements through Basanite and through rdflib, as its own docs advise."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

NAMESPACE = "https://nfl.example/scoring#"
ONTOLOGY = Path(__file__).parents[2] / "examples" / "reading" / "nfl" / "ontology.ttl"
LINES = (
    "g{n} type NFLGame",
    "g{n} gameWinner t{w}",
    "g{n} gameLoser t{l}",
    "g{n} numberOfPeriods {p}",
    "g{n} teamFinalScoreInGame s{n}",
    "s{n} type TeamSummaryScore",
    "s{n} teamScoringAll t{w}",
    "s{n} pointsScored {s}",
)


def lines(count):
    """As many statements as asked for, each a line of three words."""
    for number in range(count):
        n = number // len(LINES)
        yield LINES[number % len(LINES)].format(n=n, w=n % 30, l=(n + 1) % 30, p=4 + n % 2, s=n % 50).split()


def ours(count):
    """The statements as our own values."""
    from basanite.reading.terms import TYPE, Iri, Statement, integer

    for subject, name, value in lines(count):
        predicate = TYPE if name == "type" else Iri(NAMESPACE + name)
        object_ = integer(int(value)) if value.isdigit() else Iri(NAMESPACE + value)
        yield Statement(Iri(NAMESPACE + subject), predicate, object_)


def write_ours(name, count, path):
    """Stream them into a file."""
    from basanite.reading.rdf import write_rdf

    with path.open("wb") as out:
        write_rdf(ours(count), out, name, prefixes={"nfl": NAMESPACE})


def write_rdflib(name, count, path):
    """Fill a graph and write it."""
    import rdflib

    graph = rdflib.Graph()
    nfl = rdflib.Namespace(NAMESPACE)
    graph.bind("nfl", nfl)
    for subject, name_, value in lines(count):
        predicate = rdflib.RDF.type if name_ == "type" else nfl[name_]
        graph.add((nfl[subject], predicate, rdflib.Literal(int(value)) if value.isdigit() else nfl[value]))
    graph.serialize(path, format=name)


def check(count):
    """CPU seconds of our check of so many statements against the ontology."""
    from basanite.problems import Findings
    from basanite.reading.ontology_checks import check_statements
    from basanite.reading.ontology_file import read_ontology
    from basanite.reading.patterns import Prefixes

    ontology = read_ontology(ONTOLOGY, Prefixes(NAMESPACE), Findings())
    statements = list(ours(count))
    start = time.process_time()
    faults = check_statements(ontology, statements)
    return {"seconds": time.process_time() - start, "faults": len(faults)}


def main():
    """Do what the command line says and print how much was written."""
    who, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if who == "check":
        print(json.dumps(check(count)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        (write_ours if who == "us" else write_rdflib)(name, count, path)
        print(json.dumps({"bytes": path.stat().st_size}))


if __name__ == "__main__":
    main()
