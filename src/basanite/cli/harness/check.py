"""`basanite harness check`: what a plan can decide, before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite.cli.harness.run import checked
from basanite.cli.options import PATH, as_json, example
from basanite.problems import visible
from basanite.reports.formats import json_output
from basanite.reports.wording import number, plural

if TYPE_CHECKING:
    from basanite.harness.analysis.decidability import ClaimDesign
    from basanite.harness.evaluation import Evaluation

FORMAT = "basanite-plan-check/1"


@click.command(epilog=example("basanite harness check quick.toml"))
@click.argument("plan", type=PATH)
@click.option(
    "--variance", type=float, help="Variance of one test row's share of a gain: what gain can the design show?"
)
@as_json
def check(plan: Path, variance: float | None, as_json: bool) -> None:
    """Check the plan in the file PLAN with its data, and say which claims its design cannot decide.

    Nothing runs. Every problem of the plan or its data is listed, with exit code 1. A claim that cannot be decided does
    not stop a run: exit code 0.
    """
    from basanite.harness.analysis.decidability import claim_designs

    evaluation = checked(lambda: _ready(plan), json=as_json)
    found = claim_designs(evaluation, variance)
    if as_json:
        data = {"format": FORMAT, "plan": evaluation.plan.name, "claims": [one.as_dict() for one in found]}
        sys.stdout.write(json_output.dumps(data))
        return
    open_ = sum(not one.decidable for one in found)
    claims = plural("claim", len(found))
    click.echo(f"{plan.name}: the plan and its data are in order.")
    click.echo(f"{open_} of {claims} cannot be decided by this design." if open_ else f"{claims} can be decided.")
    for one in found:
        for line in _lines(one, several=len(evaluation.plan.tasks) > 1):
            click.echo(visible(line))


def _ready(plan: Path) -> Evaluation:
    """The evaluation; with a seed drawn for this check alone where the plan is not sealed yet."""
    from basanite.harness.data.sealing import Seal
    from basanite.harness.evaluation import ready
    from basanite.harness.plan.reading import load_plan

    named = load_plan(plan).seal
    return ready(plan, seal=Seal.drawn() if named and not (plan.parent / named).exists() else None)


def _lines(one: ClaimDesign, *, several: bool) -> list[str]:
    """One claim in words: whether it can be decided, by what gain, and why not."""
    where = f"{one.task}, " if several else ""
    head = f"{where}{one.claim.name} ({one.claim.system} against {one.claim.against}): "
    if one.decidable:
        return [head + _needed(one), *(f"    note: {note}" for note in one.notes)]
    return [f"{head}cannot be decided", *(f"    {reason}" for reason in one.reasons)]


def _needed(one: ClaimDesign) -> str:
    words = f"a gain of {one.errors:.2f} standard errors is shown in 80 % of cases"
    return words if one.detectable is None else f"{words}; by the stated variance, {number(one.detectable)} or more"
