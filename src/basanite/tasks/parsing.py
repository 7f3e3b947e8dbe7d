"""Parsing: the trees of a parser against those of a treebank, scored by PARSEVAL with the rules of evalb (T-2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite import __version__
from basanite.analysis.results import Comparison
from basanite.figures import Extract, Figure, Marked
from basanite.formats.items import Items, read_items, text_of
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.single_file import beginning_of
from basanite.formats.texts.evalb_parameters import Parameters, read_parameters
from basanite.formats.texts.trees import Names, Trees, read_trees, tree_texts
from basanite.metrics.text.parsing import (
    CROSSING_BRACKETS,
    LABELLED_F1,
    METRICS,
    Parses,
    bracket_differences,
    statistics,
)
from basanite.metrics.text.pruning import (
    DELETED,
    Bracket,
    Pruned,
    Rules,
    equivalence,
    fitting,
    kept_by_reference,
    lengths,
    misfit,
    pruned,
)
from basanite.problems import Findings, Problem, Severity
from basanite.tasks import Inputs, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved import moved_figures
from basanite.tasks.setting_kinds import one_of

RULE = "T-2"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
SEVERITIES: Mapping[str, Severity] = {"count": "warn", "evalb": "warn", "reject": "reject"}
TREATED = {"count": "counted as trees without brackets", "evalb": "left out of all values, as evalb does"}
CUTOFF = 40


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The trees of the treebank; all must be whole. How long a sentence is becomes a factor."""
    items = _read(paths[0], REFERENCE, settings, findings)
    if items is None:
        return None
    trees = read_trees(items.content)
    findings.extend(_faults(items, trees, REFERENCE, "reject"))
    long = lengths(trees, rules_of(settings)) > settings["cutoff"]
    names = f"up to {settings['cutoff']} words", f"over {settings['cutoff']} words"
    return replace(items, columns={**items.columns, "length": tuple(names[int(one)] for one in long)})


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The trees of the parser, whole or not."""
    return _read(path, SUBMISSION, settings, findings)


def _read(path: Path, place: Place, settings: Settings, findings: Findings) -> Items | None:
    if settings["layout"] == "lines":
        if not _runs_over_lines(path):
            return read_items(path, text_of, place, findings, used=("text",))
        message, fix = "its trees run over several lines, and one line is read as one tree", "set layout to trees"
        findings.add(place.problem(path.name, None, message, fix, hint="`--set layout=trees`"))
        return None
    file = open_single(path, place, findings)
    if file is None:
        return None
    found = list(tree_texts(file.data.decode("utf-8-sig", "replace")))
    numbers = tuple(str(number) for number in range(1, len(found) + 1))
    texts = tuple(text for _, text in found)
    return Items(path.name, numbers, texts, [line for line, _ in found], digest_of([(path.name, file.raw)]))


def _runs_over_lines(path: Path) -> bool:
    """Whether the first tree of a file ends on a later line, and most lines are but pieces of trees."""
    start = beginning_of(path)
    _, first = next(tree_texts(start.text), (0, ""))
    pieces = sum(line.count("(") != line.count(")") for line in start.lines)
    return "\n" in first and first.count("(") == first.count(")") and 2 * pieces > len(start.lines)


def _faults(items: Items, trees: Trees, place: Place, severity: Severity) -> Iterator[Problem]:
    """The texts that are no trees, or have no word."""
    for number, line in enumerate(items.lines):
        broken = trees.broken.get(number)
        if broken is not None:
            found = items.content[number]
            yield place.problem(items.file, line, broken.fault, broken.fix, found, severity=severity)
        elif trees.first_word[number] == trees.first_word[number + 1]:
            yield place.problem(items.file, line, "there is no tree", "write a tree, one a line", severity=severity)


class ParsingRun(ItemRun):
    """A file of trees; those that do not fit their sentence are told and counted, never passed over."""

    def __init__(self, spec: ItemSpec, *args: Any) -> None:
        super().__init__(replace(spec, count=self.count), *args)
        self.parses: Parses | None = None

    def close(self, findings: Findings) -> None:
        """Check the whole, and every tree against its sentence."""
        super().close(findings)
        if self.answers is None:
            return
        severity = SEVERITIES[self.settings["mismatch"]]
        if self.reference is None:
            findings.extend(_faults(self.answers, read_trees(self.answers.content), SUBMISSION, severity))
        elif set(self.reference.ids) == set(self.answers.ids):
            findings.extend(self._compare(self.reference, self.answers, severity))

    def _compare(self, reference: Items, answers: Items, severity: Severity) -> Iterator[Problem]:
        names, place = Names(), {name: at for at, name in enumerate(answers.ids)}
        order = [place[name] for name in reference.ids]
        gold = read_trees(reference.content, names)
        given = read_trees([answers.content[at] for at in order], names)
        lines = [answers.lines[at] for at in order]
        self.parses = compared(gold, given, self.settings, reference.ids)
        placed = replace(answers, content=tuple(answers.content[at] for at in order), lines=lines)
        faults = list(_faults(placed, given, SUBMISSION, severity))
        yield from faults
        told = {problem.line for problem in faults}
        for number in np.flatnonzero(~self.parses.fits).tolist():
            if lines[number] not in told:
                why = misfit(self.parses.gold, self.parses.answers, number)
                message = f"the tree is none of its sentence: {why}"
                fix = "parse the words of the reference; see also the settings deletion and mismatch"
                found = placed.content[number]
                yield SUBMISSION.problem(answers.file, lines[number], message, fix, found, severity=severity)

    def count(self, pairs: Pairs, settings: Settings) -> Counted:
        """The brackets of every sentence."""
        assert self.parses is not None  # only what was closed is scored
        rows = statistics(self.parses)
        table = pairs.table(LABELLED_F1.columns, rows)
        misfits = int(np.count_nonzero(~self.parses.fits))
        said = f"{misfits} of {len(rows)} trees do not fit their sentence: {TREATED.get(settings['mismatch'], '')}"
        flags = (said,) if misfits else ()
        parts = {name: int(total) for name, total in zip(LABELLED_F1.columns, rows.sum(axis=0), strict=True)}
        return Counted(
            METRICS,
            dict.fromkeys((metric.name for metric in METRICS), table),
            notes=(*_notes(parts, settings), *flags),
            flags={metric.name: flags for metric in METRICS} | _crossing_flag(misfits, len(rows)),
            parts={LABELLED_F1.name: parts},
            signatures={metric.name: _signature(metric.name, settings) for metric in METRICS},
        )


def compared(gold: Trees, answers: Trees, settings: Settings, units: Sequence[str]) -> Parses:
    """Both sides by the rules, side by side."""
    rules = rules_of(settings)
    kept = kept_by_reference(gold, answers, rules) if settings["deletion"] == "reference" else None
    ours, theirs = pruned(gold, rules), pruned(answers, rules, kept)
    fits = fitting(ours, theirs)
    fits[list(answers.broken)] = False
    return Parses(units, ours, theirs, fits, leave_out=settings["mismatch"] == "evalb")


def rules_of(settings: Settings) -> Rules:
    """The rules that the settings of a run stand for."""
    return Rules(
        frozenset(settings["deleted"]),
        equivalence(settings["equal"]),
        equivalence(settings["equal_words"]),
        not_in_length=frozenset(settings["not_in_length"]),
    )


def _crossing_flag(misfits: int, trees: int) -> dict[str, tuple[str, ...]]:
    """A tree that does not fit can cross nothing, so it is never in this mean."""
    return {CROSSING_BRACKETS.name: (f"over the {trees - misfits} of {trees} trees that fit",) if misfits else ()}


def _notes(parts: Mapping[str, float], settings: Settings) -> Iterator[str]:
    yield "crossing is the mean number of brackets of the answer that cross some bracket of the reference"
    for side, name in (("gold", "the reference"), ("answered", "the answers")):
        if not parts[side]:
            yield f"no bracket is left in {name}: values that divide by their number are undefined"
    for word in settings["not_followed"]:
        yield f"{word} of the parameter file is not followed: set deletion=reference for trees with other tags"


def _signature(name: str, settings: Settings) -> str:
    equal = ",".join(f"{one}={other}" for one, other in settings["equal"]) or "none"
    deleted = " ".join(settings["deleted"]) or "none"
    rules = f"deleted:{deleted}|cut:-=|equal:{equal}|deletion:{settings['deletion']}|mismatch:{settings['mismatch']}"
    return f"{name}|rules:evalb|{rules}|basanite:{__version__}"


def open_parsing(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open a run by its settings, a parameter file among them."""
    return opener(SPEC, ParsingRun)(inputs, resolved(settings), findings, executor)


def resolved(settings: Settings) -> dict[str, Any]:
    """The settings as they are recorded: the rules themselves in the place of a parameter file."""
    usual = Parameters(DELETED, ("-NONE-",), (("PRT", "ADVP"),), cutoff=CUTOFF)
    file = settings["parameters"]
    told = usual if file is None else read_parameters(file)
    found = {
        "deleted": told.deleted,
        "equal": told.equal_labels,
        "equal_words": told.equal_words,
        "not_in_length": told.not_in_length,
        "cutoff": CUTOFF if told.cutoff is None else told.cutoff,
    }
    given = {name: value for name, value in settings.items() if value is not None and name != "parameters"}
    return {**found, "not_followed": told.not_followed, **given}


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """The sentences on which two parsers differ most, with the brackets that each got wrong."""
    settings = next(iter(comparison.analyses.values())).scores.settings
    return moved_figures(partial(_shown, settings))(comparison)


def _shown(settings: Settings, truth: str, answers: Mapping[str, str]) -> tuple[Extract, ...]:
    names = Names()
    gold = read_trees([truth], names)
    sides = {name: compared(gold, read_trees([text], names), settings, ("",)) for name, text in answers.items()}
    ours = pruned(gold, rules_of(settings))
    sentence = " ".join(ours.sentence(0))
    told = (Extract(name, _pieces(ours, side)) for name, side in sides.items())
    return Extract("Sentence", ((sentence, ""),)), *told


def _pieces(gold: Pruned, side: Parses) -> tuple[tuple[str, Marked], ...]:
    """The brackets that only the reference has, marked as missing, and those that only the answer has, as added."""
    if not side.fits[0]:
        return (("the tree does not fit the sentence", "changed"),)
    words, found = gold.sentence(0), bracket_differences(gold.brackets(0), side.answers.brackets(0))
    marks: tuple[tuple[Sequence[Bracket], Marked], ...] = ((found.only_first, "missing"), (found.only_second, "added"))
    pieces = [(_words(bracket, words), mark) for brackets, mark in marks for bracket in brackets]
    return tuple(part for piece in pieces for part in (piece, (" ", ""))) or (("all brackets are right", ""),)


def _words(bracket: Bracket, words: Sequence[str]) -> str:
    start, end, label = bracket
    return f"({label} {' '.join(words[start:end])})"


def _labels(text: str) -> tuple[str, ...]:
    """Labels with spaces between them; a comma is itself a label."""
    return tuple(dict.fromkeys(text.split()))


def _equals(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [pair.partition("=") for pair in text.split()]
    if any(not one or not other for one, _, other in pairs):
        raise ValueError("write pairs like ADVP=PRT with spaces between them")
    return tuple((one, other) for one, _, other in pairs)


def _cutoff(text: str) -> int:
    if not text.isdecimal() or int(text[:9]) == 0:
        raise ValueError("it must be a whole number above 0")
    return int(text[:9])


SPEC = ItemSpec(
    name="parsing",
    unit="sentence",
    rule=RULE,
    primary=LABELLED_F1.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=lambda pairs, settings: Counted((), {}),  # each run counts what it compared while checking
    clusters=CLUSTERS,
)
TASK = Task(
    name="parsing",
    summary="Parsing: bracketed trees against a treebank, by PARSEVAL with the rules of evalb",
    citation=LABELLED_F1.citation,
    unit="sentence",
    primary=LABELLED_F1.name,
    metrics=METRICS,
    open=open_parsing,
    settings=(
        Setting(
            "mismatch",
            "What becomes of a tree that does not fit its sentence: count (as one without brackets), evalb (left out), "
            "reject.",
            partial(one_of, tuple(SEVERITIES)),
            "count",
        ),
        Setting("parameters", "A parameter file of evalb (.prm).", Path),
        Setting("deleted", f"Labels and tags to delete, with spaces between. Usual: {' '.join(DELETED)}", _labels),
        Setting("equal", "Labels that count as equal, like ADVP=PRT, with spaces between.", _equals),
        Setting("cutoff", "The longest sentence of the shorter level of the factor length. Usual: 40.", _cutoff),
        Setting(
            "deletion",
            "Whose tags say which words are deleted from an answer: its own, or those of the reference.",
            partial(one_of, ("own", "reference")),
            "own",
        ),
        Setting(
            "layout",
            "Whether each line holds a tree (lines), or trees may run over lines (trees).",
            partial(one_of, ("lines", "trees")),
            "lines",
        ),
    ),
    compared_figures=compared_figures,
)
