"""Reviews as collections give them: packed or not, under other names, with gaps that are refused, dropped or kept."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest
from tests.cli.running import here

PLAN = """
format = "basanite-plan/1"
name = "reviews"
title = "Reviews"
seed = 3
[tasks.reviews]
data = {{ reader = "reviews", path = "{file}"{more} }}
{targets}
metric = "mrmse"
train_share = 0.6
n = 24
folds = 2
margin = 0.1
features = {{ module = "bow", parameters = {{ size = 30 }} }}
strong = {{ module = "lda-ridge", parameters = {{ topics = [2] }} }}
[[teams]]
letter = "a"
name = "Alpha"
[teams.systems.reviews]
preprocessor = {{ module = "words", parameters = {{ size = 30 }} }}
learner = {{ module = "msda" }}
linear = "svr-linear"
"""
WORDS = ["good", "bad", "slow", "warm", "soup", "fish", "late", "kind", "loud", "fair", "dark", "calm"]


def reviews(count=60):
    """Texts with five ratings of 1 to 5."""
    for at in range(count):
        words = " ".join(WORDS[(at * step + step) % len(WORDS)] for step in range(1, 12))
        yield {"text": f"{words} number {at}", "stars": at % 5 + 1, "place": f"p{at % 7}"}


def amazon(row):
    return {"overall": float(row["stars"]), "reviewText": row["text"], "asin": row["place"], "style": {"Size:": "L"}}


def yelp(row):
    return {"review_id": row["text"][-3:], "stars": row["stars"], "text": row["text"], "business_id": row["place"]}


def tripadvisor(row):
    ratings = {"overall": row["stars"], "service": 6 - row["stars"], "sleep quality": 3}
    return {"ratings": ratings, "title": "x", "text": row["text"], "offering_id": row["place"]}


def opentable(row):
    rating = row["stars"]
    names = {"OverallRating": rating, "Food": rating, "Ambience": rating, "Service": 3, "Noise Level": 2}
    return {"ReviewBody": row["text"], "Restaurant": row["place"], **names}


LAYOUTS = {
    "amazon": (amazon, "overall", "asin"),
    "yelp": (yelp, "overall", "business_id"),
    "tripadvisor": (tripadvisor, "overall,service", "offering_id"),
    "opentable": (opentable, "overall,food,ambiance,service,noise", "Restaurant"),
}


def plan(folder, file, targets="", more=""):
    names = ", ".join(f'"{name}"' for name in targets.split(",") if name)
    text = PLAN.format(file=file, more=more, targets=f"targets = [{names}]" if names else "")
    (folder / "plan.toml").write_text(text)


def check(folder):
    return here("harness", "check", "plan.toml", cwd=folder)


def counted(folder):
    """What is printed of the data before the run, and the test rows of each target."""
    ended = here("harness", "run", "plan.toml", "--out", "out", "--only", "1", "--reason", "to see", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.stderr.splitlines()[0]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.req("T-26", "H-41", "D-6")
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".json.gz", ".csv"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reviews_of_known_collections_are_read_whatever_their_file_is_called(tmp_path, layout, ending):
    make, targets, _ = LAYOUTS[layout]
    rows = [make(row) for row in reviews()]
    if ending == ".csv":
        out = io.StringIO()
        flat = [{**row, **row.get("ratings", {})} for row in rows]
        names = [name for name in flat[0] if name not in ("ratings", "style")]
        writer = csv.DictWriter(out, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(flat)
        text = out.getvalue()
    else:
        text = lines(rows)
    (tmp_path / f"r{ending}").write_bytes(gzip.compress(text.encode()) if ending == ".json.gz" else text.encode())
    plan(tmp_path, f"r{ending}", targets)
    found = check(tmp_path)
    assert found.code == 0, found.stderr
    assert "the plan and its data are in order" in found.stdout
    assert found.stderr.startswith("reviews: reviews 60")


@pytest.mark.req("T-26", "H-41")
@pytest.mark.parametrize("layout", ["amazon", "opentable"])
def test_published_counts_stand_only_beside_files_like_the_published_corpus(tmp_path, layout):
    make, targets, _ = LAYOUTS[layout]
    (tmp_path / "r.json").write_text(lines(make(row) for row in reviews()))
    plan(tmp_path, "r.json", targets)
    told = counted(tmp_path)
    if layout == "opentable":
        assert "reviews 60 (433697 published), restaurants 7 (10066 published)" in told
    else:
        assert "reviews 60, groups 7, reviews per group 8.6" in told
        assert "published" not in told
        assert "restaurant" not in told


@pytest.mark.req("T-26")
@pytest.mark.parametrize("missing", ["", "refuse", "drop", "keep"])
def test_missing_texts_and_ratings_are_refused_dropped_or_kept_and_counted(tmp_path, missing):
    rows = [opentable(row) for row in reviews()]
    for at, name in ((3, "ReviewBody"), (5, "Food"), (6, "Food"), (7, "Noise Level")):
        rows[at][name] = None
    del rows[8]["Noise Level"]
    (tmp_path / "r.jsonl").write_text(lines(rows))
    plan(tmp_path, "r.jsonl", "overall,food,noise", f', missing = "{missing}"' if missing else "")
    if missing in ("", "refuse"):
        refused = check(tmp_path)
        assert refused.code == 1
        told = refused.stderr.splitlines()[:-1]
        assert [line.partition(" [")[0] for line in told] == [
            "r.jsonl:4: there is no text",
            "r.jsonl:6: there is no rating 'food' in 2 of 60 reviews",
            "r.jsonl:8: there is no rating 'noise' in 2 of 60 reviews",
        ]
        return
    told = counted(tmp_path)
    assert told.startswith(f"reviews: reviews {55 if missing == 'drop' else 60} ")
    fate = "dropped" if missing == "drop" else "kept"
    assert told.endswith(f"1 without 'ReviewBody', 2 without 'food', 2 without 'noise' ({fate})")


@pytest.mark.req("T-26")
def test_a_kept_review_is_in_no_split_of_a_rating_that_it_lacks(tmp_path):
    rows = [opentable(row) for row in reviews()]
    for row in rows[:20]:
        row["Food"] = None
    (tmp_path / "r.jsonl").write_text(lines(rows))
    plan(tmp_path, "r.jsonl", "overall,food", ', missing = "keep"')
    counted(tmp_path)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    told = manifest["splits"]["reviews"]
    sizes = {name: sum(one["folds"]) + one["validation"] + one["test"] for name, one in told.items()}
    assert sizes == {"overall": 60, "food": 40}


REFUSED = {
    "a rating out of range": ({"stars": 9}, "overall", "rating 'stars' is not from 1 to 5"),
    "a text that is none": ({"text": 4}, "overall", "column 'text' holds no text"),
    "no such rating": ({}, "noise", "there is no rating 'noise'"),
    "two overall ratings": (
        {"rating": 3},
        "overall",
        "columns 'stars' and 'rating' could each be",
    ),
}


@pytest.mark.req("T-26", "D-4", case="bad")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_review_is_refused_with_its_line(tmp_path, name):
    changes, targets, words = REFUSED[name]
    rows = [yelp(row) for row in reviews(30)]
    rows[0] |= changes
    (tmp_path / "r.json").write_text(lines(rows))
    plan(tmp_path, "r.json", targets)
    refused = check(tmp_path)
    assert refused.code in (1, 2)
    assert words in refused.stderr


def test_a_range_of_the_plan_is_the_range_of_ratings(tmp_path):
    rows = [{**yelp(row), "stars": 2 * row["stars"]} for row in reviews()]
    (tmp_path / "r.json").write_text(lines(rows))
    plan(tmp_path, "r.json", "overall")
    assert "is not from 1 to 5" in check(tmp_path).stderr
    text = (tmp_path / "plan.toml").read_text().replace('metric = "mrmse"', 'metric = "mrmse"\nrange = [1, 10]')
    (tmp_path / "plan.toml").write_text(text)
    assert check(tmp_path).code == 0
    (tmp_path / "plan.toml").write_text(text.replace('"reviews", path', '"reviews", missing = "guess", path'))
    assert "write refuse, drop, keep" in check(tmp_path).stderr
