"""Language models: how well a model foresees a corpus, in perplexity and in bits (T-1, T-23).

A submission says what a model gave the sentences (JSON lines; what SRILM or KenLM printed), is a model (an ARPA file),
or is a text on which one of our own is trained. A model needs the sentences themselves as a reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from basanite import __version__
from basanite.formats.items import ContentError, Items, Take, read_items, read_structured_items, text_of
from basanite.formats.kinds.general import PLAIN
from basanite.formats.kinds.kind import Kind
from basanite.formats.kinds.texts import ARPA, KENLM, SRILM
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.single_file import kind_of
from basanite.formats.texts.arpa import read_arpa
from basanite.formats.texts.logprobs import (
    SIZES,
    Likelihood,
    Printed,
    Sentence,
    likelihood,
    of_tokens,
    read_kenlm,
    read_srilm,
    sentence_of,
)
from basanite.metrics.text.language_models import (
    AddK,
    BackoffModel,
    KneserNey,
    LanguageModel,
    count_ngrams,
    surprise_of,
)
from basanite.metrics.text.perplexity import (
    BITS_PER_BYTE,
    BITS_PER_CHARACTER,
    BITS_PER_WORD,
    COLUMNS,
    METRICS,
    PERPLEXITY,
    PERPLEXITY_KNOWN,
    Likelihoods,
    statistics,
)
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.language_models import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import number_or_nan, one_of, share_between, whole_number

RULE = "T-1"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
BASES = {"e": math.e, "2": 2.0, "10": 10.0}
NONE, KNESER_NEY, ADD_K = "none", "kneser-ney", "add-k"
BITS = (BITS_PER_WORD, BITS_PER_CHARACTER, BITS_PER_BYTE)
FORMS = {
    PERPLEXITY.name: "exp(-sum log P / sum N)",
    PERPLEXITY_KNOWN.name: "exp(-sum log P / sum N) of tokens in the vocabulary",
    **{metric.name: f"-sum log2 P / sum of {size}" for metric, size in zip(BITS, SIZES, strict=True)},
}
NAMED = 5
"""So many sentences are named in a note."""
MOST_ORDER = 10


class Placed(NamedTuple):
    """What a record says, and where it stands."""

    content: Any
    file: str
    line: int
    form: str = ""
    """What the file is, where it is not JSON lines or a table."""


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The sentences: their texts, or how many tokens, words, characters and bytes each has."""
    return read_items(paths[0], sentence_of, REFERENCE, findings, used=("tokens", "text", *SIZES))


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The log-probabilities of each sentence: as records, or as SRILM or KenLM printed them."""
    kind = kind_of(path)
    if kind is SRILM or kind is KENLM:
        return _read_output(path, settings, findings, kind)
    if kind is PLAIN and path.stat().st_size:
        fix = "set train=kneser-ney or train=add-k to train a model on it, or give log-probabilities or an ARPA file"
        findings.add(SUBMISSION.problem(path.name, None, "this looks like plain text, not like log-probabilities", fix))
        return None
    take: Take = partial(likelihood, base=BASES[settings["base"]], end_counts=_end_counts(settings))
    used = ("logprobs", "logprob", "tokens", "oov")
    items = read_structured_items(path, take, SUBMISSION, findings, used=used)
    if items is None:
        return None
    placed = (Placed(content, items.file, line) for content, line in zip(items.content, items.lines, strict=True))
    return replace(items, content=tuple(placed))


def _end_counts(settings: Settings) -> bool:
    return bool(settings["eos"] == "counted")


def _read_output(path: Path, settings: Settings, findings: Findings, kind: Kind) -> Items | None:
    """The sentences that a toolkit printed, numbered from 1."""
    file = open_single(path, SUBMISSION, findings)
    if file is None:
        return None
    read = read_srilm if kind is SRILM else read_kenlm
    printed = read(file.data.decode("utf-8-sig", "replace"), file.name, SUBMISSION, findings)
    content = []
    for one in printed:
        try:
            content.append(Placed(_of_printed(one, _end_counts(settings)), file.name, one.line, kind.name))
        except ContentError as error:
            findings.add(SUBMISSION.problem(file.name, one.line, str(error), error.fix, error.found))
            return None
    ids, lines = tuple(str(number + 1) for number in range(len(content))), [one.line for one in printed]
    return Items(file.name, ids, tuple(content), lines, digest_of([(file.name, file.raw)]), numbered=True)


def _of_printed(one: Printed, end_counts: bool) -> Likelihood:
    if one.log_probabilities:
        found = of_tokens(one.log_probabilities, one.known, base=10.0, end_counts=end_counts)
        return replace(found, words=one.words)
    if one.total is None or not end_counts:
        raise ContentError("a sum does not separate the end of the sentence", "run ngram -ppl with -debug 2")
    total = one.total * math.log(10)
    known = (total, one.tokens - one.unknown, one.zeros)
    return Likelihood(total, one.tokens, one.unknown + one.zeros, known=known, words=one.words)


class ModelRun(ItemRun):
    """A run whose submission may be a model, which is asked about the sentences of the reference."""

    def examine(self, piece: Path) -> tuple[Items | None, Findings]:
        """Read log-probabilities, or work them out."""
        trained = self.settings["train"] != NONE
        if not trained and kind_of(piece) is not ARPA:
            items, found = super().examine(piece)
            return self._with_reference_ids(items), found
        found = Findings(self._limit)
        sentences = self._texts(piece, found)
        model_of = self._train_model if trained else self._read_model
        model = model_of(piece, found) if sentences is not None else None
        if model is None or sentences is None or self.reference is None:
            return None, found
        asked, digest = model
        end_counts = _end_counts(self.settings)
        seen = (surprise_of(asked, text.split()) for text in sentences)
        read = (of_tokens(one.logarithms, one.known, base=math.e, end_counts=end_counts) for one in seen)
        content = tuple(Placed(one, piece.name, 1, ARPA.name) for one in read)
        reference = self.reference
        return Items(piece.name, reference.ids, content, reference.lines, digest), found

    def _with_reference_ids(self, items: Items | None) -> Items | None:
        """What a toolkit printed has no ids: those of a reference with as many texts, whose words are checked."""
        reference = self.reference
        if items is None or not items.numbered or reference is None or len(reference.ids) != len(items.ids):
            return items
        texts = all(one.text is not None for one in reference.content)
        return replace(items, ids=reference.ids) if texts else items

    def _texts(self, piece: Path, findings: Findings) -> list[str] | None:
        """The sentences that a model is asked about."""
        sentences: Sequence[Sentence] = () if self.reference is None else self.reference.content
        texts = [one.text for one in sentences if one.text is not None]
        if self.reference is None or len(texts) < len(sentences):
            message, fix = "a model needs the texts of the sentences", 'give them as the reference, or "text" in it'
            findings.add(SUBMISSION.problem(piece.name, None, message, fix))
            return None
        return texts

    def _read_model(self, piece: Path, findings: Findings) -> tuple[LanguageModel, str] | None:
        file = open_single(piece, SUBMISSION, findings)
        found = None if file is None else read_arpa(file.data, file.name, SUBMISSION, findings)
        if file is None or found is None:
            return None
        return BackoffModel(found.order, found.probabilities, found.backoffs), digest_of([(file.name, file.raw)])

    def _train_model(self, piece: Path, findings: Findings) -> tuple[LanguageModel, str] | None:
        """A model of the submission's text, as the settings want it."""
        text = read_items(piece, text_of, SUBMISSION, findings, used=("text",))
        if text is None or not findings.valid:
            return None
        settings = self.settings
        counts = count_ngrams((one.split() for one in text.content), settings["order"], least=settings["least_count"])
        if settings["train"] == ADD_K:
            return AddK(counts, settings["k"]), text.digest
        return KneserNey(counts, settings["discount"]), text.digest


def open_models(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open the sentences, if there are any."""
    return opener(SPEC, ModelRun)(inputs, settings, findings, executor)


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Every sentence has the tokens that the reference says, so that N is the same for all systems, and its words."""
    for name, wanted, (found, file, line, _) in zip(pairs.units, pairs.references, pairs.answers, strict=True):
        if wanted is None:
            continue
        if wanted.tokens is not None and found.tokens != wanted.tokens:
            message = f"{found.tokens} tokens of {name!r} count, {wanted.tokens} in the reference"
            fix = "give a logprob for every token of the reference's tokeniser; see also the setting eos"
            findings.add(SUBMISSION.problem(file, line, message, fix, found.tokens))
        elif (
            found.words is not None
            and wanted.text is not None
            and [word.casefold() for word in found.words] != wanted.text.casefold().split()
        ):
            message = f"these are other words than those of {name!r} in the reference"
            fix = "give what was printed for this very text, one sentence per line and none of them empty"
            findings.add(SUBMISSION.problem(file, line, message, fix, " ".join(found.words)))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Log-probability and tokens of every sentence, of all tokens and of the known ones, and the size of its text."""
    told: list[Likelihood] = [answer.content for answer in pairs.answers]
    sums_of = np.array([[one.log_probability, one.tokens, one.zeros] for one in told], np.float64).reshape(-1, 3).T
    known = np.array([one.known for one in told], np.float64) if told and all(one.known for one in told) else None
    sizes = np.array([(one or Sentence()).sizes for one in pairs.references], np.float64).reshape(-1, 3)
    rows = statistics(Likelihoods(pairs.units, sums_of[0], sums_of[1], sums_of[2], known, sizes))
    table = pairs.table(COLUMNS, rows)
    sums = dict(zip(COLUMNS, rows.sum(axis=0).tolist(), strict=True))
    # Bits are given for what the reference tells of every sentence.
    bits = [metric for at, metric in enumerate(BITS) if len(sizes) and not np.isnan(sizes[:, at]).any()]
    metrics = (PERPLEXITY, *([PERPLEXITY_KNOWN] if known is not None else []), *bits)
    signature = _signature(settings, pairs.answers[0].form if pairs.answers else "")
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=tuple(_notes(pairs, told, sums, settings)),
        parts={metric.name: _parts(metric.name, sums) for metric in metrics},
        signatures={metric.name: f"{metric.name}|form:{FORMS[metric.name]}|{signature}" for metric in metrics},
    )


def _parts(name: str, sums: Mapping[str, float]) -> dict[str, float]:
    """What a value was made of."""
    size = {metric.name: size for metric, size in zip(BITS, SIZES, strict=True)}.get(name)
    if size:
        return {"log_probability": sums["log_probability"], size: int(sums[size])}
    columns = COLUMNS[3:6] if name == PERPLEXITY_KNOWN.name else COLUMNS[:3]
    found = {column.removeprefix("known_"): sums[column] for column in columns}
    return {"log_probability": found.pop("log_probability"), **{one: int(number) for one, number in found.items()}}


def _notes(pairs: Pairs, told: Sequence[Likelihood], sums: Mapping[str, float], settings: Settings) -> Iterator[str]:
    tokens, inside = int(sums["tokens"]), int(sums["known_tokens"])
    ends = "counted as tokens" if _end_counts(settings) else "left out, the last token of each sentence"
    yield f"N is the {tokens} tokens that the model saw; sentence ends are {ends}."
    if inside and inside < tokens:
        yield (
            f"{tokens - inside} of {tokens} tokens are out of the vocabulary: perplexity counts them, "
            "perplexity_known leaves them out"
        )
    zero = [name for name, one in zip(pairs.units, told, strict=True) if one.zeros]
    if zero:
        more = f" and {len(zero) - NAMED} more" if len(zero) > NAMED else ""
        yield f"perplexity is infinite: a token has probability 0 in {', '.join(zero[:NAMED])}{more}"
    known_zeros = int(sums["known_zeros"])
    if known_zeros and inside > known_zeros:
        without = math.exp(-sums["known_log_probability"] / (inside - known_zeros))
        yield f"without the {known_zeros} known tokens of probability 0, as SRILM prints it, it would be {without:.6g}"
    empty = sum(one.tokens == 0 for one in told)
    if empty:
        yield f"{empty} sentences have no token"


def _signature(settings: Mapping[str, Any], form: str) -> str:
    """What the log-probabilities are, as far as it is known here."""
    model = {
        NONE: f"from:{form}" if form else f"base:{settings['base']}",
        ADD_K: f"model:add-k|order:{settings['order']}|k:{settings['k']:g}",
        KNESER_NEY: f"model:interpolated Kneser-Ney|order:{settings['order']}|discount:{settings['discount']:g}",
    }[settings["train"]]
    return f"{model}|eos:{settings['eos']}|basanite:{__version__}"


def number_above_zero(text: str) -> float:
    """A finite number above 0.

    >>> number_above_zero("0.5")
    0.5
    """
    number = number_or_nan(text)
    if not 0 < number < math.inf:
        raise ValueError("it is not a number above 0")
    return number


SPEC = ItemSpec(
    name="lm",
    unit="sentence",
    rule=RULE,
    primary=PERPLEXITY.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    check=check,
)
TASK = Task(
    name="lm",
    summary="Language models: perplexity and bits per unit, from log-probabilities, a model, or a text to train on",
    citation=PERPLEXITY.citation,
    unit="sentence",
    primary=PERPLEXITY.name,
    metrics=METRICS,
    open=open_models,
    settings=(
        Setting("base", "The base of the logarithms in JSON lines: e, 2 or 10.", partial(one_of, tuple(BASES)), "e"),
        Setting(
            "eos",
            "Whether the end of a sentence, the last number of each list, is counted as a token: counted or not.",
            partial(one_of, ("counted", "not")),
            "counted",
        ),
        Setting(
            "train",
            "Train a model on the submission, a text of one sentence per line: kneser-ney or add-k; or none.",
            partial(one_of, (NONE, KNESER_NEY, ADD_K)),
            NONE,
        ),
        Setting(
            "order",
            f"The order of a trained n-gram model, 1 to {MOST_ORDER}.",
            partial(whole_number, 1, MOST_ORDER),
            3,
        ),
        Setting("k", "What add-k adds to every count: a number above 0.", number_above_zero, 1.0),
        Setting(
            "discount", "What kneser-ney subtracts from every count: a number between 0 and 1.", share_between, 0.75
        ),
        Setting(
            "least_count",
            "Words that occur less often in the training text are unknown to a trained model.",
            partial(whole_number, 1, 1_000_000),
            1,
        ),
    ),
    needs_reference=False,
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One JSON object on each line: the `id` of a text and the natural logarithms of its tokens' "
        "probabilities. Or an ARPA file, or what SRILM or KenLM print.",
        example=(
            '{"id": "s01", "logprobs": [-7.569, -1.565, -2.023, -4.767, -0.478, -0.396, -5.659, -4.03, '
            "-0.679, -0.498, -3.183, -6.676, -0.518, -7.098, -5.063, -2.19, -1.295, -0.26]}\n"
        ),
    ),
)
