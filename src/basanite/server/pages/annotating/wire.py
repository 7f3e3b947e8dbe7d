"""What the scripts of the annotation page are given: the form's shape, the events, and what the reasoner found.

Nothing of the ontology is among it: categories, fields and choices are all that an annotator ever sees (R-14).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from basanite.annotation.config import Category, Config, Field
from basanite.annotation.config.model import MENTION, NAME, VALUE
from basanite.annotation.places import Place
from basanite.annotation.review import Clash, Review
from basanite.campaign.annotating.working import Appended, Opened
from basanite.server.catalogue import said

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
    plain = {MENTION: said("Words"), VALUE: category.title or category.name, NAME: said("Name")}
    return plain.get(one.name, one.name) if one.title in ("", one.name) else one.title


def review_data(review: Review) -> list[dict[str, Any]]:
    """What was found, each with the places of the form that it belongs to; what follows comes last."""
    clashes = [
        _item("contradiction", one.message, [_place(p) for p in one.places], _why(one)) for one in review.contradictions
    ]
    gaps = [_item(GAPS.get(one.kind, "mend"), one.message, [_place(one.place)], fix=one.fix) for one in review.gaps]
    undecided = [_item("undecided", one, []) for one in review.undecided]
    follows = [_item("follows", one.words, [], nested(one.lines)) for one in review.follows]
    return [*clashes, *gaps[:MOST_GAPS], *undecided, *follows]


def _item(
    kind: str, message: str, places: list[dict[str, str]], why: list[dict[str, Any]] | None = None, fix: str = ""
) -> dict[str, Any]:
    return {"kind": kind, "message": message, "places": places, "why": why or [], "fix": fix}


def _place(place: Place) -> dict[str, str]:
    return {"object": place.object, "field": place.field}


def _why(clash: Clash) -> list[dict[str, Any]]:
    """What the annotator said that cannot all be true, in words, then how the reasoner came to it."""
    return [{"text": one, "lines": []} for one in clash.says] + nested(clash.lines)


def nested(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Indented lines as a tree.

    >>> nested(["a", "  b", "c"])
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
    }


def appended_data(appended: Appended) -> dict[str, Any]:
    """What became of events that were sent."""
    return appended.as_dict() | {"review": review_data(appended.review)}
