"""Files of rules, in either form: which reader takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.limits import Limits
from basanite.reading.patterns import Prefixes
from basanite.reading.rules.sexpr_rules import parse_rules
from basanite.reading.rules.tree import RuleSet
from basanite.reading.rules.yaml_rules import parse_yaml_rules

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
