"""METEOR against its definition, tried out in full on short texts, and against values of the METEOR 1.5 program.

The program (meteor-1.5.jar, `-l en -m "exact stem"` and an empty list of function words) was run once by hand on what
is called `PROGRAM` here; its segment and corpus scores are written down as it printed them.
"""

import itertools

import numpy as np
import pytest
from nltk.stem.snowball import SnowballStemmer

from basanite.metrics.text import captions
from basanite.metrics.text.meteor import COLUMNS, EXACT, STEM, SYNONYM, align, meteor_counts, meteor_of
from basanite.synthetic.captions import describe_images

PROGRAM = (
    ("a dog runs on the beach", ("a dog is running along the beach", "the dogs run on a sandy beach")),
    (
        "two cats sitting on a bench",
        ("two cats sit on a wooden bench", "a pair of cats on the bench", "cats sitting outside"),
    ),
    (
        "a man riding a wave on top of a surfboard",
        ("a surfer rides a large wave", "a man on a surfboard riding a wave"),
    ),
    ("a plate of food", ("a plate of food",)),
    ("nothing in common here", ("some other words",)),
    ("the the the", ("the cat",)),
    ("a kitchen with a stove and a sink", ("a kitchen that has a stove and a large sink in it",)),
)
SEGMENTS = (
    0.33912749141270215,
    0.4237647229906021,
    0.46040449351549445,
    1.0,
    0.0,
    0.18604651162790697,
    0.30304318461883667,
)
CORPUS = 0.35447737244989924

WORDS = ("fox", "foxes", "run", "running", "runs", "the", "a", "cat", "cats", "dog")
STEMS = SnowballStemmer("english")


def counted(answer, *references, **more):
    return meteor_counts([answer.split()], [[one.split() for one in references]], **more)[0]


def score(answer, *references, **more):
    return float(meteor_of(counted(answer, *references, **more)))


def all_alignments(options):
    """Every way to match words with places, none twice: for each word a place or None."""
    choices = [[None, *(place for place, _ in row)] for row in options]
    for chosen in itertools.product(*choices):
        taken = [place for place in chosen if place is not None]
        if len(set(taken)) == len(taken):
            yield chosen


def judged(chosen, options):
    """Most matches, fewest chunks, least moved, most exact, most synonyms: the rule, word for word."""
    pairs = [(at, place) for at, place in enumerate(chosen) if place is not None]
    chunks = sum((at - 1, place - 1) not in pairs for at, place in pairs)
    kinds = [dict(options[at])[place] for at, place in pairs]
    moved = sum(abs(at - place) for at, place in pairs)
    key = (len(pairs), -chunks, -moved, kinds.count(EXACT), kinds.count(SYNONYM))
    return key, (len(pairs), chunks, kinds.count(SYNONYM), kinds.count(STEM))


def exhaustive(options):
    return max(judged(chosen, options) for chosen in all_alignments(options))[1]


def found(options, width, **more):
    best = align(options, width, **more)
    return best.matches, best.chunks, best.synonyms, best.stems


def options_of(answer, reference):
    stems = {word: STEMS.stem(word) for word in (*answer, *reference)}
    return [
        [
            (place, EXACT if other == word else STEM)
            for place, other in enumerate(reference)
            if stems[other] == stems[word]
        ]
        for word in answer
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_alignment_is_the_best_of_all_alignments(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        answer, reference = (rng.choice(WORDS, rng.integers(0, 7)).tolist() for _ in range(2))
        options = options_of(answer, reference)
        assert found(options, len(reference)) == exhaustive(options), (answer, reference)


@pytest.mark.parametrize("seed", range(4))
def test_the_alignment_is_best_also_where_synonyms_make_no_classes(seed):
    rng = np.random.default_rng(seed + 100)
    for _ in range(60):
        width = int(rng.integers(1, 7))
        options = [
            [(place, int(rng.integers(0, 3))) for place in range(width) if rng.random() < 0.45]
            for _ in range(rng.integers(0, 6))
        ]
        assert found(options, width) == exhaustive(options), options


def test_segments_and_corpus_have_the_values_of_the_meteor_program():
    answers = [answer for answer, _ in PROGRAM]
    references = [list(others) for _, others in PROGRAM]
    each = [score(answer, *others) for answer, others in PROGRAM]
    assert each == pytest.approx(SEGMENTS, abs=1e-14)
    assert captions.meteor(answers, references) == pytest.approx(CORPUS, abs=1e-14)
    assert abs(CORPUS - np.mean(SEGMENTS)) > 0.03  # a mean of segments would be another number


def test_a_stem_alone_scores_its_weight_and_order_costs_chunks():
    # From the text metrics notes: "foxes" for "fox" gives 0.6; six matches in three chunks, not nltk's 0.5.
    assert score("foxes", "fox") == pytest.approx(0.6)
    assert score("on the mat sat the cat", "the cat sat on the mat") == pytest.approx(0.4776696620223255, abs=1e-14)
    assert counted("on the mat sat the cat", "the cat sat on the mat").tolist() == [6, 6, 3, 6, 6]


def test_what_matches_wholly_in_one_chunk_is_not_fragmented_also_in_a_corpus():
    assert captions.meteor(["a cat on a mat", "two dogs"], [["a cat on a mat"], ["two dogs"]]) == 1.0
    assert captions.meteor(["a cat on a mat", "two dogs run"], [["a cat on a mat"], ["the dogs run"]]) == pytest.approx(
        0.5192542704647475, abs=1e-14
    )


def test_the_best_reference_is_found_whatever_the_order_and_nothing_better_is_passed_over():
    for image in describe_images(40, seed=3, words=30, people=6):
        each = [score(image.answer, one) for one in image.references]
        assert score(image.answer, *image.references) == max(each)
        assert score(image.answer, *image.references[::-1]) == max(each)


def test_more_matches_win_over_fewer_chunks_and_exact_ones_over_stems():
    assert found([[(0, EXACT)], [(5, EXACT)]], 6) == (2, 2, 0, 0)
    assert found([[(0, STEM), (1, EXACT)]], 2, beam=1)[0] == 1
    assert found([[(1, EXACT), (1, EXACT)], [(0, STEM), (2, EXACT)]], 3) == (2, 1, 0, 0)


def test_empty_texts_score_0_and_hold_no_nan():
    rows = meteor_counts([[], ["a"], []], [[["a"]], [[]], [[]]])
    assert rows.shape == (3, len(COLUMNS))
    assert np.isfinite(rows).all()
    assert meteor_of(rows).tolist() == [0.0, 0.0, 0.0]


def test_synonyms_match_with_their_own_weight_when_they_are_given_and_not_otherwise():
    def synsets(word):
        return {"couch": ("n1",), "sofa": ("n1", "n2"), "cat": ("n3",)}.get(word, ())

    assert score("a couch", "a sofa", synsets=synsets) == pytest.approx(0.9)
    assert score("a couch", "a sofa") < 0.5
    assert counted("cats sofa", "cat couch", synsets=synsets)[0] == pytest.approx(0.6 + 0.8)


def test_a_text_of_one_word_said_thousands_of_times_is_aligned_in_bounded_time():
    many = ("the " * 1000).strip()
    assert counted(many, many).tolist() == [1000, 1000, 0, 1000, 1000]
    assert counted("x " + many, many).tolist() == [1000, 1000, 1, 1001, 1000]
    rng = np.random.default_rng(0)
    first, second = (" ".join(rng.choice(["a", "b", "c"], 300).tolist()) for _ in range(2))
    assert counted(first, second)[1] > 250


def test_a_narrow_beam_loses_little_and_never_a_definite_match():
    rng = np.random.default_rng(1)
    for _ in range(20):
        answer, reference = (rng.choice(WORDS, 12).tolist() for _ in range(2))
        options = options_of(answer, reference)
        wide, narrow = found(options, 12), found(options, 12, beam=3)
        assert narrow[0] == wide[0]
        assert narrow[1] >= wide[1]
