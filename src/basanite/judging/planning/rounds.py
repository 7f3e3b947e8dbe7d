"""From items and judges to assignments: rounds in balance, an order of each judge's own, hidden checks mixed in (R-1).

The same items, judges, scheme and seed give the same plan on every machine. When judges come or go, what is not begun
is planned anew around what is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from basanite.judging.items import Item
from basanite.judging.planning.bundles import Bundle, bundles_of
from basanite.judging.planning.dealing import deal
from basanite.judging.planning.model import TRAINING_ROUND, Assignment, Judge, Plan
from basanite.judging.planning.scheduling import deck_of, schedule
from basanite.judging.schemes.model import JUDGE, NOVICE, Scheme
from basanite.problems import Findings, Problem


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
    held = _held(bundles, kept)
    groups, else_group = {judge.id: judge.group for judge in judges}, _group_of_strangers(scheme)
    deck, mine = deck_of(items, scheme, seed), _by_judge(kept)
    made: list[Assignment] = []
    for group, wanted in scheme.per_group.items():
        members = [judge for judge in judges if judge.group == group and judge.active]
        before = {judge: several for judge, several in held.items() if groups.get(judge, else_group) == group}
        findings.extend(_nobody(group, members, bundles))
        for hand in deal(bundles, members, wanted, before, seed, findings, given=scheme.order == "given"):
            made.extend(schedule(hand, deck, mine.get(hand.judge.id, ())))
    return Plan(tuple(sorted(made)), tuple(findings))


def _group_of_strangers(scheme: Scheme) -> str:
    """The group that work of people without a seat counts for, such as workers of a crowd platform."""
    groups = scheme.per_group
    return next((group for group in (JUDGE, NOVICE) if group in groups), next(iter(groups)))


def _nobody(group: str, members: Sequence[Judge], bundles: Sequence[Bundle]) -> Iterator[Problem]:
    if bundles and not members:
        message = f"nobody is in the group {group!r}, so its judgements cannot be made"
        yield Problem("P-30", "plan", None, None, message, f"enrol judges as {group}", group, severity="warn")


def _held(bundles: Sequence[Bundle], kept: Sequence[Assignment]) -> dict[str, list[Bundle]]:
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
