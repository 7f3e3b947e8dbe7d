"""What the parts of `basanite convert` share: what all of them take, and how all of them end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from basanite.cli.options import PATH, Command, problem_line, say, show_findings
from basanite.problems import Findings
from basanite.reports.formats import json_output

CONVERSION = "conversion"


def out_option(what: str) -> Callable[[Command], Command]:
    """Add `--out`."""
    return click.option("--out", type=PATH, required=True, help=f"{what}; must not exist yet.")


def finish(findings: Findings, out: Path, *, json: bool, counts: Mapping[str, Any] | None = None) -> None:
    """Say what was written and what was not kept, or all that is wrong with the input; then nothing is written."""
    if json:
        written = str(out) if findings.valid else None
        told = {**findings.as_dict(CONVERSION), **(counts or {}), "written": written}
        sys.stdout.write(json_output.dumps(told))
    elif findings.valid:  # then all that was found was left behind
        for problem in findings.problems:
            say(problem_line(problem))
        say(f"Written to {out}")
    else:
        show_findings(findings, CONVERSION, json=False)
        say(f"{out} was not written, for the input has problems.")
    if not findings.valid:
        raise click.exceptions.Exit(1)
