"""The folder that a moved campaign becomes: campaign file, packs, references, programs, history, and what is missing.

| in the folder | what it is |
|---|---|
| `campaign.toml` | the campaign file, to be read through and added to a server |
| `packs/ID/` | data that participants get |
| `references/ID/` | the reference data, which only the evaluation team has |
| `programs/ID/` | `program.toml`, and the files of the scoring program below `files/` |
| `kits/`, `history/` | starting kits and example solutions; past results |
| `NEXT.md` | what to do next, and what could not be kept |
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.file_edit import write_file
from basanite.campaign.model.plan import FORMAT
from basanite.campaign.model.starters import slug_of
from basanite.campaign.moves.bundle import Bundle, copy_part
from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.registry import suggestion

PROGRAM: Final = "basanite-kept-program/1"
ENDLESS: Final = timedelta(days=3650)
LONGEST_HISTORY: Final = 20 << 20
LONGEST_METADATA: Final = 65_536
GUESSES: Final = (
    (("bleu", "chrf", "comet"), "translation"),
    (("wer", "cer"), "speech"),
    (("ndcg", "mrr"), "ranking"),
    (("rmse", "mae", "mse"), "ratings"),
)
"""Names of columns that tell which task of ours is nearest; without any it is classification."""


@dataclass(frozen=True)
class Column:
    """A column of a leaderboard elsewhere."""

    key: str
    title: str
    best: str = "high"


@dataclass(frozen=True)
class Program:
    """A scoring program: its files, how it is called, and what it writes."""

    id: str
    source: Path
    platform: str
    command: str = ""
    image: str = ""
    columns: tuple[Column, ...] = ()

    def describe(self, files: Path) -> str:
        """The text of `program.toml`, for the files as they lie in the folder."""
        command = self.command or _command_in(files)
        head = {"format": PROGRAM, "id": self.id, "platform": self.platform, "command": command}
        head |= {"image": self.image, "sha256": _tree_digest(files)}
        columns = [{"key": one.key, "title": one.title, "best": one.best} for one in self.columns]
        return write_file({**head, "columns": columns} if columns else head)


@dataclass(frozen=True)
class Phase:
    """A phase elsewhere, or one of its tasks: a window here, with a pack and a reference of its own."""

    id: str
    title: str
    opens: datetime
    closes: datetime
    quota: Mapping[str, Any]
    hidden: bool = False
    """Whether participants see no score while it runs."""
    board: str = "latest"
    program: str = ""
    data: tuple[Path, ...] = ()
    reference: Path | None = None


@dataclass
class Moved:
    """Everything that was read of a campaign elsewhere."""

    title: str
    platform: str
    bundle: Bundle
    about: dict[str, Any] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    kits: dict[str, Path] = field(default_factory=dict)
    logo: Path | None = None


@dataclass(frozen=True)
class Written:
    """What was made of it."""

    slug: str
    task: str
    windows: int
    programs: int
    losses: tuple[str, ...]


def write_folder(moved: Moved, out: Path, *, task: str = "", history: Path | None = None) -> Written:
    """Write the folder; it appears whole, or not at all."""
    if os.path.lexists(out):
        raise SettingError(f"{out} already exists. Name a new folder with --out.")
    if not moved.phases:
        raise SettingError("The bundle has no phase with dates, so there is nothing to make a window of.")
    chosen = task or _nearest_task(moved)
    rows = [] if history is None else _history(history)
    text = _campaign_text(moved, chosen, rows)
    load(text)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".moving-") as name:
        folder = Path(name) / "campaign"
        folder.mkdir()
        (folder / "campaign.toml").write_text(text, encoding="utf-8")
        _write_parts(moved, folder, rows)
        (folder / "NEXT.md").write_text(_next_steps(moved, chosen), encoding="utf-8")
        folder.rename(out)
    return Written(_slug(moved), chosen, len(moved.phases), len(moved.programs), tuple(moved.bundle.losses))


def quota_of(per_day: int | None, total: int | None, bundle: Bundle) -> dict[str, Any]:
    """A quota of ours from limits elsewhere; of two limits the daily one is kept."""
    if per_day is not None and total is not None:
        bundle.lose(f"the limit of {total} submissions in all beside {per_day} a day: a window has one period")
    if per_day is not None:
        return {"count": per_day, "period": "day"}
    if total is not None:
        return {"count": total, "period": "total"}
    bundle.lose("submissions without a limit: windows take 100 a day here, change `quota` if that is too few")
    return {"count": 100, "period": "day"}


def _slug(moved: Moved) -> str:
    return slug_of(moved.title) or "moved"


def _nearest_task(moved: Moved) -> str:
    keys = " ".join(f"{one.key} {one.title}" for program in moved.programs for one in program.columns).lower()
    found = next((task for words, task in GUESSES if any(word in keys for word in words)), "classification")
    moved.bundle.lose(f"what a submission is: windows take the task {found!r}, a guess; name another with --task")
    return found


def _campaign_text(moved: Moved, task: str, rows: Sequence[Sequence[str]]) -> str:
    about = {key: value for key, value in moved.about.items() if value}
    if rows:
        about["data"] = f"{about.get('data', '')}\n\n## Past results\n\n{_markdown_table(rows)}".strip()
    packs = [
        {"id": one.id.upper(), "title": one.title, "family": one.id, "released": _stamp(one.opens), "sealed": True}
        for one in moved.phases
    ]
    windows = [_window(one, task) for one in moved.phases]
    head: dict[str, Any] = {"format": FORMAT, "slug": _slug(moved), "title": moved.title, "zone": "UTC"}
    return write_file({**head, **({"about": about} if about else {}), "packs": packs, "windows": windows})


def _window(one: Phase, task: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"id": one.id, "title": one.title, "opens": _stamp(one.opens), "closes": _stamp(one.closes)}
    facts |= {"tasks": [task], "dataset": [one.id.upper()], "quota": dict(one.quota)}
    if one.hidden:
        return facts | {"kind": "evaluation", "feedback": "none"}
    return facts | {"kind": "development", "feedback": "limited", "board": one.board}


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _write_parts(moved: Moved, folder: Path, rows: Sequence[Sequence[str]]) -> None:
    for one in moved.phases:
        for number, source in enumerate(one.data, start=1):
            copy_part(moved.bundle, source, folder / "packs" / one.id.upper() / str(number))
        if one.reference is not None:
            copy_part(moved.bundle, one.reference, folder / "references" / one.id.upper())
    for program in moved.programs:
        place = folder / "programs" / program.id
        copy_part(moved.bundle, program.source, place / "files")
        (place / "program.toml").write_text(program.describe(place / "files"), encoding="utf-8")
    for name, source in moved.kits.items():
        copy_part(moved.bundle, source, folder / "kits" / name)
    if moved.logo is not None and moved.logo.is_file():
        shutil.copyfile(moved.logo, folder / f"logo{moved.logo.suffix.lower()}")
    if rows:
        (folder / "history").mkdir()
        with (folder / "history" / "results.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


def _command_in(files: Path) -> str:
    """How a program of Codabench is called, from the `metadata` that lies in it."""
    for name in ("metadata.yaml", "metadata.yml", "metadata"):
        path = files / name
        if path.is_file() and path.stat().st_size < LONGEST_METADATA:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("command:")), "")
    return ""


def _tree_digest(folder: Path) -> str:
    """The digest of all files with their names, so that a changed program is noticed."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return total.hexdigest()


def _history(path: Path) -> list[list[str]]:
    """Past results as rows: a header, then a line for each submission."""
    text = read_bounded(path, LONGEST_HISTORY).decode("utf-8-sig", "replace")
    rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise SettingError(f"{path} is no table of past results: give a CSV with a header and a line a submission.")
    odd = next((number for number, row in enumerate(rows, start=1) if len(row) != len(rows[0])), None)
    if odd:
        raise SettingError(f"{path}, row {odd}: {len(rows[odd - 1])} cells where the header has {len(rows[0])}.")
    return rows


def _markdown_table(rows: Sequence[Sequence[str]], most: int = 50) -> str:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in rows[: most + 1]]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def _cell(text: str) -> str:
    try:
        number = float(text)
        return f"{number:g}" if math.isfinite(number) else text
    except ValueError:
        return " ".join(text.replace("|", "\\|").split())[:80]


def _next_steps(moved: Moved, task: str) -> str:
    add = "    basanite admin reference add"
    references = "".join(
        f"{add} references/{one.id.upper()}/FILE --task {task} --dataset {one.id.upper()} --data DATA\n"
        for one in moved.phases
        if one.reference is not None
    )
    losses = "".join(f"- {one}\n" for one in moved.bundle.losses) or "- nothing\n"
    return f"""# {moved.title}, moved from {moved.platform}

1. Read `campaign.toml`: dates are UTC, and every window is there once for each phase and task.
2. Add the campaign, then its references:

    basanite admin campaign add campaign.toml --data DATA
{references}
3. Publish what lies in `packs`. Scoring programs are kept in `programs`, and were not run.

## Not kept

{losses}"""


def known_task(name: str, known: Sequence[str]) -> str:
    """A task by its name, or a refusal with the nearest."""
    if name and name not in known:
        raise SettingError(f"There is no task {name!r}. {suggestion(name, tuple(known))}")
    return name
