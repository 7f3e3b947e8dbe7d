"""Gzip from strangers: one stream, never more in memory than was asked for, no hidden second half (M53, M85, X-8)."""

from __future__ import annotations

from typing import BinaryIO, cast

from isal import igzip_lib

from basanite.formats.archives.members import KIB, MIB, Limits, RefusedError

CHUNK = 256 * KIB
AHEAD = 64 * KIB
PADDING = MIB
DAMAGE = cast(type[Exception], igzip_lib.error)
AGAIN = "pack and send it again"


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
        return RefusedError("M53", "the archive is cut off: the tar inside has no end", AGAIN)

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
            piece = self._decompress(self._feed() if hungry else b"", size)
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
            raise RefusedError("M53", "the file is cut off: the gzip stream has no end", AGAIN)
        return piece

    def _feed(self) -> bytes | None:
        """The next compressed bytes; None where the file has no more."""
        data = self._file.read(CHUNK)
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
