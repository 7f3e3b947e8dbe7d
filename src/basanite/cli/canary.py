"""`basanite canary`: copies of test items that tell who leaked them, retired items, and overlap with training data."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.options import PATH, as_json, example, say
from basanite.errors import SettingError
from basanite.models.canaries import (
    OverlapSearch,
    Searched,
    canary_hits,
    copy_for,
    files_below,
    read_register,
    read_rows,
    write_register,
)
from basanite.problems import visible
from basanite.reports.wording import percent, plural

FOUND = 4
REGISTER = click.option("--register", type=PATH, required=True, help="The register: keep it secret, and keep it.")
SHOWN = 20


@click.group(
    epilog=example("basanite canary check answers sums.jsonl --register canaries.json"),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def canary() -> None:
    """Sealed tests of models: copies with canaries, leaks, retired items, and overlap with training data."""


@canary.command(epilog=example("basanite canary make sums.jsonl --for 'Lab A' --out packs --register canaries.json"))
@click.argument("items", type=PATH)
@click.option("--for", "recipients", multiple=True, required=True, help="A recipient. Can be repeated.")
@click.option("--column", default="question", show_default=True, help="The column of the texts.")
@click.option("--out", type=PATH, required=True, help="The folder for the copies.")
@REGISTER
@as_json
def make(items: Path, recipients: tuple[str, ...], column: str, out: Path, register: Path, as_json: bool) -> None:
    """Write a copy of ITEMS for each recipient, with a canary of its own; retired items are left out."""
    rows, known = read_rows(items), read_register(register)
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    copies = {name: copy_for(name, rows, known, column, date) for name in recipients}
    names = {name: re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "copy" for name in copies}
    if len(set(names.values())) < len(names):
        raise SettingError("Two recipients would get one file. Fix: give them names that differ in letters or digits.")
    write_register(register, known)  # before any copy exists that nobody could trace
    out.mkdir(parents=True, exist_ok=True)
    for name, content in copies.items():
        (out / f"{names[name]}.jsonl").write_bytes(content)
    left = sum(str(row["id"]) in known.retired for row in rows)
    if as_json:
        made = {name: str(out / f"{names[name]}.jsonl") for name in copies}
        sys.stdout.write(canonical.dumps({"copies": made, "retired": left}))
        return
    for name in copies:
        click.echo(visible(f"• {name}: {out / names[name]}.jsonl"))
    if left:
        say(f"{plural('retired item', left)} left out.")


@canary.command(epilog=example("basanite canary check answers sums.jsonl --register canaries.json"))
@click.argument("files", nargs=-1, required=True, type=PATH)
@REGISTER
@as_json
def check(files: tuple[Path, ...], register: Path, as_json: bool) -> None:
    """Search FILES and folders (submissions, transcripts, training data) for canaries. Exit code 4: there are some."""
    known = read_register(register)
    if not known.copies:
        raise SettingError(f"{register} holds no canaries. Fix: name the register that `canary make` wrote.")
    searched = Searched()
    hits = list(canary_hits(files, known, searched))
    if as_json:
        sys.stdout.write(canonical.dumps({"hits": [asdict(one) for one in hits], "searched": asdict(searched)}))
    else:
        for one in hits[:SHOWN]:
            click.echo(visible(f"{one.file}:{one.line}: the copy of {one.recipient}"))
        say(f"{plural('canary', len(hits)) if hits else 'No canary'} found in what was searched: {_summary(searched)}")
    if hits:
        raise click.exceptions.Exit(FOUND)


@canary.command(epilog=example("basanite canary retire sum17 --reason 'published in a paper' --register canaries.json"))
@click.argument("items", nargs=-1, required=True)
@click.option("--reason", required=True, help="Why; it is kept in the register.")
@REGISTER
@as_json
def retire(items: tuple[str, ...], reason: str, register: Path, as_json: bool) -> None:
    """Retire ITEMS: later copies leave them out, and `basanite run --retired` does not ask about them."""
    known = read_register(register)
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    new = [name for name in items if name not in known.retired]
    known.retired |= {name: {"date": date, "reason": reason} for name in new}
    write_register(register, known)
    if as_json:
        sys.stdout.write(canonical.dumps({"new": new, "retired": len(known.retired)}))
        return
    say(f"{plural('item', len(new))} retired; {len(known.retired)} in all.")


@canary.command(epilog=example("basanite canary seen sum17 --register canaries.json"))
@click.argument("items", nargs=-1)
@REGISTER
@as_json
def seen(items: tuple[str, ...], register: Path, as_json: bool) -> None:
    """Say who was given which items, and when; without ITEMS all copies. Servers log what people read there."""
    rows = [one for one in read_register(register).copies if not items or set(items) & set(one["items"])]
    if as_json:
        shown = [{name: one[name] for name in ("recipient", "date", "items")} for one in rows]
        sys.stdout.write(canonical.dumps({"copies": shown}))
        return
    for one in rows:
        click.echo(visible(f"{one['date']} {one['recipient']}: {plural('item', len(one['items']))}"))


@canary.command(epilog=example("basanite canary overlap README.md --items sums.jsonl --column question"))
@click.argument("training", nargs=-1, required=True, type=PATH)
@click.option("--items", type=PATH, required=True, help="The test items.")
@click.option("--column", default="question", show_default=True, help="The column of the texts.")
@click.option("--words", type=click.IntRange(2, 50), default=8, show_default=True, help="Words of an n-gram.")
@click.option("--near", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Share for a near copy.")
@as_json
def overlap(training: tuple[Path, ...], items: Path, column: str, words: int, near: float, as_json: bool) -> None:
    """Find test items whose n-grams stand in declared TRAINING data. Exit code 4: there is a near copy.

    Nothing is said about data that was not searched, nor about copies in other words or another language.
    """
    texts = {str(row["id"]): str(row.get(column) or "") for row in read_rows(items)}
    if not any(texts.values()):
        raise SettingError(f"No item says anything under {column!r}. Fix: name the column of the texts with --column.")
    search, searched = OverlapSearch(texts, words), Searched()
    for path in files_below(training):
        search.search(path, searched)
    found = search.overlaps()
    copies = [one for one in found if one.near_copy >= near]
    if as_json:
        about: Mapping[str, Any] = {"items": len(texts), "words": words, "near": near, "searched": asdict(searched)}
        rows: Sequence[Any] = [asdict(one) for one in found]
        sys.stdout.write(canonical.dumps({**about, "near_copies": len(copies), "overlaps": rows}))
    else:
        for one in found[:SHOWN]:
            shares = f"{percent(round(one.share, 3))} of its n-grams, {percent(round(one.near_copy, 3))} in one line"
            click.echo(visible(f"{one.item}: {shares}, first at {one.file}:{one.line}"))
        click.echo(f"{len(found)} of {plural('item', len(texts))} with overlap, {len(copies)} near copies.")
        say(f"Searched: {_summary(searched)} Nothing is said about other data.")
    if copies:
        raise click.exceptions.Exit(FOUND)


def _summary(searched: Searched) -> str:
    left = f"; not searched: {', '.join(searched.unread[:SHOWN])}" if searched.unread else ""
    return f"{plural('file', searched.files)}, {searched.size:,} bytes{left}."
