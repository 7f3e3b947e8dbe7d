"""Parsing: the trees of a parser against those of a treebank, scored by PARSEVAL with the rules of evalb (T-2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from basanite import __version__
from basanite.analysis.results import Comparison
from basanite.figures import Extract, Figure, Marked
from basanite.formats.archives.archive import open_source
from basanite.formats.file_kinds import ending_kind, text_kind
from basanite.formats.items import Items, read_items, take_items, text_of
from basanite.formats.kinds.general import PLAIN
from basanite.formats.kinds.kind import RECORDS, Beginning
from basanite.formats.kinds.structure import TREES
from basanite.formats.records import Place, digest_of, open_single, read_lines
from basanite.formats.single_file import beginning_of
from basanite.formats.texts.trees import Names, Parameters, Trees, read_parameters, read_trees, tree_texts
from basanite.metrics.text.parsing import (
    CROSSING,
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
    kept_with_quotes,
    kept_words,
    lengths,
    misfit,
    prune_trees,
)
from basanite.problems import Findings, Problem, Severity
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.parsing import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import one_of

RULE = "T-2"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
SEVERITIES: Mapping[str, Severity] = {"count": "warn", "evalb": "warn", "reject": "reject"}
TREATED = {"count": "counted as trees without brackets", "evalb": "left out of all values, as evalb does"}
CUTOFF = 40
FOLDERS_DEEP = 4
"""How deep the files of a treebank may lie: `wsj/00/wsj_0001.mrg`."""


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
    if path.is_dir():
        return _read_treebank(path, place, findings)
    start = beginning_of(path)
    spread = _runs_over_lines(start)
    if settings["layout"] == "lines" and spread:
        message, fix = "its trees run over several lines, and one line is read as one tree", "set layout to trees"
        findings.add(place.problem(path.name, None, message, fix, hint="`--set layout=trees`"))
        return None
    if settings["layout"] != "trees" and not spread:
        return _read_a_line_each(path, start, place, findings)
    file = open_single(path, place, findings)
    if file is None:
        return None
    found = list(tree_texts(file.data.decode("utf-8-sig", "replace")))
    numbers = tuple(str(number) for number in range(1, len(found) + 1))
    texts = tuple(text for _, text in found)
    digest = digest_of([(path.name, file.raw)])
    return Items(path.name, numbers, texts, [line for line, _ in found], digest, numbered=True)


def _read_treebank(path: Path, place: Place, findings: Findings) -> Items:
    """A folder of files of trees, as the Penn Treebank comes; trees are paired by file and number."""
    names: list[str] = []
    found: list[tuple[int, str]] = []
    files: list[tuple[str, bytes]] = []
    for member in open_source(path, depth=FOLDERS_DEEP, where=place.where).members(findings):
        stem = member.name.removesuffix(PurePosixPath(member.name).suffix)
        if any(stem == PurePosixPath(name).with_suffix("").as_posix() for name, _ in files):
            message = "another file is called the same but for its ending, so trees cannot be paired by file"
            findings.add(place.problem(f"{path.name}/{member.name}", None, message, "give one file of each name"))
            continue
        trees = list(tree_texts(member.data.decode("utf-8-sig", "replace")))
        names += (f"{stem}:{number}" for number in range(1, len(trees) + 1))
        found += trees
        files.append((member.name, member.data))
    texts = tuple(text for _, text in found)
    return Items(path.name, tuple(names), texts, [line for line, _ in found], digest_of(files))


def _read_a_line_each(path: Path, start: Beginning, place: Place, findings: Findings) -> Items | None:
    """A tree a line, or records; a text in which most lines have no bracket is something else, and told once."""
    kind = text_kind(start) or ending_kind(start.ending) or PLAIN
    if kind is TREES:
        return take_items(read_lines(path, place, findings), text_of, place, findings, used=("text",))
    bare = sum("(" not in line for line in start.lines)
    if kind is PLAIN and 2 * bare > len(start.lines):
        message = f"this is not a file of bracketed trees: {bare} of the first {len(start.lines)} lines have no bracket"
        fix = "give trees like (S (NP (DT the) (NN dog)) (VP (VBD ran))), one per line or over several lines"
        findings.add(place.problem(path.name, None, message, fix, start.lines[0]))
        return None
    return read_items(path, text_of, place, findings, used=("text",))


def _runs_over_lines(start: Beginning) -> bool:
    """Whether a tree at the start of a file ends on a later line, and most lines are but pieces of trees."""
    whole = (text for _, text in islice(tree_texts(start.text), RECORDS) if text.count("(") == text.count(")"))
    pieces = sum(line.count("(") != line.count(")") for line in start.lines)
    return any("\n" in text for text in whole) and 2 * pieces > len(start.lines)


def _faults(items: Items, trees: Trees, place: Place, severity: Severity) -> Iterator[Problem]:
    """The texts that are no trees, or have no word."""
    for number, line in enumerate(items.lines):
        broken = trees.broken.get(number)
        if broken is not None:
            found = items.content[number]
            yield place.problem(items.file, line, broken.fault, broken.fix, found, severity=severity)
        elif trees.first_word[number] == trees.first_word[number + 1]:
            yield place.problem(items.file, line, "there is no tree", "write a tree, one per line", severity=severity)


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
        self.parses = prune_both_sides(gold, given, self.settings, reference.ids)
        placed = replace(answers, content=tuple(answers.content[at] for at in order), lines=lines)
        faults = list(_faults(placed, given, SUBMISSION, severity))
        yield from faults
        told = {problem.line for problem in faults}
        for number in np.flatnonzero(~self.parses.fits).tolist():
            if lines[number] not in told:
                why = misfit(self.parses.gold, self.parses.answers, number)
                message = f"the tree does not match its sentence: {why}"
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
        # a tree that does not fit can cross nothing, so it is never in that mean
        fitting = (f"over the {len(rows) - misfits} of {len(rows)} trees that fit",) if misfits else ()
        return Counted(
            METRICS,
            dict.fromkeys((metric.name for metric in METRICS), table),
            notes=(*_notes(parts, settings), *flags),
            flags={metric.name: flags for metric in METRICS} | {CROSSING.name: fitting},
            parts={LABELLED_F1.name: parts},
            signatures={metric.name: _signature(metric.name, settings) for metric in METRICS},
        )


def prune_both_sides(gold: Trees, answers: Trees, settings: Settings, units: Sequence[str]) -> Parses:
    """Both sides by the rules, side by side."""
    rules = rules_of(settings)
    if settings["deletion"] == "reference":
        kept = kept_words(gold, rules), kept_by_reference(gold, answers, rules)
    else:
        kept = kept_with_quotes(gold, answers, rules)
    ours, theirs = prune_trees(gold, rules, kept[0]), prune_trees(answers, rules, kept[1])
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
        quotes=frozenset(settings["quotes"]),
    )


def _notes(parts: Mapping[str, float], settings: Settings) -> Iterator[str]:
    yield "crossing is the mean number of brackets of the answer that cross some bracket of the reference"
    for side, name in (("gold", "the reference"), ("answered", "the answers")):
        if not parts[side]:
            yield f"no bracket is left in {name}: values that divide by their number are undefined"
    yield from settings["remarks"]


def _signature(name: str, settings: Settings) -> str:
    equal = ",".join(f"{one}={other}" for one, other in settings["equal"]) or "none"
    deleted = " ".join(settings["deleted"]) or "none"
    rules = f"deleted:{deleted}|cut:-=|equal:{equal}|deletion:{settings['deletion']}|mismatch:{settings['mismatch']}"
    quotes = f"|quotes:{' '.join(settings['quotes'])}" if settings["quotes"] else ""
    return f"{name}|rules:evalb|{rules}{quotes}|basanite:{__version__}"


def open_parsing(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open a run by its settings, a parameter file among them."""
    return opener(SPEC, ParsingRun)(inputs, resolve_settings(settings), findings, executor)


def resolve_settings(settings: Settings) -> dict[str, Any]:
    """The settings as they are recorded: the rules themselves in the place of a parameter file."""
    usual = Parameters(DELETED, ("-NONE-",), (("PRT", "ADVP"),), cutoff=CUTOFF)
    file = settings["parameters"]
    told = usual if file is None else read_parameters(file)
    found = {
        "deleted": told.deleted,
        "equal": told.equal_labels,
        "equal_words": told.equal_words,
        "not_in_length": told.not_in_length,
        "quotes": told.quotes,
        "cutoff": CUTOFF if told.cutoff is None else told.cutoff,
    }
    given = {name: value for name, value in settings.items() if value is not None and name != "parameters"}
    return {**found, "remarks": told.remarks, **given}


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """The sentences on which two parsers differ most, with the brackets that each got wrong."""
    settings = next(iter(comparison.analyses.values())).scores.settings
    return moved_figures(partial(_extracts, settings))(comparison)


def _extracts(settings: Settings, truth: str, answers: Mapping[str, str]) -> tuple[Extract, ...]:
    names = Names()
    gold = read_trees([truth], names)
    sides = {name: prune_both_sides(gold, read_trees([text], names), settings, ("",)) for name, text in answers.items()}
    ours = prune_trees(gold, rules_of(settings))
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
    summary="Parsing: bracketed trees scored against a treebank by PARSEVAL, with the rules of evalb",
    citation=LABELLED_F1.citation,
    unit="sentence",
    primary=LABELLED_F1.name,
    metrics=METRICS,
    open=open_parsing,
    settings=(
        Setting(
            "mismatch",
            "How to treat a tree that does not fit its sentence: count (as one without brackets), evalb (left out), "
            "reject.",
            partial(one_of, tuple(SEVERITIES)),
            "count",
        ),
        Setting("parameters", "A parameter file of evalb (.prm).", Path),
        Setting("deleted", f"Labels and tags to delete, with spaces between. Usual: {' '.join(DELETED)}", _labels),
        Setting("equal", "Labels that count as equal, like ADVP=PRT, with spaces between.", _equals),
        Setting("quotes", "Tags that a quotation mark may have: QUOTE_LABEL of evalb, with spaces between.", _labels),
        Setting("cutoff", "The longest sentence in the shorter level of the factor `length`. Usual: 40.", _cutoff),
        Setting(
            "deletion",
            "Whose tags say which words are deleted from an answer: its own, or those of the reference.",
            partial(one_of, ("own", "reference")),
            "own",
        ),
        Setting(
            "layout",
            "Whether each line holds a tree (lines), trees may run over lines (trees), or each file shows it (auto).",
            partial(one_of, ("auto", "lines", "trees")),
            "auto",
        ),
    ),
    compared_figures=compared_figures,
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One bracketed tree for each sentence of the data, in its order.",
        example=(
            "(TOP (S (PP (IN near) (NP (DT no) (JJ old) (NN judge))) (, ,) (NP (DT a) (NN reader)) (VP (VBD "
            "read) (NP (DT the) (NN test)) (PP (IN near) (NP (NNS scores)))) (. .)))\n"
        ),
    ),
)
