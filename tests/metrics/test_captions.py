"""Caption metrics against pycocoevalcap and sacrebleu, CIDEr and the fusion against their own formulas."""

from collections import Counter
from math import hypot, log

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from sacrebleu.metrics import bleu as sacrebleu

from basanite.metrics.text import captions
from basanite.metrics.text.captions import COLUMNS, FUSION, METRICS, Captions, captions_of, counts
from basanite.metrics.text.ngrams import corpus_of, grams_of
from basanite.synthetic.captions import describe_images

SMALL = tuple("abcdefg")
CHINESE = tuple("一只猫坐在桌子上狗跑")
COMBINING = ("cafe\u0301", "café", "naïve", "nai\u0308ve", "हिन्दी", "🐈\u200d⬛")


def texts(rng, words, shortest, longest):
    return " ".join(rng.choice(words, rng.integers(shortest, longest + 1)).tolist())


def grams(text, order):
    words = text.split()
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


def plain_cider(answers, references):
    """CIDEr as its authors wrote it down, one n-gram after the other."""
    orders, images = range(1, 5), len(answers)
    found = {
        n: Counter(gram for each in references for gram in set().union(*(grams(r, n) for r in each))) for n in orders
    }

    def vector(text, order):
        return {g: k * (log(images) - log(max(1, found[order][g]))) for g, k in grams(text, order).items()}

    def cosine(first, second):
        length = hypot(*first.values()) * hypot(*second.values())
        return sum(first[gram] * second.get(gram, 0) for gram in first) / length if length else 0

    return [
        10 * np.mean([cosine(vector(answer, n), vector(reference, n)) for reference in each for n in orders])
        for answer, each in zip(answers, references, strict=True)
    ]


def random_case(seed, *, words=SMALL, images=25, shortest=1, longest=12, references=4):
    rng = np.random.default_rng(seed)
    answers = [texts(rng, words, shortest, longest) for _ in range(images)]
    people = [[texts(rng, words, 1, longest) for _ in range(rng.integers(1, references + 1))] for _ in range(images)]
    return answers, people


def many_words(count):
    return tuple(f"w{number}" for number in range(count))


def synthetic():
    images = describe_images(80, seed=13, words=40)
    return [one.answer for one in images], [list(one.references) for one in images]


CASES = {
    "few words": random_case(1),
    "many words": random_case(2, words=many_words(300), images=60),
    "some answers empty": random_case(3, shortest=0),
    "one word each": random_case(4, longest=1),
    "one or two words": random_case(5, longest=2),
    "one image": random_case(6, images=1),
    "two images": random_case(7, images=2),
    "Chinese": random_case(8, words=CHINESE, images=60),
    "combining characters": random_case(9, words=COMBINING),
    "very long": random_case(10, words=many_words(40), images=4, shortest=300, longest=500),
    "references that say the same": (lambda a, r: (a, [[one[0]] * 5 for one in r]))(*random_case(11)),
    "everybody says the same": (["a b c d e"] * 6, [["a b c d e"] * 3] * 6),
    "answers of unseen words": (["x y z"] * 4, random_case(12, images=4)[1]),
    "made captions": synthetic(),
    "two identical words": (["two dogs", "a cat sat on a mat"], [["two dogs"], ["a cat sat on a mat"]]),
}


def peer(scorer, answers, references):
    truth = dict(enumerate(references))
    return scorer.compute_score(truth, {place: [answer] for place, answer in enumerate(answers)})


def sacre_bleu(answers, references, order):
    width = max(map(len, references))
    streams = [[(others + [None] * width)[at] for others in references] for at in range(width)]
    scorer = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=order, force=True)
    return scorer.corpus_score(answers, streams).score / 100


@pytest.mark.parametrize("name", CASES)
def test_cider_d_of_every_image_is_that_of_pycocoevalcap(name):
    answers, references = CASES[name]
    value, each = peer(Cider(), answers, references)
    ours = captions.cider_d(answers, references)
    assert ours == pytest.approx(np.array(each), abs=1e-9)
    assert ours.mean() == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_cider_of_every_image_is_the_cosine_of_the_paper(name):
    answers, references = CASES[name]
    assert captions.cider(answers, references) == pytest.approx(plain_cider(answers, references), abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_bleu_is_that_of_sacrebleu_without_smoothing(name):
    answers, references = CASES[name]
    expected = [sacre_bleu(answers, references, order) for order in (1, 2, 3, 4)]
    assert captions.bleu(answers, references) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["few words", "made captions", "everybody says the same"])
def test_bleu_is_that_of_pycocoevalcap_where_no_count_is_0(name):
    answers, references = CASES[name]
    value, _ = peer(Bleu(4), answers, references)
    ours = captions.bleu(answers, references)
    assert (ours > 0).all()
    assert ours == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if name != "some answers empty"])
def test_rouge_l_of_every_image_is_that_of_pycocoevalcap(name):
    answers, references = CASES[name]
    assert captions.rouge_l(answers, references) == pytest.approx(peer(Rouge(), answers, references)[1], abs=1e-9)


def test_rouge_l_takes_the_best_precision_and_the_best_recall_apart():
    # Precision 1 from the first reference, recall 1 from the second; neither reference alone gives both.
    assert captions.rouge_l(["a b"], [["a b c d", "a"]]).tolist() == [1.0]


def test_an_empty_answer_scores_0_also_where_a_reference_is_empty_and_a_double_space_adds_no_word():
    assert captions.rouge_l(["", "a  b"], [["", "a"], ["a b"]]).tolist() == [0.0, 1.0]
    assert captions.cider_d(["", "a b c d"], [["", "a"], ["a b c d"]]).tolist() == [0.0, 10.0]
    assert captions.bleu([""], [[""]]).tolist() == [0.0, 0.0, 0.0, 0.0]


def test_of_two_equally_near_references_the_shorter_sets_the_length():
    # Five words against four and six: sacrebleu, nltk and pycocoevalcap take four, so there is no penalty.
    assert captions.bleu(["a b c d e"], [["a b c d e f", "a b c d"]])[0] == 1.0


def test_one_image_scores_0_on_cider_d_and_two_words_that_are_the_same_score_5():
    assert captions.cider_d(["a cat"], [["a cat"]]).tolist() == [0.0]
    assert captions.cider_d(*CASES["two identical words"]).tolist() == pytest.approx([5.0, 10.0])


def test_a_background_gives_the_weights_and_nothing_else():
    answers, references = CASES["few words"]
    whole = captions_of(answers, references)
    some = Captions(whole.units[:5], whole.answers[:5], whole.references[:5], whole.references)
    assert counts(some) == pytest.approx(counts(whole)[:5], rel=1e-12)
    alone = Captions(whole.units[:5], whole.answers[:5], whole.references[:5])
    column = COLUMNS.index("cider_d")
    assert not np.allclose(counts(alone)[:, column], counts(whole)[:5, column])


def test_n_grams_are_counted_as_a_plain_counter_counts_them():
    answers, references = CASES["few words"]
    corpus = corpus_of([a.split() for a in answers], [[r.split() for r in others] for others in references])
    plain = [one.split() for answer, others in zip(answers, references, strict=True) for one in (answer, *others)]
    for order, grams in enumerate(grams_of(corpus), start=1):
        held = [[tuple(words[at : at + order]) for at in range(len(words) - order + 1)] for words in plain]
        everywhere = [gram for one in held for gram in one]
        singles = [sum(everywhere.count(gram) == 1 for gram in one) for one in held]
        assert grams.single.tolist() == singles
        assert grams.count.sum() + grams.single.sum() == len(everywhere)
        assert len(grams.gram) == len({gram for gram in everywhere if everywhere.count(gram) > 1})
        assert sorted(zip(grams.caption.tolist(), grams.count.tolist(), strict=True)) == sorted(
            (place, one.count(gram))
            for place, one in enumerate(held)
            for gram in set(one)
            if everywhere.count(gram) > 1
        )


def test_keys_that_do_not_fit_one_integer_are_sorted_all_the_same(monkeypatch):
    answers, references = CASES["many words"]
    expected = captions.cider_d(answers, references)
    monkeypatch.setattr("basanite.metrics.text.ngrams._WIDEST", 4)
    assert np.array_equal(captions.cider_d(answers, references), expected)


def test_the_fusion_is_the_mean_of_its_parts_with_cider_d_divided_by_10():
    rows = counts(captions_of(*CASES["few words"]))
    values = {metric.name: metric.of(rows) for metric in METRICS}
    plain = (values["bleu4"] + values["meteor"] + values["rouge_l"] + values["cider_d"] / 10) / 4
    assert values["fusion"] == pytest.approx(plain, rel=1e-12)
    weighed = FUSION.bind(fusion=(("bleu1", 1.0), ("cider_d", 3.0))).of(rows)
    assert weighed == pytest.approx((values["bleu1"] + 3 * values["cider_d"] / 10) / 4, rel=1e-12)
    assert captions.fusion(*CASES["few words"]) == pytest.approx(plain, rel=1e-12)


def test_rows_of_images_add_up_to_the_corpus_values():
    answers, references = CASES["some answers empty"]
    rows = counts(captions_of(answers, references))
    values = {metric.name: metric.of(rows) for metric in METRICS}
    assert [values[f"bleu{order}"] for order in (1, 2, 3, 4)] == pytest.approx(captions.bleu(answers, references))
    assert values["cider_d"] == pytest.approx(captions.cider_d(answers, references).mean())
    assert values["rouge_l"] == pytest.approx(captions.rouge_l(answers, references).mean())
    assert values["meteor"] == pytest.approx(captions.meteor(answers, references))


def test_texts_and_words_give_the_same_and_no_image_gives_no_row():
    assert captions.cider_d([["a", "b"], ["c"]], [[["a", "b"]], [["c"]]]).tolist() == pytest.approx([5.0, 2.5])
    assert counts(Captions([], [], [])).shape == (0, len(COLUMNS))
    assert np.isnan(captions.meteor([], []))


@pytest.mark.parametrize(("answers", "references"), [(["a"], [[]]), (["a", "b"], [["a"]])])
def test_an_image_without_reference_or_answer_is_a_mistake_of_the_caller(answers, references):
    with pytest.raises(ValueError, match=r"no reference|as many"):
        captions.cider_d(answers, references)
