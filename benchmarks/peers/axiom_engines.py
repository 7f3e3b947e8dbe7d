"""One engine over an ontology and statements: print the derived statements about individuals as JSON.

python axiom_engines.py us|reasonable ONTOLOGY.ttl STATEMENTS.ttl
"""

from __future__ import annotations

import json
import sys

DATA = "https://data.example/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ONTO = "https://onto.example/"


def us(ontology, statements):
    """`basanite reading infer`, with every firing kept; like the peer it lists what follows, without derivations."""
    import contextlib
    import io

    from basanite.cli import main

    out = io.StringIO()
    sys.argv = ["basanite", "reading", "infer", "--ontology", ontology, "--statements", statements]
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    for line in out.getvalue().splitlines():
        if not line.startswith("Derived: "):
            continue
        subject, predicate, value = (part.strip("<>") for part in line.removeprefix("Derived: ").split(" "))
        yield subject, TYPE if predicate == "type" else predicate, value


def reasonable(ontology, statements):
    """The compiled reasoner, loaded and asked as its documentation says."""
    from reasonable import PyReasoner

    reasoner = PyReasoner()
    reasoner.load_file(ontology)
    reasoner.load_file(statements)
    given = {tuple(map(str, triple)) for triple in reasoner.get_base_triples()}
    yield from (triple for triple in (tuple(map(str, one)) for one in reasoner.reason()) if triple not in given)


def main():
    """Run one engine; statements about classes, blank nodes and what holds of everything are left out."""
    engine, ontology, statements = sys.argv[1:]
    found = {"us": us, "reasonable": reasonable}[engine](ontology, statements)
    kept = sorted(
        {(s, p, o) for s, p, o in found if s.startswith(DATA) and (p.startswith(ONTO) or (p == TYPE and ONTO in o))}
    )
    print(json.dumps({"derived": kept}))


if __name__ == "__main__":
    main()
