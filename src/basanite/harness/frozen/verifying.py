"""Whether a result folder can be accepted: signature, plan, partitions, predictions, and scores made again from them.

The folder may be a stranger's: nothing in it is unpickled, nothing outside it is followed, sizes are checked before
anything is read (X-5).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.errors import BasaniteError
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.exchange import read_array
from basanite.harness.frozen.keys import SigningKey
from basanite.harness.frozen.signing import signature_faults
from basanite.harness.results import ResultFolder, run_name
from basanite.harness.steps.scoring import Measure

TOLERANCE: Final = 1e-9


def faults(folder: Path, key: SigningKey | None = None, evaluation: Evaluation | None = None) -> list[str]:
    """Everything that speaks against a result folder; nothing if it can be accepted."""
    wrong = signature_faults(folder, key) if key else []
    try:
        result = ResultFolder(folder)
        wrong += list(_manifest_faults(result, evaluation))
        wrong += list(_prediction_faults(result))
    except (BasaniteError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        wrong.append(f"it cannot be read: {error}")
    return wrong


def _manifest_faults(result: ResultFolder, evaluation: Evaluation | None) -> Iterator[str]:
    manifest = result.manifest
    said = json.dumps(manifest["plan"], sort_keys=True, ensure_ascii=False, allow_nan=False)
    if manifest["plan_digest"] != f"sha256:{hashlib.sha256(said.encode()).hexdigest()}":
        yield "its plan is not the one whose digest it names"
    if evaluation is None:
        return
    plan = evaluation.plan.canonical()
    for name in ("tasks", "replications", "claims", "name"):
        if manifest["plan"].get(name) != json.loads(json.dumps(plan[name])):
            yield f"its plan has other {name} than yours"
    if manifest["partitions"] != evaluation.shown_digests():
        yield "it was run on other partitions"
    mine = {f"{team['letter']}": team for team in plan["teams"]}
    for team in manifest["plan"]["teams"]:
        if json.loads(json.dumps(mine.get(team["letter"]))) != team:
            yield f"its team {team['letter']} has another system than in your plan"


def _prediction_faults(result: ResultFolder) -> Iterator[str]:
    """Predictions of every run that ended well: whole, finite, and giving the scores that are told."""
    told = {(s.task, s.run, s.replication, s.target, s.fold): s.value for s in result.scores()}
    for status in result.status():
        for target in result.targets(status.task) if status.state == "done" else ():
            place = Path(status.task, run_name(status.run, status.replication), f"{target}.npy")
            found = read_array(_inside(result.path, Path("predictions") / place), str(place))
            rows, folds = len(result.split(status.task, target).test), result.task(status.task)["folds"]
            if found.shape != (folds, rows) or not np.isfinite(found).all():
                yield f"predictions {place} are not {folds} x {rows} finite numbers"
                continue
            yield from _score_faults(result, status, target, found, told)


def _score_faults(result: ResultFolder, status: Any, target: str, found: Any, told: Any) -> Iterator[str]:
    path = Path("truth") / status.task / f"{target}.npy"
    if not (result.path / path).is_file():
        return
    truth = read_array(_inside(result.path, path), str(path))
    task = result.task(status.task)
    measure = Measure(task["metric"], tuple(task["range"]) if task["range"] else None)
    for fold, scores in enumerate(found, start=1):
        name = (status.task, status.run, status.replication, target, fold)
        made, said = measure.value(truth, scores), told.get(name)
        if (made is None) != (said is None) or (made is not None and said is not None and abs(made - said) > TOLERANCE):
            yield f"the score of run {status.run}, {target}, fold {fold} is {said} and its predictions give {made}"


def _inside(folder: Path, path: Path) -> Path:
    """A file of the folder, with no link on the way."""
    place = folder
    for part in path.parts:
        place = place / part
        if place.is_symlink():
            raise ValueError(f"{path} is a link")
    return place
