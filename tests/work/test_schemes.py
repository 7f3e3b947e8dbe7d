"""Schemes: every preset reads, everything wrong is found at once with its line, and a new kind needs no code."""

from __future__ import annotations

import json

import pytest
from tests.work.making import scheme_of

from basanite.work.scheme import PRESETS, preset_text, read_scheme

HEAD = 'format = "basanite-judging/1"\nname = "mine"\n'
CONSENT = '[consent]\nversion = "1"\ntext = "You may stop."\n'


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_a_scheme_that_json_can_hold(preset):
    scheme = scheme_of(preset)
    assert scheme.consent.text
    assert scheme.consent.version
    assert json.loads(json.dumps(scheme.as_dict()))["preset"] == preset


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_gives_each_answer_a_key_of_its_own(preset):
    scheme = scheme_of(preset)
    keys = [each.key for q in scheme.questions for each in (*q.options, *q.categories, *q.severities)]
    assert all(keys)
    assert len(set(keys)) == len(keys)


def test_the_readability_preset_is_rounds_of_ten_with_stars_then_ranks_then_criteria():
    scheme = scheme_of("readability")
    assert (scheme.round_size, scheme.rank_after_round, scheme.criteria_from) == (10, True, "expert")
    assert scheme.questions[0].steps == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert set(scheme.per_group) == {"expert", "novice"}


@pytest.mark.parametrize(("preset", "widgets"), [("da", ["slider"]), ("esa", ["spans", "slider"]), ("mqm", ["spans"])])
def test_translation_presets_ask_for_spans_and_sliders_in_document_context_with_controls(preset, widgets):
    scheme = scheme_of(preset)
    assert [question.widget for question in scheme.questions] == widgets
    assert scheme.together == ("system", "document")
    assert scheme.checks.share > 0
    sliders = [question for question in scheme.questions if question.widget == "slider"]
    assert all((question.lo, question.hi) == (0, 100) for question in sliders)
    spans = [question for question in scheme.questions if question.widget == "spans"]
    assert all(len(question.severities) >= 2 for question in spans)


def test_what_the_user_writes_stands_over_the_preset():
    scheme = scheme_of("relevance", '[combine]\nrule = "dawid-skene"\n', per_item=5)
    assert (scheme.per_item, scheme.combine.rule, scheme.combine.tie) == (5, "dawid-skene", "N")


def test_groups_of_the_user_replace_those_of_the_preset():
    assert scheme_of("readability", "[groups]\nexpert = 3\nnovice = 20\n").per_group == {"expert": 3, "novice": 20}


def test_a_new_kind_of_judging_needs_no_code():
    text = HEAD + CONSENT + '[[questions]]\nid = "tone"\nwidget = "scale"\ntitle = "How polite?"\nlo = -2\nhi = 2\n'
    scheme, problems = read_scheme(text)
    assert problems == ()
    assert scheme is not None
    assert scheme.questions[0].steps == (-2.0, -1.0, 0.0, 1.0, 2.0)


def test_all_problems_come_at_once_each_with_its_line_and_cure():
    text = (
        HEAD
        + 'preset = "likert"\nper_itm = 3\nround_size = 0\n'
        + '[pay]\nper_item = 1\n[combine]\nrule = "majority"\n[adjudicate]\nwhen = "sometimes"\n'
    )
    scheme, problems = read_scheme(text, "mine.toml")
    assert scheme is None
    found = {(problem.line, problem.rule) for problem in problems}
    assert found == {(4, "R-2"), (5, "R-2"), (6, "P-22"), (9, "R-2"), (11, "R-2")}
    assert all(problem.fix and problem.file == "mine.toml" for problem in problems)


def test_a_preset_that_is_not_known_is_told_with_the_nearest_and_without_what_it_would_have_said():
    scheme, problems = read_scheme(HEAD + 'preset = "readabilty"\nper_itm = 3\n')
    assert scheme is None
    assert [(problem.line, problem.fix) for problem in problems] == [
        (3, "Did you mean 'readability'?"),
        (4, "Did you mean 'per_item'?"),
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[checks]\nshare = 0.1\n", "a ranked round cannot contain hidden checks"),
        ('keep_apart = ["query"]\n', "`keep_apart` cannot be kept in ranked rounds"),
        ('together = ["document"]\n', "`together` cannot be kept in ranked rounds"),
        ("round_size = 1\n", "a round of one cannot be ranked"),
        ('files = ["mqm"]\n', "nothing that is asked could become 'mqm'"),
        ('files = ["nothing"]\n', "there is no file 'nothing'"),
        ('shows = ["picture"]\n', "there is no block 'picture'"),
        ('languages = ["not a tag"]\n', "'not a tag' is not a tag of a language"),
        ("[groups]\nteachers = 3\n", "there is no group 'teachers'"),
        ("[groups]\nnovice = 3\n", "nobody is in the group 'expert' that lists criteria"),
        ('[combine]\nrule = "majority"\n', "majority needs a choice, and 'rating' is stars"),
        ('[combine]\nquestion = "x"\n', "there is no question 'x' to combine"),
        ('[combine]\ntie = "yes"\n', "a tie cannot become 'yes'"),
        ('[consent]\nversion = ""\n', "consent has no version"),
        ("[pay]\nper_item = 1\nper_hour = 2\n", "pay is both by item and by hour"),
        ('[pay]\nper_hour = 5\nfloor = 12\ncurrency = "EUR"\n', "5 per hour is below the floor"),
        ("pairwise = true\n", "pairwise judging has no question which side is better"),
    ],
)
def test_contradictions_are_named(more, words):
    top, _, tables = more.partition("[")
    scheme, problems = read_scheme(HEAD + 'preset = "readability"\n' + top + (_ and "[" + tables))
    assert scheme is None
    assert words in [problem.message for problem in problems]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('id = "a"\nwidget = "stars"\ntitle = "t"\nlo = 5\nhi = 1\n', "`hi` of question 'a' is not above `lo`"),
        ('id = "a"\nwidget = "stars"\ntitle = "t"\nstep = 0.3\n', "steps of 0.3 from 1 do not end at 5"),
        ('id = "a"\nwidget = "stars"\ntitle = "t"\nhi = 100\n', "question 'a' has 100 steps"),
        ('id = "a"\nwidget = "stars"\ntitle = "t"\nlabels = ["x", "y", "z"]\n', "question 'a' has 3 labels"),
        ('id = "a"\nwidget = "dial"\ntitle = "t"\n', "`widget` of question 'a' is unknown"),
        ('id = "a"\ntitle = "t"\n', "question 'a' does not say how it is asked"),
        ('id = "a b"\nwidget = "text"\ntitle = "t"\n', "`id` cannot be part of a file's name"),
        ('id = "a"\nwidget = "spans"\ntitle = "t"\n', "question 'a' has no severities"),
        ('id = "a"\nwidget = "choice"\ntitle = "t"\n', "question 'a' has 0 options; at least 2 are needed"),
    ],
)
def test_questions_that_cannot_be_asked_are_named(question, words):
    scheme, problems = read_scheme(HEAD + CONSENT + "[[questions]]\n" + question)
    assert scheme is None
    assert words in [problem.message for problem in problems]


def test_two_answers_with_one_key_are_told():
    options = 'options = [{value = "x", key = "k"}, {value = "y", key = "k"}]\n'
    text = '[[questions]]\nid = "a"\nwidget = "choice"\ntitle = "t"\n' + options
    scheme, problems = read_scheme(HEAD + CONSENT + text)
    assert scheme is None
    assert "the key 'k' gives two answers" in [problem.message for problem in problems]


@pytest.mark.parametrize(
    ("key", "words"),
    [("u", "the key 'u' has a meaning of its own on the page"), ("3", "the key '3' gives two answers")],
)
def test_keys_of_the_page_and_of_stars_cannot_be_taken(key, words):
    stars = '[[questions]]\nid = "r"\nwidget = "stars"\ntitle = "t"\n'
    options = f'options = [{{value = "x", key = "{key}"}}, {{value = "y"}}]\n'
    choice = '[[questions]]\nid = "a"\nwidget = "choice"\ntitle = "t"\n' + options
    scheme, problems = read_scheme(HEAD + CONSENT + stars + choice)
    assert scheme is None
    assert words in [problem.message for problem in problems]


def test_instructions_of_a_scheme_keep_no_script_link_picture_or_style():
    wild = (
        "<b>Read</b><script>alert(1)</script><a href='http://x'>on</a><img src=x><span style='font-size:90px'>s</span>"
    )
    scheme = scheme_of("binary", instructions=wild.replace("'", ""))
    assert scheme.instructions.startswith("<b>Read</b>")
    assert not any(word in scheme.instructions for word in ("script", "href", "img", "style"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "[[[[",
        "a = " + "[" * 200,
        "format = 3",
        "x" * (1 << 21),
        'format = "basanite-judging/1"\n' + "[a." * 99,
    ],
    ids=["empty", "nul", "brackets", "deep", "format", "huge", "dots"],
)
def test_what_is_no_scheme_at_all_is_a_problem_and_never_an_error(text):
    scheme, problems = read_scheme(text)
    assert scheme is None
    assert problems
    assert all(problem.fix for problem in problems)


def test_presets_can_be_had_as_text_to_start_from():
    assert all(preset_text(name).startswith("format = ") for name in PRESETS)
