"""The values of the CoNLL 2018 shared task in straightforward Python: an object for each word, a loop for each value.

Written for this benchmark from the description of the shared task, in the style of its published script, since that
is no package of the index. `python benchmarks/peers/plain_conllu.py GOLD ANSWERS` prints counts and CPU seconds.
"""

from __future__ import annotations

import json
import sys
import time
import unicodedata

CONTENT = {
    *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod"),
    *("discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis"),
    *("orphan", "goeswith", "reparandum", "root", "dep"),
}
FUNCTIONAL = {"aux", "cop", "mark", "det", "clf", "case", "cc"}
FEATURES = {
    *("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite"),
    *("Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite"),
}


class Word:
    """A word with its columns and its place in the text."""

    def __init__(self, start, end, columns, several):
        self.start, self.end, self.columns, self.several = start, end, columns, several
        self.parent, self.children = None, []
        columns[5] = "|".join(sorted(one for one in columns[5].split("|") if one.split("=", 1)[0] in FEATURES))
        columns[7] = columns[7].split(":")[0]
        self.content, self.functional = columns[7] in CONTENT, columns[7] in FUNCTIONAL


class Text:
    """Characters, tokens, sentences and words of a file."""

    def __init__(self):
        self.characters, self.tokens, self.sentences, self.words = [], [], [], []


def load(path):
    """Read a file word by word, and link words to their parents."""
    text, first, begin = Text(), None, 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\r\n")
            if first is None and line.startswith("#"):
                continue
            if not line:
                link(text.words[first:])
                text.sentences.append((begin, len(text.characters)))
                first = None
                continue
            if first is None:
                first, begin, until = len(text.words), len(text.characters), 0
            columns = line.split("\t")
            if "." in columns[0]:
                continue
            if "-" in columns[0] or int(columns[0]) > until:
                form = "".join(sign for sign in columns[1] if unicodedata.category(sign) != "Zs")
                text.characters.extend(form)
                text.tokens.append((len(text.characters) - len(form), len(text.characters)))
            if "-" in columns[0]:
                until = int(columns[0].split("-")[1])
            else:
                text.words.append(Word(*text.tokens[-1], columns, int(columns[0]) <= until))
    return text


def link(words):
    """Parents, function words, and a check that there is no circle."""
    for word in words:
        head = int(word.columns[6])
        word.parent = words[head - 1] if head else None
    for word in words:
        seen, one = 0, word
        while one is not None and seen <= len(words):
            one, seen = one.parent, seen + 1
        assert one is None
        if word.parent is not None and word.functional:
            word.parent.children.append(word)


def align(gold, answers):
    """Words that cover the same characters; the files of this benchmark have the same tokens on both sides."""
    pairs, at, other = [], 0, 0
    while at < len(gold) and other < len(answers):
        one, two = gold[at], answers[other]
        if (one.start, one.end) == (two.start, two.end) and one.columns[1].lower() == two.columns[1].lower():
            pairs.append((one, two))
            at, other = at + 1, other + 1
        elif one.start <= two.start:
            at += 1
        else:
            other += 1
    return pairs


def score(pairs, gold, answers, key, kept=None):
    """Correct, reference and answer of one value."""
    partner = {id(two): one for one, two in pairs}
    same = lambda word: word  # noqa: E731
    mapped = lambda word: None if word is None else partner.get(id(word), "none")  # noqa: E731
    correct = sum(key(one, same) == key(two, mapped) for one, two in pairs if kept is None or kept(one))
    sizes = [sum(1 for word in side if kept is None or kept(word)) for side in (gold, answers)]
    return [correct, *sizes]


def spans(gold, answers):
    """Correct, reference and answer of tokens or sentences."""
    at = other = correct = 0
    while at < len(gold) and other < len(answers):
        if answers[other][0] < gold[at][0]:
            other += 1
        elif gold[at][0] < answers[other][0]:
            at += 1
        else:
            correct += gold[at][1] == answers[other][1]
            at, other = at + 1, other + 1
    return [correct, len(gold), len(answers)]


def evaluate(gold, answers):
    """Every value of the shared task."""
    assert gold.characters == answers.characters
    pairs = align(gold.words, answers.words)
    sides = gold.words, answers.words

    def lemma(word, go):
        return word.columns[2] if go(word).columns[2] != "_" else "_"

    def family(word, go):
        children = [(go(one), one.columns[7], one.columns[3], one.columns[5]) for one in word.children]
        return go(word.parent), word.columns[7], word.columns[3], word.columns[5], children

    keys = {
        "words": lambda word, go: True,
        "upos": lambda word, go: word.columns[3],
        "xpos": lambda word, go: word.columns[4],
        "ufeats": lambda word, go: word.columns[5],
        "alltags": lambda word, go: (word.columns[3], word.columns[4], word.columns[5]),
        "lemmas": lemma,
        "uas": lambda word, go: go(word.parent),
        "las": lambda word, go: (go(word.parent), word.columns[7]),
        "clas": lambda word, go: (go(word.parent), word.columns[7]),
        "mlas": family,
        "blex": lambda word, go: (go(word.parent), word.columns[7], lemma(word, go)),
    }
    content = {"clas", "mlas", "blex"}
    found = {"tokens": spans(gold.tokens, answers.tokens), "sentences": spans(gold.sentences, answers.sentences)}
    for name, key in keys.items():
        found[name] = score(pairs, *sides, key, (lambda word: word.content) if name in content else None)
    return found


def main():
    """Score the two files."""
    start = time.process_time()
    found = evaluate(load(sys.argv[1]), load(sys.argv[2]))
    print(json.dumps({"evaluating": time.process_time() - start, "counts": found}))


if __name__ == "__main__":
    main()
