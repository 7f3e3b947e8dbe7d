"""An object store that speaks S3 on this machine, for tests: moto's server in a thread, with buckets that are empty."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from basanite.campaign.settings import Storage


@dataclass(frozen=True)
class ObjectStore:
    """A running store."""

    endpoint: str
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def fresh(self) -> Storage:
        """Settings with two buckets of their own."""
        import boto3

        secrets = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        client = boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **secrets)
        number = next(self._numbers)
        for name in ("files", "sealed"):
            client.create_bucket(Bucket=f"{name}-{number}")
        return Storage(
            files=f"s3://files-{number}/season",
            sealed=f"s3://sealed-{number}",
            endpoint=self.endpoint,
            region="us-east-1",
            key_id="test",
            secret="test",
            plain_http=True,
        )


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """A store that ends with the block."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield ObjectStore(f"http://{host}:{port}")
    finally:
        server.stop()
