"""Nothing in a stranger's file name can act on a terminal or hide in it (X-14)."""

from __future__ import annotations

import shutil

import pytest
from tests.cli.running import EXAMPLE, Ended, here, process

ESCAPE, BELL, BACKWARDS, ISOLATE = "\x1b[31m", "\x07", "\u202e", "\u2066"
HOSTILE = f"[bold]x[red]{ESCAPE}{BELL}{BACKWARDS}{ISOLATE}\r\n\x9b1m"
DANGEROUS = [chr(number) for number in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066)]


def harmless(ended: Ended) -> bool:
    text = ended.stdout + ended.stderr
    return not [char for char in DANGEROUS if char in text] and "[bold]x[red]" in "".join(text.split())


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "clir"
    shutil.copytree(EXAMPLE, copy)
    shutil.copy(copy / "Alpha.tgz", copy / f"{HOSTILE}.tgz")
    shutil.copy(copy / "broken" / "query04276.tsv", copy / "broken" / f"{HOSTILE}.tsv")
    return copy


@pytest.mark.req("X-14")
@pytest.mark.parametrize("command", ["score", "compare", "validate"])
def test_a_hostile_system_name_is_shown_escaped_and_not_as_markup(folder, command):
    others = ["--submission", "Beta.tgz"] if command == "compare" else []
    ended = here(command, "clir", "--reference", "key", "--submission", f"{HOSTILE}.tgz", *others, cwd=folder)
    assert (ended.code, harmless(ended)) == (0, True)


@pytest.mark.req("X-14")
@pytest.mark.parametrize("extra", [[], ["--json"], ["--fix", "out"]], ids=["words", "json", "fix"])
def test_a_hostile_file_name_in_a_submission_is_shown_escaped(folder, extra):
    ended = here("validate", "clir", "--reference", "key", "--submission", "broken", *extra, cwd=folder)
    assert ended.code == 1
    assert not [char for char in DANGEROUS if char in ended.stdout + ended.stderr]


@pytest.mark.req("X-14")
@pytest.mark.parametrize(
    "words",
    [
        ("score", "clir", "--reference", "key", "--submission", f"no{HOSTILE}"),
        ("score", f"clir{HOSTILE}", "--reference", "key", "--submission", "Alpha.tgz"),
        ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--report", f"{HOSTILE}.docx"),
        ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--set", f"{HOSTILE}=1"),
        ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--draws", HOSTILE),
        ("validate", "clir", "--documents", HOSTILE, "--queries", HOSTILE, "--submission", "Alpha.tgz"),
        ("compare", "--result", HOSTILE, "--result", f"x{HOSTILE}"),
        ("convert", "to-run", HOSTILE, "--out", "a.run"),
        ("convert", "to-run", "Alpha.tgz", "--out", "Alpha.tgz", "--tag", HOSTILE),
        (HOSTILE,),
    ],
    ids=lambda words: words[0][:8],
)
def test_hostile_words_come_back_escaped_in_what_is_said_of_them(folder, words):
    ended = here(*words, cwd=folder)
    assert ended.code == 2
    assert not [char for char in DANGEROUS if char in ended.stderr], repr(ended.stderr)


@pytest.mark.req("X-14")
def test_a_written_report_is_told_by_its_escaped_name(folder):
    words = ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--json", "--report")
    ended = here(*words, f"{HOSTILE}.csv", cwd=folder)
    assert (ended.code, harmless(Ended(0, "", ended.stderr))) == (0, True)


@pytest.mark.req("X-14")
def test_a_name_that_is_not_utf_8_is_told_and_ends_in_no_fault(folder):
    (folder / "Odd\udcff.tgz").write_bytes((folder / "Alpha.tgz").read_bytes())
    ended = process("validate", "clir", "--reference", "key", "--submission", "Odd\udcff.tgz", cwd=folder)
    assert (ended.code, "\\udcff.tgz is valid." in ended.stdout) == (0, True), ended
