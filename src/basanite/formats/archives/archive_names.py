"""The names of submission archives: taken apart, explained, made; every part that is off is named (M55-M59).

Full name: `Team_Task-Type-Condition-Set-Label_Period-Language-Dataset_YYYYMMDD_HHMMSS.tgz`. Name for the web, where
the server knows the rest: `Label.tgz`. The label is the last part before the period, so a list of domains may be long.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from basanite.formats.datasets.pack_names import (
    DOMAIN,
    LANGUAGE,
    OPEN_QUERY_SETS,
    PERIOD,
    all_domains,
    domains_of,
    split_datasets,
    split_sets,
)
from basanite.problems import Problem, Severity, shortened

SUFFIX = ".tgz"
LABEL = re.compile(r"[a-zA-Z0-9]+")
LONG_DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
OTHER_SUFFIX = re.compile(r"\.(?:tgz|tar\.gz|tar|gz|zip)\Z", re.IGNORECASE)
STAMPED = re.compile(r".*_[0-9]{8}_[0-9]{6}")

TASKS: Mapping[str, str] = {
    "CLIR": "cross-language retrieval",
    "E2E": "retrieval with summaries, end to end",
    "DomainID": "domain identification",
    "LangID": "language identification",
}
TASK_ALIASES = {"LanguageID": "LangID"}
TYPES: Mapping[str, str] = {
    "primary": "the one that is compared across teams",
    "contrastive": "a variant beside the primary one",
}
CONDITIONS = ("unconstrained",)
PARTS = ("team", "task", "type", "condition", "set", "label", "period", "language", "dataset", "date", "time")
RULES = {"task": "M57", "type": "M57", "condition": "M57"}
FORM = "Team_Task-Type-unconstrained-Set-Label_Period-Language-Dataset_YYYYMMDD_HHMMSS.tgz"


@dataclass(frozen=True, slots=True)
class ArchiveName:
    """What an archive's name says; of a name for the web only the label is known."""

    label: str
    team: str = ""
    task: str = ""
    type: str = ""
    condition: str = CONDITIONS[0]
    sets: tuple[str, ...] = ()
    """Query sets or, for domain identification, codes of domains in the order written."""
    period: str = ""
    language: str = ""
    dataset: str = ""
    time: datetime | None = None

    @property
    def for_web(self) -> bool:
        """Whether this is a label alone, to which the server adds the rest."""
        return not self.team and self.time is None

    @property
    def set_text(self) -> str:
        """The set part as it is written: domains are joined by hyphens, query sets by nothing."""
        return ("-" if self.task == "DomainID" else "").join(self.sets)


@dataclass(frozen=True)
class Wanted:
    """What the parts of a name may be where a name is checked."""

    teams: Collection[str] | None = None
    """The registered teams; None if nobody here knows them."""
    domains: Collection[str] | None = None
    """The domains of the stage, all of which a list must name; None for any domain of the language."""
    conditions: Collection[str] = CONDITIONS
    severity: Severity = "reject"


def parse_name(
    text: str,
    *,
    teams: Collection[str] | None = None,
    domains: Collection[str] | None = None,
    conditions: Collection[str] = CONDITIONS,
    severity: Severity = "reject",
) -> ArchiveName | tuple[Problem, ...]:
    """What a name says, or all that is wrong with it, part by part."""
    found = _Found.of(text)
    wanted = Wanted(teams, domains, conditions, severity)
    problems = tuple(_web_problems(found, wanted) if found.is_label else _full_problems(found, wanted))
    return problems or found.as_name()


def check_name(name: ArchiveName, *, severity: Severity = "reject") -> tuple[Problem, ...]:
    """All that is wrong with the parts of a name before it is made."""
    checks = _web_problems if name.for_web else _full_problems
    return tuple(checks(_Found.in_parts(name), Wanted(severity=severity)))


def make_name(name: ArchiveName) -> str:
    """The name as text.

    >>> make_name(ArchiveName("Alpha"))
    'Alpha.tgz'
    """
    if name.for_web:
        return name.label + SUFFIX
    what = (name.task, name.type, name.condition, name.set_text, name.label)
    stamp = f"{name.time:%Y%m%d_%H%M%S}" if name.time else "_"
    place = f"{name.period}-{name.language}-{name.dataset}"
    return f"{name.team}_{'-'.join(part for part in what if part)}_{place}_{stamp}{SUFFIX}"


def explain(name: ArchiveName) -> list[tuple[str, str, str]]:
    """Each part of a name, its value, and what it means."""
    label = ("label", name.label, "the team's own name for the system")
    if name.for_web or name.time is None:
        return [label]
    packs = split_datasets(name.dataset) or ()
    return [
        ("team", name.team, "who sends it"),
        ("task", name.task, TASKS.get(name.task, "")),
        ("type", name.type, TYPES.get(name.type, "")),
        ("condition", name.condition, "which data the system was trained with"),
        *([("set", name.set_text, _set_meaning(name))] if name.sets else []),
        label,
        ("period", name.period, "the period of the program"),
        ("language", name.language, "the language under test"),
        ("dataset", name.dataset, " and ".join(packs) + ", scored together" if len(packs) > 1 else "the documents"),
        ("date", f"{name.time:%Y%m%d}", f"{name.time:%Y-%m-%d}"),
        ("time", f"{name.time:%H%M%S}", f"{name.time:%H:%M:%S}"),
    ]


def _set_meaning(name: ArchiveName) -> str:
    if name.task == "DomainID":
        return f"the {len(name.sets)} domains identified, in any order"
    sets = set(name.sets)
    if not sets & OPEN_QUERY_SETS:
        return "closed queries"
    if sets <= OPEN_QUERY_SETS:
        return "open queries, which never count toward the final value"
    return "open and closed queries; the open ones never count toward the final value"


@dataclass(frozen=True)
class _Found:
    """The parts of a text where a good name would have them; "" where there is none."""

    text: str
    stem: str
    part: Mapping[str, str]
    sets: tuple[str, ...]
    surplus: str = ""
    """What is left over behind the dataset."""

    @classmethod
    def of(cls, text: str) -> _Found:
        stem = LONG_DASHES.sub("-", OTHER_SUFFIX.sub("", text))
        team, _, rest = stem.partition("_")
        what, place, date, time = _sections(rest)
        fields, places = what.split("-"), place.split("-")
        sets, label = (fields[3:-1], fields[-1]) if len(fields) > 3 else ([], "")
        values = (team, *_pad(fields[:3], 3), "-".join(sets), label, *_pad(places[:3], 3), date, time)
        return cls(text, stem, dict(zip(PARTS, values, strict=True)), tuple(sets), "-".join(places[3:]))

    @classmethod
    def in_parts(cls, name: ArchiveName) -> _Found:
        text = make_name(name)
        date, time = (f"{name.time:%Y%m%d}", f"{name.time:%H%M%S}") if name.time else ("", "")
        what = (name.team, name.task, name.type, name.condition, name.set_text, name.label)
        values = (*what, name.period, name.language, name.dataset, date, time)
        return cls(text, text.removesuffix(SUFFIX), dict(zip(PARTS, values, strict=True)), name.sets)

    @property
    def is_label(self) -> bool:
        """Whether this must be meant as a label alone: it resembles a full name in nothing."""
        after = self.stem.partition("_")[2].lower()
        task = after.startswith(tuple(task.lower() for task in (*TASKS, *TASK_ALIASES)))
        return not (task or STAMPED.fullmatch(self.stem) or (self.stem.count("_") > 2 and "-" in self.stem))

    @property
    def task(self) -> str:
        return TASK_ALIASES.get(self.part["task"], self.part["task"])

    def as_name(self) -> ArchiveName:
        """The name itself, once nothing is wrong with it."""
        if self.is_label:
            return ArchiveName(self.stem)
        part = self.part
        sets = self.sets if self.task == "DomainID" else split_sets(part["set"]) or ()
        time = datetime.strptime(part["date"] + part["time"], "%Y%m%d%H%M%S")
        return ArchiveName(
            label=part["label"],
            team=part["team"],
            task=self.task,
            type=part["type"],
            condition=part["condition"],
            sets=sets,
            period=part["period"],
            language=part["language"],
            dataset=part["dataset"],
            time=time,
        )


def _sections(rest: str) -> tuple[str, str, str, str]:
    """What comes after the team: task to label, period to dataset, date, time; a label may wrongly hold underscores."""
    pieces = rest.split("_")
    surplus = max(len(pieces) - 4, 0)
    what, place, date, time = _pad(["_".join(pieces[: surplus + 1]), *pieces[surplus + 1 :]], 4)
    return what, place, date, time


def _pad(pieces: list[str], count: int) -> list[str]:
    return pieces + [""] * (count - len(pieces))


def _web_problems(found: _Found, wanted: Wanted) -> Iterator[Problem]:
    if not found.text.endswith(SUFFIX) or not LABEL.fullmatch(found.stem):
        message = "the archive's name is not a system label of letters and digits with .tgz"
        fix = f"name it like SystemA1.tgz, or in full: {FORM}"
        yield Problem("M55", found.text, None, None, message, fix, shortened(found.text), severity=wanted.severity)


def _full_problems(found: _Found, wanted: Wanted) -> Iterator[Problem]:
    """Everything that is off, from left to right."""
    dashes = LONG_DASHES.search(found.text)
    if dashes:
        yield _problem(found, wanted, "separator", "parts are joined by a long dash", "write plain hyphens", dashes[0])
    for part in PARTS:
        for message, fix in CHECKS[part](found, wanted):
            yield _problem(found, wanted, part, message, fix, found.part[part])
    if found.surplus:
        fix = "end this section with the dataset, joined by nothing: EVAL1EVAL2"
        yield _problem(found, wanted, "dataset", "something follows the dataset", fix, found.surplus)
    if not found.text.endswith(SUFFIX):
        ending = OTHER_SUFFIX.search(found.text)
        yield _problem(found, wanted, "ending", "is not .tgz", "end the name with .tgz", ending[0] if ending else "")


def _problem(found: _Found, wanted: Wanted, part: str, message: str, fix: str, value: str) -> Problem:
    rule = "M59" if part == "set" and found.task == "DomainID" else RULES.get(part, "M56")
    field = PARTS.index(part) + 1 if part in PARTS else None
    words = f"the {part} of the archive's name: {message}"
    return Problem(rule, found.text, None, field, words, fix, shortened(value), severity=wanted.severity)


Faults = Iterator[tuple[str, str]]
"""What is wrong with a part, and the cure."""


def _choice_faults(value: str, known: Collection[str]) -> Faults:
    """The part must be one of a few words, in exact case; a near miss is answered with a hint."""
    if value not in known:
        words = f"{shortened(value)!r} is not known" if value else "is missing"
        yield words, f"write one of {', '.join(known)}{_hint(value, known)}"


def _hint(value: str, known: Collection[str]) -> str:
    """What was perhaps meant: the same in other capitals, or something near (C27)."""
    same = [name for name in known if name.lower() == value.lower()]
    near = same or difflib.get_close_matches(value, known, n=1)
    return f", perhaps {near[0]!r}" if near else ""


def _form_faults(value: str, pattern: re.Pattern[str], fix: str) -> Faults:
    if not pattern.fullmatch(value):
        yield f"{shortened(value)!r} has another form" if value else "is missing", fix


def _team_faults(found: _Found, wanted: Wanted) -> Faults:
    """Teams are known by exact case; without a list any word of letters and digits is taken (C27)."""
    team = found.part["team"]
    if wanted.teams is not None:
        yield from _choice_faults(team, sorted(wanted.teams))
    else:
        yield from _form_faults(team, LABEL, "write the team's registered name, letters and digits only")


def _moment_faults(value: str, form: str) -> Faults:
    digits, words, fix = MOMENTS[form]
    if not _on_clock(value, digits, form):
        yield words, fix


MOMENTS = {
    "%Y%m%d": (8, "is not a date of the calendar", "write YYYYMMDD, like 20181113"),
    "%H%M%S": (6, "is not a time of day", "write HHMMSS, like 225652"),
}
"""By the form of a date or time: how many digits it has, and the fault and fix where it is none."""


def _set_faults(found: _Found, wanted: Wanted) -> Faults:
    """Query sets, domains or nothing, as the task has it (C26, C29, M59)."""
    value = found.part["set"]
    if found.task == "LangID":
        if value:
            yield "language identification has no set part", "leave it out: LangID-primary-unconstrained-Label"
    elif found.task == "DomainID":
        yield from _domain_faults(found, wanted)
    elif split_sets(value) is None:
        words = f"{shortened(value)!r} is not a query set" if value else "is missing"
        fix = "write QUERY1, QUERY2 or QUERY3, or several in rising order: QUERY2QUERY3"
        yield words, f"{fix}; the label has no hyphens" if len(found.sets) > 1 else fix


def _domain_faults(found: _Found, wanted: Wanted) -> Faults:
    """Codes of the stage in any order, none twice; a list of the stage's domains must be complete (M59, C15)."""
    known = tuple(wanted.domains or domains_of(found.part["language"]) or all_domains())
    fix = f"join codes by hyphens, from {' '.join(known)}"
    if not found.sets:
        yield "is missing", fix
    for code in dict.fromkeys(found.sets):
        if not DOMAIN.fullmatch(code) or code not in known:
            yield f"{shortened(code)!r} is not a domain of this stage", fix + _hint(code, known)
        if found.sets.count(code) > 1:
            yield f"{shortened(code)} appears twice", "name each domain once"
    missing = [code for code in wanted.domains or () if code not in found.sets]
    if missing and found.sets:
        yield f"{' and '.join(missing)} of this stage not named", "name all domains of the stage"


def _dataset_faults(found: _Found, wanted: Wanted) -> Faults:
    value = found.part["dataset"]
    if split_datasets(value) is None:
        words = f"{shortened(value)!r} is not a data set" if value else "is missing"
        yield (
            words,
            "write DEV, ANALYSIS1 to 3, EVAL1 to 3, or packs that are scored together: EVAL1EVAL2, ANALYSIS1DEV",
        )


def _on_clock(value: str, digits: int, form: str) -> bool:
    if not re.fullmatch(rf"[0-9]{{{digits}}}", value):
        return False
    try:
        datetime.strptime(value, form)
    except ValueError:
        return False
    return True


CHECKS: Mapping[str, Callable[[_Found, Wanted], Faults]] = {
    "team": _team_faults,
    "task": lambda found, wanted: _choice_faults(found.task, TASKS),
    "type": lambda found, wanted: _choice_faults(found.part["type"], TYPES),
    "condition": lambda found, wanted: _choice_faults(found.part["condition"], wanted.conditions),
    "set": _set_faults,
    "label": lambda found, wanted: _form_faults(
        found.part["label"], LABEL, "write letters and digits only, no hyphen and no underscore"
    ),
    "period": lambda found, wanted: _form_faults(found.part["period"], PERIOD, "write BASE, OPTION1 or OP1, …"),
    "language": lambda found, wanted: _form_faults(
        found.part["language"], LANGUAGE, "write the language's code, like 1A, 1B or 1S"
    ),
    "dataset": _dataset_faults,
    "date": lambda found, wanted: _moment_faults(found.part["date"], "%Y%m%d"),
    "time": lambda found, wanted: _moment_faults(found.part["time"], "%H%M%S"),
}
"""What is wrong with each part of a full name."""
