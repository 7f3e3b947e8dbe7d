"""`basanite harness`: evaluation plans from seal to report; each command is loaded only when it is called."""

from __future__ import annotations

from typing import Final

import click

from basanite.cli.groups import LazyGroup
from basanite.cli.options import example

RUN, FROZEN, REPORT = "harness.run", "harness.frozen", "harness.report"
SECTIONS: Final = {
    "Run a plan": {
        "check": ("harness.check", "Check a plan and say which claims its design cannot decide, before anything runs."),
        "run": (RUN, "Run a plan: every condition for every team, and write the result folder."),
        "status": (RUN, "Tell how far a run has come, and how each of its parts ended."),
    },
    "Seal it": {
        "seal": (RUN, "Draw the secret seed of a plan and print the commitment to it."),
        "unseal": (RUN, "Check a commitment now that its seal is given out."),
    },
    "Freeze and hand over": {
        "freeze": (FROZEN, "Write down the hashes of a system's code or parameters, and sign changes off."),
        "export": (FROZEN, "Write the preprocessed sets of a plan for teams."),
        "bundle": (FROZEN, "Make a bundle that runs a plan at a team's site."),
        "sign": (FROZEN, "Sign the result of a bundle, so that nobody can change it unseen."),
        "verify": (FROZEN, "Check a result folder that came back from a team."),
    },
    "Look at results": {
        "analyse": (REPORT, "Test the claims of a plan on a result folder."),
        "compare": (REPORT, "List where two result folders of one plan differ."),
        "progress": (REPORT, "Compare two evaluations of the same teams, run by run."),
        "report": (REPORT, "Write the report of a result folder as HTML or slides."),
    },
}


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    epilog=example("basanite harness run quick.toml"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def harness() -> None:
    """Run evaluation plans: data, sealed splits, six conditions, teams' systems, claims."""
