"""What was said beside what was heard, made ready to be compared: not all of it counts, and not in the order it came.

Speech from the background is left out, the channels of a conversation are put together by time (M92), both sides are
normalised, and of the readings that a transcriber allows each answer gets the one that suits it best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from basanite.formats.texts.normalisers import Normalise
from basanite.formats.texts.spoken import Said, Utterance, spaced
from basanite.metrics.text.speech_alignment import best_reading
from basanite.tasks.items import Pairs

RECORDING_COLUMNS = ("recording", "document")
RECORDING = "recording"


def scored_only(pairs: Pairs) -> Pairs:
    """The pairs without speech that is marked as background or to be ignored (M92)."""
    return _taken(pairs, [at for at, utterance in enumerate(pairs.references) if utterance.scored])


def recording_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    """The column that tells which recording an utterance is from."""
    return next((name for name in RECORDING_COLUMNS if any(columns.get(name, ()))), None)


def interleaved(pairs: Pairs) -> Pairs:
    """One pair for each recording: the utterances of all its channels in the order in which they began (M92)."""
    column = recording_column(pairs.columns)
    names = pairs.units if column is None else pairs.columns[column]
    groups: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        groups.setdefault(name, []).append(at)
    ordered = {name: sorted(places, key=lambda at: pairs.references[at].start) for name, places in groups.items()}
    return Pairs(
        RECORDING,
        tuple(ordered),
        tuple(_joined([pairs.references[at] for at in places]) for places in ordered.values()),
        tuple(spaced(pairs.answers[at] for at in places) for places in ordered.values()),
        {name: tuple(_agreed(cells, places) for places in ordered.values()) for name, cells in pairs.columns.items()},
        pairs.files,
    )


def normalised(pairs: Pairs, normalise: Normalise) -> Pairs:
    """The same pairs as plain texts: the references of each, and the answer."""
    answers = tuple(normalise(answer) for answer in pairs.answers)
    references = tuple(
        tuple(_read(said, answer, normalise) for said in utterance.said)
        for utterance, answer in zip(pairs.references, answers, strict=True)
    )
    return replace(pairs, references=references, answers=answers)


def _read(said: Said, answer: str, normalise: Normalise) -> str:
    """What was said as one text: where readings may be chosen, those with which the answer has fewest edits."""
    plain = said.plain
    if plain is not None:
        return normalise(plain)
    places = [[tuple(normalise(reading).split()) for reading in readings] for readings in said.places]
    return " ".join(word for reading in best_reading(places, answer.split()) for word in reading)


def _joined(utterances: Sequence[Utterance]) -> Utterance:
    """Utterances one after the other, transcriber by transcriber."""
    every = range(min(len(utterance.said) for utterance in utterances))
    said = tuple(Said(tuple(place for one in utterances for place in one.said[at].places)) for at in every)
    return Utterance(said, utterances[0].start)


def _agreed(cells: Sequence[str], places: Sequence[int]) -> str:
    """What all of these say, or nothing."""
    said = {cells[at] for at in places}
    return said.pop() if len(said) == 1 else ""


def _taken(pairs: Pairs, places: Sequence[int]) -> Pairs:
    return Pairs(
        pairs.unit,
        tuple(pairs.units[at] for at in places),
        tuple(pairs.references[at] for at in places),
        tuple(pairs.answers[at] for at in places),
        {name: tuple(cells[at] for at in places) for name, cells in pairs.columns.items()},
        pairs.files,
    )
