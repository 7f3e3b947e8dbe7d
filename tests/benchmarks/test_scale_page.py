"""The page on capacity quotes the newest full run as it is recorded, and every table has its place."""

import json

import pytest

import scale_page

CALL = {"wait": 0.02, "web": 0.01, "database": 0.001, "caller": 0.002, "writer": 0.0}
SPENT = {"count": 20, "cpu": 1.5, "database": 0.01, "writer": 0.02}


def a_size(stored, times=1.0):
    calls = {name: CALL | {"web": CALL["web"] * times} for name in scale_page.CALLS}
    return {"stored": stored, "bytes": stored * 12_000, "round": {"wait": 0.03, "cpu": 0.02}, "calls": calls}


def an_engine():
    queue = [{"processes": count, "rate": count / 2, "place": 2.0, **SPENT} for count in (1, 2)]
    mix = {"list": 0.5, "board": 0.48, "submit": 0.02}
    crew = {"processes": 2, "users": 20, "thinking": 1.0, "stored": 100_000, "mix": mix, "cores": 2}
    sizes = [a_size(1_000), a_size(100_000, 3.0)]
    return {
        "queue": queue,
        "small": queue[0] | {"idle": 0.002},
        "growth": {
            "few": CALL | {"web": 0.004},
            "teams": {"few": 10, "all": 40},
            "sizes": sizes,
            "files": {"sent": 700, "ours": 30_000},
        },
        "check": {"crew": crew, "queue": queue[1], "seen": {"per_second": 18.0, "mean": 0.05}},
    }


@pytest.fixture
def line():
    engines = {"sqlite": an_engine(), "postgresql": an_engine()}
    comparing = [{"systems": 40, "cpu": 4.0, "memory": 200_000_000, "bytes": 3_000_000}]
    return {"quick": False, "archive": 15_000_000, "engines": engines, "comparing": comparing}


def test_the_page_says_what_the_newest_full_run_found():
    text = scale_page.PAGE.read_text(encoding="utf-8")
    assert scale_page.page_with(text, scale_page.newest()) == text


def test_every_table_is_put_where_its_name_stands_and_nothing_else_changes(line):
    made = scale_page.tables(line)
    places = "\n".join(f"<!-- {name}: x -->\n\n<!-- end of {name} -->" for name in made)
    found = scale_page.page_with(f"before\n{places}\nafter", line)
    assert found.startswith("before\n")
    assert found.endswith("\nafter")
    assert all(table in found for table in made.values())
    assert scale_page.page_with(found, line) == found


def test_a_page_without_a_place_for_a_table_is_refused(line):
    with pytest.raises(SystemExit, match="queue"):
        scale_page.page_with("nothing", line)


def test_growth_is_that_of_web_and_database_together(line):
    one = line["engines"]["sqlite"]
    assert scale_page.grown(one, "list") == pytest.approx(0.031 / 0.011)
    assert scale_page.grown_round(one) == 1.0


def test_quick_runs_are_not_quoted(tmp_path, line):
    path = tmp_path / "scale.jsonl"
    lines = [line | {"date": "1"}, line | {"date": "2"}, line | {"date": "3", "quick": True}]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert scale_page.newest(path)["date"] == "2"
    path.write_text(json.dumps(lines[2]) + "\n")
    with pytest.raises(SystemExit, match="no full run"):
        scale_page.newest(path)


def test_the_model_is_asked_with_figures_of_the_right_engine(line):
    line["engines"]["postgresql"]["queue"][0]["place"] = 4.0
    places = {event.name: figures.scoring.place for event, _, figures in scale_page.cases(line)}
    assert places == {"10 teams": 2.0, "1,000 teams": 4.0, "public event": 4.0}


def test_the_pairs_behind_a_board_are_counted_once_each(line):
    assert "| 40 | 780 | 4 | 200 | 3 |" in scale_page.tables(line)["comparing"]
