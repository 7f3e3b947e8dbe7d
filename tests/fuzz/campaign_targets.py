"""Readers of what a server gets: campaign files, receipts, keys, sealed files, forms, crowd results, plans, results."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.target import EXAMPLES, Target, example, shown
from tests.work.test_batches import batch, read, results

from basanite.campaign.archive.rows import TABLES, row_from_line
from basanite.campaign.model.campaign_file import read_campaign
from basanite.campaign.notices.webhook_calls import RefusedAddressError, checked_url
from basanite.campaign.sealing import Lock, seal, unseal
from basanite.errors import BasaniteError
from basanite.harness.data.reviews import Columns, read_reviews
from basanite.harness.data.seals import read_commitment, read_seal
from basanite.harness.data.tables import read_table
from basanite.harness.foreign.exchange import ModuleError, read_array
from basanite.harness.plan_file import read_plan
from basanite.harness.results import read_split
from basanite.receipts.reproduction import open_bundle
from basanite.receipts.signatures import Keyring, Trust, verify
from basanite.reports.result_files import read_result

RECEIPTS = EXAMPLES / "receipts"
KEY = bytes(range(32))
NOW = datetime(2030, 1, 1, tzinfo=UTC)
FORM = (
    b'--xyz\r\nContent-Disposition: form-data; name="csrf"\r\n\r\ntoken\r\n--xyz\r\nContent-Disposition: form-data; '
    b'name="type"\r\n\r\nprimary\r\n--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n'
    b"Content-Type: application/gzip\r\n\r\n\x1f\x8b some bytes\r\n--xyz--\r\n"
)
ROW = {"id": "c1", "slug": "small", "made": "2030-01-01T00:00:00.000000+00:00"}
Read = Callable[[bytes, Path], object]


def targets() -> list[Target]:
    """All of them."""
    return [
        Target("campaign", "text", example("campaign/small.toml"), _campaign, 2),
        Target("large campaign", "text", example("campaign/material-base.toml"), _campaign, 20),
        Target("receipt", "json", example("receipts/score.receipt.json", "receipts/intake.receipt.json"), _receipt),
        Target("keys", "json", example("receipts/keys.json"), _keys),
        Target("bundle", "json", example("receipts/bundle/bundle.json"), _bundle),
        Target(
            "sealed file", "binary", lambda: [b"".join(seal([b"some", b" content"], Lock(KEY)))], _unseal(Lock(KEY))
        ),
        Target("sealed by words", "binary", _by_words, _unseal(Lock(b"words", passphrase=True)), 40),
        Target("form", "binary", lambda: [FORM], _form),
        Target("crowd results", "text", lambda: [results(batch())], lambda data, _: shown(read(data).problems)),
        Target("row of an export", "json", lambda: [json.dumps(ROW).encode()], _row),
        Target("webhook address", "text", lambda: [b"https://user.example.org:8443/a?b=c"], _url),
        Target("plan", "text", example("harness/quick.toml", "harness/sealed.toml"), _plan, 3),
        Target("seal", "json", example("harness/released.seal"), _path("a.seal", read_seal)),
        Target("commitment", "json", example("harness/released.commitment.json"), _path("a.json", read_commitment)),
        Target("array of a program", "binary", _arrays, _array),
        Target("table of data", "text", example("classification/Alpha.csv"), _table),
        Target("reviews", "ndjson", lambda: [REVIEWS], _reviews),
        Target("splits of a run", "zip", _splits, _path("a.npz", read_split)),
        Target("result", "json", lambda: [_result()], _path("a.json", lambda path: read_result(path, "Alpha"))),
    ]


def _campaign(data: bytes, place: Path) -> None:
    shown(read_campaign(data.decode("utf-8", "replace"))[1])


@cache
def _trust() -> Trust:
    return Trust.of(Keyring.of((RECEIPTS / "keys.json").read_bytes()))


def _receipt(data: bytes, place: Path) -> None:
    shown(verify(data, _trust(), NOW).problems)


def _keys(data: bytes, place: Path) -> None:
    trust = Trust.of(Keyring.of((RECEIPTS / "keys.json").read_bytes()), Keyring.of(data))
    shown(verify((RECEIPTS / "score.receipt.json").read_bytes(), trust, NOW).problems)


def _bundle(data: bytes, place: Path) -> None:
    (place / "bundle.json").write_bytes(data)
    found = open_bundle(place)
    for name in ("submission", "reference", "nothing"):
        found.note.get(name)


def _by_words() -> list[bytes]:
    return [b"".join(seal([b"content"], Lock(b"words", passphrase=True)))]


def _unseal(lock: Lock) -> Read:
    return lambda data, place: b"".join(unseal(io.BytesIO(data), lock))


def _form(data: bytes, place: Path) -> None:
    from basanite.server.pages.forms import _parse_pieces, _UploadReader

    for size in (7, 4096):
        taking = _UploadReader(place, 2**16, lambda given: None)
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        _parse_pieces(taking, "xyz", pieces).forget()
    assert not list(place.glob("form-*"))


def _row(data: bytes, place: Path) -> None:
    from basanite.errors import BasaniteError

    for table in TABLES.values():
        try:
            row_from_line(table, data)
        except BasaniteError as error:
            str(error).encode("utf-8", "replace")


def _url(data: bytes, place: Path) -> None:
    try:
        checked_url(data.decode("utf-8", "replace"))
    except RefusedAddressError as error:
        str(error)


def _plan(data: bytes, place: Path) -> None:
    (place / "plan.toml").write_bytes(data)
    shown(read_plan(place / "plan.toml")[1])


def _path(name: str, read_path: Callable[[Path], object]) -> Read:
    def read_it(data: bytes, place: Path) -> None:
        (place / name).write_bytes(data)
        read_path(place / name)

    return read_it


def _arrays() -> list[bytes]:
    made = []
    for array in (np.arange(12.0).reshape(3, 4), np.arange(5), np.asfortranarray(np.ones((3, 2), np.float32))):
        out = io.BytesIO()
        np.save(out, array)
        made.append(out.getvalue())
    return made


def _splits() -> list[bytes]:
    out = io.BytesIO()
    np.savez(out, fold_01=np.arange(4), fold_02=np.arange(4, 8), validation=np.arange(3), test=np.arange(5))
    return [out.getvalue()]


def _table(data: bytes, place: Path) -> None:
    (place / "data.csv").write_bytes(data)
    read_table(place / "data.csv", ["label"])


REVIEWS = b"".join(
    b'{"overall": %d.0, "reviewText": "a review of thirty letters or more, %d", "asin": "B%d"}\n' % (at, at, at % 2)
    for at in range(1, 6)
)


def _reviews(data: bytes, place: Path) -> None:
    (place / "data.json").write_bytes(data)
    for missing in ("refuse", "drop", "keep"):
        try:
            read_reviews(place / "data.json", Columns(missing=missing))
        except BasaniteError as refusal:
            str(refusal).encode("utf-8", "replace")


def _array(data: bytes, place: Path) -> None:
    (place / "a.npy").write_bytes(data)
    try:
        read_array(place / "a.npy", "a program")
    except ModuleError as error:
        str(error).encode("utf-8", "replace")


@cache
def _result() -> bytes:
    import basanite
    from basanite.analysis.results import score_object
    from basanite.canonical import dumps

    clir = EXAMPLES / "clir"
    found = basanite.score("clir", submission=clir / "Alpha.tgz", reference=clir / "key", draws=2)
    return dumps(score_object(found)).encode()
