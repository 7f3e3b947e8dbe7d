"""Hidden checks that the product makes itself are added by a command, and stand among what is judged (R-29)."""

from __future__ import annotations

import csv
import json

import pytest
from tests.cli.running import JUDGING, forked
from tests.journeys.world import campaign_text, window_text

TEXTS = (
    "It rained all night in the valley, and by morning the road was closed to everybody.",
    "We took the slow train along the coast, because it stops at every village there.",
    "The new clinic opens on Monday, stays open until nine, and has four doctors.",
)


@pytest.fixture
def admin(tmp_path):
    """Organizers' commands on a campaign with a panel that scores texts, and one that only says yes or no."""

    def run(*words, code=0):
        ended = forked("admin", *words, "--data", tmp_path / "season", "--json", cwd=tmp_path)
        assert ended.code == code, ended
        return json.loads(ended.stdout)

    (tmp_path / "campaign.toml").write_text(campaign_text(window_text("search", "Search", "CLIR")))
    run("campaign", "add", "campaign.toml")
    for name, scheme, column in (("ease", "slider", "text"), ("key", "key-query", "document")):
        run("panel", "create", JUDGING / "schemes" / f"{scheme}.toml", "--name", name)
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([column, "query" if name == "key" else "passage"])
            writer.writerows((text, f"p{number}") for number, text in enumerate(TEXTS))
        assert run("panel", "items", name, f"{name}.csv")["new"] == 3
    return run


@pytest.mark.req("R-29")
def test_copies_with_words_of_another_item_become_hidden_checks(admin, tmp_path):
    assert admin("panel", "controls", "ease", "--count", "2")["new"] == 2
    assert admin("panel", "controls", "ease", "--count", "2")["new"] == 0, "the same seed makes the same copies"
    admin("panel", "open", "ease")
    ended = forked("admin", "panel", "batch", "export", "ease", "--out", "batch", "--data", "season", cwd=tmp_path)
    assert ended.code == 0, ended
    shown = [row["text"] for row in csv.DictReader((tmp_path / "batch" / "batch.csv").read_text().splitlines())]
    worse = [text for text in shown if text not in TEXTS]
    assert len(worse) == 2
    for text in worse:
        shared = [len(set(text.split()) & set(one.split())) for one in TEXTS]
        assert sum(count >= 2 for count in shared) >= 2, "most words of one item, some of another"


@pytest.mark.req("R-29")
def test_where_no_answer_could_show_it_no_check_is_made(admin):
    told = admin("panel", "controls", "key", "--count", "1", code=1)
    assert [one["rule"] for one in told["problems"]] == ["R-29"]
