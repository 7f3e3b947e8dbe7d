"""Passages for a readability panel: pool, marks of genre, vetting, sampling by genre, rounds in balance (R-1)."""

from __future__ import annotations

import hashlib
import html
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, Records, read_records
from basanite.problems import Findings
from basanite.work.assignments import Cell, parts, taken_share
from basanite.work.items import Block, Item, item_of
from basanite.work.result_files import spreadsheet, table

TRAIN, TEST = "train", "test"


@dataclass(frozen=True)
class Passage:
    """A piece of text with its genre and topic; split and round are given at the end."""

    name: str
    text: str
    genre: str
    topic: str = ""
    source: str = ""
    split: str = ""
    round: str = ""


@dataclass(frozen=True)
class Removed:
    """A surface mark that was taken out of a passage: by which rule, how often, and the first of them."""

    passage: str
    rule: str
    times: int
    first: str


@dataclass(frozen=True)
class Dropped:
    """A passage that was left out: at which step and why."""

    passage: str
    genre: str
    step: str
    reason: str


@dataclass(frozen=True)
class Prepared:
    """A set of passages ready to be judged, with everything that was changed or left out on the way."""

    passages: tuple[Passage, ...]
    removed: tuple[Removed, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...] = ()


SHOWN: Final = 80
SPOKEN: Final = ("broadcast", "captions")
SHOUTED: Final = 0.8
"""A text with more capitals than this among its letters is in capitals throughout."""
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,10});")
_SENTENCE_START: Final = re.compile(r"(?:\A|[.?!]['\")]?\s+)([a-zà-ÿ])")
_ALONE: Final = re.compile(r"\bi\b")
_BLANKS: Final = re.compile(r"[ \t]{2,}|\t")
_GAPS: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class Mark:
    """One kind of mark: the genres it occurs in (none are all), what it looks like, and what stands there then."""

    name: str
    genres: tuple[str, ...]
    pattern: re.Pattern[str]
    instead: str


@cache
def marks() -> tuple[Mark, ...]:
    """All marks, in the order in which they are removed."""
    document = tomllib.loads(files(__package__).joinpath("passages.toml").read_text("utf-8"))
    return tuple(
        Mark(
            one["name"], tuple(one.get("genres", ())), re.compile(one["pattern"], re.MULTILINE), one.get("instead", "")
        )
        for one in document["marks"]
    )


def genres() -> frozenset[str]:
    """The genres whose marks are known.

    >>> "newswire" in genres()
    True
    """
    return frozenset(genre for mark in marks() for genre in mark.genres)


def without_marks(name: str, text: str, genre: str) -> tuple[str, tuple[Removed, ...]]:
    """The text of a passage without the marks of its genre, and what was taken out.

    >>> without_marks("p1", "PARIS, March 3 (AFN) -- Rain fell.", "newswire")[0]
    'Rain fell.'
    """
    removed: list[Removed] = []
    text = _GAPS.sub("\n\n", _BLANKS.sub(" ", text.replace("\r\n", "\n")))
    for mark in marks():
        if not mark.genres or genre in mark.genres:
            text = _remove_mark(mark, name, text, removed)
    text = _decode_entities(name, text, removed)
    if genre in SPOKEN:
        text = _lower_capitals(name, text, removed)
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    joined = "\n\n".join(part for part in paragraphs if part)
    return re.sub(r" ([,.;:?!])", r"\1", joined), tuple(removed)


def _remove_mark(mark: Mark, name: str, text: str, removed: list[Removed]) -> str:
    found = list(mark.pattern.finditer(text))
    if not found:
        return text
    removed.append(Removed(name, mark.name, len(found), " ".join(found[0][0].split())[:SHOWN]))
    return mark.pattern.sub(mark.instead, text)


def _decode_entities(name: str, text: str, removed: list[Removed]) -> str:
    """Entities of HTML as the characters they stand for."""
    found = _ENTITY.findall(text)
    if found:
        removed.append(Removed(name, "entity", len(found), found[0]))
        text = html.unescape(text)
    return text


def _lower_capitals(name: str, text: str, removed: list[Removed]) -> str:
    """Captions in capitals as sentences; names lose theirs, which the log says."""
    letters = [char for char in text if char.isalpha()]
    if not letters or sum(char.isupper() for char in letters) <= SHOUTED * len(letters):
        return text
    removed.append(Removed(name, "capitals throughout", 1, " ".join(text.split())[:SHOWN]))
    lowered = _ALONE.sub("I", text.strip().lower())
    return _SENTENCE_START.sub(lambda match: match[0][:-1] + match[1].upper(), lowered)


STEP = "vetting"
_ANYTHING = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Bounds:
    """What a passage must be like."""

    fewest_words: int = 30
    most_words: int = 400
    letters: float = 0.6
    """The least share of letters among all characters but blanks."""


def sift_passages(passages: Iterable[Passage], bounds: Bounds) -> tuple[list[Passage], list[Dropped]]:
    """The passages that are fit, in their order, and those that are not with the reason."""
    kept: list[Passage] = []
    dropped: list[Dropped] = []
    seen: dict[str, str] = {}
    for passage in passages:
        reason = next(_reasons(passage, bounds, seen), "")
        if reason:
            dropped.append(Dropped(passage.name, passage.genre, STEP, reason))
        else:
            seen[_fingerprint(passage.text)] = passage.name
            kept.append(passage)
    return kept, dropped


def _reasons(passage: Passage, bounds: Bounds, seen: dict[str, str]) -> Iterator[str]:
    words = len(_WORD.findall(passage.text))
    if words < bounds.fewest_words:
        yield f"{words} words, fewer than {bounds.fewest_words}"
    if words > bounds.most_words:
        yield f"{words} words, more than {bounds.most_words}"
    share = _letters(passage.text)
    if share < bounds.letters:
        yield f"{share:.0%} letters: a table or a list, no running text"
    twin = seen.get(_fingerprint(passage.text))
    if twin:
        yield f"the same text as {twin!r}"


def _letters(text: str) -> float:
    shown = [char for char in text if not char.isspace()]
    return sum(char.isalpha() for char in shown) / len(shown) if shown else 0.0


def _fingerprint(text: str) -> str:
    """The same for texts that differ in case, blanks and punctuation only."""
    return hashlib.sha256(" ".join(_ANYTHING.findall(text.casefold())).encode("utf-8", "surrogatepass")).hexdigest()


SAMPLING = "sampling"


@dataclass(frozen=True)
class Wishes:
    """What a prepared set should be: so many of each genre, this share of rounds for the test, rounds of this size."""

    per_genre: int = 0
    """The most passages of a genre; 0 is all of them."""
    of_genre: Mapping[str, int] = field(default_factory=dict)
    """The same for single genres."""
    test_share: float = 0.5
    round_size: int = 10
    bounds: Bounds = field(default_factory=Bounds)
    seed: int = 0

    def most(self, genre: str) -> int:
        """How many passages of a genre are wanted; 0 is all."""
        return self.of_genre.get(genre, self.per_genre)


def prepare(pool: Sequence[Passage], wishes: Wishes) -> Prepared:
    """The prepared set of a pool; the same pool, wishes and seed give the same set."""
    cleaned, removed = _clean_pool(pool)
    fit, dropped = sift_passages(cleaned, wishes.bounds)
    chosen, left = _sample(fit, wishes)
    test, train = _split(chosen, wishes)
    dealt = [*_in_rounds(train, TRAIN, wishes), *_in_rounds(test, TEST, wishes)]
    kept = {passage.name for passage in dealt}
    log = tuple(each for each in removed if each.passage in kept)
    return Prepared(tuple(dealt), log, (*dropped, *left), tuple(_notes(pool, dealt, wishes)))


def _clean_pool(pool: Sequence[Passage]) -> tuple[list[Passage], list[Removed]]:
    cleaned: list[Passage] = []
    removed: list[Removed] = []
    for passage in pool:
        text, log = without_marks(passage.name, passage.text, passage.genre)
        cleaned.append(replace(passage, text=text))
        removed.extend(log)
    return cleaned, removed


def _kind_of_text(passage: Passage) -> Cell:
    return passage.genre, passage.topic


def _name(passage: Passage) -> str:
    return passage.name


def _sample(fit: Sequence[Passage], wishes: Wishes) -> tuple[list[Passage], list[Dropped]]:
    """So many of each genre, its topics in their shares."""
    chosen: list[Passage] = []
    left: list[Dropped] = []
    for genre in sorted({passage.genre for passage in fit}):
        mine, most = [passage for passage in fit if passage.genre == genre], wishes.most(genre)
        taken, rest = mine, list[Passage]()
        if most and most < len(mine):
            taken, rest = taken_share(mine, most, len(mine), _kind_of_text, _name, f"{wishes.seed}|{genre}")
        chosen.extend(taken)
        left.extend(Dropped(each.name, genre, SAMPLING, f"{most} of {len(mine)} are wanted") for each in rest)
    return chosen, left


def _split(chosen: Sequence[Passage], wishes: Wishes) -> tuple[list[Passage], list[Passage]]:
    """Test and train in whole rounds: genres and topics in both have their share, rounded down or up."""
    if not chosen:
        return [], []
    rounds = round(wishes.test_share * ceil(len(chosen) / wishes.round_size))
    size = min(rounds * wishes.round_size, len(chosen))
    return taken_share(chosen, size, len(chosen), _kind_of_text, _name, f"{wishes.seed}|split")


def _in_rounds(passages: Sequence[Passage], split: str, wishes: Wishes) -> Iterator[Passage]:
    count = ceil(len(passages) / wishes.round_size)
    dealt = parts(passages, count, _kind_of_text, _name, f"{wishes.seed}|{split}") if passages else []
    for number, part in enumerate(dealt, start=1):
        yield from (replace(passage, split=split, round=f"{split}-{number:02d}") for passage in part)


def _notes(pool: Sequence[Passage], dealt: Sequence[Passage], wishes: Wishes) -> Iterator[str]:
    counts = Counter(passage.genre for passage in dealt)
    for genre in sorted({passage.genre for passage in pool}):
        if genre not in genres():
            yield f"no marks are known for the genre {genre!r}: only what all genres have was removed"
        most = wishes.most(genre)
        if most and counts[genre] < most:
            yield f"{genre}: {counts[genre]} of the {most} wanted passages are fit"
    for split, rounds in _sizes(dealt).items():
        short = [name for name, size in rounds.items() if size < wishes.round_size]
        if short:
            yield f"{len(short)} of {len(rounds)} {split} rounds have fewer than {wishes.round_size} passages"


def _sizes(dealt: Sequence[Passage]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for passage in dealt:
        found.setdefault(passage.split, Counter())[passage.round] += 1
    return found


def items_of(passages: Sequence[Passage], *, new_id: Callable[[], str], lang: str = "") -> tuple[Item, ...]:
    """Prepared passages as items of a panel: judges see the text alone."""
    return tuple(
        item_of(
            [Block("text", passage.text, lang=lang)],
            {
                "passage": passage.name,
                "genre": passage.genre,
                "topic": passage.topic,
                "split": passage.split,
                "round": passage.round,
            },
            new_id=new_id,
        )
        for passage in passages
    )


RULE = "R-1"
POOL = Place("metadata", RULE)
NEEDED = ("passage", "genre", "text")
LONGEST = 20_000
MOST = 200_000
HEADER = ("passage", "genre", "topic", "split", "round", "text")
FIX = "write a table with the columns passage, genre, topic, text (CSV, TSV or JSON lines)"


def read_pool(path: Path) -> tuple[tuple[Passage, ...], Findings]:
    """The passages of a pool and everything that is wrong with it, by line."""
    findings = Findings()
    records = read_records(path, POOL, findings)
    if records is None:
        return (), findings
    for name in NEEDED:
        if name not in records.columns:
            findings.add(POOL.problem(records.file, 1, f"there is no column {name!r}", FIX, name))
    if not findings.valid:
        return (), findings
    passages = tuple(_passages(records, findings))
    return (passages if findings.valid else ()), findings


def _passages(records: Records, findings: Findings) -> Iterator[Passage]:
    seen: dict[str, int] = {}
    for row, line in enumerate(records.lines[:MOST]):
        fields = records.fields(row)
        name, genre, text = (_column(fields, column) for column in NEEDED)
        for message, fix, found in _faults(name, genre, text, seen):
            findings.add(POOL.problem(records.file, line, message, fix, found))
        seen.setdefault(name, line)
        yield Passage(name, text, genre.lower(), _column(fields, "topic"), _column(fields, "source"))
    if len(records) > MOST:
        findings.add(POOL.problem(records.file, None, f"{len(records)} passages", f"give at most {MOST}"))


def _column(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name) or "").strip()


def _faults(name: str, genre: str, text: str, seen: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    if not name or len(name) > 200:
        yield "the passage has no name, or a very long one", "name every passage", name
    if name in seen:
        yield f"the passage already appears on line {seen[name]}", "give each passage a name of its own", name
    if not genre:
        yield "the passage has no genre", "write its genre", name
    if not text or len(text) > LONGEST:
        yield f"the text has {len(text)} characters", f"give 1 to {LONGEST}", name


def files_of(prepared: Prepared) -> dict[str, bytes]:
    """The prepared set, the log of removed marks and the list of dropped passages, by file name."""
    passages = [(one.name, one.genre, one.topic, one.split, one.round, one.text) for one in prepared.passages]
    removed = [(one.passage, one.rule, one.times, one.first) for one in prepared.removed]
    dropped = [(one.passage, one.genre, one.step, one.reason) for one in prepared.dropped]
    return {
        "passages.csv": table(HEADER, passages),
        "removed.csv": spreadsheet(("passage", "mark", "times", "first"), removed),
        "dropped.csv": spreadsheet(("passage", "genre", "step", "reason"), dropped),
    }
