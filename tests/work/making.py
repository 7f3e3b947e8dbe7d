"""Schemes, items and judges in few words, for the tests of judging."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from basanite.work.assignments import Judge
from basanite.work.items import Block, Item, item_of
from basanite.work.scheme import Scheme, read_scheme


def scheme_of(preset: str, more: str = "", **top: object) -> Scheme:
    """A preset with a few entries of one's own, which must be right."""
    lines = [f"{key} = {_toml(value)}" for key, value in top.items()]
    text = "\n".join(['format = "basanite-judging/1"', 'name = "test"', f'preset = "{preset}"', *lines, more])
    scheme, problems = read_scheme(text)
    assert scheme is not None, [problem.message for problem in problems]
    return scheme


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).replace("'", '"')


def new_ids(prefix: str = "i") -> Iterator[str]:
    """Ids in order, which tests can read."""
    return (f"{prefix}{number:04d}" for number in count())


def items(number: int, **facts: object) -> list[Item]:
    """Items with a text each; a fact is a value for all, or a list that goes round."""
    ids = new_ids()
    return [
        item_of([Block("text", f"Text {at}.")], {k: _turn(v, at) for k, v in facts.items()}, new_id=ids.__next__)
        for at in range(number)
    ]


def _turn(value: object, at: int) -> str:
    return str(value[at % len(value)]) if isinstance(value, list) else str(value)


def judges(number: int, group: str = "judge") -> list[Judge]:
    """So many judges of a group."""
    return [Judge(f"{group}{at:02d}", group) for at in range(number)]
