"""Items to be judged: what a judge sees in blocks, and what is kept from the judge; equal ones are judged once.

An id tells nothing: it is drawn, not counted, and holds neither the system nor the order of arrival (X-9).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from basanite.formats.retrieval.instructions import COMPONENTS, LONGEST, sanitize_instructions

BlockKind = Literal["query", "domain", "text", "image", "instructions", "document", "context"]
KINDS: tuple[BlockKind, ...] = ("query", "domain", "text", "image", "instructions", "document", "context")
Role = Literal["real", "check", "training"]
CONTROL_OF = "control_of"
"""The fact of a check that is a copy of an item made worse: the id of that item."""
Direction = Literal["auto", "ltr", "rtl"]


@dataclass(frozen=True)
class Block:
    """One thing that a judge sees: plain text, sanitised HTML (instructions only) or the digest of an image."""

    kind: BlockKind
    value: str
    title: str = ""
    lang: str = ""
    dir: Direction = "auto"


@dataclass(frozen=True)
class Item:
    """One thing to judge. Facts (system, query, document, genre, topic …) are never shown to judges (M52)."""

    id: str
    blocks: tuple[Block, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    """Of the blocks: items that look the same are one."""
    expected: Mapping[str, Any] | None = None
    """The right answers, of training items and hidden checks."""
    role: Role = "real"
    also: tuple[Mapping[str, str], ...] = ()
    """The facts of further items that look the same: judged once, counted for all."""

    @property
    def all_facts(self) -> tuple[Mapping[str, str], ...]:
        """The facts of everything that this item stands for."""
        return (self.facts, *self.also)


def item_of(
    blocks: Iterable[Block],
    facts: Mapping[str, str] | None = None,
    *,
    new_id: Callable[[], str],
    role: Role = "real",
    expected: Mapping[str, Any] | None = None,
) -> Item:
    """An item with a drawn id, its instructions sanitised and its digest taken."""
    shown = tuple(_safe(block) for block in blocks)
    return Item(new_id(), shown, dict(facts or {}), digest_of(shown), expected, role)


def _safe(block: Block) -> Block:
    return replace(block, value=sanitize_instructions(block.value)) if block.kind == "instructions" else block


def digest_of(blocks: Iterable[Block]) -> str:
    """The digest of what a judge sees."""
    seen = [[block.kind, block.value, block.title, block.lang, block.dir] for block in blocks]
    return hashlib.sha256(json.dumps(seen, ensure_ascii=True).encode()).hexdigest()


def without_duplicates(items: Iterable[Item]) -> tuple[Item, ...]:
    """Items that look the same joined into the first of them; roles are never mixed.

    >>> ids = iter("abc")
    >>> make = lambda text, system: item_of([Block("text", text)], {"system": system}, new_id=lambda: next(ids))
    >>> made = [make("x", "A"), make("y", "A"), make("x", "B")]
    >>> [(item.id, len(item.all_facts)) for item in without_duplicates(made)]
    [('a', 2), ('b', 1)]
    """
    first: dict[tuple[str, Role], Item] = {}
    for item in items:
        known = first.setdefault((item.digest, item.role), item)
        if known is not item:
            more = [facts for facts in item.all_facts if facts not in known.all_facts]
            first[item.digest, item.role] = replace(known, also=(*known.also, *more))
    return tuple(first.values())


def instruction_blocks(
    own: Mapping[str, Any], general: str = "", *, lang: str = "", limit: int = LONGEST
) -> tuple[Block, ...]:
    """A team's instructions for judges as safe blocks: general ones first, then those of the parts (M50, M51).

    What is no text is left out; `formats` has warned of it when the submission came.
    """
    texts = {"general": general} | {name: own.get(name) for name in COMPONENTS}
    safe = {
        name: sanitize_instructions(text, limit=limit) for name, text in texts.items() if isinstance(text, str) and text
    }
    return tuple(Block("instructions", text, name, lang) for name, text in safe.items() if text)
