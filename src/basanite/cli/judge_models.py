"""`basanite judge by-model` and `effects`: a model answers a scheme, and is tested for what should not matter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from basanite.canonical import dumps, plain_values
from basanite.cli.judge_rounds import JUDGING, scheme_at
from basanite.cli.options import PATH, as_json, example, gather_options, plain_findings, run_or_exit, say, show_report
from basanite.cli.run import Engine, _finish
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.models.judge_effects import Effect, chosen_items, effects_of, own_effect, variants
from basanite.models.judge_license import ANCHORS, Drift, check_licensed, drift_of, read_license
from basanite.models.judge_prompt import judging_prompt
from basanite.models.judge_run import (
    FORMAT,
    MOST_RETRIES,
    RECORD,
    JudgeRun,
    check_judge,
    judge_files,
    judge_header,
    judge_items,
    read_judged_items,
)
from basanite.models.judge_tables import as_number, judged_question, read_answers_table
from basanite.models.local_model import local_folder, with_content
from basanite.models.system_file import System, read_system
from basanite.problems import Findings
from basanite.reports.report import Report, Section
from basanite.reports.wording import plural
from basanite.work.items import Item
from basanite.work.scheme import Scheme

EFFECTS_FORMAT: Final = "basanite-judge-effects/1"
THEN: Final = "judge_then"
"""The fact of an anchor: what the judge answered when it was licensed."""
check_option = click.option("--check", is_flag=True, help="Show the first prompt; call nothing.")
date_option = click.option(
    "--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="The date that counts as today. [default: today]"
)


@dataclass(frozen=True)
class Asking:
    """What a model is asked about, and how."""

    items: Path
    system: Path
    out: Path
    cache: Path | None = None
    retries: int = 2


def asking_options(command: Any) -> Any:
    """The options of every command that asks a model to judge."""
    for option in (
        click.option("--retries", type=click.IntRange(0, MOST_RETRIES), default=2, show_default=True,
                     help="How often an item with an invalid reply is asked again."),
        click.option("--cache", type=PATH, help="A folder of answers that runs share: no request is paid for twice."),
        click.option("--out", type=PATH, required=True, help="The folder of the run. Name it again to resume."),
        click.option("--system", type=PATH, required=True, help="The file of the judge (TOML), as for `basanite run`."),
        click.option("--items", type=PATH, required=True, help="The table of items, as for a panel, with a column id."),
    ):  # fmt: skip
        command = option(command)
    return gather_options(Asking, "asking")(command)


@click.command(
    name="by-model",
    epilog=example("basanite judge by-model scheme.toml --items answers.csv --system judge.toml --out run --check"),
)
@click.argument("scheme", type=PATH)
@click.option("--license", "license_", type=PATH, help="The folder of the judge's license: its anchors are asked too.")
@check_option
@date_option
@as_json
@asking_options
def by_model(
    scheme: Path, asking: Asking, license_: Path | None, check: bool, day: datetime | None, as_json: bool
) -> None:
    """Let a model judge the items by the file SCHEME: answers.csv and the other files are those of a panel of people.

    The prompt is made from the scheme. A reply that is no JSON, outside the scale or incomplete is asked again; one
    that stays invalid is listed in invalid.csv with its reason, and its item has no answer. Exit code 1 means that
    items are left without a call, or that the anchors of the license show drift.
    """
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    system, items = run_or_exit(lambda: read_judge(asking, chosen), json=as_json, plain=True)
    if check:
        show_check(chosen, system, items, as_json=as_json)
        return
    header = judge_header(chosen, system)
    anchors = _licensed_anchors(license_, header, chosen, today(day)) if license_ else ()
    run = asyncio.run(_judge(chosen, system, (*items, *anchors), asking))
    drift = _drift(anchors, run, chosen) if anchors else None
    own = replace(run, replies={name: reply for name, reply in run.replies.items() if not _is_anchor(name)})
    summary = _write(chosen, system, items, own, asking.out, header, drift)
    _show(summary, asking.out, drift, as_json=as_json)
    if run.ended.stopped or run.ended.answered < run.ended.wanted or (drift is not None and drift.alarm):
        raise click.exceptions.Exit(1)


def today(day: datetime | None) -> date:
    """The date that counts: the one named, or that of the clock."""
    return (day or datetime.now(UTC)).date()


def read_judge(asking: Asking, scheme: Scheme) -> tuple[System, tuple[Item, ...]]:
    """The judge and the items; everything that is wrong with either is reported at once."""
    findings = Findings(limit=20)
    system = read_system(asking.system, findings)
    items, found = read_judged_items(asking.items, scheme)
    findings.merge(found)
    if system is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    if not items:
        raise SettingError(f"{asking.items.name} has no item: write one row for each.")
    check_judge(scheme, system)
    return system, items


def show_check(scheme: Scheme, system: System, items: Sequence[Item], *, as_json: bool) -> None:
    """What would be asked first, and how often a model would be called."""
    prompt = judging_prompt(scheme, items[0])
    if as_json:
        click.echo(dumps({"calls": len(items), "prompt": prompt}), nl=False)
        return
    click.echo(prompt)
    say(f"{plural('item', len(items))} would be judged by {system.endpoint.model}. Nothing was sent.")


async def _judge(scheme: Scheme, system: System, items: Sequence[Item], asking: Asking) -> JudgeRun:
    folder = local_folder(system, asking.system)
    system = system if folder is None else with_content(system, folder)
    call = partial(_finish, engine=Engine(folder, asking.cache))
    return await judge_items(scheme, system, items, asking.out, call, asking.retries)


def _is_anchor(name: str) -> bool:
    return name.startswith("anchor ")


def _licensed_anchors(folder: Path, header: dict[str, str], scheme: Scheme, day: date) -> tuple[Item, ...]:
    """The anchors of a license that is this judge's and still valid."""
    terms = read_license(folder)
    check_licensed(terms, header, day)
    items, findings = read_judged_items(folder / ANCHORS, scheme)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    question = str(terms["question"])
    return tuple(
        replace(
            item,
            id=f"anchor {item.id}",
            facts={**item.facts, "question": question, "value": str(terms.get("value", ""))},
        )
        for item in items
    )


def _drift(anchors: Sequence[Item], run: JudgeRun, scheme: Scheme) -> Drift:
    """How the anchors that have a valid answer were answered now."""
    question = judged_question(scheme, anchors[0].facts["question"], anchors[0].facts["value"])
    value = anchors[0].facts["value"]
    rows = []
    for anchor in anchors:
        reply = run.replies.get(anchor.id)
        if reply is not None and not reply.reason:
            now = as_number(question, reply.answers[question.id], value)
            rows.append((float(anchor.facts[THEN]), now, float(anchor.facts["people"])))
    if not rows:
        raise SettingError("No anchor has a valid answer, so drift cannot be told: look at invalid.csv.")
    before, after, people = zip(*rows, strict=True)
    return drift_of(before, after, people)


def _write(
    scheme: Scheme, system: System, items: Sequence[Item], run: JudgeRun, out: Path, header: dict[str, str], drift: Any
) -> dict[str, Any]:
    # Seven arguments: each part of a run of judges has a file or a line of its own in what is written.
    made = judge_files(scheme, system, items, run)
    for file in made:
        path = out / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    summary: dict[str, Any] = {
        "format": FORMAT,
        **header,
        "items": len(items),
        "judged": sum(not reply.reason for reply in run.replies.values()),
        "invalid": len(run.invalid),
        "calls": run.calls,
        "tokens": run.tokens,
        "cost": run.cost,
        "stopped": run.ended.stopped,
        "files": [file.name for file in made],
    }
    if drift is not None:
        summary["drift"] = {**vars(drift), "alarm": drift.alarm}
    (out / RECORD).write_text(dumps(summary), encoding="utf-8")
    return summary


def _show(summary: dict[str, Any], out: Path, drift: Drift | None, *, as_json: bool) -> None:
    if as_json:
        click.echo(dumps(summary), nl=False)
    else:
        click.echo(f"{summary['judge']} judged {summary['judged']} of {plural('item', summary['items'])}")
        if summary["invalid"]:
            click.echo(f"• {plural('invalid answer', summary['invalid'])}: {out / 'invalid.csv'}")
        click.echo(f"• answers: {out / 'answers.csv'}")
    if summary["stopped"]:
        say(f"Stopped: {summary['stopped'].removesuffix('.')}. Type the same command to resume.")
    if drift is not None and drift.alarm:
        say(
            f"Drift: {drift.changed} of {drift.anchors} anchors are answered differently (answers {drift.shift:+.2f}, "
            f"distance from people {drift.worse:+.2f}). Calibrate this judge by people again before using its answers."
        )
    elif drift is not None and not as_json:
        click.echo(f"• no drift shown by {drift.anchors} anchors ({drift.changed} answered differently)")


@click.command(
    epilog=example("basanite judge effects scheme.toml --items answers.csv --system judge.toml --out effects --check")
)
@click.argument("scheme", type=PATH)
@click.option("--sample", type=click.IntRange(1), default=100, show_default=True, help="How many items are changed.")
@click.option("--own", default="", help="The system that is the judge's own model, to test self-preference.")
@click.option("--people", type=PATH, help="People's answers, which self-preference is measured against.")
@click.option("--value", default="", help="Of a choice with several answers: the one that counts 1.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the sample.")
@check_option
@as_json
@asking_options
def effects(
    scheme: Path,
    asking: Asking,
    sample: int,
    own: str,
    people: Path | None,
    value: str,
    seed: int,
    check: bool,
    as_json: bool,
) -> None:
    """Test whether a model that judges by the file SCHEME is led by position, length or its own texts.

    Some items are asked again with their sides swapped (pairs) and with words added that say nothing new. Each effect
    is a mean over items with a 95% CI; one that excludes 0 is shown.
    """
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    system, items = run_or_exit(lambda: read_judge(asking, chosen), json=as_json, plain=True)
    question = judged_question(chosen, "", value or ("left" if chosen.pairwise else ""))
    drawn = chosen_items(items, sample, seed)
    if check:
        show_check(chosen, system, variants(chosen, drawn), as_json=as_json)
        return
    run = asyncio.run(_judge(chosen, system, variants(chosen, drawn), asking))
    found = list(effects_of(chosen, question, drawn, run, value))
    if own and people is None:
        raise SettingError("Self-preference is measured against people: name their answers with --people.")
    if own and people is not None:
        said = read_answers_table(people, question, value)
        found.append(own_effect(chosen, question, drawn, run, said, own))
    show_report(_effects_report(found, run, system, asking.items.name), json=as_json)
    if run.ended.stopped or run.ended.answered < run.ended.wanted:
        say("Some calls are left. Type the same command to resume.")
        raise click.exceptions.Exit(1)


def _effects_report(found: Sequence[Effect], run: JudgeRun, system: System, name: str) -> Report:
    rows = [
        (one.name, one.found.value, one.found.low, one.found.high, one.items, one.found.reason or one.meaning)
        for one in found
    ]
    shown = [one.name for one in found if one.is_shown]
    words = f"{system.name} is led by {', '.join(shown)}." if shown else "No effect is shown."
    cells = [
        {"effect": one.name, "value": one.found.value, "low": one.found.low, "high": one.found.high, "items": one.items,
         "shown": one.is_shown, "reason": one.found.reason}
        for one in found
    ]  # fmt: skip
    data = {"format": EFFECTS_FORMAT, "judge": system.name, "effects": cells, "invalid": len(run.invalid)}
    return Report(
        title="Effects on a judge",
        subtitle=f"{name}, judged by {system.endpoint.model}",
        sections=(
            Section("Effects", "", (Table("Effects", ("Effect", "Value", "Low", "High", "Items", "Meaning"), rows),)),
        ),
        facts=(),
        data={key: plain_values(value) for key, value in data.items()},
        sentences=(words, f"{plural('invalid answer', len(run.invalid))}."),
    )
