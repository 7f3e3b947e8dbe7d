"""What may be done with each set of data: the rules as data, shipped beside this file and replaceable (M82)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnknownNameError
from basanite.formats.toml_file import TomlReport, read_checked_toml
from basanite.problems import Findings
from basanite.registry import suggestion

SHIPPED: Final = Path(__file__).with_name("usage_rules.toml")
VERDICTS: Final = {"yes": True, "no": False}
_PACK: Final = re.compile(r"[a-z-]+[0-9]*")
_RULE_KEYS: Final = {"name", "action", "allowed", "condition"}
_OBLIGATION_KEYS: Final = {"name", "text"}
_DOCUMENT_KEYS: Final = {"format", "datasets", "aliases", "rule", "obligation"}


@dataclass(frozen=True, slots=True)
class UsageRule:
    """Whether something may be done with one set of data, and under which condition."""

    name: str
    action: str
    allowed: bool
    condition: str = ""


@dataclass(frozen=True)
class UsageRules:
    """All rules of an evaluation."""

    datasets: Mapping[str, str]
    """What each set is for."""
    aliases: Mapping[str, str]
    rules: Mapping[str, tuple[UsageRule, ...]]
    """By data set, in the order of the file."""
    obligations: Mapping[str, str]
    """What holds whatever the data set."""

    def dataset(self, name: str) -> str:
        """The set that a name means: `EVAL1EVAL2` is `eval`, `QUERY1` is `open-queries`."""
        plain = name.lower()
        meant = {self._pack(part) for part in _PACK.findall(plain)}
        if len(meant) != 1 or not meant <= self.datasets.keys():
            raise UnknownNameError(f"There are no usage rules for {name!r}. {suggestion(plain, tuple(self.datasets))}")
        return meant.pop()

    def _pack(self, name: str) -> str:
        """The set that one pack belongs to: the number of a pack matters only where it is an alias of its own."""
        bare = name.rstrip("0123456789")
        return self.aliases.get(name) or self.aliases.get(bare, bare)


def rules_for(dataset: str, rules: UsageRules | None = None) -> tuple[UsageRule, ...]:
    """What may and may not be done with a set of data.

    >>> [rule.allowed for rule in rules_for("EVAL1") if rule.name == "score-locally"]
    [False]
    """
    rules = rules or shipped_rules()
    return rules.rules[rules.dataset(dataset)]


@cache
def shipped_rules() -> UsageRules:
    """The rules that come with Basanite: those of the MATERIAL plan."""
    rules = load_usage_rules(SHIPPED, Findings())
    assert rules is not None  # our own file, and a test reads it
    return rules


def load_usage_rules(path: Path, findings: Findings) -> UsageRules | None:
    """Read a file of usage rules; whatever is wrong with it becomes problems, and then there are none."""
    return read_checked_toml(path, "usage-rules", "M82", _usage_rules, findings)


def _usage_rules(document: Mapping[str, Any], report: TomlReport) -> UsageRules:
    report.unknown_keys(document, _DOCUMENT_KEYS, "the file")
    datasets = _texts(document, "datasets", report)
    rules: dict[str, list[UsageRule]] = {dataset: [] for dataset in datasets}
    for place, entry in report.tables(document, "rule"):
        for dataset, rule in _verdicts(entry, place, tuple(datasets), report).items():
            rules[dataset].append(rule)
    return UsageRules(
        datasets,
        _aliases(document, datasets, report),
        {dataset: tuple(found) for dataset, found in rules.items()},
        _obligations(document, report),
    )


def _verdicts(
    entry: Mapping[str, Any], place: str, datasets: tuple[str, ...], report: TomlReport
) -> dict[str, UsageRule]:
    """One rule, for each data set that it names."""
    report.unknown_keys(entry, _RULE_KEYS, place)
    name, action = report.text(entry, "name", place), report.text(entry, "action", place)
    condition = report.text(entry, "condition", place, needed=False)
    allowed = report.table(entry, "allowed")
    report.unknown_keys(allowed, set(datasets), f"`allowed` of {place}")
    said = {dataset: str(allowed[dataset]) for dataset in datasets if dataset in allowed}
    for dataset, verdict in said.items():
        if verdict not in VERDICTS:
            report.add(f"{place} says {verdict!r} for {dataset}", 'write "yes" or "no"', found=verdict)
    return {
        dataset: UsageRule(name, action, VERDICTS[verdict], condition)
        for dataset, verdict in said.items()
        if verdict in VERDICTS
    }


def _aliases(document: Mapping[str, Any], datasets: Mapping[str, str], report: TomlReport) -> dict[str, str]:
    aliases = _texts(document, "aliases", report)
    for alias, dataset in aliases.items():
        if dataset not in datasets:
            report.add(f"the alias {alias!r} means {dataset!r}", suggestion(dataset, tuple(datasets)), found=dataset)
    return {alias.lower(): dataset for alias, dataset in aliases.items()}


def _obligations(document: Mapping[str, Any], report: TomlReport) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, entry in report.tables(document, "obligation"):
        report.unknown_keys(entry, _OBLIGATION_KEYS, place)
        found[report.text(entry, "name", place)] = report.text(entry, "text", place)
    return found


def _texts(document: Mapping[str, Any], key: str, report: TomlReport) -> dict[str, str]:
    table = report.table(document, key)
    return {name: report.text(table, name, f"[{key}]") for name in table}
