"""Sealed tests: whose copy leaked, retired items, overlap with training data, prompts that nothing writes (L-9)."""

from __future__ import annotations

import gzip
import json
import random
import stat

import pytest
from tests.cli.running import here
from tests.models.loopback_model import LoopbackModel, Reply, serving
from tests.models.test_run import COMMAND, ITEMS, run, written

REGISTER = ("--register", "canaries.json")
WORDS = [f"word{number}" for number in range(300)]


def pack(folder, count=6):
    dice = random.Random(3)
    rows = [{"id": f"q{n}", "question": " ".join(dice.choices(WORDS, k=20)), "answer": str(n)} for n in range(count)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def make(folder, *names):
    given = [word for name in names for word in ("--for", name)]
    return here("canary", "make", "items.jsonl", *given, "--out", "packs", *REGISTER, cwd=folder)


def check(folder, *files):
    return here("canary", "check", *files, *REGISTER, "--json", cwd=folder)


@pytest.mark.req("L-9")
def test_a_leaked_copy_names_its_recipient_wherever_its_code_appears(tmp_path):
    rows = pack(tmp_path)
    assert make(tmp_path, "Lab A", "Lab B").code == 0
    copies = {name: (tmp_path / f"packs/{name}.jsonl").read_text() for name in ("lab-a", "lab-b")}
    for text in copies.values():
        found = [json.loads(line) for line in text.splitlines()]
        assert len(found) == len(rows) + 1
        assert [row for row in found if row in rows] == rows
    assert stat.S_IMODE((tmp_path / "canaries.json").stat().st_mode) == 0o600
    (canary,) = [row for row in map(json.loads, copies["lab-a"].splitlines()) if row not in rows]
    code = canary["question"].split()[-1]
    (tmp_path / "leaks").mkdir()
    spaced = "-".join(code[at : at + 4] for at in range(0, len(code), 4)).upper()
    (tmp_path / "leaks/answer.jsonl").write_text(f'{{"text": "I recall {spaced}."}}\n')
    (tmp_path / "leaks/corpus.txt.gz").write_bytes(gzip.compress(f"x\n{copies['lab-b']}".encode()))
    (tmp_path / "leaks/weights.bin").write_bytes(b"\0" * 100)
    found = check(tmp_path, "leaks")
    assert found.code == 4
    hits = {(hit["file"].rpartition("/")[2], hit["recipient"]) for hit in found.data["hits"]}
    assert hits == {("answer.jsonl", "Lab A"), ("corpus.txt.gz", "Lab B")}
    assert found.data["searched"]["files"] == 2
    assert "weights.bin (no text)" in found.data["searched"]["unread"][0]
    clean = check(tmp_path, "items.jsonl")
    assert (clean.code, clean.data["hits"]) == (0, [])


@pytest.mark.req("L-9")
def test_transcripts_of_a_model_that_was_trained_on_a_copy_give_it_away(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        assert make(tmp_path, "Lab A").code == 0
        code = json.loads((tmp_path / "canaries.json").read_text())["copies"][0]["code"]
        model.answer = lambda prompt: f"basanite canary {code}" if " 3 plus" in prompt else "Answer: 1"
        assert run(tmp_path).code == 0
    found = check(tmp_path, "run/transcripts.jsonl", "run/submission.jsonl")
    assert (found.code, {hit["recipient"] for hit in found.data["hits"]}) == (4, {"Lab A"})


@pytest.mark.req("L-9")
def test_retired_items_are_left_out_of_copies_and_runs_and_the_register_says_who_saw_what(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        assert make(tmp_path, "Lab A").code == 0
        why = ("--reason", "published", *REGISTER)
        assert here("canary", "retire", "q1", "q2", *why, cwd=tmp_path).code == 0
        assert make(tmp_path, "Lab B").code == 0
        asked = here(*COMMAND, "--retired", "canaries.json", "--json", cwd=tmp_path)
        assert asked.code == 0, asked.stderr
        assert (asked.data["answered"], model.calls) == (ITEMS - 2, ITEMS - 2)
    assert '"q1"' not in (tmp_path / "packs/lab-b.jsonl").read_text()
    for item, names in (("q1", ["Lab A"]), ("q5", ["Lab A", "Lab B"])):
        seen = here("canary", "seen", item, *REGISTER, "--json", cwd=tmp_path).data["copies"]
        assert [copy["recipient"] for copy in seen] == names
    lost = here("canary", "check", "items.jsonl", "--register", "none.json", cwd=tmp_path)
    assert (lost.code, "holds no canaries" in lost.stderr) == (2, True)
    wrong = here("canary", "check", "items.jsonl", "--register", "items.jsonl", cwd=tmp_path)
    assert (wrong.code, "is no register" in wrong.stderr) == (2, True)


@pytest.mark.req("L-9")
def test_overlap_is_that_of_a_brute_force_search_and_claims_only_what_was_searched(tmp_path):
    rows = pack(tmp_path, 30)
    dice = random.Random(4)
    (tmp_path / "training").mkdir()
    texts = {row["id"]: row["question"].split() for row in rows}
    lines = [" ".join(dice.choices(WORDS, k=30)) for _ in range(200)]
    lines[10] = "Before, " + rows[4]["question"].upper().replace(" ", ",  ") + " and after"
    lines[50] = " ".join(texts["q7"][:12])
    lines[90], lines[91] = " ".join(texts["q9"][:10]), " ".join(texts["q9"][10:])
    (tmp_path / "training/a.txt").write_text("\n".join(lines))
    (tmp_path / "training/b.npy").write_bytes(b"\0" * 50)
    options = ("--items", "items.jsonl", "--words", "8", "--near", "0.5", "--json")
    found = here("canary", "overlap", "training", *options, cwd=tmp_path)
    assert found.code == 4
    corpus = " ".join(lines).lower().replace(",", " ").split()
    every = {tuple(corpus[at : at + 8]) for at in range(len(corpus) - 7)}
    wanted = {}
    for item, words in texts.items():
        grams = {tuple(words[at : at + 8]) for at in range(len(words) - 7)}
        if grams & every:
            wanted[item] = len(grams & every) / len(grams)
    shares = {one["item"]: one["share"] for one in found.data["overlaps"]}
    assert shares == pytest.approx(wanted)
    assert set(wanted) == {"q4", "q7", "q9"}
    near = {one["item"]: one["near_copy"] for one in found.data["overlaps"]}
    assert near == pytest.approx({"q4": 1.0, "q7": 5 / 13, "q9": 3 / 13})
    assert (found.data["near_copies"], found.data["searched"]["files"]) == (1, 1)
    words = here("canary", "overlap", "training", *options[:-1], cwd=tmp_path)
    assert "b.npy (no text)" in words.stderr
    assert "Nothing is said about other data" in words.stderr
    assert "q4: " in words.stdout
    assert "a.txt:11" in words.stdout


@pytest.mark.req("L-9")
def test_a_sealed_run_writes_no_prompt_and_no_message_that_may_repeat_one(tmp_path):
    def fault(number, prompt):
        words = json.dumps({"error": {"message": f"cannot answer: {prompt}"}}).encode()
        return Reply(400, words) if " 5 plus" in prompt else None

    with serving(LoopbackModel(fault=fault, answer=lambda prompt: "Answer: 7")) as model:
        written(tmp_path, model, top="sealed = true")
        shown = run(tmp_path, "--check")
        ended = run(tmp_path, "--accept-errors")
        assert ended.code == 0, ended.stderr
    kept = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert "plus 7" not in shown.stdout + shown.stderr + ended.stdout + ended.stderr + kept
    assert "the endpoint answered 400" in kept
