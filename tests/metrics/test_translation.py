"""Translation metrics are sacrebleu's to the digit, on any input, and undefined only where there is nothing."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from sacrebleu.metrics import BLEU as PEER_BLEU
from sacrebleu.metrics import CHRF as PEER_CHRF
from sacrebleu.metrics import TER as PEER_TER

from basanite.analysis.paired import difference
from basanite.analysis.results import Design
from basanite.kernel import UnitRows
from basanite.metrics.text.translation import (
    BLEU,
    BLEU_COLUMNS,
    CHRF,
    LONGEST_FOR_TER,
    SMOOTHINGS,
    TER,
    TOKENISERS,
    UNIGRAM_PRECISION,
    UNIGRAM_PRECISION_CLIPPED,
    Segments,
    bleu_statistics,
    chrf_statistics,
    peer_bleu,
    peer_chrf,
    peer_ter,
    signature,
    ter_statistics,
    too_long_for_ter,
    unigram_statistics,
    values,
)

WORDS = [
    "the",
    "The",
    "a",
    "cat's",
    "dog",
    ",",
    ".",
    ";",
    "(it)",
    "U.S.",
    "3.5",
    "1,000",
    "don't",
    "été",
    "e\u0301te",
    "新年",
    "快乐",
    "ok-",
    "&amp;",
    "<skipped>",
    '"quoted"',
]


def made(seed, *, references=None, most=8):
    """Segments of random words, some of them empty, each with as many references or one to three."""
    rng = random.Random(seed)

    def text():
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, most)))

    size = rng.randint(1, 9)
    truth = [[text() for _ in range(references or rng.randint(1, 3))] for _ in range(size)]
    return segments([text() if rng.random() < 0.5 else rng.choice(each) for each in truth], truth)


def segments(candidates, references):
    return Segments([str(at) for at in range(len(candidates))], candidates, references)


def streams(block):
    """References as sacrebleu wants them: one list for each, None where a segment has fewer."""
    most = max(map(len, block.references))
    return [[each[at] if at < len(each) else None for each in block.references] for at in range(most)]


def agrees(value, peer):
    """Equal to 1e-9; what is undefined with us is 0 or 1 with sacrebleu."""
    return peer in (0.0, 100.0) if math.isnan(value) else value == pytest.approx(peer, abs=1e-9)


@pytest.mark.few(20)
@pytest.mark.parametrize("tokenise", TOKENISERS)
@pytest.mark.parametrize("seed", range(12))
def test_bleu_is_sacrebleus_with_every_tokeniser_and_smoothing(seed, tokenise):
    block = made(seed)
    for lowercase in (False, True):
        rows = bleu_statistics(block, tokenise=tokenise, lowercase=lowercase)
        for smoothing in SMOOTHINGS:
            for effective in (False, True):
                options = {"smooth_method": smoothing, "effective_order": effective, "lowercase": lowercase}
                peer = PEER_BLEU(tokenize=tokenise, **options).corpus_score(block.candidates, streams(block)).score
                ours = BLEU.bind(smoothing=smoothing, effective_order=effective, percent=True).of(rows)
                assert agrees(ours, peer), (smoothing, effective, lowercase)


@pytest.mark.parametrize("seed", range(20))
def test_every_row_of_bleu_is_what_sacrebleu_counts_in_that_segment(seed):
    block = made(seed)
    rows = bleu_statistics(block)
    for row, candidate, references in zip(rows, block.candidates, block.references, strict=True):
        peer = PEER_BLEU(effective_order=True).sentence_score(candidate, references)
        assert row.tolist() == [peer.sys_len, peer.ref_len, *peer.counts, *peer.totals]


@pytest.mark.parametrize("value", [0.3, 2.5])
@pytest.mark.parametrize("smoothing", ["floor", "add-k"])
def test_the_value_of_a_smoothing_is_used(smoothing, value):
    block = segments(["a b c x y"], [["a b c d e"]])
    peer = PEER_BLEU(smooth_method=smoothing, smooth_value=value).corpus_score(block.candidates, streams(block)).score
    assert BLEU.bind(smoothing=smoothing, smooth_value=value).of(bleu_statistics(block)) * 100 == pytest.approx(peer)


@pytest.mark.parametrize("word_order", [0, 1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_chrf_is_sacrebleus_with_and_without_words(seed, word_order):
    block = made(seed)
    for lowercase in (False, True):
        rows = chrf_statistics(block, word_order=word_order, lowercase=lowercase)
        peer = PEER_CHRF(word_order=word_order, lowercase=lowercase).corpus_score(block.candidates, streams(block))
        assert agrees(CHRF.bind(percent=True).of(rows), peer.score)


@pytest.mark.parametrize("seed", range(12))
def test_ter_is_sacrebleus_with_all_its_options(seed):
    block = made(seed)
    for bits in range(16):
        case, normalised, punctuation, asian = (bool(bits & 1 << at) for at in range(4))
        options = {"case_sensitive": case, "normalized": normalised, "no_punct": punctuation, "asian_support": asian}
        rows = ter_statistics(
            block, ter_case=case, ter_normalise=normalised, ter_punctuation=not punctuation, ter_asian=asian
        )
        assert agrees(
            TER.bind(percent=True).of(rows), PEER_TER(**options).corpus_score(block.candidates, streams(block)).score
        )


@pytest.mark.parametrize("seed", range(20))
def test_unigram_precision_is_counted_word_by_word(seed):
    block = made(seed)
    words = [text.split() for text in block.candidates]
    known = [{word for text in texts for word in text.split()} for texts in block.references]
    total = sum(map(len, words))
    found = sum(word in each for each, text in zip(known, words, strict=True) for word in text)
    value = UNIGRAM_PRECISION.of(unigram_statistics(block, tokenise="none"))
    assert value == pytest.approx(found / total) if total else math.isnan(value)


@pytest.mark.parametrize("seed", range(20))
def test_clipped_unigram_precision_counts_no_word_more_often_than_one_reference_has_it(seed):
    block = made(seed)
    matched = total = 0
    for text, texts in zip(block.candidates, block.references, strict=True):
        counts = [Counter(reference.split()) for reference in texts]
        for word, times in Counter(text.split()).items():
            matched += min(times, max(count[word] for count in counts))
            total += times
    value = UNIGRAM_PRECISION_CLIPPED.of(bleu_statistics(block, tokenise="none"))
    assert value == pytest.approx(matched / total) if total else math.isnan(value)


def test_the_example_of_the_paper_has_its_two_precisions():
    found = values(["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]])
    assert found["unigram_precision"] == 1.0
    assert found["unigram_precision_clipped"] == pytest.approx(2 / 7)


@pytest.mark.parametrize("seed", range(5))
def test_segments_may_have_different_numbers_of_references(seed):
    block = made(seed, most=12)
    rows = bleu_statistics(block)
    alone = [bleu_statistics(segments([c], [r])) for c, r in zip(block.candidates, block.references, strict=True)]
    assert np.array_equal(rows, np.concatenate(alone))
    together = chrf_statistics(block)
    apart = [chrf_statistics(segments([c], [r])) for c, r in zip(block.candidates, block.references, strict=True)]
    assert np.array_equal(together, np.concatenate(apart))


def test_a_reference_that_stands_twice_changes_nothing():
    once, twice = segments(["a b c d x"], [["a b c d e"]]), segments(["a b c d x"], [["a b c d e", "a b c d e"]])
    for statistics in (bleu_statistics, chrf_statistics, ter_statistics, unigram_statistics):
        assert np.array_equal(statistics(once), statistics(twice))


def test_of_two_references_as_near_in_length_the_shorter_one_counts():
    block = segments(["a b c d e"], [["a b c d e f", "a b c d"]])
    assert bleu_statistics(block)[0, 1] == 4
    assert BLEU.of(bleu_statistics(block)) == pytest.approx(1.0)


def test_an_empty_translation_counts_in_the_corpus():
    block = segments(["", "a b c d"], [["x y"], ["a b c d"]])
    assert BLEU.of(bleu_statistics(block)) == pytest.approx(math.exp(1 - 6 / 4))
    assert TER.of(ter_statistics(block)) == pytest.approx(2 / 6)


def test_nothing_against_nothing_is_undefined():
    block = segments(["", ""], [[""], ["", ""]])
    assert math.isnan(BLEU.of(bleu_statistics(block)))
    assert math.isnan(CHRF.of(chrf_statistics(block)))
    assert math.isnan(TER.of(ter_statistics(block)))
    assert math.isnan(UNIGRAM_PRECISION.of(unigram_statistics(block)))


def test_a_segment_without_any_reference_counts_nothing():
    lonely, whole = segments(["x y", "a b c d"], [[], ["a b c d"]]), segments(["a b c d"], [["a b c d"]])
    for statistics, metric in ((bleu_statistics, BLEU), (chrf_statistics, CHRF), (ter_statistics, TER)):
        assert not statistics(lonely)[0].any()
        assert metric.of(statistics(lonely)) == metric.of(statistics(whole))


def test_chinese_needs_its_own_tokeniser():
    block = segments(["我 爱 北京 天安门 abc"], [["我爱北京天安门 abc"]])
    found = {name: BLEU.of(bleu_statistics(block, tokenise=name)) for name in ("13a", "zh", "char")}
    assert found["zh"] == pytest.approx(1.0)
    assert found["char"] == pytest.approx(1.0)
    assert found["13a"] < 0.5


def test_composed_and_combining_accents_are_different_to_sacrebleu_and_to_us():
    block = segments(["caf\u00e9"], [["cafe\u0301"]])
    assert values(block.candidates, block.references)["unigram_precision"] == 0


def test_a_very_long_segment_is_counted_right_and_left_out_of_ter():
    rng = random.Random(0)
    long = " ".join(rng.choice(WORDS) for _ in range(20_000))
    block = segments([long, "a"], [[long[:-30] + "x"], ["a"]])
    peer = PEER_BLEU().corpus_score(block.candidates, streams(block)).score
    assert BLEU.of(bleu_statistics(block)) * 100 == pytest.approx(peer, abs=1e-9)
    assert too_long_for_ter(block) == ["0"]
    assert too_long_for_ter(segments(["a " * LONGEST_FOR_TER], [["a"]])) == []


def test_more_segments_than_are_counted_at_once_are_all_counted():
    candidates = [f"a b c {at % 7}" for at in range(10_003)]
    block = segments(candidates, [["a b c 3"]] * len(candidates))
    sums = bleu_statistics(block).sum(axis=0)
    assert sums[0] == 4 * len(candidates)
    assert sums[2] == 3 * len(candidates) + sum(at % 7 == 3 for at in range(10_003))


@pytest.mark.parametrize(
    ("peer", "said"),
    [
        (peer_bleu(tokenise="zh", lowercase=True, smooth_method="floor"), "case:lc|eff:no|tok:zh|smooth:floor[0.10]"),
        (peer_chrf(word_order=2), "case:mixed|eff:yes|nc:6|nw:2|space:no"),
        (peer_ter(ter_case=True), "case:mixed|tok:tercom|norm:no|punct:yes|asian:no"),
    ],
    ids=["bleu", "chrf", "ter"],
)
def test_a_signature_names_references_case_tokeniser_smoothing_and_version(peer, said):
    assert signature(peer, [["a"], ["b"]]).startswith(f"nrefs:1|{said}|version:")
    assert signature(peer, [["a"], ["b", "c"]]).startswith(f"nrefs:var|{said}|version:")


@pytest.mark.req("T-9", "S-12")
def test_a_paired_test_of_a_system_with_itself_gives_1_and_of_a_worse_one_finds_it():
    rng = random.Random(4)
    truth = [[" ".join(rng.choice(WORDS) for _ in range(12))] for _ in range(60)]
    worse = [" ".join(w if rng.random() < 0.6 else "zzz" for w in texts[0].split()) for texts in truth]
    better = [" ".join(w if rng.random() < 0.9 else "zzz" for w in texts[0].split()) for texts in truth]
    tables = [table(bleu_statistics(segments(texts, truth))) for texts in (better, worse)]
    assert difference(BLEU, tables[0], tables[0], design=Design(draws=200)).p == 1.0
    found = difference(BLEU, *tables, design=Design(draws=200))
    assert found.verdict == "first"
    assert found.p < 0.01


def table(rows):
    return UnitRows("segment", tuple(f"{at:03}" for at in range(len(rows))), BLEU_COLUMNS, rows)
