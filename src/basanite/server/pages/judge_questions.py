"""Questions, answers and items as judges' pages show them: fields of the form, and what was filled in (R-2)."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from basanite.campaign.model.refusals import RefusedError, problem
from basanite.formats.datasets.domains import Domain
from basanite.formats.retrieval.instructions import sanitize_instructions
from basanite.problems import Problem
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages.forms import Form
from basanite.work.block_notes import known_domain, query_note
from basanite.work.items import Block
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

TITLES = {
    "query": sentence("Query"),
    "domain": sentence("Domain"),
    "text": sentence("Text"),
    "image": sentence("Summary"),
    "document": sentence("Whole document"),
    "context": sentence("Context"),
}
PARTS = {
    "general": sentence("general"),
    "component_1": sentence("about the first part of the query"),
    "component_2": sentence("about the second part of the query"),
    "domain": sentence("about the domain"),
}
"""Which part of a summary a team's instructions are about (M50, M51)."""
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
NOTHING, UNREADABLE = "\u200b", "\ufffd"


@dataclass(frozen=True)
class ShownBlock:
    """One block as it stands on the page."""

    id: str
    kind: str
    title: str
    text: Markup
    lang: str = ""
    dir: str = "auto"
    image: str = ""
    """The address of a picture."""
    note: str = ""
    """What a query asks for in plain words."""
    domain: Domain | None = None
    """What the catalogue says of it (M87)."""
    side: bool = False
    """One of a pair."""
    marked: str = ""
    """The question whose errors are marked in it."""


def shown_blocks(scheme: Scheme, blocks: Sequence[Block], base: str) -> tuple[ShownBlock, ...]:
    """The blocks of an item, ready for the page."""
    made = [_shown_block(block, number, base) for number, block in enumerate(blocks, 1)]
    made = [replace(one, note=query_note(scheme, block)) for one, block in zip(made, blocks, strict=True)]
    for question in scheme.questions:
        places = [at for at, block in enumerate(blocks) if block.kind == question.on]
        if question.widget == "spans" and places:
            made[places[0]] = replace(made[places[0]], marked=question.id)
    return tuple(_sides(made)) if scheme.pairwise else tuple(made)


def _sides(made: list[ShownBlock]) -> Iterable[ShownBlock]:
    pair = [at for at, one in enumerate(made) if one.kind in ("text", "image")][-2:]
    return [replace(one, side=True) if at in pair else one for at, one in enumerate(made)]


def _shown_block(block: Block, number: int, base: str) -> ShownBlock:
    plain = ShownBlock(f"b{number}", block.kind, _title(block), escape(quiet(block.value)), block.lang, block.dir)
    if block.kind == "instructions":
        return replace(plain, text=Markup(sanitize_instructions(block.value)))  # built from an allow-list (M51)
    if block.kind == "image":
        return replace(plain, text=Markup(""), image=f"{base}/images/{block.value}")
    if block.kind == "domain":
        return _domain(plain, block)
    return plain


def _title(block: Block) -> str:
    if block.kind == "instructions":
        return str(say(PARTS[block.title])) if block.title in PARTS else block.title
    return block.title or str(say(TITLES[block.kind]))


def _domain(plain: ShownBlock, block: Block) -> ShownBlock:
    """A domain by code or name, with its definition where the catalogue knows it (M87)."""
    known = known_domain(block)
    return plain if known is None else replace(plain, text=escape(known[0]), domain=known[1])


def instructions_markup(instructions: str) -> Markup:
    """An organiser's instructions: text with a few tags, as those of teams (M51)."""
    return Markup(sanitize_instructions(instructions, limit=len(instructions)))


def flowing(text: str) -> str:
    """Text of a file whose lines are broken for its editor: paragraphs and lists stay, other lines join.

    >>> flowing("one\\ntwo\\n\\n- three\\n- four\\n")
    'one two\\n\\n- three\\n- four'
    """
    return re.sub(r"(?<!\n)\n(?![\n*•-]|\d+[.)])", " ", text.replace("\r\n", "\n").strip())


def quiet(text: str) -> str:
    """The same text, as long as before, without what turns lines around or cannot be seen (X-14).

    Offsets of marked errors stay true, for each character is replaced by one.

    >>> quiet("a" + chr(0x202E) + "b" + chr(27)) == "a" + NOTHING + "b" + UNREADABLE
    True
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_quiet, text))


def _quiet(char: str) -> str:
    if char in "\n\t":
        return char
    if char in TURNING or char == "\r":
        return NOTHING
    if char in "\u2028\u2029":
        return "\n"
    return UNREADABLE if unicodedata.category(char) in ("Cc", "Cs") else char


MORE_ROWS, MOST_ROWS = 3, 40
"""Empty lines for errors in the plain form, and how many there are at most."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WRITE, SLIDE, BACK, PAUSE = "c", "s", "u", "p"
"""Keys that lead to a line to write and to a slider, back to the last answer, and out for a while."""


@dataclass(frozen=True)
class Choice:
    """One thing to choose, with its key and the name that is read aloud."""

    value: str
    title: str
    key: str = ""
    help: str = ""
    name: str = ""


@dataclass(frozen=True)
class Row:
    """One marked error in the plain form."""

    number: int
    words: str = ""
    which: int = 1
    category: str = ""
    severity: str = ""


@dataclass(frozen=True)
class QuestionField:
    """One question, ready for the page."""

    id: str
    widget: str
    title: str
    help: str
    required: bool
    value: str = ""
    choices: tuple[Choice, ...] = ()
    worded: bool = False
    """Whether each step of a scale has words of its own."""
    low_words: str = ""
    high_words: str = ""
    lo: str = ""
    hi: str = ""
    step: str = ""
    key: str = ""
    longest: int = 0
    most: int = 0
    categories: tuple[Choice, ...] = ()
    severities: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()


def question_fields(scheme: Scheme, given: Mapping[str, Any], blocks: Sequence[Block]) -> tuple[QuestionField, ...]:
    """All questions of a scheme, with what was said before."""
    return tuple(_question_field(question, given.get(question.id), blocks) for question in scheme.questions)


def _question_field(question: Question, value: Any, blocks: Sequence[Block]) -> QuestionField:
    base: dict[str, Any] = {"help": question.help, "required": question.required, "value": field_value(value)}
    base |= {"id": question.id, "widget": question.widget, "title": question.title or question.id}
    makers = {"stars": _steps, "scale": _steps, "choice": _options, "slider": _slider, "text": _text}
    if question.widget == "spans":
        return QuestionField(**base | _spans(question, value, blocks))
    return QuestionField(**base | makers[question.widget](question))


def field_value(value: Any) -> str:
    """An answer as the form holds it.

    >>> field_value(4.0), field_value(None), field_value([{"start": 1}])
    ('4', '', '[{"start": 1}]')
    """
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:g}" if isinstance(value, int | float) else json.dumps(value)


def _steps(question: Question) -> dict[str, Any]:
    each = len(question.labels) == len(question.steps) > 2
    low, high = ("", "") if each or len(question.labels) < 2 else (question.labels[0], question.labels[-1])
    choices = tuple(_step(question, at, number) for at, number in enumerate(question.steps))
    worded = each and question.widget == "scale"
    return {"choices": choices, "worded": worded, "low_words": low, "high_words": high}


def _step(question: Question, at: int, number: float) -> Choice:
    value, last = f"{number:g}", len(question.steps) - 1
    each = len(question.labels) == len(question.steps)
    label = question.labels[at] if each else {0: question.labels[:1], last: question.labels[-1:]}.get(at, ())
    words = label if isinstance(label, str) else "".join(label)
    plain = str(plural(int(number), "{count} star", "{count} stars")) if question.widget == "stars" else value
    key = value if len(value) == 1 else "0" if value == "10" else ""
    title = f"{value} {words}" if each and question.widget == "scale" else value
    return Choice(value, title, key, name=f"{plain}: {words}" if words else plain)


def _options(question: Question) -> dict[str, Any]:
    keyed = enumerate(question.options, 1)
    return {
        "choices": tuple(
            Choice(
                one.value, one.title or one.value, (one.key or str(at))[:1].lower(), one.help, one.title or one.value
            )
            for at, one in keyed
        )
    }


def _slider(question: Question) -> dict[str, Any]:
    low, high = (question.labels[0], question.labels[-1]) if len(question.labels) > 1 else ("", "")
    bounds = {"lo": f"{question.lo:g}", "hi": f"{question.hi:g}", "step": f"{question.step:g}"}
    return bounds | {"low_words": low or bounds["lo"], "high_words": high or bounds["hi"], "key": SLIDE}


def _text(question: Question) -> dict[str, Any]:
    return {"longest": question.longest, "key": WRITE}


def _spans(question: Question, value: Any, blocks: Sequence[Block]) -> dict[str, Any]:
    marks = value if isinstance(value, list) else []
    severities = (Choice(one.value, one.title, one.key or str(at)) for at, one in enumerate(question.severities, 1))
    return {
        "value": json.dumps(marks),
        "most": question.most,
        "categories": tuple(Choice(one.value, one.title, one.key, one.help) for one in question.categories),
        "severities": tuple(severities),
        "rows": tuple(_rows(marks, marked_text(question, blocks))),
    }


def marked_text(question: Question, blocks: Sequence[Block]) -> str:
    """The text in which errors are marked, as the judge sees it."""
    return quiet(next((block.value for block in blocks if block.kind == question.on), ""))


def _rows(marks: Sequence[Mapping[str, Any]], text: str) -> Iterator[Row]:
    for number, mark in enumerate(marks[:MOST_ROWS], 1):
        words = text[mark["start"] : mark["end"]]
        which = occurrence(text, words, mark["start"])
        yield Row(number, words, which, str(mark.get("category", "")), str(mark.get("severity", "")))
    used = min(len(marks), MOST_ROWS)
    yield from (Row(number) for number in range(used + 1, min(used + MORE_ROWS, MOST_ROWS) + 1))


def occurrence(text: str, words: str, start: int) -> int:
    """Which time some words occur at this place.

    >>> occurrence("to be or not to be", "be", 16)
    2
    """
    return sum(text.startswith(words, at) for at in range(start + 1))


def keyed_flags(scheme: Scheme, questions: Iterable[QuestionField]) -> tuple[Choice, ...]:
    """The flags, each with a key that nothing else uses."""
    taken = keys_of(questions) | {BACK, PAUSE}
    made = []
    for flag in scheme.flags:
        words = sorted(flag.title.lower().split(), key=len, reverse=True)
        wanted = [flag.key.lower(), *(word[0] for word in words if word[0] in LETTERS), *LETTERS]
        key = next((one for one in wanted if one and one not in taken), "")
        taken |= {key}
        made.append(Choice(flag.value, flag.title or flag.value, key))
    return tuple(made)


def keys_of(questions: Iterable[QuestionField]) -> set[str]:
    """The keys that the questions use."""
    every = list(questions)
    choices = {choice.key for one in every for choice in (*one.choices, *one.categories, *one.severities)}
    return (choices | {one.key for one in every}) - {""}


def free_key(questions: Iterable[QuestionField], key: str) -> str:
    """A key of ours, unless an answer of the scheme has it: answers come first."""
    return "" if key in keys_of(questions) else key


def hints(
    questions: Sequence[QuestionField], flags: Sequence[Choice], *, again: bool, back: bool
) -> list[tuple[str, str]]:
    """All keys of the page in words."""
    lines = [hint for one in questions if (hint := _hint(one)) is not None]
    lines += [(str(say("Enter")), str(say("save and next")))]
    if (back or again) and free_key(questions, BACK):
        lines += [(BACK.upper(), str(say("back to my last answer") if back else say("keep previous answer")))]
    if flags:
        lines += [(" ".join(one.key.upper() for one in flags if one.key), str(say("flags")))]
    return [*lines, (PAUSE.upper(), str(say("pause")))] if free_key(questions, PAUSE) else lines


def _hint(one: QuestionField) -> tuple[str, str] | None:
    keys = [choice.key for choice in one.choices if choice.key]
    if one.widget == "spans":
        return "← → Shift", str(say("select words; then a severity"))
    if one.widget == "slider":
        return "S ← →", str(say("slider"))
    if one.widget == "text":
        return "C", str(say("enter text"))
    if not keys:
        return None
    span = f"{keys[0]}–{keys[-1]}" if len(keys) > 3 and all(map(str.isdigit, keys)) else " ".join(map(str.upper, keys))
    return span, str(say("stars")) if one.widget == "stars" else one.title


def answers_of(scheme: Scheme, blocks: Sequence[Block], form: Form) -> dict[str, Any]:
    """The answers of a form; errors that are marked in words that do not occur are refused."""
    found: list[Problem] = []
    answers = {question.id: _answer(question, blocks, form, found) for question in scheme.questions}
    if found:
        raise RefusedError(found, status=422)
    return {name: value for name, value in answers.items() if value not in ("", None)}


def _answer(question: Question, blocks: Sequence[Block], form: Form, found: list[Problem]) -> Any:
    if question.widget == "spans":
        return _marked_spans(question, marked_text(question, blocks), form, found)
    return form.text(f"q-{question.id}").replace("\r\n", "\n")


def _marked_spans(question: Question, text: str, form: Form, found: list[Problem]) -> list[Any]:
    sent = form.fields.get(f"spans-{question.id}")
    if sent is None:
        return list(_span_rows(question, text, form, found))
    try:
        read = json.loads(sent[0] or "[]")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, list):
        found.append(problem("R-29", say_plain("the marks cannot be read"), say_plain("reload the page")))
        return []
    return read


def _span_rows(question: Question, text: str, form: Form, found: list[Problem]) -> Iterator[dict[str, Any]]:
    for number in range(1, MOST_ROWS + 1):
        row = form.beginning(f"mark-{question.id}-{number}-")
        if not (words := row.get("words", "")):
            continue
        start = _place(text, words, row.get("which", "1"))
        if start < 0:
            fix = say_plain("copy the words exactly as they appear in the text")
            found.append(problem("R-29", say_plain("the words do not occur that often in the text"), fix, found=words))
            continue
        mark = {"start": start, "end": start + len(words), **{name: row[name] for name in KIND if row.get(name)}}
        yield mark


KIND = ("category", "severity")


def _place(text: str, words: str, which: str) -> int:
    start = -1
    for _ in range(max(1, min(int(which), 1000)) if which.isdecimal() else 1):
        start = text.find(words, start + 1)
        if start < 0:
            break
    return start


def seconds_of(form: Form, *, otherwise: float = math.inf) -> float:
    """The time that the page measured; without a script, as long as it can have been: since the item was shown."""
    try:
        seconds = float(form.text("seconds"))
    except ValueError:
        return otherwise
    return seconds if math.isfinite(seconds) else 0.0


def number_of(form: Form, name: str) -> int:
    """A small whole number of a form; what is none is 0, which no round has.

    >>> number_of(Form({"round": ("2",)}), "round"), number_of(Form({"round": ("x",)}), "round")
    (2, 0)
    """
    text = form.text(name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
