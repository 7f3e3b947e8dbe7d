"""`basanite judge check` and `preset`: whether a scheme is in order, and files to start one from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from basanite.cli.options import PATH, as_json, example, show_findings
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.judging.scheme import PRESETS, Scheme, preset_text, read_scheme
from basanite.judging.schemes.model import EVERYBODY
from basanite.judging.schemes.reading import LARGEST
from basanite.problems import Findings, visible
from basanite.reports.formats import json_output

JUDGING = "judge"


@click.command(epilog=example("basanite judge check schemes/headline.toml"))
@click.argument("scheme", type=PATH)
@as_json
def check(scheme: Path, as_json: bool) -> None:
    """Check the file SCHEME as a whole: every problem at once, with its line. Exit code 0: in order; 1: not."""
    found, findings = _read(scheme)
    if as_json:
        data = {**findings.as_dict(JUDGING), "scheme": found.as_dict() if found else None}
        sys.stdout.write(json_output.dumps(data))
    else:
        show_findings(plain(findings), JUDGING, json=False)
        lines = (*_lines(found), f"{visible(scheme.name)} is in order.") if found else ()
        click.echo("\n".join(lines) or f"{visible(scheme.name)} is not in order.")
    if found is None:
        raise click.exceptions.Exit(1)


def _read(path: Path) -> tuple[Scheme | None, Findings]:
    text = read_bounded(path, LARGEST).decode("utf-8", "replace")
    found, problems = read_scheme(text, path.name)
    findings = Findings()
    findings.extend(problems)
    return found, findings


def scheme_at(path: Path) -> Scheme:
    """The scheme in a file; one that is not in order is refused with everything that is wrong."""
    found, findings = _read(path)
    if found is None:
        raise InvalidInputError(JUDGING, plain(findings))
    return found


def _lines(scheme: Scheme) -> list[str]:
    """What a scheme comes to, for somebody who wants to know whether it is what was meant."""
    asked = [f"  {question.id}: {question.widget}, {visible(question.title)}" for question in scheme.questions]
    groups = [f"{group} {'all' if wanted == EVERYBODY else wanted}" for group, wanted in scheme.per_group.items()]
    ranked = ", then ranked" if scheme.rank_after_round else ""
    return [
        f"{visible(scheme.title)} ({scheme.preset or 'no preset'})",
        *asked,
        f"  judgements of an item: {', '.join(groups)}; rounds of {scheme.round_size}{ranked}",
        f"  becomes: {', '.join(('answers', 'combined', *scheme.files))}",
    ]


@click.command(epilog=example("basanite judge preset pairwise"))
@click.argument("name", type=click.Choice(PRESETS))
@as_json
def preset(name: str, as_json: bool) -> None:
    """Print the file of the preset NAME, to copy from; a scheme that names it needs to say only what differs."""
    text = preset_text(name)
    sys.stdout.write(json_output.dumps({"preset": name, "text": text}) if as_json else text)
