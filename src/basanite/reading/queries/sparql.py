"""A query in SPARQL, for those who ask a store of their own."""

from __future__ import annotations

from typing import Final

from basanite.reading.patterns import SIGN_OF, Builtin, Goal, Prefixes
from basanite.reading.queries.model import Query

FILTERS: Final = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in SIGN_OF.items()},
    "notEqualTo": "isLiteral({0}) = isLiteral({1}) && {0} != {1}",
    "identicalTo": "sameTerm({0}, {1})",
    "differentFrom": "!sameTerm({0}, {1})",
    "contains": "CONTAINS(STR({0}), STR({1}))",
    "startsWith": "STRSTARTS(STR({0}), STR({1}))",
    "endsWith": "STRENDS(STR({0}), STR({1}))",
    "isLiteral": "isLiteral({0})",
    "isName": "!isLiteral({0})",
}


def sparql(query: Query, prefixes: Prefixes) -> str:
    """The SELECT that finds the same answers.

    >>> from basanite.reading.patterns import parse_pattern
    >>> nfl = Prefixes("urn:nfl:")
    >>> goals = tuple(parse_pattern(text, nfl) for text in ("?G numberOfPeriods ?N", "?N <= 4"))
    >>> print(sparql(Query("short", goals), nfl))
    SELECT DISTINCT ?G ?N WHERE {
      ?G <urn:nfl:numberOfPeriods> ?N .
      FILTER (?N <= "4"^^<http://www.w3.org/2001/XMLSchema#integer>)
    }
    """
    told = " ".join(f"?{name}" for name in query.select or query.variables)
    lines = "\n".join(f"  {_line(goal)}" for goal in query.goals)
    return f"SELECT DISTINCT {told} WHERE {{\n{lines}\n}}"


def _line(goal: Goal) -> str:
    if isinstance(goal, Builtin):
        return f"FILTER ({FILTERS[goal.name].format(*goal.arguments)})"
    return f"{goal} ."
