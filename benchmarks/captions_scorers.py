"""Both scorers of the captions benchmark, each as a program: `python captions_scorers.py us|peer DATA.json`.

Both read the same tokenised captions and print BLEU@1..4, ROUGE-L, CIDEr-D and the CPU seconds of scoring alone. The
peer is pycocoevalcap, called as its own evaluation calls it: one scorer after the other on dictionaries of lists.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from pathlib import Path


def us(references, answers):
    """BLEU, ROUGE-L and CIDEr-D together, from strings; one table of n-grams serves BLEU and CIDEr-D."""
    from basanite.metrics.text.captions import bleu_of, captions_of, rouge_l_scores
    from basanite.metrics.text.ngrams import corpus_of, overlap_of

    rouge_l_scores([["a"]], [[["a"]]])  # loads rapidfuzz before the clock starts, as the peer's modules are
    start = time.process_time()
    block = captions_of(answers, references)
    corpus = corpus_of(block.answers, block.references)
    overlap = overlap_of(corpus)
    bleu = bleu_of(corpus, overlap.matches)
    rouge = rouge_l_scores(block.answers, block.references)
    spent = time.process_time() - start
    return [*bleu.tolist(), float(rouge.mean()), float(overlap.cider_d.mean())], spent


def peer(references, answers):
    """The three scorers of pycocoevalcap that need no Java."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    truth = dict(enumerate(references))
    given = {place: [answer] for place, answer in enumerate(answers)}
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, _ = Bleu(4).compute_score(truth, given, verbose=0)
        rouge, _ = Rouge().compute_score(truth, given)
        cider, _ = Cider().compute_score(truth, given)
    return [*map(float, bleu), float(rouge), float(cider)], time.process_time() - start


def meteor(references, answers):
    """METEOR alone, which has no peer without Java."""
    import nltk.stem.snowball  # noqa: F401  loaded before the clock starts, as the peer's modules are

    from basanite.metrics.text.captions import meteor as score

    start = time.process_time()
    value = score(answers, references)
    return [value], time.process_time() - start


if __name__ == "__main__":
    data = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    values, spent = {"us": us, "peer": peer, "meteor": meteor}[sys.argv[1]](data["references"], data["answers"])
    print(json.dumps({"values": values, "scoring": spent}))
