"""`basanite publish`, `import`, `backup` and `restore`: what a season writes to files, and reads back."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from basanite import canonical
from basanite.cli.locks import damage_told, key_option, lock_from
from basanite.cli.office import data_option, open_office, read_settings
from basanite.cli.options import PATH, as_json, example, say
from basanite.errors import SettingError
from basanite.problems import visible
from basanite.registry import suggestion

PLATFORMS = ("codabench", "evalai")
"""Platforms whose bundles are read."""


@click.command(epilog=example("basanite publish small site --data season"))
@click.argument("campaign")
@click.argument("out", type=PATH)
@click.option("--organiser", default="", help="Who publishes, for citation. [default: the organizers of the campaign]")
@click.option("--licence", default="", help="The licence of what is published, like CC-BY-4.0.")
@click.option("--address", default="", help="Where the site will be found.")
@click.option("--runs/--no-runs", default=True, show_default=True, help="Whether the runs themselves are published.")
@data_option
@as_json
def publish(
    campaign: str, out: Path, organiser: str, licence: str, address: str, runs: bool, data: Path | None, as_json: bool
) -> None:
    """Write a static site of CAMPAIGN (its slug) to the new folder OUT: open index.html, or put the folder on any host.

    It holds only what visitors may see: leaderboards, released submissions and references, receipts and keys, the
    plan with its deviations, tables for papers, and metadata for a DOI. Teams are named only if the campaign names
    them and their PI agreed.
    """
    from basanite.cli.admin.desk import refusals

    with refusals(json=as_json), open_office(data) as office:
        from basanite.campaign.archive.publication import Wishes
        from basanite.campaign.archive.publication import publish as make_site

        site = make_site(office, campaign, out, Wishes(organiser, licence, address, runs))
    if as_json:
        sys.stdout.write(canonical.dumps(site.as_dict()))
        return
    from basanite.reports.wording import plural  # brings numpy, which a backup does without

    parts = (plural("board", site.boards), plural("system", site.systems), plural("run", site.runs))
    click.echo(visible(f"{out}: {', '.join(parts)}, {plural('deviation', site.deviations)}."))
    for slug in site.left_out:
        say(f"The run of {slug} is left out: it is not there, or would name its maker.")


@click.command("import", epilog=example("basanite import exported.tgz --data elsewhere"))
@click.argument("export", type=PATH)
@click.argument("bundle", type=PATH, required=False)
@click.option("--out", type=PATH, help="For a BUNDLE: the new folder that it becomes. [default: its name]")
@click.option("--task", default="", help="For a BUNDLE: the task of its windows. [default: guessed from its columns]")
@click.option("--history", type=PATH, help="For a BUNDLE: past results as a CSV, shown on the campaign's page.")
@data_option
@as_json
def import_(
    export: Path,
    bundle: Path | None,
    out: Path | None,
    task: str,
    history: Path | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Import the campaign in EXPORT, a folder or a .tgz that `basanite admin export` wrote on another server.

    Accounts, roles, tokens and keys are not imported; people stay pseudonymous. Old receipts verify under the old
    server's
    key, marked as foreign. It lists what could not be imported. Exit code 1: the export cannot be used, with the
    reasons.

    `basanite import codabench BUNDLE.zip` and `basanite import evalai CONFIG.zip` turn competitions of those platforms
    into a new folder: campaign file, packs, references, and scoring programs, which are kept and not run. Nothing is
    added to a server; NEXT.md in the folder says how, and what could not be kept.

    Files of other programs (WMT, TREC, STM, sacreBLEU, brat …) have their own commands: give such a file to see which.
    """
    if bundle is not None or str(export) in PLATFORMS:
        _move_in(str(export), bundle, (out, task, history), as_json=as_json)
        return
    if out or task or history:
        raise SettingError("--out, --task and --history belong to: basanite import codabench BUNDLE.zip")
    _name_other_door(export)
    from basanite.cli.admin.desk import refusals

    with refusals(json=as_json), open_office(data) as office:
        from basanite.campaign.archive.campaign_import import import_campaign
        from basanite.campaign.office import COMMAND

        imported = import_campaign(office, COMMAND, export)
    if as_json:
        sys.stdout.write(canonical.dumps(imported.as_dict()))
        return
    rows = sum(imported.rows.values())
    click.echo(visible(f"{imported.slug}, from {imported.origin}: {rows} rows, {imported.files} files."))
    for line in imported.not_kept:
        say(f"Not kept: {line}")


def _move_in(
    platform: str, bundle: Path | None, wishes: tuple[Path | None, str, Path | None], *, as_json: bool
) -> None:
    """Turn a bundle of another platform into a folder."""
    if platform not in PLATFORMS:
        raise SettingError(f"Bundles of {platform!r} are not read. {suggestion(platform, PLATFORMS)}")
    if bundle is None:
        raise SettingError(f"Name the bundle: basanite import {platform} BUNDLE.zip")
    from basanite import registry
    from basanite.campaign.moves.bundle import unpacked
    from basanite.campaign.moves.codabench import read_codabench
    from basanite.campaign.moves.evalai import read_evalai
    from basanite.campaign.moves.folder import known_task, write_folder

    (out, task, history), read = wishes, {"codabench": read_codabench, "evalai": read_evalai}[platform]
    out = out or Path(bundle.stem)
    known_task(task, sorted(registry.names("tasks")))
    with unpacked(bundle) as found:
        written = write_folder(read(found), out, task=task, history=history)
    if as_json:
        sys.stdout.write(canonical.dumps({"folder": str(out), **asdict(written)}))
        return
    counts = f"{written.windows} windows on {written.task}, {written.programs} scoring programs"
    click.echo(visible(f"{out}: {counts}. Read {out / 'NEXT.md'} before you add {out / 'campaign.toml'}."))
    for line in written.losses:
        say(f"Not kept: {line}")


def _name_other_door(path: Path) -> None:
    """A file of another program is read by a command of its own, which is told (P-32)."""
    from basanite.formats.foreign_files import recognize_file  # only a refused file needs it

    found = recognize_file(path)
    if found:
        what, commands = found
        reads = ", or: basanite ".join(commands)
        raise SettingError(f"{path} looks like {what}, not like a campaign. Read it with: basanite {reads}")


@click.command(epilog=example("basanite backup season.backup --data season --key backup.key"))
@click.argument("out", type=PATH)
@key_option
@click.option("--vault-to", type=PATH, help="Also write a copy of the vault. Keep it in a different place.")
@click.option("--vault-key", type=PATH, help="The key of the vault's copy. [default: that of the backup]")
@data_option
@as_json
def backup(
    out: Path, key: Path | None, vault_to: Path | None, vault_key: Path | None, data: Path | None, as_json: bool
) -> None:
    """Back up the whole server to OUT while it keeps running.

    It holds every row and file as of one moment, encrypted, but not the vault: without a copy of the
    vault it reveals no name, mail address or reference, and cannot be used to sign. After erasing a
    person, replace older copies of the vault.
    """
    with damage_told(), open_office(data) as office:
        from basanite.campaign.archive.backup import back_up, back_up_vault
        from basanite.campaign.archive.backup_record import note_backup

        lock = lock_from(key, make=True)
        other = lock_from(vault_key, make=True) if vault_key else lock
        saved = back_up(office, lock, out)
        note_backup(office.settings.data, office.clock(), out, saved.as_dict())
        secrets = back_up_vault(office.vault, other, vault_to) if vault_to else None
    if as_json:
        sys.stdout.write(canonical.dumps(saved.as_dict() | {"secrets": secrets}))
        return
    click.echo(
        f"{out}: {sum(saved.rows.values())} rows, {saved.files + saved.sealed} files, "
        f"the log up to event {saved.sequence}."
    )
    for digest in saved.missing:
        say(f"Missing, and therefore not in the backup: the file {digest}")
    if vault_to is None:
        say("The vault is not in it. Keep a copy of it elsewhere: --vault-to FILE")


@click.command(epilog=example("basanite restore old.backup --key old.key --data restored"))
@click.argument("backup", type=PATH)
@key_option
@click.option(
    "--vault-from", type=PATH, help="The vault's own copy; without it, names, references and keys stay encrypted."
)
@click.option(
    "--without-vault", is_flag=True, help="Restore without the vault: names, references and keys stay encrypted."
)
@click.option("--vault-key", type=PATH, help="The key of the vault's copy. [default: that of the backup]")
@data_option
@as_json
def restore(
    backup: Path, key: Path | None, vault_from: Path | None, vault_key: Path | None, data: Path | None, **given: bool
) -> None:
    """Restore BACKUP to the folder and database in the settings, which must be empty.

    It verifies the digests of all files, the hash chain of the log, and the number of rows. If anything is
    wrong, nothing is left behind. Exit code 1: the backup cannot be used, with the reason. A vault that is in its
    place is used; otherwise its copy is needed for people, references and receipts.
    """
    settings = read_settings(data)
    with damage_told():
        from basanite.campaign.archive.restore import restore as put_back

        lock = lock_from(key)
        vault = (vault_from, lock_from(vault_key) if vault_key else lock) if vault_from else None
        restored = put_back(backup, lock, settings, vault, without_vault=given["without_vault"])
    if given["as_json"]:
        sys.stdout.write(canonical.dumps(restored.as_dict()))
        return
    saved = restored.saved
    click.echo(
        f"{settings.data}: {sum(saved.rows.values())} rows, {saved.files + saved.sealed} files, "
        f"the log up to event {saved.sequence}, whole."
    )
    if restored.without_vault:
        say("Without the vault's copy: names, references and signing keys stay encrypted (--vault-from FILE).")
