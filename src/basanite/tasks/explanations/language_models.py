"""Perplexity and bits of one sentence, worked out from the log-probabilities of its tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from basanite.formats.items import read_structured_items
from basanite.formats.kinds.general import JSON_LINES
from basanite.formats.records import Place
from basanite.formats.single_file import kind_of
from basanite.problems import Findings
from basanite.tasks.worked import Case, Explain, Step, Worked, short, shown_rows

BASES: Final = {"e": math.e, "2": 2.0, "10": 10.0}


def _logarithms(case: Case) -> Sequence[Any]:
    """The logarithms of the sentence's tokens as the submission lists them; none where it has sums or a model."""
    path = case.inputs.submission
    if kind_of(path) is not JSON_LINES:
        return ()
    place = Place("submission", "T-1")
    items = read_structured_items(path, lambda fields: fields.get("logprobs"), place, Findings(1), used=("logprobs",))
    found = dict(zip(items.ids, items.content, strict=True)).get(case.unit) if items is not None else None
    if not isinstance(found, list):
        return ()
    return found if case.settings["eos"] == "counted" else found[:-1]


def _factor_steps(case: Case) -> list[Step]:
    """The probability of each token, whose product is that of the sentence."""
    listed = _logarithms(case)
    base = BASES[str(case.settings["base"])]
    steps = []
    if listed:
        numbers = [float(one) for one in listed]
        rows = [(at, number, base**number) for at, number in enumerate(numbers, start=1)]
        table = shown_rows("Tokens", ("Token", f"log{'' if base == math.e else f' (base {base:g})'} P", "P"), rows)
        factors = " × ".join(short(base**number) for number in numbers[:12]) + (" × …" if len(numbers) > 12 else "")
        steps.append(
            Step("Factors", ("The probability of a sentence is the product of those of its tokens.",), factors, table)
        )
    total = case.row["log_probability"]
    steps.append(
        Step("Log-probability", ("The sum of the natural logarithms of all tokens.",), f"ln P = {short(total)}")
    )
    return steps


def perplexity(case: Case, *, known: bool = False) -> Worked:
    """Perplexity: the N-th root of one over the probability."""
    names = (
        ("known_log_probability", "known_tokens", "known_zeros") if known else ("log_probability", "tokens", "zeros")
    )
    total, tokens, zeros = (case.row[name] for name in names)
    steps = _factor_steps(case)
    if not tokens:
        return Worked((*steps, Step("Perplexity", ("There is no token that counts.",))), math.nan)
    if zeros:
        said = f"{short(zeros)} tokens have the probability 0, so the perplexity is infinite."
        return Worked((*steps, Step("Perplexity", (said,))), math.inf)
    try:
        value = math.exp(-total / tokens)
    except OverflowError:
        value = math.inf
    formula = f"exp(−({short(total)}) / {short(tokens)}) = {short(value)}"
    return Worked((*steps, Step("Perplexity", (f"Over {short(tokens)} tokens.",), formula)), value)


def bits(case: Case, *, size: str) -> Worked:
    """Bits for each word, character or byte."""
    total, zeros, parts = case.row["log_probability"], case.row["zeros"], case.row[f"{size}s"]
    steps = _factor_steps(case)
    if not parts:
        return Worked((*steps, Step("Bits", (f"The number of {size}s is not known.",))), math.nan)
    value = math.inf if zeros else -total / math.log(2) / parts
    formula = f"−({short(total)}) / ln 2 / {short(parts)} {size}s = {short(value)}"
    return Worked((*steps, Step(f"Bits per {size}", (), formula)), value)


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    "perplexity": perplexity,
    "perplexity_known": partial(perplexity, known=True),
    **{f"bits_per_{size}": partial(bits, size=size) for size in ("word", "character", "byte")},
}
