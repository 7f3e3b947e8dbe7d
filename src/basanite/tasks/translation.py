"""Translation: what a system wrote against what people wrote, segment by segment (T-3), or by whole documents (M83)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from basanite import __version__
from basanite.formats.items import Items, parallel, read_items, text_of, texts_of
from basanite.formats.records import Place
from basanite.formats.texts.document_texts import is_documents, read_documents
from basanite.kernel import Rows
from basanite.metrics.text.translation import (
    BLEU,
    BLEU_COLUMNS,
    CHRF,
    LONGEST_FOR_TER,
    METRICS,
    SMOOTHINGS,
    TER,
    TOKENISERS,
    UNIGRAM_PRECISION,
    UNIGRAM_PRECISION_CLIPPED,
    Segments,
    bleu_statistics,
    chrf_columns,
    chrf_statistics,
    peer_bleu,
    peer_chrf,
    peer_ter,
    signature,
    ter_statistics,
    too_long_for_ter,
    unigram_statistics,
)
from basanite.problems import Findings
from basanite.tasks import Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved import moved_figures, text_extracts
from basanite.tasks.setting_kinds import number_or_nan, one_of, yes_or_no

RULE = "T-3"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
USED = ("references", "text")


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """What people wrote; further files are other translations of the same segments."""
    versions = [_read(path, texts_of, REFERENCE, settings, findings) for path in paths]
    whole = [version for version in versions if version is not None]
    return parallel(whole, REFERENCE, findings) if len(whole) == len(versions) else None


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """What the system wrote."""
    return _read(path, text_of, SUBMISSION, settings, findings)


def _read(path: Path, take: Any, place: Place, settings: Settings, findings: Findings) -> Items | None:
    if is_documents(path):
        lines = settings["segments"] == "lines"
        return read_documents(path, take if lines else partial(_one_line, take), place, findings, lines=lines)
    return read_items(path, take, place, findings, used=USED if place.where == "reference" else ("text",))


def _one_line(take: Any, fields: Mapping[str, Any]) -> Any:
    """A document as one segment: its line ends are spaces."""
    return take({**fields, "text": " ".join(fields["text"].split("\n"))})


def count(pairs: Pairs, settings: Settings) -> Counted:
    """What sacrebleu counts in every segment."""
    block = Segments(pairs.units, pairs.answers, pairs.references)
    words, case = _given(settings, "tokenise", "lowercase"), _given(settings, "lowercase")
    order = settings["chrf_word_order"]
    counted = pairs.table(BLEU_COLUMNS, bleu_statistics(block, **words))
    tables = {
        BLEU.name: counted,
        CHRF.name: pairs.table(chrf_columns(order), chrf_statistics(block, **case, word_order=order)),
        UNIGRAM_PRECISION.name: pairs.table(UNIGRAM_PRECISION.columns, unigram_statistics(block, **words)),
        UNIGRAM_PRECISION_CLIPPED.name: counted,
    }
    ter, flags = _ter(block, settings)
    return Counted(
        tuple(_bound(metric, settings) for metric in METRICS),
        {**tables, TER.name: pairs.table(TER.columns, ter)},
        flags=flags,
        parts={BLEU.name: _bleu_parts(counted.rows.sum(axis=0))},
        signatures=_signatures(pairs.references, settings),
    )


def _bound(metric: Any, settings: Settings) -> Any:
    """A metric with its settings; chrF has more columns with words."""
    columns = chrf_columns(settings["chrf_word_order"]) if metric is CHRF else metric.columns
    return replace(metric.bind(**settings), columns=columns)


def _ter(block: Segments, settings: Settings) -> tuple[Rows, dict[str, tuple[str, ...]]]:
    """The rows of TER; none, with the reason, where it is not wanted or would take for ever."""
    nothing = np.zeros((len(block.units), len(TER.columns)))
    long = too_long_for_ter(block, by_character=settings["ter_asian"])
    if not settings["ter"]:
        return nothing, {TER.name: ("not computed: ter=no",)}
    if long:
        said = f"not computed: {len(long)} segments have more than {LONGEST_FOR_TER} words, such as {long[0]}"
        return nothing, {TER.name: (said,)}
    return ter_statistics(block, **_ter_options(settings)), {}


def _bleu_parts(sums: Rows) -> dict[str, float]:
    """Lengths and n-gram matches, from which anyone can compute BLEU again."""
    return {name: int(number) for name, number in zip(BLEU_COLUMNS, sums, strict=True)}


def _given(settings: Settings, *names: str) -> dict[str, Any]:
    return {name: settings[name] for name in names}


def _ter_options(settings: Settings) -> dict[str, Any]:
    return _given(settings, "ter_case", "ter_normalise", "ter_punctuation", "ter_asian")


def _signatures(references: Sequence[Sequence[str]], settings: Settings) -> dict[str, str]:
    """sacrebleu's own signature of every value, and ours (T-10)."""
    words = _given(settings, "tokenise", "lowercase")
    smoothed = {"smooth_method": settings["smoothing"], "smooth_value": settings["smooth_value"]}
    bleu = peer_bleu(**words, **smoothed, effective_order=settings["effective_order"])
    chrf = peer_chrf(lowercase=settings["lowercase"], word_order=settings["chrf_word_order"])
    peers = {BLEU.name: bleu, CHRF.name: chrf, TER.name: peer_ter(**_ter_options(settings))}
    plain = peer_bleu(**words, smooth_method="none")
    peers |= {UNIGRAM_PRECISION.name: plain, UNIGRAM_PRECISION_CLIPPED.name: plain}
    scale = "0..100" if settings["percent"] else "0..1"
    return {name: f"{signature(peer, references)}|scale:{scale}|basanite:{__version__}" for name, peer in peers.items()}


def _smooth_value(text: str) -> float:
    number = number_or_nan(text)
    if not 0 < number < 1e6:
        raise ValueError("it must be more than 0")
    return number


def _word_order(text: str) -> int:
    if text not in ("0", "1", "2"):
        raise ValueError("it must be 0 (chrF), 1 (chrF+) or 2 (chrF++)")
    return int(text)


SPEC = ItemSpec(
    name="translation",
    unit="segment",
    rule=RULE,
    primary=BLEU.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
)

TASK = Task(
    name="translation",
    summary="Machine translation: what a system wrote against what people wrote, with any number of references",
    citation=BLEU.citation,
    unit="segment",
    primary=BLEU.name,
    metrics=METRICS,
    open=opener(SPEC),
    several_references=True,
    settings=(
        Setting(
            "tokenise",
            f"How BLEU and unigram precision find words: {', '.join(TOKENISERS)}.",
            partial(one_of, TOKENISERS),
            "13a",
        ),
        Setting("lowercase", "Whether case is folded for all values but TER, which has ter_case.", yes_or_no, False),
        Setting("smoothing", f"Smoothing of BLEU: {', '.join(SMOOTHINGS)}.", partial(one_of, SMOOTHINGS), "exp"),
        Setting("smooth_value", "The number that floor (0.1) or add-k (1) adds.", _smooth_value),
        Setting("effective_order", "Whether BLEU leaves out orders for which there are no n-grams.", yes_or_no, False),
        Setting("chrf_word_order", "Word n-grams in chrF: 0, 1, or 2 for chrF++.", _word_order, 0),
        Setting("ter", "Whether TER is computed; it is slow.", yes_or_no, True),
        Setting("ter_case", "Whether case counts in TER.", yes_or_no, False),
        Setting("ter_normalise", "Whether TER separates punctuation as tercom does.", yes_or_no, False),
        Setting("ter_punctuation", "Whether punctuation counts in TER.", yes_or_no, True),
        Setting("ter_asian", "Whether TER splits Chinese and Japanese characters.", yes_or_no, False),
        Setting("percent", "Whether values are shown on 0..100 in place of 0..1.", yes_or_no, False),
        Setting(
            "segments",
            "What is a segment in a folder of documents: documents, or lines (as many on both sides).",
            partial(one_of, ("documents", "lines")),
            "documents",
        ),
    ),
    compared_figures=moved_figures(text_extracts),
)
