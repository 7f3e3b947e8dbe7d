"""Reading a scheme: a file of its own, or a few lines on top of a preset; everything wrong with it at once.

A preset is a file like any other. What the user writes stands over it: a key replaces a key, a table is joined key by
key, and a list of questions replaces all questions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final, cast, get_args

from basanite.formats.packs.toml_document import TomlReport, parse_toml
from basanite.formats.summaries.instructions import sanitised
from basanite.formats.toml.lines import entry_lines
from basanite.judging.schemes.checks import check
from basanite.judging.schemes.entries import RULE, SchemeEntries
from basanite.judging.schemes.model import (
    EVERYBODY,
    EXPERT,
    Adjudicate,
    AdjudicateWhen,
    Checks,
    Combine,
    CombineRule,
    Consent,
    Order,
    Pay,
    Scheme,
    StopAt,
    Training,
)
from basanite.judging.schemes.questions import options_of, questions_of, with_keys
from basanite.problems import Findings, Problem

KIND: Final = "judging"
LARGEST: Final = 1 << 20
PRESETS: Final = (
    "readability", "relevance", "key-query", "key-domain", "pool", "likert", "binary", "slider", "pairwise", "ranking",
    "da", "esa", "mqm",
)  # fmt: skip
KEYS: Final = (
    "format", "name", "title", "preset", "questions", "instructions", "pairwise", "round_size", "rank_after_round",
    "criteria_from", "per_item", "groups", "keep_apart", "together", "balance", "training", "checks", "combine",
    "adjudicate", "consent", "pay", "break_every", "flags", "order", "files", "shows", "languages",
    "stop_at",
)  # fmt: skip
GROUND: Final = "ground"
"""What every preset stands on."""
REPLACED: Final = frozenset({"groups"})
"""Tables of which a part alone makes no sense."""
ALL: Final = "all"
MOST_JUDGEMENTS: Final = 10_000
LONGEST_INSTRUCTIONS: Final = 20_000


def read_scheme(text: str, file: str = "scheme.toml") -> tuple[Scheme | None, tuple[Problem, ...]]:
    """The scheme in a text, if nothing is wrong with it, and everything that is, by line."""
    findings = Findings(limit=None)
    report = TomlReport(file, RULE, findings)
    document = _document(text, report)
    if document is None:
        return None, tuple(findings)
    top = _over_preset(SchemeEntries(document, (), file, entry_lines(text), findings))
    scheme = _scheme(top)
    if document.get("preset", "") in ("", *PRESETS):  # without its preset a scheme lacks what it never meant to say
        check(scheme, top)
    found = tuple(sorted(dict.fromkeys(findings), key=lambda problem: problem.line or 0))
    return (scheme if findings.valid else None), found


def preset_text(name: str) -> str:
    """The file of a preset, to start a scheme of one's own from.

    >>> preset_text("binary").splitlines()[0]
    'format = "basanite-judging/1"'
    """
    return files(__package__).joinpath("presets", f"{name}.toml").read_text("utf-8")


def _document(text: str, report: TomlReport) -> dict[str, Any] | None:
    """The plain values of a text that is not too large (X-8)."""
    if len(text) > LARGEST:
        report.add("the file is larger than 1 MiB", "a scheme is a page of text: is it the right file?", rule="X-8")
        return None
    return parse_toml(text, KIND, report)


def _over_preset(top: SchemeEntries) -> SchemeEntries:
    """What the user wrote, laid over the preset that it names."""
    name, document = top.one_of("preset", ("", *PRESETS), ""), top.values
    if not name:
        return top
    base = tomllib.loads(preset_text(GROUND)) | tomllib.loads(preset_text(name))
    tables = {key: {**base[key], **value} for key, value in document.items() if _both_tables(base.get(key), value)}
    replaced = {key: document[key] for key in REPLACED & document.keys()}
    return replace(top, values={**base, **document, **tables, **replaced})


def _both_tables(base: Any, value: Any) -> bool:
    return isinstance(base, Mapping) and isinstance(value, Mapping)


def _scheme(top: SchemeEntries) -> Scheme:
    top.known(KEYS)
    flags = options_of(top, "flags", fewest=0)
    return Scheme(
        name=top.name("name"),
        title=top.words("title", str(top.values.get("name", ""))),
        preset=top.words("preset"),
        questions=with_keys(questions_of(top), top),
        instructions=sanitised(top.words("instructions"), limit=LONGEST_INSTRUCTIONS),
        pairwise=top.flag("pairwise", False),
        round_size=top.size("round_size", 10, 1, 1000),
        rank_after_round=top.flag("rank_after_round", False),
        criteria_from=top.one_of("criteria_from", ("", EXPERT), ""),
        per_item=_judgements(top, "per_item", 1),
        groups=_groups(top),
        keep_apart=top.texts("keep_apart"),
        together=top.texts("together"),
        balance=top.texts("balance"),
        training=_training(top),
        checks=_checks(top),
        combine=_combine(top),
        adjudicate=_adjudicate(top),
        stop_at=_stop_at(top),
        consent=_consent(top),
        pay=_pay(top),
        break_every=top.size("break_every", 0, 0, 1000),
        flags=flags,
        order=cast(Order, top.one_of("order", get_args(Order), "random")),
        files=top.texts("files"),
        shows=top.texts("shows"),
        languages=top.texts("languages"),
    )


def _judgements(entry: SchemeEntries, key: str, default: int) -> int:
    """How many judgements an item gets; "all" is one by everybody."""
    if entry.values.get(key) == ALL:
        return EVERYBODY
    return entry.size(key, default, 1, MOST_JUDGEMENTS)


def _groups(top: SchemeEntries) -> dict[str, int]:
    table = top.table("groups", needed=False)
    return {name: _judgements(table, name, 1) for name in table.values}


def _training(top: SchemeEntries) -> Training:
    table = top.table("training", needed=False)
    table.known(("count", "feedback"))
    return Training(table.size("count", 0, 0, 1000), table.flag("feedback", True))


def _checks(top: SchemeEntries) -> Checks:
    table = top.table("checks", needed=False)
    table.known(("share", "right"))
    return Checks(table.amount("share", 0.0, 0.0, 0.5), table.amount("right", 0.7, 0.0, 1.0))


def _combine(top: SchemeEntries) -> Combine:
    table = top.table("combine", needed=False)
    table.known(("rule", "tie", "question"))
    rule = cast(CombineRule, table.one_of("rule", get_args(CombineRule), "raw"))
    return Combine(rule, table.words("tie"), table.words("question"))


def _adjudicate(top: SchemeEntries) -> Adjudicate:
    table = top.table("adjudicate", needed=False)
    table.known(("when", "more_than"))
    when = cast(AdjudicateWhen, table.one_of("when", get_args(AdjudicateWhen), "never"))
    return Adjudicate(when, table.amount("more_than", 0.0, 0.0, 1e6))


def _stop_at(top: SchemeEntries) -> StopAt:
    table = top.table("stop_at", needed=False)
    table.known(("half_width", "question"))
    return StopAt(table.amount("half_width", 0.0, 0.0, 1e6), table.words("question"))


def _consent(top: SchemeEntries) -> Consent:
    table = top.table("consent", needed=False)
    table.known(("version", "text"))
    return Consent(table.words("version"), table.words("text"))


def _pay(top: SchemeEntries) -> Pay:
    table = top.table("pay", needed=False)
    table.known(("per_item", "per_hour", "currency", "floor", "longest_seconds"))
    return Pay(
        table.amount("per_item", 0.0, 0.0, 1e6),
        table.amount("per_hour", 0.0, 0.0, 1e6),
        table.words("currency"),
        table.amount("floor", 0.0, 0.0, 1e6),
        table.amount("longest_seconds", 600.0, 1.0, 86400.0),
    )
