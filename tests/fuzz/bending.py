"""Valid files bent out of shape: what a stranger, a broken disk or a clever enemy might send instead.

Bytes that mean nothing are refused by the first line of any reader. What finds faults is a file that is almost right,
so each kind of file is taken apart as its readers do, changed inside, and put together again. Everything depends on the
dice alone: the same seed bends the same file the same way.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any, Final

LARGEST: Final = 2**20
TOKENS: Final = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b"\x0b", b"\x1b[31m", b'"', b"'", b"\\", b"{",
    b"}",
    b"[", b"]", b"(", b")", b"<", b">", b",", b";", b":", b"=", b"#", b"--", b"---\n", b"&a", b"*a",
    b"!!python/none", b"%",
    b"nan", b"NaN", b"inf", b"-Infinity", b"1e400", b"-1", b"0", b"1e-400", b"9" * 30, b"9" * 5000, b"0x10",
    b"1_000", b"-0",
    b"null", b"true", b"[]", b"{}", b'""', b"..", b"../", b"/", b"C:\\", b"\\u0000", b"\\ud800", b"${x}", b"{{x}}",
    b"%s",
    "\u202e".encode(), "\u0661\u0662".encode(), "\u00b2".encode(), "\ufeff".encode(), "\U0001f600".encode(),
    "e\u0301".encode(),
    "\u2028".encode(), b"\xed\xa0\x80", b"\xc0\x80", b"\x80", b"[" * 200, b"(" * 2000, b"{" * 100, b'{"a":' * 70,
    b"<!DOCTYPE x>",
)  # fmt: skip
VALUES: Final = (
    None, True, False, 0, -1, 1, 2**63, -(2**63), 10**30, 10**400, 1e308, 0.1, float("nan"), float("inf"), "", " ",
    "\0",
    "x" * 5000, "\u202e", "\ud800", "\u0661", "0", "-1", "nan", "1e400", [], {}, [[]], [None], {"": None}, ["a",
    "a"], "../x",
)  # fmt: skip


def bent(data: bytes, kind: str, dice: Random) -> bytes:
    """The file with one to four changes, of the sort that its kind allows."""
    ways = (*KINDS.get(kind, ()), *(KINDS["text"] if kind in LINES else ()), *PLAIN)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 4))):
        data = dice.choice(ways)(data, dice)[:LARGEST]
    return data


def _flipped(data: bytes, dice: Random) -> bytes:
    held = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8))):
        if held:
            held[dice.randrange(len(held))] ^= 1 << dice.randrange(8)
    return bytes(held)


def _cut(data: bytes, dice: Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _removed(data: bytes, dice: Random) -> bytes:
    start, length = dice.randrange(len(data) + 1), dice.choice((1, 2, 7, 64, 600))
    return data[:start] + data[start + length :]


def _repeated(data: bytes, dice: Random) -> bytes:
    start, length = dice.randrange(len(data) + 1), dice.choice((1, 8, 64, 512, len(data)))
    piece = data[start : start + length]
    return data[: start + length] + piece * dice.choice((1, 2, 20)) + data[start + length :]


def _put_in(data: bytes, dice: Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(TOKENS) + data[at:]


def _written_over(data: bytes, dice: Random) -> bytes:
    at, token = dice.randrange(len(data) + 1), dice.choice(TOKENS)
    return data[:at] + token + data[at + len(token) :]


def _lines(data: bytes, dice: Random) -> bytes:
    """A line left out, twice, or elsewhere."""
    lines = data.split(b"\n")
    line = lines.pop(dice.randrange(len(lines)))
    for _ in range(dice.choice((0, 1, 2))):
        lines.insert(dice.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _cell(data: bytes, dice: Random) -> bytes:
    """One word of one line is another."""
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    mark = dice.choice([mark for mark in (b"\t", b",", b" ", b":", b"=", b'"') if mark in lines[at]] or [b" "])
    cells = lines[at].split(mark)
    cells[dice.randrange(len(cells))] = dice.choice((*TOKENS, b"", dice.choice(cells)))
    lines[at] = mark.join(cells)
    return b"\n".join(lines)


def _json(data: bytes, dice: Random) -> bytes:
    """One value of the document is another."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return _put_in(data, dice)
    return json.dumps(_changed(value, dice), ensure_ascii=dice.random() < 0.8).encode("utf-8", "surrogatepass")


def _json_line(data: bytes, dice: Random) -> bytes:
    lines = data.split(b"\n")
    at = dice.randrange(len(lines))
    lines[at] = _json(lines[at], dice)
    return b"\n".join(lines)


def _changed(value: Any, dice: Random) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.85:
        return _changed_map(value, dice)
    if isinstance(value, list) and value and dice.random() < 0.85:
        at = dice.randrange(len(value))
        return [*value[:at], _changed(value[at], dice), *value[at + dice.choice((0, 1, 1, 1)) :]]
    return dice.choice((*VALUES, _deep(dice)))


def _changed_map(value: dict[str, Any], dice: Random) -> dict[str, Any]:
    key, changed = dice.choice(sorted(value)), dict(value)
    way = dice.random()
    if way < 0.7:
        changed[key] = _changed(value[key], dice)
    elif way < 0.85:
        del changed[key]
    else:
        changed[dice.choice(("", "extra", "\u202e", key.upper(), key + " "))] = changed.pop(key)
    return changed


def _deep(dice: Random) -> Any:
    found: Any = 1
    for _ in range(dice.choice((10, 70, 300))):
        found = [found] if dice.random() < 0.5 else {"a": found}
    return found


def _members(data: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [
            (one, (archive.extractfile(one) or io.BytesIO()).read()) for one in archive.getmembers() if one.isfile()
        ]


def _packed(members: list[tuple[tarfile.TarInfo, bytes]], dice: Random) -> bytes:
    out = io.BytesIO()
    style = dice.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT))
    with tarfile.open(fileobj=out, mode="w", format=style) as archive:
        for info, content in members:
            info.size = len(content)
            try:
                archive.addfile(info, io.BytesIO(content))
            except (ValueError, UnicodeError):  # this style of tar cannot say it
                continue
    return gzip.compress(out.getvalue(), 1)


def _tar_member(data: bytes, dice: Random) -> bytes:
    """The content of one member is bent."""
    try:
        members = _members(data)
        at = dice.randrange(len(members))
    except (tarfile.TarError, OSError, EOFError, ValueError, gzip.zlib.error):
        return _flipped(data, dice)
    info, content = members[at]
    members[at] = (info, bent(content, "json" if info.name.endswith(".json") else "text", dice))
    return _packed(members, dice)


def _tar_name(data: bytes, dice: Random) -> bytes:
    """One member is called otherwise, appears twice, or is something else than a file."""
    try:
        members = _members(data)
        info, content = members[dice.randrange(len(members))]
    except (tarfile.TarError, OSError, EOFError, ValueError, gzip.zlib.error):
        return _flipped(data, dice)
    other = tarfile.TarInfo(
        dice.choice((info.name, "", "../x", "/x", "a" * 300, "x\ny", "\u202e", info.name.upper(), "a/b/c"))
    )
    other.type = dice.choice(
        (tarfile.REGTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, b"S", b"9")
    )
    other.linkname = "x"
    members.insert(dice.randrange(len(members) + 1), (other, content if other.isfile() else b""))
    return _packed(members, dice)


def _inflated(data: bytes, dice: Random) -> bytes:
    """The tar inside is bent, so that checksums of gzip agree again."""
    try:
        return gzip.compress(dice.choice(PLAIN)(gzip.decompress(data)[:LARGEST], dice), 1)
    except (OSError, EOFError, gzip.zlib.error):
        return _flipped(data, dice)


def _zip_member(data: bytes, dice: Random) -> bytes:
    """The content of one member of a zip is bent."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(one.filename, archive.read(one)) for one in archive.infolist()]
        at = dice.randrange(len(members))
    except Exception:  # noqa: BLE001 - a bent zip fails its own library in many ways
        return _flipped(data, dice)
    members[at] = (
        dice.choice((members[at][0],) * 4 + ("x.npy", "../x.npy", " ")),
        dice.choice(PLAIN)(members[at][1], dice),
    )
    out = io.BytesIO()
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(out, "w", dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as made,
    ):
        warnings.simplefilter("ignore")
        for name, content in members:
            made.writestr(name, content)
    return out.getvalue()


Way = Callable[[bytes, Random], bytes]
PLAIN: Final[tuple[Way, ...]] = (_flipped, _cut, _removed, _repeated, _put_in, _written_over)
LINES: Final = ("json", "ndjson")
KINDS: Final[dict[str, tuple[Way, ...]]] = {
    "text": (_lines, _cell, _cell),
    "json": (_json, _json, _json, _json),
    "ndjson": (_json_line, _json_line, _json_line, _json_line),
    "tgz": (_tar_member, _tar_member, _tar_name, _inflated, _inflated),
    "zip": (_zip_member, _zip_member, _zip_member),
    "binary": (),
}
