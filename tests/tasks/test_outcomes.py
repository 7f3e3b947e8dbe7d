"""Runs that remember mistakes: every miss and false alarm, the worst first, and images only where they are real."""

import json
import struct
import zlib

import numpy as np
import pytest
from tests.tasks import folders

from basanite.analysis.mistakes import level_counts
from basanite.cli.held_key import HeldKeyScorer
from basanite.errors import SettingError
from basanite.tasks import Inputs
from basanite.tasks.retrieval.mistakes import mistakes_of, remembering, with_images

RNG = np.random.default_rng(8)
RELEVANT = RNG.random((5, 20)) < 0.3
SCORE = RNG.integers(0, 100_001, (5, 20))
RETURNED = SCORE > 60_000


def png(width=1024, height=768):
    """The smallest picture of this size: one grey."""
    pixels = zlib.compress(bytes((width + 1) * height), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (b"IHDR" + header, b"IDAT" + pixels, b"IEND")
    chunks = (struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part)) for part in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def summary(query, document):
    name = f"FLAIR.Sys1.{query}.{document}"
    data = {
        "team_id": "FLAIR",
        "sys_label": "Sys1",
        "uuid": "01234567-89ab-cdef-0123-456789abcdef",
        "query_id": query,
        "document_id": document,
        "run_name": "run",
        "run_date_time": "2018-06-01T12:00:00Z",
        "image_filename": f"{name}.png",
        "content_list": ["words"],
    }
    return {f"{query}/{name}.json": json.dumps(data).encode(), f"{query}/{name}.png": png()}


def end_to_end_files(returned, score):
    """A folder for each query: rows with a fourth field, metadata and images."""
    files = {}
    names = folders.documents(len(returned[0]))
    for query, row, numbers in zip(folders.queries(len(returned)), returned, score, strict=True):
        lines = []
        for name, flag, number in zip(names, row, numbers, strict=True):
            field = f"\tFLAIR.Sys1.{query}.{name}.json" if flag else ""
            lines.append(f"{name}\t{folders.letter(flag)}\t{folders.confidence(int(number))}{field}\n")
            files |= summary(query, name) if flag else {}
        files[f"{query}/{query}.tsv"] = "".join(lines).encode()
    return files


def end_to_end(tmp_path, relevant, returned, score):
    for path, data in end_to_end_files(returned, score).items():
        (tmp_path / "Sys" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "Sys" / path).write_bytes(data)
    key = folders.written(tmp_path / "key", folders.key_files(relevant))
    return HeldKeyScorer("e2e", {}).run(Inputs(tmp_path / "Sys", key), remembering)


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory):
    files = folders.run(tmp_path_factory.mktemp("run"), RELEVANT, RETURNED, SCORE)
    run = HeldKeyScorer("clir", {}).run(Inputs(files["submission"], files["reference"]), remembering)
    return mistakes_of(run, "Alpha")


def as_sets(mistakes):
    return {
        (int(query), int(document), bool(missed), round(float(confidence) * 100_000))
        for query, document, missed, confidence in zip(
            mistakes.query, mistakes.document, mistakes.missed, mistakes.confidence, strict=True
        )
    }


def test_every_miss_and_false_alarm_is_there_and_nothing_else(mistakes):
    wanted = {
        (int(query), int(document), bool(RELEVANT[query, document]), int(SCORE[query, document]))
        for query, document in np.argwhere(RELEVANT != RETURNED)
    }
    assert as_sets(mistakes) == wanted
    assert len(mistakes) == len(wanted) == mistakes.misses + mistakes.false_alarms


def test_the_worst_come_first_and_each_outcome_has_half_the_room(mistakes):
    listed = mistakes.worst(6)
    missed = mistakes.missed[listed]
    assert missed.sum() == 3
    assert sorted(mistakes.confidence[mistakes.missed])[:3] == mistakes.confidence[listed][missed].tolist()
    alarms = mistakes.confidence[listed][~missed].tolist()
    assert sorted(mistakes.confidence[~mistakes.missed], reverse=True)[:3] == alarms
    assert (np.diff(mistakes.badness()[listed]) <= 0).all()


@pytest.mark.parametrize("most", [1, 2, 25, 10_000])
def test_room_that_one_outcome_does_not_need_goes_to_the_other(mistakes, most):
    listed = mistakes.worst(most)
    assert len(listed) == len(set(listed.tolist())) == min(most, len(mistakes))


def test_counts_by_factor_add_up_to_all_mistakes(tmp_path):
    files = folders.run(tmp_path, RELEVANT, RETURNED, SCORE)
    names = folders.documents(20)
    (tmp_path / "d.tsv").write_text("document\tgenre\n" + "".join(f"{name}\tNT\n" for name in names[:12]))
    inputs = Inputs(files["submission"], files["reference"], metadata=(tmp_path / "d.tsv",))
    found = mistakes_of(HeldKeyScorer("clir", {}).run(inputs, remembering), "Alpha")
    genre = level_counts(found)["genre"]
    assert set(genre) == {"NT", ""}
    misses = (RELEVANT & ~RETURNED)[:, :12].sum()
    assert genre["NT"] == {"miss": misses, "false alarm": (RETURNED & ~RELEVANT)[:, :12].sum()}


def test_false_alarms_of_an_end_to_end_system_come_with_the_image_that_was_shown(tmp_path):
    relevant, returned = [[1, 0, 0, 1]], [[1, 1, 1, 0]]
    run = end_to_end(tmp_path, relevant, returned, [[90_000, 80_000, 95_000, 1_000]])
    found = mistakes_of(run, "Sys")
    shown = with_images(found, run, found.worst(10), most=1).images
    document = folders.documents(4)[2]
    assert list(shown) == [("query00001", document)]  # the false alarm with the highest confidence
    assert shown["query00001", document].content == png()
    assert shown["query00001", document].media_type == "image/png"
    assert len(with_images(found, run, found.worst(10), most=9).images) == 2
    assert with_images(found, run, found.worst(10), most=0).images == {}


def test_a_file_that_has_stopped_being_an_image_is_not_shown(tmp_path):
    run = end_to_end(tmp_path, [[0, 0]], [[1, 0]], [[90_000, 10]])
    found = mistakes_of(run, "Sys")
    image = next((tmp_path / "Sys").rglob("*.png"))
    image.write_bytes(b"<svg onload=alert(1)>")
    assert with_images(found, run, found.worst(9), most=9).images == {}


def test_tasks_that_do_not_decide_for_queries_are_refused():
    with pytest.raises(SettingError, match="clir or e2e"):
        remembering(object())
