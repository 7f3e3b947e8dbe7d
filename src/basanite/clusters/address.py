"""Where a cluster is, and whether we may speak to it: on this machine, or by mutual TLS (X-15).

A Dask scheduler has no login: anyone who reaches it can run any code on its workers, and reads what is sent.
"""

from __future__ import annotations

import ipaddress
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from basanite.errors import SettingError

TLS_FILES: Final = ("ca.pem", "cert.pem", "key.pem")
"""The certificate of anyone who signs for this cluster, ours, and its key."""
SCHEMES: Final = ("tcp", "tls")


class ClusterError(SettingError):
    """A cluster cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Cluster:
    """The address of a scheduler, and the folder of certificates where there is one."""

    address: str
    tls: Path | None = None

    @classmethod
    def of(cls, address: str, tls: Path | None = None) -> Cluster:
        """A cluster that may be used; refused if what is sent could be read, or the scheduler be anybody.

        >>> Cluster.of("127.0.0.1:8786").address
        'tcp://127.0.0.1:8786'
        >>> Cluster.of("tcp://10.0.0.5:8786")
        Traceback (most recent call last):
        ...
        basanite.clusters.address.ClusterError: tcp://10.0.0.5:8786 is on another machine, so it needs TLS. ...
        """
        found = cls(address if "://" in address else f"tcp://{address}", tls)
        _check_form(found.address)
        if not is_secure_address(found.address):
            raise ClusterError(
                f"{found.address} is on another machine, so it needs TLS. Start scheduler and workers with "
                "certificates, write tls://HOST:PORT, and name the folder of yours: --dask-tls FOLDER."
            )
        if found.uses_tls:
            _check_certificates(found)
        return found

    @property
    def uses_tls(self) -> bool:
        """Whether everything is encrypted, and both sides show certificates."""
        return urlsplit(self.address).scheme == "tls"

    def security(self) -> Any:
        """What Dask calls it: our certificates, and nothing without encryption."""
        from distributed.security import Security

        if not self.uses_tls or self.tls is None:
            return None
        ca, certificate, key = (str(self.tls / name) for name in TLS_FILES)
        return Security(tls_ca_file=ca, tls_client_cert=certificate, tls_client_key=key, require_encryption=True)


def is_secure_address(address: str) -> bool:
    """Whether nobody between here and this address can listen: it is encrypted, or on this machine.

    >>> [is_secure_address(one) for one in ("tls://10.0.0.5:1", "tcp://[::1]:1", "tcp://localhost:1", "tcp://cluster:1")]
    [True, True, True, False]
    """
    parts = urlsplit(address)
    if parts.scheme in ("tls", "inproc"):
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"


def _check_form(address: str) -> None:
    try:
        parts = urlsplit(address)
        good = parts.scheme in SCHEMES and parts.hostname and parts.port and not parts.path.strip("/")
    except ValueError:  # a port that is none
        good = False
    if not good:
        raise ClusterError(
            f"{address!r} is not an address of a cluster. Write tls://HOST:PORT, or tcp://127.0.0.1:PORT."
        )


def _check_certificates(cluster: Cluster) -> None:
    if cluster.tls is None:
        raise ClusterError(
            f"{cluster.address} needs certificates. Put {', '.join(TLS_FILES)} into a folder: --dask-tls FOLDER."
        )
    missing = [name for name in TLS_FILES if not (cluster.tls / name).is_file()]
    if missing:
        raise ClusterError(f"{cluster.tls} has no {', '.join(missing)}. It must hold {', '.join(TLS_FILES)}.")
    key = cluster.tls / TLS_FILES[-1]
    if stat.S_IMODE(key.stat().st_mode) & 0o077:
        raise ClusterError(f"Others can read {key}. Revoke their access: chmod 600 {key}")
