"""From what a plan says about its data to a data set."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError, UnknownNameError
from basanite.harness.data import builtin
from basanite.harness.data.dataset import Dataset
from basanite.harness.data.reviews import RATINGS, SHORTEST, Columns, read_reviews
from basanite.harness.data.tables import read_table
from basanite.harness.plan.model import TaskPlan
from basanite.harness.video.loading import generated_clips, read_video
from basanite.registry import suggestion

BUILTIN: Final[Mapping[str, Callable[[], Dataset]]] = {
    "digits": builtin.digits,
    "diabetes": builtin.diabetes,
    "breast_cancer": builtin.breast_cancer,
}
READERS: Final = (*BUILTIN, "reviews", "generated-reviews", "table", "video", "generated-video")


def load_data(task: TaskPlan, folder: Path) -> Dataset:
    """The data of a task; paths are taken from the folder of the plan."""
    reader = str(task.data.get("reader", ""))
    if reader in BUILTIN:
        return _with_targets(BUILTIN[reader](), task)
    if reader == "reviews":
        return _with_targets(_reviews(task, folder / _text(task.data, "path")), task)
    if reader == "generated-reviews":
        return _with_targets(_generated(task), task)
    if reader == "table":
        return _with_targets(_table(task, folder / _text(task.data, "path")), task)
    if reader == "video":
        return _with_targets(read_video(folder / _text(task.data, "path")), task)
    if reader == "generated-video":
        return _with_targets(_generated_video(task, folder), task)
    raise UnknownNameError(f"Task {task.name}: no data set is called {reader!r}. {suggestion(reader, READERS)}")


def _reviews(task: TaskPlan, path: Path) -> Dataset:
    text, group = str(task.data.get("text", "text")), task.group_by or str(task.data.get("group", "restaurant"))
    ratings = tuple(dict.fromkeys([*(task.targets or RATINGS), *filter(None, [task.stratify_by])]))
    columns = Columns(text, group, ratings)
    return read_reviews(path, columns, shortest=int(task.data.get("length", SHORTEST)))


def _table(task: TaskPlan, path: Path) -> Dataset:
    if not task.targets:
        raise SettingError(f"Task {task.name}: a table does not tell what is to be predicted. Name the targets.")
    group = task.group_by or str(task.data.get("group", ""))
    return read_table(path, task.targets, group=group, labels=task.metric == "map11")


def _generated(task: TaskPlan) -> Dataset:
    """Reviews written to a real file by the generator, and read back as any other (H-3)."""
    from basanite.synthetic.reviews import write_reviews

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        write_reviews(path, rows=int(task.data.get("rows", 2000)), seed=int(task.data.get("seed", 0)))
        return _reviews(task, path)


def _generated_video(task: TaskPlan, folder: Path) -> Dataset:
    """Clips drawn and encoded once, where the plan says or among the user's caches, and read as any other (H-3)."""
    clips, seed = int(task.data.get("clips", 240)), int(task.data.get("seed", 0))
    where = folder / str(task.data["path"]) if "path" in task.data else None
    return read_video(generated_clips(clips=clips, seed=seed, folder=where))


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
        raise SettingError(f"Task {task.name}: the data have no groups, so group_by cannot be used. Take it out.")
    return data
