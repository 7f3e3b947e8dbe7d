"""Configuration files that people write: each table becomes a frozen dataclass, with everything that is wrong by line.

A class that derives from `Section` says once what its table may hold: pydantic checks the type and the bounds of each
entry, the text below a field is its description in the reference and in the JSON Schema (`config_schema`). pydantic
gives no value at all where anything is wrong, so tables are walked here: an entry that does not fit is reported and
stands as its default, and checks across entries still run. Unknown keys are problems, never ignored. An entry that may
be written in several ways is a union: the part that has the shape of what is written (a table, a list, a plain value)
reads it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from basanite.formats.toml_file import Table
from basanite.registry import suggestion

LARGEST_WHOLE: Final = 2**53
NOTHING: Final = object()
"""Where a value may be anything, None among it, and there is none."""
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""Names become folders, files and parts of addresses."""
NAME_FIX: Final = "use letters, digits, `_`, `-` and `.`, at most 64, and begin with a letter or digit"


class WrongError(ValueError):
    """What a validator of ours says: `{key}` and `{place}` are filled in; `instead` is what the entry stands as."""

    def __init__(self, message: str, fix: str, *, rule: str = "", found: Any = NOTHING, instead: Any = NOTHING) -> None:
        self.message, self.fix, self.rule, self.found, self.instead = message, fix, rule, found, instead
        super().__init__(message)


@dataclass(frozen=True)
class Needed:
    """What is said where an entry is missing, and what it stands as until somebody writes it."""

    message: str = ""
    fix: str = ""
    rule: str = ""
    stand_in: Any = NOTHING


@dataclass(frozen=True)
class Like:
    """An entry that is the same as another one where it is missing, or, if so marked, where it is empty."""

    other: str
    empty: bool = False


@dataclass(frozen=True)
class Usual:
    """What the reference says of an entry that is missing, where its default does not say it."""

    words: str


@dataclass(frozen=True)
class Key:
    """How the file spells an entry, where that is no name in Python."""

    name: str


@dataclass(frozen=True)
class OneOf:
    """One of some texts that other modules list."""

    allowed: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """What pydantic checks, and what its JSON Schema says."""
        return core_schema.literal_schema(list(self.allowed))


@dataclass(frozen=True)
class Written:
    """An entry that is written as another class than it is held in; that class's `checked` makes it."""

    kind: type[Section]


UNWRITTEN: Final = "unwritten"
"""Marks a field that no entry sets: `prepared` does."""


def distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Texts of which none is empty or appears twice."""
    if not all(text.strip() for text in texts):
        raise WrongError("`{key}` of {place} is not a list of texts", 'write {key} = ["…"]')
    once = tuple(dict.fromkeys(texts))
    if len(once) < len(texts):
        raise WrongError("`{key}` of {place} names something twice", "name each once", instead=once)
    return once


def _part_of_file_name(text: str) -> str:
    if text.strip() and not NAME.fullmatch(text):
        raise WrongError("`{key}` cannot be part of a file's name", NAME_FIX, instead=text)
    return text


Name: TypeAlias = Annotated[str, AfterValidator(_part_of_file_name)]
Texts: TypeAlias = Annotated[tuple[str, ...], AfterValidator(distinct)]


class Section:
    """A table as a class; a subclass is a frozen dataclass."""

    short: ClassVar[str] = ""
    """The key that a plain text stands for where a table is expected."""
    any_keys: ClassVar[bool] = False
    """Whether other keys than the fields are somebody else's, and not unknown."""
    may_be_empty: ClassVar[bool] = False
    """Whether one of several tables by name may have no entries."""
    file_only: ClassVar[Mapping[str, tuple[Any, str]]] = {}
    """Entries that `prepare` reads and that are no fields: the type of each, and words about it."""

    @classmethod
    def prepare(cls, table: Table) -> Table:
        """The table with defaults that depend on other entries, and with short forms written out."""
        return table

    def check(self, table: Table) -> Any:
        """The value of the table once what must fit together in it is reported: mostly the section itself."""
        return self


SectionKind = TypeVar("SectionKind", bound=Section)


def read_section(kind: type[SectionKind], table: Table) -> Any:
    """The table as a value of a class; every entry that does not fit is reported and stands as its default."""
    entries = section_entries(cast("Hashable", kind))
    if not kind.any_keys:
        own = ["format"] if not table.path else []
        table.check_keys([*own, *kind.file_only, *(entry.key for entry in entries if entry.may_be_written)])
    table = kind.prepare(table)
    values: dict[str, Any] = {}
    for entry in entries:
        values[entry.name] = entry.read(table, values)
    return kind(**values).check(table)


@dataclass(frozen=True)
class Entry:
    """One entry that a section may have."""

    name: str
    kind: Any
    marks: tuple[Any, ...]
    default: Any
    adapters: dict[int, TypeAdapter[Any]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def key(self) -> str:
        """How the file spells it."""
        spelled = self.mark(Key)
        return spelled.name if spelled else self.name

    @property
    def may_be_written(self) -> bool:
        """Whether a file may have it."""
        return UNWRITTEN not in self.marks

    @property
    def is_needed(self) -> bool:
        """Whether a file must have it."""
        must = self.default is NOTHING or self.mark(Needed) is not None
        return must and self.may_be_written and self.mark(Like) is None and self.mark(Usual) is None

    def mark(self, kind: type[Mark]) -> Mark | None:
        """The mark of a kind, if the field has one."""
        return next((mark for mark in self.marks if isinstance(mark, kind)), None)

    @cached_property
    def form(self) -> Any:
        """What the file holds: a kind of value or table, or several of which one is meant."""
        written = self.mark(Written)
        if written is None:
            return self.kind
        return tuple[written.kind, ...] if get_origin(self.kind) is tuple else written.kind  # type: ignore[name-defined]

    def adapter(self, kind: Any) -> TypeAdapter[Any]:
        """What checks a plain value of the entry, or one inside it."""
        if id(kind) not in self.adapters:
            marked: Any = Annotated[(kind, *self.marks)] if kind is self.form and self.marks else kind
            self.adapters[id(kind)] = TypeAdapter(marked)
        return self.adapters[id(kind)]

    @property
    def is_choice(self) -> bool:
        """Whether it is one of some texts; an empty one is none of them, and stands for the default."""
        return get_origin(self.kind) is Literal or self.mark(OneOf) is not None

    def read(self, table: Table, before: Mapping[str, Any]) -> Any:
        """The value in a table, given those of the entries before it."""
        like = self.mark(Like)
        if self.key in table.values:
            value = self._value(self.form, table, self.key)
            return before[like.other] if like and like.empty and not value else value
        if like:
            return before[like.other]
        if not self.is_needed:
            return self._default()
        self._report_missing(self.form, table, None)
        return self._default()

    def _report_missing(self, kind: Any, table: Table, found: Any) -> None:
        words = self.mark(Needed) or Needed()
        message, fix = (words.message, words.fix) if words.message else self._complaint(kind, table)
        found = "" if words.message else found
        table.add(*_fill_texts(self.key, table, message, fix), key=self.key, found=found, rule=words.rule)

    def _default(self) -> Any:
        """What it stands as where nothing that fits is written."""
        needed = self.mark(Needed)
        if needed and needed.stand_in is not NOTHING:
            return needed.stand_in
        if self.default is not NOTHING:
            return self.default() if callable(self.default) else self.default
        return _stand_in(self.kind)

    def _value(self, kind: Any, table: Table, key: str) -> Any:
        """What stands under a key: tables are walked, and everything plain is checked by pydantic."""
        value, plain = table.values[key], type_and_marks(kind)[0]
        inner, arguments = get_origin(plain), get_args(plain)
        if inner in (Union, UnionType):
            return self._value(next((part for part in arguments if _fits(part, value)), arguments[0]), table, key)
        if is_section(plain):
            values = {**table.values, key: _long_form(plain, value)}
            needed = self.is_needed if kind is self.form else not plain.may_be_empty
            return read_section(plain, replace(table, values=values).table(key, needed=needed))
        if inner is tuple and is_section(arguments[0]):
            items = [_long_form(arguments[0], item) for item in value] if isinstance(value, list) else value
            tables = replace(table, values={**table.values, key: items}).tables(key)
            return tuple(read_section(arguments[0], each) for each in tables)
        if inner is Mapping and arguments[1] is not Any:
            names = table.table(key, needed=self.is_needed and is_section(arguments[1]))
            return {name: self._value(arguments[1], names, name) for name in names.values}
        return self._plain(kind, table, key)

    def _plain(self, kind: Any, table: Table, key: str) -> Any:
        found = table.values[key]
        if found == "" and self.is_choice:
            if self.is_needed:
                self._report_missing(kind, table, found)
            return self._default()
        try:
            value = self.adapter(kind).validate_python(_as_tuple(found), strict=True, context=table)
        except ValidationError as error:
            return self._report_misfit(kind, key, table, error)
        if self.is_needed and key == self.key and (value == () or (isinstance(value, str) and not value.strip())):
            self._report_missing(kind, table, found)
        return value

    def _report_misfit(self, kind: Any, key: str, table: Table, error: ValidationError) -> Any:
        """The value that stands for one that does not fit, once the reason is reported."""
        found, instead = table.values[key], NOTHING
        wrong = [each["ctx"]["error"] for each in error.errors() if each["type"] == "value_error"]
        for each in wrong:
            told = found if each.found is NOTHING else each.found
            table.add(*_fill_texts(key, table, each.message, each.fix), key=key, found=told, rule=each.rule)
            instead = each.instead
        if not wrong:
            table.add(*_fill_texts(key, table, *self._complaint(kind, table, found)), key=key, found=found)
        if instead is NOTHING:
            return self._default() if kind is self.form else _stand_in(kind)
        return instead

    def _complaint(self, kind: Any, table: Table, found: Any = "") -> tuple[str, str]:
        """What is wrong with a value that is not of the type, and what to write: both follow from the JSON Schema."""
        schema: dict[str, Any] = {"type": "object"} if is_section(kind) else self.adapter(kind).json_schema()
        schema = next((part for part in reversed(schema.get("anyOf", [])) if part.get("type") != "null"), schema)
        usual = "…" if self.default in (NOTHING, None) or callable(self.default) else str(self.default)
        form = f"write {table.entry_form}"
        allowed = schema.get("enum") or [schema[key] for key in ("const",) if key in schema]
        if allowed and isinstance(found, str) and found:
            return "`{key}` of {place} is unknown", suggestion(found, allowed)
        match schema.get("type"):
            case "boolean":
                return "`{key}` of {place} is neither true nor false", form.replace("{value}", "true")
            case "integer":
                low, high = schema.get("minimum", 0), schema.get("maximum", LARGEST_WHOLE)
                bounds = f"from {low} to {high}" if high < LARGEST_WHOLE else f"from {low} on"
                fix = form.replace("{value}", usual).replace("…", str(low))
                return f"`{{key}}` of {{place}} is not a whole number {bounds}", fix
            case "number":
                low, high = (schema.get(f"exclusive{end}", schema.get(end.lower())) for end in ("Minimum", "Maximum"))
                bounds = f"above {low:g}" if high is None else f"between {low:g} and {high:g}"
                return f"`{{key}}` of {{place}} is not a number {bounds}", form.replace("{value}", "…")
            case "array":
                return "`{key}` of {place} is not a list of texts", form.replace("{value}", '["…"]')
            case "object":
                return "{place} has no table `{key}`", table.table_form
        return "{place} has no text `{key}`", form.replace("{value}", '"…"')


Mark = TypeVar("Mark")


@cache
def section_entries(kind: Any) -> tuple[Entry, ...]:
    """The entries of a section, which is a class, in the order of its fields."""
    hints, found = get_type_hints(kind, include_extras=True), []
    for one in fields(kind):
        plain, marks = type_and_marks(hints[one.name])
        if get_origin(plain) in (Union, UnionType) and NoneType in get_args(plain):
            plain, more = type_and_marks(Union[tuple(part for part in get_args(plain) if part is not NoneType)])  # noqa: UP007
            marks = (*more, *marks)
        default = one.default if one.default_factory is MISSING else one.default_factory
        default = NOTHING if default is MISSING else default
        found.append(Entry(one.name, plain, marks, default))
    return tuple(found)


def is_section(kind: Any) -> bool:
    """Whether a kind of value is a table of its own."""
    return isinstance(kind, type) and issubclass(kind, Section)


def _long_form(kind: type[Section], value: Any) -> Any:
    """A plain text written out as the table that it stands for."""
    return {kind.short: value} if kind.short and isinstance(value, str) else value


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value has the shape of a kind: a table, a list, or neither."""
    plain = type_and_marks(kind)[0]
    is_table = is_section(plain) or get_origin(plain) is Mapping
    if isinstance(value, Mapping):
        return is_table
    if isinstance(value, list):
        return get_origin(plain) is tuple
    return isinstance(value, str) and bool(plain.short) if is_section(plain) else not is_table


def type_and_marks(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type and what stands beside it in `Annotated`."""
    plain, *marks = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    return plain, tuple(marks)


def _fill_texts(key: str, table: Table, *texts: str) -> Iterator[str]:
    """Texts with the key and the words for the table in them; never `format`, since users' texts may have braces."""
    return (text.replace("{key}", key).replace("{place}", table.place) for text in texts)


def _as_tuple(value: Any) -> Any:
    """A value whose lists are tuples: what is frozen has no lists, and strict types take none for them."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _stand_in(kind: Any) -> Any:
    """An empty value of a type."""
    kind, _ = type_and_marks(kind)
    if is_section(kind):
        return kind(**{entry.name: entry._default() for entry in section_entries(cast("Hashable", kind))})
    plain = get_origin(kind) or kind
    return get_args(kind)[0] if plain is Literal else {} if plain is Mapping else plain()
