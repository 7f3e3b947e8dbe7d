"""Searching the corpus: the right documents, in every script, for those who may read them, and logged (R-27)."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import select
from tests.campaign.work.reading.small_package import TEST, TRAIN

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.tables import ReadingSearch
from basanite.campaign.work.reading.fulltext import Text, index, plain
from basanite.campaign.work.reading.services import Search, find_in, search

WORDS = ("bears", "Lions", "über", "naïve", "5", "don't", "ΣΊΣΥΦΟΣ", "end")


def looked(reading, who, words, limit=20):
    wanted = Search(reading.package, words, limit)
    return reading.do(search, reading.acts(who), reading.season.campaign_id, wanted)


def test_whoever_answers_or_annotates_finds_sealed_texts_and_a_team_open_ones_alone(reading):
    everywhere = {hit.document for hit in looked(reading, "anna", "the", limit=50)}
    open_ones = {hit.document for hit in looked(reading, "ada", "the", limit=50)}
    assert everywhere & set(TEST)
    assert open_ones
    assert open_ones <= set(TRAIN)
    assert {hit.document for hit in looked(reading, "judy", "the", limit=50)} == everywhere


def test_every_search_is_written_down(reading):
    looked(reading, "anna", "overtime")
    looked(reading, "ada", "no such words")
    with reading.office.reading() as session:
        rows = session.scalars(select(ReadingSearch).order_by(ReadingSearch.text)).all()
    assert [(row.person_id, row.text, row.hits > 0) for row in rows] == [
        (reading.person("ada"), "no such words", False),
        (reading.person("anna"), "overtime", True),
    ]


def test_who_is_nobody_in_the_campaign_finds_nothing(reading):
    with pytest.raises(RefusedError):
        reading.do(search, reading.acts("eva"), "another campaign", Search(reading.package, "game"))


def test_hits_are_the_documents_that_hold_every_word_by_brute_force():
    dice = random.Random(7)
    texts = [Text(f"d{n}", "p", " ".join(dice.choices(WORDS, k=dice.randint(1, 9)))) for n in range(80)]
    made = index(texts)
    for _ in range(60):
        asked = dice.sample(WORDS, k=dice.randint(1, 3))
        wanted = {t.name for t in texts if all(plain(w) in [plain(x) for x in t.text.split()] for w in asked)}
        found = made.search(" ".join(word.upper() for word in asked), limit=1000)
        assert {hit.document for hit in found} == wanted
        phrase = " ".join(asked)
        together = {t.name for t in texts if f" {plain(phrase)} " in f" {plain(t.text)} "}
        assert {hit.document for hit in made.search(f'"{phrase}"', limit=1000)} == together


@pytest.mark.parametrize(
    ("text", "question", "exact"),
    [
        ("😀 The Ravens won.", "ravens", "Ravens"),
        ("e\u0301te\u0301 is summer", "summer", "summer"),
        ("東京タワーは高い", "タワー", "東京タワーは高い"),
        ("فاز الفريق في المباراة", "الفريق", "الفريق"),
        ("Straße", "STRASSE", "Straße"),
        ("touchdowns", "touch*", "touchdowns"),
    ],
    ids=["emoji", "combining", "no-spaces", "right-to-left", "folding", "beginning"],
)
def test_positions_count_code_points_in_every_script(text, question, exact):
    (hit,) = find_in([Text("d", "p", text)], question)
    assert hit.exact == exact
    assert text[hit.start : hit.end] == exact


@pytest.mark.parametrize("question", ["", " ", '""', "!!!", "*", '"', "\0", "x" * 100_000, '" ' * 1000])
def test_odd_questions_find_nothing_and_break_nothing(question):
    assert find_in([Text("d", "p", "some words")], question) == ()


def test_rare_words_count_for_more_and_ties_go_by_name():
    texts = [Text("b", "p", "common rare"), Text("a", "p", "common rare"), Text("c", "p", "common common other")]
    assert [hit.document for hit in find_in(texts, "common")][:1] == ["c"]
    assert [hit.document for hit in find_in(texts, "rare")] == ["a", "b"]
