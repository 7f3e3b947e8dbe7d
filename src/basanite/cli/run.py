"""`basanite run`: ask a language model about every item, and make submissions and a table of scores of its answers."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from basanite.cli.options import (
    PATH,
    as_json,
    example,
    parsed_settings,
    run_or_exit,
    say,
    settings_option,
    show_findings,
    task_argument,
)
from basanite.cli.terminal import StatusLine
from basanite.errors import InvalidInputError, SettingError, UnreadableError
from basanite.extras import required_module
from basanite.models.answers import CODE, answer_of, check_task, is_refusal, score_table, write_submissions
from basanite.models.canaries import read_register
from basanite.models.endpoint import ask
from basanite.models.local_model import LocalModel, local_folder, with_content
from basanite.models.model_run import Ended, ModelRun, Tools
from basanite.models.requests import Items, most_cost, read_items, requests
from basanite.models.system_file import CHAT, System, read_system
from basanite.models.transcript_file import NAME, Transcripts, Turn, header_of
from basanite.problems import Findings

SYSTEM_COPY = "system.toml"
SCORES = "scores.csv"


class RunProgress(StatusLine):
    """Tells how many calls are answered, what they cost, and how long the rest may take."""

    def __init__(self, system: System, before: int) -> None:
        super().__init__()
        self.system, self.before = system, before

    def __call__(self, done: int, wanted: int, transcripts: Transcripts) -> None:
        """Show how far the run has come."""
        made = max(done - self.before, 1)
        left = (wanted - done) * self.time_passed / made
        price = self.system.price
        cost = f", {transcripts.paid.cost:.4f} {price.currency}" if price.input or price.output else ""
        self.tell(f"{self.system.name}: {done} of {wanted} answers{cost}, about {math.ceil(left)} s left")


@click.command(epilog=example("basanite run questions --system adder.toml --data sums.jsonl --out run --check"))
@task_argument()
@click.option("--system", "system_file", type=PATH, required=True, help="The file of the system (TOML).")
@click.option("--data", type=PATH, required=True, help="The items: JSON lines, CSV or Parquet with a column `id`.")
@click.option("--out", type=PATH, required=True, help="The folder of the run. Name it again to resume.")
@click.option(
    "--reference", "references", type=PATH, multiple=True, help="Score the answers against it, into scores.csv."
)
@click.option("--limit", type=click.IntRange(1), help="Ask only about the first items, to try a prompt.")
@click.option("--cache", type=PATH, help="A folder of answers that runs share: no request is paid for twice.")
@click.option("--retired", type=PATH, help="A register of `basanite canary`: its retired items are not asked about.")
@click.option("--accept-errors", is_flag=True, help="Finish although calls failed: these items have empty answers.")
@click.option("--check", is_flag=True, help="Show the first prompt and the most that the run can cost; call nothing.")
@settings_option
@as_json
def run(
    task: str,
    system_file: Path,
    data: Path,
    out: Path,
    references: tuple[Path, ...],
    limit: int | None,
    cache: Path | None,
    retired: Path | None,
    accept_errors: bool,
    check: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Ask a language model about every item, and write its answers as a submission.

    The file of the system names an OpenAI-compatible endpoint, the prompt, how answers are read, and a budget. Every
    answer is written down as it comes: a run that is interrupted goes on where it stopped when you type the same
    command again, and pays for nothing twice. Exit code 1 means that items are left without an answer.
    """
    check_task(task)
    options = parsed_settings(settings)
    for missing in (path for path in references if not path.exists()):
        raise UnreadableError(f"{missing} does not exist. Fix: check --reference; nothing was asked yet.")
    system, items = run_or_exit(lambda: _read_inputs(system_file, data, as_json=as_json), json=as_json, plain=True)
    folder = local_folder(system, system_file)
    system = system if folder is None else with_content(system, folder)
    items = items if retired is None else _without_retired(items, retired)
    asked = items if limit is None else _first_items(items, limit)
    if check:
        _show_check(system, asked, as_json=as_json)
        return
    with Transcripts(out / NAME, header_of(system, items)) as transcripts:
        (out / SYSTEM_COPY).write_bytes(system_file.read_bytes())
        if transcripts.cut:
            say(f"The last line of {transcripts.path} was cut off by a crash; its item is asked again.")
        try:
            ended = asyncio.run(_finish(system, asked, transcripts, Engine(folder, cache)))
        except KeyboardInterrupt:
            say(f"Interrupted; {len(transcripts.turns)} calls are kept. Type the same command to resume.")
            raise click.exceptions.Exit(130) from None
        summary = _summary(system, transcripts, ended)
        complete = ended.answered + accept_errors * ended.failed == ended.wanted
        if complete:
            summary |= _write_answers(task, system, asked, transcripts, out, references, options)
    _show_summary(summary, as_json=as_json)
    if not complete:
        raise click.exceptions.Exit(1)


def _read_inputs(system_file: Path, data: Path, *, as_json: bool) -> tuple[System, Items]:
    """The system and the items; all problems of both are reported at once."""
    findings = Findings(limit=20)
    system = read_system(system_file, findings)
    items = None if system is None else read_items(data, system, findings)
    if system is None or items is None or not findings.valid:
        raise InvalidInputError("run", findings)
    if findings.total:
        show_findings(findings, "run", json=False)
    return system, items


def _first_items(items: Items, limit: int) -> Items:
    return Items(items.file, items.digest, items.names[:limit], items.fields[:limit])


def _without_retired(items: Items, register: Path) -> Items:
    """The items that are not retired."""
    gone = read_register(register).retired
    kept = [(name, row) for name, row in zip(items.names, items.fields, strict=True) if name not in gone]
    if not kept:
        raise SettingError("All items are retired. Fix: give other items.")
    if len(kept) < len(items.names):
        say(f"{len(items.names) - len(kept)} retired items are not asked about.")
    names, rows = zip(*kept, strict=True)
    return Items(items.file, items.digest, tuple(names), tuple(rows))


def _show_check(system: System, items: Items, *, as_json: bool) -> None:
    """What would be asked first, and the most that all of it can cost."""
    calls = list(requests(items, system))
    cost = sum(most_cost(system, one) for one in calls)
    if as_json:
        from basanite import canonical

        about = {
            "calls": len(calls),
            "most_cost": cost,
            "currency": system.price.currency,
            "prompt": "" if system.sealed else calls[0].prompt,
        }
        sys.stdout.write(canonical.dumps(about))
        return
    click.echo("(sealed)" if system.sealed else calls[0].prompt)
    most = f"{cost:.4f} {system.price.currency}"
    say(f"{len(calls)} calls of {system.endpoint.model}, at most {most}. Nothing was sent.")


@dataclass(frozen=True)
class Engine:
    """What answers: the model of a folder, or where there is none an endpoint; and where answers are shared."""

    folder: Path | None
    cache: Path | None


async def _finish(system: System, items: Items, transcripts: Transcripts, engine: Engine) -> Ended:
    """Make the calls that are left."""
    if engine.folder is not None:
        model = LocalModel(engine.folder, chat=system.endpoint.api == CHAT)
        return await _work(system, items, transcripts, Tools(model.ask, cache=engine.cache))
    httpx2 = required_module("httpx2")
    limits = httpx2.Limits(max_connections=system.endpoint.parallel, max_keepalive_connections=system.endpoint.parallel)
    timeout = httpx2.Timeout(system.endpoint.timeout)
    async with httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, trust_env=True) as client:
        return await _work(system, items, transcripts, Tools(partial(ask, client), _key(system), cache=engine.cache))


async def _work(system: System, items: Items, transcripts: Transcripts, tools: Tools) -> Ended:
    """Make the calls that are left, and show how far they are."""
    progress = RunProgress(system, len(transcripts.turns))
    try:
        return await ModelRun(system, items, transcripts, tools).finish(progress)
    finally:
        progress.close()


def _key(system: System) -> str:
    """The key of the endpoint, which is in the environment and nowhere else."""
    name = system.endpoint.key
    key = os.environ.get(name, "").strip() if name else ""
    if name and not key:
        raise SettingError(
            f"The key of the endpoint is not set. Fix: export {name}=… (the file of the system names it)."
        )
    if not key.isascii() or not (key.isprintable()):
        raise SettingError(f"{name} holds characters that no key has. Fix: set it again.")
    return key


def _write_answers(
    task: str,
    system: System,
    items: Items,
    transcripts: Transcripts,
    out: Path,
    references: tuple[Path, ...],
    settings: Mapping[str, str],
) -> dict[str, Any]:
    """Submissions, and with a reference the table of scores."""
    # Seven arguments: what was asked and answered, where it goes, and what it is scored against.
    paths = write_submissions(out, task, system, items, transcripts.turns)
    written: dict[str, Any] = {"submissions": [str(path) for path in paths]}
    if references:
        turns = transcripts.turns
        table, metric = run_or_exit(
            lambda: score_table(task, system, turns, paths, references, settings), json=False, plain=task == CODE
        )
        (out / SCORES).write_text(table)
        written |= {"scores": str(out / SCORES), "metric": metric}
    return written


def _summary(system: System, transcripts: Transcripts, ended: Ended) -> dict[str, Any]:
    turns = transcripts.turns.values()
    failures = sorted({turn.error for turn in turns if turn.error})
    return {
        "system": system.name,
        "model": system.endpoint.model,
        "wanted": ended.wanted,
        "answered": ended.answered,
        "failed": ended.failed,
        "refusals": sum(is_refusal(system.answer, turn) for turn in turns),
        "unread": sum(_is_unread(system, turn) for turn in turns),
        "cut_answers": sum(turn.finish == "length" for turn in turns),
        "from_cache": sum(turn.cached for turn in turns),
        "calls": transcripts.paid.calls,
        "tokens": transcripts.paid.tokens,
        "cost": transcripts.paid.cost,
        "currency": system.price.currency,
        "stopped": ended.stopped,
        "errors": failures[:10],
    }


def _is_unread(system: System, turn: Turn) -> bool:
    """Whether a text has no answer that the pattern finds: it has another form or language than the prompt."""
    refused = turn.error or is_refusal(system.answer, turn)
    return bool(system.answer.pattern) and not refused and not answer_of(system.answer, turn)


def _show_summary(summary: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        from basanite import canonical

        sys.stdout.write(canonical.dumps(dict(summary)))
        return
    answers = "1 answer" if summary["answered"] == 1 else f"{summary['answered']} answers"
    cost = f", {summary['cost']:.4f} {summary['currency']}" if summary["cost"] else ""
    click.echo(f"{summary['system']}: {answers} of {summary['wanted']}, {summary['tokens']:,} tokens{cost}")
    counts = {
        "refusals": "refused",
        "unread": "in which [answer] pattern finds no answer",
        "cut_answers": "cut off at max_tokens",
        "from_cache": "from the cache",
    }
    for name, words in counts.items():
        if summary[name]:
            click.echo(f"• {summary[name]} {words}")
    for error in summary["errors"]:
        click.echo(f"• failed: {error}")
    if summary["stopped"]:
        say(f"Stopped: {summary['stopped'].removesuffix('.')}.")
    if "submissions" not in summary:
        left = summary["wanted"] - summary["answered"]
        say(f"{'1 item is' if left == 1 else f'{left} items are'} left. Type the same command to resume.")
        if summary["failed"] == left:
            say("To finish without them, add --accept-errors.")
        return
    for path in summary.get("submissions", ()):
        click.echo(f"• submission: {path}")
    if "scores" in summary:
        more = " --set missing=lowest" if summary["failed"] else ""
        click.echo(
            f"• {summary['metric']} by item: {summary['scores']} (basanite score scores {summary['scores']}{more})"
        )
