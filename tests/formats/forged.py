"""Tar and gzip bytes made by hand, so that tests can say what no packing program would write, and their reading."""

from __future__ import annotations

import struct
from pathlib import Path

from isal import igzip, isal_zlib

from basanite.formats.archives.archive import Limits, open_source
from basanite.problems import Findings

BLOCK = 512
END = bytes(2 * BLOCK)
ROWS = b"MATERIAL_BASE-1A_10000001\tY\t0.91\nMATERIAL_BASE-1A_10000002\tN\t0.2\n"
SMALL = Limits(members=50, member_bytes=4096, total_bytes=20_000, name_length=60, ratio=10, ratio_from=100_000)


def header(
    name: bytes, size: int | bytes = 0, kind: bytes = b"0", *, prefix: bytes = b"", magic=b"ustar\x0000"
) -> bytes:
    """One header block with a right checksum; `size` may be the raw field."""
    field = size if isinstance(size, bytes) else (b"%011o\0" % size if size < 8**11 else base256(size))
    block = bytearray(BLOCK)
    block[0 : len(name)] = name
    block[100:108], block[108:116], block[116:124] = b"0000644\0", b"0000000\0", b"0000000\0"
    block[124:136], block[136:148], block[148:156] = field, b"00000000000\0", b" " * 8
    block[156:157], block[257:265] = kind, magic
    block[345 : 345 + len(prefix)] = prefix
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def base256(number: int) -> bytes:
    return (number | 1 << 95).to_bytes(12)


def entry(name: bytes, data: bytes = b"", kind: bytes = b"0", **fields) -> bytes:
    return header(name, len(data), kind, **fields) + data + bytes(-len(data) % BLOCK)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    return entry(b"PaxHeader", b"".join(_record(*record) for record in records), kind)


def _record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    length = len(body)
    while length != len(body) + len(str(length)):
        length = len(body) + len(str(length))
    return str(length).encode() + body


def tgz(*entries: bytes, end: bytes = END) -> bytes:
    return igzip.compress(b"".join(entries) + end, 1, mtime=0)


def gzip_of(pieces) -> bytes:
    """The gzip of contents too large to hold: `pieces` gives them one by one."""
    packer, crc, size = isal_zlib.compressobj(1, wbits=-15), 0, 0
    packed = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff"]
    for piece in pieces:
        packed.append(packer.compress(piece))
        crc, size = isal_zlib.crc32(piece, crc), size + len(piece)
    return b"".join([*packed, packer.flush(), struct.pack("<LL", crc, size % 2**32)])


def put(folder: Path, data: bytes, name: str = "System1.tgz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def filled(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def read(path, **options):
    """All members by name, and what was found wrong."""
    findings = Findings()
    source = open_source(path, **options)
    return {member.name: member.data for member in source.members(findings)}, findings, source


def rules(findings):
    return sorted({problem.rule for problem in findings})
