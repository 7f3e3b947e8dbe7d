"""What an image is and how large, from its header bytes: nothing is decoded, so nothing can blow up.

PNG and JPEG are walked from segment to segment up to where the size and the number of frames are known. Lengths in a
stranger's file may lie, so every step is checked against the bytes there are and the number of steps is bounded.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from basanite.problems import Problem, Where, shortened

WIDTH, HEIGHT = 1024, 768
"""What section 7.2.4.5 of the MATERIAL plan asks for: exactly as wide, at most as high (C16)."""

PNG, JPEG = "PNG", "JPEG"
KIND_OF_EXTENSION = {"png": PNG, "jpg": JPEG}
MOST_SEGMENTS = 4096
MOST_FRAMES = 100_000

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_END = b"IEND\xaeB`\x82"
PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""By colour type: the bits of a sample that the format allows."""
JPEG_END = b"\xff\xd9"
JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers that stand alone, without a length."""
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_SHOWN = frozenset({0xC0, 0xC1, 0xC2})
"""Baseline, extended and progressive: the processes that browsers decode."""

OTHER_KINDS = (
    (re.compile(rb"GIF8[79]a"), "GIF"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "WebP"),
    (re.compile(rb"BM.{12}", re.DOTALL), "BMP"),
    (re.compile(rb"II\*\0|MM\0\*"), "TIFF"),
    (re.compile(rb"....ftyp(avif|avis|heic|heix|mif1)", re.DOTALL), "AVIF or HEIC"),
    (re.compile(rb"\x8aMNG"), "MNG"),
    (re.compile(rb"\0\0\0\x0cjP  |\xff\x4f\xff\x51"), "JPEG 2000"),
    (re.compile(rb"%PDF"), "PDF"),
    (re.compile(rb"\s*<(\?xml|svg|!doctype|html)", re.IGNORECASE), "SVG, XML or HTML"),
)
_FILL = re.compile(rb"\xff*")


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What the first bytes of a file tell; `fault` says why they do not tell all, and is empty if they do."""

    kind: str
    """PNG, JPEG, the name of another format, or "" where none is recognised."""
    width: int = 0
    height: int = 0
    frames: int = 1
    fault: str = ""


def image_header(data: bytes) -> ImageHeader:
    """Kind, width, height and number of frames of an image; never raises, whatever the bytes.

    >>> image_header(b"GIF89a" + bytes(20)).kind
    'GIF'
    """
    if data.startswith(PNG_SIGNATURE):
        return _png(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    return ImageHeader(next((name for pattern, name in OTHER_KINDS if pattern.match(data)), ""))


def check_image(
    name: str, data: bytes, *, width: int = WIDTH, height: int = HEIGHT, where: Where = "submission"
) -> Iterator[Problem]:
    """Every problem of one summary image: format, extension, size and frames (M48, M49, C16)."""
    header = image_header(data)
    for rule, found, message, fix in _faults(name, data, header, width, height):
        yield Problem(rule, name, None, None, message, fix, shortened(found), where=where)


Fault = tuple[str, str, str, str]
"""Rule, what was found, message, fix."""


def _faults(name: str, data: bytes, header: ImageHeader, width: int, height: int) -> Iterator[Fault]:
    save = f"save it as a JPEG or PNG, {width} pixels wide and at most {height} high"
    if header.kind not in (PNG, JPEG):
        what = f"it is {header.kind}" if header.kind else "its first bytes are of no known image format"
        yield "M48", header.kind or repr(data[:8]), f"not a JPEG or PNG: {what}", save
        return
    yield from _extension_faults(name, header.kind)
    # The mark that ends every PNG or JPEG must be there; a thumbnail's own may hide that it was cut off.
    if header.fault or data.rfind(PNG_END if header.kind == PNG else JPEG_END) <= 0:
        fault = header.fault or "its end is missing"
        yield "M48", fault, f"not a whole {header.kind} that can be shown: {fault}", save
    if not header.fault and (header.width != width or header.height > height):
        size = f"{header.width} x {header.height}"
        yield "M48", size, f"the image is {size} pixels; {width} wide and at most {height} high is wanted", save
    if header.frames != 1:
        message = f"an animation of {header.frames} frames; a summary is a still image"
        yield "M49", f"{header.frames} frames", message, "save one frame as a plain PNG"


def _extension_faults(name: str, kind: str) -> Iterator[Fault]:
    extension = name.rpartition(".")[2]
    wanted = "png" if kind == PNG else "jpg"
    if KIND_OF_EXTENSION.get(extension) != kind:
        message = f"the content is {kind}, whose extension is .{wanted}, not .{shortened(extension, 12)}"
        yield "M48", name.rpartition("/")[2], message, f"name it .{wanted}, in its metadata too"


def _png(data: bytes) -> ImageHeader:
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        return ImageHeader(PNG, fault="its first chunk is not a whole IHDR")
    if zlib.crc32(data[12:29]) != int.from_bytes(data[29:33], "big"):
        return ImageHeader(PNG, fault="the checksum of IHDR is wrong")
    width, height, depth, colour, method, filters, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    legal = depth in PNG_DEPTHS.get(colour, ()) and method == filters == 0 and interlace < 2
    if not (legal and 0 < width < 2**31 and 0 < height < 2**31):
        return ImageHeader(PNG, fault="IHDR has values that the format does not know")
    frames, fault = _png_frames(data)
    return ImageHeader(PNG, width, height, frames, fault)


def _png_frames(data: bytes) -> tuple[int, str]:
    """The number of frames, and why the image data cannot be reached if so.

    A still picture beside the frames (no frame control before the image data) counts as one more: some programs show
    it and others the frames. The number an animation declares and the number it has may differ: the larger counts.
    """
    declared, leading = 0, False
    for steps, (kind, start, length) in enumerate(_png_chunks(data, 33)):
        if kind == b"IDAT":
            frames = _frame_count(data, start - 8, declared, leading) if declared else 1
            return frames, _image_data_fault(data, start - 8)
        if steps > MOST_SEGMENTS:
            return 1, f"more than {MOST_SEGMENTS} chunks before the image data"
        if kind == b"acTL" and length >= 4:
            declared = max(declared, int.from_bytes(data[start : start + 4], "big"))
        leading = leading or kind == b"fcTL"
    return 1, "no image data (IDAT)"


def _image_data_fault(data: bytes, at: int) -> str:
    """Why the image data that begin here cannot be whole; "" if they can."""
    total = 0
    for kind, start, length in _png_chunks(data, at):
        if kind != b"IDAT":
            break
        if start + length + 4 > len(data):
            return "its image data (IDAT) are truncated or damaged"
        total += length
    return "" if total else "its image data (IDAT) are empty"


def _frame_count(data: bytes, start: int, declared: int, leading: bool) -> int:
    present = int(leading)
    for steps, (kind, _, _) in enumerate(_png_chunks(data, start)):
        present += kind == b"fcTL"
        if steps > MOST_FRAMES:
            break
    return max(declared, present) + (not leading)


def _png_chunks(data: bytes, at: int) -> Iterator[tuple[bytes, int, int]]:
    """Type, start and length of the content of each chunk whose header is there."""
    while at + 8 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        yield data[at + 4 : at + 8], at + 8, length
        at += length + 12


def _jpeg(data: bytes) -> ImageHeader:
    for steps, (marker, start, length) in enumerate(_jpeg_segments(data)):
        if marker in JPEG_FRAMES:
            return _jpeg_frame(data[start : start + length], marker)
        if marker in (0xD9, 0xDA):
            return ImageHeader(JPEG, fault="no frame header before the image data")
        if steps > MOST_SEGMENTS:
            return ImageHeader(JPEG, fault=f"more than {MOST_SEGMENTS} segments before the frame header")
    return ImageHeader(JPEG, fault="it breaks off before the frame header")


def _jpeg_frame(content: bytes, marker: int) -> ImageHeader:
    if len(content) < 6:
        return ImageHeader(JPEG, fault="the frame header is too short")
    _, height, width, components = struct.unpack_from(">BHHB", content)
    if len(content) != 6 + 3 * components or not components:
        return ImageHeader(JPEG, width, height, fault="the frame header has the wrong length")
    if marker not in JPEG_SHOWN:
        return ImageHeader(JPEG, width, height, fault=f"browsers do not show its process (SOF{marker - 0xC0})")
    fault = "" if width and height else "the frame header does not contain the size"
    return ImageHeader(JPEG, width, height, fault=fault)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, start and length of the content of each segment, as long as they follow one another."""
    at = 2
    while at < len(data) and data[at] == 0xFF:
        fill = _FILL.match(data, at)
        at = fill.end() if fill else at + 1
        if at >= len(data):
            return
        marker, length = data[at], 0
        if marker not in JPEG_BARE:
            length = int.from_bytes(data[at + 1 : at + 3], "big")
            if length < 2 or at + 1 + length > len(data):
                return
        yield marker, at + 3, max(length - 2, 0)
        at += 1 + length
