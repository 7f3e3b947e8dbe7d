"""A model as a judge: every item asked once, invalid replies asked again within limits, answers as people give them.

The calls are those of a run of a system: resumable, cached, budgeted. A reply that stays invalid is kept with its
reason, and its item has no answer (L-5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from basanite.canonical import canonical_digest
from basanite.errors import SettingError
from basanite.models.judge_prompt import (
    AGAIN,
    check_scheme_for_models,
    judging_prompt,
    prompt_digest,
    read_reply,
    rubric_digest,
)
from basanite.models.model_run import Ended
from basanite.models.requests import Items
from basanite.models.system_file import Budget, System
from basanite.models.transcript_file import NAME, Transcripts, Turn, header_of
from basanite.problems import Findings, shortened
from basanite.tasks.judged import ANSWER, answer_digest
from basanite.work.answers import Judged, Judgement
from basanite.work.item_files import TABLE, read_items
from basanite.work.items import Item
from basanite.work.panel_files import answers_file, files_of
from basanite.work.result_files import Made, spreadsheet
from basanite.work.scheme import Scheme

FORMAT: Final = "basanite-judge-run/1"
COLUMN: Final = "judging"
"""What the template of a judge's file has to name: the prompt that the scheme makes of an item."""
NAMES: Final = ("id", "item")
MOST_RETRIES: Final = 10
ANSWERS, INVALID, RECORD = "answers.csv", "invalid.csv", "judge.json"
INVALID_HEADER: Final = ("item", "id", "system", ANSWER, "tries", "reason", "reply")
Call = Callable[[System, Items, Transcripts], Awaitable[Ended]]
"""Makes the calls that are left, and says how that ended."""


@dataclass(frozen=True)
class Reply:
    """What a model said of an item in the end."""

    item: str
    answers: Mapping[str, Any]
    tries: int
    text: str = ""
    reason: str = ""
    """Why the last reply is invalid; empty where it is not."""


@dataclass
class JudgeRun:
    """What came of asking a model about items."""

    replies: dict[str, Reply] = field(default_factory=dict)
    ended: Ended = field(default_factory=lambda: Ended(0, 0, 0))
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    @property
    def invalid(self) -> list[Reply]:
        """Items without an answer, by reason."""
        return [reply for reply in self.replies.values() if reply.reason]


def check_judge(scheme: Scheme, system: System) -> None:
    """Refuse a scheme or a system that cannot make a judge."""
    check_scheme_for_models(scheme)
    if system.columns != (COLUMN,):
        raise SettingError(
            f'The template of a judge names the prompt that the scheme makes: write template = "{{{COLUMN}}}".'
        )
    if system.repeats != 1:
        raise SettingError("A judge is asked once about each item: leave repeats out of its file.")


def read_judged_items(path: Path, scheme: Scheme) -> tuple[tuple[Item, ...], Findings]:
    """The items of a table under the names that the table gives them (`id` or `item`), else their numbers."""
    numbers = count(1)
    made, findings = read_items(path, scheme, role="real", new_id=lambda: str(next(numbers)))
    named = tuple(map(_give_name, made))
    seen: set[str] = set()
    for item in named:
        if item.id in seen:
            fix = "give each row a name of its own under `id`"
            findings.add(TABLE.problem(path.name, None, f"two items are called {item.id!r}", fix, item.id))
        seen.add(item.id)
    return named, findings


def _give_name(item: Item) -> Item:
    """The item under the name that the table gives it, with the digest of the answer that is judged."""
    name = next((item.facts[one] for one in NAMES if item.facts.get(one)), item.id)
    text = next((block.value for block in item.blocks if block.kind == "text"), "")
    facts = {key: value for key, value in item.facts.items() if key not in NAMES}
    facts |= {"id": name, ANSWER: answer_digest(text)}
    system = item.facts.get("system", "")
    return replace(item, id=f"{system}:{name}" if system else name, facts=facts)


def judge_header(scheme: Scheme, system: System) -> dict[str, str]:
    """Who judges, by what prompt and what rubric."""
    prompt = prompt_digest(scheme, system.prompt.template, system.prompt.system)
    return {"judge": system.name, "model": system.endpoint.model, "prompt": prompt, "rubric": rubric_digest(scheme)}


async def judge_items(
    scheme: Scheme, system: System, items: Sequence[Item], folder: Path, call: Call, retries: int
) -> JudgeRun:
    """Ask about every item, and again where the reply is invalid; each round of calls has transcripts of its own."""
    check_judge(scheme, system)
    found, left = JudgeRun(), {item.id: item for item in items}
    for attempt in range(retries + 1):
        if not left or (rest := budget_left(system.budget, found)) is None:
            break
        asked = _asked_items(scheme, left, found, attempt)
        name = NAME if attempt == 0 else NAME.replace(".jsonl", f"-again-{attempt}.jsonl")
        one = replace(system, budget=rest)
        with Transcripts(folder / name, header_of(one, asked)) as transcripts:
            ended = await call(one, asked, transcripts)
            _take(scheme, left, transcripts.turns, found, attempt + 1)
        found.calls += transcripts.paid.calls
        found.tokens += transcripts.paid.tokens
        found.cost += transcripts.paid.cost
        if attempt == 0:
            found.ended = ended
        if ended.stopped or ended.answered < ended.wanted:
            found.ended = replace(found.ended, stopped=ended.stopped or "some calls failed")
            break
        left = {name: item for name, item in left.items() if found.replies[name].reason}
    return found


def budget_left(budget: Budget, found: JudgeRun) -> Budget | None:
    """What is left of a budget; None where nothing is, since a limit of 0 would be no limit."""
    spent = {"cost": found.cost, "tokens": found.tokens, "calls": found.calls}
    left: dict[str, Any] = {}
    for name, used in spent.items():
        limit = getattr(budget, name)
        if limit and limit - used <= 0:
            return None
        left[name] = limit - used if limit else limit
    return Budget(**left)


def _asked_items(scheme: Scheme, left: Mapping[str, Item], found: JudgeRun, attempt: int) -> Items:
    prompts = {}
    for name, item in left.items():
        text = judging_prompt(scheme, item)
        prompts[name] = f"{text}\n\n{AGAIN.format(reason=found.replies[name].reason)}" if attempt else text
    return Items("items", canonical_digest(prompts), tuple(prompts), tuple({COLUMN: one} for one in prompts.values()))


def _take(
    scheme: Scheme, left: Mapping[str, Item], turns: Mapping[tuple[str, int], Turn], found: JudgeRun, tries: int
) -> None:
    """Read the replies; a call that failed is no reply."""
    for (name, _), turn in turns.items():
        if name not in left or turn.error:
            continue
        answers, reason = read_reply(scheme, left[name], turn.text)
        if turn.finish == "length" and reason:
            reason = f"the reply was cut off at max_tokens; {reason}"
        found.replies[name] = Reply(name, answers, tries, turn.text, reason)


def judgements_of(system: System, items: Sequence[Item], found: JudgeRun) -> Judged:
    """The valid replies as judgements of one judge."""
    given = []
    for position, item in enumerate(items, start=1):
        reply = found.replies.get(item.id)
        if reply is not None and not reply.reason:
            given.append(Judgement(item.id, system.name, reply.answers, position=position))
    return Judged(given)


def judge_files(scheme: Scheme, system: System, items: Sequence[Item], found: JudgeRun) -> tuple[Made, ...]:
    """The files that people's answers become, and a table of replies that were no answers."""
    judged = judgements_of(system, items, found)
    by_id = {item.id: item.facts for item in items}
    rows = [
        (one.item, *(by_id[one.item].get(name, "") for name in ("id", "system", ANSWER)), one.tries, one.reason, reply)
        for one in found.invalid
        for reply in (shortened(one.text, 500),)
    ]
    invalid = Made(INVALID, spreadsheet(INVALID_HEADER, rows), "replies that are no answers")
    made = files_of(scheme, items, judged) if judged.judgements else (answers_file(items, judged),)
    return (*made, invalid)
