"""Anyone who takes part in the benchmarks of texts: `python text_contenders.py NAME SIZE` prints seconds and value.

Every contender makes the same sentences from the same seed; making them, loading packages and splitting texts into
words where a peer gets words, too, is not timed. Peers are called as their own documentation does.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time

DRAWS = 10_000
SYLLABLES = ["ba", "do", "ki", "lu", "me", "na", "po", "ri", "su", "te", "ven", "tor", "mas", "del"]


def language(rng, size=8000):
    """Words of one to four syllables, and how to draw them: few are frequent."""
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]
    return [words[min(int(rng.paretovariate(0.7)), size - 1)] for _ in range(20_000)]


def sentences(size, *rates, seed=1):
    """References of 5 to 44 words, and for each rate what a system with so many errors makes of them."""
    rng = random.Random(seed)
    pool = language(rng)
    said = [rng.choices(pool, k=rng.randint(5, 44)) for _ in range(size)]
    heard = [[_careless(words, rate, pool, rng) for words in said] for rate in rates]
    return said, *heard


def _careless(words, rate, pool, rng):
    kept = []
    for word in words:
        die = rng.random()
        kept += [] if die < rate / 4 else [rng.choice(pool)] if die < rate else [word]
    return kept


def written(many):
    """Words as sentences with a capital and a full stop."""
    return [" ".join(words).capitalize() + "." for words in many]


def timed(work):
    """CPU seconds of some work, and what it gave; rubbish of the preparation is cleared away first."""
    gc.collect()
    start = time.process_time()
    value = work()
    return {"seconds": time.process_time() - start, "value": value}


def wer_rapidfuzz(size):
    """The distances alone, by plain calls on words split from the same texts."""
    from rapidfuzz.distance import Levenshtein

    block = _utterances(size)
    said, heard = [texts[0].split() for texts in block.references], [text.split() for text in block.answers]
    return timed(
        lambda: sum([Levenshtein.distance(*pair) for pair in zip(said, heard, strict=True)]) / sum(map(len, said))
    )


def wer_us(size):
    """Our rows and rate from words that are split already."""
    from basanite.metrics.text.speech import WER, word_statistics

    word_statistics(_utterances(10))
    block = _utterances(size)
    assert block.words is not None
    return timed(lambda: WER.of(word_statistics(block)))


def wer_us_texts(size):
    """Our rate with everything from texts on: splitting, rows, and the counts of hits and edits."""
    from basanite.metrics.text.speech import WER, word_statistics

    block = _utterances(size)
    return timed(lambda: (block.words.counts, WER.of(word_statistics(block)))[1])


def _utterances(size):
    from basanite.metrics.text.speech import Utterances

    said, heard = sentences(size, 0.2)
    units = [str(at) for at in range(size)]
    return Utterances(units, [[" ".join(words)] for words in said], [" ".join(words) for words in heard])


def wer_jiwer(size):
    """The rate and its counts from texts."""
    import jiwer

    said, heard = ([" ".join(words) for words in many] for many in sentences(size, 0.2))
    return timed(lambda: jiwer.process_words(said, heard).wer)


def bleu_sacrebleu(size):
    """The score of the corpus."""
    import sacrebleu

    references, answers = map(written, sentences(size, 0.3))
    return timed(lambda: sacrebleu.corpus_bleu(answers, [references]).score / 100)


def bleu_us(size):
    """Rows for every segment, and the score."""
    from basanite.metrics.text.translation import BLEU, Segments, bleu_statistics, peer_bleu

    peer_bleu()
    references, answers = map(written, sentences(size, 0.3))
    block = Segments([str(at) for at in range(size)], answers, [[text] for text in references])
    return timed(lambda: BLEU.of(bleu_statistics(block)))


def ter_sacrebleu(size):
    """The score of the corpus."""
    from sacrebleu.metrics import TER

    references, answers = map(written, sentences(size, 0.3))
    return timed(lambda: TER().corpus_score(answers, [references]).score / 100)


def ter_us(size):
    """Rows for every segment, and the score."""
    from basanite.metrics.text.translation import TER, Segments, peer_ter, ter_statistics

    peer_ter()
    references, answers = map(written, sentences(size, 0.3))
    block = Segments([str(at) for at in range(size)], answers, [[text] for text in references])
    return timed(lambda: TER.of(ter_statistics(block)))


def paired_sacrebleu(size, kind="ar"):
    """The difference of two systems, tested as its documentation shows it."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    references, first, second = map(written, sentences(size, 0.3, 0.31))
    systems = [("A", first), ("B", second)]

    def test():
        _, scores = PairedTest(systems, {"BLEU": BLEU()}, [references], test_type=kind, n_samples=DRAWS)()
        found = scores["BLEU"]
        return [(one.score, one.p_value) for one in found]

    return timed(test)


def bootstrap_sacrebleu(size):
    """The same by its bootstrap."""
    return paired_sacrebleu(size, "bs")


def paired_us(size):
    """Rows of both systems and the sign-flip test on them."""
    return _paired(size, weights=1, draws=DRAWS)


def bootstrap_us(size):
    """Rows of both systems and intervals from as many draws of segments."""
    return _paired(size, weights=DRAWS, draws=None)


def _paired(size, *, weights, draws):
    from basanite.analysis.paired import differences, enter
    from basanite.analysis.results import Design
    from basanite.kernel import UnitRows
    from basanite.metrics.text.translation import BLEU, BLEU_COLUMNS, Segments, bleu_statistics, peer_bleu

    peer_bleu()
    references, *systems = map(written, sentences(size, 0.3, 0.31))
    units, truth = tuple(str(at) for at in range(size)), [[text] for text in references]
    design = Design(draws=weights)

    def test():
        tables = [UnitRows("segment", units, BLEU_COLUMNS, bleu_statistics(Segments(units, t, truth))) for t in systems]
        entries = enter([(name, table, (BLEU,)) for name, table in zip("AB", tables, strict=True)], design)
        found = differences([tuple(entries)], draws=draws, design=design) if draws else [None]
        return [(100 * one.value, found[0].p if found[0] else float(one.draws.std())) for one in entries]

    return timed(test)


CONTENDERS = {
    name: function
    for name, function in list(globals().items())
    if name.startswith(("wer_", "bleu_", "ter_", "paired_", "bootstrap_"))
}

if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](int(sys.argv[2]))))
