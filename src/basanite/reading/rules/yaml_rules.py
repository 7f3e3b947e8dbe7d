"""Rules as YAML: the same parts under the same names, every triple a quoted text on one line (R-10).

YAML's own types are never asked for: every scalar stays text and the parser of triples gives it its type. Anchors,
aliases, tags and double keys are refused (X-8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.patterns import Goal, PatternError, Prefixes, parse_pattern
from basanite.reading.rules.sexpr_rules import FORMAT, Reading, probability_of
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
        reading.fault(entry.line, "an entry is no rule", "write `- rule: name` and its parts below it")
        return None
    bad = reading.findings.counts.total()
    name = _text(entry, "rule", "", reading)
    if not name:
        reading.unnamed += 1
        name = f"rule-{reading.unnamed}"
    _check_keys(entry, name, reading)
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
        reading.fault(entry.line, "nothing stands under `then`", 'write then: ["?g p 5"]', rule=name)
    if reading.findings.counts.total() > bad:
        return None
    if_, if_not, then = (tuple(goal for goal, _ in part) for part in parts)
    lines = tuple(line for part in parts for _, line in part)
    return Rule(name, comment, if_, if_not, then, chance, Place(reading.file, entry.line), lines)


def _check_keys(entry: YamlMap, name: str, reading: Reading) -> None:
    for key in entry.entries.keys() - {*KEYS}:
        reading.fault(entry.lines[key], f"`{key}` is no part of a rule", suggestion(key, KEYS), rule=name)


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
