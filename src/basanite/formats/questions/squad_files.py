"""Files of SQuAD: articles with paragraphs and questions, and one object of a system's answers by id.

Programs also make files with a list of single questions under `data`, whose answers are an object of lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from basanite.formats.items import ID_LENGTH, Items
from basanite.formats.json_document import JsonDocument, id_text, read_json
from basanite.formats.questions.question import FIRST_SQUAD, SECOND_SQUAD, Question, answer_fault, items_of
from basanite.formats.records import Place
from basanite.problems import Findings

OTHER_OUTPUTS: Final[Mapping[type, str]] = {
    list: "lists of the n best answers",
    dict: "objects by id",
    float: "probabilities of no answer",
}
"""What the values of other files beside the predictions are."""
BY_ID: Final = 'write one object of answers by id, like {"56be4db0acb8001400a502ec": "Denver Broncos"}'


@dataclass(frozen=True)
class _Asked:
    """A question as it stands in the file."""

    name: str
    article: str
    text: str
    accepted: tuple[str, ...]


def read_articles(path: Path, place: Place, findings: Findings) -> Items | None:
    """The questions of all articles; the article is their cluster, and whether they have an answer is a factor."""
    document = read_json(path, place, findings, like="SQuAD")
    if document is None:
        return None
    asked = list(_questions(document, findings))
    if not findings.valid:
        return None
    lines = dict(zip((one.name for one in asked), document.lines("id", len(asked)), strict=True))
    by_name = {one.name: one for one in asked}
    first = str(document.value.get("version", "")).lstrip("v").startswith("1")
    rule = FIRST_SQUAD if first and all(one.accepted for one in asked) else SECOND_SQUAD
    columns = {
        "article": tuple(one.article for one in by_name.values()),
        "answerable": tuple("yes" if one.accepted else "no" for one in by_name.values()),
    }
    content = [Question(one.accepted, rule, text=one.text) for one in by_name.values()]
    return items_of(document, list(by_name), [lines[name] for name in by_name], content, columns=columns)


def _questions(document: JsonDocument, findings: Findings) -> Iterator[_Asked]:
    """Every question that can be read; each that cannot is reported."""
    seen = set[str]()
    for title, entry in _entries(document, findings):
        name = id_text(entry.get("id"), ID_LENGTH) if isinstance(entry, dict) else None
        if name is None:
            fix = 'write {"id": "…", "question": "…", "answers": […]}'
            findings.add(document.problem(None, f"a question of {title!r} has no id", fix, entry))
            continue
        accepted = _accepted_texts(entry.get("answers"))
        if accepted is None:
            fix = 'write "answers": [{"text": "…", "answer_start": 0}], or [] where there is no answer'
            findings.add(document.problem(None, f"question {name!r} has no list of answers", fix, name))
        elif name in seen:
            findings.add(document.problem(None, f"question {name!r} appears twice", "keep one of each id", name))
        else:
            seen.add(name)
            text = entry.get("question")
            yield _Asked(name, title, text if isinstance(text, str) else "", accepted)


def _entries(document: JsonDocument, findings: Findings) -> Iterator[tuple[str, Any]]:
    """What stands in the list of questions of each paragraph, with the title of its article."""
    articles = document.value.get("data") if isinstance(document.value, dict) else None
    if not isinstance(articles, list):
        articles = [None]
    passages: dict[str, str] = {}
    for at, article in enumerate(articles, start=1):
        if isinstance(article, dict) and "paragraphs" not in article and "answers" in article:
            passage = passages.setdefault(str(article.get("context")), f"passage {len(passages) + 1}")
            yield str(article.get("title") or passage), article  # one question by itself
            continue
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        if not isinstance(paragraphs, list):
            fix = 'write {"data": [{"title": "…", "paragraphs": [{"context": "…", "qas": […]}]}]}'
            findings.add(document.problem(None, f"article {at} has no list of paragraphs", fix))
            continue
        title = article.get("title")
        title = title if isinstance(title, str) and title else f"article {at}"
        for paragraph in paragraphs:
            asked = paragraph.get("qas") if isinstance(paragraph, dict) else None
            if isinstance(asked, list):
                yield from ((title, one) for one in asked)
            else:
                fix = 'write {"context": "…", "qas": [{"id": "…", "question": "…", "answers": […]}]}'
                findings.add(document.problem(None, f"a paragraph of {title!r} has no list of questions", fix))


def _accepted_texts(listed: Any) -> tuple[str, ...] | None:
    """The texts of answers, of which there may be none; None where they cannot be read."""
    if isinstance(listed, dict) and isinstance(listed.get("text"), list):
        listed = [{"text": text} for text in listed["text"]]
    if not isinstance(listed, list):
        return None
    texts: list[Any] = [one.get("text") if isinstance(one, dict) else None for one in listed]
    return None if any(answer_fault(text) for text in texts) else tuple(texts)


def read_predictions(path: Path, place: Place, findings: Findings) -> Items | None:
    """The answers of a system by the id of the question."""
    document = read_json(path, place, findings, like="SQuAD")
    if document is None:
        return None
    value = document.value
    if not isinstance(value, dict) or not all(0 < len(name) <= ID_LENGTH for name in value):
        findings.add(document.problem(None, "this is not an object of answers by id", BY_ID))
        return None
    kinds = {type(answer) for answer in value.values()}
    if len(kinds) == 1 and not kinds.isdisjoint(OTHER_OUTPUTS):
        message = f"this looks like {OTHER_OUTPUTS[kinds.pop()]}, not like answers"
        findings.add(document.problem(None, message, "give the file of predictions"))
        return None
    faults = {name: fault for name, answer in value.items() if (fault := answer_fault(answer))}
    for name, fault in faults.items():
        findings.add(document.problem(None, f"question {name!r}: {fault}", BY_ID, value[name]))
    kept = {name: answer for name, answer in value.items() if name not in faults}
    items = items_of(document, list(kept), [None] * len(kept), list(kept.values()))
    return replace(items, refused=frozenset(faults))
