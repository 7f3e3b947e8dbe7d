"""PARSEVAL's values of one tree, worked out from its brackets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from basanite.metrics.text.pruning import Bracket
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows


def _brackets(case: Case) -> tuple[list[str], list[Bracket], list[Bracket]]:
    """The words, and the brackets of both sides after deletion; none of an answer that does not fit."""
    parses = case.run.parses
    given = parses.answers.brackets(case.at) if parses.fits[case.at] else []
    return parses.gold.sentence(case.at), parses.gold.brackets(case.at), given


def _bracket_step(words: Sequence[str], gold: Sequence[Bracket], given: Sequence[Bracket], *, labels: bool) -> Step:
    left = Counter(map(partial(_key, labels=labels), given))
    rows = []
    for bracket in gold:
        key = _key(bracket, labels=labels)
        found = left[key] > 0
        left[key] -= found
        rows.append(("both" if found else "reference alone", bracket[2], *_place(bracket, words)))
    known = Counter(_key(bracket, labels=labels) for bracket in gold)
    for bracket in given:
        key = _key(bracket, labels=labels)
        if known[key] > 0:
            known[key] -= 1
        else:
            rows.append(("answer alone", bracket[2], *_place(bracket, words)))
    said = "A bracket matches one with the same words" + (" and label." if labels else ", whatever its label.")
    table = shown_rows("Brackets", ("Where", "Label", "From word", "To word", "Words"), rows)
    return Step("Brackets", (said,), table=table)


def _key(bracket: Bracket, *, labels: bool) -> tuple[object, ...]:
    return bracket if labels else bracket[:2]


def _place(bracket: Bracket, words: Sequence[str]) -> tuple[int, int, str]:
    return bracket[0] + 1, bracket[1], " ".join(words[bracket[0] : bracket[1]])


def _matching_brackets(gold: Sequence[Bracket], given: Sequence[Bracket], *, labels: bool) -> int:
    key = partial(_key, labels=labels)
    return (Counter(map(key, gold)) & Counter(map(key, given))).total()


def parseval(case: Case, *, labels: bool, value: str) -> Worked:
    """Precision, recall or F1 of brackets."""
    words, gold, given = _brackets(case)
    if not case.row["sentences"]:
        return Worked(
            (Step("Left out", ("The tree does not fit its sentence and is left out, as evalb does.",)),), math.nan
        )
    matched = _matching_brackets(gold, given, labels=labels)
    steps = [_bracket_step(words, gold, given, labels=labels)]
    counts = f"matched {matched}, in the reference {len(gold)}, in the answer {len(given)}"
    steps.append(Step("Counts", (), counts))
    precision = Step("Precision", (), f"matched / answer = {division(matched, len(given))}")
    recall = Step("Recall", (), f"matched / reference = {division(matched, len(gold))}")
    if value == "precision":
        return Worked((*steps, precision), matched / len(given) if given else math.nan)
    if value == "recall":
        return Worked((*steps, recall), matched / len(gold) if gold else math.nan)
    if not gold or not given:
        return Worked((*steps, precision, recall, Step("F1", ("Undefined: one side has no bracket.",))), math.nan)
    f1 = 2 * matched / (len(gold) + len(given))
    formula = f"2 × {matched} / ({len(gold)} + {len(given)}) = {short(f1)}"
    return Worked((*steps, precision, recall, Step("F1", ("The harmonic mean of both.",), formula)), f1)


def exact(case: Case) -> Worked:
    """Whether all labeled brackets are right and none is too many."""
    words, gold, given = _brackets(case)
    same = Counter(gold) == Counter(given) and bool(case.run.parses.fits[case.at])
    value = float(same) if case.row["sentences"] else math.nan
    last = Step("Exact match", (), f"{'all' if same else 'not all'} brackets are the same: {short(value)}")
    return Worked((_bracket_step(words, gold, given, labels=True), last), value)


def crossing(case: Case) -> Worked:
    """How many brackets of the answer cross some bracket of the reference."""
    words, gold, given = _brackets(case)
    rows = []
    for bracket in given:
        crossed = [
            one
            for one in gold
            if one[0] < bracket[0] < one[1] < bracket[1] or bracket[0] < one[0] < bracket[1] < one[1]
        ]
        if crossed:
            rows.append((bracket[2], *_place(bracket, words), f"{crossed[0][2]}: {_place(crossed[0], words)[2]}"))
    columns = ("Label", "From word", "To word", "Words", "It crosses")
    step = Step("Brackets that cross", (), table=shown_rows("Of the answer", columns, rows))
    fitting = bool(case.run.parses.fits[case.at])
    value = float(len(rows)) if fitting else math.nan
    return Worked((step, Step("Crossing brackets", (), f"{len(rows)} cross a bracket of the reference")), value)


def tagging(case: Case) -> Worked:
    """The share of words with the reference's tag."""
    right, words = case.row["right_tags"], case.row["words"]
    return Worked(
        (Step("Tags", (), f"right tags / words = {division(right, words)}"),), right / words if words else math.nan
    )


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    **{
        f"{name}_{value}": partial(parseval, labels=labels, value=value)
        for name, labels in (("labelled", True), ("unlabelled", False))
        for value in ("f1", "precision", "recall")
    },
    "exact": exact,
    "crossing": crossing,
    "tagging": tagging,
}
