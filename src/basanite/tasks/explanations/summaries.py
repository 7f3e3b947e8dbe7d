"""ROUGE of one summary, worked out from the words that it shares with its best reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from basanite.metrics.text.rouge import TOKENISERS
from basanite.tasks.explanations.captions import longest_common
from basanite.tasks.explanations.translation import ngrams
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows

LINE_END: Final = r"\n"
"""The separator of sentences that is a line end, as the setting writes it."""
Common = Callable[[Sequence[str], Sequence[str]], list[str]]


def _words(case: Case) -> tuple[list[str], list[list[str]]]:
    """The summary and the references as words; a separator of sentences is none."""
    stems = case.settings["stemmer"] and case.settings["tokenise"] == "rouge"
    split = TOKENISERS["stems" if stems else case.settings["tokenise"]]
    separator = case.settings["separator"]
    texts = (text if separator == LINE_END else text.replace(separator, " ") for text in (case.answer, *case.reference))
    answer, *references = (split(text) for text in texts)
    return answer, references


def _shared_grams(first: Sequence[str], second: Sequence[str], *, order: int) -> list[str]:
    return [" ".join(gram) for gram in (ngrams(first, order) & ngrams(second, order)).elements()]


def _f(common: int, given: int, wanted: int) -> float:
    return 2 * common / (given + wanted) if common else 0.0


def of_shared(case: Case, *, name: str, order: int, common: Common) -> Worked:
    """F of what a summary shares with the reference that fits best."""
    answer, references = _words(case)
    sizes = [max(len(words) - order + 1, 0) for words in (answer, *references)]
    found = [common(answer, words) if answer and words else [] for words in references]
    values = [_f(len(shared), sizes[0], size) for shared, size in zip(found, sizes[1:], strict=True)]
    best = max(range(len(values)), key=values.__getitem__)
    rows = [
        (at, size, len(shared), value, ", ".join(shared) if order > 1 else " ".join(shared))
        for at, (size, shared, value) in enumerate(zip(sizes[1:], found, values, strict=True), start=1)
    ]
    what = "words" if order == 1 else f"{order}-grams"
    columns = ("Reference", f"Its {what}", "Shared", "F", "What is shared")
    shared, size = len(found[best]), sizes[best + 1]
    said = f"The summary has {sizes[0]} {what}. The reference with the best F counts: number {best + 1}."
    steps = (
        Step("What is shared", (said,), table=shown_rows("With each reference", columns, rows)),
        Step("Precision", (), f"shared / of the summary = {division(shared, sizes[0])}"),
        Step("Recall", (), f"shared / of the reference = {division(shared, size)}"),
        Step(name, (), f"2 × {shared} / ({sizes[0]} + {size}) = {short(values[best])}"),
    )
    return Worked(steps, values[best])


def by_sentences(case: Case) -> Worked:
    """ROUGE-Lsum, from its precision and recall."""
    precision, recall = case.row["rouge_lsum_precision"], case.row["rouge_lsum_recall"]
    value = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    said = (
        "For each sentence of the reference: the words that it shares, in order, with any sentence of the summary. No "
        "word counts more often than it occurs on either side."
    )
    formula = f"2 × {short(precision)} × {short(recall)} / ({short(precision)} + {short(recall)}) = {short(value)}"
    shares = Step("Precision and recall", (said,), f"precision = {short(precision)}, recall = {short(recall)}")
    return Worked((shares, Step("ROUGE-Lsum", (), formula if value else "nothing is shared: 0")), value)


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    "rouge1": partial(of_shared, name="ROUGE-1", order=1, common=partial(_shared_grams, order=1)),
    "rouge2": partial(of_shared, name="ROUGE-2", order=2, common=partial(_shared_grams, order=2)),
    "rouge_l": partial(of_shared, name="ROUGE-L", order=1, common=longest_common),
    "rouge_lsum": by_sentences,
}
