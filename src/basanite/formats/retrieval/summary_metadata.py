"""Metadata of summaries: one JSON file for each returned document, held against a schema, its own name and the plan.

Most files are in order, and a season has tens of thousands: `_is_plain` passes those by hand. Whatever it doubts goes
through the schema and every rule one by one, for messages with a JSON pointer. A test holds the two against each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from jsonschema import Draft4Validator, FormatChecker
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from basanite.errors import SettingError
from basanite.formats.retrieval.instructions import COMPONENTS
from basanite.formats.retrieval.instructions import LONGEST as INSTRUCTIONS_LENGTH
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem, Severity, shortened

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
LEAP_SECOND_DAYS = ((6, 30), (12, 31))
TEAMS = ("FLAIR", "QUICKSTIR", "SARAL", "SCRIPTS")
"""The teams that the plan names; a task is given its own list (C27)."""
SUFFIX = ".json"
IMAGE_SUFFIXES = (".jpg", ".png")
LARGEST = 2**18
MOST_STRINGS = MOST_WORDS = 100
MOST_BREACHES = 50
LABEL = re.compile(r"[a-zA-Z0-9]+")
UUID = re.compile(r"[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}")
IN_NAME = ("team_id", "sys_label", "query_id", "document_id")
"""The properties that the file's name repeats, in its order (M45)."""
TEXTS = (*IN_NAME, "uuid", "run_name", "run_date_time", "image_filename")
REQUIRED = frozenset({*TEXTS, "content_list"})
WITH_INSTRUCTIONS = REQUIRED | {"instructions"}
CHECKED_AS = {"team_id": "M44", "sys_label": "M44", "uuid": "M44", "run_date_time": "M44", "image_filename": "M46"}
"""The rule that a wrong value of a property goes by, where it is not the schema in general (M43)."""
VALUE_KEYWORDS = frozenset({"pattern", "format", "enum"})
SCHEMA_FAULTS = (
    Unresolvable,
    UnknownType,
    RecursionError,
    re.error,
    AttributeError,
    TypeError,
    ValueError,
    ArithmeticError,
)
"""What comes out of a validator whose schema makes no sense."""


def is_date_time(text: object) -> bool:
    """Whether this is a date-time of RFC 3339 that can exist, with an offset; what is no string passes (M44).

    Most schema validators skip this. A 60th second is accepted only where one can be: at 23:59:60 UTC on 30 June or 31
    December.

    >>> [is_date_time(text) for text in ("2018-03-27T13:51:00-05:00", "2018-03-27 13:51:00", "2018-02-29T00:00:00Z")]
    [True, False, False]
    """
    if not isinstance(text, str):
        return True
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    ahead = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    if ahead >= timedelta(days=1) or int(found[9] or 0) > 59 or second > 60:
        return False
    try:  # 400 years later the calendar is the same, and RFC 3339 knows a year 0
        local = datetime(2000 + year % 400, month, day, hour, minute)
    except ValueError:
        return False
    utc = local + ahead if found[7] == "-" else local - ahead
    return second < 60 or ((utc.month, utc.day) in LEAP_SECOND_DAYS and (utc.hour, utc.minute) == (23, 59))


@dataclass(frozen=True, slots=True)
class SummaryName:
    """What the name of a metadata file says: `<Team>.<Label>.<Query>.<Document>.json`."""

    team: str
    label: str
    query: str
    document: str

    @classmethod
    def parse(cls, name: str) -> SummaryName | None:
        """The parts of a file's name, without its folder; None if it has another form. A document may have dots.

        >>> SummaryName.parse("FLAIR.MySystem1.query123.MATERIAL_BASE-1A_12345678.json").query
        'query123'
        """
        base = name.rpartition("/")[2]
        parts = base.removesuffix(SUFFIX).split(".", 3)
        return cls(*parts) if base.endswith(SUFFIX) and len(parts) == 4 and all(parts) else None

    @property
    def base(self) -> str:
        """The name without its extension, which the image shares (M46)."""
        return f"{self.team}.{self.label}.{self.query}.{self.document}"

    def parts(self) -> tuple[str, str, str, str]:
        """Team, label, query and document."""
        return self.team, self.label, self.query, self.document


@dataclass(frozen=True, slots=True)
class Summary:
    """The metadata of one summary that broke no rule."""

    name: SummaryName
    uuid: str
    run_name: str
    run_date_time: str
    image: str
    content: tuple[str, ...]
    instructions: Mapping[str, str] = field(default_factory=dict)
    """The team's own words, not yet sanitised; parts that are no strings or are not known are left out (M50)."""


@dataclass(frozen=True)
class SummaryRules:
    """What metadata are held against, made ready once for all files."""

    teams: tuple[str, ...]
    validator: Draft4Validator
    plain: bool
    """Whether the schema is the shipped one, for which good files can be passed by hand."""


def summary_rules(teams: Sequence[str] = TEAMS, schema: bytes | None = None) -> SummaryRules:
    """Rules for these registered teams, with the shipped schema or the organiser's own (C18, C27)."""
    shipped = files("basanite.formats.retrieval").joinpath("summary_schema.json")  # the plan's, restored (C18)
    parsed = parse(schema if schema is not None else shipped.read_bytes(), limit=2**20, rule="M43")
    if parsed.fault or not isinstance(parsed.value, dict):
        raise SettingError(f"The schema cannot be read: {parsed.fault or 'it is not a JSON object'}.")
    remote = next((target for target in _references(parsed.value) if not target.startswith("#")), None)
    if remote is not None:
        raise SettingError(f"The schema refers to {shortened(remote)}: put that part into the schema itself.")
    try:
        Draft4Validator.check_schema(parsed.value)
    except SchemaError as error:
        raise SettingError(f"The schema is not valid under draft 4: {shortened(error.message, 200)}.") from error
    except SCHEMA_FAULTS as error:
        raise SettingError(f"The schema cannot be used: {shortened(str(error), 200)}.") from error
    formats = FormatChecker(formats=())
    formats.checks("date-time")(is_date_time)
    validator = Draft4Validator(parsed.value, registry=Registry(), format_checker=formats)
    return SummaryRules(tuple(teams), validator, schema is None)


def read_summary(name: str, data: bytes, rules: SummaryRules, findings: Findings) -> Summary | None:
    """Check one metadata file; None if it must be rejected. What is found goes into the findings; never raises."""
    place = SummaryName.parse(name)
    parsed = parse(data, limit=LARGEST, rule="M43")
    if parsed.fault:
        fix = "write one JSON object as UTF-8, each property once"
        findings.add(Problem(parsed.rule, name, parsed.line, None, parsed.fault, fix, column=parsed.column))
        return None
    if place is not None and rules.plain and _is_plain(parsed.value, place, rules.teams):
        return _summary(parsed.value, place)
    problems = list(check_summary(name, parsed.value, rules))
    findings.extend(problems)
    rejected = any(problem.severity == "reject" for problem in problems)
    return None if rejected or place is None else _summary(parsed.value, place)


def check_summary(name: str, value: Any, rules: SummaryRules) -> Iterator[Problem]:
    """Every problem of a parsed metadata file, by the schema and by the rules that no schema can state."""
    yield from _schema_problems(name, value, rules)
    if isinstance(value, dict):
        for fault in (*_name_faults(name, value), *_value_faults(value, rules), *_instruction_faults(value)):
            yield fault.problem(name)


def word_count(content: Sequence[str]) -> int:
    """How many blank-separated words a list of snippets has (M47).

    >>> word_count(["secret payment", "panel"])
    3
    """
    return sum(len(text.split()) for text in content)


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is wrong at one JSON pointer."""

    rule: str
    pointer: str
    found: Any
    message: str
    fix: str
    severity: Severity = "reject"

    def problem(self, file: str) -> Problem:
        """The same as a problem of that file."""
        found = self.found if isinstance(self.found, str) else json.dumps(self.found)[:200]
        message = f"{self.pointer or 'the whole file'}: {self.message}"
        return Problem(self.rule, file, None, None, message, self.fix, shortened(found), severity=self.severity)


def _summary(value: Mapping[str, Any], name: SummaryName) -> Summary:
    """What the file says; a property that the organiser's own schema does not ask for may be empty."""
    given, content = value.get("instructions"), value.get("content_list")
    shown = {part: text for part, text in given.items() if part in COMPONENTS} if isinstance(given, dict) else {}
    return Summary(
        name=name,
        uuid=_text(value.get("uuid")),
        run_name=_text(value.get("run_name")),
        run_date_time=_text(value.get("run_date_time")),
        image=_text(value.get("image_filename")),
        content=tuple(text for text in content if isinstance(text, str)) if isinstance(content, list) else (),
        instructions={part: text for part, text in shown.items() if isinstance(text, str)},
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_plain(value: Any, name: SummaryName, teams: Sequence[str]) -> bool:
    """Whether a file is in order beyond doubt under the shipped schema."""
    if not isinstance(value, dict) or value.keys() not in (REQUIRED, WITH_INSTRUCTIONS):
        return False
    if not all(isinstance(value[key], str) for key in TEXTS):
        return False
    return (
        tuple(value[key] for key in IN_NAME) == name.parts()
        and name.team in teams
        and LABEL.fullmatch(name.label) is not None
        and UUID.fullmatch(value["uuid"]) is not None
        and is_date_time(value["run_date_time"])
        and value["image_filename"][:-4] == name.base
        and value["image_filename"][-4:] in IMAGE_SUFFIXES
        and isinstance(value["content_list"], list)
        and 1 <= len(value["content_list"]) <= MOST_STRINGS
        and all(isinstance(text, str) for text in value["content_list"])
        and word_count(value["content_list"]) <= MOST_WORDS
        and _are_plain_instructions(value.get("instructions", {}))
    )


def _are_plain_instructions(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    parts = all(part in COMPONENTS and isinstance(text, str) for part, text in given.items())
    return parts and all(len(text) <= INSTRUCTIONS_LENGTH for text in given.values())


def _schema_problems(name: str, value: Any, rules: SummaryRules) -> Iterator[Problem]:
    try:
        for at, error in enumerate(rules.validator.iter_errors(value)):
            if at == MOST_BREACHES:
                return
            yield _breach(error).problem(name)
    except (Unresolvable, RecursionError) as error:
        raise SettingError("The schema refers to a part that it does not have, or to itself without end.") from error
    except SCHEMA_FAULTS as error:
        raise SettingError(f"The schema cannot be used: {shortened(str(error), 200)}.") from error


def _breach(error: ValidationError) -> _Fault:
    """One breach of the schema, under the rule that speaks of it."""
    pointer = "".join(f"/{_pointer_step(step)}" for step in error.absolute_path)
    rule, severity = _rule_of(list(error.absolute_path), str(error.validator))
    found = error.instance if not isinstance(error.instance, dict | list) else f"{len(error.instance)} entries"
    return _Fault(rule, pointer, found, _breach_message(error), _fix(error), severity)


def _breach_message(error: ValidationError) -> str:
    """The validator's own words, save where they would repeat the whole value."""
    messages = {
        "type": f"a value of type {error.validator_value} is wanted",
        "pattern": f"does not match {shortened(str(error.validator_value))}",
        "format": f"is not a {error.validator_value}",
        "minItems": f"too short: at least {error.validator_value} entries are required",
        "maxItems": f"too long: at most {error.validator_value} entries are required",
    }
    return messages.get(str(error.validator)) or shortened(error.message, 160)


def _rule_of(path: Sequence[str | int], keyword: str) -> tuple[str, Severity]:
    top = path[0] if path else ""
    if top == "instructions" and len(path) == 2 and keyword == "type":
        return "M50", "warn"
    if top == "content_list" and keyword in ("minItems", "maxItems"):
        return "M47", "reject"
    if keyword in VALUE_KEYWORDS:
        return CHECKED_AS.get(str(top), "M43"), "reject"
    return "M43", "reject"


def _fix(error: ValidationError) -> str:
    cures = {
        "required": "add the property",
        "additionalProperties": "leave out what the schema does not name",
        "type": f"write a value of type {error.validator_value}",
        "format": "write it like 2018-03-27T13:51:00-05:00, with the offset from UTC",
        "pattern": f"write a value that matches {shortened(str(error.validator_value))}",
        "enum": "write one of the values that the schema lists",
        "minItems": "list 1 to 100 strings",
        "maxItems": "list 1 to 100 strings",
    }
    return cures.get(str(error.validator), "see the schema")


def _pointer_step(step: str | int) -> str:
    """One step of a JSON pointer (RFC 6901)."""
    return shortened(str(step).replace("~", "~0").replace("/", "~1"))


def _name_faults(name: str, value: Mapping[str, Any]) -> Iterator[_Fault]:
    """Where the file's name and what stands in it do not agree (M45, M46)."""
    place = SummaryName.parse(name)
    if place is None:
        yield _Fault("M45", "", name, "its name is not Team.Label.Query.Document.json", "rename the file")
        return
    for key, said in zip(IN_NAME, place.parts(), strict=True):
        if isinstance(value.get(key), str) and value[key] != said:
            message = f"the file's name says {shortened(said)}"
            yield _Fault("M45", f"/{key}", value[key], message, "let the name and the value agree")
    image = value.get("image_filename")
    if isinstance(image, str) and image not in [place.base + suffix for suffix in IMAGE_SUFFIXES]:
        fix = f"name the image {place.base}.jpg or .png"
        yield _Fault("M46", "/image_filename", image, "the image is not named as its metadata", fix)


def _value_faults(value: Mapping[str, Any], rules: SummaryRules) -> Iterator[_Fault]:
    """Values that no schema states, or that Python's patterns would let pass with a line feed (M44, M47)."""
    team, label, uuid, content = (value.get(key) for key in ("team_id", "sys_label", "uuid", "content_list"))
    if isinstance(team, str) and team not in rules.teams:
        yield _Fault("M44", "/team_id", team, "no such team is registered", team_hint(team, rules.teams))
    if isinstance(label, str) and label.endswith("\n"):
        yield _Fault("M44", "/sys_label", label, "ends with a line feed", "write letters and digits only")
    if isinstance(uuid, str) and uuid.endswith("\n"):
        yield _Fault("M44", "/uuid", uuid, "ends with a line feed", "write the UUID alone")
    words = word_count([text for text in content if isinstance(text, str)]) if isinstance(content, list) else 0
    if words > MOST_WORDS:
        message = f"{words} words in all; a summary has at most {MOST_WORDS}"
        yield _Fault("M47", "/content_list", f"{words} words", message, "shorten the summary")


def team_hint(team: str, teams: Sequence[str]) -> str:
    """What to write for a team that is not registered: the one that was probably meant, or the list (C27).

    >>> team_hint("QuickSTIR", TEAMS)
    'did you mean QUICKSTIR? Upper and lower case differ'
    """
    folded = {known.casefold(): known for known in teams}
    if team.casefold() in folded:
        return f"did you mean {folded[team.casefold()]}? Upper and lower case differ"
    near = get_close_matches(team[:80].casefold(), folded, n=1)
    return f"did you mean {folded[near[0]]}?" if near else f"write one of {', '.join(teams[:20])}"


def _instruction_faults(value: Mapping[str, Any]) -> Iterator[_Fault]:
    """Instructions that judges will not see, or not in full (M50)."""
    given = value.get("instructions")
    for part, text in given.items() if isinstance(given, dict) else ():
        pointer = f"/instructions/{_pointer_step(part)}"
        if part not in COMPONENTS:
            fix = f"use {', '.join(COMPONENTS)}"
            yield _Fault("M50", pointer, part, "judges are not shown this part", fix, "warn")
        elif isinstance(text, str) and len(text) > INSTRUCTIONS_LENGTH:
            message = f"{len(text)} characters; judges are shown the first {INSTRUCTIONS_LENGTH}"
            yield _Fault("M50", pointer, text, message, "shorten it", "warn")


def _references(schema: Any) -> Iterator[str]:
    """Every target of a `$ref` in a schema, however deep (the parser has bounded how deep)."""
    if isinstance(schema, dict):
        target = schema.get("$ref", "#")
        if not isinstance(target, str):
            raise SettingError(f"The schema has a $ref that is not text: {shortened(str(target))}. Write a pointer.")
        yield target
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _references(part)
