"""How annotated statements lead to an answer: the page of derivations that the reasoner draws (R-21)."""

from __future__ import annotations

from basanite.campaign.answering.inside.bindings import bound
from basanite.campaign.answering.inside.desk import Desk, package_rules
from basanite.metrics.answers import match
from basanite.reading.gold.answers import bindings_of, without_own
from basanite.reading.gold.deriving import Book
from basanite.reading.package.model import Package
from basanite.reading.queries.generation import all_queries
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.answers import Answered
from basanite.reading.reasoner.explaining.page import PageMaker, page
from basanite.reading.reasoner.given import Mention
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.terms import Statement


def explain(desk: Desk) -> None:
    """Write `derivation.html` if annotations and rules lead to the answer, and in `found.json` whether they do."""
    package = desk.package()
    query, document = _query(package, desk.data["query"]), desk.data["document"]
    part = desk.data["part"]
    documents = package.documents(part)
    said = [one for one in package.assertions(part, documents) if one.document == document]
    book = Book(Reasoner(package_rules(package), package.ontology), said)
    found = _matched(book, query, desk, package)
    desk.write("found.json", {"found": found is not None, "kind": found.kind if found else None})
    if found is not None:
        mentions: dict[Statement, list[Mention]] = {}
        for one in said:
            mentions.setdefault(one.statement, []).append(Mention(one.document, one.spans))
        maker = PageMaker(book.explainer, mentions, {document: documents[document].text})
        shown = [one for one in map(maker.statement, found.statements) if one is not None]
        (desk.out / "derivation.html").write_bytes(page("Derivation of an answer", query.question, shown, maker))


def _query(package: Package, name: str) -> Query:
    every = (*package.queries, *all_queries(package.ontology))
    return next(query for query in every if query.id == name)


def _matched(book: Book, query: Query, desk: Desk, package: Package) -> Answered | None:
    """The answer of the reasoner that says the same as the pooled one, by the names that annotators marked."""
    derived = book.answers(query)
    told = [{f"?{name}": book.told(term) for name, term in one.bindings} for one in derived]
    variables, prefixes = query.select or query.variables, package.manifest.prefixes
    golden = [bindings_of(one, variables, prefixes, query.ranges(package.ontology)) for one in told]
    matches = match([without_own(bound(desk.data["bindings"]))], golden)
    return derived[matches[0].gold] if matches else None
