"""A strict reader of gzip-compressed tars from strangers, which never extracts (M53, M54, M85, X-8).

`Gunzip` reads one gzip stream, never more in memory than was asked for and with no hidden second half. `Tar` reads the
headers inside: ustar, GNU and PAX names. The standard library's reader takes header data of any size into memory and,
on many installed versions, can be led out of a folder; this one reads forward only, caps every length before it reads,
and knows files and folders only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from isal import igzip_lib

from basanite.formats.archives.members import KIB, MIB, Limits, RefusedError
from basanite.problems import shortened

PIECE_READ = 256 * KIB
AHEAD = 64 * KIB
PADDING = MIB
DAMAGE = cast(type[Exception], igzip_lib.error)
AGAIN = "pack and send it again"
BLOCK = 512
ZEROS = bytes(BLOCK)
EXTENDED = frozenset(b"xgLK")
FILE, FOLDER = frozenset(b"\x000" + b"7"), ord("5")
EXTENDED_IN_A_ROW = 8
KINDS = {
    ord("1"): "a hard link",
    ord("2"): "a symbolic link",
    ord("3"): "a character device",
    ord("4"): "a block device",
    FOLDER: "a folder",
    ord("6"): "a named pipe",
}
MAGIC = {
    b"\x1f\x8b": "a gzip stream",
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"BZh": "a bzip2 stream",
    b"\xfd7zXZ\0": "an xz stream",
    b"\x28\xb5\x2f\xfd": "a zstd stream",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    b"\x1f\x9d": "a compress (.Z) stream",
    b"%PDF-": "a PDF",
}


class Gunzip:
    """Reads the contents of one gzip stream in pieces of the size that is asked for."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._file, self._limits = file, limits
        self._gzip = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self._held, self._at = b"", 0
        self._taken = self._given = 0

    def read(self, size: int, *, ahead: int = AHEAD) -> bytes:
        """The next `size` bytes; fewer only where the stream ends.

        `ahead` more are inflated along with a short read, which spares calls where many short reads follow;
        before one large member it is 0, so that the member's bytes are made once and never copied.
        """
        piece = self._piece(size, ahead)
        if len(piece) == size:
            return piece
        pieces, missing = [piece], size - len(piece)
        while missing and (piece := self._piece(missing, ahead)):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def skip(self, size: int) -> int:
        """Pass over `size` bytes and return how many there were."""
        missing = size
        while missing and (piece := self._piece(min(missing, MIB), AHEAD)):
            missing -= len(piece)
        return size - missing

    def finish(self) -> None:
        """Read to the very end: the checksum must hold and nothing but zeros may follow (X-8)."""
        for _ in range(PADDING // AHEAD):
            piece = self._piece(AHEAD, 0)
            _only_zeros(piece, "follow the end of the tar inside")
            if not piece:
                return self._after_the_end()
        raise _trailing(f"more than {PADDING} bytes follow the end of the tar inside")

    def ended_early(self) -> RefusedError:
        """Why the stream gave fewer bytes than the tar inside announces."""
        self._after_the_end()
        return RefusedError("M53", "the archive is truncated: the tar inside has no end", AGAIN)

    def _after_the_end(self) -> None:
        rest = self._gzip.unused_data + self._file.read(PADDING)
        if len(rest) > PADDING:
            raise _trailing("bytes follow the end of the gzip stream")
        if rest.lstrip(b"\0").startswith(b"\x1f\x8b"):
            raise _trailing("a second gzip stream follows the first")
        _only_zeros(rest, "follow the end of the gzip stream")

    def _piece(self, size: int, ahead: int) -> bytes:
        """At least one byte and at most `size`, or none at the end."""
        if self._at == len(self._held):
            if size >= ahead:
                return self._inflate(size)
            self._held, self._at = self._inflate(ahead), 0
        start, self._at = self._at, min(self._at + size, len(self._held))
        return self._held[start : self._at]

    def _inflate(self, size: int) -> bytes:
        hungry = self._gzip.needs_input
        while not self._gzip.eof:
            piece = self._decompress(self._compressed_piece() if hungry else b"", size)
            if piece:
                self._given += len(piece)
                self._check_ratio()
                return piece
            hungry = True  # whatever the decoder says: without new bytes it would give nothing for ever
        return b""

    def _decompress(self, data: bytes | None, size: int) -> bytes:
        try:
            piece: bytes = self._gzip.decompress(data or b"", size)
        except DAMAGE as error:
            raise RefusedError("M53", "the gzip stream is damaged", AGAIN, found=str(error)) from None
        if data is None and not piece and not self._gzip.eof:
            raise RefusedError("M53", "the file is truncated: the gzip stream has no end", AGAIN)
        return piece

    def _compressed_piece(self) -> bytes | None:
        """The next compressed bytes; None where the file has no more."""
        data = self._file.read(PIECE_READ)
        self._taken += len(data)
        return data or None

    def _check_ratio(self) -> None:
        if self._given > self._limits.ratio_from and self._given > self._limits.ratio * self._taken:
            raise RefusedError(
                "M85",
                f"expands to more than {self._limits.ratio} times its size",
                "send only the files that the task asks for",
            )


def _only_zeros(data: bytes, where: str) -> None:
    if data.strip(b"\0"):
        raise _trailing(f"further bytes {where}")


def _trailing(message: str) -> RefusedError:
    return RefusedError("X-8", message, "pack all files into one archive at once: tar zcf LABEL.tgz *.tsv")


@dataclass(frozen=True, slots=True)
class Entry:
    """One header: the name as it stands there, the kind of entry and the bytes that follow."""

    name: bytes
    kind: int
    size: int

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file."""
        return self.kind in FILE and not self.is_folder

    @property
    def is_folder(self) -> bool:
        """Whether it is a directory, which the oldest archives mark by a slash only."""
        return self.kind == FOLDER or (self.kind == 0 and self.name.endswith(b"/"))

    @property
    def what(self) -> str:
        """The kind of entry, in words."""
        return KINDS.get(self.kind, f"an entry of kind {chr(self.kind)!r}")


@dataclass(slots=True)
class Tar:
    """Walks through a tar; between two entries the caller reads or skips the contents of the first."""

    stream: Gunzip
    limits: Limits
    _padding: int = field(default=0, init=False)
    _ahead: int = field(default=AHEAD, init=False)
    _first: bool = field(default=True, init=False)

    def __iter__(self) -> Iterator[Entry]:
        while (entry := self._next()) is not None:
            yield entry

    def content(self, entry: Entry) -> bytes:
        """The bytes of a file, in one piece; the caller has held its size against the limits."""
        self._ahead = AHEAD if entry.size < AHEAD else 0
        return self._whole(self.stream.read(entry.size, ahead=self._ahead), entry.size)

    def skip(self, entry: Entry) -> None:
        """Pass over the contents of an entry that is not wanted."""
        if self.stream.skip(entry.size) < entry.size:
            raise self.stream.ended_early()

    def _next(self) -> Entry | None:
        name: bytes | None = None
        for before in range(EXTENDED_IN_A_ROW):
            entry = self._header()
            if entry is None:
                if before:
                    raise _hostile_header("an extended header has no member after it")
                self.stream.finish()
                return None
            if entry.kind not in EXTENDED:
                return entry if name is None else Entry(name, entry.kind, entry.size)
            other = self._read_extended(entry)
            if name is not None and other is not None:  # readers do not agree on which of two counts
                raise _hostile_header("two extended headers name one member")
            name = other if name is None else name
        raise _hostile_header("too many extended headers before one member")

    def _header(self) -> Entry | None:
        """The next header, or None at the block of zeros that ends a tar."""
        raw = self.stream.read(self._padding + BLOCK, ahead=self._ahead)
        block = raw[self._padding :] if self._padding else raw
        if len(block) < BLOCK:
            raise self._not_a_tar(block) if self._first else self.stream.ended_early()
        if block == ZEROS:
            return None
        written = block[148:156]
        if sum(block) - sum(written) + 8 * ord(" ") != _octal(written):  # it counts its own field as blanks
            damage = RefusedError("M53", "the archive is damaged: a header's checksum is wrong", AGAIN)
            raise self._not_a_tar(block) if self._first else damage
        self._first = False
        return self._entry(block)

    def _entry(self, block: bytes) -> Entry:
        entry = Entry(_name(block), block[156], _size(block[124:136]))
        if entry.kind == ord("S"):
            raise _hostile_header("a member is sparse")
        if entry.size and not entry.is_file and entry.kind not in EXTENDED:
            # Readers disagree on whether such bytes are contents or the next header: nothing after it can be trusted.
            raise RefusedError("M54", f"{entry.what} has contents", AGAIN, file=shortened(entry.name))
        self._padding = -entry.size % BLOCK
        return entry

    def _read_extended(self, entry: Entry) -> bytes | None:
        """The long name that an extended header gives to the next member, if it does."""
        if entry.size > self.limits.header_bytes:
            raise _hostile_header(f"an extended header has {entry.size} bytes")
        data = self._block_of(entry.size)
        if entry.kind == ord("K"):
            return None
        name = data.rstrip(b"\0") if entry.kind == ord("L") else _pax_path(data, everywhere=entry.kind == ord("g"))
        if name == b"":
            raise _hostile_header("an extended header gives an empty name")
        return name

    def _block_of(self, size: int) -> bytes:
        """The contents of an extended header; some readers go on behind its end, so only zeros may stand there."""
        padded = size + self._padding
        data, self._padding = self._whole(self.stream.read(padded), padded), 0
        if data[size:].strip(b"\0"):
            raise _hostile_header("an extended header is longer than it says")
        return data[:size]

    def _whole(self, data: bytes, size: int) -> bytes:
        if len(data) < size:
            raise self.stream.ended_early()
        return data

    def _not_a_tar(self, block: bytes) -> RefusedError:
        return RefusedError(
            "M53", f"gzip, but not of a tar: inside is {what_it_is(block)}", "pack it with tar zcf LABEL.tgz *.tsv"
        )


def what_it_is(start: bytes) -> str:
    """What a file really is, by its first bytes, in words.

    >>> what_it_is(b"PK\\x03\\x04...")
    'a zip archive'
    """
    for magic, words in MAGIC.items():
        if start.startswith(magic):
            return words
    if start[257:262] == b"ustar":
        return "a plain tar"
    if start.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    return "text" if start and _is_text(start) else ("nothing" if not start else "something else")


def _is_text(start: bytes) -> bool:
    return not any(byte < 9 or 13 < byte < 32 for byte in start[:BLOCK])


def _name(block: bytes) -> bytes:
    """The name in a header, with the prefix that ustar has; elsewhere readers disagree on what stands there."""
    name = block[:100].partition(b"\0")[0]
    if not block[345]:
        return name
    if block[257:263] != b"ustar\0":
        raise _hostile_header("a name has a prefix in a header that is not ustar")
    return block[345:500].partition(b"\0")[0] + b"/" + name


def _size(raw: bytes) -> int:
    """The size in a header: octal, or base 256 with the first bit set."""
    size = int.from_bytes(raw[1:]) if raw[0] == 0x80 else _octal(raw)
    if size < 0:
        raise RefusedError("M54", "a member's size is not a number or is negative", AGAIN, found=raw.hex())
    return size


def _octal(raw: bytes) -> int:
    """An octal number with blanks before it and blanks or zero bytes behind it, or -1 if it is none."""
    digits = raw.lstrip(b" ").rstrip(b" \0")  # a zero byte in front would be the end for other readers
    if digits.strip(b"01234567"):
        return -1
    return int(digits or b"0", 8)


def _pax_path(data: bytes, *, everywhere: bool) -> bytes | None:
    """The `path` of a PAX header; records that would change what follows are refused (X-8)."""
    path = None
    for key, value in _pax_records(data):
        if key.startswith(b"GNU.sparse."):
            raise _hostile_header("a member is sparse")
        if key == b"size" or (everywhere and key == b"path"):
            raise _hostile_header(f"a PAX header changes the {key.decode()}")
        path = value if key == b"path" else path
    return path


def _pax_records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The records `LENGTH KEY=VALUE LF` of a PAX header."""
    start, end = 0, len(data.rstrip(b"\0"))
    while start < end:
        digits = data[start : start + 8].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        key, equals, value = data[start + len(digits) + 1 : start + length].partition(b"=")
        if not equals or not value.endswith(b"\n") or start + length > end:
            raise _hostile_header("a PAX header is malformed")
        yield key, value[:-1]
        start += length


def _hostile_header(message: str) -> RefusedError:
    return RefusedError("X-8", message, "pack plain files with plain names: tar zcf LABEL.tgz *.tsv")
