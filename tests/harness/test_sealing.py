"""Sealed splits: nobody can guess the seed, and everybody can check the commitment once it is given out (X-1, H-4)."""

import hashlib
import hmac
import json
import stat

import pytest
from tests.cli.running import here
from tests.harness.plans import ALPHA, DIGITS, HEAD, written

from basanite.harness.data.seals import Seal, SealError, commitment_faults, read_seal, write_seal
from basanite.harness.evaluation import ready

SEALED = HEAD.replace("seed = 7", 'seal = "s.seal"') + DIGITS + ALPHA


@pytest.fixture
def plan(tmp_path):
    return written(tmp_path, SEALED)


def commitment(plan):
    return json.loads((plan.parent / "s.commitment.json").read_text())


@pytest.mark.req("X-1", case="good")
def test_the_seed_is_256_random_bits_in_a_file_that_only_its_owner_reads(plan):
    assert here("harness", "seal", plan).code == 0
    path = plan.parent / "s.seal"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    kept = json.loads(path.read_text())
    assert (len(kept["seed"]), len(kept["nonce"])) == (64, 64)
    assert kept["seed"] != kept["nonce"]
    assert len({Seal.generate().seed for _ in range(50)}) == 50


@pytest.mark.req("X-1", case="good")
@pytest.mark.req("H-4")
def test_the_commitment_is_an_hmac_under_the_nonce_and_shows_nothing_sealed(plan):
    ended = here("harness", "seal", plan, "--json")
    kept = json.loads((plan.parent / "s.seal").read_text())
    published = commitment(plan)
    assert ended.data == published
    evaluation = ready(plan)
    said = {"seed": kept["seed"], "plan": evaluation.plan.digest(), "partitions": evaluation.digests()}
    expected = hmac.new(bytes.fromhex(kept["nonce"]), json.dumps(said, sort_keys=True).encode(), hashlib.sha256)
    assert published["commitment"] == f"hmac-sha256:{expected.hexdigest()}"
    shown = ended.stdout + ended.stderr + json.dumps(published)
    hidden = [
        kept["seed"],
        kept["nonce"],
        *(digest.removeprefix("sha256:") for digest in evaluation.digests().values()),
    ]
    assert not [secret for secret in hidden if secret in shown]


@pytest.mark.req("H-4")
@pytest.mark.req("X-1", case="good")
def test_whoever_has_the_seal_can_check_the_commitment(plan):
    here("harness", "seal", plan)
    ended = here("harness", "unseal", plan)
    assert (ended.code, "The commitment holds" in ended.stdout) == (0, True)


@pytest.mark.req("X-1", case="bad")
def test_another_seed_plan_or_split_is_noticed(plan):
    here("harness", "seal", plan)
    evaluation = ready(plan)
    published, digests, told = commitment(plan), evaluation.digests(), evaluation.plan.digest()
    assert commitment_faults(evaluation.seal, published, told, digests) == []
    assert commitment_faults(evaluation.seal, published, "sha256:0", digests) == [
        "the plan differs from the sealed one"
    ]
    other = Seal(Seal.generate().seed, evaluation.seal.nonce)
    assert commitment_faults(other, published, told, digests) == ["the seed differs from the sealed one"]
    changed = dict.fromkeys(digests, "sha256:0")
    assert commitment_faults(evaluation.seal, published, told, changed) == [
        "the partition digits/shared differs from the sealed one"
    ]
    assert commitment_faults(evaluation.seal, {**published, "partitions": 3}, told, digests)
    written(plan.parent, SEALED.replace("n = 300", "n = 303"))
    ended = here("harness", "unseal", plan, "--json")
    assert (ended.code, ended.data["holds"]) == (1, False)


@pytest.mark.req("X-1", case="bad")
def test_a_plan_with_a_typed_in_seed_cannot_be_sealed(tmp_path):
    plan = written(tmp_path)
    ended = here("harness", "seal", plan)
    assert ended.code == 2
    assert "cannot be sealed" in ended.stderr
    assert here("harness", "unseal", plan).code == 2
    assert ready(plan).seed_facts() == {"sealed": False, "seed": 7}


@pytest.mark.parametrize(
    "content",
    [
        {"format": "basanite-seal/1", "seed": "07", "nonce": "ab" * 32},
        {"format": "basanite-seal/1", "seed": "00" * 31 + "07", "nonce": bytes(range(32)).hex()},
        {"format": "basanite-seal/1", "seed": bytes(range(32)).hex()},
        {"format": "basanite-seal/2", "seed": bytes(range(32)).hex(), "nonce": bytes(range(32)).hex()},
        {"seed": 5},
        [],
    ],
    ids=["short", "typed", "no nonce", "newer", "no format", "list"],
)
def test_a_seed_that_somebody_could_guess_seals_nothing(plan, content):
    path = plan.parent / "s.seal"
    path.write_text(json.dumps(content))
    with pytest.raises(SealError):
        read_seal(path)


def test_a_seal_is_never_replaced(plan):
    here("harness", "seal", plan)
    before = (plan.parent / "s.seal").read_bytes()
    ended = here("harness", "seal", plan)
    assert (ended.code, (plan.parent / "s.seal").read_bytes() == before) == (2, True)
    with pytest.raises(SealError, match="already exists"):
        write_seal(plan.parent / "s.seal", Seal.generate())


def test_nothing_is_sealed_if_the_plan_cannot_be_carried_out(tmp_path):
    plan = written(tmp_path, SEALED.replace('"0", "8"', '"eleven"'))
    assert here("harness", "seal", plan).code == 2
    assert not (tmp_path / "s.seal").exists()


def test_a_plan_whose_seal_is_missing_does_not_run(plan):
    ended = here("harness", "run", plan)
    assert (ended.code, "s.seal" in ended.stderr) == (2, True)
