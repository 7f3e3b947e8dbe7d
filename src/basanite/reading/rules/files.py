"""Files of rules, in either form: which reader takes them, and how they are written back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.limits import Limits
from basanite.reading.patterns import Goal, Prefixes
from basanite.reading.rules.names import goal_text, short
from basanite.reading.rules.sexpr_rules import FORMAT, parse_rules
from basanite.reading.rules.tree import CONTRADICTS, Rule, RuleSet, is_contradiction
from basanite.reading.rules.yaml_rules import parse_yaml_rules
from basanite.reading.terms import Iri, Literal

LARGEST: Final = 4 * 2**20
YAML_ENDINGS: Final = (".yaml", ".yml")


def read_rules(
    path: Path, findings: Findings, *, prefixes: Prefixes | None = None, limits: Limits | None = None
) -> RuleSet:
    """The rules of a file, by its ending: `.yaml` or `.yml`, anything else as s-expressions (R-10)."""
    data, limits = read_bounded(path, LARGEST), limits or Limits()
    if path.suffix.lower() in YAML_ENDINGS:
        rules = parse_yaml_rules(data, path.name, findings, prefixes=prefixes, limits=limits)
    else:
        rules = _decoded(data, path, findings, prefixes, limits)
    if len(rules.rules) > limits.rules:
        words = f"{len(rules.rules)} rules; at most {limits.rules} are read"
        findings.add(Problem("X-13", path.name, None, None, words, "split the theory", where="reference"))
        return RuleSet((), rules.prefixes)
    return rules


def _decoded(data: bytes, path: Path, findings: Findings, prefixes: Prefixes | None, limits: Limits) -> RuleSet:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        findings.add(Problem("R-10", path.name, line, None, "not UTF-8", "save the file as UTF-8", where="reference"))
        return RuleSet(())
    before = findings.counts.total()
    rules = parse_rules(text, path.name, findings, prefixes=prefixes, limits=limits)
    if not rules.rules and findings.counts.total() == before:
        fix = "write (rule name :if (?g p ?x) :then (?g q ?x))"
        findings.add(Problem("R-10", path.name, None, None, "the file holds no rules", fix, severity="warn"))
    return rules


def read_all_rules(
    paths: tuple[Path, ...], findings: Findings, *, prefixes: Prefixes | None = None, limits: Limits | None = None
) -> RuleSet:
    """The rules of several files together."""
    whole = RuleSet((), prefixes) if prefixes else RuleSet(())
    for path in paths:
        whole += read_rules(path, findings, prefixes=prefixes, limits=limits)
    return whole


def _head_text(goal: Goal, prefixes: Prefixes) -> str:
    text = goal_text(goal, prefixes)
    return text.replace(short(CONTRADICTS, prefixes), "contradicts", 1) if is_contradiction(goal) else text


def rules_text(rules: RuleSet) -> str:
    """The rules as s-expressions, which are read back as the same rules."""
    prefixes = rules.prefixes
    lines = [f"(format {FORMAT})", f"(namespace {Iri(prefixes.namespace)})"]
    lines += [f"(prefix {name} {Iri(iri)})" for name, iri in prefixes.names.items()]
    return "\n".join([*lines, "", *(_sexpr(rule, prefixes) for rule in rules.rules)])


def _sexpr(rule: Rule, prefixes: Prefixes) -> str:
    parts = [(":if", rule.if_), (":if-not", rule.if_not), (":then", rule.then)]
    lines = [f"(rule {rule.name} {Literal(rule.comment)}" if rule.comment else f"(rule {rule.name}"]
    for part, goals in parts:
        write = _head_text if part == ":then" else goal_text
        if goals:
            lines.append(f"  {part} " + "\n    ".join(f"({write(goal, prefixes)})" for goal in goals))
    if rule.probability is not None:
        lines.append(f"  :probability {rule.probability}")
    return "\n".join(lines) + ")\n"


def rules_yaml(rules: RuleSet) -> str:
    """The rules as YAML, which is read back as the same rules."""
    prefixes = rules.prefixes
    lines = [f"format: {FORMAT}", f"namespace: {_quoted(prefixes.namespace)}"]
    if prefixes.names:
        lines += ["prefixes:", *(f"  {_quoted(name)}: {_quoted(iri)}" for name, iri in prefixes.names.items())]
    return "\n".join([*lines, "rules:", *(_yaml(rule, prefixes) for rule in rules.rules)]) + "\n"


def _yaml(rule: Rule, prefixes: Prefixes) -> str:
    lines = [f"  - rule: {_quoted(rule.name)}"]
    if rule.comment:
        lines.append(f"    comment: {_quoted(rule.comment)}")
    for part, goals in (("if", rule.if_), ("if-not", rule.if_not), ("then", rule.then)):
        write = _head_text if part == "then" else goal_text
        if goals:
            lines += [f"    {part}:", *(f"      - {_quoted(write(goal, prefixes))}" for goal in goals)]
    if rule.probability is not None:
        lines.append(f"    probability: {rule.probability}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text between single quotes, in which YAML reads nothing else; what needs escapes stands between double ones.

    >>> _quoted("it's")
    "'it''s'"
    """
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{escaped}"'
