"""Files by position (`score TASK REF HYP`) or with a name (`NAME=PATH`); `-` is standard input (T-29)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from basanite.cli.options import FIRST_FILE
from basanite.errors import SettingError
from basanite.formats.records import LARGEST
from basanite.formats.system_names import system_name, system_names
from basanite.tasks import Task

Command = TypeVar("Command", bound=Callable[..., Any])

STANDARD_INPUT: Final = "-"
NAME: Final = "stdin"
"""What problems, reports and systems call a file that came by standard input."""
_CHUNK: Final = 1 << 20
_READ: Final = "basanite.standard_input"


class InputPath(click.Path):
    """A path of a file to be read; `-` becomes a file with what standard input holds."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or that of a copy of standard input."""
        found = super().convert(value, param, ctx)
        return input_path(found, ctx) if isinstance(found, Path) else found


INPUT: Final = InputPath()


def input_path(path: Path, ctx: click.Context | None = None) -> Path:
    """The path as it is; for `-` that of a copy of standard input, which lasts as long as the command."""
    ctx = ctx or click.get_current_context(silent=True)
    if str(path) != STANDARD_INPUT or ctx is None or ctx.resilient_parsing:
        return path
    if ctx.meta.get(_READ):
        raise SettingError("Standard input (-) can be read once: give the other files by their paths.")
    ctx.meta[_READ] = True
    import tempfile  # only here: few commands read standard input

    # Of the whole program: a command whose other arguments are refused is never entered, and would leave it behind.
    folder = ctx.find_root().with_resource(tempfile.TemporaryDirectory(prefix="basanite-stdin-"))
    copy = Path(folder) / NAME
    size = 0
    source = sys.stdin.buffer
    with copy.open("wb") as file:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > LARGEST:
                raise SettingError(f"Standard input has more than {LARGEST} bytes: give a smaller file.")
            file.write(chunk)
    return copy


def files_argument(metavar: str, *, plain: bool = False) -> Callable[[Command], Command]:
    """Add files by position; `plain` leaves them as text, where they may be NAME=PATH."""
    kind = click.STRING if plain else INPUT
    return click.argument(
        "files", nargs=-1, type=kind, metavar=metavar, callback=partial(_with_first_file, plain=plain)
    )


def _with_first_file(ctx: click.Context, param: click.Parameter, value: tuple[Any, ...], *, plain: bool) -> Any:
    """The files, with one that stood in the place of the task before them."""
    first = ctx.meta.get(FIRST_FILE)
    return value if first is None else (first if plain else Path(first), *value)


def reference_and_submission(
    files: Sequence[Path], references: Sequence[Path], submission: Path | None
) -> tuple[tuple[Path, ...], Path]:
    """What is scored and against what: by position, by options, or one by each."""
    if len(files) > 2:
        first, *others = (str(file) for file in files)
        raise click.UsageError(
            f"{len(files)} files are given, and one submission is taken: REF HYP. To compare several: "
            f"basanite compare TASK {first} {' '.join(others[:3])}{' …' if len(others) > 3 else ''}"
        )
    left = list(files)
    if submission is None:
        if not left:
            raise click.UsageError(
                "Give the reference and the submission: TASK REF HYP, or --reference and --submission."
            )
        submission = left.pop()
    if len(left) > 1 or (left and references and len(files) == 1):
        raise click.UsageError("Reference and submission are given by position and by option: give each once.")
    return (*left, *references), submission


def reference_and_systems(
    files: Sequence[str], references: Sequence[Path], submissions: Sequence[str], task: Task
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The reference and the submissions of a comparison; the first of the files is the reference unless one is given.

    Where a task needs no reference, two files are two submissions; files that say themselves what they are of all are,
    and so is one file alone that holds the reference and the systems.
    """
    two = len(files) == 2 and not submissions and not task.needs_reference
    both = len(files) == 1 and not submissions and task.systems_in(Path(files[0])) is not None
    if references or not files or two or both or task.open_systems is not None:
        return tuple(references), (*files, *submissions)
    first, *others = files
    return (input_path(Path(first)),), (*others, *submissions)


def judged_systems(texts: tuple[str, ...]) -> dict[str, Path]:
    """Judgements by the name of their system: summaries differ, so each system has its own."""
    for text in texts:
        if "=" not in text:
            raise SettingError(f"--judgements {text!r} does not say of which system: write NAME=FILE.")
    return {name: Path(path) for name, _, path in (text.partition("=") for text in texts)}


def named_systems(texts: tuple[str, ...], option: str = "submission") -> dict[str, Path]:
    """Systems by name, from `NAME=PATH` or `PATH`."""
    systems: dict[str, Path] = {}
    unnamed = [path for name, path in map(_given_name, texts) if not name]
    found = iter(system_names(unnamed))
    for given, path in map(_given_name, texts):
        name = given or next(found).removesuffix(".json")
        if name in systems:
            raise SettingError(f"Two systems are called {name!r}. Give them names: --{option} NAME=PATH.")
        systems[name] = input_path(path)
    return systems


def split_name(text: str) -> tuple[str, Path]:
    """A name and a path; a path that exists as it stands is no `NAME=PATH`, whatever it contains."""
    name, path = _given_name(text)
    return name or system_name(path).removesuffix(".json"), path


def _given_name(text: str) -> tuple[str, Path]:
    """The name that was given, if any, and the path."""
    name, sign, path = text.partition("=")
    if sign and name and not Path(text).exists():
        return name, Path(path)
    return NAME if text == STANDARD_INPUT else "", Path(text)
