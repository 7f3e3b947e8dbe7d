"""Values of dependencies against an independent count, written from the description of the CoNLL 2018 shared task.

The count here works on sets and dictionaries of single words and never on columns: words are looked up by the
characters that they cover, and the words of a token of several words by every way to match their forms.
"""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest
from tests.metrics.families.structure import PLACE

from basanite.formats.single_file import SingleFile
from basanite.formats.texts.conllu import split_lines, treebank_of
from basanite.metrics.text.dependencies import CONTENT, FEATURES, FUNCTIONAL, METRICS, Parses, counts_of, statistics
from basanite.problems import Findings

RELATIONS = ("nsubj", "obj", "nsubj:pass", "aux", "case", "det", "punct", "root", "obl:tmod")


class Told:
    """One word, with the characters of its token."""

    def __init__(self, span, cells, several):
        self.span, self.several = span, several
        _, self.form, self.lemma, self.upos, self.xpos, feats, self.head, relation, _, _ = cells
        self.feats = {one for one in feats.split("|") if one.split("=")[0] in FEATURES}
        self.relation = relation.split(":")[0]
        self.parent = None
        self.children = []


def read(text):
    """Spans of tokens and sentences, and words, straight from the lines."""
    at, tokens, sentences, words = 0, [], [], []
    for block in text.strip("\n").split("\n\n"):
        begin, mine, until = at, [], 0
        for line in block.split("\n"):
            cells = line.split("\t")
            if line.startswith("#") or "." in cells[0]:
                continue
            if "-" in cells[0]:
                until = int(cells[0].split("-")[1])
                tokens.append((at, at := at + len(cells[1])))
            else:
                if int(cells[0]) > until:
                    tokens.append((at, at := at + len(cells[1])))
                mine.append(Told(tokens[-1], cells, int(cells[0]) <= until))
        sentences.append((begin, at))
        for word in mine:
            word.parent = mine[int(word.head) - 1] if int(word.head) else None
            if word.parent is not None and word.relation in FUNCTIONAL:
                word.parent.children.append(word)
        words += mine
    return tokens, sentences, words


def partners(gold, answers):
    """The word of the reference for each word of the answer that has one."""
    wide = sorted({word.span for word in (*gold, *answers) if word.several})
    areas = []
    for start, end in wide:
        if areas and start < areas[-1][1]:
            areas[-1] = (areas[-1][0], max(end, areas[-1][1]))
        else:
            areas.append((start, end))
    found = {}
    for start, end in areas:
        inside = [[one for one in side if start <= one.span[0] and one.span[1] <= end] for side in (gold, answers)]
        found |= longest(*inside)
    outside = [
        [one for one in side if not any(one.span[0] < end and start < one.span[1] for start, end in areas)]
        for side in (gold, answers)
    ]
    by_span = {one.span: one for one in outside[0]}
    return found | {one: by_span[one.span] for one in outside[1] if one.span in by_span}


def longest(gold, answers):
    """A longest list of words with the same forms on both sides, found by trying all of them; the longest is unique in
    length, and the tests only use stretches in which it is unique altogether."""
    for size in range(min(len(gold), len(answers)), 0, -1):
        ways = [
            dict(zip(theirs, ours, strict=True))
            for ours in combinations(gold, size)
            for theirs in combinations(answers, size)
            if all(one.form.lower() == other.form.lower() for one, other in zip(ours, theirs, strict=True))
        ]
        if ways:
            assert len(ways) == 1
            return ways[0]
    return {}


def counted(gold_text, answer_text):
    """Correct, reference and answer of every value."""
    (gold_tokens, gold_sentences, gold), (tokens, sentences, answers) = read(gold_text), read(answer_text)
    partner = partners(gold, answers)
    right = Counter()
    for theirs, ours in partner.items():
        place = (theirs.parent is None and ours.parent is None) or (
            theirs.parent is not None and ours.parent is not None and partner.get(theirs.parent) is ours.parent
        )
        las = place and theirs.relation == ours.relation
        tagged = theirs.upos == ours.upos and theirs.feats == ours.feats
        lemma = ours.lemma in ("_", theirs.lemma)
        family = [
            {(id(word), child.relation, child.upos, frozenset(child.feats)) for word, child in children}
            for children in (
                [(one, one) for one in ours.children],
                [(partner.get(one, object()), one) for one in theirs.children],
            )
        ]
        content = ours.relation in CONTENT
        agree = {
            "words": True, "upos": theirs.upos == ours.upos, "xpos": theirs.xpos == ours.xpos,
            "ufeats": theirs.feats == ours.feats, "alltags": tagged and theirs.xpos == ours.xpos, "lemmas": lemma,
            "uas": place, "las": las, "clas": las and content, "blex": las and content and lemma,
            "mlas": las and content and tagged and family[0] == family[1],
        }  # fmt: skip
        right.update([name for name, ok in agree.items() if ok])
    wholes = {"tokens": (gold_tokens, tokens), "sentences": (gold_sentences, sentences)}
    found = {name: (len(set(one) & set(other)), len(one), len(other)) for name, (one, other) in wholes.items()}
    sizes = [[len(side), sum(one.relation in CONTENT for one in side)] for side in (gold, answers)]
    for metric in METRICS:
        if metric.name not in wholes:
            at = int(metric.name in ("clas", "mlas", "blex"))
            found[metric.name] = (right[metric.name], sizes[0][at], sizes[1][at])
    return found


def ours(gold_text, answer_text):
    findings = Findings()
    sides = []
    for text in (gold_text, answer_text):
        lines = split_lines(SingleFile("x.conllu", b"", text.encode(), ".conllu"), PLACE, findings)
        sides.append(treebank_of(lines, PLACE, findings))
    assert findings.valid, findings.problems
    assert sides[0].text == sides[1].text
    rows = statistics(Parses(*sides))
    counts = {metric.name: counts_of(rows, metric.name) for metric in METRICS}
    return {name: (one["correct"], one["gold"], one["predicted"]) for name, one in counts.items()}


def written(dice, text, *, joined):
    """A random parse of a text: cut into tokens, some of them of two words, and into sentences."""
    cuts = sorted({0, len(text), *dice.sample(range(1, len(text)), len(text) // 2)})
    tokens = [text[begin:end] for begin, end in pairwise(cuts)]
    lines = []
    while tokens:
        size = dice.randint(1, 6)
        sentence, tokens = tokens[:size], tokens[size:]
        forms = [[one[0], one[1:]] if len(one) > 1 and dice.random() < joined else [one] for one in sentence]
        number = sum(map(len, forms))
        order = dice.sample(range(1, number + 1), number)
        head = {word: dice.choice(order[:at]) if at else 0 for at, word in enumerate(order)}
        at = 0
        for token, words in zip(sentence, forms, strict=True):
            if len(words) > 1:
                lines.append("\t".join([f"{at + 1}-{at + 2}", token, *"________"]))
            for form in words:
                at += 1
                cells = [form, dice.choice("lm_"), dice.choice("NV"), dice.choice("pq")]
                feats = dice.choice(["_", "Case=Nom|Own=1", "Number=Sing|Case=Nom", "Case=Nom|Number=Sing", "Own=2"])
                lines.append("\t".join([str(at), *cells, feats, str(head[at]), dice.choice(RELATIONS), "_", "_"]))
            if dice.random() < 0.1:
                lines.append("\t".join([f"{at}.1", "nobody", *"________"]))
        lines.append("")
    return "\n".join(lines)


def close_to(dice, text):
    """The same parse with a few cells changed, so that much agrees."""
    rows = [line.split("\t") for line in text.split("\n")]
    for row in rows:
        if len(row) == 10 and row[0].isdecimal():
            for at, choices in ((2, "lm_"), (3, "NV"), (4, "pq"), (7, RELATIONS)):
                if dice.random() < 0.15:
                    row[at] = dice.choice(choices)
    return "\n".join("\t".join(row) for row in rows)


@pytest.mark.parametrize("seed", range(60))
def test_every_count_is_that_of_an_independent_count(seed):
    dice = random.Random(seed)
    text = "".join(dice.sample([chr(0x4E00 + number) for number in range(60)], 30))  # no character twice
    gold = written(dice, text, joined=dice.choice([0, 0.5]))
    answers = close_to(dice, gold) if seed % 2 else written(dice, text, joined=dice.choice([0, 0.5]))
    assert ours(gold, answers) == counted(gold, answers)


def test_a_text_parsed_twice_alike_is_right_altogether():
    text = written(random.Random(1), "abcdefghijklmnop", joined=0.3)
    assert all(right == one == other for right, one, other in ours(text, text).values())


def test_blanks_in_forms_do_not_count_and_capitals_only_between_words_of_one_token():
    def text(*forms):
        rows = [("1-2", forms[0], "_", "_"), ("1", forms[1], "0", "root"), ("2", forms[2], "1", "advmod")]
        return "".join("\t".join([at, form, *"____", head, what, "_", "_"]) + "\n" for at, form, head, what in rows)

    assert ours(text("doesn’t", "does", "n’t"), text("does n’t", "DOES", "N’T"))["las"] == (2, 2, 2)
