"""BLEU, chrF, TER and unigram precision of one translation, worked out from its words and characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from basanite.metrics.text.speech import align
from basanite.metrics.text.translation import CHARACTER_ORDERS, CHRF_BETA, ORDERS, peer_bleu
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows

Grams = Counter[tuple[str, ...]]


def ngrams(words: Sequence[str], order: int) -> Grams:
    """How often each n-gram of this order stands in some words.

    >>> ngrams("a b a b".split(), 2)[("a", "b")]
    2
    """
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def _words(case: Case) -> tuple[list[str], list[list[str]]]:
    """The answer and the references as the tokenizer of the run splits them."""
    peer = peer_bleu(tokenise=case.settings["tokenise"], lowercase=case.settings["lowercase"])
    split = [peer._preprocess_segment(text).split() for text in (case.answer, *case.reference)]
    return split[0], split[1:]


def texts_step(answer: Sequence[str], references: Sequence[Sequence[str]], how: str) -> Step:
    """The words that everything else is counted on."""
    rows = [("answer", len(answer), " ".join(answer))]
    rows += [(f"reference {at}", len(one), " ".join(one)) for at, one in enumerate(references, start=1)]
    return Step("The words", (how,), table=shown_rows("Words", ("Text", "Words", "As counted"), rows))


def clipped_step(answer: Sequence[str], references: Sequence[Sequence[str]], order: int) -> tuple[Step, int, int]:
    """The n-grams of one order: how many of the answer's there are, and how many a reference has as well."""
    mine = ngrams(answer, order)
    theirs = [ngrams(one, order) for one in references]
    most = {gram: max((one[gram] for one in theirs), default=0) for gram in mine}
    matched, possible = sum(min(count, most[gram]) for gram, count in mine.items()), mine.total()
    rows = [(" ".join(gram), count, most[gram], min(count, most[gram])) for gram, count in mine.items()]
    step = Step(
        f"{order}-grams",
        ("An n-gram counts as often as it occurs in the answer, but no more often than in one reference.",),
        f"matched {order}-grams / {order}-grams of the answer = {division(matched, possible)}",
        shown_rows(f"{order}-grams of the answer", ("N-gram", "In the answer", "Most in a reference", "Counted"), rows),
    )
    return step, matched, possible


def closest_length(answer: int, references: Sequence[int]) -> int:
    """The length of the reference nearest to the answer's; of two equally near ones the shorter."""
    return min(references, key=lambda length: (abs(length - answer), length))


def brevity_step(answer: int, references: Sequence[int]) -> tuple[Step, float]:
    """The penalty of an answer that is shorter than the nearest reference."""
    wanted = closest_length(answer, references)
    if answer >= wanted:
        formula, penalty = f"{answer} ≥ {wanted}, so the penalty is 1", 1.0
    elif answer:
        penalty = math.exp(1 - wanted / answer)
        formula = f"exp(1 − {wanted} / {answer}) = {short(penalty)}"
    else:
        formula, penalty = "there is no word, so the penalty is 0", 0.0
    said = f"The answer has {answer} words; the reference nearest in length has {wanted}."
    return Step("Brevity penalty", (said,), formula), penalty


def _smooth_precisions(
    matched: Sequence[int], possible: Sequence[int], settings: Mapping[str, object]
) -> list[float | None]:
    """The precisions after smoothing; None for an order that the answer is too short for."""
    kind, value = settings["smoothing"], settings["smooth_value"]
    found: list[float | None] = []
    halved, over = 1.0, False
    for order, (top, bottom) in enumerate(zip(matched, possible, strict=True)):
        more = (1.0 if value is None else float(str(value))) if kind == "add-k" and order else 0.0
        over = over or not bottom + more
        if over:
            found.append(None)
        elif top + more or kind == "none":
            found.append((top + more) / (bottom + more))
        elif kind == "exp":
            halved /= 2
            found.append(halved / bottom)
        else:
            found.append((0.1 if value is None else float(str(value))) / bottom if kind == "floor" else 0.0)
    return found


def bleu(case: Case) -> Worked:
    """BLEU: clipped precisions of four orders, their geometric mean, the brevity penalty."""
    answer, references = _words(case)
    settings = case.settings
    counted = [clipped_step(answer, references, order) for order in range(1, ORDERS + 1)]
    steps = [
        texts_step(answer, references, f"Words by the tokenizer {settings['tokenise']}."),
        *(one[0] for one in counted),
    ]
    matched, possible = [one[1] for one in counted], [one[2] for one in counted]
    precisions = _smooth_precisions(matched, possible, settings)
    steps.append(_smoothing_step(matched, possible, precisions, str(settings["smoothing"])))
    step, penalty = brevity_step(len(answer), [len(one) for one in references])
    steps.append(step)
    used = [one for one in precisions if one is not None] if settings["effective_order"] else precisions
    scale = 100 if settings["percent"] else 1
    factors = " × ".join("0" if one is None else short(one) for one in used)
    if not any(matched) or any(not one for one in used):
        value = 0.0
        formula = f"{short(penalty)} × ({factors})^(1/{len(used) or ORDERS}) = 0"
    else:
        logs = [math.log(one) for one in used if one]
        value = scale * penalty * math.exp(sum(logs) / len(logs))
        times = "100 × " if scale > 1 else ""
        formula = f"{times}{short(penalty)} × ({factors})^(1/{len(logs)}) = {short(value)}"
    said = "BLEU is the brevity penalty times the geometric mean of the precisions."
    return Worked((*steps, Step("BLEU", (said,), formula)), value)


def _smoothing_step(
    matched: Sequence[int], possible: Sequence[int], precisions: Sequence[float | None], kind: str
) -> Step:
    rows = [
        (order, top, bottom, precision)
        for order, (top, bottom, precision) in enumerate(zip(matched, possible, precisions, strict=True), start=1)
    ]
    said = {
        "exp": "Without a match an order takes 1/2 in place of its matches, the next one 1/4 … (smoothing exp).",
        "floor": "An order without a match takes a small number in place of its matches (smoothing floor).",
        "add-k": "From the second order on a number is added to matches and n-grams (smoothing add-k).",
        "none": "Nothing is smoothed: one order without a match makes BLEU 0.",
    }[kind]
    columns = ("Order", "Matched", "N-grams", "Precision")
    changed = kind == "add-k" or not all(matched)
    return Step("Precisions", (said,) if changed else (), table=shown_rows("Precision of each order", columns, rows))


def unigram_precision(case: Case, *, clipped: bool) -> Worked:
    """The share of the answer's words that a reference has."""
    answer, references = _words(case)
    scale = 100 if case.settings["percent"] else 1
    if clipped:
        step, found, possible = clipped_step(answer, references, 1)
    else:
        known = {word for one in references for word in one}
        found, possible = sum(word in known for word in answer), len(answer)
        rows = [(word, "yes" if word in known else "no") for word in answer]
        table = shown_rows("Words of the answer", ("Word", "In a reference"), rows)
        step = Step("Words found", ("Every word that occurs in a reference counts, each time.",), table=table)
    value = scale * found / possible if possible else math.nan
    last = Step("Precision", (), f"{'100 × ' if scale > 1 else ''}{division(found, possible)}")
    return Worked((texts_step(answer, references, "Words by the tokenizer."), step, last), value)


def chrf(case: Case) -> Worked:
    """chrF: precision and recall of character n-grams, and of words if asked for, averaged over the orders."""
    names = [name.removeprefix("candidate_") for name in case.row if name.startswith("candidate_")]
    rows, precisions, recalls = [], [], []
    for name in names:
        mine, theirs, both = (case.row[f"{part}_{name}"] for part in ("candidate", "reference", "matches"))
        if mine and theirs:
            precisions.append(both / mine)
            recalls.append(both / theirs)
        fit = (both / mine, both / theirs) if mine and theirs else (None, None)
        rows.append((name.replace("_", " "), int(mine), int(theirs), int(both), *fit))
    columns = ("Order", "In the answer", "In the reference", "Matched", "Precision", "Recall")
    counted = Step(
        "N-grams",
        ("White space is taken out; n-grams of 1 to 6 characters count, against the reference that fits best.",),
        table=shown_rows("N-grams of each order", columns, rows),
    )
    grams = _character_step(case)
    precision, recall = (sum(each) / len(each) if each else 0.0 for each in (precisions, recalls))
    beta = CHRF_BETA**2
    bottom = beta * precision + recall
    scale = 100 if case.settings["percent"] else 1
    value = scale * (1 + beta) * precision * recall / bottom if bottom else 0.0
    value = value if any(row[1] or row[2] for row in rows) else math.nan
    means = Step(
        "Means over the orders that both sides have",
        (),
        f"precision = {short(precision)}, recall = {short(recall)}",
    )
    top = f"(1 + {CHRF_BETA}²) × {short(precision)} × {short(recall)}"
    formula = f"{top} / ({CHRF_BETA}² × {short(precision)} + {short(recall)}) = {short(value / scale)}"
    said = f"F weighs recall {CHRF_BETA} times as much as precision." + (" The value is 100 times that." * (scale > 1))
    return Worked((grams, counted, means, Step("chrF", (said,), formula)), value)


def _character_step(case: Case) -> Step:
    """The most frequent character n-grams, for an eye on what is matched."""
    fold = str.lower if case.settings["lowercase"] else str
    answer, reference = ("".join(fold(text).split()) for text in (case.answer, case.reference[0]))
    rows = [("answer", len(answer), answer), ("reference 1", len(reference), reference)]
    some = ngrams(list(answer), min(3, CHARACTER_ORDERS)) & ngrams(list(reference), min(3, CHARACTER_ORDERS))
    shared = ", ".join("".join(gram) for gram, _ in some.most_common(12))
    said = f"Some 3-grams that both have: {shared}." if shared else "No 3-gram is in both."
    return Step("The characters", (said,), table=shown_rows("Texts", ("Text", "Characters", "As counted"), rows))


def ter(case: Case) -> Worked:
    """TER: edits of words and moves of phrases over the mean length of the references."""
    edits, length = case.row["edits"], case.row["reference_words"]
    fold = str if case.settings["ter_case"] else str.lower
    answer, references = fold(case.answer).split(), [fold(text).split() for text in case.reference]
    best = min(references, key=lambda one: sum(step.step != "hit" for step in align(one, answer)))
    found = align(best, answer)
    rows = [(step.step, step.reference, step.answer) for step in found]
    plain = sum(step.step != "hit" for step in found)
    said = (
        f"Word by word the nearest reference needs {plain} edits. A move of a phrase counts as one edit, whatever its "
        f"length; with moves it takes {short(edits)}."
    )
    scale = 100 if case.settings["percent"] else 1
    value = scale * edits / length if length else math.nan
    last = f"{'100 × ' if scale > 1 else ''}edits / mean words of the references = {division(edits, length)}"
    table = shown_rows("Alignment without moves", ("Step", "Reference", "Answer"), rows)
    return Worked((Step("Edits", (said,), table=table), Step("TER", (), last)), value)


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    "bleu": bleu,
    "chrf": chrf,
    "ter": ter,
    "unigram_precision": partial(unigram_precision, clipped=False),
    "unigram_precision_clipped": partial(unigram_precision, clipped=True),
}
