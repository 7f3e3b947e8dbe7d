"""Sentences with marked entities, sentences with dependencies, and documents in which things are mentioned again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.world import POPULATION, Generator, Pick, World, chance, shared, write_lines

TYPES, COMMON = ("PER", "LOC", "ORG", "MISC"), (0.4, 0.3, 0.2, 0.1)
CONTENT, FUNCTION = ("nsubj", "obj", "obl", "amod"), ("det", "case", "aux")
TAGS = ("NOUN", "VERB", "ADJ", "DET")
NUMBERS = ("Number=Sing", "Number=Plur", "_")

Tags = list[str]
Token = tuple[str, str, str, str, str, int, str]
"""Form, lemma, both parts of speech, features, parent (0: the root) and relation."""
Parse = list[list[Token]]
"""The sentences that one sentence was taken for."""
Chains = list[int]
"""The entity of each word; -1 for none."""


def tags(rng: Generator) -> Tags:
    """The names of a sentence of 6 to 19 words, as IOB2."""
    size, found = int(rng.integers(6, 20)), Tags()
    while len(found) < size:
        if rng.random() < 0.2:
            kind = rng.choice(TYPES, p=COMMON)
            found += [f"B-{kind}", *[f"I-{kind}"] * int(rng.integers(0, 3))]
        found.append("O")
    return found


def tagged(gold: Sequence[str], error: float, rng: Generator) -> Tags:
    """What a tagger makes of it: names are missed, cut, begun with the wrong letter, of another type, or made up."""
    found, kind, missed = Tags(), "", False
    for tag in gold:
        if tag.startswith("B-"):
            kind, missed = tag[2:], bool(rng.random() < error / 2)
            kind = str(rng.choice(TYPES)) if rng.random() < error / 2 else kind
            found.append("O" if missed else f"{'I' if rng.random() < error / 4 else 'B'}-{kind}")
        elif tag.startswith("I-"):
            missed = missed or bool(rng.random() < error / 4)
            found.append("O" if missed else f"I-{kind}")
        else:
            found.append(f"B-{rng.choice(TYPES)}" if rng.random() < error / 10 else "O")
    return found


def parse(rng: Generator) -> Parse:
    """A sentence of 5 to 19 words; each depends on an earlier one."""
    words = [_token(at, rng) for at in range(int(rng.integers(5, 20)))]
    return [words]


def _token(at: int, rng: Generator) -> Token:
    word, tag = f"w{rng.integers(10, 100)}", str(rng.choice(TAGS))
    relation = str(rng.choice(CONTENT + FUNCTION)) if at else "root"
    parent = int(rng.integers(max(0, at - 4), at)) + 1 if at else 0
    return word, f"l{word}", tag, tag[:2], str(rng.choice(NUMBERS)), parent, relation


def parsed(gold: Parse, error: float, rng: Generator) -> Parse:
    """What a parser makes of it: some words are joined, some sentences cut in two, and every column has mistakes."""
    (words,) = gold
    place, joined = list[int](), list[Token]()
    for at, token in enumerate(words):
        if at > 1 and rng.random() < error / 8:
            joined[-1] = (joined[-1][0] + token[0], *joined[-1][1:])
        else:
            joined.append(_mistaken(token, error, rng))
        place.append(len(joined))
    cut = int(rng.integers(1, len(joined))) if rng.random() < error / 3 else 0
    whole = [_attached(at, token, place, error, rng) for at, token in enumerate(joined, start=1)]
    if not cut:
        return [whole]
    return [whole[:cut], [_moved(at, token, cut) for at, token in enumerate(whole[cut:])]]


def _mistaken(token: Token, error: float, rng: Generator) -> Token:
    form, lemma, upos, xpos, feats, parent, relation = token
    wrong = rng.random(5) < error / 2
    lemma, upos = f"{lemma}x" if wrong[0] else lemma, str(rng.choice(TAGS)) if wrong[1] else upos
    xpos, feats = str(rng.choice(TAGS))[:2] if wrong[2] else xpos, str(rng.choice(NUMBERS)) if wrong[3] else feats
    relation = str(rng.choice(CONTENT + FUNCTION)) if wrong[4] and parent else relation
    return form, lemma, upos, xpos, feats, parent, relation


def _attached(at: int, token: Token, place: Sequence[int], error: float, rng: Generator) -> Token:
    """The word with its parent by its new number, or with another one."""
    if not token[5]:
        return token
    parent = min(place[token[5] - 1], at - 1) if rng.random() > error / 2 else int(rng.integers(1, at))
    return (*token[:5], parent, token[6])


def _moved(at: int, token: Token, cut: int) -> Token:
    """The word in a sentence that begins behind a cut."""
    if not at:
        return (*token[:5], 0, "root")
    return (*token[:5], max(token[5] - cut, 1), token[6])


def chains(rng: Generator) -> Chains:
    """A document of 20 to 40 words, in which three to six things are mentioned with words of their own."""
    size, things = int(rng.integers(20, 41)), int(rng.integers(3, 7))
    return [int(rng.integers(0, things)) if rng.random() < 0.5 else -1 for _ in range(size)]


def resolved(gold: Sequence[int], error: float, rng: Generator) -> Chains:
    """What a system makes of it: mentions are missed, taken for another thing, or made up."""
    most, found = max(gold) + 2, Chains()
    for thing, die in zip(gold, rng.random(len(gold)), strict=True):
        if thing < 0:
            found.append(int(rng.integers(0, most)) if die < error / 5 else -1)
        else:
            found.append(-1 if die < error / 3 else int(rng.integers(0, most)) if die < error else thing)
    return found


def both(make: Any, answer: Any, rng: Generator) -> tuple[list[Any], list[Any]]:
    """A reference and an answer; some units are harder than others."""
    gold = [make(rng) for _ in range(POPULATION)]
    errors = chance(shared(rng), -1.0, 0.7)
    return gold, [answer(one, error, rng) for one, error in zip(gold, errors, strict=True)]


def tagging(rng: Generator) -> World:
    """Sentences with names of four types, one of them rare."""
    return World("tagging", partial(_write, _tag_lines, ".iob", *both(tags, tagged, rng)), {"tagging": ()})


def dependencies(rng: Generator) -> World:
    """Sentences with mistakes in every column, in words and in where sentences end."""
    make = partial(_write, parse_lines, ".conllu", *both(parse, parsed, rng))
    return World("dependencies", make, {"dependencies": ()})


def coreference(rng: Generator) -> World:
    """Documents in which things are mentioned again."""
    make = partial(_write, _chain_lines, ".conll", *both(chains, resolved, rng))
    return World("coreference", make, {"coreference": ()}, names=("id", lambda _, pick: f"d{pick.name}"))


def _write(
    lines: Any, ending: str, gold: Sequence[Any], answers: Sequence[Any], folder: Path, picks: Sequence[Pick]
) -> Mapping[str, Any]:
    sides = {"reference": gold, "submission": answers}
    return {
        role: write_lines(folder / f"{role}{ending}", list(lines([side[p.unit] for p in picks], picks)))
        for role, side in sides.items()
    }


def _tag_lines(side: Sequence[Tags], picks: Sequence[Pick]) -> Iterator[str]:
    cluster = ""
    for found, pick in zip(side, picks, strict=True):
        if pick.cluster != cluster:
            cluster = pick.cluster
            yield from (f"-DOCSTART- {cluster} O", "")
        yield from (f"w{at} {tag}" for at, tag in enumerate(found))
        yield ""


def parse_lines(side: Sequence[Parse], picks: Sequence[Pick]) -> Iterator[str]:
    """The lines of a treebank; every cluster is a document."""
    cluster = ""
    for found, pick in zip(side, picks, strict=True):
        if pick.cluster != cluster:
            cluster = pick.cluster
            yield f"# newdoc id = {cluster}"
        for sentence in found:
            for at, (*cells, parent, relation) in enumerate(sentence, start=1):
                yield "\t".join((str(at), *cells, str(parent), relation, "_", "_"))
            yield ""


def _chain_lines(side: Sequence[Chains], picks: Sequence[Pick]) -> Iterator[str]:
    for found, pick in zip(side, picks, strict=True):
        yield f"#begin document (d{pick.name}); part 000"
        for at, thing in enumerate(found):
            yield f"d{pick.name}\t0\t{at}\tw{at}\tNN\t{f'({thing})' if thing >= 0 else '-'}"
        yield from ("", "#end document")


WORLDS = {"tagging": tagging, "dependencies": dependencies, "coreference": coreference}
