"""Normalisers: what shall not count as a difference between two transcripts, taken away by name and never in silence.

| name | what it does |
|---|---|
| `none` | nothing |
| `nfc` | Unicode NFC, so that an accent composed and one combined are the same |
| `basic` | NFC, case folded, punctuation and symbols as spaces (' and - inside words are kept), spaces collapsed |
| `english` | `basic`; contractions written out, whole numbers and decimals as words, hesitations dropped |

A file of the user's own may follow, with one rule per line: `from => to`. Both sides are words; an empty right side
drops them. At each place the longest rule that fits is used, and what it wrote is not read again.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.texts.glm import Glm, is_glm, parse_glm
from basanite.problems import Findings, Problem, shortened

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
    spelled = (
        _digits_in_words(whole) if len(whole) > LONGEST or (len(whole) > 1 and whole[0] == "0") else _whole(int(whole))
    )
    return f"{spelled} point {_digits_in_words(rest)}" if point else spelled


def _digits_in_words(digits: str) -> str:
    return " ".join(SMALL[int(digit)] for digit in digits)


def _whole(number: int) -> str:
    groups = [(number // 1000**power % 1000, name) for power, name in enumerate(GROUPS)][::-1]
    words = [f"{_hundreds(size)} {name}".rstrip() for size, name in groups if size]
    return " ".join(words) or SMALL[0]


def _hundreds(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{SMALL[hundreds]} hundred"] if hundreds else []
    if rest:
        tens, ones = divmod(rest, 10)
        words += [SMALL[rest]] if rest < len(SMALL) else [TENS[tens - 2], *([SMALL[ones]] if ones else [])]
    return " ".join(words)


Words = tuple[str, ...]
Normalise = Callable[[str], str]

RULES_BYTES: Final = 16 << 20
COMMENTS: Final = (";;", "#")
ARROW: Final = "=>"
HESITATIONS: Final = frozenset({"uh", "um", "er", "erm", "eh", "ah", "hm", "hmm", "mm", "mhm", "uhm", "huh"})
CONTRACTIONS: Final = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "got to",
}
ENDINGS: Final = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}
"""Endings with one meaning; 's and 'd have several and stay."""
MOST_WORDS: Final = 100
"""Words on the left side of a rule: every place of a text is looked at once for each length."""

_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "＇": "'", "‐": "-", "‑": "-"})
_INSIDE = re.compile(r"(?<=[^\W_])['-](?=[^\W_])")
_NUMBER = re.compile(r"(?<![^\W_])(?<!\d[.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![^\W_]|[.,]\d)")
_LONGEST = max(map(len, CONTRACTIONS))
_JOINERS = "\u200c\u200d"


def nfc(text: str) -> str:
    """The text with every accent composed.

    >>> len(nfc("e" + chr(0x301)))
    1
    """
    return unicodedata.normalize("NFC", text)


def basic(text: str) -> str:
    """Case, punctuation and spaces taken away, in any language.

    >>> basic("Well -- it’s   half-past TWO, señor!")
    "well it's half-past two señor"
    """
    return _drop_marks(_fold(text))


def _fold(text: str) -> str:
    """One way to write each letter; what cannot be seen goes first, since it may keep a letter from its accent."""
    seen = "".join(char for char in text if char in _JOINERS or unicodedata.category(char) != "Cf")
    return nfc(nfc(seen).casefold().translate(_APOSTROPHES))


def _drop_marks(folded: str) -> str:
    """Marks and symbols as spaces, but ' and - inside words; spaces collapsed."""
    inside = {match.start() for match in _INSIDE.finditer(folded)}
    plain = (
        " " if at not in inside and char not in _JOINERS and unicodedata.category(char)[0] in "PSC" else char
        for at, char in enumerate(folded)
    )
    return " ".join("".join(plain).split())


def english(text: str) -> str:
    """`basic`, and what English writes in two ways written in one.

    >>> english("Uh, I can't pay 1,250 dollars. They're 3.5 percent up.")
    'i can not pay one thousand two hundred fifty dollars they are three point five percent up'
    """
    spelled = _spell_numbers(_spell_numbers(_fold(text)))  # the second for what punctuation held: the 5 of `a1.5`
    words = (written for word in spelled.split() for written in _write_out(word))
    return " ".join(word for word in words if word not in HESITATIONS)


def _spell_numbers(folded: str) -> str:
    """Numbers as words, then no more punctuation."""
    return _drop_marks(_NUMBER.sub(lambda match: f" {in_words(match.group().replace(',', ''))} ", folded))


def _write_out(word: str) -> Sequence[str]:
    """The words that a word stands for; endings are taken off one after the other, as long as they hang on a letter."""
    end, meanings = len(word), list[str]()
    while end > _LONGEST or word[:end] not in CONTRACTIONS:
        ending = next((one for one in ENDINGS if word.endswith(one, 0, end)), "")
        rest = end - len(ending)
        if not ending or not word[max(rest - 1, 0) : rest].isalpha():
            return word[:end], *reversed(meanings)
        meanings.append(ENDINGS[ending])
        end = rest
    return *CONTRACTIONS[word[:end]].split(), *reversed(meanings)


NORMALISERS: Final[Mapping[str, Normalise]] = {"none": str, "nfc": nfc, "basic": basic, "english": english}


@dataclass(frozen=True)
class Mapper:
    """A user's own rules: sequences of words that stand for others."""

    rules: Mapping[Words, Words]
    digest: str
    sizes: Sequence[int] = field(init=False, default=())
    """How many words rules begin with, the most first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(sorted({len(source) for source in self.rules}, reverse=True)))

    def __call__(self, text: str) -> str:
        """The text with every rule applied, from left to right.

        >>> Mapper({("gray",): ("grey",), ("mm", "hm"): ()}, "")("mm hm a gray cat")
        'a grey cat'
        """
        words, written, at = text.split(), list[str](), 0
        while at < len(words):
            size = next((size for size in self.sizes if tuple(words[at : at + size]) in self.rules), 0)
            written += self.rules[tuple(words[at : at + size])] if size else (words[at],)
            at += size or 1
        return " ".join(written)


def normaliser(name: str, mapper: Mapper | None = None) -> Normalise:
    """The named normaliser, followed by the user's own rules if there are any."""
    first = NORMALISERS[name]
    return first if mapper is None else lambda text: mapper(first(text))


def read_mapper(path: Path, findings: Findings, *, name: str, rule: str) -> Mapper | Glm:
    """A file of rules: `from => to`, or NIST's GLM, which is told by its header or by rules with a context."""
    data = read_bounded(path, RULES_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is not UTF-8 (byte {error.start + 1}): save it as UTF-8.") from error
    if not is_glm(text):
        return _read_mapper(path.name, data, text, findings, name=name, rule=rule)
    glm, faults = parse_glm(text, "sha256:" + hashlib.sha256(data).hexdigest())
    for number, line, fault in faults:
        fix = "write one rule per line, like: GRAY => GREY / [ ] __ [ ]"
        findings.add(Problem(rule, path.name, number, None, fault, fix, shortened(line), where="reference"))
    return glm


def _read_mapper(file: str, data: bytes, text: str, findings: Findings, *, name: str, rule: str) -> Mapper:
    """Rules `from => to`; both sides go through the named normaliser, as the texts do."""
    rules: dict[Words, Words] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith(COMMENTS):
            fault = _take(line, rules, NORMALISERS[name])
            if fault:
                fix = "write one rule per line, like: gray => grey"
                findings.add(Problem(rule, file, number, None, fault, fix, shortened(line), where="reference"))
    return Mapper(rules, "sha256:" + hashlib.sha256(data).hexdigest())


def _take(line: str, rules: dict[Words, Words], normalise: Normalise) -> str:
    """Add the rule of a line, or say what is wrong with it."""
    left, arrow, right = line.partition(ARROW)
    if not arrow or ARROW in right:
        return f"a line needs one {ARROW} between what is found and what is written"
    if "/" in right:
        return "rules with a context (after /) are not understood"
    source, target = (tuple(normalise(_bare(side)).split()) for side in (left, right))
    if not source:
        return "nothing is left of the left side once it is normalised"
    if len(source) > MOST_WORDS:
        return f"{len(source)} words on the left side, more than {MOST_WORDS}"
    if rules.setdefault(source, target) != target:
        return "there is another rule for the same words above"
    return ""


def _bare(side: str) -> str:
    """A side without the brackets that NIST's files of rules put around it."""
    side = side.strip()
    return side[1:-1] if side.startswith("[") and side.endswith("]") else side
