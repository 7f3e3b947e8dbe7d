"""Numbers as English words, so that "42" and "forty two" are the same in a transcript.

Whole numbers up to 999,999,999,999 and decimals; longer ones digit by digit. Years, dates, ordinals, times and sums of
money are read in many ways and are not guessed at.
"""

from __future__ import annotations

from typing import Final

SMALL: Final = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
GROUPS: Final = ("", "thousand", "million", "billion")
LONGEST: Final = 3 * len(GROUPS)


def in_words(digits: str) -> str:
    """A number written in figures, as words.

    >>> in_words("1001"), in_words("0.25"), in_words("007")
    ('one thousand one', 'zero point two five', 'zero zero seven')
    """
    whole, point, rest = digits.partition(".")
    spelled = _spelled(whole) if len(whole) > LONGEST or (len(whole) > 1 and whole[0] == "0") else _whole(int(whole))
    return f"{spelled} point {_spelled(rest)}" if point else spelled


def _spelled(digits: str) -> str:
    return " ".join(SMALL[int(digit)] for digit in digits)


def _whole(number: int) -> str:
    groups = [(number // 1000**power % 1000, name) for power, name in enumerate(GROUPS)][::-1]
    words = [f"{_hundreds(size)} {name}".rstrip() for size, name in groups if size]
    return " ".join(words) or SMALL[0]


def _hundreds(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{SMALL[hundreds]} hundred"] if hundreds else []
    if rest:
        words.append(SMALL[rest] if rest < len(SMALL) else " ".join(_tens(rest)))
    return " ".join(words)


def _tens(number: int) -> list[str]:
    tens, ones = divmod(number, 10)
    return [TENS[tens - 2], SMALL[ones]] if ones else [TENS[tens - 2]]
