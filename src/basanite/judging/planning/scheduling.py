"""The days of one judge: training first, then rounds in an order of the judge's own, with hidden checks mixed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from basanite.judging.items import CONTROL_OF, Item
from basanite.judging.planning.bundles import Bundle, cell_of
from basanite.judging.planning.dealing import Hand
from basanite.judging.planning.dice import die, shuffled
from basanite.judging.planning.model import TRAINING_ROUND, Assignment
from basanite.judging.planning.sharing import parts
from basanite.judging.schemes.model import Scheme


@dataclass(frozen=True)
class Deck:
    """What all judges of a panel are dealt from, beside the real items."""

    scheme: Scheme
    seed: int
    training: tuple[Item, ...]
    checks: tuple[Item, ...]


def deck_of(items: Sequence[Item], scheme: Scheme, seed: int) -> Deck:
    """The training set, which is the same for all judges, and all hidden checks."""
    known = sorted((item for item in items if item.role == "training"), key=lambda item: die(seed, "training", item.id))
    checks = tuple(item for item in items if item.role == "check")
    return Deck(scheme, seed, tuple(known[: scheme.training.count]), checks)


def schedule(hand: Hand, deck: Deck, mine: Sequence[Assignment]) -> Iterator[Assignment]:
    """The new assignments of one judge, after those the judge has."""
    judge, scheme, seed = hand.judge.id, deck.scheme, deck.seed
    if hand.bundles and not any(each.round == TRAINING_ROUND for each in mine):
        drawn = shuffled(deck.training, lambda item: item.id, seed, "training", judge)
        yield from _numbered(judge, TRAINING_ROUND, drawn)
    rounds = _rounds(hand.bundles, scheme, seed, judge)
    real = [item for pieces in rounds for piece in pieces for item in piece]
    checks = _checks(deck, real, judge, {each.item for each in mine})
    last = max((each.round for each in mine), default=TRAINING_ROUND)
    turned = _turned(real, scheme, seed, judge)
    for number, pieces in enumerate(_mixed(rounds, checks, seed, judge), start=last + 1):
        for each in _numbered(judge, number, pieces):
            yield replace(each, flipped=each.item in turned)


def _numbered(judge: str, number: int, items: Sequence[Item]) -> Iterator[Assignment]:
    for position, item in enumerate(items, start=1):
        yield Assignment(judge, number, position, item.id)


Pieces = list[list[Item]]
"""The pieces of a round: items that must stay in a row, mostly one."""


def _rounds(bundles: Sequence[Bundle], scheme: Scheme, seed: int, judge: str) -> list[Pieces]:
    """Rounds in the judge's own order, within and across."""
    if scheme.order == "given":
        return _in_line(bundles, scheme.round_size)
    if scheme.rank_after_round:
        made = [[[item] for item in bundle.items] for bundle in bundles]
    elif scheme.together:
        made = _packed(bundles, scheme.round_size, seed, judge)
    else:
        made = _balanced(bundles, scheme, seed, judge)
    across = shuffled(range(len(made)), lambda at: made[at][0][0].id, seed, "across", judge)
    return [shuffled(made[at], lambda piece: piece[0].id, seed, "within", judge) for at in across]


def _in_line(bundles: Sequence[Bundle], size: int) -> list[Pieces]:
    """Rounds in the order in which the items were given: in a pool, what runs ranked highest is judged first (M95)."""
    items = [[item] for bundle in bundles for item in bundle.items]
    return [items[at : at + size] for at in range(0, len(items), size)]


def _balanced(bundles: Sequence[Bundle], scheme: Scheme, seed: int, judge: str) -> list[Pieces]:
    items = [item for bundle in bundles for item in bundle.items]
    if not items:
        return []
    count = ceil(len(items) / scheme.round_size)
    dealt = parts(items, count, lambda item: cell_of(item, scheme.balance), lambda item: item.id, f"{seed}|{judge}")
    return [[[item] for item in part] for part in dealt]


def _packed(bundles: Sequence[Bundle], size: int, seed: int, judge: str) -> list[Pieces]:
    """Whole documents one after another; a new round begins where the next would not fit."""
    made: list[Pieces] = []
    filled = size
    for bundle in shuffled(bundles, lambda bundle: bundle.name, seed, "packed", judge):
        if filled + len(bundle) > size:
            made.append([])
            filled = 0
        made[-1].append(list(bundle.items))
        filled += len(bundle)
    return made


def _checks(deck: Deck, mine: Sequence[Item], judge: str, seen: set[str]) -> list[Item]:
    """Hidden checks for one judge: those not seen yet; one that degrades an item goes to who judges that item."""
    own = {item.id for item in mine} | seen
    fit = [item for item in deck.checks if item.id not in seen and item.facts.get(CONTROL_OF, "") in own | {""}]
    share = deck.scheme.checks.share
    wanted = round(share * len(mine)) or int(share > 0 and bool(mine))
    return shuffled(fit, lambda item: item.id, deck.seed, "checks", judge)[:wanted]


def _mixed(rounds: Sequence[Pieces], checks: Sequence[Item], seed: int, judge: str) -> Iterator[list[Item]]:
    """The rounds with the checks spread over them, each at a place of its own drawing, never between two segments."""
    for at, pieces in enumerate(rounds):
        mixed = list(pieces)
        for number, check in enumerate(checks):
            if number * len(rounds) // len(checks) == at:
                mixed.insert(die(seed, "place", judge, check.id) % (len(mixed) + 1), [check])
        yield [item for piece in mixed for item in piece]


def _turned(items: Sequence[Item], scheme: Scheme, seed: int, judge: str) -> set[str]:
    """The items whose sides are changed for this judge: every other one in an order drawn for it."""
    drawn = shuffled(items, lambda item: item.id, seed, "sides", judge)
    return {item.id for item in drawn[::2]} if scheme.pairwise else set()
