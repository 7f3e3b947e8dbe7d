"""One engine over one file of statements: load it, run the nine example rules, print seconds and firings as JSON.

    python reasoner_engines.py us|documents|rdflib|pyoxigraph|clingo STATEMENTS.nt RULES

The peers run one query a rule, in the order of the layers, and add what it concludes; they keep no provenance. Loading
is timed apart, for each keeps data in its own way.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

NFL = "https://nfl.example/scoring#"
PREFIX = f"PREFIX : <{NFL}>\n"
SPARQL = {
    "overtime-default": (
        "?g :hasOvertimePlay true FILTER NOT EXISTS { ?g :numberOfPeriods ?n }",
        [("?g", "numberOfPeriods", 5)],
    ),
    "points-from-events": (
        "?s :touchdownCompleteCount ?t . ?s :onePointConversionCompleteCount ?one . "
        "?s :twoPointConversionCompleteCount ?two . "
        "?s :fieldGoalCompleteCount ?f . ?s :safetyCompleteCount ?z FILTER NOT EXISTS { ?s :pointsScored ?p } "
        "BIND(?t * 6 + ?f * 3 + ?two * 2 + ?z * 2 + ?one AS ?points)",
        [("?s", "pointsScored", "?points")],
    ),
    "overtime-needs-five": ("?g :hasOvertimePlay true . ?g :numberOfPeriods ?n FILTER(?n <= 4)", []),
    "higher-score-wins": (
        "?g :teamFinalScoreInGame ?s1 . ?g :teamFinalScoreInGame ?s2 . ?s1 :pointsScored ?p1 . ?s2 :pointsScored ?p2 . "
        "?s1 :teamScoringAll ?winner . ?s2 :teamScoringAll ?loser FILTER(?p1 > ?p2) "
        "FILTER NOT EXISTS { ?g :gameWinner ?w }",
        [("?g", "gameWinner", "?winner"), ("?g", "gameLoser", "?loser")],
    ),
    "winner-plays": ("?g :gameWinner ?t", [("?g", "teamInGame", "?t")]),
    "loser-plays": ("?g :gameLoser ?t", [("?g", "teamInGame", "?t")]),
    "scorer-plays": ("?g :teamFinalScoreInGame ?s . ?s :teamScoringAll ?t", [("?g", "teamInGame", "?t")]),
    "home-team-plays": ("?g :homeTeamInGame ?t", [("?g", "teamInGame", "?t")]),
    "winner-outscored": (
        "?g :gameWinner ?t . ?g :teamFinalScoreInGame ?s1 . ?s1 :teamScoringAll ?t . ?s1 :pointsScored ?p1 . "
        "?g :teamFinalScoreInGame ?s2 . ?s2 :pointsScored ?p2 FILTER(?p1 < ?p2)",
        [],
    ),
}


def us(path, rules):
    """Our reasoner over the whole file, with every firing kept."""
    from basanite.problems import Findings
    from basanite.reading.rdf import read_rdf
    from basanite.reading.reasoner.inference import Reasoner
    from basanite.reading.rules import read_rules

    start = time.process_time()
    statements = [row.statement for row in read_rdf(path, Findings())]
    loaded = time.process_time()
    reasoner = Reasoner(read_rules(rules, Findings()))
    inference = reasoner.infer(statements)
    found = {rule.name: len(fired) for rule, fired in zip(reasoner.program.rules, inference.state.firings, strict=True)}
    return loaded - start, time.process_time() - loaded, found


def documents(path, rules):
    """Our reasoner over one game after the other, as annotations are checked."""
    from basanite.problems import Findings
    from basanite.reading.rdf import read_rdf
    from basanite.reading.reasoner.inference import Reasoner
    from basanite.reading.rules import read_rules

    start, size = time.process_time(), 41
    statements = [row.statement for row in read_rdf(path, Findings())]
    pieces = [statements[at : at + size] for at in range(0, len(statements), size)]
    reasoner = Reasoner(read_rules(rules, Findings()))
    reasoner.infer(pieces[0])
    loaded = time.process_time()
    for piece in pieces:
        reasoner.infer(piece)
    return loaded - start, time.process_time() - loaded, {"documents": len(pieces)}


def with_rdflib(path, rules):
    """One prepared SPARQL query a rule over an rdflib graph."""
    from rdflib import Graph, Literal, URIRef
    from rdflib.plugins.sparql import prepareQuery

    start, graph = time.process_time(), Graph()
    graph.parse(path, format="nt")
    queries = {name: prepareQuery(f"{PREFIX}SELECT * WHERE {{ {body} }}") for name, (body, _) in SPARQL.items()}
    loaded, found = time.process_time(), {}
    for name, query in queries.items():
        rows = list(graph.query(query))
        found[name] = len(rows)
        for subject, predicate, value in SPARQL[name][1]:
            property_ = URIRef(NFL + predicate)
            for row in rows:
                said = row[value[1:]] if isinstance(value, str) else Literal(value)
                graph.add((row[subject[1:]], property_, said))
    return loaded - start, time.process_time() - loaded, found


def with_pyoxigraph(path, rules):
    """One SELECT a rule over a store in memory."""
    from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

    start, store = time.process_time(), Store()
    store.bulk_load(path=str(path), format=RdfFormat.N_TRIPLES)
    loaded, found = time.process_time(), {}
    for name, (body, heads) in SPARQL.items():
        rows = list(store.query(f"{PREFIX}SELECT * WHERE {{ {body} }}"))
        found[name] = len(rows)
        for subject, predicate, value in heads:
            property_ = NamedNode(NFL + predicate)
            store.extend(
                Quad(row[subject[1:]], property_, row[value[1:]] if isinstance(value, str) else Literal(value))
                for row in rows
            )
    return loaded - start, time.process_time() - loaded, found


CLINGO = """
d(G,5) :- hasOvertimePlay(G,"true"), not stated(G). stated(G) :- numberOfPeriods(G,_).
periods(G,N) :- numberOfPeriods(G,N). periods(G,N) :- d(G,N).
c1(G,N) :- hasOvertimePlay(G,"true"), periods(G,N), N <= 4.
told(S) :- pointsScored(S,_).
e(S,6*T+O+2*W+3*F+2*Z) :- touchdownCompleteCount(S,T), onePointConversionCompleteCount(S,O),
  twoPointConversionCompleteCount(S,W), fieldGoalCompleteCount(S,F), safetyCompleteCount(S,Z), not told(S).
points(S,P) :- pointsScored(S,P). points(S,P) :- e(S,P).
known(G) :- gameWinner(G,_).
w(G,S1,S2,A,B) :- teamFinalScoreInGame(G,S1), points(S1,P), teamScoringAll(S1,A),
  teamFinalScoreInGame(G,S2), points(S2,Q), teamScoringAll(S2,B), P > Q, not known(G).
winner(G,T) :- gameWinner(G,T). winner(G,T) :- w(G,_,_,T,_). loser(G,T) :- gameLoser(G,T). loser(G,T) :- w(G,_,_,_,T).
plays(G,T) :- winner(G,T). plays(G,T) :- loser(G,T). plays(G,T) :- homeTeamInGame(G,T).
sc(G,S,T) :- teamFinalScoreInGame(G,S), teamScoringAll(S,T). plays(G,T) :- sc(G,_,T).
c2(G,S1,S2) :- winner(G,T), teamFinalScoreInGame(G,S1), teamScoringAll(S1,T), points(S1,P),
  teamFinalScoreInGame(G,S2), points(S2,Q), P < Q.
"""
ATOMS = {
    "d": "overtime-default",
    "c1": "overtime-needs-five",
    "e": "points-from-events",
    "w": "higher-score-wins",
    "winner": "winner-plays",
    "loser": "loser-plays",
    "sc": "scorer-plays",
    "homeTeamInGame": "home-team-plays",
    "c2": "winner-outscored",
}


def with_clingo(path, rules):
    """One predicate a property, ground and solved at once."""
    import re

    import clingo

    start, line_form = time.process_time(), re.compile(r'<([^>]*)> <[^>]*[#/]([^>#/]*)> (?:<([^>]*)>|"([^"]*)"\S*) \.')
    facts = []
    for line in Path(path).read_text().splitlines():
        subject, predicate, name, value = line_form.fullmatch(line).groups()
        said = f'"{name}"' if name else value if value.isdigit() else f'"{value}"'
        facts.append(f'{predicate}("{subject}",{said}).')
    loaded = time.process_time()
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(facts) + CLINGO)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        model = next(iter(handle))
        symbols = model.symbols(atoms=True)
    found = dict.fromkeys(ATOMS.values(), 0)
    for symbol in symbols:
        if symbol.name in ATOMS:
            found[ATOMS[symbol.name]] += 1
    return loaded - start, time.process_time() - loaded, found


ENGINES = {
    "us": us,
    "documents": documents,
    "rdflib": with_rdflib,
    "pyoxigraph": with_pyoxigraph,
    "clingo": with_clingo,
}


if __name__ == "__main__":
    load, infer, firings = ENGINES[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    print(json.dumps({"load": load, "infer": infer, "firings": firings}))
