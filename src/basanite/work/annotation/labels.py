"""What people want to mark, as lists of labels: made into a configuration that needs no ontology (R-40).

A set of labels is what other tools call a schema: labels of words with attributes, questions about the whole text, and
relations. Names in a configuration are words; a label that is none keeps its own words as the title.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from basanite.work.annotation.config.categories import TAKEN, WORD
from basanite.work.annotation.config.model import ENDS, MENTION
from basanite.work.annotation.events import Object

MOST_LABELS: Final = 200
MOST_VALUES: Final = 1_000
_ODD: Final = re.compile(r"\W+")


class LabelError(ValueError):
    """A list of labels that cannot be read; `fix` says what to write."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True)
class Question:
    """Something that is chosen or written: an attribute of a label, or about the whole text."""

    name: str
    values: tuple[str, ...] = ()
    """What it may be; nothing where people write."""
    many: bool = False
    """Whether a text can have several."""


@dataclass(frozen=True)
class SpanLabel:
    """A label of words, with its attributes."""

    name: str
    attributes: tuple[Question, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation between words of some labels; no label means any."""

    name: str
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


Named = TypeVar("Named", Question, SpanLabel, Relation)


@dataclass(frozen=True)
class LabelSet:
    """Everything that can be marked in a project."""

    spans: tuple[SpanLabel, ...] = ()
    questions: tuple[Question, ...] = ()
    relations: tuple[Relation, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all labels, questions and relations, as they were given."""
        return tuple(one.name for several in (self.spans, self.questions, self.relations) for one in several)

    @property
    def words(self) -> Mapping[str, str]:
        """The name in the configuration by the name that was given."""
        return word_names(self.names)

    def joined(self, other: LabelSet) -> LabelSet:
        """Both together; what stands in both keeps all of its values."""
        return LabelSet(
            _join_all(self.spans, other.spans, _join_spans),
            _join_all(self.questions, other.questions, _join_questions),
            _join_all(self.relations, other.relations, _join_relations),
        )


def read_labels(spans: str = "", questions: Sequence[str] = (), relations: Sequence[str] = ()) -> LabelSet:
    """The labels that somebody typed.

    >>> made = read_labels("Person, Place", ["Tone=good,bad"], ["lives_in=Person:Place"])
    >>> made.names, made.relations[0].targets
    (('Person', 'Place', 'Tone', 'lives_in'), ('Place',))
    """
    listed = [SpanLabel(name) for name in _names(spans)]
    asked = [_question(text) for text in questions if text.strip()]
    linked = [_relation(text) for text in relations if text.strip()]
    made = LabelSet(tuple(listed), tuple(asked), tuple(linked))
    check_labels(made)
    return made


def check_labels(made: LabelSet) -> None:
    """Refuse a set without labels, one with the same name twice, and relations of labels that are not there."""
    if not made.spans and not made.questions:
        raise LabelError("there is no label", "give at least one label, such as Person")
    doubled = sorted({name for name in made.names if made.names.count(name) > 1})
    if doubled:
        raise LabelError(f"{doubled[0]!r} appears twice", "give every label, question and relation a name of its own")
    if len(made.names) > MOST_LABELS:
        raise LabelError(f"there are {len(made.names)} labels", f"use at most {MOST_LABELS}")
    known = {one.name for one in made.spans}
    for one in made.relations:
        unknown = sorted({*one.sources, *one.targets} - known)
        if unknown:
            raise LabelError(f"{one.name} joins {unknown[0]!r}, which is not a label", "add it to the labels")
        if not known:
            raise LabelError(f"{one.name} has nothing to join", "add labels of words")


def word_names(names: Iterable[str]) -> dict[str, str]:
    """A name fit for a configuration for each name, no two the same.

    >>> word_names(["Person", "B-LOC", "B LOC", "2nd"])
    {'Person': 'Person', 'B-LOC': 'B_LOC', 'B LOC': 'B_LOC_2', '2nd': 'L_2nd'}
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        word = _ODD.sub("_", name).strip("_")[:50] or "Label"
        word = word if WORD.fullmatch(word) and word not in {*TAKEN, MENTION} else f"L_{word}"
        number = 2
        base = word
        while word in found.values():
            word, number = f"{base}_{number}", number + 1
        found[name] = word
    return found


def config_text(name: str, title: str, labels: LabelSet) -> str:
    """The configuration of a set of labels, as a file that people can change afterwards."""
    words, keys = labels.words, _Keys()
    lines = [f"annotation: {name}", "version: 1", f"title: {_yaml_text(title)}", "categories:"]
    for span in labels.spans:
        key = keys.take(span.name)
        fields = ", ".join(_field(one) for one in _with_words(span.attributes))
        parts = ["mention: span", *([f"key: {_yaml_text(key)}"] if key else [])]
        parts += [f"fields: {{{fields}}}"] if fields else []
        lines.append(_category(words[span.name], span.name, parts))
    for one in labels.questions:
        repeat = "" if one.many else 'repeat: "0..1"'
        value = f"choices: {_yaml_list(one.values)}" if one.values else "value: text"
        lines.append(_category(words[one.name], one.name, [value, *([repeat] if repeat else []), "mention: none"]))
    spans = [one.name for one in labels.spans]
    for relation in labels.relations:
        ends = zip(ENDS, (relation.sources or spans, relation.targets or spans), strict=True)
        table = ", ".join(f"{end}: {{object: {_yaml_list([words[one] for one in names])}}}" for end, names in ends)
        lines.append(_category(words[relation.name], relation.name, [f"table: {{{table}}}"]))
    return "".join(f"{line}\n" for line in lines)


def attribute_words(attributes: Sequence[Question]) -> dict[str, str]:
    """The names of attributes as fields of a configuration."""
    return word_names(one.name for one in attributes)


def labels_seen(objects: Iterable[Object], links: Iterable[tuple[str, str, str]]) -> LabelSet:
    """The labels that some annotations use: for files that come without a schema.

    `links` are kind, label of the source and label of the target.
    """
    spans: dict[str, dict[str, dict[str, None]]] = {}
    questions: dict[str, dict[str, None]] = {}
    for one in objects:
        if not one.mentions:
            questions.setdefault(one.category, {}).update(dict.fromkeys(filter(None, one.fields.values())))
            continue
        fields = spans.setdefault(one.category, {})
        for name, value in one.fields.items():
            fields.setdefault(name, {})[value] = None
    relations: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for kind, source, target in links:
        ends = relations.setdefault(kind, ({}, {}))
        ends[0][source], ends[1][target] = None, None
    return LabelSet(
        tuple(
            SpanLabel(name, tuple(Question(key, _choices(values)) for key, values in fields.items()))
            for name, fields in spans.items()
        ),
        tuple(Question(name, _choices(values), many=True) for name, values in questions.items() if name not in spans),
        tuple(
            Relation(kind, tuple(one for one in sources if one in spans), tuple(one for one in targets if one in spans))
            for kind, (sources, targets) in relations.items()
            if kind not in spans and kind not in questions
        ),
    )


MOST_SEEN: Final = 50
"""Different values up to which a field is a list of choices; beyond that, people write."""


def _choices(values: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(value for value in values if value.strip()))
    short = all(len(value) <= 100 for value in found)
    return found if len(found) <= MOST_SEEN and short else ()


def _names(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]


def _question(text: str) -> Question:
    name, sign, values = text.partition("=")
    if not name.strip() or not sign:
        raise LabelError(
            f"{text.strip()[:60]!r} is not a question", "write Tone=good,neutral,bad; or Comment= for text"
        )
    many = name.strip().endswith("*")
    listed = tuple(dict.fromkeys(_names(values)))
    if len(listed) > MOST_VALUES:
        raise LabelError(f"{name.strip()[:60]} has {len(listed)} answers", f"give at most {MOST_VALUES}")
    return Question(name.strip().removesuffix("*").strip(), listed, many)


def _relation(text: str) -> Relation:
    name, _, ends = text.partition("=")
    source, sign, target = ends.partition(":")
    if not name.strip() or (ends.strip() and not sign):
        raise LabelError(
            f"{text.strip()[:60]!r} is not a relation", "write works_for=Person:Company, or works_for alone"
        )
    return Relation(name.strip(), _either(source), _either(target))


def _either(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|") if part.strip())


def _join_all(one: Sequence[Named], other: Sequence[Named], join: Callable[[Named, Named], Named]) -> tuple[Named, ...]:
    found = {each.name: each for each in one}
    for each in other:
        found[each.name] = join(found[each.name], each) if each.name in found else each
    return tuple(found.values())


def _join_questions(one: Question, other: Question) -> Question:
    if not one.values or not other.values:
        return replace(one, values=())
    return replace(one, values=tuple(dict.fromkeys((*one.values, *other.values))), many=one.many or other.many)


def _join_spans(one: SpanLabel, other: SpanLabel) -> SpanLabel:
    return SpanLabel(one.name, _join_all(one.attributes, other.attributes, _join_questions))


def _join_relations(one: Relation, other: Relation) -> Relation:
    sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
    return Relation(one.name, sources, tuple(dict.fromkeys((*one.targets, *other.targets))))


def _with_words(attributes: Sequence[Question]) -> list[tuple[str, Question]]:
    words = attribute_words(attributes)
    return [(words[one.name], one) for one in attributes]


def _field(named: tuple[str, Question]) -> str:
    word, one = named
    title = f"title: {_yaml_text(one.name)}"
    return f"{word}: {{{title}, {f'choices: {_yaml_list(one.values)}' if one.values else 'type: text'}}}"


def _category(word: str, name: str, parts: Sequence[str]) -> str:
    titled = [f"title: {_yaml_text(name)}"] if word != name else []
    return f"  {word}: {{{', '.join((*titled, *parts))}}}"


def _yaml_list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_yaml_text, values))}]"


def _yaml_text(text: str) -> str:
    """A string of JSON is one of YAML; what stays outside of ASCII is written as it is."""
    return json.dumps(text, ensure_ascii=False)


@dataclass
class _Keys:
    """Letters that mark words, one for each label: the first of its own letters that is free, else any."""

    taken: set[str] = field(default_factory=set)

    def take(self, name: str) -> str:
        """The key of a label; none once all letters are taken."""
        own = [letter for letter in name.lower() if letter.isascii() and letter.isalpha()]
        free = next((one for one in (*own, *"abcdefghijklmnopqrstuvwxyz") if one not in self.taken), "")
        self.taken.add(free)
        return free
