"""The closure of an ontology of public size: `basanite reading infer` with every firing kept, against `reasonable`.

The ontology has the shape of public ones: mostly a class tree with some second parents, definitions by intersections
and "some value", domains and ranges, subproperties, inverses and transitive properties. Both get the same files and
must derive the same statements about individuals; those about classes, which only the peer lists, are left out. CPU
seconds are those of whole processes.

The peer is `reasonable` (Rust, OWL 2 RL). It is no dependency of ours: name the Python that has it with --peer.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from measuring import best, record, show

HERE = Path(__file__).parent
DATA = HERE.parent / "build" / "data" / "axioms"
ONTO, DATA_NS = "https://onto.example/", "https://data.example/"
RDF, RDFS, OWL = (
    f"http://www.w3.org/{path}#" for path in ("1999/02/22-rdf-syntax-ns", "2000/01/rdf-schema", "2002/07/owl")
)
AXIOMS = 50_000
GOALS = {"us / reasonable, CPU": (3.0, "at most")}


def iri(text):
    """A name as N-Triples write it."""
    return f"<{text}>"


def ontology(axioms, rng):
    """So many axioms, as lines of N-Triples: one list for each axiom."""
    classes, properties = [f"C{at}" for at in range(round(axioms * 0.6))], [f"p{at}" for at in range(axioms // 100)]
    name = lambda one: iri(ONTO + one)  # noqa: E731
    made = []
    for at, one in enumerate(classes[1:], start=1):
        made.append([(name(one), RDFS + "subClassOf", name(classes[(at - 1) // 4]))])
        if rng.random() < 0.2:
            made.append([(name(one), RDFS + "subClassOf", name(classes[rng.randrange(at)]))])
    for at, one in enumerate(properties):
        made.append([(name(one), RDFS + "domain", name(rng.choice(classes)))])
        made.append([(name(one), RDFS + "range", name(rng.choice(classes)))])
        if at:
            made.append([(name(one), RDFS + "subPropertyOf", name(properties[(at - 1) // 3]))])
        # transitive ones are the most special: a part of a part, not everything that is related to anything
        if at % 10 == 1 and at > len(properties) // 3:
            made.append([(name(one), RDF + "type", iri(OWL + "TransitiveProperty"))])
        if at % 10 == 2:
            made.append([(name(one), OWL + "inverseOf", name(properties[at // 2]))])
    while len(made) < axioms:
        made.append(definition(len(made), classes, properties, rng))
    return made


def definition(number, classes, properties, rng):
    """A class that is defined as those of another one with some value of a third."""
    name = lambda one: iri(ONTO + one)  # noqa: E731
    whole, rest, last, some = (f"_:d{number}{part}" for part in "wrls")
    return [
        (name(f"D{number}"), OWL + "equivalentClass", whole),
        (whole, OWL + "intersectionOf", rest),
        (rest, RDF + "first", name(rng.choice(classes))),
        (rest, RDF + "rest", last),
        (last, RDF + "first", some),
        (last, RDF + "rest", iri(RDF + "nil")),
        (some, RDF + "type", iri(OWL + "Restriction")),
        (some, OWL + "onProperty", name(rng.choice(properties))),
        (some, OWL + "someValuesFrom", name(rng.choice(classes))),
    ]


def individuals(count, axioms, rng):
    """Individuals of classes low in the tree, each related to two before it in a group of ten."""
    classes, properties = round(axioms * 0.6), axioms // 100
    for at in range(count):
        one = iri(f"{DATA_NS}i{at}")
        yield one, RDF + "type", iri(f"{ONTO}C{rng.randrange(classes // 2, classes)}")
        for _ in range(2 if at % 10 else 0):
            yield one, f"{ONTO}p{rng.randrange(properties)}", iri(f"{DATA_NS}i{at - 1 - rng.randrange(at % 10)}")


def files(axioms):
    """Both files, made once."""
    DATA.mkdir(parents=True, exist_ok=True)
    paths = DATA / f"ontology-{axioms}.ttl", DATA / f"statements-{axioms}.ttl"
    rng = random.Random(axioms)
    triples = (triple for axiom in ontology(axioms, rng) for triple in axiom), individuals(axioms // 25, axioms, rng)
    for path, lines in zip(paths, triples, strict=True):
        path.write_text("".join(f"{s} <{p}> {o} .\n" for s, p, o in lines))
    return paths


def same(ours, theirs):
    """How many statements about individuals each derives, and how many only one of both."""
    one, other = (set(map(tuple, json.loads(text)["derived"])) for text in (ours, theirs))
    return {"derived": len(one), "only_us": len(one - other), "only_peer": len(other - one)}


def main():
    """Make the data, run both, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the 50,000 axioms, for a quick run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the one with least CPU counts")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has `reasonable`")
    asked = parser.parse_args()
    axioms = round(AXIOMS * asked.scale)
    script = str(HERE / "peers" / "axiom_engines.py")
    paths = [str(path) for path in files(axioms)]
    costs = {
        "us": best("us", [sys.executable, script, "us", *paths], asked.repeat),
        "reasonable": best("reasonable", [asked.peer, script, "reasonable", *paths], asked.repeat),
    }
    compared = same(costs["us"].output, costs["reasonable"].output)
    print(compared)
    found = {"us / reasonable, CPU": costs["us"].cpu / costs["reasonable"].cpu}
    show(found, GOALS)
    record("axioms.jsonl", {"axioms": axioms}, costs, found, GOALS, **compared)


if __name__ == "__main__":
    main()
