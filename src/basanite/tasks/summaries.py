"""Summaries: what a system wrote of each text, against what people wrote (T-21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from basanite import __version__
from basanite.formats.items import ContentError, Items, parallel, read_items, text_of
from basanite.formats.records import Place
from basanite.metrics.text.rouge import (
    COLUMNS,
    MEASURES,
    METRICS,
    PARTS,
    ROUGE_2,
    TOKENISERS,
    Summaries,
    rouge_rows,
)
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.explanations.summaries import EXPLANATIONS
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures, text_extracts
from basanite.tasks.settings import one_of, yes_or_no

RULE = "T-21"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
PEOPLE: Final = ("references", "reference", "summary", "highlights", "target", "text")
"""What records call the summaries of people; the first that is there counts."""
SYSTEM: Final = ("prediction", "summary", "text")
"""What records call the summary of a system, likewise: `text` may be what was summed up."""
LONGEST: Final = 100_000
"""Characters of a summary: comparing longer ones would take minutes."""
LINE_END: Final = r"\n"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The summaries of people; further files are other summaries of the same texts."""
    found = [read_items(path, _summaries, REFERENCE, findings, used=PEOPLE) for path in paths]
    whole = [one for one in found if one is not None]
    return parallel(whole, REFERENCE, findings) if len(whole) == len(found) else None


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The summaries of a system."""
    return read_items(path, _summary, SUBMISSION, findings, used=("text", *SYSTEM))


def _summaries(fields: Mapping[str, Any]) -> tuple[str, ...]:
    name = next((name for name in PEOPLE if fields.get(name) is not None), "references")
    found = fields.get(name)
    texts = found if isinstance(found, list) else [found]
    if not texts or not all(isinstance(text, str) for text in texts):
        message, fix = "there is no summary of people", 'write "references": ["…", "…"] or "summary": "…"'
        raise ContentError(message, fix, "" if found is None else found)
    return tuple(texts)


def _summary(fields: Mapping[str, Any]) -> str:
    return text_of(fields, next((name for name in SYSTEM if name in fields), "text"))


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Refuse texts that are whole books, and say where ROUGE finds no word because of the script."""
    for name, answer, others in zip(pairs.units, pairs.answers, pairs.references, strict=True):
        for place, text in ((SUBMISSION, answer), *((REFERENCE, other) for other in others)):
            if len(text) > LONGEST:
                message, fix = f"the summary {name!r} has {len(text)} characters", f"write at most {LONGEST}"
                findings.add(place.problem(pairs.files.get(place.where, ""), None, message, fix, text))
    if settings["tokenise"] == "rouge":
        findings.extend(_wordless(pairs))


def _wordless(pairs: Pairs) -> Iterator[Problem]:
    """One warning for each side whose texts hold letters, and none that ROUGE counts."""
    words = TOKENISERS["rouge"]
    sides = ((REFERENCE, [text for others in pairs.references for text in others]), (SUBMISSION, pairs.answers))
    for place, texts in sides:
        strange = [text for text in texts if any(map(str.isalpha, text)) and not words(text)]
        if strange:
            message = f"{len(strange)} of {len(texts)} summaries have no letter from a to z, so ROUGE finds no word"
            fix = "separate words by spaces and set tokenise=none"
            yield place.problem(pairs.files.get(place.where, ""), None, message, fix, strange[0], severity="warn")


def count(pairs: Pairs, settings: Settings) -> Counted:
    """One table for all measures."""
    sentences = _sentences(settings["separator"])
    answers = [sentences(text) for text in pairs.answers]
    references = [[sentences(text) for text in others] for others in pairs.references]
    how = "stems" if settings["stemmer"] and settings["tokenise"] == "rouge" else settings["tokenise"]
    table = pairs.table(COLUMNS, rouge_rows(Summaries(pairs.units, answers, references), tokenise=how))
    means = dict(zip(COLUMNS, table.rows.mean(axis=0).tolist(), strict=True))
    sizes = Counter(map(len, references))
    number = "..".join(str(size) for size in sorted({min(sizes), max(sizes)}))
    stemmed = "yes" if how == "stems" else "no"
    made = f"words:{settings['tokenise']}|stemmer:{stemmed}|nrefs:{number}|best:f|basanite:{__version__}"
    alone = all("\n" not in text for text in answers)
    return Counted(
        METRICS,
        dict.fromkeys(MEASURES, table),
        notes=(ONE_SENTENCE,) if alone else (),
        parts={name: {part: means[f"{name}_{part}"] for part in PARTS[1:]} for name in MEASURES},
        signatures={name: f"{name}|{made}" for name in MEASURES},
    )


ONE_SENTENCE: Final = "no summary has a line end, so each counts as one sentence in ROUGE-Lsum"


def _sentences(separator: str) -> Callable[[str], str]:
    """What puts each sentence on a line of its own."""
    if separator == LINE_END:
        return lambda text: text
    return lambda text: text.replace("\n", " ").replace(separator, "\n")


def _separator(text: str) -> str:
    if not text.strip() or len(text) > 20:
        raise ValueError("it must have 1 to 20 characters that are no blanks")
    return text


SPEC = ItemSpec(
    name="summaries",
    unit="summary",
    rule=RULE,
    primary=ROUGE_2.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=("document", "topic"),
    check=check,
)

TASK = Task(
    name="summaries",
    summary="Summarization: summaries scored against one or more human summaries",
    citation=ROUGE_2.citation,
    unit="summary",
    primary=ROUGE_2.name,
    metrics=METRICS,
    open=opener(SPEC),
    several_references=True,
    settings=(
        Setting("stemmer", "Whether words are stemmed by Porter's algorithm.", yes_or_no, False),
        Setting(
            "tokenise",
            "Tokenization: rouge (letters a to z and digits, lower case) or none (split at white space, case kept).",
            partial(one_of, ("rouge", "none")),
            "rouge",
        ),
        Setting(
            "separator",
            r"What separates sentences for ROUGE-Lsum: \n (line ends), or a mark such as <q> or <n>.",
            _separator,
            LINE_END,
        ),
    ),
    compared_figures=moved_figures(text_extracts),
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "One summary for each text: JSON lines, CSV or TSV with `id` and `text`, or plain text with one "
        "summary on each line in order.",
        example=(
            '{"id": "t01", "text": "In Corvo, residents discussed a new bridge.\\nA vote follows next week."}\n'
            '{"id": "t02", "text": "In Farrow, the harbor office rejected the plan for a market.\\nA vote '
            'follows next week."}\n'
        ),
    ),
)
