"""A model made on the spot is a system from its folder: nothing is downloaded, and its weights are its name (L-1)."""

from __future__ import annotations

import json
import random
import shutil
from importlib.util import find_spec

import pytest
from tests.cli.running import here
from tests.models.test_run import COMMAND

from basanite.representation.extraction.model_folder import import_torchvision

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
SYSTEM = """format = "basanite-system/1"
name = "tiny"
{top}
[endpoint]
url = "folder:tiny"
model = "tiny"
api = "completions"
{endpoint}
[prompt]
template = "{{question}} ="
[decoding]
max_tokens = 2
{decoding}
"""
DIGITS = 6


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a model that has learned to say which number follows, one token a number."""
    folder = tmp_path_factory.mktemp("models")
    if find_spec("torchvision") is not None:
        import_torchvision()
    words = ["<pad>", "<eos>", "after", "=", *map(str, range(DIGITS + 1))]
    from tokenizers import Tokenizer, models, pre_tokenizers

    plain = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<pad>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1,
        resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(config)
    rows = torch.tensor([[2, 4 + n, 3, 4 + n + 1, 1] for n in range(DIGITS)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        model(rows, labels=rows).loss.backward()
        optimizer.step()
    model.save_pretrained(folder / "tiny")
    tokenizer.save_pretrained(folder / "tiny")
    items = [{"id": str(n), "question": f"after {n}", "answer": str(n + 1)} for n in range(DIGITS)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
    return folder


def run(folder, out, *more, top="", endpoint="", decoding=""):
    (folder / "system.toml").write_text(SYSTEM.format(top=top, endpoint=endpoint, decoding=decoding))
    return here(*COMMAND[:-1], out, *more, cwd=folder)


@pytest.mark.req("L-1", "L-10")
def test_a_model_in_a_folder_answers_and_is_scored_like_any_other(trained):
    ended = run(trained, "greedy", "--reference", "items.jsonl", "--json")
    assert ended.code == 0, ended.stderr
    assert (ended.data["answered"], ended.data["calls"]) == (DIGITS, DIGITS)
    scored = here("score", "questions", "items.jsonl", "greedy/transcripts.jsonl", "--json", cwd=trained)
    assert scored.data["values"]["accuracy"]["value"] == 1.0
    (_, *turns) = map(json.loads, (trained / "greedy/transcripts.jsonl").read_text().splitlines())
    assert {turn["tokens_in"] for turn in turns} == {3}
    assert str(trained) not in (trained / "greedy/transcripts.jsonl").read_text()
    again = run(trained, "greedy", "--json")
    assert again.data["calls"] == DIGITS, "nothing is computed again"


@pytest.mark.req("L-1")
def test_sampling_follows_the_seed_and_repeats_differ(trained):
    drawn = [
        run(trained, out, top="repeats = 3", decoding=f"temperature = 5.0\nseed = {seed}")
        for out, seed in (("one", 1), ("same", 1), ("two", 2))
    ]
    assert [ended.code for ended in drawn] == [0, 0, 0]

    def texts(out):
        (_, *turns) = map(json.loads, (trained / out / "transcripts.jsonl").read_text().splitlines())
        return {(turn["item"], turn["repeat"]): turn["text"] for turn in turns}

    assert texts("one") == texts("same") != texts("two")
    assert any(texts("one")[str(n), 1] != texts("one")[str(n), 2] for n in range(DIGITS))


@pytest.mark.req("L-1")
def test_other_weights_under_the_same_name_are_another_system(trained, tmp_path):
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    assert run(tmp_path, "weights").code == 0
    path = tmp_path / "tiny/model.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= random.Random(1).randint(1, 3)
    path.write_bytes(content)
    changed = run(tmp_path, "weights")
    assert (changed.code, "other model, prompt or decoding" in changed.stderr) == (2, True)


@pytest.mark.req("L-1")
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda tiny: (tiny / "config.json").unlink(), "there is no config.json"),
        (lambda tiny: (tiny / "model.safetensors").write_bytes(b"x" * 40), "cannot be loaded"),
        (lambda tiny: (tiny / "model.safetensors").rename(tiny / "pytorch_model.bin"), "cannot be loaded"),
    ],
)
def test_a_folder_that_is_no_model_is_refused_and_pickles_are_never_read(trained, tmp_path, spoil, told):
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    spoil(tmp_path / "tiny")
    refused = run(tmp_path, "refused")
    assert (refused.code, told in refused.stderr) == (2, True), refused.stderr


@pytest.mark.req("L-1")
def test_chat_needs_a_template_and_long_prompts_fail_alone(trained):
    (trained / "system.toml").write_text(
        SYSTEM.format(top="", endpoint="", decoding="").replace('api = "completions"', 'api = "chat"')
    )
    chat = here(*COMMAND[:-1], "chat", cwd=trained)
    assert (chat.code, "has no chat template" in chat.stderr) == (2, True)
    (trained / "system.toml").write_text(SYSTEM.format(top="", endpoint="", decoding="").replace("= 2", "= 40"))
    failed = here(*COMMAND[:-1], "long-answers", cwd=trained)
    assert (failed.code, "can have 43 tokens, of 16" in failed.stdout) == (1, True)
