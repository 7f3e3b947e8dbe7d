"""Receipts: made, checked by pinned keys alone, and spoiled by any change at all."""

from datetime import UTC, datetime, timedelta

import pytest

from basanite.canonical import canonical_line, parse_canonical
from basanite.receipts import Keyring, SigningKey, Trust, make, verify
from basanite.receipts.signatures import KeysError, PublicKey, hand_over, moment, revoke

START = datetime(2018, 5, 14, 12, tzinfo=UTC)
KEY = SigningKey(bytes(range(32)))
NEXT = SigningKey(bytes(range(1, 33)))
STRANGER = SigningKey(bytes(range(2, 34)))
CONTENT = {
    "at": moment(START),
    "campaign": {"id": "c1", "slug": "small"},
    "log": {"head": "0" * 64, "sequence": 7},
    "standing": "on time",
    "submission": {"id": "s1", "sha256": "ab" * 32},
}
ODD = {"content": {}, "format": "basanite-receipt/1", "key": KEY.id, "signature": "", "type": "intake"}
LATER = START + timedelta(days=1)


def trust(*keys: SigningKey) -> Trust:
    return Trust.of(Keyring(tuple(key.public for key in keys)))


def wrongs(data: bytes, trusted: Trust, at: datetime = LATER) -> str:
    verdict = verify(data, trusted, at)
    assert not verdict.valid
    assert not verdict.content
    return " ".join(problem.message for problem in verdict.problems)


def test_a_receipt_verifies_under_the_pinned_key_and_says_what_was_signed():
    verdict = verify(make("intake", CONTENT, KEY), trust(KEY), LATER)
    assert verdict.valid
    assert (verdict.kind, verdict.key, dict(verdict.content)) == ("intake", KEY.id, CONTENT)


def test_each_single_flipped_bit_of_a_receipt_is_found():
    receipt, trusted = make("score", CONTENT, KEY), trust(KEY)
    for place in range(len(receipt)):
        for bit in range(8):
            changed = bytearray(receipt)
            changed[place] ^= 1 << bit
            assert not verify(bytes(changed), trusted, LATER).valid, (place, bit)


def test_every_byte_put_in_or_left_out_is_found():
    receipt, trusted = make("intake", CONTENT, KEY), trust(KEY)
    for place in range(len(receipt) + 1):
        assert not verify(receipt[:place] + b" " + receipt[place:], trusted, LATER).valid, place
        assert place == len(receipt) or not verify(receipt[:place] + receipt[place + 1 :], trusted, LATER).valid, place


def test_a_key_that_the_receipt_brings_along_is_not_believed():
    forged = make("intake", CONTENT | {"public": STRANGER.public.public}, STRANGER)
    assert "not one of the keys" in wrongs(forged, trust(KEY))
    assert "not one of the keys" in wrongs(forged, Trust())
    borrowed = parse_canonical(forged) | {"key": KEY.id}
    assert "signature is wrong" in wrongs(canonical_line(borrowed), trust(KEY))


def test_an_expired_and_a_revoked_key_are_not_believed():
    receipt = make("intake", CONTENT, KEY)
    short = PublicKey(KEY.public.public, expires=moment(START + timedelta(hours=1)))
    assert verify(receipt, Trust.of(Keyring((short,))), START + timedelta(hours=1)).valid
    assert "expired" in wrongs(receipt, Trust.of(Keyring((short,))))
    ring = Keyring((KEY.public, NEXT.public), revoked=(revoke(KEY.id, NEXT, LATER, "stolen"),))
    assert "revoked: stolen" in wrongs(receipt, Trust.of(ring))


def test_a_receipt_from_the_future_is_not_believed():
    assert "still to come" in wrongs(make("intake", CONTENT, KEY), trust(KEY), START - timedelta(seconds=1))


def test_a_pinned_key_leads_to_its_successors_through_a_published_ring():
    third = SigningKey(bytes(range(3, 35)))
    first, second = hand_over(KEY, NEXT, START), hand_over(NEXT, third, LATER)
    published = Keyring((NEXT.public, third.public), (second, first))
    trusted = Trust.of(Keyring((KEY.public,)), published)
    new = make("intake", CONTENT | {"at": moment(LATER)}, third)
    assert verify(new, trusted, LATER).valid
    assert verify(make("intake", CONTENT, KEY), trusted, LATER).valid, "what the old key signed in its time still holds"


def test_a_key_that_has_handed_over_signs_no_more():
    trusted = Trust.of(Keyring((KEY.public,)), Keyring((), (hand_over(KEY, NEXT, START),)))
    late = make("intake", CONTENT | {"at": moment(START + timedelta(seconds=1))}, KEY)
    assert "not in use" in wrongs(late, trusted)
    early = make("intake", CONTENT | {"at": moment(START - timedelta(seconds=1))}, NEXT)
    assert "not in use" in wrongs(early, trusted)


def test_a_ring_from_elsewhere_brings_in_no_key_that_no_trusted_one_vouches_for():
    forged = hand_over(STRANGER, NEXT, START)
    posing = type(forged)(KEY.id, forged.public, forged.at, forged.signature)
    published = Keyring((STRANGER.public, NEXT.public), (forged, posing))
    trusted = Trust.of(Keyring((KEY.public,)), published)
    assert set(trusted.keys) == {KEY.id}


def test_a_stranger_can_revoke_nothing():
    revocation = revoke(KEY.id, STRANGER, START, "envy")
    posing = type(revocation)(KEY.id, revocation.at, KEY.id, "envy", revocation.signature)
    published = Keyring((STRANGER.public,), revoked=(revocation, posing))
    assert verify(make("intake", CONTENT, KEY), Trust.of(Keyring((KEY.public,)), published), LATER).valid


THIRD = SigningKey(bytes(range(3, 35)))
CHAIN = (hand_over(KEY, NEXT, START), hand_over(NEXT, THIRD, LATER))


def chained(*revoked, given=True):
    """Trust in the first of three keys, each of which handed over to the next."""
    ring = Keyring((KEY.public, NEXT.public, THIRD.public), CHAIN, revoked)
    return Trust.of(ring) if given else Trust.of(Keyring((KEY.public,)), ring)


@pytest.mark.parametrize("given", [True, False], ids=["pinned ring", "published ring"])
@pytest.mark.parametrize("successor", [NEXT, THIRD], ids=["next", "last"])
def test_who_steals_an_old_key_cannot_revoke_one_that_came_after_it(successor, given):
    trusted = chained(revoke(successor.id, KEY, LATER, "by a thief"), given=given)
    assert verify(make("intake", CONTENT | {"at": moment(LATER)}, successor), trusted, LATER).valid


@pytest.mark.parametrize("given", [True, False], ids=["pinned ring", "published ring"])
@pytest.mark.parametrize("by", [KEY, NEXT, THIRD], ids=["itself", "next", "last"])
def test_a_key_is_revoked_by_itself_or_by_any_that_came_after_it(by, given):
    trusted = chained(revoke(KEY.id, by, LATER, "stolen"), given=given)
    assert "revoked: stolen" in wrongs(make("intake", CONTENT, KEY), trusted)


def test_a_trusted_key_cannot_revoke_one_that_it_has_nothing_to_do_with():
    published = Keyring((), revoked=(revoke(STRANGER.id, KEY, LATER, "envy"),))
    trusted = Trust.of(Keyring((KEY.public, STRANGER.public)), published)
    assert verify(make("intake", CONTENT, STRANGER), trusted, LATER).valid


def test_a_rotation_or_revocation_cannot_be_taken_for_a_receipt():
    rotation = hand_over(KEY, NEXT, START)
    body = {"content": CONTENT, "format": "basanite-receipt/1", "key": KEY.id, "type": "intake"}
    assert "signature is wrong" in wrongs(canonical_line(body | {"signature": rotation.signature}), trust(KEY))


def test_what_a_foreign_key_signed_verifies_and_is_marked_foreign():
    foreign = PublicKey(KEY.public.public, origin="the first server")
    verdict = verify(make("score", CONTENT, KEY), Trust.of(Keyring((foreign,))), LATER)
    assert verdict.valid
    assert verdict.foreign == "the first server"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00" * 100, id="nul"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"a":' * 5000 + b"1" + b"}" * 5000, id="deep-objects"),
        pytest.param(b" " * (2**20 + 1), id="huge"),
        pytest.param(canonical_line(ODD | {"content": []}), id="list"),
        pytest.param(canonical_line(ODD | {"key": 3, "signature": None}), id="odd-types"),
        pytest.param(b'{"a":1e999}\n', id="infinite"),
        pytest.param("\ud800".encode("utf-8", "surrogatepass"), id="surrogate"),
    ],
)
def test_what_is_no_receipt_is_refused_in_words(data):
    assert wrongs(data, trust(KEY))


def test_a_newer_format_is_named():
    newer = canonical_line({"format": "basanite-receipt/2"})
    assert "basanite-receipt/2" in wrongs(newer, trust(KEY))


def test_a_ring_survives_its_file_and_a_pem_key_is_read():
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    ring = Keyring((KEY.public, NEXT.public), (hand_over(KEY, NEXT, START),), (revoke(KEY.id, NEXT, START, "old"),))
    assert Keyring.of(ring.as_bytes()) == ring
    pem = KEY._private().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assert Keyring.of(pem).keys == (KEY.public,)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"-----BEGIN nonsense",
        b'{"format":"basanite-keys/1","keys":[{"public":"zz"}]}',
        b'{"format":"basanite-keys/1","keys":[{"public":3}]}',
        b'{"format":"basanite-keys/1","keys":[{"secret":"00"}]}',
        b'{"format":"basanite-keys/1","keys":7}',
    ],
)
def test_what_is_no_ring_is_refused_in_words(data):
    with pytest.raises(KeysError, match="not a file of keys"):
        Keyring.of(data)


def test_a_signing_key_does_not_show_its_secret():
    assert KEY.secret.hex() not in repr(KEY)
    assert str(KEY.secret) not in repr(KEY)
