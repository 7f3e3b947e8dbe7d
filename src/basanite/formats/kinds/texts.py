"""Kinds of translation, captions and language models."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.kinds.general import JSON_LIST, begins_with_json, json_length
from basanite.formats.kinds.kind import Beginning, Kind, matches

_SRILM = re.compile(
    r"^(?:file .*: )?\d+ sentences, \d+ words, \d+ OOVs\s*$|\tp\( .* \)\s+= \[\w+\] \S+ \[ \S+ \]", re.MULTILINE
)
_KENLM = re.compile(r"(?:\S+=\d+ \d+ -\S+\s)+(?:Total: \S+ OOV: \d+)?\s*|Total: \S+ OOV: \d+\s*")


def _is_coco(start: Beginning) -> bool:
    """A file that COCO ships begins with megabytes of images, before its annotations."""
    text = start.text.lstrip()
    if text.startswith("{"):
        cut_in_images = not start.whole and all(name in text for name in ('"images"', '"file_name"', '"id"'))
        return '"annotations"' in text or cut_in_images
    return bool(JSON_LIST.match(text)) and '"image_id"' in text


def _count_sentences(text: str) -> int:
    """What SRILM says that a whole file had, or the sentences that it printed one by one."""
    whole = re.findall(r"^file .*: (\d{1,12}) sentences, ", text, re.MULTILINE)
    return int(whole[-1]) if whole else len(re.findall(r"^1 sentences, ", text, re.MULTILINE))


WMT: Final = Kind(
    "a test set of WMT in XML or SGM",
    lambda start: bool(re.search(r"<dataset[\s>]|<(?i:srcset|refset|tstset|mteval)[\s>]", start.text)),
    (),
    "the task translation reads it",
    hint="`basanite convert wmt` makes JSON lines of it",
    commands=("score translation {path} HYP.txt", "convert wmt {path} --out FOLDER"),
    sign="a tag `<dataset>`, `<srcset>`, `<refset>` or `<tstset>`",
    record="segment",
    count=matches(r"<(?i:seg)[\s>]"),
)
SACREBLEU: Final = Kind(
    "scores of sacreBLEU",
    lambda start: begins_with_json(start, "[{", "score", "signature"),
    (".json",),
    "give the translations themselves",
    hint="`basanite convert sacrebleu` makes a result of it",
    commands=("convert sacrebleu {path} --out RESULT.json",),
    sign="JSON with the names `score` and `signature`",
    record="value",
    count=json_length(),
)
COCO: Final = Kind(
    "COCO captions",
    _is_coco,
    (".json",),
    "the task captions reads them",
    commands=("score captions {path} SUBMISSION", "score captions REFERENCE {path}"),
    sign="a JSON list with the name `image_id`, or an object with `annotations`, or one that begins with many `images`",
    record="caption",
    count=json_length("annotations"),
)
ARPA: Final = Kind(
    "an ARPA language model",
    lambda start: bool(re.search(r"^\\data\\\s*$", start.text, re.MULTILINE)),
    (".arpa", ".lm"),
    "the task lm reads it as a submission, beside the text as a reference",
    commands=("score lm TEXT {path}",),
    sign="a line `\\data\\`",
    record="n-gram",
    count=lambda text: sum(
        int(number) for number in re.findall(r"^ngram\s+\d+\s*=\s*(\d{1,12})\s*$", text, re.MULTILINE)
    ),
)
SRILM: Final = Kind(
    "what SRILM's ngram -ppl printed",
    lambda start: bool(_SRILM.search(start.text)),
    (),
    "the task lm reads it as a submission",
    commands=("score lm {path}",),
    sign="a line of counts of sentences, words and OOVs, or of one word's probability",
    record="sentence",
    count=_count_sentences,
)
KENLM: Final = Kind(
    "what KenLM's query printed",
    lambda start: bool(start.lines) and bool(_KENLM.fullmatch(start.lines[0])),
    (),
    "the task lm reads it as a submission",
    commands=("score lm {path}",),
    sign="the first line has words as `word=id length probability`, or `Total:` and `OOV:`",
    record="sentence",
)
