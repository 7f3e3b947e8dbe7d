"""Terms and triples as people write them, in the short names of a file of rules; read back, they are the same terms."""

from __future__ import annotations

from functools import lru_cache

from basanite.reading.patterns import SIGN_OF, Builtin, Goal, PatternError, PatternTerm, Prefixes, parse_term
from basanite.reading.terms import Iri, Statement, Term
from basanite.reading.vocabulary import TYPE


def short(term: PatternTerm, prefixes: Prefixes) -> str:
    """A term in its shortest form: a bare name where the namespace gives it its meaning.

    >>> short(Iri("urn:n:Game-1"), Prefixes("urn:n:")), short(Iri("urn:other"), Prefixes("urn:n:"))
    ('Game-1', '<urn:other>')
    """
    if isinstance(term, Iri) and term.value.startswith(prefixes.namespace):
        local = term.value[len(prefixes.namespace) :]
        if _reads_as(local, term, prefixes.namespace):
            return local
    return prefixes.short(term)


@lru_cache(maxsize=65_536)
def _reads_as(local: str, term: Iri, namespace: str) -> bool:
    try:
        return parse_term(local, Prefixes(namespace)) == term
    except PatternError:
        return False


def triple(statement: Statement, prefixes: Prefixes) -> list[str]:
    """A statement as three texts."""
    return [
        short(statement.subject, prefixes),
        property_name(statement.predicate, prefixes),
        short(statement.object, prefixes),
    ]


def property_name(term: PatternTerm, prefixes: Prefixes) -> str:
    """A term in the place of a property."""
    name = "type" if term == TYPE else short(term, prefixes)
    return str(term) if name in ("type", "a") and term != TYPE else name


def goal_text(goal: Goal, prefixes: Prefixes) -> str:
    """A triple or built-in on one line."""
    if isinstance(goal, Builtin):
        name = SIGN_OF.get(goal.name, f"mrq:{goal.name}")
        first, *others = (short(term, prefixes) for term in goal.arguments)
        return " ".join((first, name, *others))
    return " ".join(
        (short(goal.subject, prefixes), property_name(goal.predicate, prefixes), short(goal.object, prefixes))
    )


def named_bindings(bindings: dict[str, Term], prefixes: Prefixes) -> dict[str, str]:
    """Bindings as texts, by the variable with its question mark."""
    return {f"?{name}": short(term, prefixes) for name, term in bindings.items()}
