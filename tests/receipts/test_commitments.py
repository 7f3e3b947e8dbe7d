"""Commitments to a sealed key: a plain hash confirms guesses, ours does not."""

import hashlib
from itertools import product

import pytest

from basanite.receipts.reproduction import commit, opens, reference_content

DOCUMENTS = tuple(f"D{number}" for number in range(10))
TRUTH = "YNNYNNNNYN"
NONCE = bytes.fromhex("7f" * 32)


def key_file(answers: str) -> bytes:
    return "".join(f"{document}\t{answer}\n" for document, answer in zip(DOCUMENTS, answers, strict=True)).encode()


def committed(answers: str) -> bytes:
    return reference_content({"reference": [hashlib.sha256(key_file(answers)).hexdigest()]})


def guesses() -> list[str]:
    return ["".join(answers) for answers in product("YN", repeat=len(DOCUMENTS))]


def test_a_plain_hash_of_a_key_is_guessed_and_ours_is_not():
    plain = hashlib.sha256(key_file(TRUTH)).hexdigest()
    assert [guess for guess in guesses() if hashlib.sha256(key_file(guess)).hexdigest() == plain] == [TRUTH]
    ours = commit(NONCE, committed(TRUTH))
    without = [hashlib.sha256(committed(guess)).hexdigest() for guess in guesses()]
    zero = [commit(bytes(32), committed(guess)) for guess in guesses()]
    assert ours not in without
    assert ours not in zero


def test_a_published_nonce_opens_the_commitment_to_this_key_alone():
    ours = commit(NONCE, committed(TRUTH))
    assert [guess for guess in guesses() if opens(ours, NONCE, committed(guess))] == [TRUTH]


@pytest.mark.parametrize("nonce", [b"", b"short", bytes(31), bytes(33)])
def test_a_nonce_of_other_than_256_bits_is_refused(nonce):
    assert not opens("0" * 64, nonce, b"")
    with pytest.raises(ValueError, match="32 bytes"):
        commit(nonce, b"")
