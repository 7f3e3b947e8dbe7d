"""Sealed files: what goes in comes out, and nothing else ever does."""

import io
import json

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from basanite.campaign import sealing
from basanite.campaign.sealing import PIECE, TAG, Lock, SealedError, seal, unseal

KEY = Lock(bytes(range(32)))
WORDS = Lock(b"correct horse", passphrase=True)


def sealed(content: bytes, lock: Lock = KEY, step: int = 700_001) -> bytes:
    parts = (content[start : start + step] for start in range(0, len(content), step))
    return b"".join(seal(parts, lock))


def opened(data: bytes, lock: Lock = KEY) -> bytes:
    return b"".join(unseal(io.BytesIO(data), lock))


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 77])
def test_every_size_comes_back(size):
    content = bytes(number % 251 for number in range(1000)) * (size // 1000 + 1)
    assert opened(sealed(content[:size])) == content[:size]


def test_a_passphrase_works_as_a_key_does():
    assert opened(sealed(b"words", WORDS), WORDS) == b"words"


def test_the_format_is_what_its_page_says():
    """An independent reader: HKDF, AES-256-GCM, nonce = last flag and number, the head line as associated data."""
    content = b"x" * (PIECE + 5)
    line, _, rest = sealed(content).partition(b"\n")
    head = json.loads(line)
    key = HKDF(SHA256(), 32, bytes.fromhex(head["salt"]), b"basanite-sealed/1").derive(KEY.secret)
    pieces = [rest[start : start + PIECE + TAG] for start in range(0, len(rest), PIECE + TAG)]
    plain = b"".join(
        AESGCM(key).decrypt(bytes([number == len(pieces) - 1]) + number.to_bytes(11, "big"), piece, line + b"\n")
        for number, piece in enumerate(pieces)
    )
    assert plain == content


def test_each_flipped_byte_is_found():
    data = sealed(b"twelve bytes")
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(SealedError):
            opened(bytes(changed))


def test_pieces_cannot_be_cut_off_repeated_or_exchanged():
    data = sealed(b"a" * PIECE + b"b" * PIECE + b"c" * 100)
    start = data.index(b"\n") + 1
    head, size = data[:start], PIECE + TAG
    one, two, three = data[start : start + size], data[start + size : start + 2 * size], data[start + 2 * size :]
    for changed in (head, head + one, head + one + two, head + two + one + three, head + one + one + two + three):
        with pytest.raises(SealedError):
            opened(changed)
    for cut in range(1, 200):
        with pytest.raises(SealedError):
            opened(data[:-cut])


@pytest.mark.parametrize("lock", [Lock(bytes(32)), WORDS], ids=["other-key", "passphrase"])
def test_another_key_opens_nothing(lock):
    with pytest.raises(SealedError, match=r"wrong|sealed with"):
        opened(sealed(b"secret"), lock)


def test_two_files_of_one_content_are_not_alike():
    assert sealed(b"same")[100:] != sealed(b"same")[100:]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"format":"basanite-sealed/2"}\n',
        b'{"format":"basanite-sealed/1","kdf":"scrypt","n":1073741824,"salt":"00"}\n',
        b'{"format":"basanite-sealed/1","kdf":"scrypt","n":true,"salt":"00"}\n',
        b'{"format":"basanite-sealed/1","kdf":"scrypt","n":3,"salt":"00"}\n',
        b'{"format":"basanite-sealed/1","kdf":"scrypt","n":"x","salt":7}\n',
        b"[" * 5000,
    ],
)
def test_a_hostile_head_is_refused_before_it_costs_anything(head, monkeypatch):
    monkeypatch.setattr(sealing.hashlib, "scrypt", lambda *a, **k: pytest.fail("paid for a stranger's head"))
    for lock in (KEY, WORDS):
        with pytest.raises(SealedError):
            opened(head, lock)


def test_a_key_file_is_64_hex_digits_or_32_bytes():
    assert Lock.from_file(b"ab" * 32 + b"\n").secret == bytes.fromhex("ab" * 32)
    assert Lock.from_file(bytes(range(32))).secret == bytes(range(32))
    for wrong in (b"", b"ab", b"zz" * 32, bytes(33)):
        with pytest.raises(SealedError, match="64 hex digits"):
            Lock.from_file(wrong)
