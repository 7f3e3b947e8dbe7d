"""The output `pptx`: a cover with the result, what it says in words, then every figure of the report."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from pptx.util import Inches, Pt

from basanite.figures import Chart, Excerpt, Excerpts, Figure, Image, Table, Text
from basanite.reports.outputs.slide_charts import FRAME, add_chart, place_picture
from basanite.reports.outputs.slides import MARGIN, TOP, WIDTH, Deck, add_table, colour, cut, describe, write
from basanite.reports.report import Headline, Output, Report, Section
from basanite.reports.wording import number, percent, printable

BODY = 18
LINES, LINE_LETTERS = 16.0, 96
"""Lines of the body's size that stand on a slide, and the letters of each."""
COVER_FLAGS, COVER_LETTERS = 2, 180
EXCERPTS = 3
LONGEST = 240
MARKS = {"added": ("good", True, False), "missing": ("bad", False, True), "changed": ("accent", True, False)}
"""How pieces of a text are marked: ink, underlined, struck through."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})


def render(report: Report) -> bytes:
    """The report as a PowerPoint file."""
    deck = Deck(report.title)
    short = [cut(line, COVER_LETTERS) for line in report.sentences if len(line) <= COVER_LETTERS]
    lines = [_headline(line) for line in report.headlines[:4]] or short[:3]
    deck.cover(report.title, report.subtitle, lines, _doubts(report.flags))
    _bullets(deck, "In doubt", report.flags)
    _bullets(deck, "Summary", report.sentences)
    for section in report.sections:
        for figure in section.figures:
            if not (isinstance(figure, Table) and figure.detail):  # details are for the page and for CSV
                _add(deck, section, figure)
    return deck.save()


def _doubts(flags: Sequence[str]) -> list[str]:
    """The first flags, and how many more the next slides have."""
    more = len(flags) - COVER_FLAGS
    found = [f"In doubt: {cut(flag, COVER_LETTERS)}" for flag in flags[:COVER_FLAGS]]
    return [*found, f"{more} more follow"] if more > 0 else found


def _headline(line: Headline) -> str:
    interval = (
        f"{percent(line.level)} CI {number(line.low)} to {number(line.high)}"
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
    """Sentences in one size on as many slides as they need."""
    for number_of_slide, part in enumerate(_slidefuls([f"•  {cut(sentence, 2 * LONGEST)}" for sentence in sentences])):
        slide = deck.slide(f"{title} (continued)" if number_of_slide else title)
        write(slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(5.2)), part, size=BODY, ink="ink")


def _slidefuls(sentences: Sequence[str]) -> Iterator[list[str]]:
    """The sentences in groups that fit a slide, whatever their length.

    >>> [len(part) for part in _slidefuls(["short"] * 12 + ["long " * 60] * 4)]
    [11, 4, 1]
    """
    part: list[str] = []
    left = LINES
    for sentence in sentences:
        lines = -(-len(sentence) // LINE_LETTERS) + 0.4  # a sentence ends with some space below it
        if part and lines > left:
            yield part
            part, left = [], LINES
        part.append(sentence)
        left -= lines
    if part:
        yield part


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
    entries = [entry for entry in figure.entries if not entry.columns][: 2 * EXCERPTS]
    for start in range(0, len(entries), EXCERPTS):
        slide = deck.slide(figure.title, notes=figure.summary)
        box = write(
            slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(5.2)), [cut(figure.summary, LONGEST)], size=13, ink="muted"
        )
        for entry in entries[start : start + EXCERPTS]:
            _excerpt(box.text_frame, entry)


def _excerpt(frame: Any, entry: Excerpt) -> None:
    heading = frame.add_paragraph()
    heading.space_before = Pt(10)
    _run(heading, f"{cut(entry.name, 60)}  {entry.note}", "ink", bold=True)
    for extract in entry.extracts:
        paragraph = frame.add_paragraph()
        _run(paragraph, f"{cut(extract.label, 30)}:  ", "muted")
        for text, mark in _shorten_pieces(extract.pieces):
            ink, underlined, struck = MARKS.get(mark, ("ink", False, False))
            run = _run(paragraph, text, ink)
            run.font.underline = underlined
            if struck:
                run.font._element.set("strike", "sngStrike")


def _shorten_pieces(pieces: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    left = LONGEST
    for text, mark in pieces:
        if left <= 0:
            yield "…", ""
            return
        yield cut(text, left), mark
        left -= len(text)


def _run(paragraph: Any, text: str, ink: str, *, bold: bool = False) -> Any:
    run = paragraph.add_run()
    run.text = printable(text)
    run.font.size, run.font.bold = Pt(14), bold
    run.font.color.rgb = colour(ink)
    return run


OUTPUT = Output(
    "pptx",
    "slides with native tables and charts",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    render,
)
