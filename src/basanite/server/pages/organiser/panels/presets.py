"""Ready-made schemes in words, and what a scheme says about rounds, judges and pay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from basanite.judging.scheme import PRESETS, Scheme, preset_text
from basanite.reports.wording import percent
from basanite.server.catalogue import plural, said, say, sentence

WORDS = {
    "readability": (sentence("Readability"), sentence("1 to 5 stars, then ten passages in order; experts and novices")),
    "relevance": (sentence("Relevance of summaries"), sentence("query, domain and a summary's picture; two keys")),
    "key-query": (sentence("Key: queries and documents"), sentence("is the document relevant? double-marked")),
    "key-domain": (sentence("Key: domains of documents"), sentence("more than a passing mention? double-marked")),
    "pool": (sentence("Pool"), sentence("pooled documents, in the order of their precedence")),
    "likert": (sentence("Likert scale"), sentence("agree or disagree, in five steps")),
    "binary": (sentence("Yes or no"), sentence("one question, two keys")),
    "slider": (sentence("Slider"), sentence("a number between 0 and 100")),
    "pairwise": (sentence("Two beside each other"), sentence("which of the two is better?")),
    "ranking": (sentence("Ranking"), sentence("put several in order")),
    "da": (sentence("Direct assessment"), sentence("adequacy from 0 to 100")),
    "esa": (sentence("Error spans, then a score"), sentence("mark what is wrong, then 0 to 100")),
    "mqm": (sentence("MQM"), sentence("error spans with category and severity")),
}


BEGUN = """format = "basanite-judging/1"
name = "{preset}"
preset = "{preset}"

# [pay]
# per_item = 0.40
# currency = "EUR"
# floor = 13.00

# The ready-made scheme says what follows. To change a line, write it above [pay] without the mark.
"""


@dataclass(frozen=True)
class Preset:
    """A ready-made scheme to begin with."""

    id: str
    title: str
    words: str


def presets() -> tuple[Preset, ...]:
    """All of them; one that has no words here is called by its name."""
    return tuple(Preset(one, *map(say, WORDS.get(one, (one, "")))) for one in PRESETS)


def begun(preset: str) -> str:
    """A scheme on top of a preset, with what the preset says in remarks: to change it, write it without the mark."""
    says = "".join(f"# {line}".rstrip() + "\n" for line in preset_text(preset).splitlines()[1:])
    return BEGUN.format(preset=preset) + says


def kind_of(scheme: Scheme) -> str:
    """What kind of judging this is, in words."""
    return said(WORDS[scheme.preset][0]) if scheme.preset in WORDS else scheme.name


def facts_of(scheme: Scheme) -> tuple[tuple[str, str], ...]:
    """What a scheme says beside its questions, in words."""
    return tuple(_facts(scheme))


def _facts(scheme: Scheme) -> Iterator[tuple[str, str]]:
    for group, wanted in scheme.per_group.items():
        words = plural(wanted, "{count} judgement", "{count} judgements") if wanted else say("by everybody")
        yield say("each item, by group “{group}”", group=group), words
    yield say("round"), plural(scheme.round_size, "{count} item", "{count} items")
    if scheme.training.count:
        yield say("training"), plural(scheme.training.count, "{count} item", "{count} items")
    if scheme.checks.share:
        yield say("hidden checks"), percent(scheme.checks.share)
    if scheme.pay.is_paid:
        yield say("pay"), pay_rule(scheme)


def pay_rule(scheme: Scheme) -> str:
    """The pay in one line."""
    pay = scheme.pay
    if not pay.is_paid:
        return said("The scheme says nothing about pay.")
    given = {"currency": pay.currency, "floor": money(pay.floor)}
    if pay.per_item:
        return said("{amount} {currency} for an item; at least {floor} an hour", amount=money(pay.per_item), **given)
    return said("{amount} {currency} an hour; at least {floor} an hour", amount=money(pay.per_hour), **given)


def money(amount: float) -> str:
    """An amount of money as people write it.

    >>> money(1234.5)
    '1,234.50'
    """
    return f"{amount:,.2f}"
