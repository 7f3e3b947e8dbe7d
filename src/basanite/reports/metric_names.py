"""What a metric is called and what it means, by its key: for pages and reports on results that hold keys alone."""

from __future__ import annotations

import functools
from typing import Any

from basanite import registry
from basanite.errors import BasaniteError
from basanite.kernel import Direction, Metric, title_of_key


def display_name(key: str, task: str = "") -> str:
    """The name of a metric as people write it; one that nobody registered is written by rule.

    >>> display_name("aqwv", "clir"), display_name("ndcg_20", "ranking"), display_name("cider_d", "Captions")
    ('AQWV', 'nDCG@20', 'CIDEr-D')
    >>> display_name("of_another_program", "none")
    'Of another program'
    """
    found = _metric(key, task)
    return found.display_name if found else title_of_key(key)


def meaning(key: str, task: str = "") -> str:
    """What a metric measures, in one line: its short name says nothing to a newcomer.

    >>> meaning("pfa")
    'Mean share of non-relevant documents that were returned, over all queries'
    >>> meaning("no such metric")
    ''
    """
    found = _metric(key, task)
    return found.summary if found else ""


def direction(key: str) -> Direction | None:
    """Which values of a metric are better, by its key alone; None for one that nobody registered.

    >>> direction("wer"), direction("map"), direction("ndcg_20"), direction("x1[GOV]"), direction("of another program")
    ('low', 'high', 'high', 'high', None)
    """
    name = key.partition("[")[0]
    named = [one for one in registry.names("metrics") if one.rpartition(".")[2] == name]
    found = _metric(named[0], "") if named else _metric(name, "ranking")
    return found.best if found else None


@functools.cache
def _metric(key: str, task: str) -> Metric | None:
    """The metric of a task; without a task that is known, the one that all tasks together have under this key."""
    name = task.lower()  # campaigns write CLIR
    try:
        known = name in registry.names("tasks")
        found: Any = registry.load("tasks", name).metric(key) if known else registry.load("metrics", key)
    except (BasaniteError, AttributeError):  # also a plug-in that is no task
        return None
    return found if isinstance(found, Metric) else None
