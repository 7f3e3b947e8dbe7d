"""An object store that speaks S3 on this machine, for tests: moto's server in a thread, with buckets that are empty."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from basanite.campaign.settings import Storage

SHARED = ("all-files", "all-sealed")
"""Two buckets of which each office takes a part: making buckets takes time."""


@dataclass(frozen=True)
class ObjectStore:
    """A running store."""

    endpoint: str
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @cached_property
    def client(self) -> Any:
        """What speaks to it for the tests."""
        import boto3

        secrets = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **secrets)

    def fresh(self) -> Storage:
        """Settings with two buckets of their own."""
        number = next(self._numbers)
        for name in ("files", "sealed"):
            self.client.create_bucket(Bucket=f"{name}-{number}")
        return self._settings(f"s3://files-{number}/season", f"s3://sealed-{number}")

    def part(self) -> Storage:
        """Settings with parts of two buckets that all share; it takes no call."""
        number = next(self._numbers)
        files, sealed = self._shared
        return self._settings(f"s3://{files}/{number}", f"s3://{sealed}/{number}")

    def fill(self, address: str, folder: Path) -> None:
        """Put the files of a folder of copies at an address, under the names that they have there."""
        bucket, prefix = _parts(address)
        for path in sorted(folder.glob("??/*")):
            self.client.put_object(
                Bucket=bucket, Key=f"{prefix}/{path.parent.name}/{path.name}", Body=path.read_bytes()
            )

    def empty(self, storage: Storage) -> None:
        """Throw away everything at the addresses of an office."""
        for bucket, prefix in map(_parts, (storage.files, storage.sealed)):
            for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/"):
                if keys := [{"Key": one["Key"]} for one in page.get("Contents", ())]:
                    self.client.delete_objects(Bucket=bucket, Delete={"Objects": keys})

    @cached_property
    def _shared(self) -> tuple[str, str]:
        for name in SHARED:
            self.client.create_bucket(Bucket=name)
        return SHARED

    def _settings(self, files: str, sealed: str) -> Storage:
        return Storage(
            files=files,
            sealed=sealed,
            endpoint=self.endpoint,
            region="us-east-1",
            key_id="test",
            secret="test",
            plain_http=True,
        )


def _parts(address: str) -> tuple[str, str]:
    """The bucket and the prefix of an address."""
    split = urlsplit(address)
    return split.netloc, split.path.strip("/")


@contextmanager
def object_store(address: str = "127.0.0.1") -> Iterator[ObjectStore]:
    """A store that ends with the block, on loopback or at an address of this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address=address, port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield ObjectStore(f"http://{host}:{port}")
    finally:
        server.stop()
