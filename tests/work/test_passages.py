"""Passages: marks removed by genre and logged, vetting with reasons, samples and rounds in balance (R-1)."""

from __future__ import annotations

from collections import Counter
from itertools import count
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work.making import new_ids

from basanite.work.passages import (
    Bounds,
    Passage,
    Wishes,
    files_of,
    genres,
    items_of,
    marks,
    prepare,
    read_pool,
    sift_passages,
    without_marks,
)

PLAIN = "Rain fell on the town all day, and nobody went out."
MARKED = {
    "newswire": (
        f"PARIS, March 3 (AFN) -- {PLAIN}\nBy Jane Q. Doe, Staff Writer\n"
        "(Reporting by A. Bee; Editing by C. Dee)\n-30-\n(c) 2009 AFN",
        {"dateline", "by-line", "credits", "end mark", "copyright"},
    ),
    "weblog": (
        f"Posted by Jo at 10:30\n{PLAIN} #rain @friend http://example.org/x :-)\nRead more here",
        {"posting line", "hashtag", "mention", "address", "smiley", "read more"},
    ),
    "forum": (
        f"Jo wrote:\n> it is dry\n[quote=Al]no[/quote]\n{PLAIN}\n-- \nJo, the rain man",
        {"reply head", "quoted reply", "quote block", "signature"},
    ),
    "encyclopaedia": (
        "== Weather ==\n{{Infobox}}'''Rain''' [[File:r.jpg|x]] "
        + PLAIN.replace("town", "[[Town|town]]")
        + "<ref name=a>b</ref>[1]",
        {"heading", "template", "emphasis", "picture", "wiki link", "reference", "citation number"},
    ),
    "broadcast": (
        f"ANCHOR: {PLAIN} JANE DOE, CORRESPONDENT (voice-over): (APPLAUSE)",
        {"speaker label", "sound"},
    ),
    "captions": (
        f"12\n00:01:02,500 --> 00:01:04,000\n>> {PLAIN.upper()} [MUSIC] ♪",
        {"time code", "speaker change", "sound", "music note", "capitals throughout"},
    ),
    "mt": (f"{PLAIN.replace('town', 'to@@ wn')} <unk> &quot;", {"joiner", "unknown word", "entity"}),
}


@pytest.mark.parametrize("genre", MARKED)
def test_the_marks_of_each_genre_are_removed_and_logged(genre):
    marked, names = MARKED[genre]
    text, removed = without_marks("p", marked, genre)
    assert {each.rule for each in removed} == names
    assert PLAIN in text
    assert text.replace(PLAIN, "").strip(' "') in ("", "Rain", "Weather")
    assert all(each.times >= 1 and each.first and each.passage == "p" for each in removed)


@pytest.mark.parametrize("genre", sorted(genres()))
def test_running_text_without_marks_stays_as_it_is(genre):
    plain = (
        "By the river, Ms. Doe said: it rains. (It does.) I wrote 3 > 2 - and #1 was first; A.B. Smith left at 10:30."
    )
    kept = plain if genre not in ("weblog", "forum") else plain.replace("#1 ", "")
    assert without_marks("p", plain, genre)[0] == kept


def test_every_genre_of_the_plan_has_marks():
    assert genres() == set(MARKED)
    assert len({mark.name for mark in marks()}) == len(marks())


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=" \n\t>[]{}<|='#@:;-A1.a", max_size=400), st.sampled_from(sorted(MARKED)))
def test_any_text_is_cleaned_without_an_error(text, genre):
    without_marks("p", text, genre)


@pytest.mark.parametrize("piece", [" ", "\n", "[", "[[", "{{", "<ref", ">", "A ", "a@", "'", "="])
def test_long_runs_of_marks_take_no_long_time(piece):
    without_marks("p", piece * (20_000 // len(piece)), "encyclopaedia")
    without_marks("p", piece * (20_000 // len(piece)), "newswire")
    without_marks("p", piece * (20_000 // len(piece)), "broadcast")


def passage(number, genre="newswire", topic="", words=60):
    return Passage(
        f"p{number:03d}",
        " ".join(f"word{chr(97 + (number * 7 + at) % 26)}x{number}" for at in range(words)) + ".",
        genre,
        topic,
    )


def test_vetting_says_why_a_passage_is_not_fit():
    pool = [
        passage(1),
        passage(2, words=5),
        passage(3, words=900),
        Passage("table", "12 13 14 | " * 40 + "a b c d e f g " * 5, "newswire"),
        Passage("twin", passage(1).text.upper(), "newswire"),
    ]
    kept, dropped = sift_passages(pool, Bounds())
    assert [each.name for each in kept] == ["p001"]
    assert [(each.passage, each.reason) for each in dropped] == [
        ("p002", "5 words, fewer than 30"),
        ("p003", "900 words, more than 400"),
        ("table", "11% letters: a table or a list, no running text"),
        ("twin", "the same text as 'p001'"),
    ]


def pool(count_of):
    numbers = count()
    return [
        passage(next(numbers), genre, topic)
        for genre, topics in count_of.items()
        for topic, size in topics.items()
        for _ in range(size)
    ]


def test_a_prepared_set_has_the_wanted_number_of_each_genre_in_balanced_rounds_of_ten():
    given_pool = pool(
        {"newswire": {"a": 20, "b": 13}, "weblog": {"a": 9, "c": 22}, "forum": {"b": 25}, "mt": {"c": 30}}
    )
    prepared = prepare(given_pool, Wishes(per_genre=20, test_share=0.5, seed=3))
    assert Counter(each.genre for each in prepared.passages) == {"newswire": 20, "weblog": 20, "forum": 20, "mt": 20}
    assert Counter(each.split for each in prepared.passages) == {"train": 40, "test": 40}
    rounds = Counter(each.round for each in prepared.passages)
    assert len(rounds) == 8
    assert set(rounds.values()) == {10}
    for fact in ("genre", "topic"):
        for split in ("train", "test"):
            in_balance(prepared.passages, [each for each in prepared.passages if each.split == split], fact, 2)
            mine = [each for each in prepared.passages if each.split == split]
            for name in {each.round for each in mine}:
                in_balance(mine, [each for each in mine if each.round == name], fact, 4)
    assert len(prepared.dropped) == len(given_pool) - 80
    assert {each.step for each in prepared.dropped} == {"sampling"}


def in_balance(whole, part, fact, parts):
    for value, times in Counter(getattr(each, fact) for each in whole).items():
        found = sum(getattr(each, fact) == value for each in part)
        assert floor(times / parts) <= found <= ceil(times / parts)


def test_topics_keep_their_shares_when_a_genre_is_sampled_down():
    prepared = prepare(pool({"forum": {"a": 30, "b": 10}}), Wishes(per_genre=8))
    assert Counter(each.topic for each in prepared.passages) == {"a": 6, "b": 2}


def test_the_same_seed_prepares_the_same_set():
    given_pool = pool({"forum": {"a": 30, "b": 10}})
    assert prepare(given_pool, Wishes(per_genre=8, seed=1)) == prepare(given_pool, Wishes(per_genre=8, seed=1))
    assert prepare(given_pool, Wishes(per_genre=8, seed=1)) != prepare(given_pool, Wishes(per_genre=8, seed=2))


def test_what_could_not_be_done_as_wished_is_noted():
    prepared = prepare([passage(1, "poetry"), passage(2, "mt")], Wishes(per_genre=5))
    assert prepared.notes == (
        "mt: 1 of the 5 wanted passages are fit",
        "no marks are known for the genre 'poetry': only what all genres have was removed",
        "poetry: 1 of the 5 wanted passages are fit",
        "1 of 1 train rounds have fewer than 10 passages",
    )


def test_prepared_passages_become_items_that_show_the_text_alone():
    prepared = prepare([passage(1, "mt", "a")], Wishes())
    (item,) = items_of(prepared.passages, new_id=new_ids().__next__)
    assert [block.kind for block in item.blocks] == ["text"]
    assert item.facts["genre"] == "mt"
    assert item.facts["round"].startswith(prepared.passages[0].split)


def test_a_pool_is_read_with_every_fault_by_line(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("passage,genre,topic,text\np1,MT,a,Some text\np1,,a,Some\n,mt,a,\n")
    passages, findings = read_pool(path)
    assert passages == ()
    assert [(problem.line, problem.message) for problem in findings] == [
        (3, "the passage already appears on line 2"),
        (3, "the passage has no genre"),
        (4, "the passage has no name, or a very long one"),
        (4, "the text has 0 characters"),
    ]
    path.write_text("passage,genre,topic,text\np1,MT,a,Some text\n")
    assert read_pool(path)[0] == (Passage("p1", "Some text", "mt", "a"),)


def test_files_of_a_prepared_set_hold_passages_and_both_logs():
    prepared = prepare(
        [
            Passage("p", f"PARIS (AFN) -- {PLAIN} " + "And so it went on for hours. " * 6, "newswire"),
            passage(1, words=3),
        ],
        Wishes(),
    )
    made = files_of(prepared)
    assert made["passages.csv"].startswith(b"passage,genre,topic,split,round,text\np,newswire,")
    assert b"p,dateline,1,PARIS (AFN) --" in made["removed.csv"]
    assert b'vetting,"3 words, fewer than 30"' in made["dropped.csv"]
