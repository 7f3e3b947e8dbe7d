"""Dependency trees, tags and entities: made-up texts, and what a system makes of them."""

import random
from dataclasses import replace
from types import MappingProxyType

from tests.metrics.families.case import Case
from tests.synthetic.structure_examples import Noise, Word, Writer, conllu_lines

from basanite.formats.records import Place
from basanite.formats.single_file import SingleFile
from basanite.formats.texts.conllu import split_lines, treebank_of
from basanite.metrics.text import coreference, tagging
from basanite.metrics.text.dependencies import Parses
from basanite.problems import Findings

PLACE = Place("reference", "T-17")
NOISE = 0.4


def bank(sentences):
    """Sentences as the reader gives them."""
    text = "".join("".join(f"{line}\n" for line in (*conllu_lines(words), "")) for words in sentences).encode()
    findings = Findings()
    lines = split_lines(SingleFile("made.conllu", text, text, ".conllu"), PLACE, findings)
    made = treebank_of(lines, PLACE, findings)
    assert made is not None, findings.problems
    return made


class Parsed(Case):
    """For each unit a sentence, and the sentences of the answer on the same words."""

    def __init__(self, gold, answers):
        self.gold, self.answers = gold, answers

    def __len__(self):
        return len(self.gold)

    def taken(self, order):
        return Parsed([self.gold[at] for at in order], [self.answers[at] for at in order])

    def rows(self, metric):
        return metric.statistics(Parses(bank(self.gold), bank([one for unit in self.answers for one in unit])))

    def awkward(self):
        sign = [Word("!", "!", "PUNCT", ".", "_", 0, "punct")]
        return Parsed([*self.gold, sign], [*self.answers, [sign]])


def parses(seed, *, perfect=False):
    writer, noise, dice = Writer(seed), Noise(seed, NOISE), random.Random(seed)
    gold = [sentence for _ in range(4) for sentence in writer.document()]
    words = [one.words for one in gold]
    if perfect:
        return Parsed(words, [[one] for one in words])
    return Parsed(words, [cut(noise.parse(one).words, dice) for one in gold])


def cut(words, dice):
    """The sentence as it is, or with a word in two, or as two sentences."""
    longest = max(range(len(words)), key=lambda at: len(words[at].form) * (not words[at].joined))
    if dice.random() < 0.3:
        form = words[longest].form
        parts = [replace(words[longest], form=form[:1]), replace(words[longest], form=form[1:])]
        return [flat([*words[:longest], *parts, *words[longest + 1 :]])]
    return [flat(words[:-1]), flat(words[-1:])] if dice.random() < 0.3 else [words]


def flat(words):
    """All words hang on the first one."""
    return [replace(word, head=int(at > 0), relation="dep" if at else "root") for at, word in enumerate(words)]


class Labelled(Case):
    """The tags of sentences, and other tags of the same words."""

    settings = MappingProxyType({"undefined": 0.0})

    def __init__(self, gold, answers):
        self.gold, self.answers = gold, answers

    def __len__(self):
        return len(self.gold)

    def taken(self, order):
        return Labelled([self.gold[at] for at in order], [self.answers[at] for at in order])

    def rows(self, metric):
        return metric.statistics(tagging.Tagged(self.gold, self.answers, "IOB2", ("LOC", "ORG", "PER")))

    def awkward(self):
        return Labelled([*self.gold, ["O"], ["B-PER"]], [*self.answers, ["I-MISC"], ["O"]])


def labels(seed, *, perfect=False):
    dice, tags = random.Random(seed), ["O", "O", "B-PER", "I-PER", "B-ORG", "I-LOC", "B-LOC"]
    gold = [["B-PER", *dice.choices(tags, k=dice.randint(1, 9))] for _ in range(12)]
    return Labelled(gold, gold if perfect else [[dice.choice([tag, tag, "O", "I-ORG"]) for tag in one] for one in gold])


class Chains(Case):
    """Documents with the entities of both sides."""

    settings = MappingProxyType({"either": False})

    def __init__(self, gold, answers):
        self.gold, self.answers = gold, answers

    def __len__(self):
        return len(self.gold)

    def taken(self, order):
        return Chains([self.gold[at] for at in order], [self.answers[at] for at in order])

    def rows(self, metric):
        return metric.statistics(coreference.Resolved(self.gold, self.answers))

    def awkward(self):
        return Chains([*self.gold, [], [[1]], [[1, 2]]], [*self.answers, [[1, 2]], [[1]], []])


def grouped(dice, mentions):
    entities = [[] for _ in range(4)]
    for mention in mentions:
        dice.choice(entities).append(mention)
    return [one for one in entities if one]


def chains(seed, *, perfect=False):
    dice = random.Random(seed)
    gold = [grouped(dice, range(dice.randint(2, 12))) for _ in range(12)]
    if perfect:
        return Chains(gold, gold)
    return Chains(gold, [grouped(dice, [*dice.sample(range(12), 5), 20, 21]) for _ in gold])


FAMILIES = {"dependencies": parses, "tagging": labels, "coreference": chains}
