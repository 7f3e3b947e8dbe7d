"""Language models by the command: files of SRILM and KenLM, ARPA models, and models trained here (T-23).

All files are written by hand; expected numbers come from NLTK, or from formulas written out here.
"""

from __future__ import annotations

import json
import math
import random

import pytest
from nltk.lm import KneserNeyInterpolated, Lidstone, Vocabulary
from nltk.lm.smoothing import KneserNey
from nltk.util import everygrams
from tests.cli.running import here

SRILM = """\
reading 9 1-grams
the cat sat
\tp( the | <s> ) \t= [2gram] 0.25 [ -0.60206 ]
\tp( cat | the ...) \t= [2gram] 0.125 [ -0.90309 ]
\tp( sat | cat ...) \t= [1gram] 0.01 [ -2 ]
\tp( </s> | sat ...) \t= [1gram] 0.5 [ -0.30103 ]
1 sentences, 3 words, 0 OOVs
0 zeroprobs, logprob= -3.80618 ppl= 8.94427 ppl1= 18.5664

the yak sat
\tp( the | <s> ) \t= [2gram] 0.25 [ -0.60206 ]
\tp( <unk> | the ...) \t= [OOV] 0 [ -inf ]
\tp( sat | <unk> ...) \t= [1gram] 0.01 [ -2 ]
\tp( </s> | sat ...) \t= [1gram] 0.5 [ -0.30103 ]
1 sentences, 3 words, 1 OOVs
0 zeroprobs, logprob= -2.90309 ppl= 9.28318 ppl1= 28.2843

file text.txt: 2 sentences, 6 words, 1 OOVs
0 zeroprobs, logprob= -6.70927 ppl= 9.08798 ppl1= 21.9712
"""
KENLM = """\
the=4 2 -0.60206\tcat=5 2 -0.90309\tsat=6 1 -2\t</s>=2 1 -0.30103\tTotal: -3.80618 OOV: 0
the=4 2 -0.60206\tyak=0 1 -3\tsat=6 1 -2\t</s>=2 1 -0.30103\tTotal: -5.90309 OOV: 1
Perplexity including OOVs:\t16.3553
Perplexity excluding OOVs:\t9.08798
OOVs:\t1
Tokens:\t8
Name:query\tVmPeak:4336 kB\tVmRSS:1764 kB\tRSSMax:2000 kB\tuser:0\tsys:0\tCPU:0\treal:0
"""
TEXT = "the cat sat\nthe yak sat\n"
ARPA = """\
made by hand

\\data\\
ngram 1=6
ngram 2=4
ngram 3=1

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.4
-0.7\t</s>
-0.6\tthe\t-0.3
-0.9\tcat\t-0.2
-1.1\tsat

\\2-grams:
-0.25\t<s> the\t-0.05
-0.5\tthe cat\t-0.15
-0.35\tcat sat
-0.1\tsat </s>

\\3-grams:
-0.02\t<s> the cat

\\end\\
"""


def score(folder, submission, *more, reference="text.txt"):
    given = (*(("--reference", reference) if reference else ()), "--submission", submission)
    return here("score", "lm", *given, "--draws", "20", "--json", *more, cwd=folder)


def values(folder, submission, *more, reference="text.txt"):
    ended = score(folder, submission, *more, reference=reference)
    assert ended.code == 0, ended.stderr
    return {name: one["value"] for name, one in ended.data["values"].items()}, ended.data


@pytest.fixture
def there(tmp_path):
    for name, text in {"text.txt": TEXT, "srilm.out": SRILM, "kenlm.out": KENLM, "model.arpa": ARPA}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.req("T-23")
@pytest.mark.parametrize("detail", [1, 2])
def test_what_srilm_printed_gives_its_own_perplexity_and_words_out_of_the_vocabulary_count_both_ways(there, detail):
    words = "".join(line for line in SRILM.splitlines(True) if not line.startswith("\t"))
    (there / "srilm.out").write_text(SRILM if detail == 2 else words)
    found, data = values(there, "srilm.out")
    assert found["perplexity_known"] == pytest.approx(9.08798, rel=1e-5)  # the ppl that ngram printed
    assert (found["perplexity"], data["values"]["perplexity"]["infinite"]) == (None, "+")
    assert "1 of 8 tokens are out of the vocabulary" in " ".join(data["notes"])


@pytest.mark.req("T-23")
def test_what_kenlm_printed_gives_both_of_its_perplexities_and_bits(there):
    found, _ = values(there, "kenlm.out")
    total = 3.80618 + 5.90309
    assert found["perplexity"] == pytest.approx(16.3553, rel=1e-4)
    assert found["perplexity_known"] == pytest.approx(9.08798, rel=1e-4)
    bits = total * math.log2(10)
    assert found["bits_per_word"] == pytest.approx(bits / 6, rel=1e-9)
    assert found["bits_per_character"] == pytest.approx(bits / 22, rel=1e-9)


@pytest.mark.req("T-23")
def test_output_alone_is_scored_without_the_text_and_without_bits(there):
    found, _ = values(there, "kenlm.out", reference=None)
    assert set(found) == {"perplexity", "perplexity_known"}


def backoff_logarithm(tables, context, word):
    """Katz's recursion, written out: the longest n-gram, or its context's weight and one word less of context."""
    gram = (*context, word)
    if gram in tables["p"]:
        return tables["p"][gram]
    if not context:
        return tables["p"][("<unk>",)]
    return tables["b"].get(context, 0.0) + backoff_logarithm(tables, context[1:], word)


def tables_of(arpa):
    found = {"p": {}, "b": {}}
    order = 0
    for line in arpa.splitlines():
        if line.endswith("-grams:"):
            order = int(line[1])
        elif order and line.startswith("-"):
            cells = line.split()
            gram = tuple(cells[1 : order + 1])
            found["p"][gram] = float(cells[0])
            if len(cells) > order + 1:
                found["b"][gram] = float(cells[-1])
    return found


@pytest.mark.req("T-23")
def test_an_arpa_model_scores_a_text_by_the_longest_ngrams_it_knows(there):
    (there / "text.txt").write_text("the cat sat\nthe yak sat\ncat cat the\nsat\n")
    tables = tables_of(ARPA)
    logs, known = [], []
    for line in (there / "text.txt").read_text().splitlines():
        words = ["<s>", *line.split(), "</s>"]
        for at in range(1, len(words)):
            word = words[at] if (words[at],) in tables["p"] else "<unk>"
            logs.append(backoff_logarithm(tables, tuple(words[max(at - 2, 0) : at]), word))
            known.append(word != "<unk>")
    found, _ = values(there, "model.arpa")
    assert found["perplexity"] == pytest.approx(10 ** (-sum(logs) / len(logs)), rel=1e-9)
    inside = [log for log, sure in zip(logs, known, strict=True) if sure]
    assert found["perplexity_known"] == pytest.approx(10 ** (-sum(inside) / len(inside)), rel=1e-9)
    assert found["bits_per_byte"] == pytest.approx(-sum(logs) * math.log2(10) / 36, rel=1e-9)
    without_end, _ = values(there, "model.arpa", "--set", "eos=not")
    assert without_end["perplexity"] > found["perplexity"]


@pytest.mark.req("T-23")
def test_a_model_without_unk_gives_unknown_words_no_probability(there):
    (there / "model.arpa").write_text(ARPA.replace("-1.5\t<unk>\n", "").replace("ngram 1=6", "ngram 1=5"))
    found, data = values(there, "model.arpa")
    assert data["values"]["perplexity"]["infinite"] == "+"
    assert found["perplexity_known"] > 1


def texts(seed, number):
    dice = random.Random(seed)
    return [[dice.choice("abcdefg") for _ in range(dice.randint(1, 8))] for _ in range(number)]


class Words(Vocabulary):
    """A vocabulary that knows `<s>` and does not count it: no model ever has to foresee it."""

    def __len__(self):
        return super().__len__() - 1


class Interpolated(KneserNey):
    """NLTK's Kneser-Ney, whose words alone are interpolated with the uniform distribution as Chen and Goodman do."""

    def unigram_score(self, word):
        count, total = self._continuation_counts(word)
        kinds = sum(self._continuation_counts(one)[0] > 0 for one in self.vocab)
        return (max(count - self.discount, 0) + self.discount * kinds / len(self.vocab)) / total


def of_nltk(model, order, train, test):
    """Log-probabilities that an NLTK model gives a text, trained on the n-grams of sentences."""
    padded = [["<s>"] * (order - 1) + words + ["</s>"] for words in train]
    grams = [[gram for gram in everygrams(line, max_len=order) if gram[-1] != "<s>"] for line in padded]
    model.fit(grams)
    for words in test:
        line = ["<s>"] * (order - 1) + [word if word in model.vocab else "<UNK>" for word in words] + ["</s>"]
        for at in range(order - 1, len(line)):
            yield math.log(model.unmasked_score(line[at], tuple(line[at - order + 1 : at])))


@pytest.mark.req("T-23")
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("smoothing", ["add-k", "kneser-ney"])
def test_models_trained_here_are_those_of_nltk(there, smoothing, order):
    train, test = texts(order, 40), [*texts(99, 12), ["a", "unseen", "b"]]
    (there / "train.txt").write_text("".join(" ".join(words) + "\n" for words in train))
    (there / "text.txt").write_text("".join(" ".join(words) + "\n" for words in test))
    vocabulary = Words([word for words in train for word in ("<s>", *words, "</s>")], unk_cutoff=1)
    if smoothing == "add-k":
        model, setting = Lidstone(0.3, order, vocabulary=vocabulary), "k=0.3"
    else:
        model, setting = KneserNeyInterpolated(order, discount=0.6, vocabulary=vocabulary), "discount=0.6"
        model.estimator = Interpolated(model.vocab, model.counts, order, discount=0.6)
    logs = list(of_nltk(model, order, train, test))
    found, data = values(there, "train.txt", "--set", f"train={smoothing}", "--set", f"order={order}", "--set", setting)
    assert found["perplexity"] == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-9)
    assert found["perplexity_known"] < found["perplexity"]
    assert f"order:{order}" in data["signature"] + json.dumps(data)


@pytest.mark.req("T-23")
def test_models_with_other_tokens_are_compared_by_bits(there):
    lines = [{"id": "1", "text": "the cat"}, {"id": "2", "text": "é"}]
    (there / "key.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (there / "words.jsonl").write_text(
        '{"id":"1","logprobs":[-2,-3,-1],"oov":[2]}\n{"id":"2","logprobs":[-4,-2],"oov":[]}\n'
    )
    (there / "pieces.jsonl").write_text('{"id":"1","logprob":-6,"tokens":9}\n{"id":"2","logprob":-6,"tokens":3}\n')
    found = {name: values(there, f"{name}.jsonl", reference="key.jsonl")[0] for name in ("words", "pieces")}
    assert found["words"]["perplexity"] > found["pieces"]["perplexity"]
    for name in ("words", "pieces"):
        assert found[name]["bits_per_word"] == pytest.approx(12 / math.log(2) / 3)
        assert found[name]["bits_per_character"] == pytest.approx(12 / math.log(2) / 8)
        assert found[name]["bits_per_byte"] == pytest.approx(12 / math.log(2) / 9)
    assert found["words"]["perplexity_known"] == pytest.approx(math.exp(9 / 4))
    assert "perplexity_known" not in found["pieces"]


BAD = {
    "total alone": (
        "x.out",
        "file t: 2 sentences, 6 words, 1 OOVs\n0 zeroprobs, logprob= -6 ppl= 9 ppl1= 2\n",
        "-debug 1",
    ),
    "words missing": (
        "x.out",
        SRILM.replace("\tp( cat | the ...) \t= [2gram] 0.125 [ -0.90309 ]\n", ""),
        "give the output whole",
    ),
    "other words": ("x.out", SRILM.replace("the cat sat\n", "the dog sat\n"), "other words than those of '1'"),
    "sums alone": ("k.out", "Total: -3.8 OOV: 0\nTotal: -5.9 OOV: 1\n", "run query with -v word"),
    "no ends": ("k.out", KENLM.replace("</s>=2 1 -0.30103\t", ""), "without -n"),
    "wrong sum": ("k.out", KENLM.replace("Total: -3.8", "Total: -4.8"), "do not add up"),
    "one sentence too few": ("k.out", KENLM.splitlines(True)[0], "1 lines where the reference has 2"),
    "cut off": ("m.arpa", ARPA[: ARPA.index("\\3-grams")], "the file is truncated"),
    "a count is wrong": ("m.arpa", ARPA.replace("ngram 2=4", "ngram 2=5"), "4 2-grams, and 5 are announced"),
    "a probability above 1": ("m.arpa", ARPA.replace("-0.35\tcat", "0.35\tcat"), "no probability is more than 1"),
    "no n-gram": ("m.arpa", ARPA.replace("-0.35\tcat sat", "-0.35\tcat"), "this line is not a 2-gram"),
    "twice": ("m.arpa", ARPA.replace("-0.1\tsat </s>", "-0.1\tcat sat"), "appears twice"),
    "plain text": ("t.txt", TEXT, "set train=kneser-ney"),
    "an oov that is none": ("p.jsonl", '{"id":"1","logprobs":[-1],"oov":[2]}\n', "oov is not a list"),
}


@pytest.mark.req("T-23", case="bad")
@pytest.mark.parametrize("name", BAD)
def test_what_is_broken_is_refused_with_what_to_do(there, name):
    file, text, words = BAD[name]
    (there / file).write_text(text)
    ended = score(there, file)
    assert ended.code == 1
    shown = here("validate", "lm", "--reference", "text.txt", "--submission", file, cwd=there)
    assert words in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.req("T-23", case="bad")
@pytest.mark.parametrize("reference", [None, "tokens.jsonl"])
def test_a_model_without_a_text_to_score_is_refused(there, reference):
    (there / "tokens.jsonl").write_text('{"id": "1", "tokens": 4}\n')
    ended = score(there, "model.arpa", reference=reference)
    assert ended.code == 1
    assert "a model needs the texts of the sentences" in json.dumps(ended.data)
