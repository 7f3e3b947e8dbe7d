"""Unitising alpha: do judges mark the same spans? Resampled over documents (S-20).

A judge cuts each document into units (spans of one label) and the gaps between them. Units that overlap differ by the
squares of how far their ends lie apart, a unit inside another judge's gap by the square of its length; what is
expected comes from the lengths of all units and gaps, put anywhere. A gap ends with its document.

K. Krippendorff, Measuring the reliability of qualitative text analysis data, Quality and Quantity 38 (2004).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.kernel import source_of
from basanite.metrics.judgement.crossed import drawn_weights
from basanite.metrics.judgement.estimate import (
    FEWEST_ITEMS,
    Estimate,
    Reals,
    estimate_with_interval,
    undefined_estimate,
)

Numbers = NDArray[np.int64]
Ends = list[tuple[int, int]]


@dataclass(frozen=True)
class Span:
    """A unit from `begin` up to and without `end`, with its label."""

    begin: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class Document:
    """A text of some length with the spans of each judge, the same judges in every document."""

    length: int
    spans: Sequence[Sequence[Span]]


@dataclass(frozen=True)
class _Label:
    """Of one label: disagreement of each document, and all units and gaps with their documents, gaps rising."""

    apart: Reals
    units: Reals
    unit_document: Numbers
    gaps: Reals
    gap_document: Numbers


def unitising_alpha(documents: Sequence[Document], label: str | None = None) -> Estimate:
    """Alpha of one label, or of all of them together; 1 is full agreement, 0 what chance would do.

    >>> text = Document(10, [[Span(2, 5)], [Span(2, 5)]])
    >>> unitising_alpha([text, Document(10, [[Span(0, 4)], [Span(1, 4)]])]).value.__round__(3)
    0.946
    """
    reason = _why_undefined(documents, label)
    if reason:
        return undefined_estimate(reason)
    found = _alpha(_labels(documents, label), _lengths(documents), len(documents[0].spans), np.ones(len(documents)))
    return undefined_estimate("nothing could be apart") if np.isnan(found) else Estimate(found)


def unitising_alpha_with_interval(
    documents: Sequence[Document], label: str | None = None, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Estimate:
    """The same with an interval: whole documents are drawn with replacement."""
    found = unitising_alpha(documents, label)
    if not found.is_defined or len(documents) < FEWEST_ITEMS:
        return found
    labels, lengths, judges = _labels(documents, label), _lengths(documents), len(documents[0].spans)
    weights = drawn_weights(len(documents), draws=draws, source=source_of(seed, "documents"))
    return estimate_with_interval(
        found, np.array([_alpha(labels, lengths, judges, one) for one in weights]), level=level
    )


def _why_undefined(documents: Sequence[Document], label: str | None) -> str:
    if not documents or len(documents[0].spans) < 2:
        return "fewer than two judges"
    if not _names(documents, label):
        return "nobody marked a span"
    return ""


def _names(documents: Sequence[Document], label: str | None) -> list[str]:
    found = {span.label for document in documents for spans in document.spans for span in spans}
    return sorted(found if label is None else found & {label})


def _lengths(documents: Sequence[Document]) -> Reals:
    return np.array([document.length for document in documents], np.float64)


def _labels(documents: Sequence[Document], label: str | None) -> list[_Label]:
    return [_of_label(documents, name) for name in _names(documents, label)]


def _of_label(documents: Sequence[Document], label: str) -> _Label:
    cut = [[_ends(document, spans, label) for spans in document.spans] for document in documents]
    apart = [sum(_apart(*pair) for pair in combinations(judges, 2)) for judges in cut]
    units = [(end - begin, at) for at, judges in enumerate(cut) for ends in judges for begin, end in ends]
    gaps = sorted(
        (gap, at) for at, judges in enumerate(cut) for ends in judges for gap in _gaps(ends, documents[at].length)
    )
    size, where = (np.array(column) for column in zip(*units, strict=True))
    wide, place = np.array(gaps, np.int64).reshape(-1, 2).T
    return _Label(np.array(apart, np.float64), size.astype(np.float64), where, wide.astype(np.float64), place)


def _ends(document: Document, spans: Sequence[Span], label: str) -> Ends:
    """The units of one judge in order; such as lie outside the text or on one another are refused."""
    ends = sorted((span.begin, span.end) for span in spans if span.label == label)
    if any(not 0 <= begin < end <= document.length for begin, end in ends):
        raise SettingError(
            f"A span of {label!r} is empty or lies outside its document: give 0 <= begin < end <= length."
        )
    if any(one[1] > other[0] for one, other in pairwise(ends)):
        raise SettingError(f"Two spans of {label!r} by one judge overlap: join them first.")
    return ends


def _gaps(ends: Ends, length: int) -> Iterator[int]:
    edges = [0, *(edge for pair in ends for edge in pair), length]
    yield from (end - begin for begin, end in zip(edges[::2], edges[1::2], strict=True) if end > begin)


def _apart(one: Ends, other: Ends) -> int:
    """Two judges on one document: squares of the ends of overlapping units, and of the lengths of units alone."""
    pairs = [(mine, theirs) for mine in one for theirs in other if mine[0] < theirs[1] and theirs[0] < mine[1]]
    met = {("one", mine) for mine, _ in pairs} | {("other", theirs) for _, theirs in pairs}
    sides = [("one", ends) for ends in one] + [("other", ends) for ends in other]
    alone = sum((end - begin) ** 2 for side, (begin, end) in sides if (side, (begin, end)) not in met)
    return alone + sum((mine[0] - theirs[0]) ** 2 + (mine[1] - theirs[1]) ** 2 for mine, theirs in pairs)


def _alpha(labels: Sequence[_Label], lengths: Reals, judges: int, weights: Reals) -> float:
    total = float(weights @ lengths)
    observed = sum(2 * float(weights @ label.apart) for label in labels) / (judges * (judges - 1) * total**2)
    expected = sum(_expected_disagreement(label, weights, judges * total) for label in labels) * 2 / total
    return 1 - observed / expected if expected > 0 else float("nan")


def _expected_disagreement(label: _Label, weights: Reals, places: float) -> float:
    """Units laid on units of all lengths, and on every gap that is long enough, over the ways to lay them."""
    size, often = label.units, weights[label.unit_document]
    counts = weights[label.gap_document]
    first = np.searchsorted(label.gaps, size)
    wide = _from_end(counts * label.gaps)[first]
    inside = wide - (size - 1) * _from_end(counts)[first]
    on_units = (often.sum() - 1) / 3 * (2 * size**3 - 3 * size**2 + size)
    top = often @ (on_units + size**2 * inside)
    bottom = places * (places - 1) - often @ (size * (size - 1))
    return float(top / bottom) if bottom > 0 else 0.0


def _from_end(values: Reals) -> Reals:
    """The sum from each place to the end; 0 beyond."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
