"""A small package with gold in two versions, made in a folder: three documents, two queries."""

import hashlib
import json

ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ts: <urn:basanite:reading:> .
@prefix : <urn:t:> .
:Game a owl:Class ; ts:mark ts:target .
:Team a owl:Class ; ts:mark ts:target .
:winner a owl:ObjectProperty ; rdfs:domain :Game ; rdfs:range :Team ; ts:mark ts:target .
:periods a owl:DatatypeProperty ; rdfs:domain :Game ; rdfs:range xsd:integer ; ts:mark ts:target .
"""
MANIFEST = """format = "basanite-reading-package/1"
name = "toy"
version = "1"
title = "Toy"
licence = "CC0-1.0"
citation = "nobody"
namespace = "urn:t:"
[parts.test]
[[phases]]
name = "1"
in_scope = ["anaphora"]
target_ratio = 0.5
documents = 3
preparation_days = 1
"""
QUERIES = """format: basanite-queries/1
queries:
  - query: winners
    find: ["?G type Game", "?G winner ?T"]
    select: ["?T"]
  - query: periods
    type: count
    find: ["?G type Game", "?G periods ?N"]
    select: ["?N"]
"""


def team(document, *names, kind="explicit", **more):
    return {"query": "winners", "document": document, "answer": {"?T": list(names)}, "kind": kind, **more}


def periods(document, number, kind="explicit", **more):
    return {"query": "periods", "document": document, "answer": {"?N": number}, "kind": kind, **more}


GOLD = [
    team("a", "Jets", "New York Jets"),
    team("b", "Bears"),
    periods("a", 5, "inferred"),
    periods("b", 4),
    team("c", "Lions", capabilities=["temporal"]),
]
GROWN = [*GOLD, team("a", "Packers", system="Reader", by="A2", when="2026-01-05", why="stated in line 3")]
SETTLED = [*GROWN, periods("c", 9, verdict="wrong", by="A1", when="2026-02-01", why="nowhere said")]


def lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def package(root, *, documents=("a", "b", "c"), versions=(GOLD, GROWN)):
    """Write the package; `versions` are v1, v2 and so on."""
    for name, text in (("ontology.ttl", ONTOLOGY), ("package.toml", MANIFEST), ("guidelines.md", "Read.\n")):
        root.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "queries").mkdir()
    (root / "queries" / "queries.yaml").write_text(QUERIES)
    corpus = root / "corpus" / "test"
    corpus.mkdir(parents=True)
    sums = []
    for name in documents:
        text = f"What {name} tells.\n".encode()
        (corpus / f"{name}.txt").write_bytes(text)
        sums.append(f"{hashlib.sha256(text).hexdigest()}  test/{name}.txt\n")
    (root / "corpus" / "test.sha256").write_text("".join(sums))
    lines(root / "annotations" / "test.ndjson", [])
    for number, records in enumerate(versions, start=1):
        lines(root / "gold" / f"v{number}.ndjson", records)
    return root
