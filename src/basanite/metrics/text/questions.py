"""Answers to questions about pictures and texts: how far they agree with those of people (T-20).

Five rules say when an answer is right. `vqa`: the share of people who said the same, one of them left out each time;
three are enough (Antol et al. 2015). `squad1` and `squad2`: the same words as any answer of people, articles and
punctuation aside (Rajpurkar et al. 2016, 2018); they differ in answers of which nothing is left. `choice`: the same
option. `number`: the same number. Answers become comparable as the evaluation code of each data set makes them so,
oddities included: values are compared with published ones.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

import numpy as np

from basanite.kernel import SHARE, Metric, Rows, column_ratio

VQA, SQUAD_1, SQUAD_2, CHOICE, NUMBER = "vqa", "squad1", "squad2", "choice", "number"
ENOUGH: Final = 3
"""People who have to say the same for an answer to be right."""
COLUMNS: Final = ("accuracy", "exact_match", "f1", "questions")
ANTOL = "Antol et al., VQA: visual question answering, ICCV 2015"
RAJPURKAR = (
    "Rajpurkar, Zhang, Lopyrev and Liang, SQuAD: 100,000+ questions for machine comprehension of text, EMNLP 2016; "
    "Rajpurkar, Jia and Liang, Know what you don't know: unanswerable questions for SQuAD, ACL 2018"
)


@dataclass(frozen=True)
class Answers:
    """Questions with a system's answer and those that count as right, perhaps the same one several times."""

    units: Sequence[str]
    given: Sequence[str]
    accepted: Sequence[Sequence[str]]


NUMBERS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS: Final[Mapping[str, str]] = {**{word: str(at) for at, word in enumerate(NUMBERS)}, "none": "0"}
ARTICLES: Final = frozenset(("a", "an", "the"))
MARKS: Final = ';/[]"{}()=+\\_-><@`,?!'
PERIODS: Final = 32
"""Periods that are taken away, counted from the left: the evaluation code hands a flag over where a number belongs."""
_CONTRACTED: Final = """
'ow's'at 'twas ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't
haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am might've mightn't mightn't've
must've mustn't needn't not've o'clock oughtn't shan't she'd've should've shouldn't shouldn't've somebody'd've
somebody'll somebody's someone'd someone'd've someone'll someone's something'd something'd've something'll
that's there'd there'd've there're there's they'd they'd've they'll they're they've wasn't we'd've we've
weren't what'll what're what's what've when's where'd where's where've who'd who'd've who'll who's who've
why'll why're why's won't would've wouldn't wouldn't've y'all y'all'd've y'all'll you'd you'd've you'll you're
you've
"""
CONTRACTIONS: Final[Mapping[str, str]] = {
    **{word[:at] + word[at + 1 :]: word for word in _CONTRACTED.split() for at, sign in enumerate(word) if sign == "'"},
    "somebody'd": "somebodyd",
}
"""Words with one apostrophe too few and what they become, in lower case; one becomes shorter."""
_COMMA_IN_NUMBER: Final = re.compile(r"\d,\d")
_PERIOD: Final = re.compile(r"\.(?!\d)")
_SQUAD_MARKS: Final = str.maketrans("", "", string.punctuation)
_SQUAD_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


@lru_cache(maxsize=1 << 18)
def vqa_answer(text: str) -> str:
    """An answer as the evaluation code of VQA compares it: punctuation, number words, articles and contractions.

    >>> vqa_answer("The two dogs!"), vqa_answer("It isnt a U.S. flag"), vqa_answer("1,000"), vqa_answer("black-white")
    ('2 dogs', "it isn't us flag", '1000', 'black white')
    """
    numeric, made = bool(_COMMA_IN_NUMBER.search(text)), text
    for mark in MARKS:
        apart = numeric or f"{mark} " in text or f" {mark}" in text
        made = made.replace(mark, "" if apart else " ")
    words = _PERIOD.sub("", made, count=PERIODS).lower().split()
    kept = (word for word in (WORDS.get(word, word) for word in words) if word not in ARTICLES)
    return " ".join(CONTRACTIONS.get(word, word) for word in kept)


@lru_cache(maxsize=1 << 18)
def squad_answer(text: str) -> str:
    """An answer as the evaluation code of SQuAD compares it: lower case, without punctuation and articles.

    >>> squad_answer("The Panthers' defense."), squad_answer("an A-frame")
    ('panthers defense', 'aframe')
    """
    return " ".join(_SQUAD_ARTICLES.sub(" ", text.lower().translate(_SQUAD_MARKS)).split())


def consensus(given: str, people: Sequence[str]) -> float:
    """VQA's accuracy of one answer: the mean, over people left out in turn, of min(1, agreeing others / 3).

    Where all people wrote the same, nothing but white space at the ends is changed: that is how VQA's code does it.

    >>> consensus("2", ["two", "2"] + ["3"] * 8), consensus("3 ", ["two", "2"] + ["3"] * 8)
    (0.6, 1.0)
    >>> consensus("Yes", ["yes"] * 10)
    0.0
    """
    said, others = _trim(given), [_trim(text) for text in people]
    if len(set(others)) > 1:
        said, others = vqa_answer(said), [vqa_answer(text) for text in others]
    agreeing = others.count(said)
    apart = (len(others) - agreeing) * min(1.0, agreeing / ENOUGH)
    return (agreeing * min(1.0, (agreeing - 1) / ENOUGH) + apart) / len(others)


def _trim(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ").strip()


def squad_scores(given: str, accepted: Sequence[str], *, rule: str = SQUAD_2) -> tuple[float, float]:
    """SQuAD's exact match and F of words with the best of the accepted answers.

    By `squad2` no answer, or one of which nothing is left, is right where that is what people said.

    >>> squad_scores("the big red dog", ["A red dog", "dog"])
    (0.0, 0.8)
    >>> squad_scores("", []), squad_scores("dog", [])
    ((1.0, 1.0), (0.0, 0.0))
    """
    found = squad_answer(given)
    wanted = [squad_answer(text) for text in accepted]
    if rule == SQUAD_2:
        wanted = [text for text in wanted if text] or [""]
    exact = float(found in wanted)
    return exact, max((_word_f(found, text, rule) for text in wanted), default=0.0)


def _word_f(found: str, wanted: str, rule: str) -> float:
    """F of the words of two answers; two without any word agree by `squad2` alone."""
    words, others = found.split(), wanted.split()
    if not words or not others:
        return float(rule == SQUAD_2 and words == others)
    shared = sum((Counter(words) & Counter(others)).values())
    return 2 * shared / (len(words) + len(others))


_NUMBER: Final = re.compile(
    r"[$€£¥]?\s*([-+\u2212]?)\s*[$€£¥]?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(e[-+]?\d{1,3})?\s*[%$€£¥]?\.?",
    re.I,
)
_FRACTION: Final = re.compile(r"([-+\u2212]?)\s*(\d{1,15})\s*/\s*(\d{1,15})\.?")


def number_in(text: str) -> float | None:
    """The number that an answer is; None where it is anything else. Signs of money and percent do not count.

    >>> [number_in(text) for text in ("1,250.50", "-3e2", "$12.", "1/8", "12%", "12 apples", "1,2")]
    [1250.5, -300.0, 12.0, 0.125, 12.0, None, None]
    """
    text = text.strip()
    if found := _FRACTION.fullmatch(text):
        value = int(found[2]) / int(found[3]) if int(found[3]) else math.inf
    elif found := _NUMBER.fullmatch(text):
        value = float(found[2].replace(",", "") + (found[3] or ""))
    else:
        return None
    return None if math.isinf(value) else -value if found[1] in ("-", "\u2212") else value


def is_same_number(given: str, accepted: Sequence[str], tolerance: float = 0.0) -> bool:
    """Whether an answer is one of the right numbers, or no farther from it than the tolerance.

    >>> is_same_number("3.14", ["3.14159"]), is_same_number("3.14", ["3.14159"], 0.01), is_same_number("0.3", ["3e-1"])
    (False, True, True)
    """
    found = number_in(given)
    wanted = [number for text in accepted if (number := number_in(text)) is not None]
    return found is not None and any(abs(found - one) <= tolerance + 1e-12 * abs(one) for one in wanted)


def _number_row(given: str, accepted: Sequence[str], tolerance: float = 0.0) -> tuple[float, float, float]:
    return float(is_same_number(given, accepted, tolerance)), 0.0, 0.0


def _consensus_row(given: str, accepted: Sequence[str]) -> tuple[float, float, float]:
    return consensus(given, accepted), 0.0, 0.0


def _squad_row(given: str, accepted: Sequence[str], rule: str) -> tuple[float, float, float]:
    exact, f = squad_scores(given, accepted, rule=rule)
    return exact, exact, f


def _choice_row(given: str, accepted: Sequence[str]) -> tuple[float, float, float]:
    return float(given in accepted), 0.0, 0.0


RULES: Final[Mapping[str, Callable[[str, Sequence[str]], tuple[float, float, float]]]] = {
    VQA: _consensus_row,
    SQUAD_1: partial(_squad_row, rule=SQUAD_1),
    SQUAD_2: partial(_squad_row, rule=SQUAD_2),
    CHOICE: _choice_row,
    NUMBER: _number_row,
}
"""What accuracy, exact match and F a question adds by each rule; 0 for those that a rule does not have."""


def answer_rows(block: Answers, *, rule: str = VQA, tolerance: float = 0.0) -> Rows:
    """What each question contributes: its score by the rule, exact match, F, and 1."""
    score = partial(_number_row, tolerance=tolerance) if rule == NUMBER else RULES[rule]
    pairs = zip(block.given, block.accepted, strict=True)
    rows = [(*score(given, accepted), 1.0) for given, accepted in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(block.units), len(COLUMNS))


squad_rows = partial(answer_rows, rule=SQUAD_2)


ACCURACY = Metric(
    name="accuracy",
    title="Accuracy",
    summary="Mean share of correct answers: human consensus (VQA), exact match (SQuAD), the correct option or number",
    citation=ANTOL,
    family="questions",
    statistics=answer_rows,
    reduce=partial(column_ratio, top=0, bottom=3),
    range=SHARE,
    columns=COLUMNS,
    unit="question",
    linear=True,
    shared_name=True,
)
EXACT_MATCH = replace(
    ACCURACY,
    name="exact_match",
    title="Exact match",
    summary="Share of answers with the same words as a human answer, ignoring articles and punctuation",
    citation=RAJPURKAR,
    statistics=squad_rows,
    reduce=partial(column_ratio, top=1, bottom=3),
    proportion=True,
    interval="wilson",
    shared_name=False,
)
F1 = replace(
    ACCURACY,
    name="f1",
    title="F1",
    summary="Mean word F1 of an answer and the closest human answer, ignoring articles and punctuation",
    citation=RAJPURKAR,
    statistics=squad_rows,
    reduce=partial(column_ratio, top=2, bottom=3),
)
METRICS: Final = (ACCURACY, EXACT_MATCH, F1)


def metrics_of(rule: str) -> tuple[Metric, ...]:
    """The metrics that a rule has; where every answer is right or wrong, accuracy is a proportion."""
    if rule == VQA:
        return (ACCURACY,)
    right = replace(ACCURACY, proportion=True, interval="wilson")
    return (right,) if rule in (CHOICE, NUMBER) else (right, EXACT_MATCH, F1)
