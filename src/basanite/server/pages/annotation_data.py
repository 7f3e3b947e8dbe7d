"""What scripts of the annotation pages are given and send: form, events, findings, sentences, guidelines (R-14).

Nothing of the ontology is among it: categories, fields and choices are all that an annotator ever sees. Guidelines come
from a package, so nothing of them becomes HTML but headings, lists and paragraphs (X-14).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Request

from basanite.campaign.model.refusals import refused
from basanite.campaign.work.annotation.annotator_work import Appended, Opened
from basanite.server.catalogue import say_plain, sentence
from basanite.server.pages.forms import check_token
from basanite.server.roles import CSRF_HEADER
from basanite.work.annotation.config import Category, Config, Field
from basanite.work.annotation.config.model import MENTION, NAME, VALUE
from basanite.work.annotation.review import Clash, Review
from basanite.work.annotation.things import Place

GAPS = {"missing": "incomplete"}
"""Kinds of gaps as the page tells them; all others are to be mended."""
MOST_GAPS = 200


def config_data(config: Config) -> dict[str, Any]:
    """Categories in their order, and the layout."""
    layout = config.layout
    return {
        "title": config.title or config.name,
        "categories": [_category(one) for one in config.categories.values()],
        "layout": {
            "text": layout.text,
            "tabs": layout.tabs,
            "columns": layout.columns,
            "order": list(layout.order),
        },
    }


def _category(one: Category) -> dict[str, Any]:
    same = ("name", "parent", "frame", "table", "least", "most", "single", "inferred", "key", "colour", "help")
    made: dict[str, Any] = {name: getattr(one, name) for name in same}
    return made | {"title": one.title or one.name, "fields": [_field(field, one) for field in one.fields]}


def _field(one: Field, category: Category) -> dict[str, Any]:
    choices = [{"value": each.value, "title": each.title or each.value, "key": each.key} for each in one.choices]
    same: dict[str, Any] = {name: getattr(one, name) for name in ("name", "kind", "of", "needed", "key", "help")}
    return same | {"title": field_title(one, category), "choices": choices}


def field_title(one: Field, category: Category) -> str:
    """What a field is called; one that nobody named goes by its category, or by what it holds."""
    plain = {MENTION: say_plain("Words"), VALUE: category.title or category.name, NAME: say_plain("Name")}
    return plain.get(one.name, one.name) if one.title in ("", one.name) else one.title


def review_data(review: Review) -> list[dict[str, Any]]:
    """What was found, each with the places of the form that it belongs to; what follows comes last."""
    clashes = [
        _item("contradiction", one.message, [_place(p) for p in one.places], _why(one)) for one in review.contradictions
    ]
    gaps = [_item(GAPS.get(one.kind, "mend"), one.message, [_place(one.place)], fix=one.fix) for one in review.gaps]
    undecided = [_item("undecided", one, []) for one in review.undecided]
    follows = [_item("follows", one.words, [], line_tree(one.lines)) for one in review.follows]
    return [*clashes, *gaps[:MOST_GAPS], *undecided, *follows]


def _item(
    kind: str, message: str, places: list[dict[str, str]], why: list[dict[str, Any]] | None = None, fix: str = ""
) -> dict[str, Any]:
    return {"kind": kind, "message": message, "places": places, "why": why or [], "fix": fix}


def _place(place: Place) -> dict[str, str]:
    return {"object": place.object, "field": place.field}


def _why(clash: Clash) -> list[dict[str, Any]]:
    """What the annotator said that cannot all be true, in words, then how the reasoner came to it."""
    return [{"text": one, "lines": []} for one in clash.says] + line_tree(clash.lines)


def line_tree(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Indented lines as a tree.

    >>> line_tree(["a", "  b", "c"])
    [{'text': 'a', 'lines': [{'text': 'b', 'lines': []}]}, {'text': 'c', 'lines': []}]
    """
    top: list[dict[str, Any]] = []
    open_ones: list[tuple[int, list[dict[str, Any]]]] = [(-1, top)]
    for line in lines:
        depth, made = len(line) - len(line.lstrip()), {"text": line.strip(), "lines": []}
        while open_ones[-1][0] >= depth:
            open_ones.pop()
        open_ones[-1][1].append(made)
        open_ones.append((depth, made["lines"]))  # type: ignore[arg-type]
    return top


def opened_data(opened: Opened) -> dict[str, Any]:
    """A text with all that was done to it."""
    return {
        "task": opened.task.id,
        "text": opened.document.text,
        "config": config_data(opened.config),
        "events": [one.as_dict() for one in opened.events],
        "sequence": opened.sequence,
        "review": review_data(opened.review),
        "suggestions": [
            {"id": one.id, "category": one.category, "parts": one.parts, "fields": one.fields, "source": one.source}
            for one in opened.suggested
        ],
    }


def appended_data(appended: Appended) -> dict[str, Any]:
    """What became of events that were sent."""
    review = None if appended.review is None else review_data(appended.review)
    return appended.as_dict() | {"review": review}


def words() -> dict[str, Any]:
    """Every sentence by the name that scripts know it by; what stands in braces is put in there."""
    return _form() | _marks() | _saving() | _review()


def _form() -> dict[str, Any]:
    return {
        "yes": say_plain("Yes"),
        "no": say_plain("No"),
        "none": say_plain("– none –"),
        "gone": say_plain("(removed)"),
        "add": _open(sentence("Add {what}"), "what"),
        "addRow": say_plain("Add row"),
        "addRowTo": _open(sentence("Add row: {what}"), "what"),
        "remove": _open(sentence("Remove {what}"), "what"),
        "removeRow": say_plain("Remove"),
        "earlier": say_plain("Earlier"),
        "later": say_plain("Later"),
        "rowsOf": _open(sentence("{from} to {to} of {all}"), "from", "to", "all"),
        "moreMarks": _open(sentence("and {count} more in the text"), "count"),
        "noRows": say_plain("None yet."),
        "clear": _open(sentence("Clear {field}"), "field"),
        "inferredShort": say_plain("Inferred"),
        "inferredHelp": say_plain("Select this if the text implies it without stating it."),
        "note": say_plain("Note"),
        "noteFor": _open(sentence("Note for {what}"), "what"),
    }


def _marks() -> dict[str, Any]:
    return {
        "take": say_plain("Use selection"),
        "takeFor": _open(sentence("Use selection for {field}"), "field"),
        "unmark": _open(sentence("Remove annotation “{text}”"), "text"),
        "selectFirst": say_plain("Select words in the text first."),
        "markedAll": _open(sentence("{count} spans marked."), "count"),
        "working": _open(sentence("Keyboard shortcuts now apply to {what}."), "what"),
    }


def _saving() -> dict[str, Any]:
    return {
        "status": {
            "saved": say_plain("All saved"),
            "saving": say_plain("Saving …"),
            "offline": _open(
                sentence("Offline: {count} changes are saved in this browser and will be sent later"), "count"
            ),
            "signed-out": _open(
                sentence("Sign in again in another tab: {count} changes are saved here and will be sent then"), "count"
            ),
            "refused": say_plain("Some changes were not saved"),
        },
        "refused": _open(sentence("Not saved: {why}"), "why"),
        "suggestionsLeft": _open(sentence("Unanswered suggestions: {count}"), "count"),
        "suggestedBy": _open(sentence("suggested by {source}"), "source"),
        "finishAnyway": _open(sentence("{count} contradictions remain. Press F8 again to finish anyway."), "count"),
    }


def _review() -> dict[str, Any]:
    return {
        "found": _open(sentence("Issues: {count}"), "count"),
        "nothingFound": say_plain("No contradictions"),
        "why": say_plain("Why?"),
        "kinds": {
            "contradiction": say_plain("Contradiction:"),
            "incomplete": say_plain("Incomplete:"),
            "undecided": say_plain("To decide:"),
            "mend": say_plain("Fix:"),
            "follows": say_plain("Implied:"),
        },
        "searching": say_plain("Searching …"),
        "noHits": say_plain("No matches."),
        "hits": _open(sentence("{count} texts"), "count"),
        "places": _open(sentence("{count} ranks"), "count"),
    }


def _open(text: str, *names: str) -> str:
    """A sentence whose values the script puts in."""
    return say_plain(text, **{name: f"{{{name}}}" for name in names})


_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_PLAIN = re.compile(r"(\*\*|__|`)(.+?)\1")


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, or a list."""

    kind: str
    lines: tuple[str, ...]


def blocks(markdown: str) -> tuple[Block, ...]:
    """The parts of a text in order.

    >>> [block.kind for block in blocks("# Games\\n\\nMark each game.\\n\\n- once\\n- twice\\n")]
    ['heading', 'paragraph', 'list']
    """
    lines = ((_kind(line), line) for line in markdown.replace("\r\n", "\n").split("\n"))
    return tuple(
        block
        for kind, several in groupby(lines, key=lambda pair: pair[0])
        for block in _blocks_of_kind(kind, [b for _, b in several])
    )


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    if _HEADING.match(line):
        return "heading"
    return "list" if _ITEM.match(line) else "paragraph"


def _blocks_of_kind(kind: str, lines: list[str]) -> Iterator[Block]:
    if kind == "heading":
        yield from (Block(kind, (_words(_HEADING.sub(r"\2", line)),)) for line in lines)
    elif kind == "list":
        yield Block(kind, tuple(_words(_ITEM.sub(r"\1", line)) for line in lines))
    elif kind:
        yield Block(kind, (_words(" ".join(line.strip() for line in lines)),))


def _words(text: str) -> str:
    return _PLAIN.sub(r"\2", text).strip()


LARGEST = 1_000_000
"""Bytes; the guard around every call takes little more."""


async def read_json(request: Request) -> dict[str, Any]:
    """The object of this call, after its token was checked; the route's policy has run before."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise refused("P-11", "this is too much at once", "send less at a time", status=413)
    check_token(request, request.headers.get(CSRF_HEADER, ""))
    return json_object(bytes(body))


def json_object(body: bytes) -> dict[str, Any]:
    """An object of JSON; everything else is refused.

    >>> json_object(b'{"after": 3}')
    {'after': 3}
    """
    try:
        read = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refused("P-11", "this cannot be read", "use the form on its page", status=422) from error
    if not isinstance(read, dict):
        raise refused("P-11", "this is not an object", "use the form on its page", status=422)
    return read


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


Sent = Annotated[dict[str, Any], Depends(read_json)]
"""A route that a script calls says so by this; it stands after the caller, whose session the token belongs to."""
