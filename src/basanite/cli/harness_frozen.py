"""`basanite harness freeze`, `export`, `bundle`, `sign` and `verify`: what is fixed, and what leaves and comes back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, run_or_exit, say
from basanite.errors import SettingError
from basanite.problems import visible
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.harness.frozen.signatures import SigningKey
    from basanite.harness.plan import Plan

BEGUN = "The evaluation has begun, so the sealed splits may be given out."


@click.command(epilog=example('basanite harness freeze frozen.toml --signer Eve --reason "entries received"'))
@click.argument("plan", type=PATH)
@click.option("--team", default="", help="Only this team's systems, by its letter.")
@click.option("--start", is_flag=True, help="The evaluation begins: freeze the parameters too.")
@click.option("--change", is_flag=True, help="Sign off on changed code or parameters.")
@click.option("--signer", default="", help="Who signs for the evaluation team. Without it nothing is written.")
@click.option("--reason", default="", help="The reason; stored in the log.")
@click.option("--key", "key_file", type=PATH, help="The key that signs. [default: beside the log; created if missing]")
@as_json
def freeze(
    plan: Path, team: str, start: bool, change: bool, signer: str, reason: str, key_file: Path | None, as_json: bool
) -> None:
    """Freeze the systems of PLAN in its signed log; without --signer, list what differs from it.

    Code is frozen first, parameters with --start; after that, changed systems do not run until --change is signed.
    Exit code 1: something differs or cannot be frozen.
    """
    from basanite.harness.frozen.freeze import SignedChange, differences, log_of, sign_change

    found = run_or_exit(lambda: _load_frozen_plan(plan), json=as_json)
    key = _key(plan.parent / found.freeze, key_file, make=bool(signer))
    asked = SignedChange(_kind(start, change), team, signer, reason)
    wrong = sign_change(found, plan.parent, asked, key) if signer else []
    log = log_of(found, plan.parent, key)
    if not wrong:
        wrong = differences(found, log) if log.entries else ["nothing is frozen yet"]
    told = {"entries": len(log.entries), "started": log.has_started, "head": log.head, "differences": wrong}
    _print({**told, "dossiers": _papers(found, plan)}, wrong or ["Everything is as it was frozen."], json=as_json)


def _kind(start: bool, change: bool) -> str:
    if start and change:
        raise SettingError("--start and --change are two entries: give one of them.")
    return "start" if start else "change" if change else "code"


def _load_frozen_plan(path: Path) -> Plan:
    from basanite.harness.plan_file import load_plan

    found = load_plan(path)
    if not found.freeze:
        raise SettingError('This plan names no log, so nothing can be frozen. Write freeze = "freeze.jsonl" into it.')
    return found


def _key(log: Path, given: Path | None, *, make: bool) -> SigningKey | None:
    from basanite.harness.frozen.freeze import KEY_SUFFIX
    from basanite.harness.frozen.signatures import SigningKey, read_key, write_key

    path = given or log.with_suffix(KEY_SUFFIX)
    if make and not path.exists() and not log.exists():
        write_key(path, SigningKey.generate())
        say(f"A new key that signs for the evaluation team: {path}. Keep it to yourselves.")
    return read_key(path) if path.exists() or make or given else None


def _papers(found: Plan, path: Path) -> dict[str, Any]:
    """The dossiers, with what is missing said aloud (H-30)."""
    from basanite.harness.frozen.facts import read_dossier

    told = {}
    for team in found.teams:
        for task, system in team.systems.items():
            dossier = read_dossier(path.parent / (system.dossier or "no dossier"), system.dossier)
            told[f"{team.letter}/{task}"] = dossier.canonical()
            if not dossier.complete:
                say(f"The dossier of {team.letter}/{task} lacks: {', '.join(dossier.missing)}")
    return told


@click.command(epilog=example("basanite harness export quick.toml --out sets"))
@click.argument("plan", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder for the sets; it must be empty.")
@click.option("--team", default="", help="Only this team's sets, by its letter.")
@click.option("--begun", is_flag=True, help=BEGUN)
@as_json
def export(plan: Path, out: Path, team: str, begun: bool, as_json: bool) -> None:
    """Export the preprocessed sets of PLAN for teams, never with labels of test rows.

    Other files that a team's preprocessor opened are listed. Exit code 1: some were not declared
    and need sign-off.
    """
    from basanite.harness.evaluation import ready
    from basanite.harness.frozen.export import export as written

    evaluation = run_or_exit(lambda: ready(plan), json=as_json)
    told = written(evaluation, out, begun=begun, letters=(team,) if team else ())
    outside = [
        f"{entry['module']} opened {path}, which nobody declared"
        for entry in told["access"]
        for path in entry["outside"]
    ]
    _print(
        {**told, "problems": outside},
        outside or [f"{plural('set', len(told['sets']))} written to {out}"],
        json=as_json,
        bad=bool(outside),
    )


@click.command(epilog=example("basanite harness bundle quick.toml --team a --out for-alpha --key alpha.key"))
@click.argument("plan", type=PATH)
@click.option("--team", required=True, help="The team's letter; other teams' systems are left out.")
@click.option("--out", type=PATH, required=True, help="The folder of the bundle; it must be empty.")
@click.option("--key", "key_file", type=PATH, required=True, help="Where to save your copy of the signing key.")
@click.option("--begun", is_flag=True, help=BEGUN)
@as_json
def bundle(plan: Path, team: str, out: Path, key_file: Path, begun: bool, as_json: bool) -> None:
    """Build a bundle of PLAN that a team runs at its own site.

    There: `basanite harness run` on the plan in it, then `basanite harness sign` with the key in it.
    """
    from basanite.harness.frozen.bundle import bundle as written
    from basanite.harness.frozen.signatures import SigningKey

    told = run_or_exit(
        lambda: written(plan, out, team, begun=begun, key=SigningKey.generate(), kept=key_file), json=as_json
    )
    if as_json:
        shown = {name: value for name, value in told.items() if name not in ("key", "content")}
        sys.stdout.write(canonical.dumps(shown))
    else:
        click.echo(f"Bundle of team {team} written to {visible(str(out))}")
    say(f"The key of this bundle is kept in {key_file}: `harness verify --key` needs it.")


@click.command(epilog=example("basanite harness sign returned --key returned.key"))
@click.argument("result", type=PATH)
@click.option("--key", "key_file", type=PATH, required=True, help="The key of the bundle.")
@as_json
def sign(result: Path, key_file: Path, as_json: bool) -> None:
    """Sign the folder RESULT, so that the evaluation team can detect changes."""
    from basanite.harness.frozen.signatures import read_key
    from basanite.harness.frozen.signatures import sign as signed

    told = signed(result, read_key(key_file))
    _print(
        {"files": len(told["files"]), "plan_digest": told["plan_digest"]},
        [f"{plural('file', len(told['files']))} signed."],
        json=as_json,
    )


@click.command(epilog=example("basanite harness verify returned --key returned.key --plan returned.toml"))
@click.argument("result", type=PATH)
@click.option("--key", "key_file", type=PATH, help="The key of the bundle; without it no signature is checked.")
@click.option("--plan", type=PATH, help="Your own plan: tasks, systems and partitions must be the same.")
@as_json
def verify(result: Path, key_file: Path | None, plan: Path | None, as_json: bool) -> None:
    """Verify the folder RESULT: signature, plan, partitions and predictions, and its scores by recomputing them.

    Exit code 0: the result can be accepted; 1: it cannot, and every reason is listed.
    """
    from basanite.harness.evaluation import ready
    from basanite.harness.frozen.signatures import faults, read_key

    evaluation = run_or_exit(lambda: ready(plan), json=as_json) if plan else None
    wrong = faults(result, read_key(key_file) if key_file else None, evaluation)
    checked = {"signature": key_file is not None, "plan": plan is not None}
    _print(
        {"accepted": not wrong, "checked": checked, "faults": wrong},
        wrong or ["The result can be accepted."],
        json=as_json,
        bad=bool(wrong),
    )


def _print(told: dict[str, Any], lines: list[str], *, json: bool, bad: bool | None = None) -> None:
    """Print what was found, and end with exit code 1 if it is bad."""
    if json:
        sys.stdout.write(canonical.dumps(told))
    else:
        click.echo("\n".join(map(visible, lines)))
    if bad if bad is not None else bool(told.get("differences")):
        raise click.exceptions.Exit(1)


@click.command(epilog=example("basanite harness submissions quick-result --out submissions"))
@click.argument("result", type=PATH)
@click.option("--out", type=PATH, required=True, help="The folder for the files; it must be empty.")
@click.option("--only", help="Only these runs, such as 6a,6b.")
@as_json
def submissions(result: Path, out: Path, only: str | None, as_json: bool) -> None:
    """Write the predictions of RESULT as submissions of the tasks labels and ratings, and score them as such.

    Each run and fold is a file that can be scored, compared and submitted like any other. Exit code 1: a value is
    not the one that the run kept.
    """
    from basanite.harness.results import ResultFolder
    from basanite.harness.submissions import FORMAT, write_submissions

    names = tuple(part.strip() for part in only.split(",") if part.strip()) if only else ()
    found = run_or_exit(lambda: list(write_submissions(ResultFolder(result), out, only=names)), json=as_json)
    wrong = [one for one in found if not one.same]
    if as_json:
        data = {"format": FORMAT, "submissions": [one.as_dict() for one in found]}
        sys.stdout.write(canonical.dumps(data))
    else:
        for one in wrong:
            click.echo(visible(f"{one.file}: {one.scored} as a submission, and {one.kept} in the result"))
        click.echo(
            f"{plural('submission', len(found))} written to {out}, {len(found) - len(wrong)} with the result's value."
        )
    if wrong:
        raise click.exceptions.Exit(1)
