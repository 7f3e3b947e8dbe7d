"""Plans of whole panels: rounds in order, so that every item gets its judgements, and more for late judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from basanite.problems import Findings, Problem
from basanite.work.assignments import (
    TRAINING_ROUND,
    Assignment,
    Bundle,
    Hand,
    Judge,
    Plan,
    bundles_of,
    cell_of,
    deal,
    die,
    parts,
    seeded_order,
)
from basanite.work.items import CONTROL_OF, Item
from basanite.work.scheme import JUDGE, NOVICE, Scheme


@dataclass(frozen=True)
class Deck:
    """What all judges of a panel are dealt from, beside the real items."""

    scheme: Scheme
    seed: int
    training: tuple[Item, ...]
    checks: tuple[Item, ...]


def schedule(hand: Hand, deck: Deck, mine: Sequence[Assignment]) -> Iterator[Assignment]:
    """The new assignments of one judge, after those the judge has."""
    judge, scheme, seed = hand.judge.id, deck.scheme, deck.seed
    if hand.bundles and not any(each.round == TRAINING_ROUND for each in mine):
        drawn = seeded_order(deck.training, lambda item: item.id, seed, "training", judge)
        yield from _assignments(judge, TRAINING_ROUND, drawn)
    rounds = _rounds(hand.bundles, scheme, seed, judge)
    real = [item for pieces in rounds for piece in pieces for item in piece]
    checks = _checks(deck, real, judge, {each.item for each in mine})
    last = max((each.round for each in mine), default=TRAINING_ROUND)
    # of pairs every other one in an order drawn for the judge, so that no side is always the left one
    turned = set[str]()
    if scheme.pairwise:
        turned = {item.id for item in seeded_order(real, lambda item: item.id, seed, "sides", judge)[::2]}
    for number, pieces in enumerate(_mix_checks(rounds, checks, seed, judge), start=last + 1):
        for each in _assignments(judge, number, pieces):
            yield replace(each, flipped=each.item in turned)


def _assignments(judge: str, number: int, items: Sequence[Item]) -> Iterator[Assignment]:
    for position, item in enumerate(items, start=1):
        yield Assignment(judge, number, position, item.id)


Pieces = list[list[Item]]
"""The pieces of a round: items that must stay in a row, mostly one."""


def _rounds(bundles: Sequence[Bundle], scheme: Scheme, seed: int, judge: str) -> list[Pieces]:
    """Rounds in the judge's own order, within and across."""
    if scheme.order == "given":
        # as the items were given: in a pool, what runs ranked highest is judged first (M95)
        items = [[item] for bundle in bundles for item in bundle.items]
        return [items[at : at + scheme.round_size] for at in range(0, len(items), scheme.round_size)]
    if scheme.rank_after_round:
        made = [[[item] for item in bundle.items] for bundle in bundles]
    elif scheme.together:
        made = _document_rounds(bundles, scheme.round_size, seed, judge)
    else:
        made = _balanced_rounds(bundles, scheme, seed, judge)
    across = seeded_order(range(len(made)), lambda at: made[at][0][0].id, seed, "across", judge)
    return [seeded_order(made[at], lambda piece: piece[0].id, seed, "within", judge) for at in across]


def _balanced_rounds(bundles: Sequence[Bundle], scheme: Scheme, seed: int, judge: str) -> list[Pieces]:
    items = [item for bundle in bundles for item in bundle.items]
    if not items:
        return []
    count = ceil(len(items) / scheme.round_size)
    dealt = parts(items, count, lambda item: cell_of(item, scheme.balance), lambda item: item.id, f"{seed}|{judge}")
    return [[[item] for item in part] for part in dealt]


def _document_rounds(bundles: Sequence[Bundle], size: int, seed: int, judge: str) -> list[Pieces]:
    """Whole documents one after another; a new round begins where the next would not fit."""
    made: list[Pieces] = []
    filled = size
    for bundle in seeded_order(bundles, lambda bundle: bundle.name, seed, "packed", judge):
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
    return seeded_order(fit, lambda item: item.id, deck.seed, "checks", judge)[:wanted]


def _mix_checks(rounds: Sequence[Pieces], checks: Sequence[Item], seed: int, judge: str) -> Iterator[list[Item]]:
    """The rounds with the checks spread over them, each at a place of its own drawing, never between two segments."""
    for at, pieces in enumerate(rounds):
        mixed = list(pieces)
        for number, check in enumerate(checks):
            if number * len(rounds) // len(checks) == at:
                mixed.insert(die(seed, "place", judge, check.id) % (len(mixed) + 1), [check])
        yield [item for piece in mixed for item in piece]


def plan_rounds(items: Sequence[Item], judges: Sequence[Judge], scheme: Scheme, seed: int) -> Plan:
    """The first plan of a panel: nothing is assigned yet."""
    return plan_more(items, judges, scheme, seed, kept=())


def plan_more(
    items: Sequence[Item], judges: Sequence[Judge], scheme: Scheme, seed: int, *, kept: Sequence[Assignment]
) -> Plan:
    """What is still to be assigned beside what is kept: judgements made, and rounds that are begun.

    `judges` are all who were ever at work; those no longer active get nothing new, and what they did counts. New
    rounds follow a judge's last.
    """
    findings = Findings()
    real = [item for item in items if item.role == "real"]
    bundles = bundles_of(real, scheme, kept, seed)
    held = _earlier_bundles(bundles, kept)
    groups, else_group = {judge.id: judge.group for judge in judges}, _group_of_strangers(scheme)
    known = sorted((item for item in items if item.role == "training"), key=lambda item: die(seed, "training", item.id))
    checks = tuple(item for item in items if item.role == "check")
    deck, mine = Deck(scheme, seed, tuple(known[: scheme.training.count]), checks), _by_judge(kept)
    made: list[Assignment] = []
    for group, wanted in scheme.per_group.items():
        members = [judge for judge in judges if judge.group == group and judge.active]
        before = {judge: several for judge, several in held.items() if groups.get(judge, else_group) == group}
        if bundles and not members:
            message = f"nobody is in the group {group!r}, so its judgments cannot be made"
            fix = f"enroll judges as {group}"
            findings.add(Problem("P-30", "plan", None, None, message, fix, group, severity="warn"))
        given, most = scheme.order == "given", scheme.alike_at_most
        hands, short = deal(bundles, members, wanted, before, seed, given=given, most=most)
        findings.extend(short)
        for hand in hands:
            made.extend(schedule(hand, deck, mine.get(hand.judge.id, ())))
    return Plan(tuple(sorted(made)), tuple(findings))


def _group_of_strangers(scheme: Scheme) -> str:
    """The group that work of people without a seat counts for, such as workers of a crowd platform."""
    groups = scheme.per_group
    return next((group for group in (JUDGE, NOVICE) if group in groups), next(iter(groups)))


def _earlier_bundles(bundles: Sequence[Bundle], kept: Sequence[Assignment]) -> dict[str, list[Bundle]]:
    """The bundles of which each judge was given at least one item earlier."""
    holder = {item.id: bundle for bundle in bundles for item in bundle.items}
    found: dict[str, dict[str, Bundle]] = defaultdict(dict)
    for each in kept:
        if each.round != TRAINING_ROUND and each.item in holder:
            found[each.judge][holder[each.item].name] = holder[each.item]
    return {judge: list(several.values()) for judge, several in found.items()}


def _by_judge(kept: Sequence[Assignment]) -> dict[str, list[Assignment]]:
    found: dict[str, list[Assignment]] = defaultdict(list)
    for each in kept:
        found[each.judge].append(each)
    return found
