"""The six conditions as a picture: where rows come from, what is learned without labels, and which classifier."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

import vl_convert

from basanite.figures import Image
from basanite.harness.conditions import CONDITIONS, Condition
from basanite.reports import theme

WIDTH: Final = 1180
ROW: Final = 64
TOP: Final = 56
BOX: Final = (210, 44)
COLUMNS: Final = (250, 560, 870)
"""Where boxes begin: the source of rows, the learner, the classifier."""
INK: Final = theme.literal(theme.LIGHT)
SCALE: Final = 2.0
LEARNED: Final = {"none": "", "shallow": "SUL: one layer", "deep": "DUL: deep learner"}


def conditions_picture() -> Image:
    """The picture with the words that stand for it."""
    words = "; ".join(f"{condition.number}: {', then '.join(_parts(condition))}" for condition in CONDITIONS)
    content = bytes(vl_convert.svg_to_png(_drawing(), scale=SCALE))
    return Image("The six conditions", f"Each row is a condition. {words}.", "image/png", content)


def _parts(condition: Condition) -> list[str]:
    """What a condition chains, in words."""
    source = "FE: feature extractor" if condition.source == "features" else "PRE: team's preprocessor"
    classifier = "SOTA: strong shallow" if condition.strong else "SLC: team's linear"
    return [part for part in (source, LEARNED[condition.learning], classifier) if part]


def _drawing() -> str:
    height = TOP + ROW * len(CONDITIONS) + 8
    heads = ("where rows come from", "learned without labels", "classifier")
    parts = [_text(x, 30, head, ink="muted", size=17) for x, head in zip(COLUMNS, heads, strict=True)]
    parts += [_row(condition, TOP + ROW * place) for place, condition in enumerate(CONDITIONS)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'font-family="Liberation Sans, Arial, sans-serif"><rect width="{WIDTH}" height="{height}" '
        f'fill="{INK("card")}"/>{"".join(parts)}</svg>'
    )


def _row(condition: Condition, y: int) -> str:
    source, *middle, classifier = _parts(condition)
    name = f"{condition.number}  {condition.title}"
    drawn = [_text(10, y + 29, name, ink="ink", size=19, bold=True), _box(COLUMNS[0], y, source, "series_8")]
    ends = COLUMNS[1] if middle else COLUMNS[2]
    drawn.append(_arrow(COLUMNS[0] + BOX[0], ends, y))
    if middle:
        drawn.append(_box(COLUMNS[1], y, middle[0], "gold"))
        drawn.append(_arrow(COLUMNS[1] + BOX[0], COLUMNS[2], y))
    drawn.append(_box(COLUMNS[2], y, classifier, "series_2"))
    return "".join(drawn)


def _box(x: int, y: int, words: str, ink: str) -> str:
    shape = f'<rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="{INK("sunken")}"'
    bar = f'<rect x="{x}" y="{y}" width="6" height="{BOX[1]}" fill="{INK(ink)}"/>'
    return f'{shape} stroke="{INK("rule")}"/>{bar}{_text(x + 16, y + 28, words, ink="ink", size=16)}'


def _arrow(start: int, end: int, y: int) -> str:
    middle = y + BOX[1] // 2
    head = f"{end - 10},{middle - 6} {end - 1},{middle} {end - 10},{middle + 6}"
    line = (
        f'<line x1="{start + 4}" y1="{middle}" x2="{end - 10}" y2="{middle}" stroke="{INK("faint")}" stroke-width="2"/>'
    )
    return f'{line}<polygon points="{head}" fill="{INK("faint")}"/>'


def _text(x: int, y: int, words: str, *, ink: str, size: int, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}"{weight} fill="{INK(ink)}">{escape(words)}</text>'
