"""Accuracy, exact match and F1 of one answer to a question, worked out from the answers that people gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from basanite.metrics.text.questions import ENOUGH, SQUAD_1, SQUAD_2, VQA, squad_answer, vqa_answer
from basanite.tasks.worked import Case, Explain, Step, Worked, short, shown_rows


def _rule(case: Case) -> str:
    """The rule by which the answer counts, which the signature of the run names."""
    return next(mark[5:] for mark in case.signature.split("|") if mark.startswith("rule:"))


def _comparison_step(case: Case, shown: Sequence[tuple[str, str]], said: str) -> Step:
    table = shown_rows("Answers", ("As written", "As compared"), shown)
    return Step("The answers", (f"The system answered {case.answer!r}. {said}",), table=table)


def accuracy(case: Case) -> Worked:
    """VQA's consensus; for other rules, whether the answer is right."""
    rule, accepted = _rule(case), list(case.reference.accepted)
    if rule != VQA:
        value = case.row["accuracy"]
        step = _comparison_step(case, [(one, one) for one in accepted], "These answers are right.")
        return Worked((step, Step("Accuracy", (), "right: 1" if value else "wrong: 0")), value)
    trimmed = [text.replace("\n", " ").replace("\t", " ").strip() for text in (case.answer, *accepted)]
    differ = len(set(trimmed[1:])) > 1
    made = [vqa_answer(text) for text in trimmed] if differ else trimmed
    agreeing = made[1:].count(made[0])
    people = len(accepted)
    with_them, without = min(1.0, (agreeing - 1) / ENOUGH), min(1.0, agreeing / ENOUGH)
    value = (agreeing * with_them + (people - agreeing) * without) / people
    how = (
        "Punctuation, number words, articles and contractions are normalized."
        if differ
        else "All people agree: as written."
    )
    step = _comparison_step(case, list(zip((case.answer, *accepted), made, strict=True)), how)
    said = f"{agreeing} of {people} people gave this answer. Each is left out in turn; {ENOUGH} others who agree do."
    inside = f"{agreeing} × min(1, {agreeing - 1}/{ENOUGH})"
    outside = f"{people - agreeing} × min(1, {agreeing}/{ENOUGH})"
    formula = f"({inside} + {outside}) / {people} = {short(value)}" if agreeing else f"nobody agrees: {short(value)}"
    return Worked((step, Step("Consensus", (said,), formula)), value)


def _answers(case: Case) -> tuple[str, list[str], Step]:
    """The answer and those of people as SQuAD compares them."""
    accepted = list(case.reference.accepted)
    found, wanted = squad_answer(case.answer), [squad_answer(text) for text in accepted]
    shown = [(case.answer, found), *zip(accepted, wanted, strict=True)]
    said = "Case, punctuation and articles do not count; the first line is the system's."
    if _rule(case) == SQUAD_2:
        wanted = [text for text in wanted if text] or [""]
    return found, wanted, _comparison_step(case, shown, said)


def exact_match(case: Case) -> Worked:
    """Whether the answer is one of those of people."""
    found, wanted, step = _answers(case)
    value = float(found in wanted)
    return Worked(
        (step, Step("Exact match", (), f"{'one' if value else 'none'} of them is the same: {short(value)}")), value
    )


def f1(case: Case) -> Worked:
    """F of words with the best of the accepted answers."""
    found, wanted, step = _answers(case)
    empty_agree = _rule(case) != SQUAD_1
    rows, values = [], []
    for text in wanted:
        words, others = found.split(), text.split()
        shared = (Counter(words) & Counter(others)).total()
        value = 2 * shared / (len(words) + len(others)) if words and others else float(empty_agree and words == others)
        rows.append((text, len(others), shared, value))
        values.append(value)
    best = max(values, default=0.0)
    table = shown_rows("With each answer", ("Answer", "Its words", "Shared", "F"), rows)
    at = values.index(best) if values else 0
    formula = (
        f"2 × {rows[at][2]} / ({len(found.split())} + {rows[at][1]}) = {short(best)}" if values else "no answer: 0"
    )
    both = values and not (found.split() and wanted[at].split())
    last = f"without words on one side: {short(best)}" if both else formula
    return Worked(
        (step, Step("Words in common", (), table=table), Step("F1", ("The best answer counts.",), last)), best
    )


EXPLANATIONS: Final[Mapping[str, Explain]] = {"accuracy": accuracy, "exact_match": exact_match, "f1": f1}
