"""COCO annotations and results: what is read, and every mistake with its place."""

import json

import pytest

from basanite.errors import UnreadableError
from basanite.formats.records import Place
from basanite.formats.texts.captions import LONGEST, read_annotations, read_results
from basanite.problems import Findings

REFERENCE, SUBMISSION = Place("reference", "T-4"), Place("submission", "T-4")


def written(folder, value, name="captions.json"):
    path = folder / name
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def annotations(folder, value):
    findings = Findings()
    return read_annotations(written(folder, value), REFERENCE, findings), findings


def results(folder, value):
    findings = Findings()
    return read_results(written(folder, value), SUBMISSION, findings), findings


def said(findings):
    return [problem.message for problem in findings]


def test_annotations_are_gathered_by_image_in_the_order_of_the_file(tmp_path):
    listed = [(7, "a cat"), ("b.jpg", "two dogs"), (7, ""), (7, "a cat")]
    value = {"annotations": [{"id": at, "image_id": image, "caption": text} for at, (image, text) in enumerate(listed)]}
    items, findings = annotations(tmp_path, value)
    assert findings.valid
    assert dict(zip(items.ids, items.content, strict=True)) == {"7": ("a cat", "", "a cat"), "b.jpg": ("two dogs",)}
    assert items.digest.startswith("sha256:")


def test_results_have_one_caption_for_each_image_and_a_byte_order_mark_does_no_harm(tmp_path):
    items, findings = results(tmp_path, b'\xef\xbb\xbf[{"image_id": 1, "caption": "caf\xc3\xa9"}]')
    assert findings.valid
    assert (items.ids, items.content) == (("1",), ("café",))


def test_every_mistake_in_results_is_told_with_its_line(tmp_path):
    lines = [
        '[{"image_id": 1, "caption": "a"},',
        '{"image_id": 1, "caption": "b"},',
        '{"image_id": true, "caption": "c"},',
        '{"image_id": 4, "caption": 5},',
        '{"image_id": 5, "caption": "the key \\"image_id\\": is quoted"}]',
    ]
    items, findings = results(tmp_path, "\n".join(lines).encode())
    found = sorted((problem.line, problem.message) for problem in findings)
    assert found == [
        (2, "image '1' has several captions"),
        (3, "entry 3 has no image_id"),
        (4, "entry 4 has no caption"),
    ]
    assert items.ids == ("1", "5")
    assert all(problem.rule == "T-4" and problem.fix for problem in findings)


def test_entries_that_are_no_objects_are_numbered_where_lines_are_not_known(tmp_path):
    _, findings = results(tmp_path, [1, None, {"caption": "a"}, {"image_id": 2}])
    assert [(problem.line, problem.message) for problem in findings] == [
        (None, "entry 1 is not an object"),
        (None, "entry 2 is not an object"),
        (None, "entry 3 has no image_id"),
        (None, "entry 4 has no caption"),
    ]


@pytest.mark.parametrize("value", [{}, {"annotations": {}}, 3, None, "text"], ids=str)
def test_a_reference_without_a_list_of_annotations_is_refused(tmp_path, value):
    items, findings = annotations(tmp_path, value)
    assert items is None
    assert said(findings) == ["there is no list of annotations"]


def test_results_that_are_no_list_are_refused(tmp_path):
    items, findings = results(tmp_path, {"annotations": []})
    assert items is None
    assert said(findings) == ["this is not a list of results"]


def test_listed_images_must_fit_the_annotations(tmp_path):
    value = {
        "images": [{"id": 1}, {"id": 2}, {"name": "x"}],
        "annotations": [{"image_id": 1, "caption": "a"}, {"image_id": 3, "caption": "b"}],
    }
    _, findings = annotations(tmp_path, value)
    assert [(problem.severity, problem.message) for problem in findings] == [
        ("reject", "an image in the list of images has no id"),
        ("reject", "image '3' is not in the list of images"),
        ("warn", "image '2' has no caption, so it is left out"),
    ]
    _, other = annotations(tmp_path, {"images": 5, "annotations": []})
    assert said(other) == ["images is not a list"]


@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (b'[{"image_id": 1,\n "caption": "a"},\n oops]', "T-4", 3),
        (b"", "T-4", 1),
        (b'[{"image_id": 1, "caption": "\xff"}]', "T-4", 1),
        (b'[{"image_id": 1, "image_id": 2, "caption": "a"}]', "T-4", None),
        (b"[" * 1000 + b"]" * 1000, "X-8", None),
        (b'[{"image_id": NaN, "caption": "a"}]', "T-4", None),
    ],
    ids=["broken", "empty", "no UTF-8", "key twice", "deep", "not a number"],
)
def test_what_is_no_plain_json_is_one_problem(tmp_path, data, rule, line):
    items, findings = results(tmp_path, data)
    assert items is None
    assert [(problem.rule, problem.line) for problem in findings] == [(rule, line)]


def test_a_caption_as_long_as_a_book_and_a_name_of_many_digits_are_refused(tmp_path):
    value = [{"image_id": 1, "caption": "a" * (LONGEST + 1)}, {"image_id": 10**30, "caption": "a"}]
    _, findings = results(tmp_path, value)
    assert said(findings) == ["entry 1 has a caption that is too long", "entry 2 has no image_id"]


def test_a_file_that_is_not_there_is_an_error_with_a_cure(tmp_path):
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_results(tmp_path / "none.json", SUBMISSION, Findings())
