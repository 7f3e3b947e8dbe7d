"""What is known of a question, and what an answer may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from basanite.formats.items import Items
from basanite.formats.json_document import JsonDocument

VQA_RULE, FIRST_SQUAD, SECOND_SQUAD, CHOICE, NUMBER = "vqa", "squad1", "squad2", "choice", "number"
RULES: Final = (VQA_RULE, FIRST_SQUAD, SECOND_SQUAD, CHOICE, NUMBER)
"""When an answer is right, by the name of the setting."""
LONGEST: Final = 10_000
"""Characters of an answer: a longer one is no answer but a text."""
ANSWER_FIX: Final = f'write "answer": "…" with at most {LONGEST} characters'
_MARKED: Final = re.compile(r"[(\[]?\s*([a-z]|\d{1,2})\s*[)\].:]?")


@dataclass(frozen=True)
class Options:
    """What a question offers: a text for each label, in lower case."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """Which answers count as right, by which rule, and what the question offers and asks."""

    accepted: tuple[str, ...]
    rule: str
    options: Options | None = None
    text: str = ""


def option_of(answer: str, options: Options | None) -> str:
    """The option that an answer means, as one of its labels; an answer that is none of them stays as it is.

    The text of an option comes first, then its label, then its number counted from 0.

    >>> offered = Options(("a", "b"), ("red", "blue"))
    >>> [option_of(text, offered) for text in ("Blue", "(B)", "b.", "1", "green")]
    ['b', 'b', 'b', 'b', 'green']
    >>> option_of(" C) ", None)
    'c'
    """
    text = " ".join(answer.lower().split())
    found = _MARKED.fullmatch(text)
    label = found[1] if found else text
    if options is None:
        return label
    if text in options.texts:
        return options.labels[options.texts.index(text)]
    if label in options.labels or not label.isdigit() or int(label) >= len(options.labels):
        return label
    return options.labels[int(label)]


def answer_fault(found: Any) -> str:
    """What is wrong with an answer; "" if nothing is."""
    if not isinstance(found, str):
        return "there is no text as its answer"
    return f"its answer has {len(found)} characters" if len(found) > LONGEST else ""


def items_of(
    document: JsonDocument, ids: Sequence[str], lines: Sequence[int | None], content: Sequence[Any], **more: Any
) -> Items:
    """The items of a JSON file; what stands on no known line is on the first."""
    return Items(document.file, tuple(ids), tuple(content), [line or 1 for line in lines], document.digest, **more)
