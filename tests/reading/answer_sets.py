"""An independent reading of rules: as text for the solver clingo, with numbers guarded against 32 bits."""

from __future__ import annotations

import clingo

from basanite.reading.patterns import Builtin, Variable
from basanite.reading.terms import Iri, Literal

SIGNS = {"lessThan": "<", "lessThanOrEqualTo": "<=", "greaterThan": ">", "greaterThanOrEqualTo": ">="}
LARGEST = 2**31 - 1


class TooLargeError(ValueError):
    """A number that the solver would wrap without a word."""


def term_text(term):
    """A term of the solver for a term of ours; whole numbers are `n(5)`, so that they compare with numbers only."""
    if isinstance(term, Variable):
        return f"V_{term.name}"
    if isinstance(term, Literal) and term.datatype.endswith("#integer"):
        if abs(int(term.lexical)) > LARGEST:
            raise TooLargeError(term.lexical)
        return f"n({int(term.lexical)})"
    kind = "i" if isinstance(term, Iri) else "l"
    return f'{kind}("{term.value if kind == "i" else term.lexical + "^" + term.datatype}")'


def triple_text(name, pattern, first=""):
    return f"{name}({first}{', '.join(map(term_text, pattern.terms))})"


def goal_text(goal):
    """A goal of the body; only numbers are compared or added."""
    if not isinstance(goal, Builtin):
        return triple_text("h", goal)
    if goal.name == "plus":
        one, other, total = (number(term) for term in goal.arguments)
        return f"{guard(goal)}{total} = {one} + {other}"
    one, other = (number(term) for term in goal.arguments)
    return f"{guard(goal)}{one} {SIGNS[goal.name]} {other}"


def number(term):
    return f"N_{term.name}" if isinstance(term, Variable) else str(int(term.lexical))


def guard(goal):
    """Numbers out of their wrapping; what is no number then matches nothing."""
    inputs = goal.arguments[:-1] if goal.name == "plus" else goal.arguments
    parts = [f"n(N_{term.name}) = V_{term.name}, " for term in inputs if isinstance(term, Variable)]
    if goal.name == "plus":
        parts.append(f"V_{goal.arguments[-1].name} = n(N_{goal.arguments[-1].name}), ")
    return "".join(parts)


def rule_lines(at, rule):
    """A rule: what it supports is kept apart by rule, so that none is blocked by its own."""
    body = [goal_text(goal) for goal in rule.if_]
    for place, goal in enumerate(rule.if_not):
        own = [name for name in goal.variables if name in rule.variables]
        bound = ", ".join(f"V_{name}" for name in own)
        name = f"b{at}_{place}" + (f"({bound})" if own else "")
        yield f"{name} :- {triple_text('o', goal, f'{at}, ')}."
        body.append(f"not {name}")
    for head in rule.heads:
        yield f"{triple_text('s', head, f'{at}, ')} :- {', '.join(body)}."


def program(rules, statements):
    """Rules and statements as one program."""
    lines = [f"given({term_text(s.subject)}, {term_text(s.predicate)}, {term_text(s.object)})." for s in statements]
    lines += ["h(S,P,O) :- given(S,P,O).", "h(S,P,O) :- s(_,S,P,O), name(S).", "#show h/3."]
    lines += ["name(i(X)) :- s(_,i(X),_,_)."]
    for at, rule in enumerate(rules):
        lines += [f"o({at},S,P,O) :- given(S,P,O).", f"o({at},S,P,O) :- s(R,S,P,O), name(S), R != {at}."]
        lines += rule_lines(at, rule)
    return "\n".join(lines)


def answer_sets(rules, statements, most=200):
    """All answer sets, each as a set of texts; nothing if there are more than so many."""
    control = clingo.Control([str(most + 1), "--warn=none"])
    control.add("base", [], program(rules, statements))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        found = [{str(symbol) for symbol in model.symbols(shown=True)} for model in handle]
    return found if len(found) <= most else None


def as_atoms(statements):
    """Statements as the solver would print them."""
    return {
        str(clingo.parse_term(f"h({term_text(s.subject)}, {term_text(s.predicate)}, {term_text(s.object)})"))
        for s in statements
    }
