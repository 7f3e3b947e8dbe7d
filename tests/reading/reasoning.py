"""What the tests of the reasoner share: theories and statements as short texts."""

from __future__ import annotations

from pathlib import Path

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import check_rules
from basanite.reading.rules.sexpr_rules import graph_statements, parse_rules
from basanite.reading.rules.tree import NAMESPACE, triple

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "reading"
NAMES = Prefixes(NAMESPACE)


def rules(text):
    """Rules that have no faults."""
    findings = Findings()
    found = parse_rules(text, "test.rules", findings)
    check_rules(found, None, findings)
    assert findings.valid, findings.problems
    return found


def statements(text):
    """Statements as a bracketed list."""
    findings = Findings()
    found = graph_statements(text, "test.graph", findings, NAMES)
    assert findings.valid, findings.problems
    return found


def inferred(theory, given, **limits):
    """What follows from statements under rules, both as texts."""
    return Reasoner(rules(theory), None, Limits(**limits)).infer(statements(given))


def derived(inference):
    """What was derived, as texts."""
    return [" ".join(triple(statement, NAMES)) for statement in inference.derived]


def contradicted(inference):
    """The rules that found contradictions."""
    return [one.rule for one in inference.contradictions]
