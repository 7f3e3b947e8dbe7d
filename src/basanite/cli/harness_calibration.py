"""`basanite harness calibrate`: how often verdicts on data with a known answer are as constructed."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from basanite import canonical
from basanite.cli.harness import list_plan_problems
from basanite.cli.options import PATH, as_json, console, example, say
from basanite.problems import visible
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.harness.calibration import ClaimCalibration


@click.command(epilog=example("basanite harness calibrate tables-supported.toml tables-refuted.toml --seeds 20"))
@click.argument("plans", metavar="PLAN...", type=PATH, nargs=-1, required=True)
@click.option("--seeds", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How often each is run.")
@click.option("--first-seed", type=click.IntRange(0), default=1, show_default=True, help="The first seed.")
@click.option("--out", type=PATH, help="Keep the results here; a run that was interrupted resumes.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to use.")
@as_json
def calibrate(
    plans: tuple[Path, ...], seeds: int, first_seed: int, out: Path | None, workers: int, as_json: bool
) -> None:
    """Run plans whose verdicts are known by construction with many seeds, and count the verdicts.

    A plan names its verdicts by the key `constructed`. Data and splits are drawn again each time. Exit code 0,
    whatever the counts are.
    """
    from basanite.harness.calibration import FORMAT
    from basanite.harness.calibration import calibrate as calibrated

    found: list[ClaimCalibration] = []
    chosen = range(first_seed, first_seed + seeds)
    with nullcontext(str(out)) if out else tempfile.TemporaryDirectory() as folder:
        for plan in plans:
            ended = partial(_say_seed, plan.name, len(chosen))
            work = partial(calibrated, plan, chosen, Path(folder), workers=workers, ended=ended)
            found += list_plan_problems(work, json=as_json)
    if as_json:
        sys.stdout.write(canonical.dumps({"format": FORMAT, "claims": [one.as_dict() for one in found]}))
        return
    _show(found)


def _say_seed(plan: str, seeds: int, done: int) -> None:
    say(f"{plan}: {done} of {plural('seed', seeds)} done")


def _show(found: list[ClaimCalibration]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(title="Verdicts as constructed", title_justify="left")
    for column in ("plan", "claim", "constructed", "as constructed", "95% CI", "other verdicts"):
        grid.add_column(column)
    for one in found:
        others = Counter(state for state in one.states if state != one.constructed)
        told = ", ".join(f"{count} {state}" for state, count in others.items())
        low, high = one.interval
        cells = (one.plan, one.claim, one.constructed, f"{one.hits} of {len(one.states)}", f"{low:.0%} to {high:.0%}")
        grid.add_row(*(Text(visible(cell)) for cell in (*cells, told or "none")))
    console().print(grid)
    hits, runs = sum(one.hits for one in found), sum(len(one.states) for one in found)
    click.echo(f"{hits} of {plural('verdict', runs)} as constructed.")
