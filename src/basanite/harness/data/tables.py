"""Data sets of a plan, by the kind of their source: tables in files, and those that come with scikit-learn."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, SettingError, UnknownNameError
from basanite.formats.bounded import read_bounded
from basanite.formats.parquet import parquet_faults, read_parquet
from basanite.harness.data.dataset import Dataset, first_labels
from basanite.harness.data.guinea_pigs import TARGET, guinea_pig_clips, guinea_pig_rows
from basanite.harness.data.media import Lists, read_media
from basanite.harness.data.reviews import RANGE, RATINGS, SHORTEST, Columns, read_reviews
from basanite.harness.plan import TaskPlan
from basanite.harness.video.data import generated_clips, read_video
from basanite.harness.video.hollywood2 import is_hollywood2
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion
from basanite.synthetic.reviews import write_reviews

if TYPE_CHECKING:
    import polars as pl


RULE: Final = "H-3"
LARGEST: Final = 2 * 2**30


def read_table(path: Path, targets: Sequence[str], *, group: str = "", labels: bool = True) -> Dataset:
    """The data set in a CSV or Parquet file; raises one error that lists every problem."""
    findings = Findings()
    table = _parse_table(path, findings)
    if table is not None:
        _check(table, path.name, [*targets, *filter(None, [group])], targets if labels else (), group, findings)
    if table is None or findings.rejected:
        raise InvalidInputError("table", findings)
    values = {name: _numbers(table, [name])[:, 0] for name in targets}
    items = _numbers(table, [name for name in table.columns if name not in (*targets, group)])
    groups = np.unique(table[group].to_numpy(), return_inverse=True)[1] if group else None
    return Dataset(path.stem, items, values, groups=groups, first_labels=first_labels(values) if labels else None)


def _parse_table(path: Path, findings: Findings) -> pl.DataFrame | None:
    import polars as pl

    raw = read_bounded(path, LARGEST)
    try:
        return read_parquet(raw) if path.suffix == ".parquet" else pl.read_csv(raw, infer_schema_length=None)
    except parquet_faults() as error:
        findings.add(_problem(path.name, None, f"not a table: {shortened(str(error))}", "give CSV or Parquet"))
        return None


def _check(
    table: pl.DataFrame, file: str, needed: Sequence[str], labels: Sequence[str], group: str, findings: Findings
) -> None:
    """Report columns that are missing, hold no finite numbers, or are no labels."""
    for name in needed:
        if name not in table.columns:
            findings.add(_problem(file, 1, f"there is no column {name!r}", suggestion(name, table.columns[:50])))
    for name in table.columns:
        if name != group:
            findings.extend(_column_problems(table, file, name, is_label=name in labels))


def _column_problems(table: pl.DataFrame, file: str, name: str, *, is_label: bool) -> list[Problem]:
    if table[name].dtype.is_nested():
        return [_problem(file, None, f"column {name!r} holds no numbers", "leave it out of the file")]
    values = _numbers(table, [name])[:, 0]
    wrong = ~np.isfinite(values) if not is_label else ~np.isin(values, (0.0, 1.0))
    if not wrong.any():
        return []
    cell = shortened(str(table[name][int(wrong.argmax())]))
    fix = "write 0 or 1" if is_label else "write a finite number"
    return [_problem(file, int(wrong.argmax()) + 2, f"column {name!r}: {cell} cannot be used", fix)]


def _numbers(table: pl.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    import polars as pl

    return np.ascontiguousarray(
        table.select(pl.col(list(names)).cast(pl.Float64, strict=False).fill_null(float("nan"))).to_numpy()
    )


def _problem(file: str, line: int | None, message: str, fix: str) -> Problem:
    return Problem(RULE, file, line, None, message, fix, where="metadata")


def digits() -> Dataset:
    """1,797 handwritten digits of 8 x 8 pixels; ten targets, one against the rest."""
    from sklearn.datasets import load_digits

    found = load_digits()
    values = found.target.astype(np.int64)
    targets = {str(digit): (values == digit).astype(np.float64) for digit in range(10)}
    return Dataset("digits", found.data.astype(np.float64), targets, first_labels=values)


def breast_cancer() -> Dataset:
    """569 tumours described by 30 numbers; one target, whether it is malignant."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    malignant = (found.target == 0).astype(np.int64)
    targets = {"malignant": malignant.astype(np.float64)}
    return Dataset("breast_cancer", found.data.astype(np.float64), targets, first_labels=malignant)


def diabetes() -> Dataset:
    """442 patients described by 10 numbers; one target, the progress of the illness after a year."""
    from sklearn.datasets import load_diabetes

    found = load_diabetes()
    return Dataset("diabetes", found.data.astype(np.float64), {"progression": found.target.astype(np.float64)})


BUILTIN: Final[Mapping[str, Callable[[], Dataset]]] = {
    "digits": digits,
    "diabetes": diabetes,
    "breast_cancer": breast_cancer,
}
READERS: Final = (
    *BUILTIN,
    *("reviews", "table", "video", "images", "generated-reviews", "generated-table", "generated-video"),
    "generated-lamps",
)


def load_data(task: TaskPlan, folder: Path) -> Dataset:
    """The data of a task; paths are taken from the folder of the plan."""
    reader = str(task.data.get("reader", ""))
    if reader in BUILTIN:
        return _with_targets(BUILTIN[reader](), task)
    if reader == "reviews":
        return _with_targets(_reviews(task, folder / _text(task.data, "path")), task)
    if reader == "table":
        return _with_targets(_table(task, folder / _text(task.data, "path")), task)
    if reader in ("video", "images"):
        return _with_targets(_media(task, folder, folder / _text(task.data, "path")), task)
    if reader in GENERATED:
        return _with_targets(GENERATED[reader](task, folder), task)
    raise UnknownNameError(f"Task {task.name}: no data set is called {reader!r}. {suggestion(reader, READERS)}")


def _reviews(task: TaskPlan, path: Path) -> Dataset:
    text, group = str(task.data.get("text", "")), task.group_by or str(task.data.get("group", ""))
    named = task.targets or (RATINGS if task.stratify_by else ())
    ratings = tuple(dict.fromkeys([*named, *filter(None, [task.stratify_by])]))
    columns = Columns(text, group, ratings, str(task.data.get("missing", "refuse")), task.range or RANGE)
    return read_reviews(path, columns, shortest=int(task.data.get("length", SHORTEST)))


def _media(task: TaskPlan, folder: Path, path: Path) -> Dataset:
    """Clips in the layout of Hollywood-2, and clips and images in class folders or lists (H-1, H-41)."""
    if task.data["reader"] == "video" and is_hollywood2(path):
        return read_video(path)
    where = folder / str(task.data["media"]) if task.data.get("media") else path.parent
    lists = Lists(where, str(task.data.get("missing", "refuse")))
    return read_media(path, "clip" if task.data["reader"] == "video" else "image", lists)


def _table(task: TaskPlan, path: Path) -> Dataset:
    if not task.targets:
        raise SettingError(f"Task {task.name}: a table does not say what to predict. Name the targets.")
    group = task.group_by or str(task.data.get("group", ""))
    return read_table(path, task.targets, group=group, labels=task.metric == "map11")


def _generated_reviews(task: TaskPlan, folder: Path) -> Dataset:
    """Reviews written to a real file by the generator, and read back as any other (H-3)."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "reviews.csv"
        write_reviews(path, rows=int(task.data.get("rows", 2000)), seed=int(task.data.get("seed", 0)))
        return _reviews(task, path)


def _generated_video(task: TaskPlan, folder: Path) -> Dataset:
    """Clips drawn and encoded once, where the plan says or among the user's caches, and read as any other (H-3)."""
    clips, seed = int(task.data.get("clips", 240)), int(task.data.get("seed", 0))
    where = folder / str(task.data["path"]) if "path" in task.data else None
    return read_video(generated_clips(clips=clips, seed=seed, folder=where))


def _generated_table(task: TaskPlan, folder: Path) -> Dataset:
    rows, seed = int(task.data.get("rows", 3000)), int(task.data.get("seed", 0))
    return guinea_pig_rows(str(task.data.get("kind", "")), rows, seed)


def _generated_lamps(task: TaskPlan, folder: Path) -> Dataset:
    """Clips of lamps, encoded once and read as any other folder of clips (H-39)."""
    where = folder / str(task.data["path"]) if "path" in task.data else None
    clips, seed = int(task.data.get("clips", 600)), int(task.data.get("seed", 0))
    made = guinea_pig_clips(str(task.data.get("kind", "")), clips, seed, where)
    found = read_media(made, "clip", Lists(made))
    labels = {TARGET: found.targets[TARGET]}  # "no" is the same turned round
    return replace(found, targets=labels, first_labels=found.targets[TARGET].astype(np.int64))


GENERATED: Final[Mapping[str, Callable[[TaskPlan, Path], Dataset]]] = {
    "generated-reviews": _generated_reviews,
    "generated-table": _generated_table,
    "generated-video": _generated_video,
    "generated-lamps": _generated_lamps,
}


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if isinstance(value, str) and value:
        return value
    raise SettingError(f'The data of reader {data.get("reader")!r} need `{key}`: write {key} = "…".')


def _with_targets(data: Dataset, task: TaskPlan) -> Dataset:
    """Only the targets that the plan names, in its order."""
    missing = [name for name in (*task.targets, *filter(None, [task.stratify_by])) if name not in data.targets]
    if missing:
        near = suggestion(missing[0], tuple(data.targets))
        raise UnknownNameError(f"Task {task.name}: the data have no target {missing[0]!r}. {near}")
    if task.group_by and data.groups is None:
        raise SettingError(f"Task {task.name}: the data have no groups, so group_by cannot be used. Remove it.")
    return data
