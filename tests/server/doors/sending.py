"""Sending files as programs do: in one call, or in pieces."""

from __future__ import annotations

import hashlib

from basanite.cli.submit import metadata

SAID = {"campaign": "small", "task": "CLIR", "label": "alpha"}
TUS = {"Tus-Resumable": "1.0.0"}
PIECE = {"Content-Type": "application/offset+octet-stream"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def send_raw(client, token, content, **more):
    """A whole file in one call."""
    said = {"task": "CLIR", "label": "alpha", "sha256": sha256(content), **more}
    return client.post("/api/v1/campaigns/small/submissions", params=said, content=content, headers=bearer(token))


def begin(client, token, content, *, digest=None, length=None, **more):
    """Begin an upload in pieces."""
    said = SAID | more | {"sha256": digest or sha256(content)}
    size = str(len(content) if length is None else length)
    headers = bearer(token) | TUS | {"Upload-Length": size, "Upload-Metadata": metadata(said)}
    return client.post("/api/v1/uploads", headers=headers)


def send(client, token, place, offset, content, **headers):
    """Send one piece."""
    given = bearer(token) | TUS | PIECE | {"Upload-Offset": str(offset)} | headers
    return client.patch(place, content=content, headers=given)


def send_tus(client, token, content, **more):
    """A whole file in two pieces; the answer to the last of them, or to what was refused before."""
    begun = begin(client, token, content, **more)
    if begun.status_code != 201:
        return begun
    place, middle = begun.headers["location"], len(content) // 2
    first = send(client, token, place, 0, content[:middle])
    return send(client, token, place, middle, content[middle:]) if first.status_code == 204 else first
