"""Templates from which a campaign is started: files that can be used as they are, and edited afterwards (P-35)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from basanite.campaign.model.file_edit import write_file
from basanite.campaign.model.plan import FORMAT

Table = dict[str, Any]
ENDLESS: Final = timedelta(days=3650)
"""How long a leaderboard without end is open: ten years, and its deadline can be moved."""


@dataclass(frozen=True)
class Start:
    """What somebody says who starts a campaign; times are those of the campaign's zone."""

    slug: str
    title: str
    task: str
    opens: datetime
    closes: datetime
    zone: str = "UTC"
    description: str = ""


@dataclass(frozen=True)
class Starter:
    """One template."""

    name: str
    tables: Callable[[Start], Table]
    task: str
    """The task that it is mostly used with."""


def start_file(starter: str, start: Start) -> str:
    """The campaign file of a template.

    >>> from datetime import datetime as day
    >>> start_file("blind", Start("demo", "Demo", "translation", day(2026, 1, 1), day(2026, 2, 1))).splitlines()[:2]
    ['format = "basanite-campaign/1"', 'slug = "demo"']
    """
    about = {"about": {"description": start.description}} if start.description else {}
    head = {"format": FORMAT, "slug": start.slug, "title": start.title, "zone": start.zone}
    return write_file(head | about | STARTERS[starter].tables(start))


def slug_of(title: str) -> str:
    """A name for addresses, made from a title; empty if no letter of it can stand in one.

    >>> slug_of("Übersetzung & Suche 2026!")
    'ubersetzung-suche-2026'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:64].rstrip("-")


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _pack(name: str, title: str, released: datetime, *, sealed: bool) -> Table:
    return {"id": name, "title": title, "family": name.lower(), "released": _at(released), "sealed": sealed}


def _window(start: Start, name: str, title: str, pack: str, **facts: Any) -> Table:
    usual: Table = {"id": name, "title": title, "opens": _at(start.opens), "closes": _at(start.closes)}
    return usual | {"tasks": [start.task], "dataset": [pack]} | facts


def _development(start: Start) -> Table:
    quota = {"count": 5, "period": "day"}
    return _window(start, "development", "Development", "DEV", quota=quota, feedback="full", board="best")


def _evaluation(start: Start, **more: Any) -> Table:
    quota = {"count": 3, "period": "total", "types": {"primary": 1}}
    facts = {"kind": "evaluation", "quota": quota, "feedback": "none", "certification": "3 days"}
    return _window(start, "evaluation", "Evaluation", "TEST", **(facts | more))


def _shared_task(start: Start) -> Table:
    last_week = max(start.closes - timedelta(days=7), start.opens + (start.closes - start.opens) / 2)
    last_week = last_week.replace(second=0, microsecond=0)
    packs = [
        _pack("DEV", "Development data", start.opens, sealed=False),
        _pack("TEST", "Test data", last_week, sealed=True),
    ]
    windows = [_development(replace(start, closes=last_week)), _evaluation(replace(start, opens=last_week))]
    return {"packs": packs, "windows": windows}


def _blind(start: Start) -> Table:
    return {"packs": [_pack("TEST", "Test data", start.opens, sealed=True)], "windows": [_evaluation(start)]}


def _leaderboard(start: Start) -> Table:
    quota = {"count": 2, "period": "week"}
    endless = replace(start, closes=start.opens + ENDLESS)
    facts = {"quota": quota, "feedback": "limited", "board": "best"}
    window = _window(endless, "leaderboard", "Leaderboard", "TEST", **facts)
    return {"packs": [_pack("TEST", "Test data", start.opens, sealed=True)], "windows": [window]}


def _with_judges(start: Start) -> Table:
    judging = {"k": 3, "judges": 6, "per_judge": 200}
    return _blind(start) | {"judging": judging}


def _annotation(start: Start) -> Table:
    packs = [_pack("TEXTS", "Texts to annotate", start.opens, sealed=False)]
    stone = {"id": "annotated", "title": "Annotation is complete", "at": _at(start.closes), "owner": "Organizers"}
    quota = {"count": 5, "period": "week"}
    after = replace(start, opens=start.closes, closes=start.closes + timedelta(days=28))
    window = _window(after, "systems", "Systems on the annotated texts", "TEXTS", quota=quota, feedback="full")
    return {"packs": packs, "windows": [window | {"board": "best"}], "milestones": [stone]}


def _reading(start: Start) -> Table:
    packs = [_pack("TEXTS", "Texts and questions", start.opens, sealed=True)]
    quota = {"count": 5, "period": "week"}
    window = _window(start, "reading", "Reading", "TEXTS", quota=quota, feedback="limited", board="best")
    return {"packs": packs, "windows": [window]}


STARTERS: Final[Mapping[str, Starter]] = {
    one.name: one
    for one in (
        Starter("shared-task", _shared_task, "translation"),
        Starter("blind", _blind, "classification"),
        Starter("leaderboard", _leaderboard, "classification"),
        Starter("judged", _with_judges, "translation"),
        Starter("annotation", _annotation, "labels"),
        Starter("reading", _reading, "reading"),
    )
}
"""All templates by their names."""
