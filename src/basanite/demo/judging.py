"""Judging in the demo: a readability panel that goes on, and a double-marked key whose disagreements wait (R-2, M88).

Everything is done by the acts that judges' pages call, with the clock in the past. Jana has done nothing yet: whoever
signs in as her judges at once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.campaign.office import Actor
from basanite.campaign.organising import seconding
from basanite.campaign.panels.attending import joining, working
from basanite.campaign.panels.preparing import setting_up
from basanite.campaign.store.tables.base import random_id
from basanite.demo.stage import Stage
from basanite.judging.items import Block, Item, item_of
from basanite.synthetic.examples.scored import normal, share

READERS: Final[Mapping[str, str]] = {
    "jana": "expert",
    "kofi": "expert",
    "lena": "expert",
    "mika": "novice",
    "nia": "novice",
    "omar": "novice",
}
"""Who reads passages, and in which group."""
MARKERS: Final = ("kofi", "lena")
"""Who marks the key, each document twice over."""
WAITING: Final = "jana"
"""Whoever is to be tried has not begun."""
TEXTS: Final = Path(__file__).with_name("texts.toml")
QUERY: Final = "people who wait for a bus"
TORN: Final = 0.35
"""The share of documents on which one of the two marks otherwise."""
SCHEME: Final = """format = "basanite-judging/1"
name = "{preset}"
preset = "{preset}"
title = "{title}"

[pay]
per_item = {pay}
currency = "EUR"
floor = 13.0
"""
Answer = Callable[[str, Item], dict[str, Any]]


def play(stage: Stage) -> None:
    """Two panels: judges are appointed by two people, then work until a few hours ago."""
    for who in READERS:
        appoint(stage, who, "judge")
    appoint(stage, "aino", "adjudicator")
    read_passages(stage)
    mark_key(stage)


def appoint(stage: Stage, who: str, role: str) -> None:
    """Give somebody a role, which takes two people here."""
    given = (stage.actor("eva"), stage.campaign_id, stage.people[who], role)
    stage.agreed(stage.do(seconding.ask_to_grant, *given, reason="reads the language of the data"))


def read_passages(stage: Stage) -> None:
    """Experts and novices give stars to passages and put them in order; one of them has not begun."""
    passages = _texts("passages")
    items = [_passage(name, one) for name, one in passages.items()]
    panel = _opened(stage, "readability", "readability", "How easy is it to read?", "0.15", items, READERS)

    def stars(who: str, item: Item) -> dict[str, Any]:
        spread = 0.5 if READERS[who] == "expert" else 0.9
        meant = passages[item.facts["passage"]]["ease"] + spread * normal("star", who, item.facts["passage"])
        return {"rating": min(5, max(1, round(meant)))}

    for who in READERS:
        if who != WAITING:
            _work(stage, panel, who, items, stars, rounds=1)


def _texts(kind: str) -> dict[str, dict[str, Any]]:
    """The texts of one kind by name: p01, p02 … or d01, d02 …"""
    found = tomllib.loads(TEXTS.read_text(encoding="utf-8"))[kind]
    return {f"{kind[0]}{number:02d}": one for number, one in enumerate(found, 1)}


def _passage(name: str, one: Mapping[str, Any]) -> Item:
    facts = {"passage": name, "genre": one["genre"], "topic": one["topic"]}
    return item_of([Block("text", one["text"], lang="en")], facts, new_id=random_id)


def mark_key(stage: Stage) -> None:
    """Two annotators mark the same documents; where they differ, an adjudicator is waited for."""
    documents = _texts("documents")
    items = [_document(name, one) for name, one in documents.items()]
    title = "Which documents answer the query?"
    panel = _opened(stage, "key", "key-query", title, "0.40", items, dict.fromkeys(MARKERS, "judge"))

    def verdict(who: str, item: Item) -> dict[str, Any]:
        fits = documents[item.facts["document"]]["relevant"]
        if who == MARKERS[1] and share("torn", item.facts["document"]) < TORN:
            words = "waiting is only mentioned in passing" if fits else "there is a bus in it, or a stop"
            return {"relevant": "N" if fits else "Y", "reason": words}
        words = "people wait for a bus" if fits else "nobody waits for a bus"
        return {"relevant": "Y" if fits else "N", "reason": words}

    for who in MARKERS:
        _work(stage, panel, who, items, verdict)


def _document(name: str, one: Mapping[str, Any]) -> Item:
    facts = {"query": "bus", "document": name, "genre": one["genre"]}
    return item_of([Block("query", QUERY), Block("document", one["text"], lang="en")], facts, new_id=random_id)


def _opened(
    stage: Stage, name: str, preset: str, title: str, pay: str, items: list[Item], judges: Mapping[str, str]
) -> str:
    """A panel with items and judges, open; gives its id."""
    eva = stage.actor("eva")
    text = SCHEME.format(preset=preset, title=title, pay=pay)
    panel = stage.do(setting_up.create, eva, stage.campaign_id, text, name=name).id
    stage.do(setting_up.add_items, eva, panel, items)
    for who, group in judges.items():
        stage.do(joining.enrol, eva, panel, stage.people[who], group=group)
    stage.clock.forward(minutes=30)
    stage.do(setting_up.open_panel, eva, panel)
    return panel


def _work(stage: Stage, panel: str, who: str, items: list[Item], answer: Answer, *, rounds: int = 99) -> None:
    """Consent, declare, then judge as many rounds: an item takes about half a minute."""
    actor, known = stage.actor(who), {item.blocks: item for item in items}
    stage.clock.forward(hours=1)
    version = _desk(stage, panel, actor).scheme.consent.version
    stage.do(joining.consent, actor, panel, version)
    stage.do(joining.declare, actor, panel, languages=("en",))
    while (desk := _desk(stage, panel, actor)).round <= rounds and desk.stage in ("item", "rank", "criteria", "break"):
        if desk.stage == "item":
            seconds = round(35 + 12 * normal("seconds", who, desk.assignment), 1)
            stage.clock.forward(minutes=1)
            given = answer(who, known[desk.blocks])
            stage.do(working.answer, actor, panel, desk.assignment, given, key=desk.assignment, seconds=seconds)
        else:
            _end_round(stage, panel, actor, desk)


def _end_round(stage: Stage, panel: str, actor: Actor, desk: working.Desk) -> None:
    stage.clock.forward(minutes=2)
    if desk.stage == "rank":
        best = sorted(desk.placed, key=lambda one: -one.answers["rating"])
        stage.do(working.rank, actor, panel, desk.round, [one.item for one in best], key=f"rank-{desk.round}")
    elif desk.stage == "criteria":
        words = ("short sentences", "plain words", "who does what is said first")
        stage.do(working.criteria, actor, panel, desk.round, words, key=f"criteria-{desk.round}")
    else:
        stage.do(working.go_on, actor, panel)


def _desk(stage: Stage, panel: str, actor: Actor) -> working.Desk:
    with stage.office.reading() as session:
        return working.desk(session, stage.office, panel, actor.id)
