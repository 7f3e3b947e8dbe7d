"""The units on which two systems differ most, to be read side by side with their differences marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from basanite.analysis.results import Comparison, Difference
from basanite.figures import Excerpt, Excerpts, Extract, Figure, Marked, Pieces

PAIRS = 3
"""Of so many pairs of systems units are shown; a reader with more systems compares those that matter to him."""
LONGEST = 400
"""Words of a text that are marked; the rest is left out and said so."""

Show = Callable[[Any, Mapping[str, Any]], tuple[Extract, ...]]
"""What a task shows of one unit: given the truth and each system's answer by name."""


def moved_figures(show: Show) -> Callable[[Comparison], tuple[Figure, ...]]:
    """The `compared_figures` of a task whose runs keep truth and answers side by side (`tasks.items.Pairs`)."""

    def figures(comparison: Comparison) -> tuple[Figure, ...]:
        primary = next(iter(comparison.analyses.values())).scores.primary
        pairs = [one for one in comparison.differences if one.metric == primary and one.moved]
        return tuple(_excerpts(comparison, one, show) for one in pairs[:PAIRS])

    return figures


def _excerpts(comparison: Comparison, one: Difference, show: Show) -> Excerpts:
    entries = tuple(_entries(comparison, one, show))
    scores = next(iter(comparison.analyses.values())).scores
    kind, name = scores.kept.unit, scores.metric(one.metric).display_name
    summary = (
        f"The reference first, then both systems. The number is what each {kind} adds to "
        f"{one.first} minus {one.second}."
    )
    return Excerpts(f"Where {one.first} and {one.second} differ most on {name}", summary, entries)


def _entries(comparison: Comparison, one: Difference, show: Show) -> Iterator[Excerpt]:
    kept = {name: comparison.analyses[name].scores.kept for name in (one.first, one.second)}
    places = {name: {unit: at for at, unit in enumerate(pairs.units)} for name, pairs in kept.items()}
    for unit, share in one.moved:
        at = {name: places[name][unit] for name in kept}
        answers = {name: pairs.answers[at[name]] for name, pairs in kept.items()}
        truth = kept[one.first].references[at[one.first]]
        yield Excerpt(unit, f"{share:+.4f}", show(truth, answers))


def text_extracts(truth: Sequence[str], answers: Mapping[str, str]) -> tuple[Extract, ...]:
    """Each answer marked against the reference that it is nearest to, which stands above them."""
    nearest = {name: _nearest(truth, answer) for name, answer in answers.items()}
    near: dict[str, list[str]] = {}
    for name, text in nearest.items():
        near.setdefault(text, []).append(name)
    references = [
        Extract("Reference" if len(near) == 1 else f"Reference ({', '.join(names)})", ((text, ""),))
        for text, names in near.items()
    ]
    marked = [
        Extract(name, word_pieces(nearest[name].split(), answer.split()) or (("(nothing)", "missing"),))
        for name, answer in answers.items()
    ]
    return (*references, *marked)


def _nearest(truth: Sequence[str], answer: str) -> str:
    """The reference with the fewest words to change, the first of them if there are several."""
    from rapidfuzz.distance import Levenshtein

    words = answer.split()[:LONGEST]
    return min(truth, key=lambda text: Levenshtein.distance(text.split()[:LONGEST], words), default="")


def word_pieces(truth: Sequence[str], answer: Sequence[str]) -> Pieces:
    """An answer's words marked against the truth's: added, changed, and in their place those that are missing.

    >>> word_pieces(["a", "big", "dog"], ["a", "cat"])
    (('a', ''), (' ', ''), ('cat', 'changed'), (' ', ''), ('dog', 'missing'))
    """
    from rapidfuzz.distance import Levenshtein  # here, because only reports with excerpts need it

    pieces: list[tuple[str, Marked]] = []
    for step in Levenshtein.opcodes(list(truth[:LONGEST]), list(answer[:LONGEST])):
        pieces += _step(step.tag, truth[step.src_start : step.src_end], answer[step.dest_start : step.dest_end])
    if max(len(truth), len(answer)) > LONGEST:
        pieces += [(f"… and {max(len(truth), len(answer)) - LONGEST} words more", ""), (" ", "")]
    return tuple(pieces[:-1])


def _step(tag: str, truth: Sequence[str], answer: Sequence[str]) -> Iterator[tuple[str, Marked]]:
    marks: dict[str, tuple[Sequence[str], Marked]] = {
        "equal": (answer, ""),
        "insert": (answer, "added"),
        "replace": (answer, "changed"),
        "delete": (truth, "missing"),
    }
    words, mark = marks[tag]
    for word in words:
        yield word, mark
        yield " ", ""
