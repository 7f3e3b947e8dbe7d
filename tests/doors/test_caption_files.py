"""Caption files as COCO ships them and as people send them, by the command (T-16)."""

from __future__ import annotations

import json

import pytest
from pycocoevalcap.cider.cider import Cider
from tests.cli.running import here
from tests.metrics.test_captions import plain_cider

PEOPLE = {
    31: ("A dog sleeps on a red sofa.", "The dog is asleep on the sofa."),
    7: ("Two boys fly a kite.", "Boys with a kite in a field."),
    12: ("A bus waits in the rain.", "A red bus stands in the street."),
}
SYSTEM = {7: "two boys with a kite", 31: "a dog on the sofa the sofa", 12: "a bus in the street"}
LISTED = [
    {"image_id": image, "id": 10 * image + at, "caption": text}
    for image in PEOPLE
    for at, text in enumerate(PEOPLE[image])
]
RESULTS = [{"image_id": image, "caption": text} for image, text in SYSTEM.items()]


def photo(number):
    """An image as COCO lists it."""
    address = f"http://images.cocodataset.org/val2014/COCO_val2014_{number:012}.jpg"
    size = {"height": 480, "width": 640, "date_captured": "2013-11-14 11:18:45"}
    return {"license": 3, "file_name": address.rpartition("/")[2], "coco_url": address, **size, "id": number}


SHIPPED = {
    "info": {"description": "by hand", "version": "1.0", "year": 2014},
    "images": [photo(number) for number in (*PEOPLE, *range(100, 500))],
    "licenses": [{"url": "http://example.org", "id": 3, "name": "by hand"}],
    "annotations": LISTED + [{"image_id": at, "id": at, "caption": f"Photo {at}."} for at in range(100, 500)],
}


@pytest.fixture
def there(tmp_path):
    for name, value in {"people.json": LISTED, "system.json": RESULTS}.items():
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


def run(folder, *more, reference="people.json", submission="system.json", command="score"):
    draws = ("--draws", "20") if command == "score" else ()
    files = ("--reference", reference, "--submission", submission)
    return here(command, "captions", *files, *draws, *more, cwd=folder)


def values(ended):
    assert ended.code == 0, ended.stderr
    return {name: one["value"] for name, one in ended.data["values"].items()}


@pytest.mark.req("T-16", "D-6")
def test_a_bare_list_of_captions_is_a_reference_and_cider_is_that_of_its_authors(there):
    found = values(run(there, "--json"))
    answers = [SYSTEM[image] for image in PEOPLE]
    people = [[text.lower().replace(".", "") for text in texts] for texts in PEOPLE.values()]
    peer, _ = Cider().compute_score(dict(enumerate(people)), {at: [text] for at, text in enumerate(answers)})
    assert found["cider_d"] == pytest.approx(peer)
    assert found["cider"] == pytest.approx(sum(plain_cider(answers, people)) / 3)
    assert found["cider"] > found["cider_d"] > 0


@pytest.mark.req("T-16", "D-3")
def test_annotations_are_read_as_coco_ships_them_with_megabytes_of_images_before_them(there):
    everything = RESULTS + [{"image_id": at, "caption": "a photo"} for at in range(100, 500)]
    (there / "captions_val2014.json").write_text(json.dumps(SHIPPED))
    (there / "all.json").write_text(json.dumps(everything))
    (there / "list.json").write_text(json.dumps(SHIPPED["annotations"]))
    shipped = run(there, "--json", reference="captions_val2014.json", submission="all.json")
    assert values(shipped) == values(run(there, "--json", reference="list.json", submission="all.json"))
    assert shipped.data["values"]["cider_d"]["units"] == 403


@pytest.mark.req("T-16")
def test_several_captions_of_an_image_are_refused_by_its_name_or_the_first_is_taken(there):
    (there / "several.json").write_text(json.dumps([*RESULTS, {"image_id": 7, "caption": "a kite"}]))
    refused = run(there, submission="several.json")
    assert refused.code == 1
    assert "image '7' has several captions [T-4]. Fix: keep one for each image" in refused.stderr
    assert "--set several=first" in refused.stderr
    first = run(there, "--json", "--set", "several=first", submission="several.json")
    assert values(first) == values(run(there, "--json"))
    warning = first.data["warnings"][0]["message"]
    assert warning == "1 of 3 images have several captions, such as '7': the first of each counts"
    assert first.data["settings"]["several"] == "first"


@pytest.mark.req("T-16", "D-7")
def test_where_most_images_have_several_captions_it_is_said_once(there):
    (there / "several.json").write_text(json.dumps(RESULTS * 2))
    problems = run(there, "--json", submission="several.json", command="validate").data["problems"]
    assert [one["message"] for one in problems] == ["3 of 3 images have several captions, such as '7'"]


@pytest.mark.req("T-16", "D-4")
def test_annotations_of_objects_are_no_captions(there):
    boxes = [{"image_id": image, "id": image, "bbox": [1, 2, 3, 4], "category_id": 18} for image in PEOPLE]
    (there / "instances_val2014.json").write_text(json.dumps({"annotations": boxes}))
    refused = run(there, reference="instances_val2014.json")
    assert refused.code == 1
    assert "none of 3 entries has a caption" in refused.stderr
    (there / "empty.json").write_text("[]")
    assert "there is no item in it" in run(there, reference="empty.json").stderr
