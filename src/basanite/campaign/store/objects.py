"""Files in an object store that speaks S3: the truth lies there, and each machine keeps copies of what it has used.

Needs the extra `s3` (obstore). Credentials come from the settings or from the environment, as AWS' own tools take them.
An object is written under the digest of its plain content, once and never again; what a lock encrypts is encrypted
before it leaves the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from basanite.campaign.settings import Storage
from basanite.errors import BasaniteError
from basanite.extras import missing_extra

PIECE = 2**20


class ObjectStoreError(BasaniteError):
    """The object store cannot be used: the extra is missing, the address is wrong, or it does not answer."""


class Bucket:
    """One prefix of one bucket."""

    def __init__(self, address: str, storage: Storage) -> None:
        self.address = address
        self.store = _open_store(address, storage)

    def has(self, name: str) -> bool:
        """Whether there is such an object."""
        import obstore

        try:
            obstore.head(self.store, name)
        except FileNotFoundError:
            return False
        return True

    def size(self, name: str) -> int:
        """How long an object is; FileNotFoundError if there is none."""
        import obstore

        return int(obstore.head(self.store, name)["size"])

    def names(self) -> Iterator[str]:
        """The names of all objects."""
        import obstore

        for found in obstore.list(self.store):
            yield from (str(one["path"]) for one in found)

    def put(self, name: str, path: Path) -> None:
        """Write a file as an object, in parts where it is long; two who write one digest write the same content."""
        import obstore

        obstore.put(self.store, name, path)

    def get(self, name: str) -> Iterator[bytes]:
        """The content of an object in pieces; FileNotFoundError if there is none."""
        import obstore

        for piece in obstore.get(self.store, name).stream(min_chunk_size=PIECE):
            yield bytes(piece)


def _open_store(address: str, storage: Storage) -> Any:
    try:
        from obstore.store import S3Store
    except ModuleNotFoundError as error:
        raise ObjectStoreError(str(missing_extra("obstore"))) from error
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.netloc:
        raise ObjectStoreError(f"{address!r} is not a bucket address: write s3://BUCKET/PREFIX.")
    given = {
        "endpoint": storage.endpoint,
        "region": storage.region,
        "access_key_id": storage.key_id,
        "secret_access_key": storage.secret,
    }
    options: Any = {name: value for name, value in given.items() if value}
    return S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        config=options,
        client_options={"allow_http": storage.plain_http, "timeout": "60s"},
    )
