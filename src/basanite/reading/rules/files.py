"""Files of rules, as s-expressions or as YAML: the same parts and names, every triple in YAML a quoted text (R-10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.limits import Limits
from basanite.reading.patterns import Goal, PatternError, Prefixes, parse_pattern
from basanite.reading.rules.sexpr_rules import FORMAT, Reading, parse_rules, probability_of
from basanite.reading.rules.tree import NAMESPACE, Place, Rule, RuleSet, as_head
from basanite.reading.strict_yaml import Faults, YamlList, YamlMap, YamlText, YamlValue, read_yaml
from basanite.registry import suggestion

PARTS: Final = ("if", "if-not", "then")
KEYS: Final = ("rule", "comment", *PARTS, "probability")
DOCUMENT_KEYS: Final = frozenset({"format", "namespace", "prefixes", "rules"})


def parse_yaml_rules(
    data: bytes, file: str, findings: Findings, *, prefixes: Prefixes | None = None, limits: Limits | None = None
) -> RuleSet:
    """The rules of a YAML file: a list of them, or a mapping with `rules` and the names that they use."""
    reading = Reading(file, findings, prefixes or Prefixes(NAMESPACE), limits or Limits())
    faults = Faults(file, "R-10", findings)
    document = read_yaml(data, faults)
    if isinstance(document, YamlMap):
        document = _document(document, faults, reading)
    if not isinstance(document, YamlList):
        if findings.valid:
            reading.fault(1, "the file holds no list of rules", "write `- rule: name` for each")
        return RuleSet((), reading.prefixes)
    rules = tuple(rule for entry in document.items if (rule := _rule(entry, reading)) is not None)
    return RuleSet(rules, reading.prefixes)


def _document(entry: YamlMap, faults: Faults, reading: Reading) -> YamlValue | None:
    faults.unknown_keys(entry, DOCUMENT_KEYS)
    format_ = faults.text(entry, "format", needed=True)
    if format_ and format_ != FORMAT:
        reading.fault(entry.lines["format"], f"the format {format_[:40]!r} is not known", f"write format: {FORMAT}")
    namespace = faults.text(entry, "namespace")
    if namespace:
        reading.prefixes = replace(reading.prefixes, namespace=namespace)
    names = entry.entries.get("prefixes")
    if isinstance(names, YamlMap):
        given = {name: faults.text(names, name, needed=True) for name in names.entries}
        reading.prefixes = replace(reading.prefixes, names={**reading.prefixes.names, **given})
    return entry.entries.get("rules")


def _rule(entry: YamlValue, reading: Reading) -> Rule | None:
    if not isinstance(entry, YamlMap):
        reading.fault(entry.line, "an entry is not a rule", "write `- rule: name` and its parts below it")
        return None
    bad = reading.findings.counts.total()
    name = _text(entry, "rule", "", reading)
    if not name:
        reading.unnamed += 1
        name = f"rule-{reading.unnamed}"
    for key in entry.entries.keys() - {*KEYS}:
        reading.fault(entry.lines[key], f"`{key}` is not part of a rule", suggestion(key, KEYS), rule=name)
    comment = _text(entry, "comment", name, reading)
    parts = [[*_goals(entry, part, name, reading)] for part in PARTS]
    probability = _text(entry, "probability", name, reading)
    line = entry.lines.get("probability", entry.line)
    chance = (
        probability_of(probability, lambda words, fix: reading.fault(line, words, fix, rule=name))
        if probability
        else None
    )
    if not parts[2]:
        reading.fault(entry.line, "there is nothing under `then`", 'write then: ["?g p 5"]', rule=name)
    if reading.findings.counts.total() > bad:
        return None
    if_, if_not, then = (tuple(goal for goal, _ in part) for part in parts)
    lines = tuple(line for part in parts for _, line in part)
    return Rule(name, comment, if_, if_not, then, chance, Place(reading.file, entry.line), lines)


def _text(entry: YamlMap, key: str, name: str, reading: Reading) -> str:
    value = entry.entries.get(key)
    if value is None or isinstance(value, YamlText):
        return value.text if value else ""
    reading.fault(value.line, f"there is no text under `{key}`", f"write {key}: …", rule=name)
    return ""


def _goals(entry: YamlMap, part: str, name: str, reading: Reading) -> Iterator[tuple[Goal, int]]:
    value = entry.entries.get(part)
    items = value.items if isinstance(value, YamlList) else [value] if value is not None else []
    for item in items:
        if isinstance(item, YamlText) and item.quoted:
            yield from _goal(item, part, name, reading)
        else:
            fix = f'write {part}: ["?g p 5"], each triple between quotes'
            reading.fault(item.line, f"`{part}` holds something that is no quoted text", fix, rule=name)


def _goal(item: YamlText, part: str, name: str, reading: Reading) -> Iterator[tuple[Goal, int]]:
    try:
        goal = parse_pattern(item.text, reading.prefixes)
    except PatternError as error:
        reading.fault(item.line, error.message, error.fix, rule=name, column=error.column)
        return
    yield (as_head(goal, reading.prefixes) if part == "then" else goal), item.line


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
        rules = _rules_of_bytes(data, path, findings, prefixes, limits)
    if len(rules.rules) > limits.rules:
        words = f"{len(rules.rules)} rules; at most {limits.rules} are read"
        findings.add(Problem("X-13", path.name, None, None, words, "split the theory", where="reference"))
        return RuleSet((), rules.prefixes)
    return rules


def _rules_of_bytes(data: bytes, path: Path, findings: Findings, prefixes: Prefixes | None, limits: Limits) -> RuleSet:
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
