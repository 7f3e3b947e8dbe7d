"""Dependencies: CoNLL-U of a parser against a treebank, scored as the script of the CoNLL 2018 shared task (T-17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite import __version__
from basanite.analysis.results import Analysis
from basanite.figures import Cell, Extract, Figure, Marked, Table
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.formats.texts.conllu import Treebank, read_treebank
from basanite.metrics.text.dependencies import (
    LAS,
    METRICS,
    ZEMAN,
    Parses,
    counts_of,
    relation_rows,
    shares_of,
    statistics,
)
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import one_of

RULE: Final = "T-17"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS: Final = ("document",)
LENGTHS: Final = (10, 20, 40)
COUNTED: Final = ("correct", "gold", "predicted", "aligned")
CONTEXT: Final = 20
"""Characters that are shown where two texts part."""


@dataclass(frozen=True)
class Words:
    """Some words of a treebank that stand in a row: those of one sentence."""

    bank: Treebank
    first: int
    after: int


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The sentences of the treebank, with their documents and how long they are."""
    bank = read_treebank(paths[0], REFERENCE, findings)
    if bank is None:
        return None
    sizes = np.diff(bank.first_word)
    columns = {**bank.columns, "length": tuple(map(_length, sizes.tolist()))}
    return _items(bank, bank.first_word, bank.names, columns)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The sentences of the parser, which may be cut elsewhere than those of the treebank."""
    bank = read_treebank(path, SUBMISSION, findings, any_graph=settings["trees"] == "any")
    return None if bank is None else _items(bank, bank.first_word, bank.names, {})


def _items(bank: Treebank, first: Any, names: Sequence[str], columns: Mapping[str, tuple[str, ...]]) -> Items:
    words = _words_between(bank, first)
    return Items(bank.file, tuple(names), words, bank.first_line, bank.digest, columns)


def _words_between(bank: Treebank, first: Any) -> tuple[Words, ...]:
    return tuple(Words(bank, begin, end) for begin, end in pairwise(first.tolist()))


def _length(words: int) -> str:
    for shorter, longest in zip((0, *LENGTHS), LENGTHS, strict=False):
        if words <= longest:
            return f"{shorter + 1} to {longest} words" if shorter else f"up to {longest} words"
    return f"over {LENGTHS[-1]} words"


class DependencyRun(ItemRun):
    """A parsed text; its sentences and words are found in those of the reference by their characters."""

    def close(self, findings: Findings) -> None:
        """Check that both sides are the same text."""
        if self.answers is None or self.reference is None or not findings.valid:
            return
        problem = _other_text(_bank(self.reference), _bank(self.answers))
        if problem is not None:
            findings.add(problem)

    def pairs(self) -> Pairs:
        """The sentences of the reference, each with the words of the answer that begin in it."""
        assert self.reference is not None  # there is nothing to score without a treebank
        assert self.answers is not None  # only a valid submission is scored
        truth, bank = self.reference, _bank(self.answers)
        first = np.searchsorted(bank.starts, _bank(truth).sentence_starts)
        given = _words_between(bank, np.append(first, len(bank.starts)))
        files = {"reference": truth.file, "submission": self.answers.file}
        return Pairs(self.spec.unit, truth.ids, truth.content, given, truth.columns, files)


def _bank(items: Items) -> Treebank:
    words: Words = items.content[0]
    return words.bank


def _other_text(gold: Treebank, answers: Treebank) -> Problem | None:
    """The one problem of answers to another text: where the two part."""
    if gold.text == answers.text:
        return None
    same = _common_beginning(gold.text, answers.text)
    ours, theirs = (side.text[same : same + CONTEXT] or "the end" for side in (gold, answers))
    message = f"the words are those of another text: {theirs!r} where the reference has {ours!r}"
    place = f"line {gold.line_at(min(same, len(gold.text) - 1))} of {gold.file}"
    fix = f"parse the same text, with no character changed, left out or added; compare {place}"
    return SUBMISSION.problem(answers.file, answers.line_at(min(same, len(answers.text) - 1)), message, fix, theirs)


def _common_beginning(one: str, other: str) -> int:
    """How many characters two texts share from their beginning, by halves."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def count(pairs: Pairs, settings: Settings) -> Counted:
    """The words of every sentence that are right by each value."""
    gold, answers = pairs.references[0].bank, pairs.answers[0].bank
    block = Parses(gold, answers, subtypes=settings["relations"] == "full")
    table = pairs.table(LAS.columns, statistics(block), {"relation": relation_rows(block)})
    return Counted(
        METRICS,
        dict.fromkeys((metric.name for metric in METRICS), table),
        notes=tuple(_notes(gold, answers)),
        parts={metric.name: shares_of(counts_of(table.rows, metric.name)) for metric in METRICS},
        signatures={metric.name: _signature(metric.name, settings) for metric in METRICS},
    )


def _notes(gold: Treebank, answers: Treebank) -> Iterator[str]:
    if len(gold.starts) != len(answers.starts):
        yield f"the reference has {len(gold.starts)} words and the answer {len(answers.starts)}, aligned by characters"
    if len(gold.first_line) != len(answers.first_line):
        number = f"{len(gold.first_line)} sentences and the answer {len(answers.first_line)}"
        yield f"the reference has {number}: words count with the sentence of the reference in which they begin"


def _signature(name: str, settings: Settings) -> str:
    return f"{name}|rules:conll18|relations:{settings['relations']}|trees:{settings['trees']}|basanite:{__version__}"


def dependency_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """What is behind each value, as the script counts it with `-c`."""
    rows: list[tuple[Cell, ...]] = []
    for metric in analysis.scores.metrics:
        counts = counts_of(analysis.scores.tables[metric.name].rows, metric.name)
        rows.append((metric.display_name, *map(counts.get, COUNTED)))
    note = "Each value is twice what is correct over what the reference and the answer have together."
    return (Table("Counts of tokens, sentences and words", ("Metric", *map(str.title, COUNTED)), rows, note),)


def _extracts(truth: Words, answers: Mapping[str, Words]) -> tuple[Extract, ...]:
    """The sentence, and what each system made of every word whose parent or relation is wrong."""
    sentence = " ".join(truth.bank.forms[truth.first : truth.after])
    told = (Extract(name, _wrong_words(truth, given)) for name, given in answers.items())
    return Extract("Sentence", ((sentence, ""),)), *told


def _wrong_words(truth: Words, given: Words) -> tuple[tuple[str, Marked], ...]:
    ours = {_place(truth, at): _attachment(truth, at) for at in range(truth.first, truth.after)}
    pieces: list[tuple[str, Marked]] = []
    for at in range(given.first, given.after):
        found, wanted = _attachment(given, at), ours.get(_place(given, at))
        if wanted is None:
            pieces += [(f"{given.bank.forms[at]} (no word of the reference)", "added"), ("; ", "")]
        elif found != wanted:
            pieces += [(f"{given.bank.forms[at]} {found}", "changed"), (f" not {wanted}", ""), ("; ", "")]
    return tuple(pieces[:-1]) or (("all words are right", ""),)


def _place(words: Words, at: int) -> tuple[int, int, str]:
    bank = words.bank
    return int(bank.starts[at]), int(bank.ends[at]), bank.forms[at].lower() if bank.several[at] else ""


def _attachment(words: Words, at: int) -> str:
    bank, parent = words.bank, int(words.bank.parents[at])
    return f"({bank.relations[at].partition(':')[0]} of {bank.forms[parent] if parent >= 0 else 'the root'})"


SPEC = ItemSpec(
    name="dependencies",
    unit="sentence",
    rule=RULE,
    primary=LAS.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
)
TASK = Task(
    name="dependencies",
    summary="Dependency parsing: CoNLL-U scored against a treebank by the metrics of the CoNLL 2018 script",
    citation=ZEMAN,
    unit="sentence",
    primary=LAS.name,
    metrics=METRICS,
    open=opener(SPEC, DependencyRun),
    settings=(
        Setting(
            "trees",
            "How to treat a sentence with several roots or a cycle: reject (as the script does) or any (accept it).",
            partial(one_of, ("reject", "any")),
            "reject",
        ),
        Setting(
            "relations",
            "Which relations are compared: universal (cut at the colon, as the script does) or full.",
            partial(one_of, ("universal", "full")),
            "universal",
        ),
    ),
    figures=dependency_figures,
    compared_figures=moved_figures(_extracts),
    answers=AnswerFormat(
        "The same sentences as in the data, parsed, in CoNLL-U.",
        example=(
            "1\tOslo\tOslo\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\t_\n"
            "2\tknew\tknow\tVERB\tVBD\tTense=Past|VerbForm=Fin\t0\troot\t_\t_\n"
            "3\tAcme\tAcme\tPROPN\tNNP\tNumber=Sing\t2\tobj\t_\t_\n"
            "4\tBank\tBank\tPROPN\tNNP\tNumber=Sing\t3\tflat\t_\t_\n"
        ),
    ),
)
