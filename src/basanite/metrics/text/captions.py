"""Caption metrics: BLEU@1..4, METEOR, ROUGE-L, CIDEr-D, CIDEr and their fusion, from one table of counts.

One pass over answers and references gives a row for each image that serves all of them. CIDEr, CIDEr-D and ROUGE-L
are means over images; BLEU and METEOR are formulas on summed counts; the fusion is a weighted mean of values in 0..1.
CIDEr and CIDEr-D weigh n-grams by how many images have them in a reference: these weights come from the references
under test (or from a `background`), and stay what they are when images are drawn again (S-10).

ROUGE-L as it is used for captions: the longest common subsequence, best precision and best recall taken apart.

Lin, ROUGE: a package for automatic evaluation of summaries (2004), with beta 1.2 and the rule of the COCO captions
evaluation: the best precision and the best recall may come from different references.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, Metric, Rows
from basanite.metrics.text.meteor import COLUMNS as METEOR_COLUMNS
from basanite.metrics.text.meteor import Synsets, meteor_counts, meteor_of, no_synsets
from basanite.metrics.text.ngrams import (
    BEST,
    ORDERS,
    Corpus,
    Overlap,
    closest_lengths,
    corpus_of,
    matches_of,
    overlap_of,
    possible_of,
)

BETA = 1.2


def rouge_l_scores(
    answers: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]
) -> NDArray[np.float64]:
    """ROUGE-L of each answer; an empty answer scores 0, and so does one that shares no word with a reference.

    >>> rouge_l_scores([["a", "cat", "sat"]], [[["a", "cat"], ["the", "cat", "sat", "down"]]]).round(4).tolist()
    [0.8299]
    """
    from rapidfuzz.distance import LCSseq  # here, because only texts need it

    common = LCSseq.similarity
    pairs = [(answer, reference) for answer, others in zip(answers, references, strict=True) for reference in others]
    length = np.fromiter((common(*pair) for pair in pairs), np.float64, len(pairs))
    of_answers = np.fromiter((len(answer) for answer, _ in pairs), np.float64, len(pairs))
    of_references = np.fromiter(map(len, chain.from_iterable(references)), np.float64, len(pairs))
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    precision = _best(length / np.maximum(of_answers, 1), sizes)
    recall = _best(length / np.maximum(of_references, 1), sizes)
    weighted = recall + BETA**2 * precision
    both = (1 + BETA**2) * precision * recall
    return np.divide(both, weighted, out=np.zeros_like(both), where=weighted > 0)


def _best(values: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest value of each group; every group has a member."""
    return np.maximum.reduceat(values, np.cumsum(sizes) - sizes) if len(values) else np.zeros(0)


COLUMNS: Final = (
    *(f"match{order}" for order in range(1, ORDERS + 1)),
    *(f"possible{order}" for order in range(1, ORDERS + 1)),
    "answer_words",
    "reference_words",
    "cider_d",
    "cider",
    "rouge_l",
    *METEOR_COLUMNS,
    "images",
)
PARTS: Final = ("bleu4", "meteor", "rouge_l", "cider_d")
"""What is fused unless the user says otherwise; CIDEr-D is divided by 10 first."""

Values: TypeAlias = NDArray[np.float64]
Words: TypeAlias = Sequence[str]
Weights: TypeAlias = tuple[tuple[str, float], ...]
FUSION_WEIGHTS: Final[Weights] = tuple((name, 1.0) for name in PARTS)

_AT = {name: place for place, name in enumerate(COLUMNS)}
_POSSIBLE, _IMAGES = _AT["possible1"], _AT["images"]
_METEOR = slice(_AT[METEOR_COLUMNS[0]], _AT[METEOR_COLUMNS[-1]] + 1)


@dataclass(frozen=True)
class Captions:
    """Images with a system's caption and those of people, as words."""

    units: Sequence[str]
    answers: Sequence[Words]
    references: Sequence[Sequence[Words]]
    background: Sequence[Sequence[Words]] | None = None
    """The references of all images in which CIDEr and CIDEr-D count how rare n-grams are; None = of these images."""


def counts(block: Captions, *, synsets: Synsets = no_synsets) -> Rows:
    """What each image contributes to all caption metrics: one row of `COLUMNS`."""
    corpus = corpus_of(block.answers, block.references)
    shared = _overlap(block, corpus)
    return np.column_stack(
        [
            shared.matches,
            possible_of(corpus),
            corpus.lengths[corpus.first],
            closest_lengths(corpus),
            shared.cider_d,
            shared.cider,
            rouge_l_scores(block.answers, block.references),
            meteor_counts(block.answers, block.references, synsets=synsets, corpus=corpus),
            np.ones(len(block.answers)),
        ]
    ).astype(np.float64)


def _overlap(block: Captions, corpus: Corpus) -> Overlap:
    """What is shared; a background is further images without an answer, which alone are counted."""
    if block.background is None:
        return overlap_of(corpus)
    images, more = len(block.answers), len(block.background)
    whole = corpus_of([*block.answers, *((),) * more], [*block.references, *block.background])
    found = overlap_of(whole, counted=np.arange(images + more) >= images)
    return Overlap(found.matches[:images], found.cider[:images], found.cider_d[:images])


def _mean(sums: Rows, column: str) -> Values:
    return _where_any(sums, sums[..., _AT[column]] / np.maximum(sums[..., _IMAGES], 1))


def _where_any(sums: Rows, values: Values) -> Values:
    """These values, undefined where there is no image at all."""
    return np.where(sums[..., _IMAGES] > 0, values, np.nan)


def _bleu(sums: Rows, order: int) -> Values:
    """The geometric mean of the clipped precisions of orders 1 to n, times the brevity penalty; no smoothing."""
    matched, possible = sums[..., :order], sums[..., _POSSIBLE : _POSSIBLE + order]
    words, wanted = sums[..., _AT["answer_words"]], sums[..., _AT["reference_words"]]
    whole = (matched > 0).all(axis=-1)
    logs = np.log(np.maximum(matched, 1)) - np.log(np.maximum(possible, 1))
    brevity = np.minimum(0.0, 1 - wanted / np.maximum(words, 1))
    return _where_any(sums, np.where(whole, np.exp(logs.mean(axis=-1) + brevity), 0.0))


def _meteor(sums: Rows) -> Values:
    return _where_any(sums, meteor_of(sums[..., _METEOR]))


def _fusion(sums: Rows, fusion: Weights = FUSION_WEIGHTS) -> Values:
    """The weighted mean of metrics, each in 0..1."""
    total = sum(weight for _, weight in fusion)
    parts = [weight / total / _SCALES.get(name, 1.0) * BY_NAME[name].value(sums) for name, weight in fusion]
    return np.asarray(np.sum(parts, axis=0))


CIDER_D = Metric(
    name="cider_d",
    title="CIDEr-D",
    summary="Clipped tf-idf cosine similarity of 1- to 4-grams, with a Gaussian penalty on length; from 0 to 10",
    citation="Vedantam, Zitnick and Parikh, CIDEr: consensus-based image description evaluation, CVPR 2015",
    family="captions",
    statistics=counts,
    reduce=partial(_mean, column="cider_d"),
    range=(0.0, BEST),
    columns=COLUMNS,
    unit="image",
    linear=True,
)
CIDER = replace(
    CIDER_D,
    name="cider",
    title="CIDEr",
    summary="Tf-idf cosine similarity of 1- to 4-grams, without clipping or length penalty; from 0 to 10",
    reduce=partial(_mean, column="cider"),
)
ROUGE_L = replace(
    CIDER_D,
    name="rouge_l",
    title="ROUGE-L",
    summary="F (beta 1.2) of the longest common subsequence, from the best precision and recall over references",
    citation="Lin, ROUGE: a package for automatic evaluation of summaries, ACL workshop 2004",
    reduce=partial(_mean, column="rouge_l"),
    range=SHARE,
)
_BLEU = tuple(
    replace(
        CIDER_D,
        name=f"bleu{order}",
        title=f"BLEU-{order}",
        summary=f"Corpus BLEU with n-grams up to {order}, without smoothing, with the closest reference length",
        citation="Papineni, Roukos, Ward and Zhu, BLEU: automatic evaluation of machine translation, ACL 2002",
        reduce=partial(_bleu, order=order),
        range=SHARE,
        linear=False,
    )
    for order in range(1, ORDERS + 1)
)
BLEU1, BLEU2, BLEU3, BLEU4 = _BLEU
METEOR = replace(
    CIDER_D,
    name="meteor",
    title="METEOR",
    summary="METEOR 1.5 formula with exact and stem matches, no function words, on summed counts",
    citation="Denkowski and Lavie, Meteor universal: language specific translation evaluation, WMT 2014",
    reduce=_meteor,
    range=SHARE,
    linear=False,
)
FUSION = replace(
    CIDER_D,
    name="fusion",
    title="Fusion",
    summary="Mean of BLEU-4, METEOR, ROUGE-L and CIDEr-D/10, or of another list with weights",
    citation="Average fusion of caption metrics, evaluation notes of an NLP course (2018), section 4.1",
    reduce=_fusion,
    range=SHARE,
    parameters=("fusion",),
    linear=False,
)
BY_NAME: Final = {metric.name: metric for metric in (CIDER_D, *_BLEU, METEOR, ROUGE_L, CIDER)}
_SCALES: Final = {"cider_d": BEST, "cider": BEST}
METRICS: Final = (*BY_NAME.values(), FUSION)


def words_of(caption: str | Words) -> Words:
    """A caption as words: what stands between white space, unless they are words already."""
    return tuple(caption.split()) if isinstance(caption, str) else tuple(caption)


def captions_of(answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]]) -> Captions:
    """A block of tokenised captions, given as texts or as words."""
    units = [str(place) for place in range(len(answers))]
    return Captions(units, [words_of(a) for a in answers], [[words_of(r) for r in others] for others in references])


def cider_d(answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]]) -> Values:
    """CIDEr-D of each image, 0..10; the value of the corpus is the mean.

    >>> cider_d(["a cat sat", "two dogs"], [["a cat sat down"], ["two dogs"]]).round(4).tolist()
    [5.8917, 5.0]
    """
    block = captions_of(answers, references)
    return overlap_of(corpus_of(block.answers, block.references)).cider_d


def cider(answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]]) -> Values:
    """CIDEr of each image, 0..10; the value of the corpus is the mean.

    >>> cider(["a cat sat", "two dogs"], [["a cat sat down"], ["two dogs"]]).round(4).tolist()
    [5.9741, 5.0]
    """
    block = captions_of(answers, references)
    return overlap_of(corpus_of(block.answers, block.references)).cider


def bleu(answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]]) -> Values:
    """Corpus BLEU@1, @2, @3 and @4, in 0..1, without smoothing.

    >>> bleu(["the cat sat on a mat"], [["the cat sat on the mat", "a cat"]]).round(4).tolist()
    [1.0, 0.7746, 0.6694, 0.5623]
    """
    block = captions_of(answers, references)
    corpus = corpus_of(block.answers, block.references)
    return bleu_of(corpus, matches_of(corpus))


def bleu_of(corpus: Corpus, matches: Values) -> Values:
    """BLEU@1..4 of numbered captions whose matches are known."""
    sums = np.zeros(len(COLUMNS))
    sums[:ORDERS] = matches.sum(axis=0)
    sums[_POSSIBLE : _POSSIBLE + ORDERS] = possible_of(corpus).sum(axis=0)
    sums[_AT["answer_words"]] = corpus.lengths[corpus.first].sum()
    sums[_AT["reference_words"]] = closest_lengths(corpus).sum()
    sums[_IMAGES] = len(corpus.first)
    return np.array([float(metric.value(sums)) for metric in _BLEU])


def rouge_l(answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]]) -> Values:
    """ROUGE-L of each image; the value of the corpus is the mean.

    >>> rouge_l(["a cat sat"], [["the cat sat"]]).round(4).tolist()
    [0.6667]
    """
    block = captions_of(answers, references)
    return rouge_l_scores(block.answers, block.references)


def meteor(
    answers: Sequence[str | Words], references: Sequence[Sequence[str | Words]], *, synsets: Synsets = no_synsets
) -> float:
    """METEOR of a corpus: the formula on the counts of each image's best reference, summed.

    >>> round(meteor(["the cat sat on the mat"], [["on the mat sat the cat"]]), 4)
    0.4777
    """
    block = captions_of(answers, references)
    sums = meteor_counts(block.answers, block.references, synsets=synsets).sum(axis=0)
    return float(meteor_of(sums)) if answers else float("nan")


def fusion(
    answers: Sequence[str | Words],
    references: Sequence[Sequence[str | Words]],
    *,
    weights: Weights = FUSION_WEIGHTS,
) -> float:
    """The weighted mean of caption metrics, each in 0..1 (CIDEr-D divided by 10).

    >>> round(fusion(["a cat on a mat", "two dogs run"], [["a cat on a mat"], ["the dogs run"]]), 4)
    0.7146
    """
    return FUSION.bind(fusion=weights).of(counts(captions_of(answers, references)))
