"""Translation metrics: BLEU, chrF, TER and unigram precision, as sacrebleu has them, with rows for the analysis.

Each segment contributes what sacrebleu counts for it, so the value of all rows together is sacrebleu's corpus score,
and every draw, group and swap of the analysis is a corpus score of its own. A segment may have any number of
references, and another number than its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, Ends, Metric, Rows, column_ratio
from basanite.metrics.text.edit_rate import count_edits
from basanite.metrics.text.ngrams import closest_lengths, corpus_of, matches_of, possible_of

if TYPE_CHECKING:
    from sacrebleu.metrics import bleu
    from sacrebleu.metrics.base import Metric as Peer

PAPINENI = "Papineni, Roukos, Ward and Zhu, BLEU: a method for automatic evaluation of machine translation, ACL 2002"
POPOVIC = "Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015"
SNOVER = "Snover, Dorr, Schwartz, Micciulla and Makhoul, A study of translation edit rate, AMTA 2006"

TOKENISERS: Final = ("13a", "intl", "zh", "char", "none")
"""Those of sacrebleu that need neither a download nor another package."""
SMOOTHINGS: Final = ("exp", "floor", "add-k", "none")
ORDERS: Final = 4
CHARACTER_ORDERS: Final = 6
CHRF_BETA: Final = 2
SEGMENTS_AT_ONCE: Final = 10_000
LONGEST_FOR_TER: Final = 250
"""Words; the search for shifts grows so fast with the length that longer segments would take minutes each."""

BLEU_COLUMNS = (
    "candidate_words",
    "reference_words",
    *(f"matches_{n}" for n in range(1, ORDERS + 1)),
    *(f"total_{n}" for n in range(1, ORDERS + 1)),
)
UNIGRAM_COLUMNS = ("found", "words")
TER_COLUMNS = ("edits", "reference_words")


@dataclass(frozen=True)
class Segments:
    """Translations to be measured: for every unit what the system wrote, and what people wrote."""

    units: Sequence[str]
    candidates: Sequence[str]
    references: Sequence[Sequence[str]]


def chrf_columns(word_order: int = 0) -> tuple[str, ...]:
    """The names of the columns of chrF: n-grams of the candidate, of the reference, and matches, for every order."""
    names = [*(f"character_{n + 1}" for n in range(CHARACTER_ORDERS)), *(f"word_{n + 1}" for n in range(word_order))]
    return tuple(f"{part}_{name}" for name in names for part in ("candidate", "reference", "matches"))


def peer_bleu(*, tokenise: str = "13a", lowercase: bool = False, **more: Any) -> bleu.BLEU:
    """sacrebleu's BLEU with our names for its options."""
    from sacrebleu.metrics.bleu import BLEU as SACREBLEU  # here, because it is slow to load

    return SACREBLEU(tokenize=tokenise, lowercase=lowercase, force=True, max_ngram_order=ORDERS, **more)


def peer_chrf(*, lowercase: bool = False, word_order: int = 0) -> Peer:
    """sacrebleu's chrF with our names for its options."""
    from sacrebleu.metrics.chrf import CHRF as SACRECHRF

    return SACRECHRF(char_order=CHARACTER_ORDERS, word_order=word_order, beta=CHRF_BETA, lowercase=lowercase)


def peer_ter(
    *, ter_case: bool = False, ter_normalise: bool = False, ter_punctuation: bool = True, ter_asian: bool = False
) -> Peer:
    """sacrebleu's TER with our names for its options."""
    from sacrebleu.metrics.ter import TER as SACRETER

    return SACRETER(
        normalized=ter_normalise, no_punct=not ter_punctuation, asian_support=ter_asian, case_sensitive=ter_case
    )


def bleu_statistics(block: Segments, *, tokenise: str = "13a", lowercase: bool = False) -> Rows:
    """Per segment: its length, that of the closest reference (the shorter of two), matched and all n-grams, 1 to 4.

    Words are sacrebleu's; the n-grams of many segments are counted at once, to the same whole numbers.
    """
    words = _splitter(tokenise, lowercase)
    rows = np.zeros((len(block.units), len(BLEU_COLUMNS)))
    having = [at for at, texts in enumerate(block.references) if texts]
    for start in range(0, len(having), SEGMENTS_AT_ONCE):
        places = having[start : start + SEGMENTS_AT_ONCE]
        answers = [words(block.candidates[at]) for at in places]
        corpus = corpus_of(answers, [[words(text) for text in block.references[at]] for at in places])
        lengths = corpus.lengths[corpus.first]
        rows[places] = np.column_stack([lengths, closest_lengths(corpus), matches_of(corpus), possible_of(corpus)])
    return rows


def chrf_statistics(block: Segments, *, lowercase: bool = False, word_order: int = 0) -> Rows:
    """Per segment: n-grams of the candidate, of its best reference, and matches, for every order."""
    return _count_rows(peer_chrf(lowercase=lowercase, word_order=word_order), block, len(chrf_columns(word_order)))


def ter_statistics(
    block: Segments,
    *,
    ter_case: bool = False,
    ter_normalise: bool = False,
    ter_punctuation: bool = True,
    ter_asian: bool = False,
) -> Rows:
    """Per segment: fewest edits (insert, delete, replace, move a phrase) over references, and their mean length."""
    peer = peer_ter(
        ter_case=ter_case, ter_normalise=ter_normalise, ter_punctuation=ter_punctuation, ter_asian=ter_asian
    )
    rows = np.zeros((len(block.units), len(TER_COLUMNS)))
    for row, candidate, references in zip(rows, block.candidates, block.references, strict=True):
        sides = [peer._preprocess_segment(text).split() for text in references]
        if sides:
            words = peer._preprocess_segment(candidate).split()
            row[0] = min(count_edits(words, side) for side in sides)
            row[1] = sum(map(len, sides)) / len(sides)
    return rows


def unigram_statistics(block: Segments, *, tokenise: str = "13a", lowercase: bool = False) -> Rows:
    """Per segment: how many words of the candidate stand in any reference, however often, and how many there are."""
    words, counts = _splitter(tokenise, lowercase), []
    for candidate, references in zip(block.candidates, block.references, strict=True):
        said, known = words(candidate), {word for text in references for word in words(text)}
        counts.append((sum(word in known for word in said), len(said)))
    return np.array(counts, dtype=np.float64).reshape(len(block.units), len(UNIGRAM_COLUMNS))


def too_long_for_ter(block: Segments, *, by_character: bool = False) -> list[str]:
    """The units whose texts are too long for TER to be found in reasonable time; words may be single characters."""
    return [
        unit
        for unit, candidate, references in zip(block.units, block.candidates, block.references, strict=True)
        if any(len(text if by_character else text.split()) > LONGEST_FOR_TER for text in (candidate, *references))
    ]


def signature(peer: Peer, references: Sequence[Sequence[str]]) -> str:
    """How sacrebleu would sign a value: references, case, tokeniser, smoothing and its version.

    >>> signature(peer_bleu(), [["one"], ["two"]]).rpartition("|")[0]
    'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp'
    """
    numbers = {len(each) for each in references}
    peer.num_refs = numbers.pop() if len(numbers) == 1 else -1
    return str(peer.get_signature())


def _count_rows(peer: Peer, block: Segments, columns: int) -> Rows:
    """Rows of what sacrebleu counts in each segment; one without a reference counts nothing."""
    rows = np.zeros((len(block.units), columns))
    for places in _alike(block.references):
        streams = list(zip(*(block.references[at] for at in places), strict=True))
        rows[places] = peer._extract_corpus_statistics([block.candidates[at] for at in places], streams)
    return rows


def _alike(references: Sequence[Sequence[str]]) -> Iterable[list[int]]:
    """Places of the segments with as many references as each other, for sacrebleu wants whole streams of them."""
    groups: dict[int, list[int]] = {}
    for at, each in enumerate(references):
        groups.setdefault(len(each), []).append(at)
    return [places for number, places in groups.items() if number]


Words = Callable[[str], list[str]]


@cache
def _splitter(tokenise: str, lowercase: bool) -> Words:
    """sacrebleu's words of a text; kept, because its tokenisers remember what they have seen (references, mostly)."""
    peer = peer_bleu(tokenise=tokenise, lowercase=lowercase)
    return lambda text: peer._preprocess_segment(text).split()


def _bleu(
    sums: Rows,
    *,
    smoothing: str = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
    percent: bool = False,
) -> NDArray[np.float64]:
    """Geometric mean of the n-gram precisions, times the penalty for being short."""
    matches, totals = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    precisions, counted = _precisions(matches, totals, smoothing, smooth_value)
    with np.errstate(divide="ignore"):
        logs = np.where(counted | (not effective_order), np.log(precisions), 0.0)
    orders = np.maximum(counted.sum(axis=-1), 1) if effective_order else ORDERS
    candidate, reference = sums[..., 0], sums[..., 1]
    excess = np.divide(reference, candidate, out=np.full(np.shape(candidate), np.inf), where=candidate > 0)
    brevity = np.asarray(np.exp(np.minimum(1 - excess, 0.0)))
    score = brevity * np.exp(logs.sum(axis=-1) / orders)
    score = np.where((matches > 0).any(axis=-1), score, 0.0)
    return _scale_percent(np.where(candidate + reference > 0, score, np.nan), percent)


def _precisions(
    matches: Rows, totals: Rows, smoothing: str, smooth_value: float | None
) -> tuple[Rows, NDArray[np.bool_]]:
    """The smoothed precision of each order (Chen and Cherry 2014), and whether it is counted at all."""
    if smoothing == "add-k":
        more = (np.arange(ORDERS) > 0) * (1.0 if smooth_value is None else smooth_value)
        matches, totals = matches + more, totals + more
    counted = np.logical_and.accumulate(totals > 0, axis=-1)
    empty = counted & (matches <= 0)
    if smoothing == "exp":
        matches = np.where(empty, 0.5 ** np.cumsum(empty, axis=-1), matches)
    elif smoothing == "floor":
        matches = np.where(empty, 0.1 if smooth_value is None else smooth_value, matches)
    return np.divide(matches, totals, out=np.zeros(np.shape(totals)), where=counted), counted


def _chrf(sums: Rows, *, percent: bool = False) -> NDArray[np.float64]:
    """F of the mean precision and the mean recall over the orders that both sides have."""
    candidate, reference, matches = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    both = (candidate > 0) & (reference > 0)
    orders = np.maximum(both.sum(axis=-1), 1)
    precision = np.divide(matches, candidate, out=np.zeros(np.shape(matches)), where=both).sum(axis=-1) / orders
    recall = np.divide(matches, reference, out=np.zeros(np.shape(matches)), where=both).sum(axis=-1) / orders
    bottom = CHRF_BETA**2 * precision + recall
    top = (1 + CHRF_BETA**2) * precision * recall
    score = np.divide(top, bottom, out=np.zeros(np.shape(bottom)), where=bottom > 0)
    return _scale_percent(np.where((candidate + reference).sum(axis=-1) > 0, score, np.nan), percent)


def _share(sums: Rows, *, percent: bool = False, columns: tuple[int, int] = (0, 1)) -> NDArray[np.float64]:
    """One column over another; nothing over nothing is undefined, and so is something."""
    return _scale_percent(column_ratio(sums, *columns), percent)


def _scale_percent(values: NDArray[np.float64], percent: bool) -> NDArray[np.float64]:
    return np.asarray(values * 100 if percent else values)


def _ends(percent: bool = False, **_: object) -> Ends:
    """0 to 1, or 0 to 100 in percent."""
    return 0.0, 100.0 if percent else 1.0


BLEU = Metric(
    name="bleu",
    title="BLEU",
    summary="Geometric mean of clipped n-gram precisions, orders 1 to 4, with a penalty for short translations",
    citation=PAPINENI + "; Post, A call for clarity in reporting BLEU scores, WMT 2018",
    family="translation",
    statistics=bleu_statistics,
    reduce=_bleu,
    range=_ends,
    columns=BLEU_COLUMNS,
    parameters=("smoothing", "smooth_value", "effective_order", "percent"),
    unit="segment",
)
CHRF = Metric(
    name="chrf",
    title="chrF",
    summary="F-score (beta 2) of character n-grams, orders 1 to 6, and of word n-grams if asked for (chrF++)",
    citation=POPOVIC + "; Popović, chrF++: words helping character n-grams, WMT 2017",
    family="translation",
    statistics=chrf_statistics,
    reduce=_chrf,
    range=_ends,
    columns=chrf_columns(),
    parameters=("percent",),
    unit="segment",
)
TER = Metric(
    name="ter",
    title="TER",
    summary="Translation edit rate: edits and phrase shifts that would correct the translation, per reference word",
    citation=SNOVER,
    family="translation",
    statistics=ter_statistics,
    reduce=_share,
    range=NOT_NEGATIVE,
    best="low",
    columns=TER_COLUMNS,
    parameters=("percent",),
    unit="segment",
)
UNIGRAM_PRECISION = Metric(
    name="unigram_precision",
    title="Unigram precision",
    summary="Share of the candidate's words that occur in any reference, counted each time (unclipped)",
    citation=PAPINENI + ", section 2.1",
    family="translation",
    statistics=unigram_statistics,
    reduce=_share,
    range=_ends,
    columns=UNIGRAM_COLUMNS,
    parameters=("percent",),
    unit="segment",
)
UNIGRAM_PRECISION_CLIPPED = replace(
    UNIGRAM_PRECISION,
    name="unigram_precision_clipped",
    title="Clipped unigram precision",
    summary="Share of the candidate's words that occur in a reference, none counted more often than in one reference",
    statistics=bleu_statistics,
    reduce=partial(_share, columns=(2, 2 + ORDERS)),
    columns=BLEU_COLUMNS,
)
METRICS = (BLEU, CHRF, TER, UNIGRAM_PRECISION, UNIGRAM_PRECISION_CLIPPED)


def values(candidates: Sequence[str], references: Sequence[Sequence[str]], **settings: Any) -> dict[str, float]:
    """All values but TER of some translations, each with one or more references, in 0 to 1.

    >>> found = values(["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]])
    >>> round(found["unigram_precision"], 4), round(found["unigram_precision_clipped"], 4)
    (1.0, 0.2857)
    """
    block = Segments([str(at) for at in range(len(candidates))], candidates, references)
    shared = {name: settings.pop(name) for name in ("tokenise", "lowercase") if name in settings}
    case = {name: value for name, value in shared.items() if name == "lowercase"}
    counted = bleu_statistics(block, **shared)
    rows = {
        "bleu": counted,
        "unigram_precision_clipped": counted,
        "unigram_precision": unigram_statistics(block, **shared),
        "chrf": chrf_statistics(block, **case),
    }
    return {metric.name: metric.bind(**settings).of(rows[metric.name]) for metric in METRICS if metric.name in rows}
