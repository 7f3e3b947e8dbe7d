"""What an audit says of a board: which differences hold, the ranks that remain, and what the items tell (Y-7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from basanite import __version__
from basanite.analysis.boards import Claim, ItemFacts, Ranked
from basanite.analysis.published import PublishedClaim, PublishedMean, Saying, published_interval
from basanite.canonical import plain_values
from basanite.figures import Table, Text
from basanite.kernel import Metric
from basanite.reports.report import Report, Section, facts_table, sections_with_content
from basanite.reports.wording import number, percent, plural

AUDIT_FORMAT: Final = "basanite-audit/1"
STANDINGS: Final = ("System", "Group", "Ranks", "Value", "Low", "High")
CLAIMS: Final = ("First", "Second", "Difference", "Adjusted p", "Holds", "Items needed")
MEANS: Final = ("Task", "System", "Mean", "Items", "Low", "High")
SAYINGS: Final = ("Task", "First", "Second", "Difference", "What can be said", "Items only one is right on")
NAMED: Final = 10
SHOWN: Final = 60
"""So many pairs stand in the printed table, neighbors first; JSON and the records have all."""
UNSAID: Final = (
    "From means alone, nobody knows on which items two systems were right. A difference that holds does so for any "
    "overlap of single right or wrong answers to independent items; one that cannot hold does not for any.",
    "Means say nothing about repeats, clusters of items, kinds of items, or items that everybody or nobody solves. "
    "Publish scores of items to know.",
)


@dataclass(frozen=True)
class Audit:
    """A board that was audited, with how."""

    ranked: Ranked
    facts: ItemFacts
    metric: Metric
    items: int
    thing: str
    alpha: float
    level: float
    test: str
    notes: tuple[str, ...] = ()


def audit_report(found: Audit) -> Report:
    """The report on a board of scores of items."""
    group = {name: at for at, names in enumerate(found.ranked.groups, start=1) for name in names}
    standings = tuple(
        (one.system, group[one.system], _ranks(one.ranks), one.value, one.low, one.high)
        for one in found.ranked.standings
    )
    claims = tuple(
        (one.first, one.second, one.difference, one.p_adjusted, "yes" if one.holds else "no", one.units_needed)
        for one in found.ranked.claims
    )
    facts = (
        ("Metric", found.metric.display_name),
        ("Items", f"{found.items:,}"),
        ("Tests", found.test),
        ("Level of the tests", f"{found.alpha:g}"),
        ("Software", f"Basanite {__version__}"),
    )
    note = f"{plural('pair', len(claims))}, adjusted by Holm." + (
        f" The {SHOWN} nearest are shown; `--json` and `--report FILE.csv` have all." if len(claims) > SHOWN else ""
    )
    return Report(
        title=f"Audit of {plural('system', len(standings))}",
        subtitle=f"{found.metric.display_name} on {plural('item', found.items)}",
        sections=sections_with_content(
            Section("Standings", "", (Table("Standings", STANDINGS, standings),)),
            Section("Claims", "", (Table("Differences", CLAIMS, claims[:SHOWN], note),)),
            Section("Items", "", (Text("Items", tuple(_item_sentences(found))),)),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", found.notes),) * bool(found.notes)),
        ),
        facts=facts,
        data=audit_object(found),
        records=Table("Differences", CLAIMS, claims),
        sentences=tuple(_sentences(found)),
    )


def _sentences(found: Audit) -> Iterator[str]:
    claims, order = found.ranked.claims, [one.system for one in found.ranked.standings]
    holding = sum(one.holds for one in claims)
    yield f"{_share(holding, len(claims), 'claimed difference')} {'holds' if holding == 1 else 'hold'}."
    neighbors = [one for one in claims if order.index(one.second) == order.index(one.first) + 1]
    kept = sum(one.holds for one in neighbors)
    if len(neighbors) < len(claims):
        yield f"{_share(kept, len(neighbors), 'difference')} between neighbors {'holds' if kept == 1 else 'hold'}."
    low, high = found.ranked.standings[0].ranks
    best = [one.system for one in found.ranked.standings if one.ranks[0] == 1]
    if len(best) > 1:
        shown = ", ".join(best[:NAMED]) + (" …" if len(best) > NAMED else "")
        yield f"The first place is open between {plural('system', len(best))}: {shown}."
    else:
        yield f"{best[0]} is first" + (", significantly better than all others." if (low, high) == (1, 1) else ".")
    yield from _needed_sentence(neighbors, found)


def _share(some: int, count: int, word: str) -> str:
    """How many of them, as the beginning of a sentence.

    >>> _share(1, 1, "difference"), _share(0, 3, "difference"), _share(2, 15, "claimed difference")
    ('1 of 1 difference', '0 of 3 differences', '2 of 15 claimed differences')
    """
    return f"{some:,} of {plural(word, count)}"


def _needed_sentence(neighbors: Sequence[Claim], found: Audit) -> Iterator[str]:
    """How many more items would separate the first two."""
    if neighbors and not neighbors[0].holds:
        top, needed = neighbors[0], neighbors[0].units_needed
        if needed is None:
            yield f"No number of items would separate {top.first} and {top.second}: they do not differ."
        else:
            more = max(needed - found.ranked.things, 0)
            yield (
                f"About {more:,} more {found.thing}s ({needed:,} in all) would separate {top.first} and {top.second} "
                f"in 80% of cases, if they differ by as much as observed ({number(top.difference)})."
            )


def _item_sentences(found: Audit) -> Iterator[str]:
    facts = found.facts
    for names, words in (
        (facts.everybody, "all systems solve in every trial"),
        (facts.nobody, "no system ever solves"),
    ):
        if names:
            told = f"{plural('item', len(names))} that {words}: {_name_list(names)}."
            yield f"{told} They do not show which system is better."
    if facts.alike:
        groups = "; ".join(", ".join(group[:NAMED]) for group in facts.alike[:NAMED])
        more = " …" if len(facts.alike) > NAMED else ""
        number_of = sum(len(group) for group in facts.alike)
        yield (
            f"{plural('group', len(facts.alike))} of items that ask the same or that all systems answer alike "
            f"({number_of} items): {groups}{more}. Name them as clusters, or keep one of each."
        )
    left = found.items - len(facts.everybody) - len(facts.nobody)
    yield f"{left:,} of {found.items:,} items separate the systems."


def _name_list(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")


def _ranks(ranks: tuple[int, int]) -> str:
    return f"{ranks[0]}" if ranks[0] == ranks[1] else f"{ranks[0]} to {ranks[1]}"


def audit_object(found: Audit) -> dict[str, Any]:
    """The object that `audit --json` prints."""
    data = {
        "format": AUDIT_FORMAT,
        "from": "items",
        "metric": found.metric.name,
        "items": found.items,
        "drawn": found.ranked.things,
        "test": found.test,
        "alpha": found.alpha,
        "level": found.level,
        "standings": [
            {"system": one.system, "value": one.value, "low": one.low, "high": one.high, "ranks": list(one.ranks)}
            for one in found.ranked.standings
        ],
        "groups": [list(group) for group in found.ranked.groups],
        "claims": [
            {
                "first": one.first,
                "second": one.second,
                "difference": one.difference,
                "p_adjusted": one.p_adjusted,
                "holds": one.holds,
                "units_needed": one.units_needed,
            }
            for one in found.ranked.claims
        ],
        "everybody": list(found.facts.everybody),
        "nobody": list(found.facts.nobody),
        "alike": [list(group) for group in found.facts.alike],
        "notes": list(found.notes),
    }
    return {key: plain_values(value) for key, value in data.items()}


def published_report(
    means: Sequence[PublishedMean], claims: Sequence[PublishedClaim], *, alpha: float, level: float
) -> Report:
    """The report on published means: what can be said of them, and what cannot."""
    rows = []
    for one in means:
        ends = published_interval(one, level) or (None, None)
        rows.append((one.task, one.system, one.value, one.items, *ends))
    sayings = [
        (
            one.task,
            one.first.system,
            one.second.system,
            one.first.value - one.second.value,
            one.saying,
            "" if one.discordant is None else f"{one.discordant[0]:,} to {one.discordant[1]:,}",
        )
        for one in claims
    ]
    told = _claims_summary(claims)
    facts = (("Level of the tests", f"{alpha:g}"), ("Software", f"Basanite {__version__}"))
    data = {
        "format": AUDIT_FORMAT,
        "from": "means",
        "alpha": alpha,
        "level": level,
        "means": [dict(zip(("task", "system", "mean", "items", "low", "high"), row, strict=True)) for row in rows],
        "claims": [
            {
                "task": one.task,
                "first": one.first.system,
                "second": one.second.system,
                "difference": one.first.value - one.second.value,
                "saying": one.saying,
                "discordant": None if one.discordant is None else list(one.discordant),
            }
            for one in claims
        ],
        "notes": list(UNSAID),
    }
    note = f"{percent(level)} intervals are exact ones of single right or wrong answers to independent items."
    return Report(
        title="Audit of published means",
        subtitle=f"{plural('mean', len(means))}, without scores of items",
        sections=sections_with_content(
            Section("Means", "", (Table("Means", MEANS, tuple(rows), note),)),
            Section("Claims", "", (Table("Differences", SAYINGS, tuple(sayings[:SHOWN])),)),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", UNSAID),)),
        ),
        facts=facts,
        data={key: plain_values(value) for key, value in data.items()},
        records=Table("Differences", SAYINGS, tuple(sayings)),
        sentences=(f"Of {plural('difference', len(claims))}, {told}." if claims else "There is no pair to compare.",),
    )


def _claims_summary(claims: Sequence[PublishedClaim]) -> str:
    """How many differences hold, cannot hold, or may."""
    words: Mapping[Saying, tuple[str, str]] = {
        "holds": ("holds whatever the overlap", "hold whatever the overlap"),
        "cannot hold": ("cannot hold", "cannot hold"),
        "depends on the overlap": ("depends on the overlap", "depend on the overlap"),
        "not known: how many items": ("cannot be judged without the number of items",) * 2,
    }
    counts = {saying: sum(one.saying == saying for one in claims) for saying in words}
    return ", ".join(f"{count:,} {words[saying][count > 1]}" for saying, count in counts.items() if count)
