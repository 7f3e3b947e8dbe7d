"""The small examples of dependencies, tagging and coreference: one made-up set of short documents, seen in three ways.

`python -m tests.synthetic.structure_examples FOLDER` makes all three again, byte for byte.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

SEED, DOCUMENTS, SENTENCES = 23, 20, 4
GENRES = ("news", "story", "letter")
NAMES = {
    "PER": ("Ann Lee", "Tom Reed", "Mia Wolf", "Sam Hill"),
    "ORG": ("Acme Bank", "Nord Line", "Blue Mill"),
    "LOC": ("Oslo", "New Haven", "Lima"),
}
LATER = {"PER": ("she", "the old teacher"), "ORG": ("it", "the company"), "LOC": ("it", "the city")}
VERBS = {"saw": "see", "left": "leave", "knew": "know", "praised": "praise"}
PLACES = ("near the river", "after the war", "with a letter")
WORDS = {
    **{"she": ("she", "PRON", "PRP", "Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs")},
    **{"it": ("it", "PRON", "PRP", "Case=Nom|Gender=Neut|Number=Sing|Person=3|PronType=Prs")},
    **{"the": ("the", "DET", "DT", "Definite=Def|PronType=Art"), "a": ("a", "DET", "DT", "Definite=Ind|PronType=Art")},
    **{"old": ("old", "ADJ", "JJ", "Degree=Pos")},
    **{word: (word, "ADP", "IN", "_") for word in ("near", "after", "with")},
}


@dataclass(frozen=True)
class Word:
    """One word of a sentence; `head` counts from 1, and 0 is the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    relation: str
    joined: bool = False
    """Whether it is written together with the word after it."""


@dataclass(frozen=True)
class Mention:
    """Words from this one up to that one, counted from 0 without the last, of somebody or something."""

    start: int
    end: int
    who: int
    kind: str
    named: bool


@dataclass
class Sentence:
    """A sentence with what people marked in it."""

    words: list[Word] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


class Writer:
    """Documents of a few sentences about the same three."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def document(self) -> list[Sentence]:
        """Each of the three is named once and called something shorter later."""
        cast = [(who, kind, self.dice.choice(NAMES[kind])) for who, kind in enumerate(("PER", "ORG", "LOC"), start=1)]
        seen: set[int] = set()
        return [self._sentence(cast, seen) for _ in range(SENTENCES)]

    def _sentence(self, cast: Sequence[tuple[int, str, str]], seen: set[int]) -> Sentence:
        made = Sentence()
        one, other = self.dice.sample(list(cast), 2)
        subject = self._phrase(made, one, seen, "nsubj")
        denied = self.dice.random() < 0.3
        verb, lemma = self.dice.choice(list(VERBS.items()))
        root = len(made.words) + (3 if denied else 1)
        if denied:
            made.words += [
                Word("did", "do", "AUX", "VBD", "Tense=Past|VerbForm=Fin", root, "aux", joined=True),
                Word("n't", "not", "PART", "RB", "Polarity=Neg", root, "advmod"),
            ]
        form, tag = (lemma, "VB") if denied else (verb, "VBD")
        made.words.append(
            Word(form, lemma, "VERB", tag, "VerbForm=Inf" if denied else "Tense=Past|VerbForm=Fin", 0, "root")
        )
        thing = self._phrase(made, other, seen, "obj")
        for at in (subject, thing):
            made.words[at] = replace(made.words[at], head=root)
        if self.dice.random() < 0.6:
            case, article, noun = self.dice.choice(PLACES).split()
            last = len(made.words) + 3
            made.words += [
                self._word(case, last, "case"),
                self._word(article, last, "det"),
                self._word(noun, root, "obl"),
            ]
        made.words.append(Word(".", ".", "PUNCT", ".", "_", root, "punct"))
        made.words[0] = replace(made.words[0], form=made.words[0].form[0].upper() + made.words[0].form[1:])
        return made

    def _phrase(self, made: Sentence, one: tuple[int, str, str], seen: set[int], relation: str) -> int:
        """Add the words for somebody or something; gives the place of their head."""
        who, kind, name = one
        named = who not in seen
        seen.add(who)
        words = (name if named else self.dice.choice(LATER[kind])).split()
        start = len(made.words)
        head = start if named else start + len(words) - 1
        for at, form in enumerate(words, start=start):
            inner = "flat" if named else {"the": "det", "old": "amod"}.get(form, "dep")
            word = self._word(form, head + 1, inner, named=named)
            made.words.append(replace(word, head=0, relation=relation) if at == head else word)
        made.mentions.append(Mention(start, start + len(words), who, kind, named))
        return head

    def _word(self, form: str, head: int, relation: str, *, named: bool = False) -> Word:
        usual = (form, "PROPN", "NNP", "Number=Sing") if named else (form, "NOUN", "NN", "Number=Sing")
        return Word(form, *WORDS.get(form, usual), head, relation)


class Noise:
    """What a weaker system makes of it."""

    def __init__(self, seed: int, share: float) -> None:
        self.dice, self.share = random.Random(seed), share

    def wrong(self, times: float = 1.0) -> bool:
        """Whether it goes wrong here."""
        return self.dice.random() < self.share * times

    def parse(self, sentence: Sentence) -> Sentence:
        """Phrases hang on the wrong word, relations and tags are mixed up, `didn't` is one word."""
        words = list(sentence.words)
        for at, word in enumerate(words):
            if word.relation == "obl" and self.wrong(2):
                words[at] = replace(
                    word,
                    head=next(n for n, one in enumerate(words, 1) if one.relation in ("obj", "iobj")),
                    relation="nmod",
                )
            elif word.relation == "obj" and self.wrong():
                words[at] = replace(word, relation="iobj")
            elif word.upos == "PROPN" and self.wrong():
                words[at] = replace(word, upos="NOUN", xpos="NN")
            elif word.upos == "ADJ" and self.wrong():
                words[at] = replace(word, lemma="olde", feats="_")
        joined = next((at for at, word in enumerate(words) if word.joined), None)
        if joined is not None and self.wrong(2):
            words = _merged(words, joined)
        return Sentence(words, sentence.mentions)

    def tag(self, mentions: Iterable[Mention]) -> Iterator[Mention]:
        """Names are missed, called something else, or cut short."""
        for one in mentions:
            if self.wrong(0.5):
                continue
            if self.wrong():
                yield replace(one, kind=self.dice.choice([kind for kind in NAMES if kind != one.kind]))
            elif one.end - one.start > 1 and self.wrong():
                yield replace(one, start=one.start + 1)
            else:
                yield one

    def resolve(self, mentions: Iterable[Mention]) -> Iterator[Mention]:
        """Mentions are missed, or taken for somebody else."""
        for one in mentions:
            if not self.wrong(0.5):
                yield replace(one, who=one.who % 3 + 1) if self.wrong() else one


def _merged(words: Sequence[Word], at: int) -> list[Word]:
    """The same with a word and the next one as one, and all heads numbered again."""
    one, other = words[at : at + 2]
    both = replace(one, form=one.form + other.form, joined=False)
    kept = [*words[:at], both, *words[at + 2 :]]
    return [replace(word, head=word.head - (word.head > at + 1)) for word in kept]


def write_examples(folder: Path) -> None:
    """Write all three examples."""
    writer = Writer(SEED)
    documents = [writer.document() for _ in range(DOCUMENTS)]
    write_dependencies(folder / "dependencies", documents)
    write_tagging(folder / "tagging", documents)
    write_coreference(folder / "coreference", documents)


SYSTEMS = {"Alpha": (1, 0.08), "Beta": (2, 0.25)}
"""Seed and share of mistakes of each system."""


def write_dependencies(folder: Path, documents: Sequence[Sequence[Sentence]]) -> None:
    """A treebank, two parsers, and a file with a circle, two roots and a word of another text."""
    _write(folder / "treebank.conllu", _conllu(documents))
    for name, made in SYSTEMS.items():
        noise = Noise(*made)
        parsed = [[noise.parse(sentence) for sentence in document] for document in documents]
        _write(folder / f"{name}.conllu", _conllu(parsed, described=False))
    broken = [list(document) for document in documents]
    words = broken[0][0].words
    broken[0][0] = Sentence(
        [replace(word, head=2 if at == 0 else 1) if at < 2 else word for at, word in enumerate(words)]
    )
    broken[0][2] = Sentence([replace(word, head=0) if word.relation == "obj" else word for word in broken[0][2].words])
    _write(folder / "Broken.conllu", _conllu(broken, described=False))


def write_tagging(folder: Path, documents: Sequence[Sequence[Sentence]]) -> None:
    """Names of people, companies and places in columns, two taggers, and a file with a word too few."""
    _write(folder / "gold.iob", _columns(documents))
    for name, made in SYSTEMS.items():
        noise = Noise(*made)
        tagged = [[Sentence(one.words, list(noise.tag(_named(one)))) for one in document] for document in documents]
        _write(folder / f"{name}.iob", _columns(tagged))
    broken = [[Sentence(one.words[: len(one.words) - (at == 1)], one.mentions) for at, one in enumerate(documents[0])]]
    _write(folder / "Broken.iob", _columns([*broken, *documents[1:]]))


def _named(sentence: Sentence) -> list[Mention]:
    return [one for one in sentence.mentions if one.named]


def _columns(documents: Sequence[Sequence[Sentence]]) -> Iterator[str]:
    for number, document in enumerate(documents, start=1):
        yield from (f"-DOCSTART- d{number:02} O", "")
        for sentence in document:
            tags = ["O"] * len(sentence.words)
            for one in _named(sentence):
                tags[one.start : one.end] = [f"{'I' if at else 'B'}-{one.kind}" for at in range(one.end - one.start)]
            yield from (f"{word.form} {word.xpos} {tag}" for word, tag in zip(sentence.words, tags, strict=True))
            yield ""


def write_coreference(folder: Path, documents: Sequence[Sequence[Sentence]]) -> None:
    """Who is meant, in the columns of CoNLL-2012 and in CorefUD, two systems, and a file with faults."""
    _write(folder / "gold.conll", _chains(documents))
    _write(folder / "gold.conllu", _entity_marks(documents))
    for name, made in SYSTEMS.items():
        noise = Noise(*made)
        found = [[Sentence(one.words, list(noise.resolve(one.mentions))) for one in document] for document in documents]
        _write(folder / f"{name}.conll", _chains(found))
        if name == "Alpha":
            _write(folder / f"{name}.conllu", _entity_marks(found))
    lines = list(_chains(documents))
    _write(
        folder / "Broken.conll",
        [re.sub(r"\t([123])\)$", r"\t7)", line) if at < 20 else line for at, line in enumerate(lines)],
    )


def _chains(documents: Sequence[Sequence[Sentence]]) -> Iterator[str]:
    for number, document in enumerate(documents, start=1):
        name = f"{GENRES[number % len(GENRES)]}/d{number:02}"
        yield f"#begin document ({name}); part 000"
        for sentence in document:
            marks = [_mark(sentence, at) for at in range(len(sentence.words))]
            for at, (word, mark) in enumerate(zip(sentence.words, marks, strict=True)):
                yield f"{name}\t0\t{at}\t{word.form}\t{word.xpos}\t{mark}"
            yield ""
        yield "#end document"


def _mark(sentence: Sentence, at: int) -> str:
    found = [
        "(" * (one.start == at) + str(one.who) + ")" * (one.end == at + 1)
        for one in sentence.mentions
        if at in (one.start, one.end - 1)
    ]
    return "|".join(found) or "-"


def _entity_marks(documents: Sequence[Sequence[Sentence]]) -> Iterator[str]:
    yield "# global.Entity = eid-etype-head-other"
    for number, document in enumerate(documents, start=1):
        for at, sentence in enumerate(document, start=1):
            if at == 1:
                yield from (f"# newdoc id = d{number:02}", f"# meta::genre = {GENRES[number % len(GENRES)]}")
            yield f"# sent_id = d{number:02}-s{at}"
            begins = {one.start: one for one in sentence.mentions}
            ends = {one.end - 1: one for one in sentence.mentions}
            row = 0
            for line in conllu_lines(sentence.words):
                cells = line.split("\t")
                if cells[0].isdecimal():
                    name = f"d{number:02}e"
                    mark = ""
                    if (one := begins.get(row)) is not None:
                        mark = f"({name}{one.who}-{one.kind.lower()}-{1 if one.named else one.end - one.start}-"
                    if (one := ends.get(row)) is not None:
                        mark += ")" if mark else f"{name}{one.who})"
                    cells[9] = f"Entity={mark}" if mark else "_"
                    row += 1
                yield "\t".join(cells)
            yield ""


def _conllu(documents: Sequence[Sequence[Sentence]], *, described: bool = True) -> Iterator[str]:
    for number, document in enumerate(documents, start=1):
        for at, sentence in enumerate(document, start=1):
            if described and at == 1:
                yield f"# newdoc id = d{number:02}"
                yield f"# meta::genre = {GENRES[number % len(GENRES)]}"
            if described:
                yield f"# sent_id = d{number:02}-s{at}"
            yield from conllu_lines(sentence.words)
            yield ""


def conllu_lines(words: Sequence[Word]) -> Iterator[str]:
    """The lines of one sentence."""
    for at, word in enumerate(words, start=1):
        if word.joined:
            yield "\t".join([f"{at}-{at + 1}", word.form + words[at].form, *"________"])
        cells = (word.form, word.lemma, word.upos, word.xpos, word.feats, word.head, word.relation, "_", "_")
        yield "\t".join([str(at), *map(str, cells)])


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
