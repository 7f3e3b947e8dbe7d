"""Translations and transcripts: made-up sentences, and what a careless system makes of them."""

from types import MappingProxyType

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.text.speech import Utterances
from basanite.metrics.text.translation import Segments

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "it's",
    "3.5",
    "U.S.",
    "dollars",
    ",",
    "quickly",
    ".",
    "新",
    "年",
    "快",
    "乐",
]


class Texts(Case):
    """Sentences with one or two references each."""

    def __init__(self, kind, references, answers, settings=MappingProxyType({})):
        self.kind, self.references, self.answers, self.settings = kind, references, answers, settings

    def __len__(self):
        return len(self.answers)

    def taken(self, order):
        picked = [self.references[at] for at in order], [self.answers[at] for at in order]
        return Texts(self.kind, *picked, self.settings)

    def rows(self, metric):
        units = [str(at) for at in range(len(self))]
        return metric.statistics(self.kind(units=units, references=self.references, **{self.said: self.answers}))

    @property
    def said(self):
        return "candidates" if self.kind is Segments else "answers"

    def awkward(self):
        nothing, something = ["", ""], ["a mat", "on"]
        answers = [*self.answers[4:], "", "", "on a mat and it", "x"]
        return Texts(self.kind, [*self.references[4:], nothing, something, nothing, something], answers, self.settings)


def sentence(rng):
    return " ".join(rng.choice(WORDS, rng.integers(5, 12)))


def heard(rng, text):
    return " ".join(word if rng.random() < 0.7 else rng.choice(WORDS) for word in text.split())


def sample(kind):
    def made(seed, *, perfect=False):
        rng = np.random.default_rng(seed)
        references = [[sentence(rng) for _ in range(rng.integers(1, 3))] for _ in range(12)]
        answers = [texts[-1] if perfect else heard(rng, texts[0]) for texts in references]
        return Texts(kind, references, answers)

    return made


FAMILIES = {"translation": sample(Segments), "speech": sample(Utterances)}
