"""Tagging: entities and tags of words in CoNLL's columns, scored as seqeval does it, and word senses (T-18)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from basanite import __version__
from basanite.figures import Extract, Marked
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.formats.texts.tag_columns import SenseKey, is_sense_key, read_sense_key, read_tag_columns
from basanite.metrics.text.tagging import (
    F1,
    LABELS,
    METRICS,
    NOTHING,
    SANG,
    SCHEMES,
    STRANGE,
    TAG,
    WHOLE,
    Block,
    Senses,
    Tagged,
    entities,
    scheme_of,
    statistics,
    strict_entities,
    type_rows,
)
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import one_of

RULE: Final = "T-18"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS: Final = ("document",)
AUTO: Final = "auto"
MOST_TYPES: Final = 200
NAMED: Final = 5
KINDS: Final = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
LETTERS: Final = {"n": "noun", "v": "verb", "a": "adjective", "s": "adjective", "r": "adverb"}
SENSE: Final = re.compile(r"\S+%([1-5]):.*|(?:bn|wn):\d{8}([nvars])")
UNDEFINED: Final = {"nan": float("nan"), "0": 0.0, "1": 1.0}
Words = tuple[tuple[str, ...], tuple[str, ...]]
"""The words and the tags of a sentence."""


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The tags of a reference, or a key of senses."""
    if is_sense_key(paths[0], REFERENCE):
        key = read_sense_key(paths[0], REFERENCE, findings)
        return None if key is None else _sense_items(key)
    return _tag_items(paths[0], settings["reference_column"], REFERENCE, findings)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The tags of a system, or its senses."""
    if is_sense_key(path, SUBMISSION):
        key = read_sense_key(path, SUBMISSION, findings)
        return None if key is None else _sense_items(key)
    return _tag_items(path, settings["column"], SUBMISSION, findings)


def _tag_items(path: Path, column: int, place: Place, findings: Findings) -> Items | None:
    read = read_tag_columns(path, column, place, findings)
    if read is None:
        return None
    names = tuple(str(number) for number in range(1, len(read.tags) + 1))
    content = tuple(zip(read.words, read.tags, strict=True))
    columns = {"document": tuple(read.documents)} if any(read.documents) else {}
    return Items(read.file, names, content, read.lines, read.digest, columns, numbered=True)


def _sense_items(key: SenseKey) -> Items:
    names = tuple(key.senses)
    documents = tuple(name.rsplit(".", 2)[0] if name.count(".") > 1 else "" for name in names)
    columns = {"document": documents} if all(documents) else {}
    return Items(key.file, names, tuple(key.senses.values()), [key.lines[name] for name in names], key.digest, columns)


class TaggingRun(ItemRun):
    """Sentences in the order of the reference, or words by their ids, of which some may have no answer."""

    def close(self, findings: Findings) -> None:
        """Check that both sides have the same words, and that tags are of their scheme."""
        truth, answers = self.reference, self.answers
        if truth is None or answers is None or not findings.valid:
            return
        if truth.numbered != answers.numbered:
            ours, theirs = ("tags in columns" if one.numbered else "a key of word senses" for one in (truth, answers))
            fix = f"give {ours} too"
            findings.add(SUBMISSION.problem(answers.file, None, f"this is {theirs}, the reference {ours}", fix))
        elif truth.numbered:
            findings.extend(_other_words(truth, answers))
            if findings.valid:
                findings.extend(_other_tags(answers, self.scheme(), SUBMISSION))
                findings.extend(_other_tags(truth, self.scheme(), REFERENCE))
        else:
            findings.extend(_unknown(truth, answers))

    def scheme(self) -> str:
        """The scheme that is set, or that the tags of the reference show."""
        assert self.reference is not None
        asked: str = self.settings["scheme"]
        return asked if asked != AUTO else scheme_of([tags for _, tags in self.reference.content])

    def pairs(self) -> Pairs:
        """Both sides in the order of the reference; a word without an answer has no sense."""
        truth, answers = self.reference, self.answers
        assert truth is not None
        assert answers is not None
        files = {"reference": truth.file, "submission": answers.file}
        if truth.numbered:
            return Pairs(self.spec.unit, truth.ids, truth.content, answers.content, truth.columns, files)
        given = dict(zip(answers.ids, answers.content, strict=True))
        found = tuple(given.get(name, frozenset()) for name in truth.ids)
        return Pairs("word", truth.ids, truth.content, found, truth.columns, files)

    def count_pairs(self, pairs: Pairs) -> Counted:
        """The entities of every sentence, or the senses of every word."""
        scheme = "senses" if pairs.unit == "word" else self.scheme()
        block, strange = _senses(pairs) if pairs.unit == "word" else _tags_and_types(pairs, scheme)
        return count(pairs, block, strange, {**self.settings, "scheme": scheme})


def _other_words(truth: Items, answers: Items) -> Iterator[Problem]:
    """The first place where two files have not the same words, for all that follows has the same cause."""
    fix = "tag the words of the reference as they are, sentence by sentence"
    for at, (ours, theirs) in enumerate(zip(truth.content, answers.content, strict=False)):
        if len(ours[1]) != len(theirs[1]):
            message = f"the sentence has {len(theirs[1])} words, in {truth.file}:{truth.lines[at]} {len(ours[1])}"
            yield SUBMISSION.problem(answers.file, answers.lines[at], message, fix)
            return
        other = next((n for n, (a, b) in enumerate(zip(ours[0], theirs[0], strict=False)) if a != b), None)
        if other is not None:
            message = f"{theirs[0][other]!r} is where the reference has {ours[0][other]!r}"
            yield SUBMISSION.problem(answers.file, answers.lines[at] + other, message, fix, theirs[0][other])
            return
    if len(truth.ids) != len(answers.ids):
        message = f"{len(answers.ids)} sentences where the reference has {len(truth.ids)}"
        yield SUBMISSION.problem(answers.file, None, message, fix, str(len(answers.ids)))


def _other_tags(items: Items, scheme: str, place: Place) -> Iterator[Problem]:
    """Tags that a scheme does not have."""
    if scheme == LABELS:
        return
    letters = SCHEMES[scheme].tags
    fix = f"write O, or one of {', '.join(f'{one}-TYPE' for one in letters if one != 'O')}"
    for line, (_, tags) in zip(items.lines, items.content, strict=True):
        for at, tag in enumerate(tags):
            if not TAG.fullmatch(tag) or tag[0] not in letters:
                message = f"{tag!r} is not a tag of the scheme {scheme}"
                hint = "`--set scheme=…` names another scheme, `column=…` another column"
                yield place.problem(items.file, line + at, message, fix, tag, hint=hint)


def _unknown(truth: Items, answers: Items) -> Iterator[Problem]:
    """Words that the reference does not have, and whether any is known at all."""
    known = set(truth.ids)
    if known.isdisjoint(answers.ids):
        message = f"none of your {len(answers.ids)} words is in the reference: is this the right data set?"
        yield SUBMISSION.problem(answers.file, None, message, "name words as the reference does", answers.ids[0])
        return
    for name, line in zip(answers.ids, answers.lines, strict=True):
        if name not in known:
            message = f"no word of the reference is called {name!r}: it is ignored"
            yield SUBMISSION.problem(answers.file, line, message, "leave it out", name, severity="warn")


def _tags_and_types(pairs: Pairs, scheme: str) -> tuple[Tagged, set[str]]:
    gold = [tags for _, tags in pairs.references]
    answers = [tags for _, tags in pairs.answers]
    known = [_types(side, scheme) for side in (gold, answers)]
    return Tagged(gold, answers, scheme, tuple(sorted(known[0]))[:MOST_TYPES]), known[1] - known[0]


def _types(sentences: Sequence[Sequence[str]], scheme: str) -> set[str]:
    if scheme == LABELS:
        return {tag for tags in sentences for tag in tags if tag not in NOTHING}
    found = {kind for tags in sentences for _, _, kind in entities(tags)}
    return found | {kind for tags in sentences for _, _, kind in strict_entities(tags, SCHEMES[scheme])}


def _senses(pairs: Pairs) -> tuple[Senses, set[str]]:
    kinds = [_kind(senses) for senses in pairs.references]
    return Senses(pairs.references, pairs.answers, kinds, tuple(sorted(set(kinds)))), set()


def _kind(senses: frozenset[str]) -> str:
    """The part of speech that the first sense names."""
    found = SENSE.fullmatch(min(senses))
    return "sense" if found is None else KINDS.get(found[1] or "") or LETTERS[found[2]]


def count(pairs: Pairs, block: Block, strange: set[str], settings: Mapping[str, Any]) -> Counted:
    """The rows of every unit, whatever they were counted from."""
    rows = statistics(block)
    types = (*block.types, STRANGE)
    columns = (*WHOLE, *(f"{column} {name}" for name in types for column in WHOLE[2:]))
    table = pairs.table(columns, rows, {"type": type_rows(block, rows)})
    metrics = tuple(metric.bind(undefined=UNDEFINED[settings["undefined"]]) for metric in METRICS)
    total = dict(zip(WHOLE, rows.sum(axis=0)[: len(WHOLE)].tolist(), strict=True))
    parts = {name: total[name] for name in ("right", "gold", "answered")}
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=tuple(_notes(pairs, settings["scheme"])),
        flags=_flags(strange),
        parts={F1.name: parts},
        signatures={metric.name: _signature(metric.name, settings) for metric in metrics},
    )


def _notes(pairs: Pairs, scheme: str) -> Iterator[str]:
    if scheme == LABELS:
        yield "each word with a label other than O, _ and - counts as an entity of its own"
    if pairs.unit == "word":
        silent = sum(not senses for senses in pairs.answers)
        if silent:
            yield f"{silent} of {len(pairs.units)} words have no answer: they count for recall"


def _flags(strange: set[str]) -> dict[str, tuple[str, ...]]:
    if len(strange) < 2:
        return {}
    more = f" and {len(strange) - NAMED} more" if len(strange) > NAMED else ""
    named = ", ".join(sorted(strange)[:NAMED]) + more
    words = (f"{len(strange)} types that the reference does not have ({named}) count as one type",)
    return {metric.name: words for metric in METRICS if metric.name.endswith("_macro")}


def _signature(name: str, settings: Settings) -> str:
    undefined = f"|undefined:{settings['undefined']}" if name.endswith("_macro") else ""
    return f"{name}|rules:seqeval|scheme:{settings['scheme']}{undefined}|basanite:{__version__}"


def _extracts(truth: Any, answers: Mapping[str, Any]) -> tuple[Extract, ...]:
    """The sentence with its tags, and what each system tagged otherwise; or the senses."""
    if isinstance(truth, frozenset):
        told = (Extract(name, _senses_answer(truth, senses)) for name, senses in answers.items())
        return Extract("Sense", ((" or ".join(sorted(truth)), ""),)), *told
    shown = " ".join(f"{word}/{tag}" if tag != "O" else word for word, tag in _tagged_words(truth))
    return Extract("Sentence", ((shown, ""),)), *(
        Extract(name, _tag_changes(truth, one)) for name, one in answers.items()
    )


def _tagged_words(content: Words) -> Iterator[tuple[str, str]]:
    words, tags = content
    yield from zip(words or [""] * len(tags), tags, strict=True)


def _senses_answer(truth: frozenset[str], senses: frozenset[str]) -> tuple[tuple[str, Marked], ...]:
    text = " and ".join(sorted(senses)) or "(no answer)"
    return ((text, "" if senses and senses <= truth else "changed"),)


def _tag_changes(truth: Words, given: Words) -> tuple[tuple[str, Marked], ...]:
    pieces: list[tuple[str, Marked]] = []
    for (word, wanted), tag in zip(_tagged_words(truth), given[1], strict=True):
        if tag != wanted:
            pieces += [(f"{word}/{tag}", "changed"), (f" not {wanted}", ""), ("; ", "")]
    return tuple(pieces[:-1]) or (("all tags are right", ""),)


def _column(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii() and 0 < int(digits[:4]) <= 999):
        raise ValueError("it is not a column: count from 1, or from the end as -1")
    return int(text)


SPEC = ItemSpec(
    name="tagging",
    unit="sentence",
    rule=RULE,
    primary=F1.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=lambda pairs, settings: Counted((), {}),  # each run counts what its files hold
    clusters=CLUSTERS,
)
TASK = Task(
    name="tagging",
    summary="Tagging: entities in CoNLL columns (IOB, IOBES, BILOU) counted like seqeval, tags, and word senses",
    citation=SANG,
    unit="sentence",
    primary=F1.name,
    metrics=METRICS,
    open=opener(SPEC, TaggingRun),
    settings=(
        Setting(
            "scheme",
            "The scheme of the tags: auto (as the reference shows it), IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, or labels "
            "(each word has one of its own).",
            partial(one_of, (AUTO, *SCHEMES, LABELS)),
            AUTO,
        ),
        Setting("column", "The column of the tags in a submission, from 1, or from the end as -1.", _column, -1),
        Setting("reference_column", "The column of the tags in the reference.", _column, -1),
        Setting(
            "undefined",
            "What precision or recall of a type is in a mean over types where it is nothing over nothing: 0 (as "
            "seqeval), 1, or nan (left out).",
            partial(one_of, tuple(UNDEFINED)),
            "0",
        ),
    ),
    compared_figures=moved_figures(_extracts),
    answers=AnswerFormat(
        "The words of the texts in columns with the tag last (IOB, IOBES or BILOU), and an empty line "
        "after each sentence. Or a key of word senses.",
        example=("-DOCSTART- d01 O\n\nOslo NNP B-LOC\nknew VBD O\nAcme NNP B-ORG\nBank NNP I-ORG\nnear IN O\n"),
    ),
)
