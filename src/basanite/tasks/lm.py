"""Language models: the perplexity of a corpus from the log-probabilities that a model gave its sentences (T-1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from basanite import __version__
from basanite.formats.items import Items, Take, read_items
from basanite.formats.records import Place
from basanite.formats.texts.logprobs import Likelihood, likelihood, token_count
from basanite.metrics.text.perplexity import COLUMNS, PERPLEXITY, Likelihoods, statistics
from basanite.problems import Findings
from basanite.tasks import Setting, Task
from basanite.tasks.items import Counted, ItemSpec, Pairs, Settings, opener
from basanite.tasks.setting_kinds import one_of

RULE = "T-1"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("document",)
BASES = {"e": math.e, "2": 2.0, "10": 10.0}
NAMED = 5
"""So many sentences are named in a note."""


class Placed(NamedTuple):
    """What a record says, and where it stands."""

    content: Any
    file: str
    line: int


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """How many tokens of each sentence count."""
    return read_items(paths[0], token_count, REFERENCE, findings, used=("tokens",), plain=False)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The log-probabilities of each sentence."""
    take: Take = partial(likelihood, base=BASES[settings["base"]], end_counts=settings["eos"] == "counted")
    items = read_items(path, take, SUBMISSION, findings, used=("logprobs", "logprob", "tokens"), plain=False)
    if items is None:
        return None
    placed = (Placed(content, items.file, line) for content, line in zip(items.content, items.lines, strict=True))
    return replace(items, content=tuple(placed))


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Every sentence has as many tokens as the reference says, so that N is the same for all systems."""
    for name, wanted, (found, file, line) in zip(pairs.units, pairs.references, pairs.answers, strict=True):
        if wanted is not None and found.tokens != wanted:
            message = f"{found.tokens} tokens of {name!r} count, {wanted} in the reference"
            fix = "give a logprob for every token of the reference's tokeniser; see also the setting eos"
            findings.add(SUBMISSION.problem(file, line, message, fix, found.tokens))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Log-probability and tokens of every sentence."""
    told: list[Likelihood] = [answer.content for answer in pairs.answers]
    columns = np.array([[one.log_probability, one.tokens, one.zeros] for one in told]).reshape(-1, len(COLUMNS)).T
    rows = statistics(Likelihoods(pairs.units, *columns))
    empty = sum(one.tokens == 0 for one in told)
    notes = (*_zero_notes(pairs, told), *((f"{empty} sentences have no token",) if empty else ()))
    log_probability, tokens, zeros = rows.sum(axis=0).tolist()
    total = {"log_probability": log_probability, "tokens": int(tokens), "zeros": int(zeros)}
    ends = "counted as tokens" if settings["eos"] == "counted" else "left out, the last token of each sentence"
    return Counted(
        (PERPLEXITY,),
        {PERPLEXITY.name: pairs.table(COLUMNS, rows)},
        notes=(f"N is the {int(tokens)} tokens that the model saw; sentence ends are {ends}.", *notes),
        parts={PERPLEXITY.name: total},
        signatures={PERPLEXITY.name: _signature(settings)},
    )


def _zero_notes(pairs: Pairs, told: Sequence[Likelihood]) -> tuple[str, ...]:
    """Which sentences make the value infinite."""
    zero = [name for name, one in zip(pairs.units, told, strict=True) if one.zeros]
    if not zero:
        return ()
    more = f" and {len(zero) - NAMED} more" if len(zero) > NAMED else ""
    return (f"perplexity is infinite: a token has probability 0 in {', '.join(zero[:NAMED])}{more}",)


def _signature(settings: Mapping[str, Any]) -> str:
    form = "exp(-sum log P / sum N)"
    return f"perplexity|form:{form}|base:{settings['base']}|eos:{settings['eos']}|basanite:{__version__}"


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
    summary="Language models: the perplexity of a corpus from log-probabilities of tokens or sentences",
    citation=PERPLEXITY.citation,
    unit="sentence",
    primary=PERPLEXITY.name,
    metrics=(PERPLEXITY,),
    open=opener(SPEC),
    settings=(
        Setting("base", "The base of the logarithms in the file: e, 2 or 10.", partial(one_of, tuple(BASES)), "e"),
        Setting(
            "eos",
            "Whether the end of a sentence, the last number of each list, is counted as a token: counted or not.",
            partial(one_of, ("counted", "not")),
            "counted",
        ),
    ),
    needs_reference=False,
)
