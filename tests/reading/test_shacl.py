"""The constraints as SHACL: read back by another library, each shape says what the ontology says."""

import io

import pytest
import rdflib
from tests.reading.packages import NAMESPACE, nfl_ontology

from basanite.reading.export import shapes
from basanite.reading.rdf import write_rdf
from basanite.reading.terms import SH

ONTOLOGY = nfl_ontology()
ASKED = f"""PREFIX sh: <{SH}>
SELECT ?path ?min ?max ?class ?type ?least WHERE {{
  ?node a sh:NodeShape ; sh:targetClass ?target ; sh:property ?shape . ?shape sh:path ?path .
  OPTIONAL {{ ?shape sh:minCount ?min }} OPTIONAL {{ ?shape sh:maxCount ?max }} OPTIONAL {{ ?shape sh:class ?class }}
  OPTIONAL {{ ?shape sh:datatype ?type }} OPTIONAL {{ ?shape sh:minInclusive ?least }} }}"""


@pytest.fixture(scope="module")
def graph():
    out = io.BytesIO()
    write_rdf(shapes(ONTOLOGY), out, "turtle")
    return rdflib.Graph().parse(data=out.getvalue(), format="turtle")


def rows(graph, owner):
    found = graph.query(ASKED, initBindings={"target": rdflib.URIRef(NAMESPACE + owner)})
    return {
        str(row.path).rpartition("#")[2]: tuple(
            None if value is None else str(value).rpartition("#")[2]
            for value in (row.min, row.max, row["class"], row.type, row.least)
        )
        for row in found
    }


def test_each_shape_says_what_the_ontology_says(graph):
    games, scores = rows(graph, "NFLGame"), rows(graph, "TeamSummaryScore")
    assert games["gameDate"] == (None, "1", None, "date", None)
    assert games["teamInGame"] == (None, "2", "NFLTeam", None, None)
    assert scores["pointsScored"] == ("1", "1", None, "integer", "0")
    assert scores["teamScoringAll"] == ("1", "1", "NFLTeam", None, None)
    assert (len(games), len(scores)) == (9, 7)


def test_disjoint_classes_and_properties_exclude_each_other(graph):
    sh = rdflib.Namespace(SH)
    game = next(graph.subjects(sh.targetClass, rdflib.URIRef(NAMESPACE + "NFLGame")))
    excluded = {
        str(next(graph.objects(node, sh["class"]))).rpartition("#")[2] for node in graph.objects(game, sh["not"])
    }
    assert excluded == {"NFLTeam", "TeamSummaryScore", "ScoringEvent"}
    assert (None, sh.disjoint, rdflib.URIRef(NAMESPACE + "gameLoser")) in graph


def test_what_may_stand_in_queries_only_has_no_shape(graph):
    assert not [path for path in graph.objects(None, rdflib.Namespace(SH).path) if "builtin" in str(path)]
