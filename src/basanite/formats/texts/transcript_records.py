"""STM and CTM files as records of the task `speech`, and back: words with their times (P-32).

A record of a reference says recording, channel, speaker, start, end, label and what was said; a record of an answer
lists its words as `[start, duration, word, confidence]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.formats.foreign_files import RULE, Losses
from basanite.formats.items import ContentError, Items, number_of, read_items, text_of, texts_of
from basanite.formats.records import Place
from basanite.formats.texts.spoken_texts import BACKGROUND, NOTHING, Said, as_said, parse_said
from basanite.formats.texts.transcripts import (
    COMMENT,
    IGNORED,
    OVERALL,
    Heard,
    Hearing,
    Segment,
    words_by_segment,
)
from basanite.problems import Findings

REFERENCE: Final = Place("reference", RULE)
SUBMISSION: Final = Place("submission", RULE)
KEPT: Final = ("recording", "channel", "speaker", "label")
OTHERWISE: Final = "signs in a text that STM reads in its own way, such as { } @ ( ): they are left out"
_SIGNS: Final = ("{", "}", NOTHING)


def stm_records(items: Items, losses: Losses) -> Iterator[dict[str, Any]]:
    """The segments of an STM file as records of a reference."""
    for segment in items.content:
        record = {"id": segment.name, "recording": segment.recording, "channel": segment.channel}
        times = {"speaker": segment.speaker, "start": segment.start, "end": segment.end}
        label = {"label": ", ".join(segment.labels)} if segment.labels else {}
        unscored = {} if segment.scored else {BACKGROUND: True}
        yield {**record, **times, **label, **unscored, **_readings(segment.said[0], losses)}


def _readings(said: Said, losses: Losses) -> dict[str, Any]:
    if said.plain is not None:
        return {"references": [said.plain]}
    losses.add("the choice between readings when this is scored: the first counts; `readings` has all", stm_words(said))
    return {"references": [_first_reading(said)], "readings": [list(place) for place in said.places]}


def _first_reading(said: Said) -> str:
    return " ".join(readings[0] for readings in said.places if readings[0])


def stm_words(said: Said) -> str:
    """What was said as an STM line has it.

    >>> stm_words(parse_said("I { can not / cannot } (uh) say"))
    'I { can not / cannot } (uh) say'
    """
    return " ".join(map(_place, said.places))


def _place(readings: tuple[str, ...]) -> str:
    if len(readings) == 1:
        return readings[0] or NOTHING
    if len(readings) == 2 and readings[1] == "" and len(readings[0].split()) == 1:
        return f"({readings[0]})"
    return f"{{ {' / '.join(reading or NOTHING for reading in readings)} }}"


def stm_lines(segments: Iterable[Segment], losses: Losses) -> Iterator[str]:
    """Segments as lines of an STM file."""
    for one in segments:
        head = f"{one.recording} {one.channel} {one.speaker} {seconds(one.start)} {seconds(one.end)}"
        said = one.said[0]
        marked = BACKGROUND in (one.speaker.casefold(), *map(str.casefold, one.labels))
        ignored = not one.scored and not marked and said.plain == ""
        labels = (*one.labels, BACKGROUND) if not (one.scored or marked or ignored) else one.labels
        words = IGNORED if ignored else _harmless(said, losses)
        yield f"{head} <{','.join((OVERALL, *labels))}> {words}".rstrip() + "\n"


def _harmless(said: Said, losses: Losses) -> str:
    """The words of a segment, such that a reader finds the same in them."""
    words = stm_words(said) if said.plain != "" else ""
    try:
        if parse_said(words) == said or (said.plain is not None and _alike(parse_said(words), said)):
            return words
    except ContentError:
        pass
    losses.add(OTHERWISE, words)
    return " ".join(filter(None, map(_bare, words.split())))


def _alike(read: Said, said: Said) -> bool:
    """Whether two texts without choices have the same words: blanks between words do not matter in STM."""
    return read.plain is not None and said.plain is not None and read.plain.split() == said.plain.split()


def _bare(token: str) -> str:
    token = token.strip("()") if token.startswith("(") else token
    return "" if token in _SIGNS or token.casefold().strip("</>") == BACKGROUND else token


def seconds(value: float) -> str:
    """A time in seconds, with at least two decimals.

    >>> seconds(3.5), seconds(0.125)
    ('3.50', '0.125')
    """
    return f"{value:.2f}" if round(value, 2) == value else f"{value:.6f}".rstrip("0")


def read_segments(path: Path, findings: Findings, losses: Losses) -> tuple[Segment, ...]:
    """The segments that a file of records holds."""
    used = ("references", "readings", "text", "start", "end", BACKGROUND)
    items = read_items(path, _segment_content, REFERENCE, findings, used=used)
    if items is None:
        return ()
    for name in items.columns:
        if name not in KEPT:
            losses.add(f"the column {name[:60]!r}")
    for more in (content.more for content in items.content if content.more):
        losses.add("further references of a segment", more)
    return tuple(
        _segment(items, row) for row in range(len(items.ids)) if _has_plain_names(items, row, KEPT[:3], findings)
    )


@dataclass(frozen=True)
class _Spoken:
    """What a record says of a segment beside its short columns."""

    said: Said
    more: str
    start: float
    end: float
    scored: bool


def _segment_content(fields: Mapping[str, Any]) -> _Spoken:
    first, *others = texts_of(fields)
    start, end = _time(fields, "start"), _time(fields, "end")
    if end <= start:
        raise ContentError("the segment ends before it has begun", "write start and end in seconds", end)
    unscored = fields.get(BACKGROUND) in (True, 1, "true", "yes", "1")
    return _Spoken(_transcript_of(first, fields.get("readings")), " ".join(others), start, end, not unscored)


def _transcript_of(text: str, readings: Any) -> Said:
    """What was said, with all readings where the record lists them and its text is still the first of each."""
    if readings is None:
        return as_said(text)
    listed = isinstance(readings, list) and all(isinstance(place, list) and place for place in readings)
    if not listed or not all(isinstance(one, str) for place in readings for one in place):
        raise ContentError("readings is not a list of lists of texts", 'write "readings": [["uh", ""]]', readings)
    said = Said(tuple(tuple(place) for place in readings))
    return said if _first_reading(said).split() == text.split() else as_said(text)


def _time(fields: Mapping[str, Any], name: str) -> float:
    found = number_of(fields, name)
    if not 0 <= found < 1e9:
        raise ContentError(f"{name} is not a time", "write seconds, 0 or more, like 12.34", found)
    return round(found, 6)


def _has_plain_names(items: Items, row: int, names: Sequence[str], findings: Findings) -> bool:
    """Whether a record names recording, channel and so on in words that can stand between blanks."""
    for name in names:
        cell = items.columns.get(name, ("",) * len(items.ids))[row]
        if len(cell.split()) != 1 or cell.split() != [cell] or cell.startswith(COMMENT):
            fix = "write one word without blanks"
            findings.add(REFERENCE.problem(items.file, items.lines[row], f"no {name}, or one with blanks", fix, cell))
            return False
    return True


def _segment(items: Items, row: int) -> Segment:
    content = items.content[row]
    cells = {name: items.columns[name][row] for name in KEPT if name in items.columns}
    labels = tuple(_label(part) for part in cells.get("label", "").split(",") if _label(part))
    where = (cells["recording"], cells["channel"], cells["speaker"])
    return Segment((content.said,), content.start, content.scored, content.end, *where, labels, items.ids[row])


def _label(text: str) -> str:
    return "".join(char for char in text if not char.isspace() and char not in "<>")


def ctm_records(segments: Sequence[Segment], hearing: Hearing, losses: Losses) -> Iterator[dict[str, Any]]:
    """The words of a CTM file by the segments they belong to, as records of an answer."""
    found, lost = words_by_segment(segments, hearing.words)
    for word in lost:
        losses.add("a word of a recording or channel that the reference does not have", word.word)
    for segment, words in zip(segments, found, strict=True):
        for word in words:
            if word.more:
                losses.add("what follows the confidence of a word", word.more)
        timed = [[word.start, word.duration, word.word, word.confidence] for word in words]
        place = {"recording": segment.recording, "channel": segment.channel}
        times = {"start": segment.start, "end": segment.end}
        text = " ".join(word.word for word in words)
        yield {"id": segment.name, **place, **times, "text": text, "words": timed}


def read_words(path: Path, findings: Findings, losses: Losses) -> tuple[Heard, ...]:
    """The words that a file of records holds; such as have no times are spread over their segment, which is told."""
    items = read_items(path, _heard_content, SUBMISSION, findings, used=("text", "words", "start", "end"))
    if items is None:
        return ()
    for name in items.columns:
        if name not in KEPT[:2]:
            losses.add(f"the column {name[:60]!r}")
    rows = [row for row in range(len(items.ids)) if _has_plain_names(items, row, KEPT[:2], findings)]
    return tuple(word for row in rows for word in _words(items, row, losses))


def _words(items: Items, row: int, losses: Losses) -> Iterator[Heard]:
    recording, channel = (items.columns[name][row] for name in KEPT[:2])
    words, timed = items.content[row]
    if words and not timed:
        losses.add("true times of words: there are none, so words are spread evenly over their segment", items.ids[row])
    for start, duration, word, confidence in words:
        yield Heard(recording, channel, start + duration / 2, word, items.lines[row], start, duration, confidence)


Word = tuple[float, float, str, float | None]


def _heard_content(fields: Mapping[str, Any]) -> tuple[list[Word], bool]:
    texts, words = text_of(fields).split(), fields.get("words")
    if words is not None:
        made = [_word(word) for word in words] if isinstance(words, list) else []
        if isinstance(words, list) and [word[2] for word in made] == texts:
            return made, True
    if not texts:
        return [], True
    start, end = _time(fields, "start"), _time(fields, "end")
    step = max(end - start, 0.0) / len(texts)
    return [(round(start + at * step, 3), round(step, 3), text, None) for at, text in enumerate(texts)], False


def _word(word: Any) -> Word:
    fix = "write [start, duration, word, confidence]"
    if not isinstance(word, list) or len(word) not in (3, 4) or not isinstance(word[2], str):
        raise ContentError("a word is not a list of start, duration and word", fix, word)
    numbers = {"start": word[0], "duration": word[1]}
    confidence = None if len(word) == 3 or word[3] is None else number_of({"confidence": word[3]}, "confidence")
    return _time(numbers, "start"), _time(numbers, "duration"), word[2], confidence


def ctm_lines(words: Iterable[Heard]) -> Iterator[str]:
    """Words as lines of a CTM file, in the order of recordings, channels and time."""
    for one in sorted(words, key=lambda word: (word.recording, word.channel, word.start, word.line)):
        confidence = "" if one.confidence is None else f" {one.confidence:.10g}"
        line = f"{one.recording} {one.channel} {seconds(one.start)} {seconds(one.duration)} {one.word}"
        yield f"{line}{confidence}\n"
