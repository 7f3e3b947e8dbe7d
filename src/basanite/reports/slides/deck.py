"""A deck of slides in our look: a title, then one thing to see on each slide.

The same report gives the same bytes: python-pptx and the workbooks inside its charts write the time of day, so the
finished archive is packed again with the time taken out (S-6).
"""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from typing import Any

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR
from pptx.util import Emu, Inches, Pt

from basanite.reports import theme
from basanite.reports.wording import shown, true_minus

WIDTH, HEIGHT = Inches(13.333), Inches(7.5)
MARGIN = Inches(0.6)
TOP = Inches(1.35)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
TITLE_ONLY, BLANK = 5, 6
LONGEST_TITLE = 110
INK = theme.literal(theme.LIGHT)
_SENTENCE = re.compile(r"(?<=[.;]) (?=[A-Z])")
_TIME = re.compile(rb"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")


def colour(name: str) -> RGBColor:
    """A colour of the theme as slides know it."""
    found: RGBColor = RGBColor.from_string(INK(name).lstrip("#").upper())
    return found


def cut(text: str, length: int) -> str:
    """A text that fits: nothing hidden in it, and a mark where it was cut.

    >>> cut("a long sentence", 7)
    'a long…'
    """
    plain = true_minus(shown(text))  # a hyphen would let the line break before the number
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


def whole_sentences(text: str, length: int) -> str:
    """As many whole sentences as fit; where not even the first does, its beginning.

    >>> whole_sentences("One is short. Two is rather long.", 20)
    'One is short.'
    >>> whole_sentences("Far too long", 8)
    'Far too…'
    """
    kept = ""
    for sentence in _SENTENCE.split(text):
        if kept and len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}".strip()
    return cut(kept, length)


class Deck:
    """Slides as they are made, one after the other."""

    def __init__(self, title: str) -> None:
        self.file = Presentation()
        self.file.slide_width, self.file.slide_height = WIDTH, HEIGHT
        properties = self.file.core_properties
        properties.title, properties.author, properties.last_modified_by = cut(title, 200), "Basanite", "Basanite"
        properties.created = properties.modified = EPOCH.replace(tzinfo=None)
        self.count = 0

    def cover(self, title: str, subtitle: str, lines: list[str], doubts: list[str]) -> None:
        """The first slide: dark stone with a line of gold."""
        slide = self._new(BLANK)
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = colour("stone")
        _streak(slide, (MARGIN, Inches(2.25), Inches(1.6), Emu(45_720)), "stone_gold")
        place = (MARGIN, Inches(2.5), WIDTH - 2 * MARGIN)
        write(
            slide, (*place, Inches(1.5)), [cut(title, LONGEST_TITLE)], size=44, ink="stone_ink", bold=True, serif=True
        )
        write(slide, (place[0], Inches(1.6), place[2], Inches(0.5)), [cut(subtitle, 140)], size=18, ink="stone_gold")
        write(slide, (place[0], Inches(4.2), place[2], Inches(2.6)), lines, size=20, ink="stone_muted")
        if doubts:
            write(slide, (place[0], Inches(5.9), place[2], Inches(1.3)), doubts, size=14, ink="stone_gold", bold=True)

    def slide(self, title: str, *, notes: str = "") -> Any:
        """A slide with a title; `notes` are for the speaker."""
        slide = self._new(TITLE_ONLY)
        heading = slide.shapes.title
        heading.left, heading.top, heading.width, heading.height = MARGIN, Inches(0.4), WIDTH - 2 * MARGIN, Inches(0.8)
        frame = heading.text_frame
        frame.word_wrap, frame.vertical_anchor = True, MSO_ANCHOR.MIDDLE
        frame.text = cut(title, LONGEST_TITLE)
        _style(frame.paragraphs[0], size=28 if len(title) < 60 else 22, ink="ink", bold=True, serif=True)
        self._foot(slide)
        _streak(slide, (MARGIN + Inches(0.1), Inches(0.38), Inches(0.9), Emu(34_290)), "gold")
        if notes:
            slide.notes_slide.notes_text_frame.text = shown(notes)
        return slide

    def save(self) -> bytes:
        """The deck as the bytes of a .pptx file."""
        raw = io.BytesIO()
        self.file.save(raw)
        return timeless(raw.getvalue())

    def _new(self, layout: int) -> Any:
        self.count += 1
        return self.file.slides.add_slide(self.file.slide_layouts[layout])

    def _foot(self, slide: Any) -> None:
        place = (MARGIN, HEIGHT - Inches(0.45), WIDTH - 2 * MARGIN, Inches(0.3))
        write(slide, place, [f"Basanite · {self.count}"], size=10, ink="faint")


def write(
    slide: Any,
    place: tuple[int, int, int, int],
    lines: list[str],
    *,
    size: int,
    ink: str,
    bold: bool = False,
    serif: bool = False,
) -> Any:
    """Lines of text in a box."""
    box = slide.shapes.add_textbox(*place)
    frame = box.text_frame
    frame.word_wrap = True
    for number, line in enumerate(lines):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text = shown(line)
        paragraph.space_after = Pt(size * 0.4)
        _style(paragraph, size=size, ink=ink, bold=bold, serif=serif)
    return box


def _style(paragraph: Any, *, size: int, ink: str, bold: bool, serif: bool = False) -> None:
    """Headings have the letters of headings everywhere else."""
    paragraph.font.size, paragraph.font.bold = Pt(size), bold
    paragraph.font.name = theme.SLIDE_SERIF if serif else theme.SLIDE_SANS
    paragraph.font.color.rgb = colour(ink)
    paragraph.alignment = 1  # left: the template centres titles


def _streak(slide: Any, place: tuple[int, int, int, int], ink: str) -> None:
    """A streak of gold, as on a touchstone; it says nothing."""
    line = slide.shapes.add_shape(1, *place)
    line.fill.solid()
    line.fill.fore_color.rgb = colour(ink)
    line.line.fill.background()
    line.shadow.inherit = False
    _describe(line, "", decorative=True)


def _describe(shape: Any, words: str, *, decorative: bool = False) -> None:
    shape._element._nvXxPr.cNvPr.set("descr", "" if decorative else shown(words))


def describe(shape: Any, words: str) -> None:
    """Words that stand for a picture, chart or table (P-33)."""
    _describe(shape, words)


def timeless(data: bytes) -> bytes:
    """The same archive, and the workbooks inside it, without the time at which it was made."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".xlsx"):
                content = timeless(content)
            elif name == "docProps/core.xml":
                content = _TIME.sub(EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ").encode(), content)
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    return out.getvalue()
