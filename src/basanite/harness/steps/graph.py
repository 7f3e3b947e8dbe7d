"""Steps and how they run: each has a key made of its inputs' keys, its parameters and its code, never of arrays.

A step whose key is in the store is not run again. A step that fails does not stop the others: what depends on it is
left out, and its reason is kept (A35). Steps run here, or on any `concurrent.futures.Executor`, and give the same
bytes either way: each process has one thread for linear algebra, and none outlives anyone who started it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeAlias

from basanite.clusters.threads import one_thread
from basanite.errors import BasaniteError
from basanite.harness.steps.store import Store, Value
from basanite.sandbox import kernel

Ended: TypeAlias = tuple[float, str, int]
Work: TypeAlias = Callable[..., Value]
"""`work(**inputs, **parameters)`: a module-level function without side effects; inputs are values of other steps.

Parameters are plain data and part of the key, each by its name, so work of many parameters has many arguments."""


@dataclass(frozen=True, eq=False)
class Step:
    """One piece of work: what it is called, what it does, what it needs, and by which version of the code."""

    name: str
    work: Work
    inputs: Mapping[str, Step] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    code: str = "1"
    """The version of what is computed; a change of it is a change of the key."""
    mapped: bool = False
    """Whether the work reads dense inputs from disk as it uses them; it changes no result, so it is not in the key."""

    @cached_property
    def key(self) -> str:
        """The hash of everything that the result depends on."""
        inputs = {name: step.key for name, step in self.inputs.items()}
        told = {"work": f"{self.work.__module__}.{self.work.__qualname__}", "code": self.code}
        said = json.dumps({**told, "inputs": inputs, "parameters": dict(self.parameters)}, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """How a step ended: `done`, `reused`, `failed` with a reason, or `blocked` by one that failed."""

    step: Step
    state: str
    seconds: float = 0.0
    reason: str = ""
    peak: int = 0
    """The most memory, in bytes, that the process had used when the step ended."""

    @property
    def good(self) -> bool:
        """Whether its result is in the store."""
        return self.state in ("done", "reused")


Progress: TypeAlias = Callable[[Outcome, int, int], None]
"""Called after each step with how many are finished and how many there are."""
Begun: TypeAlias = Callable[[Step], None]
"""Called when a step is about to run."""


def run(
    wanted: Iterable[Step],
    store: Store,
    *,
    executor: Executor | None = None,
    progress: Progress = lambda outcome, finished, total: None,
    begun: Begun = lambda step: None,
) -> dict[str, Outcome]:
    """Have all these steps, and what they need, in the store; gives the outcome of each by key."""
    order = steps_in_order(wanted)
    runner = _Runner(order, store, progress, begun)
    return runner.here() if executor is None else runner.elsewhere(executor)


def steps_in_order(wanted: Iterable[Step]) -> list[Step]:
    """The steps and all that they stand on, each once, before what needs it."""
    order: dict[str, Step] = {}

    def visit(step: Step) -> None:
        if step.key not in order:
            for other in step.inputs.values():
                visit(other)
            order.setdefault(step.key, step)

    for step in wanted:
        visit(step)
    return list(order.values())


def perform(step: Step, root: Path) -> tuple[float, str, int]:
    """Do one step and keep its result; gives the seconds it took, the reason if it failed, and the peak of memory."""
    store, start = Store(root), time.perf_counter()
    try:
        inputs = {name: store.load(other.key, mapped=step.mapped) for name, other in step.inputs.items()}
        with counted_warnings() as told:  # work that streams goes on while it is saved
            store.save(step.key, step.work(**inputs, **step.parameters), told)
    except Exception as error:  # noqa: BLE001  a team's module may raise anything, and the others go on (A35)
        reason = "".join(traceback.format_exception_only(error)).strip()
        return time.perf_counter() - start, reason or type(error).__name__, _peak()
    return time.perf_counter() - start, "", _peak()


ABOUT_CODE: Final = (DeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)
"""Warnings for authors of a library, not for readers of a result."""


@contextmanager
def counted_warnings() -> Iterator[dict[str, int]]:
    """Warnings of libraries, how often by their first line: a result carries them, a terminal need not (H-37)."""
    found: dict[str, int] = {}

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        line = f"{category.__name__}: {next(iter(str(message).strip().splitlines()), '')}"
        found[line] = found.get(line, 0) + 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in ABOUT_CODE:
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = note
        yield found


def _peak() -> int:
    """The most memory this process has used; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class _Runner:
    """One run of a graph: what has ended, and what waits for what."""

    def __init__(self, order: Sequence[Step], store: Store, progress: Progress, begun: Begun) -> None:
        self.order, self.store, self.progress, self.begun = order, store, progress, begun
        self.outcomes: dict[str, Outcome] = {}

    def here(self) -> dict[str, Outcome]:
        """One step after the other."""
        for step in self.order:
            settled = self._outcome_without_work(step)
            if settled is None:
                self.begun(step)
                settled = self._outcome(step, *perform(step, self.store.root))
            self._end(settled)
        return self.outcomes

    def elsewhere(self, executor: Executor) -> dict[str, Outcome]:
        """As many steps at a time as the executor takes, each as soon as what it needs is there."""
        waiting, running = list(self.order), dict[Future[Ended], Step]()
        while waiting or running:
            waiting = [step for step in waiting if not self._try_start(step, executor, running)]
            if running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    self._end(self._future_outcome(running.pop(future), future))
        return self.outcomes

    def _try_start(self, step: Step, executor: Executor, running: dict[Future[Ended], Step]) -> bool:
        """Whether a step has ended or is on its way."""
        if any(other.key not in self.outcomes for other in step.inputs.values()):
            return False
        settled = self._outcome_without_work(step)
        if settled:
            self._end(settled)
        else:
            self.begun(step)
            running[executor.submit(perform, step, self.store.root)] = step
        return True

    def _outcome_without_work(self, step: Step) -> Outcome | None:
        """The outcome of a step that needs no work, or cannot have any."""
        bad = [other.name for other in step.inputs.values() if not self.outcomes[other.key].good]
        if self.store.has(step.key):
            return Outcome(step, "reused")
        return Outcome(step, "blocked", reason=f"{bad[0]} failed") if bad else None

    def _future_outcome(self, step: Step, future: Future[Ended]) -> Outcome:
        error = future.exception()
        if isinstance(error, BasaniteError):  # steps keep what they raise to themselves: this is about the cluster
            raise error
        return (
            self._outcome(step, 0.0, f"the worker died: {error!r}") if error else self._outcome(step, *future.result())
        )

    def _outcome(self, step: Step, seconds: float, reason: str, peak: int = 0) -> Outcome:
        return Outcome(step, "failed" if reason else "done", seconds, reason, peak)

    def _end(self, outcome: Outcome) -> None:
        self.outcomes[outcome.step.key] = outcome
        self.progress(outcome, len(self.outcomes), len(self.order))


def pool(workers: int, begin: Callable[..., None] | None = None, *told: Any) -> ProcessPoolExecutor:
    """So many processes, started afresh: a fork would inherit threads half-way; `begin(*told)` runs first in each."""
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(os.getpid(), begin, told)
    )


def _begin(parent: int, begin: Callable[..., None] | None, told: tuple[Any, ...]) -> None:
    _end_with(parent)
    one_thread()
    if begin is not None:
        begin(*told)


def _end_with(parent: int) -> None:
    """Be killed when the parent is gone, however it ended: nobody would fetch what is computed here."""
    if sys.platform != "linux":
        return
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it went before the line above could take hold
