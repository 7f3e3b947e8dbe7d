"""`basanite judge`: mistakes are told with their cure and exit code, nothing is written over."""

from __future__ import annotations

import csv
import shutil

import pytest
from tests.cli.running import JUDGING, here


@pytest.fixture
def folder(tmp_path):
    """A copy of the examples of judging."""
    shutil.copytree(JUDGING, tmp_path / "judging")
    return tmp_path / "judging"


def test_a_scheme_in_order_is_told_in_words_and_one_that_is_not_by_line(folder):
    good = here("judge", "check", "schemes/esa.toml", cwd=folder)
    assert good.code == 0
    assert "esa.toml is in order." in good.stdout
    (folder / "bad.toml").write_text('format = "basanite-judging/1"\nname = "x"\npreset = "esb"\n')
    bad = here("judge", "check", "bad.toml", cwd=folder)
    assert bad.code == 1
    assert "bad.toml:3: `preset` of the scheme is unknown [R-2]. Fix: Did you mean 'esa'?" in bad.stderr


def test_preparing_writes_the_set_and_both_logs_once(folder):
    words = ("judge", "prepare", "pool.csv", "--out", "prepared", "--genre", "mt=5")
    first = here(*words, cwd=folder)
    assert first.code == 0, first.stderr
    assert {path.name for path in (folder / "prepared").iterdir()} == {"passages.csv", "removed.csv", "dropped.csv"}
    again = here(*words, cwd=folder)
    assert again.code == 2
    assert "existing files are never overwritten" in again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("prepare", "pool.csv", "--out", "x", "--words", "9"), "write 30..400"),
        (("prepare", "pool.csv", "--out", "x", "--genre", "mt"), "write GENRE=N"),
        (("plan", "schemes/da.toml", "--items", "pool.csv", "--judges", "five"), "write GROUP=N"),
        (("systems", "mqm.tsv", "--standardise"), "--standardise is for scores from 0 to 100"),
        (("systems", "nothing.csv"), "cannot be read"),
    ],
)
def test_a_misused_option_is_told_with_its_cure(words, said, folder):
    ended = here("judge", *words, cwd=folder)
    assert ended.code == 2
    assert said in ended.stderr
    assert not (folder / "x").exists()


def test_a_broken_pool_and_broken_judgements_are_told_by_line(folder):
    (folder / "pool.csv").write_text("passage,genre,text\np1,,x\n")
    pool = here("judge", "prepare", "pool.csv", "--out", "x", cwd=folder)
    assert (pool.code, "pool.csv:2: the passage has no genre [R-1]" in pool.stderr) == (1, True)
    (folder / "pairs.csv").write_text("first,second,outcome\nA,B,maybe\n")
    pairs = here("judge", "systems", "pairs.csv", cwd=folder)
    assert (pairs.code, "pairs.csv:2: first, second or outcome cannot be read [S-19]" in pairs.stderr) == (1, True)


@pytest.mark.req("S-19", case="bad")
def test_pairs_that_do_not_tie_all_systems_together_are_refused_unless_a_prior_is_named(folder):
    (folder / "pairs.csv").write_text("first,second,outcome,item,judge\nA,B,first,1,x\nA,B,first,2,x\n")
    refused = here("judge", "systems", "pairs.csv", "--draws", "5", cwd=folder)
    assert refused.code != 0
    held = here("judge", "systems", "pairs.csv", "--draws", "5", "--prior", "1", "--json", cwd=folder)
    assert held.code == 0, held.stderr
    assert any("prior" in note for note in held.data["notes"])


def test_a_plan_writes_every_assignment(folder):
    ended = here(
        "judge",
        "plan",
        "schemes/pairwise.toml",
        "--items",
        "pairs.csv",
        "--judges",
        "judge=4",
        "--out",
        "plan.csv",
        cwd=folder,
    )
    assert ended.code == 0, ended.stderr
    lines = (folder / "plan.csv").read_text().splitlines()
    assert lines[0].startswith("judge,round,position,item,flipped,")
    assert len(lines) == 1 + 3 * 120


KEY = "00112233445566778899aabbccddeeff" * 2


@pytest.fixture
def batch(folder):
    """A batch of three rows, two of which look the same."""
    (folder / "few.csv").write_text("passage,genre,text\np1,mt,A boat.\np2,mt,Tea.\np3,news,A boat.\n")
    words = ("export", "schemes/binary.toml", "--items", "few.csv", "--out", "batch", "--key", "batch.key")
    assert here("judge", "batch", *words, cwd=folder).code == 0
    return folder


def answered(batch, *, said="yes", change=lambda row: row):
    """Results of every row by two workers, as a crowd platform writes them."""
    with (batch / "batch" / "batch.csv").open(newline="") as file:
        sent = list(csv.DictReader(file))
    rows = [
        change(
            {"HITId": f"H{number}", "AssignmentId": f"A{number}{worker}", "WorkerId": worker}
            | {"AssignmentStatus": "Approved", "Answer.true": said, "Answer.comment": "=1+1"}
            | {f"Input.{name}": value for name, value in row.items()}
        )
        for number, row in enumerate(sent)
        for worker in ("W1", "W2")
    ]
    with (batch / "results.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def imported(batch, *more):
    words = ("import", "batch", "results.csv", "--key", "batch.key", "--out", "judged.csv", *more)
    return here("judge", "batch", *words, cwd=batch)


@pytest.mark.req("X-18", case="good")
def test_a_batch_goes_out_without_facts_and_comes_back_with_them_and_without_workers_names(batch):
    assert (batch / "batch.key").stat().st_mode & 0o77 == 0
    sent = (batch / "batch" / "batch.csv").read_text()
    assert len(sent.splitlines()) == 1 + 2
    assert not any(word in sent for word in ("p1", "mt", "news"))
    answered(batch)
    ended = imported(batch, "--json")
    assert (ended.code, ended.data["judgements"], ended.data["judges"]) == (0, 4, 2), ended.stderr
    rows = list(csv.DictReader((batch / "judged.csv").read_text().splitlines()))
    assert sorted({row["item"] for row in rows}) == ["p1", "p2", "p3"]
    assert {(row["true"], row["comment"]) for row in rows} == {("yes", "'=1+1")}
    assert "W1" not in (batch / "judged.csv").read_text()
    assert here("judge", "agreement", "judged.csv", "--value", "true", "--json", cwd=batch).code == 0


def other_text(row):
    return row | {"Input.text": "Another one."} if row["HITId"] == "H0" else row


def other_item(row):
    return row | {"Input.item": "0" * 20} if row["HITId"] == "H0" else row


def swapped_hit(row):
    return row | {"HITId": "H0"}


@pytest.mark.req("X-18", case="bad")
@pytest.mark.parametrize("change", [other_text, other_item, swapped_hit])
def test_rows_that_were_not_sent_or_were_changed_are_refused_and_nothing_is_written(batch, change):
    answered(batch, change=change)
    ended = imported(batch)
    assert ended.code == 1
    assert "[X-18]" in ended.stderr
    assert not (batch / "judged.csv").exists()


@pytest.mark.req("X-18", case="bad")
def test_a_changed_record_and_a_foreign_key_are_refused(batch):
    answered(batch)
    record = batch / "batch" / "record.json"
    kept = record.read_text()
    record.write_text(kept.replace('"p2"', '"p1"'))
    assert (imported(batch).code, (batch / "judged.csv").exists()) == (1, False)
    record.write_text(kept)
    (batch / "batch.key").write_text(KEY + "\n")
    ended = imported(batch)
    assert ended.code == 1
    assert "the key is that of another batch" in ended.stderr


@pytest.mark.parametrize(
    ("scheme", "code", "said"),
    [("relevance", 1, "there is no column"), ("esa", 1, "there is no column"), ("readability", 2, "cannot be ranked")],
)
def test_what_a_crowd_platform_cannot_ask_is_refused(folder, scheme, code, said):
    (folder / "few.csv").write_text("passage,genre,topic,text\np1,mt,x,A boat.\n")
    words = ("export", f"schemes/{scheme}.toml", "--items", "few.csv", "--out", "batch", "--key", "batch.key")
    ended = here("judge", "batch", *words, cwd=folder)
    assert (ended.code, said in ended.stderr) == (code, True), ended.stderr
    assert not (folder / "batch").exists()


def test_pictures_of_a_batch_need_https_addresses(folder):
    (folder / "few.csv").write_text("query,domain,image\nboats,SPO,http://x.example/1.png\n")
    words = ("export", "schemes/relevance.toml", "--items", "few.csv", "--out", "batch", "--key", "batch.key")
    ended = here("judge", "batch", *words, cwd=folder)
    assert (ended.code, "https address" in ended.stderr) == (1, True), ended.stderr
    (folder / "few.csv").write_text("query,domain,image\nboats,SPO,https://x.example/1.png\n")
    assert here("judge", "batch", *words, cwd=folder).code == 0
    assert '<img src="${image}"' in (folder / "batch" / "question.xml").read_text()


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ("item,judge,rating\n1,a,4\n1,a,5\n", (), 1, "already judged this item on line 2 [S-20]"),
        ("item,judge,rating\n1,,4\n", (), 1, "no judge [S-20]"),
        ("item,judge,rating\n", (), 1, "no judgment in it"),
        ("item,rating\n1,4\n", (), 2, "has no column 'judge'"),
        ("thing,judge,rating\n1,a,4\n", (), 2, "with --item"),
        ("item,judge,x\n1,a,4\n", (), 2, "with --value"),
        ("item,judge,rating\n1,a,4\n", ("--by", "panel"), 2, "has no column 'panel'"),
    ],
)
def test_a_table_that_cannot_be_compared_is_told_with_its_cure(tmp_path, text, words, code, said):
    (tmp_path / "votes.csv").write_text(text)
    ended = here("judge", "agreement", "votes.csv", *words, cwd=tmp_path)
    assert (ended.code, said in ended.stderr) == (code, True), ended.stderr


def test_groups_of_judges_are_compared_each_by_itself(tmp_path):
    rows = [f"{item},{judge},{panel},{item % 3}" for item in range(20) for judge, panel in ("ax", "bx", "cy", "dy")]
    (tmp_path / "votes.csv").write_text("\n".join(["item,judge,panel,rating", *rows]) + "\n")
    ended = here("judge", "agreement", "votes.csv", "--by", "panel", "--draws", "20", "--json", cwd=tmp_path)
    assert {name: group["judges"] for name, group in ended.data["groups"].items()} == {"x": 2, "y": 2}
    assert ended.data["groups"]["x"]["figures"]["alpha_interval"]["value"] == 1.0
