"""CIDEr-D, CIDEr, ROUGE-L and BLEU of one image's caption, worked out from its words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from basanite.formats.texts.captions import TOKENISERS
from basanite.metrics.text.captions import BETA
from basanite.metrics.text.ngrams import BEST, ORDERS, SIGMA
from basanite.tasks.explanations.translation import Grams, brevity_step, clipped_step, ngrams, texts_step
from basanite.tasks.worked import Case, Explain, Step, Worked, short, shown_rows


def _words(case: Case) -> tuple[list[str], list[list[str]], list[list[list[str]]]]:
    """The caption, its references, and those of all images."""
    split = TOKENISERS[case.settings["tokenise"]]
    every = [[list(split(text)) for text in others] for others in case.pairs.references]
    return list(split(case.answer)), every[case.at], every


def _frequencies(every: Sequence[Sequence[Sequence[str]]], order: int) -> Grams:
    """In the references of how many images each n-gram stands."""
    found: Grams = Counter()
    for references in every:
        found.update({gram for words in references for gram in ngrams(words, order)})
    return found


def cider(case: Case, *, clipped: bool) -> Worked:
    """CIDEr and CIDEr-D: cosines of tf-idf vectors of n-grams with each reference."""
    answer, references, every = _words(case)
    how = f"Words by the tokenizer {case.settings['tokenise']}."
    steps = [texts_step(answer, references, how)]
    rarest = math.log(len(every))
    sums = [0.0] * len(references)
    for order in range(1, ORDERS + 1):
        frequency = _frequencies(every, order)
        mine = ngrams(answer, order)
        weight = {gram: rarest - math.log(max(frequency[gram], 1)) for gram in mine}
        rows = [
            (" ".join(gram), count, frequency[gram], weight[gram], count * weight[gram]) for gram, count in mine.items()
        ]
        likeness = []
        for at, words in enumerate(references):
            theirs = ngrams(words, order)
            value = _cosine(mine, theirs, frequency, rarest, clipped=clipped)
            if clipped:
                apart = max(len(answer) - 1, 0) - max(len(words) - 1, 0)
                value *= math.exp(-(apart**2) / (2 * SIGMA**2))
            likeness.append(value)
            sums[at] += value
        columns = ("N-gram", "Times", "Images with it", "idf", "Times × idf")
        title = f"{order}-grams of the caption; idf = ln({len(every)} / images with it)"
        steps.append(
            Step(
                f"{order}-grams",
                ("Likeness with each reference: " + ", ".join(map(short, likeness)) + ".",),
                table=shown_rows(title, columns, rows),
            )
        )
    said = "The likeness with a reference is the cosine of the two vectors of times × idf."
    if clipped:
        said += (
            f" No count is more than the reference's, and exp(−(difference in length)² / (2 × {SIGMA:g}²)) lowers it."
        )
    means = [one / ORDERS for one in sums]
    value = BEST * sum(means) / len(means)
    formula = f"{BEST:g} × ({' + '.join(map(short, means))}) / {len(means)} = {short(value)}"
    steps.append(Step("Mean over orders and references", (said,), formula))
    return Worked(tuple(steps), value)


def _cosine(mine: Grams, theirs: Grams, frequency: Grams, rarest: float, *, clipped: bool) -> float:
    def idf(gram: tuple[str, ...]) -> float:
        return rarest - math.log(max(frequency[gram], 1))

    norms = [math.sqrt(sum((count * idf(gram)) ** 2 for gram, count in side.items())) for side in (mine, theirs)]
    dot = sum(
        (min(count, theirs[gram]) if clipped else count) * theirs[gram] * idf(gram) ** 2 for gram, count in mine.items()
    )
    return dot / (norms[0] * norms[1]) if norms[0] and norms[1] else 0.0


def longest_common(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """The longest common subsequence of two texts, as words.

    >>> longest_common("a cat sat".split(), "the cat sat down".split())
    ['cat', 'sat']
    """
    from rapidfuzz.distance import LCSseq  # here, because it is slow to load

    same = (code for code in LCSseq.opcodes(first, second) if code.tag == "equal")
    return [word for code in same for word in first[code.src_start : code.src_end]]


def rouge_l(case: Case) -> Worked:
    """ROUGE-L: the longest common subsequence with each reference."""
    answer, references, _ = _words(case)
    common = [longest_common(answer, words) for words in references]
    rows = [
        (at, len(words), len(found), " ".join(found))
        for at, (words, found) in enumerate(zip(references, common, strict=True), start=1)
    ]
    precision = max((len(found) / max(len(answer), 1) for found in common), default=0.0)
    recall = max(
        (len(found) / max(len(words), 1) for found, words in zip(common, references, strict=True)), default=0.0
    )
    square = BETA**2
    bottom = recall + square * precision
    value = (1 + square) * precision * recall / bottom if bottom else 0.0
    columns = ("Reference", "Words", "In common", "Longest common subsequence")
    top = f"(1 + {BETA:g}²) × {short(precision)} × {short(recall)}"
    formula = f"{top} / ({short(recall)} + {BETA:g}² × {short(precision)}) = {short(value)}"
    steps = (
        texts_step(answer, references, "Words by the tokenizer."),
        Step("Common subsequences", (), table=shown_rows("With each reference", columns, rows)),
        Step(
            "Best precision and best recall",
            ("They may come from different references.",),
            f"precision = {short(precision)}, recall = {short(recall)}",
        ),
        Step("ROUGE-L", (), formula),
    )
    return Worked(steps, value)


def bleu(case: Case, *, orders: int) -> Worked:
    """BLEU of n-grams up to an order, without smoothing."""
    answer, references, _ = _words(case)
    counted = [clipped_step(answer, references, order) for order in range(1, orders + 1)]
    step, penalty = brevity_step(len(answer), [len(one) for one in references])
    whole = all(matched for _, matched, _ in counted)
    precisions = [matched / possible if possible else 0.0 for _, matched, possible in counted]
    value = penalty * math.exp(sum(map(math.log, precisions)) / orders) if whole else 0.0
    factors = " × ".join(map(short, precisions))
    formula = f"{short(penalty)} × ({factors})^(1/{orders}) = {short(value)}"
    steps = (texts_step(answer, references, "Words by the tokenizer."), *(one for one, *_ in counted), step)
    return Worked((*steps, Step(f"BLEU-{orders}", ("Nothing is smoothed.",), formula)), value)


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    "cider_d": partial(cider, clipped=True),
    "cider": partial(cider, clipped=False),
    "rouge_l": rouge_l,
    **{f"bleu{orders}": partial(bleu, orders=orders) for orders in range(1, ORDERS + 1)},
}
