"""Axioms of RDFS and OWL 2 RL in `basanite reading infer`, and ontologies that were not made for us (R-33, R-34).

The cases follow the rules of the W3C recommendations (RDF 1.1 Semantics, section 9.2.1; OWL 2 Profiles, section 4.3),
by the names of those rules. Random ontologies are compared with a closure that works on triples of the schema, as the
tables of the recommendation do, while the product compiles each axiom into a rule.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
from pathlib import Path

import pytest
from tests.cli.running import READING, here

HEAD = """@prefix : <https://zoo.example/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
FOLLOWS = {
    "rdfs2 prp-dom": (":p rdfs:domain :C .", ":a :p :b .", ":a type :C"),
    "rdfs3 prp-rng": (":p rdfs:range :C .", ":a :p :b .", ":b type :C"),
    "rdfs7 prp-spo1": (":p rdfs:subPropertyOf :q .", ":a :p :b .", ":a :q :b"),
    "rdfs9 cax-sco": (":C rdfs:subClassOf :D .", ":a a :C .", ":a type :D"),
    "rdfs5 scm-spo": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .", ":a :p :b .", ":a :r :b"),
    "rdfs11 scm-sco": (":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", ":a a :C .", ":a type :E"),
    "prp-fp": (":p a owl:FunctionalProperty .", ":a :p :b , :c . :b :q :d .", ":c :q :d"),
    "prp-ifp": (":p a owl:InverseFunctionalProperty .", ":a :p :x . :b :p :x . :a a :C .", ":b type :C"),
    "prp-symp": (":p a owl:SymmetricProperty .", ":a :p :b .", ":b :p :a"),
    "prp-trp": (":p a owl:TransitiveProperty .", ":a :p :b . :b :p :c . :c :p :d .", ":a :p :d"),
    "prp-spo2": (":u owl:propertyChainAxiom (:p :q) .", ":a :p :b . :b :q :c .", ":a :u :c"),
    "prp-eqp1": (":p owl:equivalentProperty :q .", ":a :p :b .", ":a :q :b"),
    "prp-eqp2": (":p owl:equivalentProperty :q .", ":a :q :b .", ":a :p :b"),
    "prp-inv1": (":p owl:inverseOf :q .", ":a :p :b .", ":b :q :a"),
    "prp-inv2": (":p owl:inverseOf :q .", ":a :q :b .", ":b :p :a"),
    "prp-key": (":C owl:hasKey (:p :q) .", ":a a :C; :p 1; :q 2 . :b a :C; :p 1; :q 2; :r :z .", ":a :r :z"),
    "cls-int1": (
        ":D owl:equivalentClass [ a owl:Class; owl:intersectionOf (:B :C) ] .",
        ":a a :B , :C .",
        ":a type :D",
    ),
    "cls-int2": (":D owl:equivalentClass [ owl:intersectionOf (:B :C) ] .", ":a a :D .", ":a type :C"),
    "cls-uni": (":D owl:equivalentClass [ owl:unionOf (:B :C) ] .", ":a a :C .", ":a type :D"),
    "cls-svf1": (
        "[ a owl:Restriction; owl:onProperty :p; owl:someValuesFrom :B ] rdfs:subClassOf :D .",
        ":a :p :b . :b a :B .",
        ":a type :D",
    ),
    "cls-svf2": (
        "[ owl:onProperty :p; owl:someValuesFrom owl:Thing ] rdfs:subClassOf :D .",
        ":a :p :b .",
        ":a type :D",
    ),
    "cls-avf": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:allValuesFrom :D ] .",
        ":a a :C; :p :b .",
        ":b type :D",
    ),
    "cls-hv1": (":C rdfs:subClassOf [ owl:onProperty :p; owl:hasValue :v ] .", ":a a :C .", ":a :p :v"),
    "cls-hv2": ("[ owl:onProperty :p; owl:hasValue :v ] rdfs:subClassOf :C .", ":a :p :v .", ":a type :C"),
    "cls-maxc2": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:maxCardinality 1 ] .",
        ":a a :C; :p :b , :c . :b a :D .",
        ":c type :D",
    ),
    "cls-maxqc3": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:maxQualifiedCardinality 1; owl:onClass :D ] .",
        ":a a :C; :p :b , :c . :b a :D; :q :z . :c a :D .",
        ":c :q :z",
    ),
    "cls-oo": (":C owl:oneOf (:a :b) .", ":x :p :y .", ":b type :C"),
    "cax-eqc1": (":C owl:equivalentClass :D .", ":a a :C .", ":a type :D"),
    "cax-eqc2": (":C owl:equivalentClass :D .", ":a a :D .", ":a type :C"),
    "eq-sym": ("", ":a owl:sameAs :b .", ":b owl:sameAs :a"),
    "eq-trans": ("", ":a owl:sameAs :b . :b owl:sameAs :c . :c :p :d .", ":a :p :d"),
    "eq-rep-s": ("", ":a owl:sameAs :b . :a :p :c .", ":b :p :c"),
    "eq-rep-o": ("", ":a owl:sameAs :b . :c :p :a .", ":c :p :b"),
    "inverse in a chain": (
        ":cousin owl:propertyChainAxiom (:parent :sibling [ owl:inverseOf :parent ]) .",
        ":a :parent :b . :b :sibling :c . :d :parent :c .",
        ":a :cousin :d",
    ),
    "nested": (
        "[ owl:intersectionOf (:B [ owl:onProperty :p; owl:someValuesFrom [ owl:unionOf (:C :D) ] ]) ]"
        " rdfs:subClassOf [ owl:onProperty :q; owl:allValuesFrom [ owl:onProperty :r; owl:hasValue 7 ] ] .",
        ":a a :B; :p :x; :q :y . :x a :D .",
        ":y :r 7",
    ),
    "cls-maxqc4": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:maxQualifiedCardinality 1; owl:onClass owl:Thing ] .",
        ":a a :C; :p :b , :c . :b :q :z .",
        ":c :q :z",
    ),
    "scm-eqc1": (":C owl:equivalentClass :D . :D rdfs:subClassOf :E .", ":a a :C .", ":a type :E"),
    "scm-eqc2": (":C rdfs:subClassOf :D . :D rdfs:subClassOf :C .", ":a a :D .", ":a type :C"),
    "scm-eqp1": (":p owl:equivalentProperty :q . :q rdfs:subPropertyOf :r .", ":a :p :b .", ":a :r :b"),
    "scm-eqp2": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p .", ":a :q :b .", ":a :p :b"),
    "scm-dom1": (":p rdfs:domain :C . :C rdfs:subClassOf :D .", ":a :p :b .", ":a type :D"),
    "scm-dom2": (":p rdfs:domain :C . :q rdfs:subPropertyOf :p .", ":a :q :b .", ":a type :C"),
    "scm-rng1": (":p rdfs:range :C . :C rdfs:subClassOf :D .", ":a :p :b .", ":b type :D"),
    "scm-rng2": (":p rdfs:range :C . :q rdfs:subPropertyOf :p .", ":a :q :b .", ":b type :C"),
    "scm-hv": (
        ":C owl:equivalentClass [ owl:onProperty :p; owl:hasValue :v ] . :p rdfs:subPropertyOf :q ."
        " :D owl:equivalentClass [ owl:onProperty :q; owl:hasValue :v ] .",
        ":a a :C .",
        ":a type :D",
    ),
    "scm-int": (":D owl:intersectionOf (:B :C) .", ":a a :D .", ":a type :B"),
    "scm-uni": (":D owl:unionOf (:B :C) .", ":a a :B .", ":a type :D"),
    "types of the ontology": (
        ":a :p :b . [ owl:onProperty :p; owl:someValuesFrom :C ] rdfs:subClassOf :D . :b a :C .",
        "",
        ":a type :D",
    ),
    "facts of the ontology": (":p a owl:TransitiveProperty . :a :p :b .", ":b :p :c .", ":a :p :c"),
}
CONTRADICTS = {
    "eq-diff1": ("", ":a owl:sameAs :b ; owl:differentFrom :b ."),
    "eq-diff2": ("[ a owl:AllDifferent; owl:members (:a :b :c) ] .", ":a owl:sameAs :c ."),
    "eq-diff3": ("[ a owl:AllDifferent; owl:distinctMembers (:a :b :c) ] .", ":b owl:sameAs :c ."),
    "cls-maxqc1": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:maxQualifiedCardinality 0; owl:onClass :D ] .",
        ":a a :C; :p :b . :b a :D .",
    ),
    "cls-maxqc2": (
        ":C rdfs:subClassOf [ owl:onProperty :p; owl:maxQualifiedCardinality 0; owl:onClass owl:Thing ] .",
        ":a a :C; :p :b .",
    ),
    "prp-irp": (":p a owl:IrreflexiveProperty .", ":a :p :a ."),
    "prp-asyp": (":p a owl:AsymmetricProperty .", ":a :p :b . :b :p :a ."),
    "prp-pdw": (":p owl:propertyDisjointWith :q .", ":a :p :b ; :q :b ."),
    "prp-adp": ("[ a owl:AllDisjointProperties; owl:members (:p :q :r) ] .", ":a :p :b ; :r :b ."),
    "prp-npa1": (
        "[ a owl:NegativePropertyAssertion; owl:sourceIndividual :a;"
        " owl:assertionProperty :p; owl:targetIndividual :b ] .",
        ":a :p :b .",
    ),
    "prp-npa2": (
        "[ a owl:NegativePropertyAssertion; owl:sourceIndividual :a; owl:assertionProperty :p; owl:targetValue 5 ] .",
        ":a :p 5 .",
    ),
    "prp-fp of values": (":p a owl:FunctionalProperty .", ":a :p 1 , 2 ."),
    "cls-nothing2": (":C rdfs:subClassOf owl:Nothing .", ":a a :C ."),
    "cls-com": (":C owl:complementOf :D .", ":a a :C , :D ."),
    "cls-maxc1": (":C rdfs:subClassOf [ owl:onProperty :p; owl:maxCardinality 0 ] .", ":a a :C; :p :b ."),
    "cax-dw": (":C owl:disjointWith :D . :E rdfs:subClassOf :C .", ":a a :E , :D ."),
    "cax-adc": ("[ a owl:AllDisjointClasses; owl:members (:B :C :D) ] .", ":a a :B , :D ."),
    "dt-not-type": (":p rdfs:range xsd:integer .", ':a :p "many" .'),
    "disjoint union": (":C owl:disjointUnionOf (:D :E) .", ":a a :D , :E ."),
}
RULES = """
eq-ref eq-sym eq-trans eq-rep-s eq-rep-p eq-rep-o eq-diff1 eq-diff2 eq-diff3 prp-ap prp-dom prp-rng prp-fp prp-ifp
prp-irp prp-symp prp-asyp prp-trp prp-spo1 prp-spo2 prp-eqp1 prp-eqp2 prp-pdw prp-adp prp-inv1 prp-inv2 prp-key
prp-npa1 prp-npa2 cls-thing cls-nothing1 cls-nothing2 cls-int1 cls-int2 cls-uni cls-com cls-svf1 cls-svf2 cls-avf
cls-hv1 cls-hv2 cls-maxc1 cls-maxc2 cls-maxqc1 cls-maxqc2 cls-maxqc3 cls-maxqc4 cls-oo cax-sco cax-eqc1 cax-eqc2
cax-dw cax-adc dt-type1 dt-type2 dt-eq dt-diff dt-not-type scm-cls scm-sco scm-eqc1 scm-eqc2 scm-op scm-dp scm-spo
scm-eqp1 scm-eqp2 scm-dom1 scm-dom2 scm-rng1 scm-rng2 scm-hv scm-svf1 scm-svf2 scm-avf1 scm-avf2 scm-int scm-uni
rdfs1 rdfs2 rdfs3 rdfs4a rdfs4b rdfs5 rdfs6 rdfs7 rdfs8 rdfs9 rdfs10 rdfs11 rdfs12 rdfs13
"""
"""The rules of OWL 2 Profiles, tables 4 to 9, and the patterns of RDF 1.1 Semantics, section 9.2.1."""
LISTED = """
eq-ref eq-rep-p prp-ap cls-thing cls-nothing1 dt-type1 dt-type2 dt-eq dt-diff scm-cls scm-op scm-dp scm-svf1
scm-svf2 scm-avf1 scm-avf2 rdfs1 rdfs4a rdfs4b rdfs6 rdfs8 rdfs10 rdfs12 rdfs13
"""
"""Those that give no statements here; the documentation says why."""
UNSUPPORTED = {
    ":C rdfs:subClassOf [ owl:onProperty :p; owl:someValuesFrom :D ] .": "owl:someValuesFrom as a superclass",
    ":C rdfs:subClassOf [ owl:unionOf (:D :E) ] .": "owl:unionOf as a superclass",
    ":C rdfs:subClassOf [ owl:onProperty :p; owl:minCardinality 2 ] .": "owl:minCardinality as a superclass",
    "[ owl:onProperty :p; owl:allValuesFrom :D ] rdfs:subClassOf :C .": "owl:allValuesFrom as a subclass",
    ":p a owl:ReflexiveProperty .": "owl:ReflexiveProperty",
    "<https://zoo.example/> a owl:Ontology; owl:imports <https://other.example/> .": "owl:imports",
    ":C owl:disjointUnionOf (:D :E) .": "owl:disjointUnionOf",
    "owl:Thing rdfs:subClassOf [ owl:onProperty :p; owl:hasValue 1 ] .": "every thing",
    ":p owl:propertyChainAxiom () .": "a chain of no properties",
}


def inferred(folder, ontology, statements, *words):
    """What the command prints for an ontology and statements in Turtle."""
    (folder / "ontology.ttl").write_text(HEAD + ontology)
    (folder / "given.ttl").write_text(HEAD + statements)
    return here("reading", "infer", "--ontology", "ontology.ttl", "--statements", "given.ttl", *words, cwd=folder)


@pytest.mark.req("R-33", "R-34")
@pytest.mark.parametrize("rule", FOLLOWS)
def test_what_an_axiom_says_follows_with_its_source(rule, tmp_path):
    ontology, statements, wanted = FOLLOWS[rule]
    data = inferred(tmp_path, ontology, statements, "--json").data
    assert wanted.split() in data["derived"]
    assert data["consistent"] is True
    why = here(
        *("reading", "explain", "--ontology", "ontology.ttl", "--statements", "given.ttl", "--statement", wanted),
        cwd=tmp_path,
    )
    assert (why.code, "ontology:" in why.stdout) == (0, True)


@pytest.mark.req("R-33")
@pytest.mark.parametrize("rule", CONTRADICTS)
def test_what_cannot_be_true_contradicts(rule, tmp_path):
    data = inferred(tmp_path, *CONTRADICTS[rule], "--json").data
    assert data["consistent"] is False
    assert all(one["inputs"] for one in data["contradictions"])


@pytest.mark.req("R-33")
@pytest.mark.parametrize("axiom", UNSUPPORTED)
def test_an_axiom_that_derives_nothing_is_named(axiom, tmp_path):
    ended = inferred(tmp_path, axiom, ":a a :C .")
    assert ended.code == 0
    assert UNSUPPORTED[axiom] in ended.stderr
    assert "R-33" in ended.stderr


@pytest.mark.req("R-33")
def test_every_rule_of_the_recommendations_has_a_case_or_is_listed_as_unsupported():
    shown = {word for name in (*FOLLOWS, *CONTRADICTS) for word in name.split()}
    assert [name for name in RULES.split() if name not in shown] == LISTED.split()
    page = (Path(__file__).parents[2] / "docs/how-to/reason-about-statements.md").read_text()
    assert [name for name in LISTED.split() if f"`{name}`" not in page] == []


@pytest.mark.req("R-34")
def test_relative_names_need_a_base(tmp_path):
    (tmp_path / "o.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <#C> rdfs:subClassOf <#D> ."
    )
    (tmp_path / "s.jsonld").write_text('{"@id": "#a", "@type": "https://zoo.example/x#C"}')
    words = ("reading", "infer", "--ontology", "o.ttl", "--statements", "s.jsonld")
    refused = here(*words, cwd=tmp_path)
    assert (refused.code, refused.stderr.count("--base")) == (1, 2)
    data = here(*words, "--base", "https://zoo.example/x", "--json", cwd=tmp_path).data
    assert data["derived"] == [["<https://zoo.example/x#a>", "type", "<https://zoo.example/x#D>"]]
    assert "not a full IRI" in here(*words, "--base", "x y", cwd=tmp_path).stderr


@pytest.mark.req("R-34")
def test_rules_and_statements_are_optional_where_an_ontology_says_enough(tmp_path):
    (tmp_path / "o.owl").write_text(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="https://zoo.example/"'
        ' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><rdf:Description rdf:about="https://zoo.example/C">'
        '<rdfs:subClassOf rdf:resource="https://zoo.example/D"/></rdf:Description>'
        '<z:C rdf:about="https://zoo.example/a"/></rdf:RDF>'
    )
    assert here("reading", "infer", "--ontology", "o.owl", cwd=tmp_path).stdout.startswith("Derived: z:a type z:D\n")
    found = here("reading", "infer", "--ontology", "o.owl", "--query", "?x type z:D", "--json", cwd=tmp_path).data
    assert found["answers"] == [{"?x": "z:a"}]
    assert "Give files of rules" in here("reading", "infer", "--statements", "o.owl", cwd=tmp_path).stderr


@pytest.mark.req("R-33")
def test_a_package_keeps_its_closed_world_and_gains_axioms(tmp_path):
    """With marks, domain and range stay checks of the annotations; other axioms become rules."""
    marks = "".join(
        f":{name} a owl:Class ; <urn:basanite:reading:mark> <urn:basanite:reading:target> .\n" for name in "CD"
    )
    marks += "".join(
        f":{name} a owl:ObjectProperty ; <urn:basanite:reading:mark> <urn:basanite:reading:target> ;"
        " rdfs:domain :C ; rdfs:range :C .\n"
        for name in "pq"
    )
    data = inferred(
        tmp_path, marks + ":p owl:inverseOf :q . :C owl:disjointWith :D .", ":a :p :b . :c a :D; :p :b .", "--json"
    ).data
    assert [":b", ":q", ":a"] in data["derived"]
    assert not [row for row in data["derived"] if row[1] == "type"]
    assert {one["rule"] for one in data["contradictions"]} == {"ontology:domain", "ontology:range"}


@pytest.mark.req("R-33", "R-34")
def test_a_package_takes_an_ontology_without_marks_and_names_what_derives_nothing(tmp_path):
    shutil.copytree(READING / "nfl", tmp_path / "nfl")
    path = tmp_path / "nfl" / "ontology.ttl"
    text = re.sub(r"ts:mark ts:\w+ ?;?", "", path.read_text())
    path.write_text(text + "nfl:Event rdfs:subClassOf [ owl:unionOf (nfl:NFLTeam nfl:NFLGame) ] .\n")
    ended = here("reading", "check", "nfl", cwd=tmp_path)
    assert ended.code == 0
    assert "(nfl:Event): owl:unionOf as a superclass [R-33, warning]" in ended.stderr
    assert "no element has a ts:mark" in ended.stderr


CLASSES, RELATIONS, THINGS = "ABCD", "pqr", "uvwxyz"
SUBCLASS, EQUIVALENT, TYPE = "rdfs:subClassOf", "owl:equivalentClass", "rdf:type"


def random_world(seed):
    """A small ontology, its statements, and both as triples with lists as tuples."""
    draw = random.Random(seed)
    kinds, links = [f":{c}" for c in CLASSES], [f":{p}" for p in RELATIONS]

    def expression(left):
        c, p = draw.choice(kinds), draw.choice(links)
        every = [("intersectionOf", (c, draw.choice(kinds))), ("hasValue", p, f":{draw.choice(THINGS)}")]
        some = [("someValuesFrom", p, c), ("unionOf", (c, draw.choice(kinds)))]
        return draw.choice([*every, *(some if left else [("allValuesFrom", p, c)])])

    axioms = []
    for _ in range(draw.randint(2, 6)):
        c, d, p, q = draw.choice(kinds), draw.choice(kinds), draw.choice(links), draw.choice(links)
        axioms.append(
            draw.choice(
                [
                    *((c, SUBCLASS, d), (expression(True), SUBCLASS, d), (c, SUBCLASS, expression(False))),
                    *((p, "rdfs:subPropertyOf", q), (p, "owl:inverseOf", q), (p, "owl:propertyChainAxiom", (q, p))),
                    *((p, TYPE, "owl:TransitiveProperty"), (p, TYPE, "owl:SymmetricProperty")),
                    *((p, "rdfs:domain", d), (p, "rdfs:range", d), (c, EQUIVALENT, d)),
                    *((p, TYPE, "owl:FunctionalProperty"), (p, TYPE, "owl:InverseFunctionalProperty")),
                ]
            )
        )
    facts = {(f":{draw.choice(THINGS)}", TYPE, draw.choice(kinds)) for _ in range(draw.randint(1, 4))}
    facts |= {(f":{draw.choice(THINGS)}", draw.choice(links), f":{draw.choice(THINGS)}") for _ in range(5)}
    return axioms, facts


def turtle(term):
    """A term of a random world in Turtle."""
    if isinstance(term, str):
        return term
    if term[0] in ("intersectionOf", "unionOf"):
        return f"[ owl:{term[0]} ({' '.join(term[1])}) ]"
    if len(term) == 3:
        return f"[ owl:onProperty {term[1]}; owl:{term[0]} {term[2]} ]"
    return f"({' '.join(term)})"


def members(expression, facts, things):
    """The things that a class expression holds of, by its definition over the triples."""
    if isinstance(expression, str):
        return {s for s, p, o in facts if (p, o) == (TYPE, expression)}
    if expression[0] == "intersectionOf":
        return set.intersection(*(members(one, facts, things) for one in expression[1]))
    if expression[0] == "unionOf":
        return set.union(*(members(one, facts, things) for one in expression[1]))
    name, property_, filler = expression
    inside = {filler} if name == "hasValue" else members(filler, facts, things)
    return {s for s, p, o in facts if p == property_ and o in inside}


def holds(expression, thing, facts):
    """The triples that must hold because a thing is a member of an expression."""
    if isinstance(expression, str):
        return {(thing, TYPE, expression)}
    if expression[0] == "intersectionOf":
        return {(thing, TYPE, one) for one in expression[1]}
    name, property_, filler = expression
    if name == "hasValue":
        return {(thing, property_, filler)}
    return {(o, TYPE, filler) for s, p, o in facts if (s, p) == (thing, property_)}


def step(axiom, facts):
    """What one axiom adds."""
    s, p, o = axiom
    things = {t for one in facts for t in (one[0], one[2])}
    if p in (SUBCLASS, EQUIVALENT):
        pairs = ((s, o), (o, s)) if p == EQUIVALENT else ((s, o),)
        return {new for low, high in pairs for t in members(low, facts, things) for new in holds(high, t, facts)}
    related = lambda name: [(a, b) for a, r, b in facts if r == name]  # noqa: E731
    match p, o:
        case "rdfs:subPropertyOf", _:
            return {(a, o, b) for a, b in related(s)}
        case "owl:inverseOf", _:
            return {(b, o, a) for a, b in related(s)} | {(b, s, a) for a, b in related(o)}
        case "owl:propertyChainAxiom", _:
            return {(a, s, d) for a, b in related(o[0]) for c, d in related(o[1]) if b == c}
        case "rdfs:domain", _:
            return {(a, TYPE, o) for a, _ in related(s)}
        case "rdfs:range", _:
            return {(b, TYPE, o) for _, b in related(s)}
        case _, "owl:TransitiveProperty":
            return {(a, s, d) for a, b in related(s) for c, d in related(s) if b == c}
        case _, "owl:SymmetricProperty":
            return {(b, s, a) for a, b in related(s)}
        case _, "owl:FunctionalProperty":
            return {(b, "same", d) for a, b in related(s) for c, d in related(s) if a == c and b != d}
        case _, "owl:InverseFunctionalProperty":
            return {(a, "same", c) for a, b in related(s) for c, d in related(s) if b == d and a != c}
    raise AssertionError(axiom)


def closure(axioms, facts):
    """Everything that follows, by trying each axiom until nothing is new."""
    found = set(facts)
    while True:
        new = set().union(*(step(axiom, found) for axiom in axioms))
        same = [(s, o) for s, p, o in found | new if p == "same"]
        for (s, p, o), (a, b) in itertools.product(found | new, same):
            if p != "same":
                new |= {(b if s == a else s, p, b if o == a else o), (b if s == a else s, p, o)}
                new.add((s, p, b if o == a else o))
        if new <= found:
            return {(s, p, o) for s, p, o in found - facts if p != "same"}
        found |= new


@pytest.mark.req("R-33")
def test_random_ontologies_give_what_the_tables_of_the_recommendation_give(tmp_path):
    """Types and relations of 60 random worlds, beside a closure that shares no code with the product."""
    sizes = []
    for seed in range(60):
        axioms, facts = random_world(seed)
        ontology = " ".join(f"{turtle(s)} {p} {turtle(o)} ." for s, p, o in axioms)
        given = " ".join(f"{s} {p} {o} ." for s, p, o in sorted(facts))
        data = inferred(tmp_path, ontology, given, "--json").data
        name = {"type": TYPE}
        found = {(s, name.get(p, p), o) for s, p, o in data["derived"] if "sameAs" not in p and "Thing" not in o}
        wanted = closure(axioms, facts)
        assert found == wanted, (seed, ontology, given)
        sizes.append(len(wanted))
    assert sum(size > 5 for size in sizes) > 20
