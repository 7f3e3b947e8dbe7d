"""The executor of a cluster: what it is given runs on Dask's workers, and gives the same numbers as here.

The work of a `map` is sent once and kept by workers, for it may hold all features; it is a task like any other, so a
worker that is killed takes nothing with it. Before each task a worker makes itself ready: one thread for linear
algebra, the surroundings of a plan, and a look whether it sees the folder that everybody shares.
"""

from __future__ import annotations

import pickle
import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from basanite.clusters.address import Cluster, ClusterError, is_secure_address
from basanite.extras import named_extras

CONNECT_SECONDS: Final = 15.0
WORKER_SECONDS: Final = 30.0
FOLDER_SECONDS: Final = 10.0
"""How long a worker waits until a file that was just written is seen through a network file system."""
DECIDING: Final = ("basanite", "numpy", "scipy", "scikit-learn")
"""Packages whose versions decide about last digits: workers must have ours."""

_alone = threading.Lock()


@dataclass(frozen=True)
class Ready:
    """What a worker does before each task; the same again and again does no harm."""

    begin: Callable[..., None] | None = None
    told: tuple[Any, ...] = ()
    sign: Path | None = None
    """A file that a worker must see: it lies in the folder where results go."""
    patience: float = FOLDER_SECONDS
    expected: Mapping[str, str] | None = None
    """The versions that a worker must have; it may have joined after those of all were compared."""

    def look(self) -> None:
        """Refuse to work where the shared folder is not, or numbers could differ."""
        if self.expected is not None and versions() != self.expected:
            raise ClusterError(_unlike(platform.node(), self.expected, versions()))
        latest = time.monotonic() + self.patience
        while self.sign is not None and not self.sign.exists():
            if time.monotonic() > latest:
                raise ClusterError(
                    f"The worker on {platform.node()} cannot access {self.sign.parent}. Results are kept in a folder "
                    "that all machines share under one path: give such a folder with --out."
                )
            time.sleep(0.2)

    def perform(self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Do the work; one task at a time in a process where surroundings belong to the process."""
        self.look()
        if self.begin is None:
            return work(*args, **kwargs)
        with _alone:
            self.begin(*self.told)
            return work(*args, **kwargs)


class ClusterExecutor(Executor):
    """Dask's own executor with our way of sending work."""

    def __init__(self, client: Any, ready: Ready) -> None:
        self._client, self._ready = client, ready
        self._tasks = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """One task, with all that it needs."""
        done: Future[Any] = self._tasks.submit(_unpack_and_perform, _pickle((self._ready, fn)), _pickle((args, kwargs)))
        return done

    def map(
        self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[Any]:
        """The results in order; the function goes to each worker once, however much it holds."""
        held = self._client.submit(pickle.loads, _pickle((self._ready, fn)), pure=False)
        waiting = [self._tasks.submit(_perform, held, _pickle((args, {}))) for args in zip(*iterables, strict=False)]
        return (_result(future, timeout) for future in waiting)


@contextmanager
def cluster_executor(cluster: Cluster | None, ready: Ready | None = None) -> Iterator[Executor | None]:
    """The executor of a cluster while it is needed; None, and nothing of Dask, where there is no cluster."""
    if cluster is None:
        yield None
        return
    with _client(cluster) as client:
        _check_workers(client, cluster)
        try:
            yield ClusterExecutor(client, replace(ready or Ready(), expected=versions()))
        except CancelledError as error:
            raise ClusterError(
                f"The scheduler at {cluster.address} has gone. What was finished is kept: start it, and call the same "
                "command again."
            ) from error


@contextmanager
def shared_folder_sign(folder: Path) -> Iterator[Path]:
    """A file in a folder by which workers know that they see the same folder; it goes when the work is done."""
    folder.mkdir(parents=True, exist_ok=True)
    sign = folder.resolve() / f".cluster-{token_hex(16)}"
    sign.touch()
    try:
        yield sign
    finally:
        sign.unlink(missing_ok=True)


def workers_at(cluster: Cluster) -> int:
    """How many workers a cluster has now."""
    with _client(cluster) as client:
        _check_shelter(client)
        return len(client.scheduler_info(n_workers=-1)["workers"])


@contextmanager
def _client(cluster: Cluster) -> Iterator[Any]:
    with named_extras():
        import dask
        from distributed import Client
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # features may be large
        try:
            client = Client(cluster.address, security=cluster.security(), timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"No scheduler answers at {cluster.address}. Start one (`dask scheduler`), or correct the address and "
                f"its certificates. The error was: {error}"
            ) from error
        try:
            yield client
        finally:
            client.close(timeout=CONNECT_SECONDS)


def _check_workers(client: Any, cluster: Cluster) -> None:
    """Refuse a cluster that nobody works for, whose parts speak openly, or whose numbers could differ."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError as error:
        raise ClusterError(
            f"{cluster.address} has no workers. Start some: dask worker {cluster.address} --nthreads 1"
        ) from error
    _check_shelter(client)
    ours, found = versions(), client.run(versions, on_error="return")
    for where, theirs in sorted(found.items()):
        if theirs != ours:
            raise ClusterError(_unlike(where, ours, theirs))


def _check_shelter(client: Any) -> None:
    """A scheduler on this machine may have workers elsewhere, and then anybody between could listen (X-15)."""
    told = client.scheduler_info(n_workers=-1)
    bare = [address for address in (told["address"], *told["workers"]) if not is_secure_address(address)]
    if bare:
        raise ClusterError(
            f"The cluster accepts remote connections without TLS, at {bare[0]}. Start the scheduler with --host "
            "127.0.0.1, or everything with certificates."
        )


@cache
def versions() -> dict[str, str]:
    """What decides about the numbers of this process."""
    return {"python": ".".join(platform.python_version_tuple()[:2]), **{name: version(name) for name in DECIDING}}


def _unlike(where: str, ours: Mapping[str, str], theirs: Any) -> str:
    if not isinstance(theirs, Mapping):
        return f"The worker at {where} cannot run Basanite. Install it there as here. The error was: {theirs!r}"
    odd = next(name for name in ours if theirs.get(name) != ours[name])
    return (
        f"The worker at {where} has {odd} {theirs.get(odd)}, and here is {ours[odd]}: results could differ. Install "
        "the same versions everywhere."
    )


def _pickle(what: Any) -> bytes:
    """Values as bytes that Dask does not look into; functions of ours go by name."""
    import cloudpickle

    packed: bytes = cloudpickle.dumps(what)
    return packed


def _perform(work: tuple[Ready, Callable[..., Any]], given: bytes) -> Any:
    """On a worker: make ready and do the work."""
    (ready, fn), (args, kwargs) = work, pickle.loads(given)
    return ready.perform(fn, args, kwargs)


def _unpack_and_perform(work: bytes, given: bytes) -> Any:
    return _perform(pickle.loads(work), given)


def _result(future: Future[Any], timeout: float | None) -> Any:
    """A result, or the reason why there is none in words that help."""
    from distributed.scheduler import KilledWorker

    try:
        return future.result(timeout)
    except FileNotFoundError as error:
        raise ClusterError(
            f"A worker does not find {error.filename}. A file that is read as it is used must lie in a folder that all "
            "machines share under one path."
        ) from error
    except KilledWorker as error:
        raise ClusterError(
            f"The same piece of work stopped several workers, so it was abandoned ({error}). They may have too little "
            "memory."
        ) from error
