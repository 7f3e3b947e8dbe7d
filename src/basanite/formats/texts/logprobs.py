"""Log-probabilities of sentences: as records give them, and as SRILM's `ngram -ppl` and KenLM's `query` print them.

Of a sentence there are those of every token, or their sum with the number of tokens. A probability of 0 has no number
in JSON: it is written `"-inf"`. `null` is refused, because some programs write it for a token that they gave no
probability at all, which is another thing.

SRILM names a sentence, with `-debug 2` each of its words with its probability, and then its sums. KenLM writes the
words of a sentence on one line, `the=4 2 -0.87`, and their sum. Logarithms are to base 10. SRILM leaves words out of
its sums that are out of the vocabulary (OOVs) or have probability 0 (zeroprobs); KenLM gives OOVs the probability of
`<unk>`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from basanite.formats.items import ContentError
from basanite.formats.records import Place
from basanite.formats.texts.arpa import ABOVE_ZERO
from basanite.problems import Findings

ZERO = ("-inf", "-Inf", "-infinity", "-Infinity")
LEAST = -1e100
"""No sentence is less probable than this (base e): sums of such numbers stay numbers."""
MOST_TOKENS = 10**9
SIZES = ("words", "characters", "bytes")
ROUNDING = 1e-6
"""How far above 0 a log-probability may lie and still be 0 with the error of 32-bit numbers."""


@dataclass(frozen=True)
class Likelihood:
    """A sentence: the sum of its finite log-probabilities (base e), its tokens, and how many had probability 0."""

    log_probability: float
    tokens: int
    zeros: int
    known: tuple[float, int, int] | None = None
    """The same of the tokens in the model's vocabulary; None where nobody said which these are."""
    words: tuple[str, ...] | None = None
    """The words that the model saw, where they are told."""


@dataclass(frozen=True)
class Sentence:
    """What a reference says of a sentence: its text, how large it is, and how many tokens count; None if not told."""

    tokens: int | None = None
    text: str | None = None
    sizes: tuple[float, float, float] = (math.nan,) * 3
    """Its words, characters and bytes in UTF-8."""


def likelihood(fields: Mapping[str, Any], *, base: float, end_counts: bool) -> Likelihood:
    """The likelihood that a record tells, by `logprobs` or by `logprob` and `tokens`.

    >>> likelihood({"logprobs": [-1, -2.5, "-inf"]}, base=math.e, end_counts=True)
    Likelihood(log_probability=-3.5, tokens=3, zeros=1, known=None, words=None)
    """
    listed, summed = fields.get("logprobs") is not None, fields.get("logprob") is not None
    if listed == summed:
        what = "both logprobs and logprob are there" if listed else "there are neither logprobs nor a logprob"
        raise ContentError(what, 'write "logprobs": [-1.2, …], or "logprob": -9.5 with "tokens": 7')
    if summed:
        return _from_sum(fields, base, end_counts=end_counts)
    values = fields["logprobs"]
    if not isinstance(values, list):
        raise ContentError("logprobs is not a list", 'write "logprobs": [-1.2, -0.5]', values)
    numbers = [_number(value, place) for place, value in enumerate(values, start=1)]
    return of_tokens(numbers, _vocabulary_marks(fields.get("oov"), len(numbers)), base=base, end_counts=end_counts)


def of_tokens(numbers: Sequence[float], known: Sequence[bool] | None, *, base: float, end_counts: bool) -> Likelihood:
    """The likelihood of a sentence whose last token is its end; `known` says which are in the vocabulary."""
    if not end_counts and not numbers:
        raise ContentError("there is no token for the end of the sentence to leave out", "write its logprob last")
    counted = numbers if end_counts else numbers[:-1]
    if known is None:
        return Likelihood(*_sums(counted, base))
    inside = [number for number, sure in zip(counted, known, strict=False) if sure]
    return Likelihood(*_sums(counted, base), known=_sums(inside, base))


def _sums(numbers: Sequence[float], base: float) -> tuple[float, int, int]:
    finite = [number for number in numbers if number > -math.inf]
    return _natural(finite, base), len(numbers), len(numbers) - len(finite)


def _vocabulary_marks(found: Any, size: int) -> list[bool] | None:
    """Which tokens are in the vocabulary, by the list `oov` of those that are not."""
    if found is None:
        return None
    if not isinstance(found, list) or not all(type(one) is int and 1 <= one <= size for one in found):
        raise ContentError(
            "oov is not a list of numbers of tokens", f'write "oov": [2] with numbers from 1 to {size}', found
        )
    return [number not in found for number in range(1, size + 1)]


def sentence_of(fields: Mapping[str, Any]) -> Sentence:
    """A sentence of a reference: its text, or its tokens, words, characters and bytes as far as they are told.

    >>> sentence_of({"text": "a né"}).sizes
    (2.0, 4.0, 5.0)
    """
    text = fields.get("text")
    if text is not None and not isinstance(text, str):
        raise ContentError("there is no text 'text'", 'write "text": "…"', text)
    told = [name for name in ("tokens", *SIZES) if fields.get(name) is not None]
    tokens = token_count(fields) if "tokens" in told or not (told or "text" in fields) else None
    if text is None and "text" in fields:
        text = ""  # an empty cell of a table
    own = (math.nan,) * 3 if text is None else (len(text.split()), len(text), len(text.encode("utf-8", "replace")))
    sizes = [float(token_count(fields, name) if name in told else size) for name, size in zip(SIZES, own, strict=True)]
    return Sentence(tokens, text, (sizes[0], sizes[1], sizes[2]))


def token_count(fields: Mapping[str, Any], name: str = "tokens") -> int:
    """How many tokens of a sentence count, or how many words, characters or bytes it has."""
    found = fields.get(name)
    number = found
    if isinstance(found, str) and found.isdecimal() and len(found) <= len(str(MOST_TOKENS)):
        number = int(found)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MOST_TOKENS:
        raise ContentError(f"{name} is not a number of {name}", f'write "{name}": 7', "" if found is None else found)
    return number


def _natural(numbers: Sequence[float], base: float) -> float:
    """The sum of logarithms, to base e."""
    try:
        total = math.fsum(numbers) * math.log(base)
    except OverflowError:
        total = -math.inf
    if total < LEAST:
        fix = 'write logarithms of probabilities; one of 0 is written "-inf"'
        raise ContentError(f"log-probabilities of a sentence add up to less than {LEAST:g}", fix, min(numbers))
    return total


def _from_sum(fields: Mapping[str, Any], base: float, *, end_counts: bool) -> Likelihood:
    if not end_counts:
        fix = "write the logprobs of all tokens, the last one that of the end, or set eos=counted"
        raise ContentError("a sum does not separate the end of the sentence", fix)
    number, tokens = _number(fields["logprob"], None), token_count(fields)
    if not tokens and number:
        raise ContentError("no token has a probability other than 1", "say how many tokens there are", number)
    zero = number == -math.inf
    return Likelihood(0.0 if zero else _natural([number], base), tokens, int(zero))


def _number(value: Any, place: int | None) -> float:
    where = "logprob" if place is None else f"logprob {place}"
    if isinstance(value, str) and value in ZERO:
        return -math.inf
    if value is None:
        raise ContentError(f"{where} is null", 'leave the token out, or write "-inf" if its probability is 0')
    number = _float(value)
    if math.isnan(number):
        raise ContentError(f"{where} is not a number", 'write a number of at most 0, or "-inf"', value)
    if number > ROUNDING:
        fix = "write logarithms of probabilities, not probabilities or costs"
        raise ContentError(f"{where} is {number:g}, and no probability is more than 1", fix, value)
    return min(number, 0.0)


def _float(value: Any) -> float:
    """A number, nan for what is none; a table's cell is text."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


_WORD = re.compile(r"\tp\( (\S+) \|.*\)\s+= \[(\S+)\] \S+ \[ (\S+) \](?: / \S+)?\s*")
_SIZES = re.compile(r"(file .*: )?(\d+) sentences, (\d+) words, (\d+) OOVs\s*")
_SUMS = re.compile(r"(\d+) zeroprobs, logprob= (\S+) ppl1?= .*")
_TOKEN = re.compile(r"(\S+)=(\d+) (\d+) (\S+)")
_TOTAL = re.compile(r"Total: (\S+) OOV: (\d+)")
_SUMMARY = re.compile(r"(?:Perplexity (?:in|ex)cluding OOVs|OOVs|Tokens):\t.*|(?:Name|RSSMax):\S*\s.*")
LOOSE = 1e-3
"""How far a printed sum may lie from that of printed numbers, as a share of it."""


@dataclass
class Printed:
    """One sentence as a toolkit printed it: log-probabilities (base 10) of its tokens, the end last.

    `known` says which are in the vocabulary. Where single words were not printed, there is only a sum over those that
    count, and how many do not.
    """

    line: int
    words: tuple[str, ...] = ()
    log_probabilities: list[float] = field(default_factory=list)
    known: list[bool] = field(default_factory=list)
    total: float | None = None
    tokens: int = 0
    unknown: int = 0
    zeros: int = 0


def read_srilm(text: str, file: str, place: Place, findings: Findings) -> tuple[Printed, ...]:
    """The sentences that `ngram -ppl TEXT -debug 1` or more printed."""
    sentences: list[Printed] = []
    summary, now, sized = "", None, None
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if word := _WORD.fullmatch(line):
                now = now or Printed(number)
                now.log_probabilities.append(_printed_logarithm(word[3]))
                now.known.append(word[2] != "OOV")
            elif sizes := _SIZES.fullmatch(line):
                sized = sizes
            elif (sums := _SUMS.fullmatch(line)) and sized:
                if sized[1]:
                    summary = line.strip()
                else:
                    sentences.append(_close(now or Printed(number), sized, sums))
                now, sized = None, None
            elif line.strip() and (now is None or not now.log_probabilities):  # what is printed above is no sentence
                now = Printed(number, tuple(line.split()))
        except ContentError as error:
            findings.add(place.problem(file, number, str(error), error.fix, error.found))
    if not sentences and findings.valid:
        message = "this is the total of a text alone, without its sentences"
        findings.add(place.problem(file, None, message, "run ngram -ppl with -debug 1 or -debug 2", summary))
    return tuple(sentences)


def _close(now: Printed, sizes: re.Match[str], sums: re.Match[str]) -> Printed:
    """The sums of a sentence, which those of its words must agree with."""
    number, words, unknown = (int(cell) for cell in sizes.groups()[1:])
    zeros, total = int(sums[1]), _printed_logarithm(sums[2])
    if number != 1:
        raise ContentError(f"these are sums of {number} sentences", "run ngram -ppl with -debug 1 or -debug 2")
    now.total, now.tokens, now.unknown, now.zeros = total, words + 1, unknown, zeros
    listed = now.log_probabilities
    finite = math.fsum(one for one, known in zip(listed, now.known, strict=True) if known and one > -math.inf)
    if listed and (len(listed) != now.tokens or abs(finite - total) > LOOSE * max(1.0, abs(total))):
        message = f"{len(listed)} words with a sum of {finite:g}, where {now.tokens} with {total:g} are announced"
        raise ContentError(message, "give the output whole, as ngram wrote it")
    return now


def read_kenlm(text: str, file: str, place: Place, findings: Findings) -> tuple[Printed, ...]:
    """The sentences that `query MODEL < TEXT` printed, word by word."""
    sentences, bare = [], 0
    for number, line in enumerate(text.split("\n"), start=1):
        parts = [part for part in line.split("\t") if part.strip()]
        if _SUMMARY.fullmatch(line):
            continue
        if parts and _TOTAL.fullmatch(parts[0].strip()):
            bare = bare or number
        elif parts:
            try:
                sentences.append(_query_sentence(number, parts))
            except ContentError as error:
                findings.add(place.problem(file, number, str(error), error.fix, error.found))
    if (bare or not sentences) and findings.valid:
        message = "there are sums without words, from which the number of words in a sentence is unknown"
        fix = "run query with -v word, or without -v: it prints words and sums then"
        findings.add(place.problem(file, bare or None, message, fix))
    return tuple(sentences)


def _query_sentence(number: int, parts: Sequence[str]) -> Printed:
    total = _TOTAL.fullmatch(parts[-1].strip())
    found = list(_tokens(parts[:-1] if total else parts))
    if found[-1][1] != "</s>":
        raise ContentError("the sentence has no end </s>", "run query without -n", found[-1][1])
    logs = [log for *_, log in found]
    if total and abs(math.fsum(logs) - _printed_logarithm(total[1])) > LOOSE * max(1.0, abs(math.fsum(logs))):
        raise ContentError("the words do not add up to the sum of the sentence", "give the output whole", total[1])
    words = tuple(word for _, word, _ in found[:-1])
    return Printed(number, words, logs, [known for known, *_ in found], tokens=len(logs))


def _tokens(parts: Sequence[str]) -> Iterator[tuple[bool, str, float]]:
    for part in parts:
        found = _TOKEN.fullmatch(part)
        if found is None:
            raise ContentError("this is not a word with its log-probability", "write the=4 2 -0.87", part)
        yield found[2] != "0", found[1], _printed_logarithm(found[4])


def _printed_logarithm(cell: str) -> float:
    try:
        found = float(cell)
    except ValueError:
        found = math.nan
    if math.isnan(found) or found > ABOVE_ZERO:
        raise ContentError("this is not a logarithm of a probability", "give the output whole, as it was written", cell)
    return min(found, 0.0)
