"""What a report shows of speech: utterances with the most edits, words under words, speakers, and the test of NIST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from basanite.analysis.results import Analysis, Comparison
from basanite.figures import Excerpt, Excerpts, Extract, Figure, Table
from basanite.metrics.text.matched_pairs import matched_pairs
from basanite.metrics.text.speech import WER, AlignmentCounts, Operation, best_reference, counts_of_steps
from basanite.tasks.moved_units import moved_figures, word_pieces
from basanite.tasks.speech_pairs import Ready

WORST: Final = 10
LINE: Final = 96
"""Letters of a line of an alignment."""
SIGNS: Final = {"hit": "", "substitution": "S", "deletion": "D", "insertion": "I"}
SPEAKER: Final = "speaker"
SPEAKER_COLUMNS: Final = ("Speaker", "Utterances", "Words", "Hits", "Sub", "Del", "Ins", "Errors", "WER", "SER")
MAPSSWE: Final = "Matched pairs sentence-segment word error test (MAPSSWE)"


def speech_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """The utterances with the most edits, said and heard side by side, and what was said by whom."""
    scores = analysis.scores
    pairs, edits = scores.kept, scores.tables[WER.name].column("edits")
    worst = [int(at) for at in (-edits).argsort(kind="stable") if edits[at]]
    entries = tuple(
        Excerpt(
            pairs.units[at], f"{edits[at]:.0f} edits", _extracts(pairs.references[at], {"Heard": pairs.answers[at]})
        )
        for at in worst[:WORST]
    )
    summary = "What was said, then what was heard; words that differ are marked."
    shown = Excerpts(f"The {pairs.unit}s with the most edits", summary, entries)
    under = _alignments(pairs, worst[: scores.settings.get("alignments", 0)])
    return (*speaker_tables(pairs), *((shown,) if entries else ()), *under)


def speaker_tables(pairs: Ready) -> Iterator[Table]:
    """Edits by their kind for each speaker, as sclite's summaries have them, where the reference says who speaks."""
    names = pairs.columns.get(SPEAKER, ())
    if not any(names):
        return
    groups: dict[str, list[AlignmentCounts]] = {}
    for at, name in enumerate(names):
        groups.setdefault(name or "(unknown)", []).append(counts_of_steps(pairs.alignment(at)))
    rows = [_speaker_row(name, found) for name, found in sorted(groups.items())]
    note = "WER and SER are of each speaker alone; the value of all is that of all words, not the mean of these."
    yield Table("Edits by speaker", SPEAKER_COLUMNS, rows, note, detail=len(rows) > 20)


def _speaker_row(name: str, found: Sequence[AlignmentCounts]) -> tuple[str | int | float | None, ...]:
    total = sum(found, AlignmentCounts())
    rate = total.edits / total.reference if total.reference else None
    kinds = (total.hits, total.substitutions, total.deletions, total.insertions, total.edits)
    return (name, len(found), total.reference, *kinds, rate, sum(one.edits > 0 for one in found) / len(found))


def _alignments(pairs: Ready, places: Sequence[int]) -> Iterator[Excerpts]:
    """Word under word, as sclite's pra has it."""
    if not places:
        return
    entries = []
    for at in places:
        steps = pairs.alignment(at)
        counts = counts_of_steps(steps)
        kinds = (counts.hits, counts.substitutions, counts.deletions, counts.insertions)
        note = "(#C #S #D #I) " + " ".join(map(str, kinds))
        entries.append(Excerpt(pairs.units[at], note, tuple(_lines(steps)), columns=True))
    summary = "S: substituted, D: deleted, I: inserted. The most edits first; `alignments` says how many are shown."
    yield Excerpts("Words under words", summary, tuple(entries))


def _lines(steps: Sequence[Operation]) -> Iterator[Extract]:
    cells = [_cell(step) for step in steps]
    start = 0
    while start < len(cells):
        end, width = start, 0
        while end < len(cells) and (end == start or width + len(cells[end][0]) < LINE):
            width += len(cells[end][0]) + 1
            end += 1
        for at, label in enumerate(("REF", "HYP", "Eval")):
            yield Extract(label, ((" ".join(cell[at] for cell in cells[start:end]), ""),))
        start = end


def _cell(step: Operation) -> tuple[str, str, str]:
    """A word under a word, errors in capitals, as wide as the longer one."""
    words = (step.reference, step.answer)
    if step.step != "hit":
        words = (step.reference.upper(), step.answer.upper())
    width = max(map(len, words))
    shown = [word.ljust(width) if word or step.step == "hit" else "*" * width for word in words]
    return shown[0], shown[1], SIGNS[step.step].ljust(width)


def _extracts(truth: Sequence[str], answers: Mapping[str, str]) -> tuple[Extract, ...]:
    versions = [text.split() for text in truth]
    said = Extract("Said", ((" ".join(best_reference(versions, next(iter(answers.values())).split())), ""),))
    heard = ((name, answer.split()) for name, answer in answers.items())
    return said, *(Extract(name, word_pieces(best_reference(versions, words), words)) for name, words in heard)


_moved = moved_figures(_extracts)


def compared_speech(comparison: Comparison) -> tuple[Figure, ...]:
    """The utterances with the largest differences, and MAPSSWE beside our paired test."""
    return (*_moved(comparison), *_mapsswe_tables(comparison))


def _mapsswe_tables(comparison: Comparison) -> Iterator[Table]:
    kept = {name: analysis.scores.kept for name, analysis in comparison.analyses.items()}
    if len({pairs.units for pairs in kept.values()}) > 1:
        return
    steps = {name: [pairs.alignment(at) for at in range(len(pairs.units))] for name, pairs in kept.items()}
    found = {(one, other): matched_pairs(steps[one], steps[other]) for one, other in combinations(kept, 2)}
    rows = [(*pair, test.segments, test.mean, test.z, test.p) for pair, test in found.items()]
    note = (
        "Mean: errors of the first less those of the second, in a segment between words that both have right. p is "
        "two-sided and not adjusted; it takes segments as independent, which our test does not."
    )
    yield Table(MAPSSWE, ("First", "Second", "Segments", "Mean", "z", "p"), rows, note)
