"""Sound files of a few samples with real headers: RIFF (.wav) and NIST SPHERE (.sph)."""

from __future__ import annotations

import struct

import numpy as np

RATE = 8000
SPHERE_HEADER = 1024


def wav_bytes(rng: np.random.Generator, *, samples: int = 80, channels: int = 1, bits: int = 24) -> bytes:
    """Uncompressed noise of so many samples in each channel."""
    block = channels * bits // 8
    data = bytes(rng.integers(0, 256, samples * block, dtype=np.uint8))
    form = struct.pack("<HHIIHH", 1, channels, RATE, RATE * block, block, bits)
    body = b"WAVE" + _chunk(b"fmt ", form) + _chunk(b"data", data)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def sphere_bytes(rng: np.random.Generator, *, samples: int = 80, channels: int = 1, coding: str = "alaw") -> bytes:
    """Noise in 8-bit samples, a-law unless said otherwise."""
    fields = (
        f"channel_count -i {channels}",
        f"sample_rate -i {RATE}",
        "sample_n_bytes -i 1",
        f"sample_count -i {samples}",
        f"sample_coding -s{len(coding)} {coding}",
        "end_head",
    )
    header = "\n".join(("NIST_1A", f"{SPHERE_HEADER:7d}", *fields, ""))
    return header.encode().ljust(SPHERE_HEADER) + bytes(rng.integers(0, 256, samples * channels, dtype=np.uint8))


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
