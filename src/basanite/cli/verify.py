"""`basanite verify`: check a receipt offline, by keys that you hold, and make its score again from a bundle."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, problem_line, say
from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem, visible

if TYPE_CHECKING:
    from basanite.receipts import Keyring, Trust, Verdict

PINNED = "BASANITE_KEYS"
"""The variable that names the file of pinned keys, if it is not in its usual place."""
LARGEST = 2**20


@click.command(epilog=example("basanite verify score.receipt.json --key keys.json"))
@click.argument("receipt", type=PATH)
@click.option("--key", "keys", type=PATH, multiple=True, help="A file of keys you trust. [default: the pinned one]")
@click.option(
    "--published", type=PATH, help="The server's current key file; only keys that yours vouch for are trusted."
)
@click.option("--submission", type=PATH, help="The submitted file, to check that the receipt is for it.")
@click.option("--bundle", type=PATH, help="A bundle of the submission, to recompute the score and compare.")
@as_json
def verify(
    receipt: Path,
    keys: tuple[Path, ...],
    published: Path | None,
    submission: Path | None,
    bundle: Path | None,
    as_json: bool,
) -> None:
    """Verify RECEIPT: who signed it, whether it is unchanged, and what it states.

    Only keys that you name or have pinned are trusted, never one that comes with the receipt. To pin keys, save
    their file where BASANITE_KEYS points, or as `keys.json` in Basanite's settings folder. Values are compared to one
    unit in the tenth digit. Exit code 1: verification failed, with the reason.
    """
    from basanite.receipts import verify as check

    trusted = _trust(keys, published)
    verdict = check(read_bounded(receipt, LARGEST), trusted, datetime.now(UTC))
    problems, compared = list(verdict.problems), None
    notes: list[str] = []
    if verdict.valid:
        compared = _compare_submission(verdict, submission, bundle, problems, notes)
    _show(verdict, problems, notes, compared, json=as_json)
    if problems:
        raise click.exceptions.Exit(1)


def _trust(files: tuple[Path, ...], published: Path | None) -> Trust:
    from basanite.receipts import Keyring, Trust

    given = Keyring()
    for path in files or _pinned_keys():
        given += _ring(path)
    return Trust.of(given, _ring(published) if published else None)


def _ring(path: Path) -> Keyring:
    from basanite.receipts import Keyring

    return Keyring.of(read_bounded(path, LARGEST), str(path))


def _pinned_keys() -> tuple[Path, ...]:
    named = os.environ.get(PINNED)
    path = Path(named) if named else Path(click.get_app_dir("basanite")) / "keys.json"
    if not path.exists():
        raise SettingError(
            "No key is pinned, so nobody's signature can be trusted. Get the campaign's file of keys from its "
            f"organizers and give it (--key keys.json), or pin it: {path}"
        )
    return (path,)


def _compare_submission(
    verdict: Verdict, submission: Path | None, bundle: Path | None, problems: list[Problem], notes: list[str]
) -> int | None:
    from basanite.receipts.reproduction import check_submission, open_bundle, reproduce

    if verdict.foreign:
        notes.append(f"It is foreign: it was signed for {visible(verdict.foreign)}, before the campaign was moved.")
    if submission is not None:
        problems += check_submission(verdict.content, submission)
    if bundle is None:
        return None
    made = reproduce(verdict.content, open_bundle(bundle))
    problems += made.problems
    notes += made.notes
    return made.compared


def _show(verdict: Verdict, problems: list[Problem], notes: list[str], compared: int | None, *, json: bool) -> None:
    if json:
        told: dict[str, Any] = {
            "compared": compared,
            "content": dict(verdict.content),
            "foreign": verdict.foreign,
            "key": verdict.key,
            "kind": verdict.kind,
            "notes": notes,
            "problems": [problem.as_dict() for problem in problems],
            "valid": not problems,
        }
        sys.stdout.write(canonical.dumps(told))
        return
    for line in _sentences(verdict, compared) if not problems else ():
        click.echo(visible(line))
    for note in notes:
        say(note)
    for problem in problems:
        say(problem_line(problem))


def _sentences(verdict: Verdict, compared: int | None) -> list[str]:
    content, submission = verdict.content, verdict.content["submission"]
    lines = [
        f"Valid: a receipt of {verdict.kind}, signed with {verdict.key} at {content['at']}.",
        f"Campaign {content['campaign']['slug']}, submission {submission['id']} ({content['standing']}), "
        f"sha256 {submission['sha256']}.",
        f"Event {content['log']['sequence']} of the log, whose head was {content['log']['head']}.",
    ]
    result = content.get("result")
    if result:
        values = ", ".join(f"{name} {entry.get('value')}" for name, entry in sorted(result["values"].items()))
        lines.append(f"{result['task']}, {result['software']}, plan {result['plan_version']}: {values}.")
    if compared is not None:
        lines.append(f"The score was recomputed: {compared} values agree.")
    return lines
