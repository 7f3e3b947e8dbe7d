"""Dependency trees as the script of the CoNLL 2018 shared task scores them: words are aligned, then compared.

Both sides must be the same text, however it is cut into tokens, words and sentences. A token or sentence is right if it
covers the same characters. Words are aligned by the characters they cover; where a token has several words, by the
longest common subsequence of their forms. Every other value counts aligned words that agree, and is the F1 of all words
of both sides. Values are ratios of sums over sentences of the reference; what the answers add stands with the
sentence in which it begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, LevelRows, Metric, Rows, ratio

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

ZEMAN: Final = (
    "Zeman et al., CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text to Universal Dependencies, Proceedings "
    "of the CoNLL 2018 Shared Task"
)
NIVRE: Final = "Nivre and Fang, Universal Dependency Evaluation, NoDaLiDa 2017 Workshop on Universal Dependencies"
CONTENT: Final = frozenset(
    {
        *(
            "nsubj",
            "obj",
            "iobj",
            "csubj",
            "ccomp",
            "xcomp",
            "obl",
            "vocative",
            "expl",
            "dislocated",
            "advcl",
            "advmod",
        ),
        *("discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list"),
        *("parataxis", "orphan", "goeswith", "reparandum", "root", "dep"),
    }
)
"""The relations whose words CLAS, MLAS and BLEX are about."""
FUNCTIONAL: Final = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
"""The relations of words that MLAS compares with the content word they belong to."""
FEATURES: Final = frozenset(
    {
        *("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case"),
        *("Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person"),
        "Polite",
    }
)
"""The features of the shared task; others are not compared."""
UNKNOWN: Final = "_"
MOST_RELATIONS: Final = 50

UNITS: Final = ("tokens", "sentences", "words", "content")
"""What is counted on both sides."""
WHOLES: Final = ("tokens", "sentences")
OF_WORDS: Final = ("words", "upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las")
OF_CONTENT: Final = ("clas", "mlas", "blex")
COLUMNS: Final = (
    *(f"{side}_{unit}" for unit in UNITS for side in ("gold", "answered")),
    "aligned_content",
    *(f"right_{name}" for name in (*WHOLES, *OF_WORDS, *OF_CONTENT)),
)
"""What each sentence of the reference contributes; `right_words` are those that are aligned."""
AT: Final = {name: at for at, name in enumerate(COLUMNS)}


class Treebank(Protocol):
    """All words of a file in columns; places of characters are counted in the text without blanks."""

    @property
    def token_starts(self) -> Numbers:
        """Where each token begins."""

    @property
    def token_ends(self) -> Numbers:
        """Where each token ends."""

    @property
    def sentence_starts(self) -> Numbers:
        """Where each sentence begins."""

    @property
    def sentence_ends(self) -> Numbers:
        """Where each sentence ends."""

    @property
    def starts(self) -> Numbers:
        """Where the token of each word begins."""

    @property
    def ends(self) -> Numbers:
        """Where the token of each word ends."""

    @property
    def several(self) -> Flags:
        """Whether a word is one of a token of several words."""

    @property
    def parents(self) -> Numbers:
        """The word that each word depends on; -1 for a root."""

    @property
    def forms(self) -> Sequence[str]:
        """The form of each word."""

    @property
    def lemmas(self) -> Sequence[str]:
        """The lemma of each word."""

    @property
    def upos(self) -> Sequence[str]:
        """The universal part of speech of each word."""

    @property
    def xpos(self) -> Sequence[str]:
        """The part of speech of each word in the tag set of its treebank."""

    @property
    def feats(self) -> Sequence[str]:
        """The features of each word, with `|` between."""

    @property
    def relations(self) -> Sequence[str]:
        """The relation of each word to its parent."""


@dataclass(frozen=True)
class Parses:
    """A reference and an answer on the same text."""

    gold: Treebank
    answers: Treebank
    subtypes: bool = False
    """Whether what follows the colon of a relation counts; the shared task cuts it off."""

    @cached_property
    def aligned(self) -> tuple[Numbers, Numbers]:
        """The words of the reference and of the answer that are the same word."""
        return align_words(self.gold, self.answers)

    @cached_property
    def relations(self) -> tuple[list[str], list[str]]:
        """The relations of both sides as they are compared."""
        if self.subtypes:
            return list(self.gold.relations), list(self.answers.relations)
        cut = {name: name.partition(":")[0] for name in {*self.gold.relations, *self.answers.relations}}
        return [cut[name] for name in self.gold.relations], [cut[name] for name in self.answers.relations]

    @cached_property
    def same_place(self) -> Flags:
        """Of each pair of aligned words, whether their parents are aligned, or both are roots."""
        ours, theirs = self.aligned
        partner = np.full(len(self.answers.parents) + 1, -2)  # -2: not aligned; the last one stands for no parent
        partner[theirs], partner[-1] = ours, -1
        return np.asarray(partner[self.answers.parents[theirs]] == self.gold.parents[ours])

    @cached_property
    def same_relation(self) -> Flags:
        """Of each pair of aligned words, whether their relations are the same."""
        return self.agree(*self.relations)

    def agree(self, gold: Sequence[str], answers: Sequence[str]) -> Flags:
        """Of each pair of aligned words, whether their cells of a column are the same."""
        ours, theirs = self.aligned
        return np.asarray(_cells(gold)[ours] == _cells(answers)[theirs], dtype=bool)

    @cached_property
    def sentence_of(self) -> Numbers:
        """The sentence of the reference in which each character stands."""
        sizes = np.diff(self.gold.sentence_starts, append=self.gold.sentence_ends[-1])
        return np.repeat(np.arange(len(sizes)), sizes)


def align_words(gold: Treebank, answers: Treebank) -> tuple[Numbers, Numbers]:
    """The words of two treebanks over one text that are the same word, in their order.

    >>> from types import SimpleNamespace as Side
    >>> def side(*ends):
    ...     ends = np.array(ends)
    ...     return Side(starts=np.array([0, *ends[:-1]]), ends=ends, several=np.zeros(len(ends), bool))
    >>> [one.tolist() for one in align_words(side(1, 2, 5), side(1, 3, 5))]
    [[0], [0]]
    """
    length = int(max(gold.ends[-1], answers.ends[-1]))
    word_at = [_by_start(side, length, np.arange(len(side.starts))) for side in (gold, answers)]
    shared = (word_at[0] >= 0) & (word_at[1] >= 0)
    part = np.cumsum(shared) - 1  # what lies between two shared beginnings of words is aligned by itself
    mixed = np.zeros(part[-1] + 2, dtype=bool)
    for side in (gold, answers):
        mixed[part[side.starts[side.several]]] = True
    mixed[:-1] |= mixed[1:]  # the script may take in words just before a token of several words
    same = shared & ~mixed[part]
    same[same] = gold.ends[word_at[0][same]] == answers.ends[word_at[1][same]]
    ours, theirs = (one[same] for one in word_at)
    if not mixed.any():
        return ours, theirs
    turns = np.flatnonzero(np.diff(mixed, prepend=False)).reshape(-1, 2)
    limits = [
        tuple(np.searchsorted(part[side.starts], turns[:, at]).tolist() for at in (0, 1)) for side in (gold, answers)
    ]
    pairs = list(_Aligner(gold, answers).align(*limits))
    both = np.concatenate([np.column_stack([ours, theirs]), np.array(pairs, dtype=np.int64).reshape(-1, 2)])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return both[:, 0], both[:, 1]


def _by_start(side: Treebank, length: int, values: Numbers) -> Numbers:
    """For each character of the text the value of the word that begins there, of several the first; else -1."""
    found = np.full(length, -1)
    found[side.starts[::-1]] = values[::-1]
    return found


class _Side:
    """The words of one side as lists, which are faster to walk than arrays."""

    def __init__(self, bank: Treebank) -> None:
        self.starts, self.ends = bank.starts.tolist(), bank.ends.tolist()
        self.several, self.forms = bank.several.tolist(), bank.forms
        self.size = len(self.starts)

    def beyond(self, at: int, end: int) -> bool:
        """Whether a word lies behind a stretch of text, or sticks out of it."""
        if at >= self.size:
            return True
        return bool(self.starts[at] >= end if self.several[at] else self.ends[at] > end)

    def reach(self, at: int, end: int) -> int:
        """The end of the stretch with this word in it: a token of several words is never cut."""
        return max(end, self.ends[at]) if self.several[at] else end


class _Aligner:
    """Two sides walked word by word, as the script does where tokens have several words."""

    def __init__(self, gold: Treebank, answers: Treebank) -> None:
        self.gold, self.answers = _Side(gold), _Side(answers)

    def align(self, ours: tuple[list[int], ...], theirs: tuple[list[int], ...]) -> Iterator[tuple[int, int]]:
        """The pairs of words in some parts of the text, by the first word of each part and the one behind it."""
        gold, answers = self.gold, self.answers
        for one, gold.size, other, answers.size in zip(*ours, *theirs, strict=True):
            yield from self._align_part(one, other)

    def _align_part(self, one: int, other: int) -> Iterator[tuple[int, int]]:
        gold, answers = self.gold, self.answers
        while one < gold.size and other < answers.size:
            if gold.several[one] or answers.several[other]:
                begins, (one, other) = self._stretch(one, other)
                yield from self._common(begins, (one, other))
            elif gold.starts[one] == answers.starts[other] and gold.ends[one] == answers.ends[other]:
                yield one, other
                one, other = one + 1, other + 1
            elif gold.starts[one] <= answers.starts[other]:
                one += 1
            else:
                other += 1

    def _stretch(self, one: int, other: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The words of the smallest stretch of text from here on that cuts no token of several words."""
        gold, answers = self.gold, self.answers
        if gold.several[one]:
            end = gold.ends[one]
            other += not answers.several[other] and answers.starts[other] < gold.starts[one]
        else:
            end = answers.ends[other]
            one += not gold.several[one] and gold.starts[one] < answers.starts[other]
        begins = one, other
        while not gold.beyond(one, end) or not answers.beyond(other, end):
            if one < gold.size and (other >= answers.size or gold.starts[one] <= answers.starts[other]):
                end = gold.reach(one, end)
                one += 1
            else:
                end = answers.reach(other, end)
                other += 1
        return begins, (one, other)

    def _common(self, begins: tuple[int, int], ends: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """The longest common subsequence of forms in a stretch; of several the one that the script takes."""
        ours, theirs = (
            [form.lower() for form in side.forms[begin:end]]
            for side, begin, end in zip((self.gold, self.answers), begins, ends, strict=True)
        )
        table = _lengths(ours, theirs)
        one = other = 0
        while one < len(ours) and other < len(theirs):
            if ours[one] == theirs[other]:
                yield begins[0] + one, begins[1] + other
                one, other = one + 1, other + 1
            elif table[one][other] == table[one + 1][other]:
                one += 1
            else:
                other += 1


def _lengths(ours: Sequence[str], theirs: Sequence[str]) -> list[list[int]]:
    """The longest common subsequence of every two ends of two lists."""
    table = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for one in reversed(range(len(ours))):
        for other in reversed(range(len(theirs))):
            longest = max(table[one + 1][other], table[one][other + 1])
            same = ours[one] == theirs[other]
            table[one][other] = max(longest, table[one + 1][other + 1] + 1) if same else longest
    return table


def statistics(block: Parses) -> Rows:
    """One row of `COLUMNS` for each sentence of the reference."""
    gold, answers = block.gold, block.answers
    rows = np.zeros((len(gold.sentence_starts), len(COLUMNS)))

    def add(column: str, characters: Numbers) -> None:
        rows[:, AT[column]] = np.bincount(block.sentence_of[characters], minlength=len(rows))

    for unit in WHOLES:
        ends, begins = (
            [np.asarray(getattr(side, f"{unit[:-1]}_{end}")) for side in (gold, answers)] for end in ("ends", "starts")
        )
        add(f"gold_{unit}", begins[0])
        add(f"answered_{unit}", begins[1])
        same, ours, theirs = np.intersect1d(begins[0], begins[1], assume_unique=True, return_indices=True)
        add(f"right_{unit}", same[ends[0][ours] == ends[1][theirs]])
    content = [_are_among(CONTENT, side) for side in block.relations]
    for side, bank, kept in zip(("gold", "answered"), (gold, answers), content, strict=True):
        add(f"{side}_words", bank.starts)
        add(f"{side}_content", bank.starts[kept])
    ours, _ = block.aligned
    places, inside = gold.starts[ours], content[0][ours]
    add("aligned_content", places[inside])
    for name, right in right_words(block).items():
        add(f"right_{name}", places[right & inside if name in OF_CONTENT else right])
    return rows


def _cells(column: Sequence[str]) -> NDArray[np.object_]:
    """A column as an array: its texts are compared one by one, whatever their length."""
    return np.array(column, dtype=object)


def _are_among(names: frozenset[str], relations: Sequence[str]) -> Flags:
    known = {name: name.partition(":")[0] in names for name in set(relations)}
    return np.fromiter(map(known.__getitem__, relations), bool, len(relations))


def right_words(block: Parses) -> dict[str, Flags]:
    """For each value, which pairs of aligned words agree; those of content words are not yet told from others."""
    gold, answers = block.gold, block.answers
    agree = block.agree
    upos, xpos = agree(gold.upos, answers.upos), agree(gold.xpos, answers.xpos)
    feats = agree(*(_universal(side.feats) for side in (gold, answers)))
    ours, _ = block.aligned
    lemmas = agree(gold.lemmas, answers.lemmas) | (_cells(gold.lemmas) == UNKNOWN)[ours]
    las = block.same_place & block.same_relation
    return {
        "words": np.full(len(ours), True),
        "upos": upos,
        "xpos": xpos,
        "ufeats": feats,
        "alltags": upos & xpos & feats,
        "lemmas": lemmas,
        "uas": block.same_place,
        "las": las,
        "clas": las,
        "mlas": las & upos & feats & _same_functional(block, las & upos & feats),
        "blex": las & lemmas,
    }


def _universal(feats: Sequence[str]) -> list[str]:
    """Features without those that the shared task does not know, in one order."""
    known = {
        cell: "|".join(sorted(one for one in cell.split("|") if one.partition("=")[0] in FEATURES))
        for cell in set(feats)
    }
    return list(map(known.__getitem__, feats))


def _same_functional(block: Parses, right: Flags) -> Flags:
    """Of each pair of aligned words, whether all their functional children agree too.

    Aligned words keep their order, so children agree one by one if each side has as many as there are right pairs.
    """
    ours, theirs = block.aligned
    functional = [_are_among(FUNCTIONAL, side) for side in block.relations]
    counts = []
    for side, is_function in zip((block.gold, block.answers), functional, strict=True):
        parents = side.parents[is_function]
        counts.append(np.bincount(parents[parents >= 0], minlength=len(side.parents)))
    both = right & functional[0][ours] & (block.gold.parents[ours] >= 0)
    matched = np.bincount(block.gold.parents[ours[both]], minlength=len(block.gold.parents))
    return np.asarray((counts[0][ours] == matched[ours]) & (counts[1][theirs] == matched[ours]))


def relation_rows(block: Parses) -> dict[str, LevelRows]:
    """For each relation of the reference, the words that have it on either side and those that are right (LAS)."""
    names = [name for name, _ in Counter(block.relations[0]).most_common(MOST_RELATIONS)]
    number = {name: at for at, name in enumerate(names)}
    gold, answered = (np.fromiter((number.get(name, -1) for name in side), np.int64) for side in block.relations)
    ours = block.aligned[0][block.same_place & block.same_relation]
    right, of_right = block.gold.starts[ours], gold[ours]
    found = {}
    for name, at in sorted(number.items()):
        rows = np.zeros((len(block.gold.sentence_starts), len(COLUMNS)))
        places = {
            "gold_words": block.gold.starts[gold == at],
            "answered_words": block.answers.starts[answered == at],
            "right_las": right[of_right == at],
        }
        for column, characters in places.items():
            rows[:, AT[column]] = np.bincount(block.sentence_of[characters], minlength=len(rows))
        index = np.flatnonzero(rows.any(axis=1))
        found[name] = LevelRows(index, rows[index])
    return found


def f1_of(sums: Rows, right: str, unit: str) -> NDArray[np.float64]:
    """Twice what is right over what there is on both sides."""
    return ratio(2 * sums[..., AT[f"right_{right}"]], sums[..., AT[f"gold_{unit}"]] + sums[..., AT[f"answered_{unit}"]])


def _metric(name: str, title: str, summary: str, unit: str, citation: str = ZEMAN) -> Metric:
    return Metric(
        name=name,
        title=title,
        summary=summary,
        citation=citation,
        family="dependencies",
        statistics=statistics,
        reduce=partial(f1_of, right=name, unit=unit),
        range=SHARE,
        columns=COLUMNS,
        unit="sentence",
        by_item=False,
    )


LAS = replace(
    _metric("las", "LAS", "Labeled attachment: F1 of words with the right parent and relation", "words"), by_item=True
)
UAS = _metric("uas", "UAS", "Unlabeled attachment: F1 of words with the right parent", "words")
CLAS = _metric("clas", "CLAS", "Labeled attachment of content words alone, as F1", "content", NIVRE)
MLAS = _metric(
    "mlas", "MLAS", "CLAS with the right tag and features, also of the function words that depend on it", "content"
)
BLEX = _metric("blex", "BLEX", "CLAS with the right lemma (bilexical dependencies)", "content")
TOKENS = replace(_metric("tokens", "Tokens", "F1 of tokens that cover the same characters", "tokens"), shared_name=True)
SENTENCES = _metric("sentences", "Sentences", "F1 of sentences that cover the same characters", "sentences")
WORDS = _metric("words", "Words", "F1 of words that can be aligned", "words")
UPOS = _metric("upos", "UPOS", "F1 of words with the right universal part of speech", "words")
XPOS = _metric("xpos", "XPOS", "F1 of words with the right tag of the treebank", "words")
UFEATS = _metric("ufeats", "UFeats", "F1 of words with the right universal features", "words")
ALLTAGS = _metric("alltags", "AllTags", "F1 of words with the right UPOS, XPOS and features", "words")
LEMMAS = _metric("lemmas", "Lemmas", "F1 of words with the right lemma; a lemma `_` of the reference is right", "words")
METRICS = (LAS, UAS, CLAS, MLAS, BLEX, TOKENS, SENTENCES, WORDS, UPOS, XPOS, UFEATS, ALLTAGS, LEMMAS)
UNIT_OF: Final = {
    **{name: name for name in WHOLES},
    **dict.fromkeys(OF_WORDS, "words"),
    **dict.fromkeys(OF_CONTENT, "content"),
}
"""What each value is a share of."""


def counts_of(rows: Rows, name: str) -> dict[str, int]:
    """The counts behind one value: what is right, what there is on both sides, and how many words are aligned."""
    total, unit = rows.sum(axis=0), UNIT_OF[name]
    columns = {"correct": f"right_{name}", "gold": f"gold_{unit}", "predicted": f"answered_{unit}"}
    if name not in (*WHOLES, "words"):
        columns["aligned"] = "aligned_content" if unit == "content" else "right_words"
    return {key: int(total[AT[column]]) for key, column in columns.items()}


def shares_of(counts: Mapping[str, int]) -> dict[str, float]:
    """Precision, recall, and the share of the aligned words that is right, where there is something to divide by."""
    bottoms = {"precision": "predicted", "recall": "gold", "aligned_accuracy": "aligned"}
    return {name: counts["correct"] / counts[of] for name, of in bottoms.items() if counts.get(of)}
