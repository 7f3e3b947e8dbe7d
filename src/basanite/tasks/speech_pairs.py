"""What was said beside what was heard, made ready to be compared: not all of it counts, and not in the order it came.

Speech from the background is left out, the channels of a conversation are put together by time (M92), both sides are
normalised, and of the readings that a transcriber or system allows those are taken that suit each other best: by the
fewest edits, or as sclite aligns words (T-14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from math import prod
from typing import Final

from basanite.errors import SettingError
from basanite.formats.texts.glm import Glm
from basanite.formats.texts.normalisers import Normalise
from basanite.formats.texts.spoken_texts import MOST_READINGS, Said, Words, is_optional, join_said, parse_said
from basanite.formats.texts.transcripts import Utterance
from basanite.metrics.text.lattices import Comparing, sclite_alignment
from basanite.metrics.text.speech import Operation, Reading, align, best_reading, best_reference
from basanite.tasks.items import Pairs

RECORDING_COLUMNS = ("recording", "document")
RECORDING = "recording"
SCLITE: Final = "sclite"
WRITTEN, CORRECT, UNSAID = "as_written", "correct", "unsaid"
"""What words in parentheses are: words like any other, correct when left out (sclite -D), or not said when left out."""
ASCII: Final = "".join(map(chr, range(128)))
TO_LOWER: Final = str.maketrans(ASCII, ASCII.lower())
CASES: Final[Mapping[str, Normalise]] = {
    "keep": str,
    "ascii": lambda text: text.translate(TO_LOWER),
    "unicode": str.casefold,
}

Slots = list[list[Reading]]


@dataclass(frozen=True)
class Ready(Pairs):
    """Pairs with one reference and one answer each, and the steps of their alignment where sclite's rules count."""

    steps: tuple[tuple[Operation, ...], ...] | None = None

    def alignment(self, at: int) -> Sequence[Operation]:
        """What happened to each word of an utterance."""
        if self.steps is not None:
            return self.steps[at]
        answer = self.answers[at].split()
        return align(best_reference([text.split() for text in self.references[at]], answer), answer)


@dataclass(frozen=True)
class Rules:
    """What counts as a difference, and how words are aligned."""

    normalise: Normalise = str
    glm: Glm | None = None
    case: str = "keep"
    sclite: bool = False
    optional: str = UNSAID
    fragments: bool = False

    def spell(self, text: str, *, heard: bool) -> str:
        """A text as it is compared."""
        written = self.normalise(text)
        if self.glm is not None:
            written = self.glm.rewrite(written, heard=heard)
        return CASES[self.case](written)

    def slots(self, said: Said, *, heard: bool) -> Slots:
        """The readings of each place as words that are compared."""
        unsaid = self.optional == UNSAID
        found: Slots = []
        for plain, group in groupby(_source(said, unsaid=unsaid), key=_is_plain):
            if plain:
                words = tuple(slot[0][0] for slot in group)
                found += self._slots(words, heard=heard)
                continue
            for slot in group:
                ways = [self._slots(reading, heard=heard) for reading in slot]
                found += ways[0] if len(ways) == 1 else [[one for way in ways for one in _readings(way)]]
        return found

    def _slots(self, words: Sequence[str], *, heard: bool) -> Slots:
        """One reading as it is compared; rules of a GLM may make alternatives of a word."""
        found: Slots = []
        for optional, group in groupby(words, is_optional):
            for text in group if optional else [" ".join(group)]:
                for slot in self._slots_of(text[1:-1] if optional else text, heard=heard):
                    ways: list[Reading] = [self._words(way, optional=optional) for way in slot]
                    found += [[(word,)] for word in ways[0]] if len(ways) == 1 else [ways]
        return found

    def _slots_of(self, text: str, *, heard: bool) -> Sequence[Sequence[Words]]:
        spelled = self.spell(text, heard=heard)
        return parse_said(spelled).written if self.glm is not None and "{" in spelled else [(tuple(spelled.split()),)]

    def _words(self, way: Words, *, optional: bool) -> Words:
        words = tuple(map(bare_word, way)) if self.sclite else way
        return tuple(f"({word})" for word in words) if optional else words

    def ready(self, said: Said, heard: Said) -> tuple[str, str, tuple[Operation, ...]]:
        """The reading of either side that counts, and how they are aligned where sclite's rules say."""
        if not self.sclite:
            answer = self._answer(said, heard)
            return self._reference(said, answer), answer, ()
        sides = self.slots(said, heard=False), self.slots(heard, heard=True)
        steps = sclite_alignment(*sides, Comparing(self.optional == CORRECT, self.fragments))
        texts = (" ".join(filter(None, (step[side] for step in steps))) for side in (1, 2))
        return next(texts), next(texts), tuple(steps)

    def _answer(self, said: Said, heard: Said) -> str:
        text = None if heard.plain is None else self.spell(heard.plain, heard=True)
        if text is not None and not (self.glm is not None and "{" in text):
            return text
        steps = sclite_alignment(self.slots(said, heard=False), self.slots(heard, heard=True), Comparing())
        return " ".join(step.answer for step in steps if step.answer)

    def _reference(self, said: Said, answer: str) -> str:
        """What was said as one text: where readings may be chosen, those with which the answer has fewest edits."""
        text = None if said.plain is None else self.spell(said.plain, heard=False)
        if text is not None and not (self.glm is not None and "{" in text):
            return text
        found = best_reading(self.slots(said, heard=False), answer.split())
        return " ".join(word for reading in found for word in reading)


def bare_word(word: str) -> str:
    """A word without the tags that sclite reads behind a semicolon, and without the star of a bad pronunciation.

    >>> bare_word("i've;tag1"), bare_word("bonjour*"), bare_word("a" + chr(92) + ";b")
    ("i've", 'bonjour', 'a;b')
    """
    if ";" in word:
        kept = word.replace("\\;", "\0").partition(";")[0].replace("\0", ";")
        word = kept or word
    return word[:-1] if len(word) > 1 and word[-1] == "*" else word


def _source(said: Said, *, unsaid: bool) -> Iterator[Sequence[Words]]:
    """Words one by one, and places with alternatives: as they are written, or as they may be said."""
    slots: Sequence[Sequence[Words]] = said.written
    if unsaid:
        slots = [tuple(tuple(one.split()) for one in readings) for readings in said.places]
    for slot in slots:
        if len(slot) == 1:
            yield from (((word,),) for word in slot[0])
        else:
            yield slot


def _is_plain(slot: Sequence[Words]) -> bool:
    return len(slot) == 1


def _readings(slots: Slots) -> Iterator[Reading]:
    """Every reading of some places one after the other, written out."""
    if prod(map(len, slots)) > MOST_READINGS:
        raise SettingError(f"mapping makes more than {MOST_READINGS} readings of one alternative: leave out rules.")
    for way in product(*slots):
        yield tuple(word for words in way for word in words if word)


def ready_pairs(pairs: Pairs, rules: Rules) -> Ready:
    """The same pairs as plain texts: the references of each, and the answer."""
    done = [
        _ready(utterance.said, answer, rules) for utterance, answer in zip(pairs.references, pairs.answers, strict=True)
    ]
    return Ready(
        pairs.unit,
        pairs.units,
        tuple(references for references, *_ in done),
        tuple(answer for _, answer, _ in done),
        pairs.columns,
        pairs.files,
        tuple(steps for *_, steps in done) if rules.sclite else None,
    )


def _ready(versions: Sequence[Said], heard: Said, rules: Rules) -> tuple[tuple[str, ...], str, tuple[Operation, ...]]:
    """By sclite's rules the transcriber with the fewest edits counts, and of several the one who wrote most."""
    ways = [rules.ready(said, heard) for said in versions]
    if rules.sclite:
        ways = [min(ways, key=lambda way: (sum(step.step != "hit" for step in way[2]), -len(way[0].split())))]
    return tuple(reference for reference, *_ in ways), ways[0][1], ways[0][2]


def scored_only(pairs: Pairs) -> Pairs:
    """The pairs without speech that is marked as background or to be ignored (M92)."""
    return _take_pairs(pairs, [at for at, utterance in enumerate(pairs.references) if utterance.scored])


def recording_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    """The column that tells which recording an utterance is from."""
    return next((name for name in RECORDING_COLUMNS if any(columns.get(name, ()))), None)


def interleave_channels(pairs: Pairs) -> Pairs:
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
        tuple(_join_utterances([pairs.references[at] for at in places]) for places in ordered.values()),
        tuple(join_said([pairs.answers[at] for at in places]) for places in ordered.values()),
        {
            name: tuple(_common_value(cells, places) for places in ordered.values())
            for name, cells in pairs.columns.items()
        },
        pairs.files,
    )


def _join_utterances(utterances: Sequence[Utterance]) -> Utterance:
    """Utterances one after the other, transcriber by transcriber."""
    every = range(min(len(utterance.said) for utterance in utterances))
    said = tuple(join_said([one.said[at] for one in utterances]) for at in every)
    return Utterance(said, utterances[0].start)


def _common_value(cells: Sequence[str], places: Sequence[int]) -> str:
    """What all of these say, or nothing."""
    said = {cells[at] for at in places}
    return said.pop() if len(said) == 1 else ""


def _take_pairs(pairs: Pairs, places: Sequence[int]) -> Pairs:
    return replace(
        pairs,
        units=tuple(pairs.units[at] for at in places),
        references=tuple(pairs.references[at] for at in places),
        answers=tuple(pairs.answers[at] for at in places),
        columns={name: tuple(cells[at] for at in places) for name, cells in pairs.columns.items()},
    )
