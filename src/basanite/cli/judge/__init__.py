"""`basanite judge`: schemes, passages, rounds, crowd batches, agreement and judged systems, without a server."""

from __future__ import annotations

import click

from basanite.cli.judge.agreement import agreement
from basanite.cli.judge.batches import batch
from basanite.cli.judge.planning import plan
from basanite.cli.judge.preparing import prepare
from basanite.cli.judge.schemes import check, preset
from basanite.cli.judge.systems import systems
from basanite.cli.options import example


@click.group(
    epilog=example("basanite judge check schemes/headline.toml"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def judge() -> None:
    """Judging by people: schemes, passages, rounds, crowd batches, agreement, judged systems."""


for command in (check, preset, prepare, plan, batch, agreement, systems):
    judge.add_command(command)
