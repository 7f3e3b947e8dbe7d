"""From a pool to a prepared set: marks removed, vetted, sampled by genre, split, and dealt into rounds (R-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from basanite.judging.items import Block, Item, item_of
from basanite.judging.passages.marks import genres, without_marks
from basanite.judging.passages.model import TEST, TRAIN, Dropped, Passage, Prepared, Removed
from basanite.judging.passages.vetting import Bounds, vetted
from basanite.judging.planning.sharing import Cell, parts, taken_share

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
    cleaned, removed = _cleaned(pool)
    fit, dropped = vetted(cleaned, wishes.bounds)
    chosen, left = _sampled(fit, wishes)
    test, train = _split(chosen, wishes)
    dealt = [*_in_rounds(train, TRAIN, wishes), *_in_rounds(test, TEST, wishes)]
    kept = {passage.name for passage in dealt}
    log = tuple(each for each in removed if each.passage in kept)
    return Prepared(tuple(dealt), log, (*dropped, *left), tuple(_notes(pool, dealt, wishes)))


def _cleaned(pool: Sequence[Passage]) -> tuple[list[Passage], list[Removed]]:
    cleaned: list[Passage] = []
    removed: list[Removed] = []
    for passage in pool:
        text, log = without_marks(passage.name, passage.text, passage.genre)
        cleaned.append(replace(passage, text=text))
        removed.extend(log)
    return cleaned, removed


def _cell(passage: Passage) -> Cell:
    return passage.genre, passage.topic


def _name(passage: Passage) -> str:
    return passage.name


def _sampled(fit: Sequence[Passage], wishes: Wishes) -> tuple[list[Passage], list[Dropped]]:
    """So many of each genre, its topics in their shares."""
    chosen: list[Passage] = []
    left: list[Dropped] = []
    for genre in sorted({passage.genre for passage in fit}):
        mine, most = [passage for passage in fit if passage.genre == genre], wishes.most(genre)
        taken, rest = mine, list[Passage]()
        if most and most < len(mine):
            taken, rest = taken_share(mine, most, len(mine), _cell, _name, f"{wishes.seed}|{genre}")
        chosen.extend(taken)
        left.extend(Dropped(each.name, genre, SAMPLING, f"{most} of {len(mine)} are wanted") for each in rest)
    return chosen, left


def _split(chosen: Sequence[Passage], wishes: Wishes) -> tuple[list[Passage], list[Passage]]:
    """Test and train in whole rounds: genres and topics in both have their share, rounded down or up."""
    if not chosen:
        return [], []
    rounds = round(wishes.test_share * ceil(len(chosen) / wishes.round_size))
    size = min(rounds * wishes.round_size, len(chosen))
    return taken_share(chosen, size, len(chosen), _cell, _name, f"{wishes.seed}|split")


def _in_rounds(passages: Sequence[Passage], split: str, wishes: Wishes) -> Iterator[Passage]:
    count = ceil(len(passages) / wishes.round_size)
    dealt = parts(passages, count, _cell, _name, f"{wishes.seed}|{split}") if passages else []
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
