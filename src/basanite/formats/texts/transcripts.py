"""NIST's timed transcripts: STM files say what was said in which segment, CTM files what a system heard word by word.

How words are written in them, with alternatives and speech from the background, is in `spoken_texts`.

A word belongs to the segment of its recording and channel in which the middle of the word lies; where segments
overlap, to the one that began first. A word between segments goes to the nearest scored one, as an insertion. What
falls into a segment that is not scored (marked to be ignored, or background speech) is not scored either.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final, TypeVar

from basanite.formats.items import ContentError, Items
from basanite.formats.records import Place, Records, read_lines
from basanite.formats.texts.spoken_texts import BACKGROUND, NOTHING, Said, parse_said
from basanite.problems import Findings

IGNORED: Final = "IGNORE_TIME_SEGMENT_IN_SCORING"

Parsed = TypeVar("Parsed")
Thing = TypeVar("Thing")
COMMENT: Final = ";;"
FOLLOWING: Final = "following"
"""What becomes of words between segments in sclite: they are of the segment that follows."""
STM_LINE: Final = "file channel speaker start end <labels> words …"
CTM_LINE: Final = "file channel start duration word [confidence]"
ALTERNATIVES: Final = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")
ALT_FIX: Final = "write alternatives as lines of <ALT_BEGIN>, words, <ALT>, words, <ALT_END>"
OVERALL: Final = "o"
"""A label of every segment, which says nothing."""
_LABELS = re.compile(r"<([^<>\s]*)>\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Utterance:
    """One stretch of speech: what was said by each of its transcribers, when it began, and whether it counts."""

    said: tuple[Said, ...]
    start: float = 0.0
    scored: bool = True


@dataclass(frozen=True)
class Segment(Utterance):
    """One stretch of one channel, and what was said in it."""

    end: float = 0.0
    recording: str = ""
    channel: str = ""
    speaker: str = ""
    labels: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Heard:
    """One word that a system heard."""

    recording: str
    channel: str
    middle: float
    word: str
    line: int
    start: float = 0.0
    duration: float = 0.0
    confidence: float | None = None
    more: str = ""
    """What else the line says: kind of the word and speaker."""


@dataclass(frozen=True)
class Hearing:
    """Everything that a system heard, in the order of time."""

    file: str
    words: tuple[Heard, ...]
    digest: str


def read_stm(path: Path, place: Place, findings: Findings) -> Items | None:
    """The segments of an STM file, in the order of recordings, time and channels."""
    records = read_lines(path, place, findings)
    kept: dict[str, tuple[int, Segment]] = {}
    for line, segment in _parse_lines(records, _parse_segment, place, findings):
        if segment.name in kept:
            message = f"the segment {segment.name} appears twice, first on line {kept[segment.name][0]}"
            findings.add(place.problem(records.file, line, message, "keep one line for each segment", segment.name))
        kept.setdefault(segment.name, (line, segment))
    by_time = attrgetter("recording", "start", "end", "channel")
    ordered = sorted(kept.values(), key=lambda each: by_time(each[1]))
    segments = tuple(segment for _, segment in ordered)
    lines, names = [line for line, _ in ordered], tuple(segment.name for segment in segments)
    return Items(records.file, names, segments, lines, records.digest, _columns(segments))


def read_ctm(path: Path, place: Place, findings: Findings, *, alternatives: bool = False) -> Hearing:
    """The words of a CTM file; with `alternatives` those between ALT_BEGIN and ALT_END are one word `{ a / b }`."""
    records = read_lines(path, place, findings)
    parse = partial(_parse_word, alternatives=alternatives)
    words = _join_alternatives(_parse_lines(records, parse, place, findings), records.file, place, findings)
    return Hearing(records.file, tuple(sorted(words, key=lambda word: word.middle)), records.digest)


def _join_alternatives(
    words: Iterable[tuple[int, Heard]], file: str, place: Place, findings: Findings
) -> Iterator[Heard]:
    group: list[Heard] = []
    for line, word in words:
        sign = word.word.upper()
        if sign == ALTERNATIVES[0] or (group and sign != ALTERNATIVES[2]):
            group.append(word)
        elif group:
            yield _one_word(group)
            group = []
        elif sign in ALTERNATIVES:
            findings.add(place.problem(file, line, f"{word.word} is outside of alternatives", ALT_FIX, word.word))
        else:
            yield word
    if group:
        findings.add(place.problem(file, group[0].line, f"{group[0].word} is never closed", ALT_FIX, group[0].word))


def _one_word(group: Sequence[Heard]) -> Heard:
    """Words between two signs as one that is written as alternatives; it lies where the last of them does."""
    readings: list[list[str]] = [[]]
    for word in group[1:]:
        if word.word.upper() == ALTERNATIVES[1]:
            readings.append([])
        else:
            readings[-1].append(word.word)
    times = [word for word in group if not math.isnan(word.middle)]
    last = max(times, key=lambda word: word.middle, default=replace(group[0], middle=0.0, start=0.0))
    text = " / ".join(" ".join(reading) or NOTHING for reading in readings)
    return replace(last, word=f"{{ {text} }}", line=group[0].line, start=min((word.start for word in times), default=0))


def texts_by_segment(
    segments: Sequence[Segment], words: Iterable[Heard], *, outside: str = "insert", mixed: Collection[str] = ()
) -> tuple[list[str], list[Heard]]:
    """What was heard in each segment, and the words whose recording or channel has no segment.

    Recordings in `mixed`, in lower case, are taken as one stretch of sound, whatever their channels are called.
    """
    found, lost = words_by_segment(segments, words, outside=outside, mixed=mixed)
    return [" ".join(word.word for word in several) for several in found], lost


def words_by_segment(
    segments: Sequence[Segment], words: Iterable[Heard], *, outside: str = "insert", mixed: Collection[str] = ()
) -> tuple[list[list[Heard]], list[Heard]]:
    """The words of each segment with their times, and those whose recording or channel has no segment."""
    tracks = _by_channel(enumerate(segments), lambda each: _track(each[1], mixed))
    spoken = _by_channel(words, lambda word: _track(word, mixed))
    found: list[list[Heard]] = [[] for _ in segments]
    for key, track in tracks.items():
        for at, word in _assign_words([segment for _, segment in track], spoken.get(key, ()), outside):
            found[track[at][0]].append(word)
    lost = [word for key, heard in spoken.items() if key not in tracks for word in heard]
    return found, lost


def _track(one: Segment | Heard, mixed: Collection[str]) -> tuple[str, str]:
    """Recording and channel in lower case, as sclite compares them."""
    recording = one.recording.lower()
    return recording, "" if recording in mixed else one.channel.lower()


def _by_channel(things: Iterable[Thing], key: Callable[[Thing], tuple[str, str]]) -> dict[tuple[str, str], list[Thing]]:
    groups: dict[tuple[str, str], list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def _assign_words(track: Sequence[Segment], words: Sequence[Heard], outside: str) -> Iterator[tuple[int, Heard]]:
    """The place of the segment of each word, in one sweep over time; segments and words come in its order."""
    if outside == FOLLOWING:
        yield from _assign_as_sclite(track, words)
        return
    waiting, nearest = deque(enumerate(track)), _Nearest(track)
    running: deque[tuple[int, Segment]] = deque()
    for word in words:
        while waiting and waiting[0][1].start <= word.middle:
            running.append(waiting.popleft())
        while running and running[0][1].end < word.middle:
            running.popleft()
        if running:
            yield running[0][0], word
        elif outside == "insert" and (at := nearest.to(word.middle)) is not None:
            yield at, word


def _assign_as_sclite(track: Sequence[Segment], words: Sequence[Heard]) -> Iterator[tuple[int, Heard]]:
    """Words go to the first segment that ends after their middle, never to one before; what is left, to the last."""
    at = 0
    for word in words:
        while at < len(track) - 1 and word.middle >= track[at].end:
            at += 1
        yield at, word


class _Nearest:
    """The scored segment that is nearest to a moment between segments."""

    def __init__(self, track: Sequence[Segment]) -> None:
        scored = [(segment, at) for at, segment in enumerate(track) if segment.scored]
        self.starts = sorted((segment.start, at) for segment, at in scored)
        self.ends = sorted((segment.end, at) for segment, at in scored)

    def to(self, moment: float) -> int | None:
        """Its place; of two as near the earlier one, None if nothing is scored."""
        before = bisect_right(self.ends, (moment, math.inf)) - 1
        after = bisect_left(self.starts, (moment, -1))
        ways = [(moment - self.ends[before][0], 0, self.ends[before][1])] if before >= 0 else []
        ways += [(self.starts[after][0] - moment, 1, self.starts[after][1])] if after < len(self.starts) else []
        return min(ways)[2] if ways else None


def _parse_lines(
    records: Records, parse: Callable[[str, int], Parsed], place: Place, findings: Findings
) -> Iterator[tuple[int, Parsed]]:
    for line, text in zip(records.lines, records.columns["text"], strict=True):
        if text.strip() and not text.lstrip().startswith(COMMENT):
            try:
                yield line, parse(text, line)
            except ContentError as error:
                findings.add(place.problem(records.file, line, str(error), error.fix, error.found or text))


def _parse_segment(text: str, line: int) -> Segment:
    cells = text.split(None, 5)
    if len(cells) < 5:
        raise ContentError(f"{len(cells)} fields, but a segment has at least five", f"write {STM_LINE}", text)
    recording, channel, speaker, start, end = cells[:5]
    first, last = _seconds(start, text), _seconds(end, text)
    if last <= first:
        raise ContentError("the segment ends before it has begun", "write start and end in seconds", text)
    labels, words = _labels(cells[5] if len(cells) > 5 else "")
    ignored = words.strip().upper() == IGNORED
    scored = not (ignored or BACKGROUND in (speaker.casefold(), *map(str.casefold, labels)))
    said, name = parse_said("" if ignored else words), f"{recording}:{channel}:{start}-{end}"
    return Segment((said,), first, scored, last, recording, channel, speaker, labels, name)


def _labels(text: str) -> tuple[tuple[str, ...], str]:
    """The labels in angle brackets before the words, and the words."""
    found = _LABELS.fullmatch(text)
    if found is None or f"</{BACKGROUND}>" in text.casefold():
        return (), text
    return tuple(label for label in found[1].split(",") if label not in ("", OVERALL)), found[2]


def _parse_word(text: str, line: int, *, alternatives: bool = False) -> Heard:
    cells = text.split()
    if len(cells) > 4 and cells[4].upper().startswith("<ALT"):
        if not alternatives:
            raise ContentError("alternatives in what was heard are not read", "keep the likeliest words only", text)
        return Heard(cells[0], cells[1], math.nan, cells[4], line)
    if not 5 <= len(cells) <= 8:
        raise ContentError(f"{len(cells)} fields, but a word has five to eight", f"write {CTM_LINE}", text)
    if alternatives and any(brace in cells[4] for brace in "{}"):
        raise ContentError("a word holds a brace", ALT_FIX, text)
    start, duration = _seconds(cells[2], text), _seconds(cells[3], text)
    confidence, more = _confidence(cells[5:6]), " ".join(cells[6:])
    return Heard(cells[0], cells[1], start + duration / 2, cells[4], line, start, duration, confidence, more)


def _confidence(cells: Sequence[str]) -> float | None:
    """A confidence where there is one; some programs write NA."""
    try:
        found = float(cells[0]) if cells and "_" not in cells[0] else math.nan
    except ValueError:
        found = math.nan
    return found if math.isfinite(found) else None


def _seconds(cell: str, text: str) -> float:
    try:
        seconds = math.nan if "_" in cell else float(cell)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ContentError(f"{cell!r} is not a time", "write seconds, 0 or more, like 12.34", text)
    return seconds


def _columns(segments: Sequence[Segment]) -> Mapping[str, tuple[str, ...]]:
    return {
        "recording": tuple(segment.recording for segment in segments),
        "channel": tuple(segment.channel for segment in segments),
        "speaker": tuple(segment.speaker for segment in segments),
        "label": tuple(", ".join(segment.labels) for segment in segments),
    }
