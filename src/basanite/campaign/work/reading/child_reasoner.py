"""The reasoner's six services: check, infer, explain, query, contexts, combinations; each within limits (R-23, X-13).

Statements come as RDF, or in a JSON object with `statements` (lists of three texts), `query`, `rules` of the caller's
own, and what else a service takes. Rules and ontology are those of a package, unless the caller brings rules.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from basanite.campaign.work.reading.child import TASK, Desk, RefusalError, read_bindings
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.formats.strict_json import parse
from basanite.metrics.answers import match
from basanite.problems import Findings, Problem
from basanite.reading.gold.answers import bindings_of, without_own
from basanite.reading.gold.derivation import Book
from basanite.reading.limits import Limits
from basanite.reading.package.checks import package_rules
from basanite.reading.package.model import Package
from basanite.reading.patterns import Goal, PatternError, Prefixes, parse_pattern
from basanite.reading.queries import all_queries
from basanite.reading.query import Query
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.combinations import Bounds, combinations, read_theory
from basanite.reading.reasoner.contexts import contexts
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.explanation_files import as_data, explanation
from basanite.reading.reasoner.explanation_page import PageMaker, page
from basanite.reading.reasoner.given import Given, Mention, read_statements
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.reasoner.plain import combinations_object, contexts_object, inference_object
from basanite.reading.reasoner.session import Session
from basanite.reading.rules.checks import check_query, check_rules
from basanite.reading.rules.sexpr_rules import parse_graph, parse_rules
from basanite.reading.rules.tree import RuleSet
from basanite.reading.terms import Statement

Value = TypeVar("Value")
LARGEST: Final = 64 * 2**20
KNOWN: Final = frozenset({"statements", "query", "rules", "limits", "largest", "derivations", "theory", "total"}) | {
    "at_least",
    "at_most",
    "exactly",
    "statement",
}


def reason(desk: Desk) -> None:
    """Do one service and write `answer.json`; a limit that is reached is a refusal, never part of an answer."""
    asked = Asked(desk)
    found = SERVICES[desk.data["service"]](asked)
    for one in found.get("undecided", ()):
        if "limit" in one:
            where = f" in rule {one['rule']}" if one.get("rule") else ""
            words = f"undecided: the limit on {one['limit']}, {one['most']}, was reached{where}"
            raise RefusalError("X-13", words, "send less input")
    desk.write("answer.json", found)


class Asked:
    """A call: what was sent, and the theory it is about."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.fields = _fields(desk)
        self.limits = _limits(desk.data["limits"], self.fields.get("limits", {}))
        self.package: Package = desk.package()
        self.rules = self._rules()

    @property
    def prefixes(self) -> Prefixes:
        """The short names that statements and queries are written with."""
        return self.rules.prefixes

    @property
    def reasoner(self) -> Reasoner:
        """The theory."""
        return Reasoner(self.rules, self.package.ontology, self.limits)

    def _rules(self) -> RuleSet:
        text = self.fields.get("rules")
        if text is None:
            return package_rules(self.package)
        findings = Findings()
        rules = parse_rules(
            _text("rules", text), "rules", findings, prefixes=self.package.manifest.prefixes, limits=self.limits
        )
        if findings.valid:
            check_rules(rules, self.package.ontology, findings)
        return _sound(rules, findings)

    def given_statements(self) -> Given:
        """The statements, whatever form they came in."""
        findings = Findings()
        path = self.desk.files["body"] if self.desk.data["media"] != "json" else self._lines()
        return _sound(read_statements(path, self.prefixes, findings), findings)

    def _lines(self) -> Path:
        found = self.fields.get("statements", [])
        if not isinstance(found, list):
            fix = 'write "statements": [["game-1", "hasOvertimePlay", "true"]]'
            raise RefusalError("R-23", "the statements are not a list", fix)
        path = Path(tempfile.mkdtemp()) / "statements.ndjson"
        path.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
        return path

    def goals(self) -> tuple[Goal, ...]:
        """The triples of the query."""
        text, findings = self.fields.get("query") or self.desk.data.get("query") or "", Findings()
        goals = tuple(_goals(_text("query", text), self.prefixes, findings))
        if findings.valid and goals:
            check_query(goals, findings)
        return _sound(goals, findings)


def _check(asked: Asked) -> dict[str, Any]:
    found = _infer(asked, derivations=False)
    return {name: found[name] for name in ("consistent", "contradictions", "incomplete", "undecided")}


def _infer(asked: Asked, *, derivations: bool = True) -> dict[str, Any]:
    inference = asked.reasoner.infer(asked.given_statements().statements)
    explainer = Explainer(inference)
    goals = asked.goals()
    answers = answer(inference, goals, explainer=explainer) if goals else None
    wanted = derivations and asked.fields.get("derivations", True) is not False
    return inference_object(inference, explainer, answers, derivations=wanted)


def _explain(asked: Asked) -> dict[str, Any]:
    """How a statement was derived, down to what was sent; without one, what is behind each contradiction (R-9)."""
    session = Session(asked.reasoner, asked.given_statements())
    if not session.inference.complete:
        return {"undecided": [one.as_dict() for one in session.inference.undecided]}
    text = asked.fields.get("statement") or asked.desk.data.get("statement") or None
    found = explanation(session, None if text is None else _text("statement", text))
    if found is None:
        fix = "ask `infer` for what does follow, or send the statement itself"
        raise RefusalError("R-23", "the statement was not sent and does not follow", fix)
    return as_data(session, found)


def _query(asked: Asked) -> dict[str, Any]:
    if not asked.goals():
        raise RefusalError("R-23", "the query is missing", 'write "query": "?G hasOvertimePlay true"')
    found = _infer(asked, derivations=False)
    names = ("answers", "kinds", "probabilities", "unknown", "undecided", "consistent")
    return {name: found[name] for name in names if name in found}


def _contexts(asked: Asked) -> dict[str, Any]:
    which = "largest" if asked.fields.get("largest") is True else "maximal"
    found = contexts(asked.reasoner, asked.given_statements().statements, which=which)  # type: ignore[arg-type]
    return contexts_object(found, asked.prefixes)


def _combinations(asked: Asked) -> dict[str, Any]:
    """Which combinations of events make up a total, under a theory of the package."""
    total = asked.fields.get("total")
    if type(total) is not int or not 0 <= total <= 10**6:
        raise RefusalError("R-23", "the total is not a whole number of at least 0", 'write "total": 20')
    bounds = Bounds(*(_counts(asked.fields, name) for name in ("at_least", "at_most", "exactly")))
    findings = Findings()
    theory = read_theory(_theory(asked), findings)
    if theory is None:
        raise InvalidInputError(TASK, findings)
    return combinations_object(theory, total, bounds, combinations(theory, total, bounds, limits=asked.limits))


def _theory(asked: Asked) -> Path:
    """The theory of that name, or the only one."""
    known = {path.stem: path for path in sorted((asked.package.root / "theories").glob("*.toml"))}
    name = asked.fields.get("theory", next(iter(known), ""))
    if not isinstance(name, str) or name not in known:
        fix = f"name one of {', '.join(known)}" if known else "put one into theories/ of the package"
        raise RefusalError("R-23", "the package has no such theory", fix, status=404)
    return known[name]


SERVICES: Final[Mapping[str, Callable[[Asked], dict[str, Any]]]] = {
    "check": _check,
    "infer": _infer,
    "explain": _explain,
    "query": _query,
    "contexts": _contexts,
    "combinations": _combinations,
}


def _fields(desk: Desk) -> dict[str, Any]:
    """The object that was sent; a body of RDF has none."""
    if desk.data["media"] != "json":
        return {}
    parsed = parse(read_bounded(desk.files["body"], LARGEST) or b"{}", limit=LARGEST, rule="R-23")
    if parsed.fault or not isinstance(parsed.value, dict):
        words = parsed.fault or "the body is not a JSON object"
        raise RefusalError(parsed.rule or "R-23", words, 'send {"statements": [["…", "…", "…"]]}', line=parsed.line)
    for name in sorted(parsed.value.keys() - KNOWN):
        raise RefusalError("R-23", f"unknown key {name[:60]!r}", f"use {', '.join(sorted(KNOWN))}")
    return dict(parsed.value)


def _limits(most: Mapping[str, int], wanted: Any) -> Limits:
    """The limits of this server; a caller may ask for tighter ones."""
    limits = replace(Limits(), **most)
    names = {field.name for field in fields(Limits)}
    if not isinstance(wanted, dict) or not wanted.keys() <= names:
        raise RefusalError("X-13", "unknown limits", f"use {', '.join(sorted(names))}")
    for name, number in wanted.items():
        if type(number) is not int or not 0 < number <= getattr(limits, name):
            fix = f"write a whole number from 1 to {getattr(limits, name)}"
            raise RefusalError("X-13", f"the limit on {name} cannot be {number!r:.40}", fix)
    return replace(limits, **wanted)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise RefusalError("R-23", f"{name!r} is not a text", f'write "{name}": "…"')


def _goals(text: str, prefixes: Prefixes, findings: Findings) -> list[Goal]:
    """Triples in brackets, or one per line."""
    if "(" in text:
        return list(parse_graph(text, "query", findings, prefixes))
    goals = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        try:
            goals.append(parse_pattern(line, prefixes))
        except PatternError as error:
            findings.add(Problem("R-12", "query", number, None, error.message, error.fix, column=error.column))
    return goals


def _counts(fields_: Mapping[str, Any], name: str) -> dict[str, int]:
    found = fields_.get(name, {})
    if not isinstance(found, dict) or not all(type(one) is int and 0 <= one <= 10**6 for one in found.values()):
        raise RefusalError("R-23", f"{name!r} does not count events", f'write "{name}": {{"fg": 1}}')
    return {str(event): count for event, count in found.items()}


def _sound(value: Value, findings: Findings) -> Value:
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    return value


def explain(desk: Desk) -> None:
    """Write `derivation.html` if annotations and rules lead to the answer, and in `found.json` whether they do."""
    package = desk.package()
    known = (*package.queries, *all_queries(package.ontology))
    query = next(one for one in known if one.id == desk.data["query"])
    document = desk.data["document"]
    part = desk.data["part"]
    documents = package.documents(part)
    said = [one for one in package.assertions(part, documents) if one.document == document]
    book = Book(Reasoner(package_rules(package), package.ontology), said)
    found = _matching_answer(book, query, desk, package)
    desk.write("found.json", {"found": found is not None, "kind": found.kind if found else None})
    if found is not None:
        mentions: dict[Statement, list[Mention]] = {}
        for one in said:
            mentions.setdefault(one.statement, []).append(Mention(one.document, one.spans))
        maker = PageMaker(book.explainer, mentions, {document: documents[document].text})
        shown = [one for one in map(maker.statement, found.statements) if one is not None]
        (desk.out / "derivation.html").write_bytes(page("Derivation of an answer", query.question, shown, maker))


def _matching_answer(book: Book, query: Query, desk: Desk, package: Package) -> Answered | None:
    """The answer of the reasoner that says the same as the pooled one, by the names that annotators marked."""
    derived = book.answers(query)
    told = [{f"?{name}": book.answer_value(term) for name, term in one.bindings} for one in derived]
    variables, prefixes = query.select or query.variables, package.manifest.prefixes
    golden = [bindings_of(one, variables, prefixes, query.ranges(package.ontology)) for one in told]
    matches = match([without_own(read_bindings(desk.data["bindings"]))], golden)
    return derived[matches[0].gold] if matches else None
