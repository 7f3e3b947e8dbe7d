"""What must hold between the entries of a scheme: each check names the entry to change."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.toml.lines import line_of
from basanite.judging.items import KINDS
from basanite.judging.schemes.entries import SchemeEntries
from basanite.judging.schemes.model import EXPERT, JUDGE, NOVICE, Question, Scheme
from basanite.problems import Problem

LANGUAGE: Final = re.compile(r"[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*")
FILES: Final = ("panels", "verdicts", "key-query", "key-domain", "qrels", "pairs", "rankings", "appraise", "mqm")
"""What judgements can become; each is written by a module of `judging.combining`."""
NEEDED: Final = {
    "panels": ("stars", "scale", "slider"),
    "verdicts": ("choice",),
    "key-query": ("choice",),
    "key-domain": ("choice",),
    "qrels": ("choice", "stars", "scale"),
    "pairs": ("choice",),
    "appraise": ("slider",),
    "mqm": ("spans",),
}
"""The widget of a question that each file is made from."""
GROUPS: Final = (JUDGE, EXPERT, NOVICE)


def check(scheme: Scheme, top: SchemeEntries) -> None:
    """Report every contradiction of a scheme."""
    for each in (
        _questions,
        _pairs,
        _groups,
        _rounds,
        _combining,
        _adjudicating,
        _stopping,
        _consent,
        _pay,
        _names,
        _files,
    ):
        each(scheme, top)


def _questions(scheme: Scheme, top: SchemeEntries) -> None:
    if not scheme.questions and not scheme.rank_after_round and "questions" not in top.values:
        top.add("the scheme asks nothing", "write [[questions]], or rank_after_round = true", key="questions")
    stars = [question.id for question in scheme.questions if question.widget in ("stars", "scale")]
    if len(stars) > 1:
        message = f"{len(stars)} questions are answered by digits: {', '.join(stars)}"
        fix = "ask one of them as a slider, or have keys for the first only"
        _warn(top, message, fix, key="questions")
    spans = [question.id for question in scheme.questions if question.widget == "spans"]
    if len(spans) > 1:
        top.add(f"spans are marked by two questions: {', '.join(spans)}", "join their categories", key="questions")


def _pairs(scheme: Scheme, top: SchemeEntries) -> None:
    asked = scheme.combined_question
    values = {option.value for option in asked.options} if asked else set()
    if scheme.pairwise and not {"left", "right"} <= values <= {"left", "right", "tie"}:
        fix = "ask first a choice with the values left and right, and tie if you like"
        top.add("pairwise judging has no question which side is better", fix, key="pairwise")


def _warn(top: SchemeEntries, message: str, fix: str, *, key: str) -> None:
    line = line_of(top.lines, (key,))
    top.findings.add(Problem(top.rule, top.file, line, None, message, fix, severity="warn", where="metadata"))


def _groups(scheme: Scheme, top: SchemeEntries) -> None:
    for name in scheme.groups:
        if name not in GROUPS:
            top.add(f"there is no group {name!r}", f"use {', '.join(GROUPS)}", key="groups", found=name)
    if scheme.criteria_from and scheme.criteria_from not in scheme.per_group:
        fix = f"write [groups] with {scheme.criteria_from} = 3, or leave criteria_from out"
        top.add(f"nobody is in the group {scheme.criteria_from!r} that lists criteria", fix, key="criteria_from")


def _rounds(scheme: Scheme, top: SchemeEntries) -> None:
    if not scheme.rank_after_round:
        return
    if scheme.round_size < 2:
        top.add("a round of one cannot be ranked", "write round_size = 10", key="round_size", found=scheme.round_size)
    if scheme.checks.share:
        fix = "leave [checks] out: a check would be ranked among the real items"
        top.add("hidden checks cannot stand in a round that is ranked", fix, key="checks")
    for key, value in (("keep_apart", scheme.keep_apart), ("together", scheme.together)):
        if value:
            fix = f"leave {key} out: a round that is ranked is the same for all its judges"
            top.add(f"`{key}` cannot be kept in rounds that are ranked", fix, key=key, found=list(value))


def _combining(scheme: Scheme, top: SchemeEntries) -> None:
    combine, asked = scheme.combine, scheme.combined_question
    table = top.table("combine", needed=False)
    if combine.question and asked is None:
        fix = f"name one of {', '.join(question.id for question in scheme.questions)}"
        table.add(f"there is no question {combine.question!r} to combine", fix, key="question", found=combine.question)
    if asked is None:
        return
    if combine.rule in ("majority", "dawid-skene") and asked.widget != "choice":
        fix = 'write rule = "mean", or ask by a choice'
        table.add(f"{combine.rule} needs a choice, and {asked.id!r} is {asked.widget}", fix, key="rule")
    if combine.rule == "dawid-skene" and len(asked.options) != 2:
        fix = 'write rule = "majority", or give it two options'
        table.add(f"Dawid-Skene needs two answers; {asked.id!r} has {len(asked.options)}", fix, key="rule")
    if combine.rule == "mean" and not asked.numeric:
        table.add(f"there is no mean of {asked.id!r}", 'write rule = "majority" or "raw"', key="rule")
    _tie(combine.tie, asked, table)


def _tie(tie: str, asked: Question, table: SchemeEntries) -> None:
    if tie and tie not in [option.value for option in asked.options]:
        fix = f"name one of {', '.join(option.value for option in asked.options) or 'no answer: it is no choice'}"
        table.add(f"a tie cannot become {tie!r}", fix, key="tie", found=tie)


def _adjudicating(scheme: Scheme, top: SchemeEntries) -> None:
    table, asked = top.table("adjudicate", needed=False), scheme.combined_question
    if scheme.adjudicate.when == "apart" and (asked is None or not asked.numeric):
        table.add("answers that are no numbers cannot be so far apart", 'write when = "differ"', key="when")
    single = [group for group, wanted in scheme.per_group.items() if wanted == 1]
    if scheme.adjudicate.when != "never" and len(single) == len(scheme.per_group) == 1:
        fix = "write per_item = 2, so that there are two to compare"
        top.add("with one judgement of an item nothing can differ", fix, key="per_item", found=1)


def _stopping(scheme: Scheme, top: SchemeEntries) -> None:
    """A precision is reached on the mean of a question with a known range, and in rounds that may be cut short."""
    table, stop, asked = top.table("stop_at", needed=False), scheme.stop_at, scheme.measured_question
    if "stop_at" not in top.values:
        return
    if not stop.half_width:
        table.add("`stop_at` names no precision", "write half_width = 0.1, or leave [stop_at] out", key="half_width")
    if asked is None:
        fix = "name a question of stars, a scale, a slider, or a choice of two"
        table.add("there is no mean whose precision could be reached", fix, key="question", found=stop.question)
    elif asked.bounds is not None and stop.half_width >= (asked.bounds[1] - asked.bounds[0]) / 2:
        fix = f"write less than half of the scale from {asked.bounds[0]:g} to {asked.bounds[1]:g}"
        table.add("this precision is reached before the first item", fix, key="half_width", found=stop.half_width)
    if scheme.rank_after_round:
        fix = "leave [stop_at] out: a round that is ranked cannot be cut short"
        top.add("`stop_at` cannot be kept in rounds that are ranked", fix, key="stop_at")


def _consent(scheme: Scheme, top: SchemeEntries) -> None:
    table, consent = top.table("consent", needed=False), scheme.consent
    for key, value in (("version", consent.version), ("text", consent.text)):
        if not value.strip():
            fix = f'write {key} = "…" in [consent]: judges accept it before the first item'
            table.add(f"consent has no {key}", fix, key=key, rule="P-22")


def _pay(scheme: Scheme, top: SchemeEntries) -> None:
    table, pay = top.table("pay", needed=False), scheme.pay
    if pay.per_item and pay.per_hour:
        table.add("pay is both by item and by hour", "leave one of them out", key="per_hour", rule="P-22")
    if pay.is_paid and not re.fullmatch(r"[A-Z]{3}", pay.currency):
        fix = 'write currency = "EUR": three capitals of ISO 4217'
        table.add("pay has no currency", fix, key="currency", found=pay.currency, rule="P-22")
    if pay.per_hour and pay.per_hour < pay.floor:
        fix = f"pay {pay.floor:g} an hour or more, or lower the floor"
        table.add(f"{pay.per_hour:g} an hour is below the floor", fix, key="per_hour", rule="P-22")


def _names(scheme: Scheme, top: SchemeEntries) -> None:
    for name in scheme.shows:
        if name not in KINDS:
            top.add(f"there is no block {name!r}", f"use {', '.join(KINDS)}", key="shows", found=name)
    for tag in scheme.languages:
        if not LANGUAGE.fullmatch(tag):
            top.add(f"{tag!r} is no tag of a language", 'write "eng", "sw" or "pt-BR"', key="languages", found=tag)


def _files(scheme: Scheme, top: SchemeEntries) -> None:
    widgets = {question.widget for question in scheme.questions}
    for name in scheme.files:
        if name not in FILES:
            top.add(f"there is no file {name!r}", f"use {', '.join(FILES)}", key="files", found=name)
        elif name in NEEDED and not widgets & set(NEEDED[name]):
            fix = f"ask a question by {' or '.join(NEEDED[name])}"
            top.add(f"nothing that is asked could become {name!r}", fix, key="files", found=name)
    if "rankings" in scheme.files and not scheme.rank_after_round:
        top.add("there are no rankings", "write rank_after_round = true", key="files", found="rankings")
    if "pairs" in scheme.files and not scheme.pairwise:
        top.add("there are no pairs", "write pairwise = true", key="files", found="pairs")
