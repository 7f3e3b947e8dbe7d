"""YAML from strangers as plain text with line numbers: nothing is typed, nothing is shared, no key appears twice (X-8).

PyYAML would turn `no` into a truth value and `2005-01-15` into a date, and an alias of an alias into gigabytes. So only
its events are used: anchors, aliases, tags, second documents and double keys are refused, and every scalar stays text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml

from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

__all__ = ["Faults", "YamlList", "YamlMap", "YamlText", "YamlValue", "read_yaml"]

LARGEST: Final = 4 * 2**20
DEEPEST: Final = 64
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class YamlText:
    """A scalar as it was written, whatever it looks like; `quoted` tells `"true"` from `true`."""

    text: str
    line: int
    column: int = 1
    quoted: bool = False


@dataclass
class YamlList:
    """A sequence."""

    line: int
    items: list[YamlValue] = field(default_factory=list)


@dataclass
class YamlMap:
    """A mapping; `lines` tells where each key stands."""

    line: int
    entries: dict[str, YamlValue] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    key: YamlText | None = None
    """The key that waits for its value, while the text is read."""


YamlValue: TypeAlias = YamlText | YamlList | YamlMap


class _RefusedError(ValueError):
    """Something that we do not read. Never leaves this module."""

    def __init__(self, rule: str, line: int, message: str, fix: str) -> None:
        self.rule, self.line, self.message, self.fix = rule, line, message, fix
        super().__init__(message)


@dataclass(frozen=True)
class Faults:
    """Where the problems of one YAML file go: under one rule, each with its line."""

    file: str
    rule: str
    findings: Findings

    def add(self, line: int | None, message: str, fix: str, *, found: str = "", rule: str = "") -> None:
        """Report one problem."""
        problem = Problem(rule or self.rule, self.file, line, None, message, fix, shortened(found), where="reference")
        self.findings.add(problem)

    def text(self, entry: YamlMap, key: str, *, needed: bool = False) -> str:
        """The text under a key; "" with a problem if it is something else, or missing where it is needed."""
        value = entry.entries.get(key)
        if isinstance(value, YamlText) and (value.text.strip() or not needed):
            return value.text
        if value is not None or needed:
            self.add(entry.lines.get(key, entry.line), f"there is no text under `{key}`", f"write {key}: …")
        return ""

    def texts(self, entry: YamlMap, key: str) -> tuple[YamlText, ...]:
        """The texts listed under a key; what is no text is reported and left out."""
        value = entry.entries.get(key)
        if value is None:
            return ()
        items = value.items if isinstance(value, YamlList) else [value]
        for item in items:
            if not isinstance(item, YamlText):
                self.add(item.line, f"`{key}` holds something that is not text", f'write {key}: ["…", "…"]')
        return tuple(item for item in items if isinstance(item, YamlText))

    def maps(self, entry: YamlMap, key: str) -> Iterator[YamlMap]:
        """The mappings listed under a key."""
        value = entry.entries.get(key)
        if not isinstance(value, YamlList):
            self.add(entry.lines.get(key, entry.line), f"there is no list under `{key}`", f"write {key}: and a list")
            return
        for item in value.items:
            if isinstance(item, YamlMap):
                yield item
            else:
                self.add(item.line, f"an entry of `{key}` is not a mapping", "write key: value lines below the dash")

    def unknown_keys(self, entry: YamlMap, known: frozenset[str]) -> None:
        """Report keys that nobody reads, since they are mostly misspelt ones."""
        for key in entry.entries.keys() - known:
            self.add(entry.lines[key], f"the key `{key}` is not known", suggestion(key, sorted(known)), found=key)


def read_yaml(data: bytes, faults: Faults) -> YamlValue | None:
    """The value of a YAML text; nothing, with a problem that has a line, if it cannot be read or holds a trick."""
    if len(data) > LARGEST:
        faults.add(None, f"{len(data)} bytes", f"at most {LARGEST} are read; split the file", rule="X-8")
        return None
    try:
        return _value_of_text(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        faults.add(data.count(b"\n", 0, error.start) + 1, "the file is not UTF-8", "save it as UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        faults.add(mark.line + 1 if mark else None, f"not YAML: {error.problem or error.context}", "fix this line")
    except yaml.YAMLError as error:
        faults.add(None, f"not YAML: {str(error).splitlines()[0]}", "remove control characters")
    except _RefusedError as refused:
        faults.add(refused.line, refused.message, refused.fix, rule=refused.rule or faults.rule)
    return None


def _value_of_text(text: str) -> YamlValue | None:
    open_: list[YamlList | YamlMap] = []
    top: list[YamlValue] = []
    for event in yaml.parse(text, Loader=_LOADER):
        _refuse_tricks(event)
        line, column = _place(event)
        if isinstance(event, yaml.ScalarEvent):
            _add_value(YamlText(event.value, line, column, bool(event.style)), open_, top)
        elif isinstance(event, yaml.CollectionStartEvent):
            _open(YamlMap(line) if isinstance(event, yaml.MappingStartEvent) else YamlList(line), open_, top)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_.pop()
    if len(top) > 1:
        raise _RefusedError("X-8", top[1].line, "a second document begins", "write one document a file, without ---")
    return top[0] if top else None


def _refuse_tricks(event: yaml.Event) -> None:
    line, _ = _place(event)
    anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
    if isinstance(event, yaml.AliasEvent):
        raise _RefusedError("X-8", line, f"the alias *{anchor} is not allowed", "write the value out")
    if anchor:
        raise _RefusedError("X-8", line, f"the anchor &{anchor} is not allowed", "remove it")
    if tag:
        raise _RefusedError("X-8", line, f"the tag {tag} is not allowed", "remove it")


def _place(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _open(value: YamlList | YamlMap, open_: list[YamlList | YamlMap], top: list[YamlValue]) -> None:
    if len(open_) >= DEEPEST:
        raise _RefusedError("X-8", value.line, f"nested more than {DEEPEST} deep", "write it flat")
    _add_value(value, open_, top)
    open_.append(value)


def _add_value(value: YamlValue, open_: list[YamlList | YamlMap], top: list[YamlValue]) -> None:
    """Put a value where it belongs: into the innermost list or mapping, or on top."""
    if not open_:
        top.append(value)
        return
    inner = open_[-1]
    if isinstance(inner, YamlList):
        inner.items.append(value)
    elif inner.key is None:
        inner.key = _as_key(value, inner)
    else:
        inner.entries[inner.key.text], inner.lines[inner.key.text] = value, inner.key.line
        inner.key = None


def _as_key(value: YamlValue, inner: YamlMap) -> YamlText:
    if not isinstance(value, YamlText):
        fix = "quote a triple that begins with a question mark"
        raise _RefusedError("", value.line, "a key is a list or a mapping", fix)
    if value.text in inner.entries:
        raise _RefusedError(
            "X-8", value.line, f"the key {value.text!r} appears twice in one mapping", "keep one of them"
        )
    return value
