"""Slides: what is on them, read back by python-pptx, and that everything that is seen has words."""

import io

import pytest
from pptx import Presentation
from pptx.util import Inches
from tests.reports import examples
from tests.slides import slide_faults

from basanite.figures import Axis, Chart, Table, Text
from basanite.reports import analysis_report, theme
from basanite.reports.outputs.pptx import render
from basanite.reports.outputs.slide_charts import add_chart
from basanite.reports.outputs.slides import MOST_ROWS, ROWS, Deck, add_table, colour


@pytest.fixture(scope="module")
def score_slides(score):
    return list(Presentation(io.BytesIO(render(score))).slides)


def titled(slides, title):
    return next(slide for slide in slides if slide.shapes.title is not None and title in slide.shapes.title.text)


def graphics(slide, kind):
    return [shape for shape in slide.shapes if getattr(shape, f"has_{kind}", False)]


def opened(deck):
    return list(Presentation(io.BytesIO(deck.save())).slides)


def test_slides_are_wide_and_every_one_but_the_cover_has_a_title(score):
    deck = Presentation(io.BytesIO(render(score)))
    assert deck.slide_width / deck.slide_height == pytest.approx(16 / 9, rel=1e-3)
    assert all(slide.shapes.title.text for slide in list(deck.slides)[1:])


def test_tables_are_native_and_hold_what_the_report_says(score, score_slides):
    table = graphics(titled(score_slides, "All values"), "table")[0].table
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    assert rows[0][:4] == ["Metric", "Value", "Low", "High"]
    assert rows[1][:4] == ["AQWV", "0.3127", "0.2827", "0.3427"]


def test_bars_are_native_charts_with_their_intervals(score_slides):
    chart = graphics(titled(score_slides, "AQWV by genre"), "chart")[0].chart
    assert next(iter(chart.plots[0].categories)) == "news text"
    assert chart.plots[0].series[0].values[0] == pytest.approx(0.41)
    sizes = [node.text for node in chart.plots[0].series[0]._element.iter() if node.tag.endswith("}v")]
    assert any(abs(float(size) - 0.04) < 1e-9 for size in sizes if size.replace(".", "").isdigit())


def test_slides_say_what_gray_bars_mean_and_draw_no_interval_where_there_is_none(score_slides):
    slide = titled(score_slides, "AQWV by genre")
    assert any(
        "Gray: few units, or no interval." in shape.text_frame.text for shape in slide.shapes if shape.has_text_frame
    )
    series = graphics(slide, "chart")[0].chart.plots[0].series[0]
    errors = [part for part in series._element.iter() if part.tag.endswith("}plus")]
    assert [len(list(part.iter("{*}pt"))) for part in errors] == [len(list(series.values)) - 1]


def test_tables_of_details_are_left_to_other_outputs(score_slides):
    titles = [slide.shapes.title.text for slide in score_slides if slide.shapes.title is not None]
    assert not [title for title in titles if title.startswith("Other metrics by")]


def test_lines_are_native_and_what_powerpoint_cannot_draw_is_a_picture(score_slides):
    assert graphics(titled(score_slides, "Query-weighted value by threshold"), "chart")
    det = titled(score_slides, "Detection error trade-off")
    assert not graphics(det, "chart")
    assert any(shape.shape_type == 13 for shape in det.shapes)


def test_every_chart_table_and_picture_has_words_for_those_who_cannot_see(score_slides):
    seen = 0
    for slide in score_slides:
        for shape in slide.shapes:
            if shape.shape_type == 13 or any(getattr(shape, f"has_{kind}", False) for kind in ("chart", "table")):
                seen += 1
                assert shape._element._nvXxPr.cNvPr.get("descr"), slide.shapes.title.text
    assert seen > 8


def test_a_long_table_goes_on_and_says_where_it_was_cut():
    deck = Deck("long")
    add_table(deck, Table("Rows", ("Name", "Number"), tuple((f"row {at}", at) for at in range(MOST_ROWS + 5))))
    slides = opened(deck)
    assert len(slides) == MOST_ROWS // ROWS
    assert slides[1].shapes.title.text == "Rows (continued)"
    assert any("5 more rows" in shape.text_frame.text for shape in slides[-1].shapes if shape.has_text_frame)


def test_a_wide_table_is_split_and_its_first_column_repeated():
    deck = Deck("wide")
    columns = tuple(f"c{at}" for at in range(20))
    add_table(deck, Table("Wide", columns, (tuple(range(20)),)))
    heads = [[cell.text for cell in graphics(slide, "table")[0].table.rows[0].cells] for slide in opened(deck)]
    assert [head[0] for head in heads] == ["c0"] * len(heads)
    assert sorted({name for head in heads for name in head}) == sorted(columns)


def test_no_table_is_wider_than_its_slide(score_slides):
    for slide in score_slides:
        for frame in graphics(slide, "table"):
            assert sum(column.width for column in frame.table.columns) <= Inches(13.333)


def test_a_logarithmic_axis_stays_logarithmic():
    deck = Deck("log")
    data = Table("t", ("x", "y"), ((1.0, 0.1), (10.0, 0.2), (100.0, 0.3)))
    add_chart(deck, Chart("t", "s", "line", data, Axis("x", "x", "log"), Axis("y", "y")))
    chart = graphics(opened(deck)[0], "chart")[0].chart
    assert "logBase" in chart.category_axis._element.find(".//{*}scaling")[0].tag


def test_excerpts_keep_their_marks(compare):
    from basanite.reports.outputs.pptx import _excerpts

    deck = Deck("texts")
    _excerpts(deck, examples.excerpts())
    boxes = [shape.text_frame for shape in opened(deck)[0].shapes if shape.has_text_frame]
    runs = [run for box in boxes for p in box.paragraphs for run in p.runs]
    assert any(run.text == "stone" and run.font._element.get("strike") == "sngStrike" for run in runs)
    assert any(run.text == "hill" and run.font.underline for run in runs)


def test_no_word_of_a_table_is_broken_and_its_note_stands_below_it():
    deck = Deck("words")
    rows = tuple((f"row {at}", "not supported", -0.0856, "a long sentence that goes on and on " * 4) for at in range(5))
    add_table(deck, Table("Verdicts", ("Run", "Verdict", "Gain", "Words"), rows, note="All of one model."))
    slide = opened(deck)[0]
    frame = graphics(slide, "table")[0]
    widths = [column.width / Inches(1) for column in frame.table.columns]
    assert widths[1] > 1.0  # room for the two words beside each other
    note = next(shape for shape in slide.shapes if shape.has_text_frame and "one model" in shape.text_frame.text)
    assert note.top >= frame.top + sum(row.height for row in frame.table.rows)
    assert frame.table.cell(1, 2).text == "−0.0856"


def test_long_cells_make_a_table_go_on_earlier():
    deck = Deck("long cells")
    rows = tuple((f"row {at}", "many words " * 30, "more words " * 30) for at in range(ROWS))
    add_table(deck, Table("Words", ("Name", "One", "Two"), rows))
    assert len(opened(deck)) > 1


def test_bars_begin_at_zero_and_bands_are_drawn():
    deck = Deck("bars")
    data = Table("t", ("run", "value", "low", "high"), (("1", 0.9, 0.89, 0.91), ("2", 0.92, 0.9, 0.93)))
    axes = Axis("value", "MAP"), Axis("run", "run", "category")
    add_chart(deck, Chart("t", "s", "bars", data, *axes, low="low", high="high"))
    curve = Table("t", ("x", "value", "low", "high"), ((0.0, 0.9, 0.89, 0.91), (1.0, 0.92, 0.9, 0.93)))
    add_chart(deck, Chart("t", "s", "line", curve, Axis("x", "x"), Axis("value", "v"), low="low", high="high"))
    bars, line = opened(deck)
    assert graphics(bars, "chart")[0].chart.value_axis.minimum_scale == 0
    assert any(shape.shape_type == 13 for shape in line.shapes)


def sizes_of(slide):
    """The sizes of the letters of a slide's table, in points."""
    table = graphics(slide, "table")[0].table
    return {cell.text_frame.paragraphs[0].font.size.pt for row in table.rows for cell in row.cells}


def test_a_small_table_is_written_large_and_a_long_one_is_spread_evenly():
    deck = Deck("sizes")
    add_table(deck, Table("Few", ("Name", "Value"), (("one", 0.5), ("two", 0.25))))
    add_table(deck, Table("Many", ("Name", "Value"), tuple((f"row {at}", 0.5) for at in range(ROWS + 1))))
    few, first, second = opened(deck)
    assert sizes_of(few) == {14.0}
    assert sizes_of(first) == sizes_of(second) == {12.0}
    counts = [len(graphics(slide, "table")[0].table.rows) - 1 for slide in (first, second)]
    assert sum(counts) == ROWS + 1
    assert abs(counts[0] - counts[1]) <= 1, "no slide is left with a single row"


def test_headings_and_text_of_slides_share_one_typeface_as_on_pages(score_slides):
    assert {slide.shapes.title.text_frame.paragraphs[0].font.name for slide in score_slides[1:]} == {theme.SLIDE_SANS}


def test_the_sentence_of_a_chart_ends_before_its_chart_begins():
    from basanite.reports.outputs.slide_charts import SUMMARY, add_chart

    deck, long = Deck("words"), "The value rises with the threshold and falls again. " * 9
    data = Table("t", ("x", "y"), ((1.0, 0.1), (2.0, 0.2)))
    add_chart(deck, Chart("t", long, "line", data, Axis("x", "x"), Axis("y", "y")))
    slide = opened(deck)[0]
    told = next(one.text_frame.text for one in slide.shapes if one.has_text_frame and "rises" in one.text_frame.text)
    assert len(told) <= SUMMARY
    assert told.endswith("again."), "only whole sentences"
    assert slide.notes_slide.notes_text_frame.text.count("rises") == 9, "the notes hold all of it"


def test_the_axis_of_bars_holds_their_intervals_and_few_units_are_grey():
    deck = Deck("bars")
    add_chart(deck, examples.full_bars())
    chart = graphics(opened(deck)[0], "chart")[0].chart
    assert (chart.value_axis.minimum_scale, chart.value_axis.maximum_scale) == pytest.approx((-0.25, 1.0))
    series = chart.plots[0].series[0]
    assert series.format.fill.fore_color.rgb == colour("series_1")
    assert series.points[2].format.fill.fore_color.rgb == colour("faint")
    assert not chart.category_axis.has_title


def test_few_bars_are_no_giants():
    deck = Deck("bars")
    data = Table("t", ("run", "value"), (("only", 0.9),))
    add_chart(deck, Chart("t", "s", "bars", data, Axis("value", "MAP"), Axis("run", "run", "category")))
    assert graphics(opened(deck)[0], "chart")[0].chart.plots[0].gap_width == 500


def test_sentences_have_one_size_however_many_they_are():
    report = examples_report(["A short sentence."], ["A long sentence that says many things. " * 4] * 12)
    sizes = {
        run.font.size.pt
        for slide in list(Presentation(io.BytesIO(render(report))).slides)[1:]
        for shape in slide.shapes
        if shape.has_text_frame and shape.text_frame.text.startswith("•")
        for run in (paragraph for paragraph in shape.text_frame.paragraphs)
    }
    assert sizes == {18.0}


def examples_report(*paragraphs):
    figures = [Text(f"Part {at}", tuple(said)) for at, said in enumerate(paragraphs)]
    return analysis_report(examples.analysis(), figures)


def test_nothing_on_a_slide_leaves_it_or_lies_on_another(score, compare, hostile):
    for report in (score, compare, hostile["score"], hostile["validate"]):
        assert slide_faults(io.BytesIO(render(report))) == []


def test_of_many_levels_a_slide_shows_the_highest_and_the_lowest():
    data = Table(
        "t", ("level", "value"), tuple((f"speaker {at:02}", at / 40) for at in range(40)), muted=frozenset({1})
    )
    deck = Deck("levels")
    add_chart(deck, Chart("t", "Rates.", "bars", data, Axis("value", "rate"), Axis("level", "level", "category")))
    slide = opened(deck)[0]
    shown = list(graphics(slide, "chart")[0].chart.plots[0].categories)
    assert (shown[0], shown[-1], len(shown)) == ("speaker 00", "speaker 39", 14)
    assert any(
        "The 14 highest and lowest of 40 levels." in shape.text_frame.text
        for shape in slide.shapes
        if shape.has_text_frame
    )


def test_axes_of_points_begin_and_end_at_a_tick():
    rows = ((-0.031, 0.12), (0.98, 0.87), (0.5, 0.5))
    deck = Deck("points")
    data = Table("t", ("x", "y"), rows)
    add_chart(deck, Chart("t", "s", "points", data, Axis("x", "x", low=-0.07), Axis("y", "y", low=0.0, high=1.0)))
    axes = graphics(opened(deck)[0], "chart")[0].chart
    assert (axes.category_axis.minimum_scale, axes.category_axis.maximum_scale) == pytest.approx((-0.25, 1.0))
    assert (axes.value_axis.minimum_scale, axes.value_axis.maximum_scale) == (0.0, 1.0)
