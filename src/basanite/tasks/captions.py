"""Captions: what a system says of each image, against what people said (T-4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from basanite.formats.items import Items, read_items, text_of, texts_of
from basanite.formats.kinds.general import JSON
from basanite.formats.kinds.texts import COCO
from basanite.formats.records import Place
from basanite.formats.single_file import kind_of
from basanite.formats.texts.captions import LONGEST, REFUSED, SEVERAL, TOKENISERS, read_annotations, read_results
from basanite.formats.texts.wordnet import WordNet, read_wordnet
from basanite.kernel import Scores
from basanite.metrics.text.captions import (
    BY_NAME,
    CIDER,
    CIDER_D,
    COLUMNS,
    FUSION,
    FUSION_WEIGHTS,
    METRICS,
    Captions,
    Weights,
    counts,
)
from basanite.metrics.text.meteor import no_synsets
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.captions import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures, text_extracts
from basanite.tasks.settings import number_or_nan, one_of

RULE = "T-4"
OF_TEN = (CIDER_D.name, CIDER.name)
"""Metrics of 0 to 10, whose n-grams have weights."""
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
FIXED = (
    "the document frequencies of CIDEr and CIDEr-D come from the references under test and are held fixed when images "
    "are redrawn"
)
VARIANTS = {
    False: "METEOR is the 1.5 formula with exact and stem matches and no function words, not the full COCO METEOR",
    True: "METEOR is the 1.5 formula with exact, stem and WordNet synonym matches and no function words, "
    "not the full COCO METEOR",
}

ONE_IMAGE = "one image: every n-gram weighs 0, so the score is 0"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """COCO annotations, their list alone, or JSON lines with `references`."""
    if kind_of(paths[0]) in (COCO, JSON):
        return read_annotations(paths[0], REFERENCE, findings)
    return read_items(paths[0], texts_of, REFERENCE, findings, used=("references", "text"))


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """COCO results, or JSON lines."""
    if kind_of(path) in (COCO, JSON):
        return read_results(path, SUBMISSION, findings, several=settings["several"])
    return read_items(path, text_of, SUBMISSION, findings, used=("text",))


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Refuse captions that are no captions but whole books."""
    for name, answer, others in zip(pairs.units, pairs.answers, pairs.references, strict=True):
        for place, caption in [(SUBMISSION, answer), *((REFERENCE, other) for other in others or ())]:
            if len(caption) > LONGEST:
                message, fix = f"the caption of {name!r} has {len(caption)} characters", f"write at most {LONGEST}"
                findings.add(place.problem(pairs.files.get(place.where, ""), None, message, fix, caption))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """One table for all caption metrics."""
    words = TOKENISERS[settings["tokenise"]]
    references = [[words(text) for text in others] for others in pairs.references]
    block = Captions(pairs.units, [words(text) for text in pairs.answers], references)
    synsets = _wordnet(settings["wordnet"]).synsets if settings["wordnet"] else no_synsets
    table = pairs.table(COLUMNS, counts(block, synsets=synsets))
    fusion = fusion_weights(settings["fusion"])
    metrics = tuple(metric.bind(fusion=fusion) for metric in METRICS)
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=(FIXED, VARIANTS[bool(settings["wordnet"])], f"fusion = {formula(fusion)}"),
        flags=_flags(block, fusion),
        signatures=signatures(settings, references),
    )


def _flags(block: Captions, fusion: Weights) -> dict[str, tuple[str, ...]]:
    """What must stand beside CIDEr, CIDEr-D and a fusion that holds one: with one image every weight is 0."""
    if len(block.units) > 1:
        return {}
    fused = next((name for name, weight in fusion if name in OF_TEN and weight), "")
    part = {FUSION.name: (f"{fused} is part of it: {ONE_IMAGE}",)} if fused else {}
    return {**dict.fromkeys(OF_TEN, (ONE_IMAGE,)), **part}


class CaptionsRun(ItemRun):
    """A run whose result names the WordNet that was used by its digest: a path would say nothing elsewhere (S-6)."""

    def scores(self, system: str) -> Scores:
        """The rows of every metric."""
        made, folder = super().scores(system), self.settings["wordnet"]
        return replace(made, settings={**made.settings, "wordnet": _wordnet(folder).digest}) if folder else made


def open_captions(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> CaptionsRun | None:
    """Open the captions of people."""
    run = opener(SPEC)(inputs, settings, findings, executor)
    if run is None:
        return None
    return CaptionsRun(SPEC, inputs, settings, run.reference, run.tables, findings.limit)


@lru_cache(maxsize=2)
def _wordnet(folder: str) -> WordNet:
    return read_wordnet(Path(folder))


def wordnet_folder(text: str) -> str:
    """A folder that holds a WordNet, or nothing."""
    if text.strip():
        _wordnet(text)  # a folder that is none is refused before anything is read
    return text.strip() and text


def formula(weights: Weights) -> str:
    """How the fusion is made, as text.

    >>> formula(FUSION_WEIGHTS)
    '(bleu4 + meteor + rouge_l + cider_d/10) / 4'
    >>> formula((("cider_d", 2.0), ("bleu4", 1.0)))
    '(2 cider_d/10 + bleu4) / 3'
    """
    scaled = [(name + "/10" if name in OF_TEN else name, weight) for name, weight in weights]
    terms = [name if weight == 1 else f"{weight:g} {name}" for name, weight in scaled]
    return f"({' + '.join(terms)}) / {sum(weight for _, weight in weights):g}"


def signatures(settings: Settings, references: Sequence[Sequence[object]]) -> dict[str, str]:
    """How each value was computed: tokeniser, case, smoothing, source of weights, variant, references (T-10)."""
    tokens = "tokeniser: coco-like, lower case" if settings["tokenise"] == "coco" else "tokeniser: none, case kept"
    sizes = Counter(map(len, references))
    common = f"{tokens}; references: {'..'.join(str(size) for size in sorted({min(sizes), max(sizes)}))} an image"
    matchers = "exact+stem+synonym (WordNet)" if settings["wordnet"] else "exact+stem"
    own = {
        "cider_d": "CIDEr-D, sigma 6, n 1..4, df: references under test; scale 0..10",
        "cider": "CIDEr without stems, n 1..4, df: references under test; scale 0..10",
        "meteor": f"METEOR 1.5 formula, {matchers}, no function words, alpha .85 beta .2 gamma .6; scale 0..1",
        "rouge_l": "ROUGE-L, beta 1.2, best precision and recall apart; scale 0..1",
        "fusion": f"{formula(fusion_weights(settings['fusion']))}; scale 0..1",
        **{f"bleu{n}": f"corpus BLEU-{n}, no smoothing, closest reference length; scale 0..1" for n in range(1, 5)},
    }
    return {metric.name: f"{own[metric.name]}; {common}" for metric in METRICS}


def fusion_weights(text: str) -> Weights:
    """Names of metrics separated by commas, each perhaps with a colon and its weight.

    >>> fusion_weights("bleu4, cider_d:2")
    (('bleu4', 1.0), ('cider_d', 2.0))
    """
    found = tuple(_read_weight(part) for part in text.split(",") if part.strip())
    names = [name for name, _ in found]
    if not found or len(set(names)) < len(names):
        raise ValueError("it names no metric, or one twice")
    return found


def fusion_list(text: str) -> str:
    """The same list, found to be usable, without spaces."""
    fusion_weights(text)
    return "".join(text.split())


def _read_weight(text: str) -> tuple[str, float]:
    name, _, given = (part.strip() for part in text.partition(":"))
    if name not in BY_NAME:
        raise ValueError(f"{name!r} is not one of {', '.join(BY_NAME)}")
    weight = number_or_nan(given or "1")
    if not 0 < weight < 1e6:
        raise ValueError(f"the weight {given!r} is not a number above 0")
    return name, weight


SPEC = ItemSpec(
    name="captions",
    unit="image",
    rule=RULE,
    primary=CIDER_D.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    check=check,
)

TASK = Task(
    name="captions",
    summary="Image captions: one caption per image, scored against captions by several people",
    citation=FUSION.citation,
    unit="image",
    primary=CIDER_D.name,
    metrics=METRICS,
    open=open_captions,
    settings=(
        Setting(
            "tokenise",
            "Tokenization: coco (lower case, split, punctuation dropped) or none (split at white space).",
            partial(one_of, tuple(TOKENISERS)),
            "coco",
        ),
        Setting(
            "fusion",
            "Metrics to average, with weights, like bleu4,meteor,cider_d:2.",
            fusion_list,
            ",".join(name for name, _ in FUSION_WEIGHTS),
        ),
        Setting(
            "several",
            "How to treat several captions for one image in COCO results: refused, or first (the first counts).",
            partial(one_of, SEVERAL),
            REFUSED,
        ),
        Setting("wordnet", "A WordNet folder; with it, METEOR also matches synonyms.", wordnet_folder, ""),
    ),
    compared_figures=moved_figures(text_extracts),
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One caption for each image, as the results file of COCO, or as JSON lines, CSV or TSV with `id` and `text`.",
        example=('[\n{\n"caption": "a brown chair sitting next to a dog.",\n"image_id": 1\n},\n'),
    ),
)
