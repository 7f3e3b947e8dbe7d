"""A batch as it goes out: one row for each item, and a seal over everything a worker will see in it.

Rows hold neither the system nor any other fact. The platform gives its own HIT ids later; it is the seal, kept in the
results by the platform, that binds an answer to the row it belongs to (X-18).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from basanite.errors import SettingError
from basanite.judging.batches.template import question_xml
from basanite.judging.combining.files import table
from basanite.judging.items import Block, Item
from basanite.judging.schemes.model import EVERYBODY, Scheme

ITEM, SEAL = "item", "seal"
SHORTEST_KEY = 16


@dataclass(frozen=True)
class Hit:
    """One row of a batch: the item's id, what the worker sees, and the seal over both."""

    item: str
    inputs: Mapping[str, str]
    seal: str


@dataclass(frozen=True)
class Batch:
    """What was sent out: kept, so that results can be held against it."""

    id: str
    hits: tuple[Hit, ...]
    template: str
    table: bytes
    assignments: int
    """MaxAssignments: judgements of each row."""
    lifetime_note: str = "Images must stay reachable under https until the last result is in."


def why_not(scheme: Scheme) -> str:
    """The reason why a scheme cannot be judged on such a platform; empty if it can."""
    if any(question.widget == "spans" for question in scheme.questions):
        return "spans cannot be marked there: judge on the server's own pages"
    if scheme.rank_after_round:
        return "rounds cannot be ranked there: judge on the server's own pages"
    return "" if scheme.questions else "the scheme asks nothing"


def export_batch(
    scheme: Scheme, items: Sequence[Item], *, batch: str, key: bytes, image_url: Callable[[str], str]
) -> Batch:
    """The template and the table of a batch; checks go out like real items, training does not.

    `image_url` gives an unguessable https address for the digest of an image.
    """
    reason = why_not(scheme)
    if reason or len(key) < SHORTEST_KEY:
        raise SettingError(reason or f"The key of a batch has {len(key)} bytes; give at least {SHORTEST_KEY}.")
    sent = sorted((item for item in items if item.role != "training"), key=lambda item: item.id)
    inputs = {item.id: dict(_inputs(item.blocks, image_url)) for item in sent}
    names = list(dict.fromkeys(name for some in inputs.values() for name in some))
    filled = {item: {name: some.get(name, "") for name in names} for item, some in inputs.items()}
    hits = tuple(Hit(item, some, seal(key, batch, item, some)) for item, some in filled.items())
    rows = [(hit.item, *hit.inputs.values(), hit.seal) for hit in hits]
    wanted = max(scheme.per_group.values())
    made = table((ITEM, *names, SEAL), rows)
    return Batch(batch, hits, question_xml(scheme, names), made, 1 if wanted == EVERYBODY else wanted)


def seal(key: bytes, batch: str, item: str, inputs: Mapping[str, str]) -> str:
    """The seal over a row: nobody without the key can make one, and it fits no other row."""
    words = json.dumps([batch, item, sorted(inputs.items())], ensure_ascii=True)
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()


def _inputs(blocks: Iterable[Block], image_url: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Variables by the kinds of blocks; of several of one kind the later ones are numbered."""
    seen: Counter[str] = Counter()
    for block in blocks:
        seen[block.kind] += 1
        name = block.kind if seen[block.kind] == 1 else f"{block.kind}_{seen[block.kind]}"
        yield name, _value(block, image_url)


def _value(block: Block, image_url: Callable[[str], str]) -> str:
    if block.kind == "image":
        address = image_url(block.value)
        if not address.startswith("https://"):
            raise SettingError(f"Images of a batch need https addresses; {address[:80]!r} is none.")
        return escape(address)
    if block.kind == "instructions":
        return block.value  # sanitised when the item was made (M51)
    return escape(block.value).replace("\n", "<br>")
