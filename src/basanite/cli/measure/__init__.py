"""`basanite measure`: how well features represent data; each command is loaded only when it is called."""

from __future__ import annotations

from typing import Final

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example

HERE = "measure.commands"
SECTIONS: Final = {
    "Commands": {
        "run": (HERE, "Measure one set of features: every measure, by class and by group, with intervals."),
        "shift": (HERE, "Mix a target into a source level by level and see which measures follow."),
        "compare": (HERE, "Compare several sets or models, with and without transformations, against a proxy."),
        "monitor": (HERE, "Watch batches of new data: alarms, the share of new data, and what to do."),
    },
}


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    epilog=example("basanite measure run seen.npz"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def measure() -> None:
    """Tell how well a model's features represent data: no training, only features and labels."""
