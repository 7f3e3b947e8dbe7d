"""What is wrong with the slides of a deck: text that leaves the slide or its place, and things that lie on each other.

PowerPoint breaks lines itself, so the height of a text is estimated, with letters as wide as those of a wide typeface:
a text that fits here fits with every usual one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pptx import Presentation
from pptx.util import Inches, Pt

WIDE, BOLD = 0.53, 0.6
"""The width of an average letter, in parts of its size."""
LINE = 1.2
INSET = Inches(0.2)
SLACK = Inches(0.05)

Box = tuple[str, int, int, int, int]


def slide_faults(file: Any) -> list[str]:
    """Each fault with the number of its slide; none where everything can be read."""
    deck = Presentation(file)
    found = []
    for number, slide in enumerate(deck.slides, start=1):
        boxes = [_box(shape) for shape in slide.shapes if _is_seen(shape)]
        for name, left, top, right, bottom in boxes:
            if left < 0 or top < 0 or right > deck.slide_width or bottom > deck.slide_height:
                found.append(f"slide {number}: {name} leaves the slide")
        found += [f"slide {number}: {one} lies on {two}" for one, two in _overlaps(boxes)]
    return found


def _is_seen(shape: Any) -> bool:
    return not shape.has_text_frame or bool(shape.text_frame.text.strip())


def _box(shape: Any) -> Box:
    """The place that a shape takes with all of its text."""
    name = shape.text_frame.text[:30] if shape.has_text_frame else shape.name
    left, top, height = shape.left, shape.top, shape.height
    if shape.has_text_frame:
        height = sum(_height(paragraph, shape.width - INSET) for paragraph in shape.text_frame.paragraphs)
        if shape.is_placeholder:  # a title stands in the middle of its place
            top += (shape.height - height) // 2
    elif getattr(shape, "has_table", False):
        table = shape.table
        height = sum(
            max(
                row.height,
                *(
                    sum(_height(line, column.width - INSET) for line in cell.text_frame.paragraphs)
                    for cell, column in zip(row.cells, table.columns, strict=True)
                ),
            )
            for row in table.rows
        )
    return name, left, top, left + shape.width, top + height


def _height(paragraph: Any, width: int) -> int:
    runs = paragraph.runs
    size = next((run.font.size for run in runs if run.font.size), paragraph.font.size) or Pt(18)
    bold = paragraph.font.bold or any(run.font.bold for run in runs)
    lines, used = 1, 0.0
    for word in paragraph.text.split(" "):
        wide = (len(word) + 1) * size * (BOLD if bold else WIDE)
        if used and used + wide > width:
            lines, used = lines + 1, 0.0
        used += wide
        lines += int(used // width) if used > 1.02 * width else 0  # a word longer than the line is broken
    return int(lines * size * LINE) + int(paragraph.space_after or 0) + int(paragraph.space_before or 0)


def _overlaps(boxes: list[Box]) -> Iterator[tuple[str, str]]:
    for at, (one, left, top, right, bottom) in enumerate(boxes):
        for two, left_2, top_2, right_2, bottom_2 in boxes[at + 1 :]:
            across = min(right, right_2) - max(left, left_2)
            down = min(bottom, bottom_2) - max(top, top_2)
            if across > SLACK and down > SLACK:
                yield one, two
