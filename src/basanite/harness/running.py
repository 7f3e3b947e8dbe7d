"""Running a plan: every step that is not there yet, then the result folder, the same bytes however often it was killed.

A run that fails does not stop the others; it is written down with its reason (A35). Runs can be redone later under a
changed plan as a numbered iteration with a reason (H-33).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from basanite.clusters.address import Cluster
from basanite.clusters.executor import Ready, cluster_executor, shared_folder_sign
from basanite.clusters.threads import one_thread, single_threaded
from basanite.errors import SettingError
from basanite.harness.conditions import runs
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import Surroundings, enter, surroundings, surroundings_of_plan
from basanite.harness.frozen.freeze import check_frozen
from basanite.harness.pipeline import Builder
from basanite.harness.records import Record, next_iteration, record, write_planned_steps
from basanite.harness.results import ResultFolder
from basanite.harness.steps.graph import (
    Begun,
    Outcome,
    Progress,
    Step,
    pool,
    run,
    steps_in_order,
)
from basanite.harness.steps.layout import refuse_missing_data
from basanite.harness.steps.store import Store

STEPS: Final = "steps"
LOGS: Final = "logs"
A_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Watcher:
    """The functions that are called as the work goes on."""

    progress: Progress = lambda outcome, finished, total: None
    begun: Begun = lambda step: None
    planned: Callable[[Sequence[Step], int], None] = lambda steps, reused: None
    """Called before the work with all steps, and how many of them are there already."""


@dataclass(frozen=True)
class Places:
    """Where steps are run: in so many processes of this machine, or on a cluster."""

    workers: int = 1
    cluster: Cluster | None = None


def run_plan(
    evaluation: Evaluation,
    out: Path,
    *,
    only: Sequence[str] = (),
    reason: str = "",
    workers: int = 1,
    cluster: Cluster | None = None,
    watcher: Watcher | None = None,
) -> ResultFolder:
    """Run a plan, or some runs of it, and write the result folder; on a cluster, which must share the folder.

    One named argument for each option of `basanite harness run`: guides call it so.
    """
    told = watcher or Watcher()
    known = [run.name for run in runs([team.letter for team in evaluation.plan.teams])]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SettingError(f"There is no run {unknown[0]!r}. The runs of this plan are {', '.join(known)}.")
    limits, sealed = evaluation.plan.limits, bool(evaluation.seal)
    enter(surroundings_of_plan(evaluation.folder, limits, sealed=sealed, logs=out / LOGS))
    check_frozen(evaluation)
    iteration = next_iteration(evaluation, out, only, reason)
    builder = Builder(evaluation)
    planned = list(builder.planned_runs(iteration.runs))
    store = Store((out / STEPS).resolve())
    store.clear_leftovers(older=A_DAY)
    for laid in builder.given.values():
        laid.lay(store)
    with one_thread_each(Places(workers, cluster), out) as executor:
        outcomes = _run_steps([entry.scores for entry in planned if entry.scores], store, executor, told, out)
    record(Record(evaluation, out, store, planned, outcomes, iteration))
    return ResultFolder(out)


def _run_steps(
    wanted: Sequence[Step], store: Store, executor: Executor | None, told: Watcher, out: Path
) -> dict[str, Outcome]:
    steps = steps_in_order(wanted)
    write_planned_steps(out, steps)
    work = [step for step in steps if step.work is not refuse_missing_data]
    told.planned(work, sum(store.has(step.key) for step in work))
    return run(wanted, store, executor=executor, progress=told.progress, begun=told.begun)


@contextmanager
def one_thread_each(places: Places, shared: Path = Path()) -> Iterator[Executor | None]:
    """Processes for steps, each with one thread for linear algebra: other numbers of threads give other last digits.

    They are of this machine, or those of a cluster, which must see the shared folder under the same path.
    """
    if places.cluster is not None:
        found = surroundings()  # its paths are made absolute: processes elsewhere stand in other folders
        found = replace(found, folder=found.folder.resolve(), logs=found.logs and found.logs.resolve())
        with (
            shared_folder_sign(shared) as sign,
            cluster_executor(places.cluster, Ready(_at_work, (found,), sign)) as far,
        ):
            yield far
        return
    if places.workers == 1:
        with single_threaded():
            yield None
        return
    with pool(places.workers, enter, surroundings()) as executor:
        yield executor


def _at_work(found: Surroundings) -> None:
    one_thread()
    enter(found)
