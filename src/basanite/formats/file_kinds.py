"""What a file is, told from its first bytes and records; its ending is only a hint (D-3, D-4).

A kind is found only where the content leaves no doubt. What no kind recognizes is left to the reader, which knows
whether it takes plain text or tables. The kinds stand in `basanite.formats.kinds`, one module a field; the list here is
the only one: readers, refusals, `inspect`, `import` and the reference table of formats use it.
"""

from __future__ import annotations

from typing import Final

from basanite.formats.kinds import general, judgments, own, questions, ranking, scores, speech, structure, texts
from basanite.formats.kinds.kind import Beginning, Kind

TEXTS: Final[tuple[Kind, ...]] = (
    general.RESULT,
    scores.TRANSCRIPTS,
    scores.INSPECT_JSON,
    scores.LM_EVAL,
    scores.LM_EVAL_RESULTS,
    scores.PROMPTFOO_LINES,
    scores.PROMPTFOO,
    scores.DEEPEVAL,
    scores.EVERY_EVAL,
    scores.EVERY_EVAL_RESULTS,
    structure.LABEL_STUDIO,
    texts.SACREBLEU,
    questions.VQA,
    questions.VQA_QUESTIONS,
    questions.VQA_RESULTS,
    questions.SQUAD,
    questions.SQUAD_ANSWERS,
    texts.COCO,
    general.JSON_LINES,
    general.JSON,
    texts.WMT,
    structure.RDF,
    structure.RULES,
    general.XML,
    structure.TREES,
    structure.EVALB,
    structure.CONLLU,
    structure.COREFERENCE,
    structure.TAGS,
    structure.SENSES,
    speech.RTTM,
    speech.SUBTITLES,
    speech.TEXT_GRID,
    speech.GLM,
    ranking.RUN,
    ranking.QRELS,
    ranking.PRELS,
    ranking.PREFS,
    ranking.BEIR,
    ranking.TREC_EVAL,
    judgments.APPRAISE,
    judgments.ASSESSMENT,
    judgments.MQM,
    speech.STM,
    speech.CTM,
    speech.TRN,
    speech.KALDI,
    texts.ARPA,
    texts.SRILM,
    texts.KENLM,
)
"""Kinds of text in the order in which they are tried: the more exact first."""
FOLDERS: Final[tuple[Kind, ...]] = (
    structure.BRAT,
    structure.READING,
    structure.METRICS_EVAL,
    structure.ARRAYS,
    structure.SUMMARIES,
    structure.DECISIONS,
    structure.DECISION_KEY,
    structure.TREEBANK,
    scores.INSPECT_EVAL,
    scores.LM_EVAL_RUN,
    scores.INSPECT_LOGS,
)
"""Kinds of folders and archives, told by the names in them and the beginning of their first file."""
KINDS: Final[tuple[Kind, ...]] = (
    *TEXTS,
    *own.OWN,
    general.TABLE,
    general.PLAIN,
    general.PARQUET,
    *general.BINARY,
    *FOLDERS,
)
"""Every kind of file that is known."""


def text_kind(start: Beginning) -> Kind | None:
    """The kind of a text that leaves no doubt; None for plain text, tables and whatever else."""
    return next((kind for kind in TEXTS if kind.test(start)), None)


def own_kind(start: Beginning) -> Kind | None:
    """The kind of a file of Basanite's own, by what it says of itself; readers of these know them by other means."""
    return next((kind for kind in own.OWN if kind.test(start)), None)


def ending_kind(ending: str) -> Kind | None:
    """The kind that an ending promises: of those that share an ending, the most general one."""
    general_first = (general.JSON, general.JSON_LINES, general.TABLE, *KINDS)
    return next((kind for kind in general_first if ending in kind.endings), None)


def folder_kind(start: Beginning) -> Kind | None:
    """The kind of a folder or archive by the names in it."""
    return next((kind for kind in FOLDERS if kind.test(start)), None)


def has_header(start: Beginning, *wanted: str) -> bool:
    """Whether a text is a table whose header line names one of these columns, with as many cells in the next line.

    >>> has_header(Beginning("id,text\\n1,hello\\n"), "id"), has_header(Beginning("id, please\\nhello\\n"), "id")
    (True, False)
    """
    sign = "\t" if "\t" in start.text.partition("\n")[0] else ","
    rows = [line.split(sign) for line in start.lines[:2]]
    names = [cell.strip().strip('"') for cell in rows[0]] if rows else []
    return len(names) > 1 and any(name in names for name in wanted) and all(len(row) >= len(names) for row in rows[1:])


def other_ending(kind: Kind, ending: str) -> bool:
    """Whether a file's ending promises another kind than its content is."""
    return ending_kind(ending) is not None and ending not in kind.endings


def magic_name(data: bytes) -> str:
    """What a file is by its first bytes; "" where they say nothing."""
    start = Beginning("", data=data)
    return next((kind.name for kind in (general.PARQUET, *general.BINARY) if kind.test(start)), "")


def is_binary(start: Beginning) -> bool:
    """Whether most lines hold what no text does: bytes that are 0 or no UTF-8."""
    lines = start.text.split("\n")
    strange = sum("\0" in line or "\ufffd" in line for line in lines)
    return "\0" in start.text and 2 * strange > len(lines)
