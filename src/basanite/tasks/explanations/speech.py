"""Error rates of one utterance, worked out from the alignment of its words or characters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from basanite.metrics.text.speech import AlignmentCounts, Operation, Utterances, align
from basanite.tasks.worked import Case, Explain, Step, Worked, division, short, shown_rows


def _block(case: Case) -> Utterances:
    """The one utterance, aligned by the rules of the run."""
    steps = getattr(case.pairs, "steps", None)
    chosen = None if steps is None else [steps[case.at]]
    return Utterances((case.unit,), (case.reference,), (case.answer,), chosen)


def _alignment_steps(operations: Sequence[Operation], counts: AlignmentCounts, pieces: str) -> list[Step]:
    """The alignment, and how often each step occurs in it."""
    rows = [(step.step, step.reference, step.answer) for step in operations]
    said = (
        f"{counts.hits} right, {counts.substitutions} substituted, {counts.deletions} deleted, "
        f"{counts.insertions} inserted."
    )
    edits = f"{counts.substitutions} + {counts.deletions} + {counts.insertions} = {counts.edits}"
    return [
        Step("Alignment", (said,), table=shown_rows(f"{pieces} side by side", ("Step", "Reference", "Heard"), rows)),
        Step("Edits", (), f"substitutions + deletions + insertions = {edits}"),
    ]


def _word_steps(case: Case) -> tuple[list[Step], AlignmentCounts]:
    block = _block(case)
    counts = block.outcomes[0]
    found = block.steps[0] if block.steps is not None else align(block.words.references[0], block.words.answers[0])
    return _alignment_steps(found, counts, "Words"), counts


def of_words(case: Case, *, name: str, value: Callable[[AlignmentCounts], tuple[str, float]]) -> Worked:
    """A rate that is a formula of hits, edits and lengths."""
    steps, counts = _word_steps(case)
    formula, number = value(counts)
    return Worked((*steps, Step(name, (), formula)), number)


def _wer(counts: AlignmentCounts) -> tuple[str, float]:
    formula = f"edits / words of the reference = {division(counts.edits, counts.reference)}"
    return formula, counts.edits / counts.reference if counts.reference else math.nan


def _mer(counts: AlignmentCounts) -> tuple[str, float]:
    every = counts.hits + counts.edits
    return f"edits / (right + edits) = {division(counts.edits, every)}", counts.edits / every if every else math.nan


def _preserved_share(counts: AlignmentCounts) -> tuple[str, float]:
    said, heard = counts.reference, counts.answer
    if not said or not heard:
        return "a side has no word", 0.0 if said else math.nan
    value = counts.hits / said * counts.hits / heard
    return f"{counts.hits}/{said} × {counts.hits}/{heard} = {short(value)}", value


def _lost(counts: AlignmentCounts) -> tuple[str, float]:
    formula, value = _preserved_share(counts)
    return f"1 − {formula.partition(' = ')[0]} = {short(1 - value)}", 1 - value


def _ser(counts: AlignmentCounts) -> tuple[str, float]:
    wrong = counts.edits > 0
    return f"{counts.edits} edits: the utterance is {'wrong' if wrong else 'right'}", float(wrong)


def cer(case: Case) -> Worked:
    """Character error rate."""
    block = _block(case)
    said, heard = block.characters.references[0], block.characters.answers[0]
    counts = block.characters.counts
    steps = _alignment_steps(align(said, heard), counts, "Characters")
    formula = f"edits / characters of the reference = {division(counts.edits, len(said))}"
    return Worked((*steps, Step("CER", (), formula)), counts.edits / len(said) if said else math.nan)


EXPLANATIONS: Final[Mapping[str, Explain]] = {
    "wer": partial(of_words, name="WER", value=_wer),
    "mer": partial(of_words, name="Match error rate", value=_mer),
    "wil": partial(of_words, name="Word information lost", value=_lost),
    "wip": partial(of_words, name="Word information preserved", value=_preserved_share),
    "ser": partial(of_words, name="Sentence error rate", value=_ser),
    "cer": cer,
}
