"""`--dask` and `--dask-tls`: heavy work on a Dask cluster, for every command that has any (P-16)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.cli.options import PATH, Command

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from basanite.clusters.address import Cluster


def dask_option(command: Command, *, names: tuple[str, ...] = ("--dask",)) -> Command:
    """Add both options; the command gets one value `dask`, checked, or None."""
    certificates = click.option(
        "--dask-tls",
        "--cluster-tls",
        type=PATH,
        envvar="BASANITE_CLUSTER_TLS",
        expose_value=False,
        is_eager=True,
        callback=_keep_folder,
        help="Your certificates for it: a folder with ca.pem, cert.pem and key.pem.",
    )
    address = click.option(
        *names,
        "dask",
        metavar="ADDRESS",
        envvar="BASANITE_CLUSTER",
        callback=_read_cluster,
        help="Do heavy work on this Dask cluster: tls://HOST:PORT, or tcp://127.0.0.1:PORT.",
    )
    return address(certificates(command))


def dask_or_cluster_option(command: Command) -> Command:
    """The same where `--cluster` is free: in `score` and `compare` it names a column (S-28)."""
    return dask_option(command, names=("--dask", "--cluster"))


def on(cluster: Cluster | None) -> AbstractContextManager[Executor | None]:
    """The executor of a cluster, each of its processes with one thread for linear algebra; None without one."""
    from basanite.clusters.executor import Ready, connected

    return connected(cluster, Ready(_one_thread))


def _one_thread() -> None:
    from basanite.harness.engine.processes import one_thread

    one_thread()


def _keep_folder(ctx: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    ctx.meta["basanite.cluster_tls"] = value
    return value


def _read_cluster(ctx: click.Context, option: click.Parameter, value: str | None) -> Any:
    if not value:
        return None
    from basanite.clusters.address import Cluster

    return Cluster.of(value, ctx.meta.get("basanite.cluster_tls"))
