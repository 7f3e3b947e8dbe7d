"""Data-set trees and build packs: a good one is read whole, and each thing that can be wrong is found where it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import UnreadableError
from basanite.formats.datasets.audio_headers import AudioHeader, parse_header
from basanite.formats.datasets.build_pack import is_build_pack, read_build_pack
from basanite.formats.datasets.dataset_tree import read_tree
from basanite.formats.datasets.pack_names import tree_name
from basanite.problems import Findings
from basanite.synthetic.packs import BuildSpec, sphere_bytes, wav_bytes, write_build_pack

DICE = np.random.default_rng(0)
TEXT, SPEECH = "MATERIAL_BASE-1A_00000001", "MATERIAL_BASE-1A_00000002"


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def tree(folder: Path, *, name: str = "IARPA_MATERIAL-BASE-1A", pack: str = "ANALYSIS1") -> Path:
    """The tree of the plan with one text and one conversation, lists at the top."""
    root = folder / name
    put(root / pack / "text/src" / f"{TEXT}.txt", "Habari ya leo.\n")
    put(root / pack / "audio/src" / f"{SPEECH}.wav", wav_bytes(DICE, channels=2))
    put(root / pack / "audio/metadata/metadata.tsv", f"filename\tgenre_id\n{SPEECH}.wav\tCS\n")
    put(root / pack / "text/metadata/metadata.tsv", f"filename\tgenre_id\n{TEXT}.txt\tNT\n")
    if pack.startswith("ANALYSIS"):
        put(root / pack / "text/translation" / f"{TEXT}.translation.eng.txt", "News of today.\n")
        put(root / pack / "audio/transcription" / f"{SPEECH}.transcription.txt", "Habari?\n")
        put(root / pack / "audio/translation" / f"{SPEECH}.translation.eng.txt", "What news?\n")
    put(root / "README.TXT", "Read me.\n")
    put(root / "index.txt", f"docid\n{TEXT}\n{SPEECH}\n")
    return listed(root)


def listed(root: Path) -> Path:
    """The same tree with a right file.tbl."""
    (root / "file.tbl").unlink(missing_ok=True)
    files = sorted(path for path in root.rglob("*") if path.is_file())
    rows = [f"{hashlib.md5(path.read_bytes()).hexdigest()}\t{path.relative_to(root).as_posix()}\n" for path in files]
    put(root / "file.tbl", "".join(rows))
    return root


def found(root: Path) -> list[tuple[str, str]]:
    """Place and message of everything that is found."""
    findings = Findings()
    read_tree(root, findings)
    assert {problem.rule for problem in findings} <= {"M81"}
    return [(problem.place(), problem.message) for problem in findings]


def test_the_tree_of_the_plan_is_read_whole(tmp_path):
    findings = Findings()
    data = read_tree(tree(tmp_path), findings)
    assert findings.problems == []
    assert (data.period, data.language, data.packs) == ("BASE", "1A", ("ANALYSIS1",))
    text, speech = data.documents
    assert (text.name, text.mode, text.genre, sorted(text.files)) == (TEXT, "text", "NT", ["src", "translation"])
    assert (speech.name, speech.mode, speech.genre) == (SPEECH, "audio", "CS")
    assert sorted(speech.files) == ["src", "transcription", "translation"]
    assert data.names("ANALYSIS1DEV") == (TEXT, SPEECH)


def test_factors_of_documents_can_be_broken_down_by(tmp_path):
    table = read_tree(tree(tmp_path), Findings()).factors()
    assert table.subject == "document"
    assert table.levels["mode"] == {TEXT: "text", SPEECH: "speech"}
    assert list(table.column("genre", [SPEECH, TEXT, "other"])) == ["CS", "NT", ""]


@pytest.mark.parametrize("name", ["IARPA_MATERIAL_BASE-1A", "IARPA_MATERIAL-BASE-1A", "IARPA_MATERIAL_BASE-1A_v1.0"])
def test_both_spellings_of_a_folder_are_taken(tmp_path, name):
    assert found(tree(tmp_path, name=name)) == []


def test_both_spellings_of_an_optional_period_are_one(tmp_path):
    assert tree_name("IARPA_MATERIAL-OPTION2-3S") == tree_name("IARPA_MATERIAL_OP2-3S")
    root = tmp_path / "IARPA_MATERIAL-OPTION2-3S"
    put(root / "EVAL/text/src/MATERIAL_OP2-3S_10000896.txt", "x\n")
    put(root / "EVAL/index.txt", "docid\nMATERIAL_OP2-3S_10000896\n")
    findings = Findings()
    assert len(read_tree(root, findings).documents) == 1
    assert findings.valid
    assert tree_name("IARPA_MATERIAL+BASE-1A") is None


def test_lists_may_lie_inside_packs_and_a_pack_may_be_read_alone(tmp_path):
    root = tree(tmp_path)
    for name in ("README.TXT", "index.txt"):
        (root / name).rename(root / "ANALYSIS1" / name)
    assert found(listed(root)) == []
    assert found(root / "ANALYSIS1") == []


@pytest.mark.parametrize(
    ("path", "data", "place", "message"),
    [
        ("index.txt", f"{TEXT}\n{SPEECH}\n{TEXT}\n", "index.txt:3", "already listed on line 1"),
        ("index.txt", f"{TEXT}\n{SPEECH}\nMATERIAL_1\n", "index.txt:3", "not a document identifier"),
        ("index.txt", f"{TEXT}\n{SPEECH}\nMATERIAL_BASE-1B_00000003\n", "index.txt:3", "not of BASE-1A"),
        ("index.txt", f"{TEXT}\n{SPEECH}\nMATERIAL_BASE-1A_00000003\n", "index.txt:3", "has no source"),
        ("index.txt", f"{TEXT}\n", f"ANALYSIS1/audio/src/{SPEECH}.wav", "does not list"),
        ("index.txt", f"{TEXT}\n\xff\n{SPEECH}\n".encode("latin-1"), "index.txt:2", "not UTF-8"),
        (f"ANALYSIS1/text/src/{TEXT}.txt", b"ok\n\xff\n", f"ANALYSIS1/text/src/{TEXT}.txt:2", "not UTF-8"),
        (f"ANALYSIS1/text/src/{TEXT}.txt", b" \n", f"ANALYSIS1/text/src/{TEXT}.txt", "empty"),
        ("ANALYSIS1/text/src/notes.doc", b"x", "ANALYSIS1/text/src/notes.doc", "does not end in .txt"),
        ("ANALYSIS1/text/src/a.txt", b"x", "ANALYSIS1/text/src/a.txt", "not a document identifier"),
        (f"ANALYSIS1/text/src/{SPEECH}.txt", b"x", f"ANALYSIS1/text/src/{SPEECH}.txt", "audio and text at once"),
        (f"ANALYSIS1/audio/src/{SPEECH}.wav", b"RIFF", f"ANALYSIS1/audio/src/{SPEECH}.wav", "neither RIFF"),
        (f"ANALYSIS1/audio/src/{SPEECH}.wav", wav_bytes(DICE), f"ANALYSIS1/audio/src/{SPEECH}.wav", "two channels"),
        (
            f"ANALYSIS1/audio/src/{SPEECH}.wav",
            sphere_bytes(DICE, channels=2),
            f"ANALYSIS1/audio/src/{SPEECH}.wav",
            "content is sph",
        ),
        (
            "ANALYSIS1/text/translation/MATERIAL_BASE-1A_00000009.translation.eng.txt",
            b"x",
            "ANALYSIS1/text/translation/MATERIAL_BASE-1A_00000009.translation.eng.txt",
            "no source for this file",
        ),
        (
            "ANALYSIS1/text/metadata/metadata.tsv",
            f"filename\tgenre_id\n{TEXT}.txt\tCS\n",
            "ANALYSIS1/text/metadata/metadata.tsv:2",
            "no genre of this mode",
        ),
        (
            "ANALYSIS1/text/metadata/metadata.tsv",
            "filename\tgenre_id\nMATERIAL_BASE-1A_00000007.txt\tNT\n",
            "ANALYSIS1/text/metadata/metadata.tsv:2",
            "no such document",
        ),
        ("ANALYSIS1/text/metadata/metadata.tsv", "id\n", "ANALYSIS1/text/metadata/metadata.tsv:1", "not `filename`"),
        ("EVAL9X/a", b"x", "EVAL9X", "not a pack"),
    ],
)
def test_each_thing_that_is_wrong_is_found_at_its_place(tmp_path, path, data, place, message):
    root = tree(tmp_path)
    put(root / path, data)
    problems = found(listed(root))
    assert [place for place, words in problems if message in words] == [place], problems


def test_a_missing_file_is_missed_by_every_list(tmp_path):
    root = tree(tmp_path)
    (root / "ANALYSIS1/text/src" / f"{TEXT}.txt").unlink()
    messages = " ".join(message for _, message in found(root))
    for words in ("no source for this file", "has no source file", "no such document", "there is no such file"):
        assert words in messages


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("text/src/none.txt\n", "there is no such file"),
        ("../outside.txt\n", "leads out"),
        ("README.TXT\t3\n", "has 9 bytes, not 3"),
        ("README.TXT " + "0" * 64 + "\n", "digest differs"),
        ("nothing\n", "no path can be seen"),
    ],
)
def test_the_list_of_files_tells_the_truth(tmp_path, line, message):
    root = tree(tmp_path)
    table = root / "file.tbl"
    put(table, table.read_bytes() + line.encode())
    place = f"file.tbl:{len(table.read_bytes().splitlines())}"
    assert [(where, message in words) for where, words in found(root)] == [(place, True)]


def test_a_file_that_is_not_listed_is_found(tmp_path):
    root = tree(tmp_path)
    put(root / "more.txt", b"x")
    assert found(root) == [("file.tbl", "this file is not listed")]


def test_translations_in_a_pack_that_is_tested_on_are_a_leak(tmp_path):
    root = tree(tmp_path, pack="EVAL1")
    assert found(root) == []
    put(root / "EVAL1/text/translation" / f"{TEXT}.translation.eng.txt", b"x\n")
    assert found(listed(root)) == [("EVAL1/text/translation", "1 files in a pack that is tested on")]


def test_missing_lists_and_names_are_told_apart_by_how_bad_they_are(tmp_path):
    root = tree(tmp_path, name="data")
    for name in ("README.TXT", "index.txt", "file.tbl"):
        (root / name).unlink()
    findings = Findings()
    read_tree(root, findings)
    assert [problem.severity for problem in findings] == ["reject", "reject", "warn", "warn"]


def test_a_folder_without_packs_has_no_data_and_a_file_is_no_folder(tmp_path):
    findings = Findings()
    (tmp_path / "IARPA_MATERIAL-BASE-1A").mkdir()
    assert read_tree(tmp_path / "IARPA_MATERIAL-BASE-1A", findings) is None
    assert not findings.valid
    for reader in (read_tree, read_build_pack):
        with pytest.raises(UnreadableError, match="is not a folder"):
            reader(tmp_path / "none", findings)


def test_links_are_not_followed(tmp_path):
    root = tree(tmp_path)
    source = root / "ANALYSIS1/text/src" / f"{TEXT}.txt"
    source.rename(tmp_path / "elsewhere.txt")
    source.symlink_to(tmp_path / "elsewhere.txt")
    assert "this is not a plain file" in {message for _, message in found(root)}


# Headers of sound files


def test_headers_of_both_kinds_are_read():
    wav, sph = wav_bytes(DICE, samples=160, channels=2), sphere_bytes(DICE, samples=80)
    assert parse_header(wav, len(wav)) == AudioHeader("wav", "pcm", 2, 8000, 24, 160)
    assert parse_header(sph, len(sph)) == AudioHeader("sph", "alaw", 1, 8000, 8, 80)
    assert parse_header(wav, len(wav)).seconds == 0.02


def test_an_extensible_header_tells_its_coding_at_the_end():
    wav = bytearray(wav_bytes(DICE))
    extended = wav[:16] + (40).to_bytes(4, "little") + b"\xfe\xff" + wav[22:36]
    extended += (22).to_bytes(2, "little") + bytes(6) + b"\x06\x00" + bytes(14) + wav[36:]
    assert parse_header(bytes(extended), len(extended)).coding == "alaw"


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "neither"),
        (b"RIFF\0\0\0\0WAVE", "no fmt"),
        (b"NIST_1A\n   1024\nchannel_count -i 1\n", "without length or end"),
        (b"NIST_1A\n   1024\nchannel_count -i 1\nend_head\n", "without one of"),
        (wav_bytes(DICE)[:-1], "promises"),
        (sphere_bytes(DICE)[:-1], "promises"),
    ],
)
def test_headers_that_do_not_hold_are_told(data, wrong):
    assert wrong in parse_header(data, len(data))


# Build packs


def test_a_build_pack_is_counted(tmp_path):
    findings = Findings()
    pack = read_build_pack(write_build_pack(BuildSpec(conversations=3, pairs=7), tmp_path), findings)
    assert findings.problems == []
    assert (pack.name.period, pack.name.language, pack.name.pack) == ("BASE", "1A", "BUILD")
    assert pack.descriptions == ("language_design.txt",)
    assert [(part.part, dict(part.kinds), part.transcribed) for part in pack.parts] == [
        ("dev", {"wav": 3, "sph": 3}, 6),
        ("training", {"wav": 3, "sph": 3}, 6),
    ]
    assert pack.hours == pytest.approx(12 * 0.01 / 3600)
    assert (pack.bitext.pairs, pack.bitext.source_words, pack.bitext.english_words) == (7, 84, 84)


def build_problems(root: Path) -> list[str]:
    findings = Findings()
    read_build_pack(root, findings)
    assert {problem.rule for problem in findings} <= {"M90"}
    return [f"{problem.place()}: {problem.message}" for problem in findings]


@pytest.mark.parametrize(
    ("path", "data", "place", "message"),
    [
        ("conversational/dev/audio/a.wav", wav_bytes(DICE, bits=16), "conversational/dev/audio/a.wav", "another kind"),
        (
            "conversational/dev/audio/a.sph",
            sphere_bytes(DICE, coding="ulaw"),
            "conversational/dev/audio/a.sph",
            "another kind",
        ),
        ("conversational/dev/audio/a.wav", sphere_bytes(DICE), "conversational/dev/audio/a.wav", "content is sph"),
        ("conversational/dev/audio/a.mp3", b"ID3", "conversational/dev/audio/a.mp3", "neither RIFF"),
        ("conversational/dev/audio/a.wav", wav_bytes(DICE), "conversational/dev/audio", "no transcript"),
        ("conversational/dev/transcription/b.txt", b"x", "conversational/dev/transcription/b.txt", "no sound"),
        ("conversational/dev/transcription/b.txt", b"", "conversational/dev/transcription/b.txt", "is empty"),
        ("bitext/more_bitext.txt", b"1\ta\tb\n2\ta\n3\ta\t\n", "bitext/more_bitext.txt:3", "not a pair"),
    ],
)
def test_what_is_wrong_in_a_build_pack_is_found(tmp_path, path, data, place, message):
    root = write_build_pack(BuildSpec(conversations=1), tmp_path)
    put(root / path, data)
    assert any(words.startswith(f"{place}: ") and message in words for words in build_problems(root))


def test_a_build_pack_without_its_parts_is_refused(tmp_path):
    (tmp_path / "IARPA_MATERIAL_BASE-1A-BUILD_v1.0").mkdir()
    root = tmp_path / "IARPA_MATERIAL_BASE-1A-BUILD_v1.0"
    assert is_build_pack(root)
    messages = " ".join(build_problems(root))
    for words in ("nothing describes the language", "no conversations", "no bitext"):
        assert words in messages
