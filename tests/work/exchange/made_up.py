"""Annotations that nobody would write, to see whether formats keep them."""

from hypothesis import strategies as st

from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.model import Annotated, Link, merge_parts

TEXTS = (
    "The Jets beat the Bears, 20-17.\n\nIt was cold. Very cold!",
    "😀 Jets 🏈 beat Bears 👩‍👩‍👧 today.",
    "القاهرة فازت على الإسكندرية 2-1 أمس.",
    "Ame\u0301lie visits Sao\u0303 Paulo; naïve café.",
    "日本が二対一で勝った。試合は大阪で行われた。",
)
VALUES = ("5", "two words", "a\ttab", "línea", '"quoted"', "=1+1", "x" * 50)


@st.composite
def annotated(draw, *, words=True, several=True):
    """A text with objects: stacked, overlapping, in pieces, nested, with and without words."""
    text = draw(st.sampled_from(TEXTS))
    objects = []
    for number in range(draw(st.integers(0, 6))):
        parents = [one.id for one in objects if words is False or one.mentions]
        parent = draw(st.sampled_from(["", *parents]))
        fields = draw(st.dictionaries(st.sampled_from(["value", "kind"]), st.sampled_from(VALUES), max_size=2))
        mentions = {}
        count = draw(st.integers(1 if words else 0, 2 if several else 1))
        for at in range(count):
            slot = draw(st.sampled_from(["mention", "team"])) if several and at else "mention"
            parts = draw(pieces(len(text), 3 if several else 1))
            if not any(parts == one.parts for one in mentions.get(slot, ())):
                mentions[slot] = (*mentions.get(slot, ()), Mention(f"m{number}-{at}", parts))
        category = draw(st.sampled_from(["Game", "Team", "Score"]))
        note = draw(st.sampled_from(["", "look here"]))
        objects.append(Object(f"o{number}", category, parent, fields, mentions, draw(st.booleans()), note))
    ids = [one.id for one in objects]
    links = ()
    if len(ids) > 1 and draw(st.booleans()):
        links = (Link("against", ids[0], ids[-1]),)
    return Annotated("report-1", text, tuple(objects), links)


@st.composite
def pieces(draw, length, most):
    """Pieces of a text, in order and apart."""
    found = []
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, length - 1))
        found.append((start, draw(st.integers(start + 1, min(length, start + 12)))))
    return merge_parts(found)
