"""The error explorer: one page, for a key that the user holds, with every listed miss and false alarm (M72).

Rows stand in the page as data; its script, named by its hash in the content policy, shows, filters, counts and sorts
them. Nothing is asked of a network, no style or script of a stranger's can act, and without scripts the worst rows
are still there to read.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from basanite import __version__
from basanite.analysis.mistakes import Mistakes, Places
from basanite.figures import Image
from basanite.reports import theme
from basanite.reports.explorer import OUTCOMES, UNKNOWN, count_tables, kinds_table, sentences
from basanite.reports.outputs.html import asset, embed_json, environment, favicon
from basanite.reports.wording import printable

STILL_ROWS = 100
"""Rows that a reader without scripts sees."""


NO_KIND = "– (a miss)"


PICTURES = frozenset({"image/png", "image/jpeg"})


@dataclass(frozen=True)
class Facet:
    """Something to choose rows by: its levels, which of them each row has, and what else to say of a level."""

    label: str
    levels: tuple[str, ...]
    places: tuple[int, ...]
    says: tuple[str, ...] = ()

    @classmethod
    def of(cls, label: str, values: Sequence[str]) -> Facet:
        """The levels that occur, in order."""
        levels = tuple(sorted(set(values)))
        place = {level: at for at, level in enumerate(levels)}
        return cls(label, levels, tuple(place[value] for value in values))

    def data(self) -> dict[str, Any]:
        """The facet as the page's script knows it; nothing in a stranger's name can hide (X-14)."""
        return {
            "label": printable(self.label),
            "levels": [*map(printable, self.levels)],
            "says": [*map(printable, self.says)],
        }


def render(mistakes: Mistakes, listed: Places) -> bytes:
    """The explorer as one self-contained HTML file."""
    style = f"{theme.embedded_typeface()}\n{theme.css()}\n{asset('report.css')}{asset('explorer.css')}"
    script, data = asset("explorer.js"), page_data(mistakes, listed)
    page = (
        environment()
        .get_template("explorer.html")
        .render(
            mistakes=mistakes,
            sentences=tuple(sentences(mistakes, listed)),
            tables=(*kinds_table(mistakes), *count_tables(mistakes)),
            still=tuple(still_rows(data)),
            data=embed_json(data),
            facets=data["facets"],
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            favicon=favicon(),
            version=__version__,
        )
    )
    return (page.rstrip() + "\n").encode()


def policy(style: str, script: str) -> str:
    """What the page may do: run its own script, use its own style, show pictures it carries, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page_data(mistakes: Mistakes, listed: Places) -> dict[str, Any]:
    """What the page's script works on: facets with their levels, and rows that point into them.

    A row is the place of its document, its confidence, and the place of its level in each facet.
    """
    facets = [*_always(mistakes, listed), *(one for one in _others(mistakes, listed) if len(one.levels) > 1)]
    documents = Facet.of("document", [mistakes.documents[at] for at in mistakes.document[listed]])
    columns = (documents.places, mistakes.confidence[listed].tolist(), *(facet.places for facet in facets))
    return {
        "documents": [*map(printable, documents.levels)],
        "facets": [facet.data() for facet in facets],
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "images": _pictures(mistakes, documents, facets[1]),
    }


def _always(mistakes: Mistakes, listed: Places) -> Iterator[Facet]:
    """Outcome and query, which every page has."""
    yield Facet("outcome", OUTCOMES, tuple(0 if missed else 1 for missed in mistakes.missed[listed]))
    queries = Facet.of("query", [mistakes.queries[at] for at in mistakes.query[listed]])
    says = tuple(mistakes.strings.get(query, "") for query in queries.levels) if mistakes.strings else ()
    yield Facet(queries.label, queries.levels, queries.places, says)


def _others(mistakes: Mistakes, listed: Places) -> Iterator[Facet]:
    """The kind of non-target and every factor."""
    if mistakes.kinds:
        known = (*mistakes.kinds, UNKNOWN)
        kinds = zip(mistakes.kind[listed], mistakes.missed[listed], strict=True)
        yield Facet.of("non-target", [NO_KIND if missed else known[kind] for kind, missed in kinds])
    for factor, levels in mistakes.factors().items():
        yield Facet.of(factor, [str(level) or UNKNOWN for level in levels[listed]])


def _pictures(mistakes: Mistakes, documents: Facet, queries: Facet) -> dict[str, str]:
    """Images as the page carries them, by the places of query and document."""
    query, document = ({name: at for at, name in enumerate(facet.levels)} for facet in (queries, documents))
    return {
        f"{query[pair[0]]} {document[pair[1]]}": _source(image)
        for pair, image in mistakes.images.items()
        if image.media_type in PICTURES and pair[0] in query and pair[1] in document
    }


def _source(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.content).decode()}"


def still_rows(data: dict[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The worst rows as text, for readers without scripts: confidence, document, and the level of each facet."""
    for document, confidence, *places in data["rows"][:STILL_ROWS]:
        levels = tuple(facet["levels"][at] for facet, at in zip(data["facets"], places, strict=True))
        yield f"{confidence:.5g}", data["documents"][document], levels
