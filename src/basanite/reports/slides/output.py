"""The output `pptx`: a cover with the result, what it says in words, then every figure of the report."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from pptx.util import Inches, Pt

from basanite.figures import Chart, Excerpt, Excerpts, Figure, Image, Table, Text
from basanite.reports.model import Headline, Report, Section
from basanite.reports.outputs import Output
from basanite.reports.slides.charts import FRAME, add_chart, place_picture
from basanite.reports.slides.deck import MARGIN, TOP, WIDTH, Deck, colour, cut, describe, write
from basanite.reports.slides.tables import add_table
from basanite.reports.wording import number, percent, shown

SENTENCES = 7
COVER_FLAGS, COVER_LETTERS = 2, 180
EXCERPTS = 3
LONGEST = 240
MARKS = {"added": ("good", True, False), "missing": ("bad", False, True), "changed": ("accent", True, False)}
"""How pieces of a text are marked: ink, underlined, struck through."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})


def render(report: Report) -> bytes:
    """The report as a PowerPoint file."""
    deck = Deck(report.title)
    lines = [_headline(line) for line in report.headlines[:4]] or [cut(line, 160) for line in report.sentences[:3]]
    deck.cover(report.title, report.subtitle, lines, _doubts(report.flags))
    _bullets(deck, "In doubt", report.flags)
    _bullets(deck, "In short", report.sentences)
    for section in report.sections:
        for figure in section.figures:
            _add(deck, section, figure)
    return deck.save()


def _doubts(flags: Sequence[str]) -> list[str]:
    """The first flags, and how many more the next slides have."""
    more = len(flags) - COVER_FLAGS
    found = [f"In doubt: {cut(flag, COVER_LETTERS)}" for flag in flags[:COVER_FLAGS]]
    return [*found, f"{more} more follow"] if more > 0 else found


def _headline(line: Headline) -> str:
    interval = (
        f"{percent(line.level)} interval {number(line.low)} to {number(line.high)}"
        if line.low is not None and line.high is not None
        else "no interval"
    )
    return cut(f"{cut(line.label, 40)}: {line.metric} {number(line.value)}, {interval}", LONGEST)


def _add(deck: Deck, section: Section, figure: Figure) -> None:
    if isinstance(figure, Table):
        add_table(deck, figure)
    elif isinstance(figure, Chart):
        add_chart(deck, figure)
    elif isinstance(figure, Text):
        title = figure.title if figure.title == section.title else f"{section.title}: {figure.title}"
        _bullets(deck, title, figure.paragraphs)
    elif isinstance(figure, Excerpts):
        _excerpts(deck, figure)
    else:
        _picture(deck, figure)


def _bullets(deck: Deck, title: str, sentences: Sequence[str]) -> None:
    for start in range(0, len(sentences), SENTENCES):
        part = [f"•  {cut(sentence, 2 * LONGEST)}" for sentence in sentences[start : start + SENTENCES]]
        slide = deck.slide(title if not start else f"{title} (continued)")
        write(slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(5.2)), part, size=_fitting(part), ink="ink")


def _fitting(lines: Sequence[str]) -> int:
    """A size at which the lines have room."""
    letters = sum(map(len, lines))
    return 20 if letters < 700 else 16 if letters < 1400 else 13


def _picture(deck: Deck, image: Image) -> None:
    slide = deck.slide(image.title, notes=image.alternative)
    if image.media_type not in PICTURES:
        place = (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(1))
        write(slide, place, [image.alternative], size=18, ink="ink")
        return
    picture = slide.shapes.add_picture(io.BytesIO(image.content), FRAME[0], TOP)
    place_picture(picture, (FRAME[0], TOP, *FRAME[2:]))
    describe(picture, image.alternative)


def _excerpts(deck: Deck, figure: Excerpts) -> None:
    entries = figure.entries[: 2 * EXCERPTS]
    for start in range(0, len(entries), EXCERPTS):
        slide = deck.slide(figure.title, notes=figure.summary)
        box = write(
            slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(5.2)), [cut(figure.summary, LONGEST)], size=13, ink="muted"
        )
        for entry in entries[start : start + EXCERPTS]:
            _excerpt(box.text_frame, entry)


def _excerpt(frame: Any, entry: Excerpt) -> None:
    _run(frame.add_paragraph(), f"{cut(entry.name, 60)}  {entry.note}", "ink", bold=True)
    for extract in entry.extracts:
        paragraph = frame.add_paragraph()
        _run(paragraph, f"{cut(extract.label, 30)}:  ", "muted")
        for text, mark in _shortened(extract.pieces):
            ink, underlined, struck = MARKS.get(mark, ("ink", False, False))
            run = _run(paragraph, text, ink)
            run.font.underline = underlined
            if struck:
                run.font._element.set("strike", "sngStrike")


def _shortened(pieces: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    left = LONGEST
    for text, mark in pieces:
        if left <= 0:
            yield "…", ""
            return
        yield cut(text, left), mark
        left -= len(text)


def _run(paragraph: Any, text: str, ink: str, *, bold: bool = False) -> Any:
    run = paragraph.add_run()
    run.text = shown(text)
    run.font.size, run.font.bold = Pt(14), bold
    run.font.color.rgb = colour(ink)
    return run


OUTPUT = Output(
    "pptx",
    "slides with native tables and charts",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    render,
)
