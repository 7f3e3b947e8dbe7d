"""What reports say: headlines, groups, small parts, and words that statistics allow."""

import math

import examples

from basanite.figures import Chart, Table
from basanite.reports import Headline, analysis_report, validation_report
from basanite.reports.comparison import comparison_report
from basanite.reports.outputs.html import strip


def tables(report):
    return {
        figure.title: figure for section in report.sections for figure in section.figures if isinstance(figure, Table)
    }


def charts(report):
    return {
        figure.title: figure for section in report.sections for figure in section.figures if isinstance(figure, Chart)
    }


def headline(value, low, high):
    return Headline("A", "m", value, low, high, 30, "query", 0.95)


def test_the_primary_value_comes_first_with_its_interval(score):
    assert score.sentences[0] == "AQWV is 0.3127 (95% CI 0.2827 to 0.3427), over 300 queries."
    assert tables(score)["All values"].rows[0][0] == "AQWV"
    assert tables(score)["All values"].emphasis == {0}


def test_an_undefined_value_is_no_number_and_says_why(score):
    row = next(row for row in tables(score)["All values"].rows if row[0] == "AUC")
    assert row[1:4] == (None, None, None)
    assert row[-1] == "no query has scores"


def test_parts_with_few_units_are_greyed_and_not_named_in_sentences(score):
    chart = charts(score)["AQWV by genre"]
    assert chart.data.muted == {5}
    assert not any("topical broadcast" in sentence for sentence in score.sentences)


def test_groups_are_never_called_equal(compare):
    table = tables(compare)["Ranking on AQWV"]
    assert "no clean cut inside" in table.note
    words = " ".join((*compare.sentences, *(table.note for table in tables(compare).values())))
    assert "equal" not in words.lower()
    assert [row[:3] for row in table.rows] == [("Ochre", 1, "1"), ("Umber", 2, "2 to 3"), ("Sienna", 2, "2 to 3")]


def test_the_matrix_of_pairs_shows_who_is_better_in_both_directions_and_each_difference_once(compare):
    rows = tables(compare)["Matrix of pairs on AQWV"].rows
    assert rows[0] == ("Ochre", "", "▲ +0.0800", "▲ +0.1000")
    assert rows[1] == ("Umber", "▼", "", "? +0.0200")


def test_the_family_and_its_size_are_printed(compare):
    assert dict(compare.facts)["Family"] == "3 comparisons of one metric, holm adjustment"
    assert dict(compare.facts)["Test draws"] == "10,000"


def test_settings_seed_digests_and_signature_stand_in_the_facts(score):
    facts = dict(score.facts)
    assert (facts["Seed"], facts["Setting beta"], facts["Signature"]) == ("0", "40.0", "clir|beta:40|v:0.1.0|seed:0")
    assert facts["Digest of submission"].startswith("sha256:ab12")


def test_a_validation_report_counts_and_lists():
    report = validation_report(examples.findings(), "clir")
    assert report.title == "Not valid"
    assert report.sentences[0].startswith("2 problems under 2 rules found, all listed")


def test_a_task_without_overall_values_still_has_a_report():
    analysis = examples.analysis()
    bare = type(analysis)(analysis.scores, {}, analysis.breakdowns, analysis.design, "s")
    assert analysis_report(bare).headlines == ()


def test_many_systems_are_counted_in_words():
    report = comparison_report(examples.many_systems(5))
    assert report.title == "5 systems"
    assert report.sentences[-1] == "10 of 10 pairs show a difference after adjustment for all of them."


def test_a_share_is_drawn_between_0_and_1():
    assert [label for _, label in strip([headline(0.3, 0.2, 0.4)]).ticks] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_other_values_get_round_numbers_around_them():
    drawn = strip([headline(81.0, 78.0, 84.0), headline(math.nan, None, None)])
    assert float(drawn.ticks[0][1]) <= 78 < 84 <= float(drawn.ticks[-1][1])
    assert drawn.places[1].at is None
