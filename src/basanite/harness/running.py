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
from basanite.clusters.executor import Ready, connected, sharing
from basanite.errors import SettingError
from basanite.harness.building import Builder
from basanite.harness.conditions import runs
from basanite.harness.engine.graph import Begun, Outcome, Progress, Step, needed, run
from basanite.harness.engine.processes import one_thread, pool, single_threaded
from basanite.harness.engine.store import Store
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.surroundings import Surroundings, enter, surroundings
from basanite.harness.foreign.surroundings import planned as planned_surroundings
from basanite.harness.frozen.freezing import check_frozen
from basanite.harness.iterations import next_iteration
from basanite.harness.recording import Record, record, write_planned_steps
from basanite.harness.results import ResultFolder
from basanite.harness.steps.data import given

STEPS: Final = "steps"
LOGS: Final = "logs"
A_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Watcher:
    """Who is told how the work goes on."""

    progress: Progress = lambda outcome, finished, total: None
    begun: Begun = lambda step: None
    planned: Callable[[Sequence[Step], int], None] = lambda steps, reused: None
    """Called before the work with all steps, and how many of them are there already."""


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
    """Run a plan, or some runs of it, and write the result folder; on a cluster, which must share the folder."""
    told = watcher or Watcher()
    _check_names(evaluation, only)
    enter(
        planned_surroundings(evaluation.folder, evaluation.plan.limits, sealed=bool(evaluation.seal), logs=out / LOGS)
    )
    check_frozen(evaluation)
    iteration = next_iteration(evaluation, out, only, reason)
    builder = Builder(evaluation)
    planned = list(builder.planned(iteration.runs))
    store = Store((out / STEPS).resolve())
    store.clear_leftovers(older=A_DAY)
    for laid in builder.given.values():
        laid.lay(store)
    with one_thread_each(workers, cluster, out) as executor:
        outcomes = _performed([entry.scores for entry in planned if entry.scores], store, executor, told, out)
    record(Record(evaluation, out, store, planned, outcomes, iteration))
    return ResultFolder(out)


def _performed(
    wanted: Sequence[Step], store: Store, executor: Executor | None, told: Watcher, out: Path
) -> dict[str, Outcome]:
    steps = needed(wanted)
    write_planned_steps(out, steps)
    work = [step for step in steps if step.work is not given]
    told.planned(work, sum(store.has(step.key) for step in work))
    return run(wanted, store, executor=executor, progress=told.progress, begun=told.begun)


@contextmanager
def one_thread_each(workers: int, cluster: Cluster | None = None, shared: Path = Path()) -> Iterator[Executor | None]:
    """Processes for steps, each with one thread for linear algebra: other numbers of threads give other last digits.

    They are of this machine, or those of a cluster, which must see the shared folder under the same path.
    """
    if cluster is not None:
        with sharing(shared) as sign, connected(cluster, Ready(_at_work, (_absolute(surroundings()),), sign)) as far:
            yield far
        return
    if workers == 1:
        with single_threaded():
            yield None
        return
    with pool(workers, enter, surroundings()) as executor:
        yield executor


def _at_work(found: Surroundings) -> None:
    one_thread()
    enter(found)


def _absolute(found: Surroundings) -> Surroundings:
    """The same for processes that stand in other folders."""
    return replace(found, folder=found.folder.resolve(), logs=found.logs and found.logs.resolve())


def _check_names(evaluation: Evaluation, only: Sequence[str]) -> None:
    known = [run.name for run in runs([team.letter for team in evaluation.plan.teams])]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SettingError(f"There is no run {unknown[0]!r}. The runs of this plan are {', '.join(known)}.")
