"""Normalisers take away what they say and nothing else."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from basanite.errors import SettingError, UnreadableError
from basanite.formats.texts.normalisers import (
    NORMALISERS,
    Mapper,
    basic,
    english,
    in_words,
    nfc,
    normaliser,
    read_mapper,
)
from basanite.problems import Findings


def mapped(tmp_path, text, *, name="basic"):
    path, findings = tmp_path / "rules.glm", Findings()
    path.write_text(text, encoding="utf-8")
    return read_mapper(path, findings, name=name, rule="T-6"), findings


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("none", " A  b, ", " A  b, "),
        ("nfc", "Cafe\u0301 A", "Café A"),
        ("basic", "Hello,  WORLD!", "hello world"),
        ("basic", "Straße", "strasse"),
        ("basic", "rock-'n'-roll 'quoted' - end-", "rock n roll quoted end"),
        ("basic", "don’t", "don't"),
        ("basic", "می\u200cروم", "می\u200cروم"),
        ("basic", "新年，快乐！", "新年 快乐"),
        ("basic", "a\u202eb\u0000c", "ab c"),
        (
            "english",
            "Um, we won't pay $1,250, or 3.5%.",
            "we will not pay one thousand two hundred fifty or three point five",
        ),
        ("english", "They're John's; I'd go in 42 days", "they are john's i'd go in forty two days"),
        ("english", "uh'll they'd've I shan't", "will they'd have i shall not"),
        ("english", "version 1.2.3", "version one two three"),
    ],
)
def test_a_normaliser_does_what_its_line_says(name, text, wanted):
    assert NORMALISERS[name](text) == wanted


@example("_'a")
@example("e\N{SOFT HYPHEN}\N{COMBINING ACUTE ACCENT}")
@example("1\N{LATIN SMALL LETTER N PRECEDED BY APOSTROPHE}")
@example("x-1n't")
@example("1.5'll-a2,000")
@example("they'll've'll've'll've")
@given(st.text(max_size=60))
def test_normalising_twice_is_normalising_once(text):
    for normalise in (nfc, basic, english):
        once = normalise(text)
        assert normalise(once) == once


@given(st.integers(0, 999_999_999_999))
def test_numbers_in_words_can_be_read_back(number):
    assert read_back(in_words(str(number))) == number


def read_back(words):
    values = {in_words(str(n)): n for n in (*range(20), *range(20, 100, 10))}
    total = group = 0
    for word in words.split():
        if word == "hundred":
            group *= 100
        elif word in ("thousand", "million", "billion"):
            total, group = total + group * {"thousand": 10**3, "million": 10**6, "billion": 10**9}[word], 0
        else:
            group += values[word]
    return total + group


def test_numbers_too_long_or_with_a_leading_zero_are_spelled_out():
    assert in_words("007") == "zero zero seven"
    assert in_words("1" * 13) == " ".join(["one"] * 13)


def test_a_users_own_rules_follow_the_normaliser(tmp_path):
    mapper, findings = mapped(tmp_path, ";; mine\n# too\nGray => grey\n[MM HM] => \ncan not => cannot\n")
    assert findings.valid
    assert normaliser("basic", mapper)("Mm, hm: a GRAY cat can NOT.") == "a grey cat cannot"


def test_the_longest_rule_wins_and_what_is_written_is_not_read_again(tmp_path):
    mapper, _ = mapped(tmp_path, "a => b\nb => c\na b c => x\n")
    assert mapper("a b a b c") == "b c x"


def test_rules_that_cannot_be_understood_are_all_reported(tmp_path):
    _, findings = mapped(tmp_path, "no arrow\n => x\na => b => c\nq => r\nq => s\n")
    assert [(problem.rule, problem.line) for problem in findings.problems] == [("T-6", n) for n in (1, 2, 3, 5)]
    assert not findings.valid


def test_rules_have_a_digest_that_changes_with_them(tmp_path):
    first, second = mapped(tmp_path, "a => b\n")[0], mapped(tmp_path, "a => c\n")[0]
    assert first.digest != second.digest
    assert first.digest.startswith("sha256:")


def test_a_file_of_rules_that_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / "latin.glm").write_bytes(b"caf\xe9 => x")
    with pytest.raises(SettingError, match="UTF-8"):
        read_mapper(tmp_path / "latin.glm", Findings(), name="none", rule="T-6")
    with pytest.raises(UnreadableError):
        read_mapper(tmp_path / "missing", Findings(), name="none", rule="T-6")


def test_applying_many_rules_to_a_long_text_stays_linear():
    rng = random.Random(0)
    mapper = Mapper({(f"w{n}", f"w{n + 1}"): ("x",) for n in range(2000)}, "")
    words = [f"w{rng.randrange(3000)}" for _ in range(50_000)]
    assert len(mapper(" ".join(words)).split()) <= 50_000


def test_a_word_of_ten_thousand_endings_is_only_a_long_word():
    assert english("would" + "n't" * 10_000).split()[-2:] == ["not", "not"]


def test_a_rule_of_too_many_words_is_refused(tmp_path):
    path, findings = tmp_path / "long.glm", Findings()
    path.write_text("w " * 101 + "=> x\n" + "w " * 100 + "=> y\n")
    rules = read_mapper(path, findings, name="none", rule="T-6").rules
    assert [problem.line for problem in findings.problems] == [1]
    assert list(map(len, rules)) == [100]
