"""`basanite harness check`, `run`, `status`, `seal` and `unseal`: a plan from its check to its result folder."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import (
    PATH,
    Result,
    as_json,
    console,
    dask_or_cluster_option,
    example,
    say,
    schema_command,
    show_findings,
)
from basanite.cli.terminal import StatusLine
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import place_problem, visible
from basanite.reports.wording import number, plural

if TYPE_CHECKING:
    from basanite.clusters.address import Cluster
    from basanite.harness.analysis.decidability import ClaimDesign
    from basanite.harness.evaluation import Evaluation
    from basanite.harness.steps.graph import Outcome, Step


FAILED = "failed"


schema = schema_command("harness")


@click.command(epilog=example("basanite harness run quick.toml --workers 2"))
@click.argument("plan", type=PATH)
@click.option("--out", type=PATH, help="The result folder. [default: beside the plan, NAME-result]")
@click.option("--only", help="Redo only these runs, such as 6a,6b, as a numbered iteration.")
@click.option("--reason", default="", help="Why runs are redone; stored with the result.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@dask_or_cluster_option
@as_json
def run(
    plan: Path,
    out: Path | None,
    only: str | None,
    reason: str,
    workers: int,
    dask: Cluster | None,
    as_json: bool,
) -> None:
    """Run the plan in the file PLAN and write its result folder.

    An interrupted run resumes where it stopped. Exit code 1: a run failed; the
    others are done. On a cluster, all machines must share the result folder.
    """
    from basanite.harness.evaluation import ready
    from basanite.harness.records import summary
    from basanite.harness.running import Watcher, run_plan

    names = tuple(part.strip() for part in only.split(",") if part.strip()) if only else ()
    evaluation = list_plan_problems(lambda: ready(plan), json=as_json)
    for task, data in evaluation.data.items():
        _say_counts(task, data.counts)
    shown = Progress(workers)
    watcher = Watcher(shown.note_end, shown.note_start, shown.say_plan)
    folder = out or result_folder(plan)
    result = run_plan(evaluation, folder, only=names, reason=reason, workers=workers, cluster=dask, watcher=watcher)
    shown.close()
    _show(summary(result), json=as_json)
    say(f"Results written to {folder}")
    if any(status.state == FAILED for status in result.status()):
        raise click.exceptions.Exit(1)


@click.command(epilog=example("basanite harness status quick.toml"))
@click.argument("path", metavar="PLAN|RESULT", type=PATH)
@click.option("--out", type=PATH, help="The result folder that the run was given. [default: beside the plan]")
@as_json
def status(path: Path, out: Path | None, as_json: bool) -> None:
    """Show the progress of a plan's run, or of the run in a result folder."""
    from basanite.harness.records import progress, summary
    from basanite.harness.results import ResultFolder

    if not path.exists():
        raise SettingError(f"{path} does not exist. Give a plan or a result folder.")
    if out is not None and path.is_dir():
        raise SettingError(f"{path} is a result folder itself. Give it alone, or a plan with --out.")
    folder = path if path.is_dir() else out or result_folder(path)
    counts = progress(folder)
    if (folder / "manifest.json").is_file():
        _show({**summary(ResultFolder(folder)), "progress": counts}, json=as_json)
    elif as_json:
        sys.stdout.write(canonical.dumps({"progress": counts, "tasks": {}}))
    else:
        asked = "" if out or path.is_dir() else " If the run was given --out, give it here too."
        click.echo(f"{folder}: no run has finished yet.{asked}")
    if counts["steps"]:
        say(f"{counts['done']} of {plural('step', counts['steps'])} done")


@click.command(epilog=example("basanite harness seal sealed.toml"))
@click.argument("plan", type=PATH)
@as_json
def seal(plan: Path, as_json: bool) -> None:
    """Draw 256 random bits as a plan's seed and print the commitment, which may be published.

    The seal is written to the secret file that the plan names, the commitment beside it as .commitment.json.
    """
    from basanite.harness.data.seals import Seal, SealError, write_seal
    from basanite.harness.evaluation import ready
    from basanite.harness.plan_file import load_plan
    from basanite.harness.results import write_json

    named = list_plan_problems(lambda: load_plan(plan), json=as_json).seal
    if not named:
        raise SealError(
            f'This plan has a typed-in seed, which cannot be sealed. Remove it and write seal = "{plan.stem}.seal".'
        )
    made = Seal.generate()
    evaluation = list_plan_problems(lambda: ready(plan, seal=made), json=as_json)
    write_seal(plan.parent / named, made)
    commitment = made.commitment(evaluation.plan.digest(), evaluation.digests())
    published = commitment_file(plan.parent / named)
    write_json(published, commitment)
    if as_json:
        sys.stdout.write(canonical.dumps(commitment))
    else:
        click.echo(f"commitment {commitment['commitment']}")
    say(f"Secret until the evaluation begins: {plan.parent / named}. To be published now: {published}")


@click.command(epilog=example("basanite harness unseal released.toml"))
@click.argument("plan", type=PATH)
@click.option("--commitment", type=PATH, help="The published commitment. [default: beside the seal]")
@as_json
def unseal(plan: Path, commitment: Path | None, as_json: bool) -> None:
    """Verify that plan, seed and splits match the commitment. Exit code 0: they match; 1: they do not.

    Anyone with the plan, its data, the published seal and the commitment can do this.
    """
    from basanite.harness.data.seals import SealError, commitment_faults, read_commitment
    from basanite.harness.evaluation import ready

    evaluation = list_plan_problems(lambda: ready(plan), json=as_json)
    if evaluation.seal is None:
        raise SealError("This plan has a typed-in seed, so there is no seal to open.")
    path = plan.parent / evaluation.plan.seal
    wrong = commitment_faults(
        evaluation.seal,
        read_commitment(commitment or commitment_file(path)),
        evaluation.plan.digest(),
        evaluation.digests(),
    )
    if as_json:
        sys.stdout.write(canonical.dumps({"holds": not wrong, "differences": wrong}))
    else:
        click.echo("\n".join(wrong) or "The commitment holds: plan, seed and splits are those that were sealed.")
    if wrong:
        raise click.exceptions.Exit(1)


def list_plan_problems(work: Callable[[], Result], *, json: bool) -> Result:
    """Do some work; problems of the plan or its data are listed as those of the file that was given."""
    try:
        return work()
    except InvalidInputError as invalid:
        if not json:
            invalid.findings.problems[:] = [place_problem(problem, "submission") for problem in invalid.findings]
        show_findings(invalid.findings, invalid.task, json=json)
        raise click.exceptions.Exit(1) from None


def result_folder(plan: Path) -> Path:
    """Where the result of a plan goes unless somebody says otherwise."""
    return plan.with_name(f"{plan.stem}-result")


def commitment_file(seal: Path) -> Path:
    """Where the commitment to a seal lies."""
    return seal.with_suffix(".commitment.json")


class Progress(StatusLine):
    """Tells on stderr what is running, what was reused and how long the rest will take."""

    def __init__(self, workers: int = 1) -> None:
        super().__init__()
        self.workers = workers
        self.left: dict[str, int] = defaultdict(int)
        self.all = 0
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.running: dict[str, str] = {}

    def say_plan(self, steps: Sequence[Step], reused: int) -> None:
        """Say what there is to do."""
        self.all = len(steps)
        for step in steps:
            self.left[_kind(step)] += 1
        say(f"{plural('step', len(steps))}, of which {reused} are done already")

    def note_start(self, step: Step) -> None:
        """Note what runs."""
        self.running[step.key] = step.name
        self._tell()

    def note_end(self, outcome: Outcome, finished: int, total: int) -> None:
        """Note what has ended, and say so now and then."""
        kind = _kind(outcome.step)
        if kind not in self.left:  # data that were laid down are no work
            return
        self.running.pop(outcome.step.key, None)
        self.left[kind] -= 1
        if outcome.state == "done":
            self.seconds[kind].append(outcome.seconds)
        if outcome.state == FAILED:
            self.close()
            say(f"{outcome.step.name} failed: {outcome.reason}")
        done = self.all - sum(self.left.values())
        self._tell(f"{done} of {plural('step', self.all)}, about {_duration(self.remaining())} left")

    def remaining(self) -> float:
        """Seconds that the rest will take, by what steps of each kind took so far."""
        every = [second for seconds in self.seconds.values() for second in seconds]
        usual = sum(every) / len(every) if every else 0.0
        means = {kind: sum(seconds) / len(seconds) for kind, seconds in self.seconds.items() if seconds}
        return sum(count * means.get(kind, usual) for kind, count in self.left.items()) / self.workers

    def _tell(self, words: str = "") -> None:
        self.tell("; ".join(filter(None, (words, ", ".join(list(self.running.values())[:2])))))


def _kind(step: Step) -> str:
    return step.name.partition(" ")[0]


def _duration(seconds: float) -> str:
    """A time in words.

    >>> _duration(42.4), _duration(600), _duration(7300)
    ('42 s', '10 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _say_counts(task: str, counts: Any) -> None:
    """What the data hold, beside what the evaluation plan says of its own (H-2)."""
    published = counts.get("published", {})
    names = published or [
        name for name, value in counts.items() if isinstance(value, int | float) and name != "dropped"
    ]
    beside = {name: f" ({value} published)" for name, value in published.items()}
    parts = [f"{name.replace('_', ' ')} {counts[name]}{beside.get(name, '')}" for name in names]
    if parts:
        dropped = f"; {counts['dropped']} too short and dropped" if "dropped" in counts else ""
        lacking = [f"{number} without {name!r}" for name, number in counts.get("missing", {}).items()]
        missing = f"; {', '.join(lacking)} ({counts['reviews_with_missing']})" if lacking else ""
        say(f"{task}: {', '.join(parts)}{dropped}{missing}")


def _show(told: dict[str, Any], *, json: bool) -> None:
    """Print a result in short."""
    if json:
        sys.stdout.write(canonical.dumps(told))
    else:
        for name, task in told["tasks"].items():
            _show_task(name, task)


def _show_task(name: str, task: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    direction = "lower" if task["best"] == "low" else "higher"
    grid = Table(title=Text(visible(f"{name}: {task['metric']}, {direction} is better")), title_justify="left")
    for column in ("run", "condition", "state", "value", "s.e. over folds", "reason"):
        grid.add_column(column)
    for run, entry in task["runs"].items():
        cells = [run, entry["condition"], entry["state"], number(entry["value"]), number(entry["standard_error"])]
        grid.add_row(*map(Text, cells), Text(visible(entry["reason"])))
    console().print(grid)
    for run, entry in task["runs"].items():
        for flag in entry["flags"]:
            console().print(Text(visible(f"! run {run}: {flag}")), soft_wrap=True)


FORMAT = "basanite-plan-check/1"


@click.command(epilog=example("basanite harness check quick.toml"))
@click.argument("plan", type=PATH)
@click.option(
    "--variance",
    type=float,
    help="Variance of one test row's share of a gain, to report the smallest gain that the design can show.",
)
@as_json
def check(plan: Path, variance: float | None, as_json: bool) -> None:
    """Check the plan in the file PLAN and its data, and name the claims that its design cannot decide.

    Nothing runs. Exit code 1: the plan or its data have problems, all of which are listed. A claim that cannot be
    decided does
    not prevent a run: exit code 0.
    """
    from basanite.harness.analysis.decidability import claim_designs

    evaluation = list_plan_problems(lambda: _ready(plan), json=as_json)
    found = claim_designs(evaluation, variance)
    if as_json:
        data = {"format": FORMAT, "plan": evaluation.plan.name, "claims": [one.as_dict() for one in found]}
        sys.stdout.write(canonical.dumps(data))
        return
    open_ = sum(not one.decidable for one in found)
    claims = plural("claim", len(found))
    for task, found_data in evaluation.data.items():
        _say_counts(task, found_data.counts)
    click.echo(f"{plan.name}: the plan and its data are in order.")
    click.echo(f"{open_} of {claims} cannot be decided by this design." if open_ else f"{claims} can be decided.")
    for one in found:
        for line in _lines(one, several=len(evaluation.plan.tasks) > 1):
            click.echo(visible(line))


def _ready(plan: Path) -> Evaluation:
    """The evaluation; with a seed drawn for this check alone where the plan is not sealed yet."""
    from basanite.harness.data.seals import Seal
    from basanite.harness.evaluation import ready
    from basanite.harness.plan_file import load_plan

    named = load_plan(plan).seal
    return ready(plan, seal=Seal.generate() if named and not (plan.parent / named).exists() else None)


def _lines(one: ClaimDesign, *, several: bool) -> list[str]:
    """One claim in words: whether it can be decided, by what gain, and why not."""
    where = f"{one.task}, " if several else ""
    head = f"{where}{one.claim.name} ({one.claim.system} against {one.claim.against}): "
    if not one.decidable:
        return [f"{head}cannot be decided", *(f"    {reason}" for reason in one.reasons)]
    needed = f"a gain of {one.errors:.2f} standard errors is detected in 80% of cases"
    if one.detectable is not None:
        needed += f"; by the stated variance, {number(one.detectable)} or more"
    return [head + needed, *(f"    note: {note}" for note in one.notes)]
