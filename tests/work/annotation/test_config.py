"""The configuration of a use case is checked as a whole: every mistake with its line and its cure (R-14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.work.annotation.corpus import CONFIG, NFL, ROOT, nfl_config

from basanite.reports.theme import DARK, LIGHT
from basanite.work.annotation.config import read_config
from basanite.work.annotation.config.categories import COLOURS, contrast

PROTESTS = ROOT / "examples" / "annotation" / "protests"
SMALL = """\
annotation: small
version: 2
categories:
  Game: {frame: true, repeat: "1..", mention: optional, key: g}
  Team: {frame: true, in: Game, repeat: 2, name: {choices: [Jets, Bears]}, mention: span}
  Score: {in: Team, value: count, mention: span, inferred: true, key: s}
  Status: {in: Team, choices: {w: won, l: lost}, mention: span}
  Event: {in: Team, table: {type: {choices: [TD, FG]}, count: count, mention: span}}
layout: {left: text, right: {tabs: Game, columns: Team, order: [Score, Status, Event]}}
assert:
  - {for: Game, mint: "?g", then: ["?g type NFLGame"], provenance: {subject: mention}}
  - {for: Team, mint: {"?team": "{name}"}, then: ["?team type NFLTeam"], provenance: {subject: mention}}
  - {for: Score, mint: "?s", then: ["?g teamFinalScoreInGame ?s", "?s type TeamSummaryScore", "?s pointsScored ?value"],
     provenance: {object: mention}, no-text: ["?s"]}
  - {for: Status, when: won, then: ["?g gameWinner ?team"], provenance: {statement: mention}}
  - {for: Event, when: {type: TD}, sum: {"?n": count}, then: ["?s touchdownCompleteCount ?n"]}
migrate: [{from: 1, rename: {FinalScore: Score}}]
"""

BAD = {
    "no name": ("annotation: small", "title: small", 1, "no text under `annotation`", "write annotation"),
    "version": ("version: 2", "version: two", 2, "version: two", "a whole number"),
    "unknown key": ("layout:", "lay-out:", 9, "`lay-out` is not known", "Did you mean 'layout'"),
    "unknown category key": ("value: count, mention", "valu: count, mention", 6, "`valu` is not known", "'value'"),
    "type": ("value: count, mention", "value: cuont, mention", 6, "'cuont' is not a type", "Did you mean 'count'"),
    "parent": ("in: Game", "in: Gam", 5, "there is no category Gam", "Did you mean 'Game'"),
    "parent is not a frame": ("in: Team, value", "in: Status, value", 6, "is not a frame", "frame: true in Status"),
    "in itself": ('Game: {frame: true, repeat: "1.."', "Game: {in: Team, frame: true", 4, "lies in itself", "`in`"),
    "key taken": ("inferred: true, key: s", "inferred: true, key: g", 6, "is Game's already", "see line 4"),
    "reserved key": ("inferred: true, key: s", 'inferred: true, key: "?"', 6, "shows all keys", "letter or digit"),
    "long key": ("inferred: true, key: s", "inferred: true, key: Enter", 6, "'Enter' is not a key", "letter or digit"),
    "repeat": ("repeat: 2", "repeat: twice", 5, "repeat: 'twice'", '"1.."'),
    "repeat none": ("repeat: 2", 'repeat: "3..2"', 5, "allows none", "larger"),
    "mention": ("Status: {in: Team, choices: {w: won, l: lost}, mention: span}",
                "Status: {in: Team, choices: {w: won, l: lost}, mention: words}", 7, "'words'", "span"),
    "pale colour": ("value: count, mention", 'colour: "#ffff99", value: count, mention', 6, "light page", "darker"),
    "dark colour": ("value: count, mention", 'colour: "#000033", value: count, mention', 6, "dark page", "lighter"),
    "colour": ("value: count, mention", "colour: bleu, value: count, mention", 6, "'bleu' is not a color", "'blue'"),
    "choice twice": ("[Jets, Bears]", "[Jets, Bears, Jets]", 5, "'Jets' appears twice", "keep one"),
    "choice key": ("{w: won, l: lost}", "[{value: won, key: w}, {value: lost, key: w}]", 7, "'w' is won's", "another"),
    "no choices": ("[Jets, Bears]", "[]", 5, "0 choices", "give 1"),
    "choice file": ("[Jets, Bears]", "temas.csv", 5, "no file temas.csv", "put it beside"),
    "choice outside": ("[Jets, Bears]", "../teams.csv", 5, "leads elsewhere", "this folder"),
    "field twice": ("value: count, mention", "value: count, fields: {value: text}, mention", 6, "appears twice", "own"),
    "field name": ("value: count, mention", "fields: {n: text}, mention", 6, "not a name for a field", "not text"),
    "points nowhere": ("value: count, mention", "fields: {of: {object: Gaem}}, mention", 6, "Gaem", "'Game'"),
    "tabs": ("tabs: Game", "tabs: Gmae", 9, "Gmae is not a frame", "'Game'"),
    "columns": ("columns: Team", "columns: Score", 9, "Score is not a frame", "There are"),
    "order": ("order: [Score", "order: [Sore", 9, "no category Sore", "'Score'"),
    "for": ("for: Status", "for: Staus", 15, "no category Staus", "'Status'"),
    "class": ("?g type NFLGame", "?g type NFLGmae", 11, "nfl:NFLGmae is not a class", "'nfl:NFLGame'"),
    "property": ("?g gameWinner ?team", "?g gameWiner ?team", 15, "is not a property", "'nfl:gameWinner'"),
    "unbound": ("?g gameWinner ?team", "?g gameWinner ?taem", 15, "?taem stands for nothing", "'?team'"),
    "range": ("?g gameWinner ?team", "?g gameDate ?team", 15, "is not a xsd:date", "give it"),
    "range of fields": ("?s pointsScored ?value", "?s teamScoringAll ?value", 13, "is not a nfl:NFL", "change"),
    "range of a choice": ("?g gameWinner ?team", "?g numberOfPeriods ?value", 15, "'won' of Status.value", "change"),
    "domain": ("?g gameWinner ?team", "?team gameWinner ?team", 15, "belongs to a nfl:NFLGame", "use the thing"),
    "value as subject": ("?s pointsScored ?value", "?value pointsScored 3", 13, "cannot be a subject", "mint"),
    "query only": ("?g gameWinner ?team", "?g mrq:lessThan ?team", 15, "not a statement", "when"),
    "three terms": ("?g gameWinner ?team", "?g gameWinner", 15, "three terms", "subject, property"),
    "role": ("{statement: mention}", "{statment: mention}", 15, "not a role", "'statement'"),
    "slot": ("{statement: mention}", "{statement: mension}", 15, "no words for 'mension'", "'mention'"),
    "slot out of reach": ("{statement: mention}", "{statement: Event.mention}", 15, "not in reach", "There are"),
    "when value": ("when: won", "when: win", 15, "'win' is not a choice", "'won'"),
    "when field": ("{type: TD}", "{typ: TD}", 16, "no field typ", "'type'"),
    "when has": ("{type: TD}", "{has: Team}", 16, "no Team lies in a Event", "nothing lies"),
    "sum": ('{"?n": count}', '{"?n": cuont}', 16, "is not a number", "'count'"),
    "minted twice": ('mint: "?s"', 'mint: "?g"', 13, "?g is minted twice", "see line 11"),
    "name of a thing": ('"{name}"', '"{nmae}"', 12, "{nmae}", "'name'"),
    "one name for all": ('"{name}"', '"team"', 12, "every Team would be called team", "team-{n}"),
    "migrate from": ("{from: 1", "{from: 2", 17, "not an older version", "1 to 1"),
    "migrate to": ("{FinalScore: Score}", "{FinalScore: Sore}", 17, "Sore, which is not a category", "'Score'"),
    "anchor": ("version: 2", "version: &v 2", 2, "anchor", "remove"),
    "twice": ("version: 2", "annotation: other\nversion: 2", 2, "appears twice", "keep one"),
}  # fmt: skip


def problems_of(text: str, folder: Path = NFL) -> list[tuple[int | None, str, str]]:
    return [(one.line, one.message, one.fix) for one in read_config(text, folder)[1] if one.severity == "reject"]


def test_the_language_of_the_design_is_read_as_it_was_proposed():
    config, problems = read_config(SMALL, NFL)
    assert problems == ()
    assert config is not None
    assert (config.name, config.version, config.layout.tabs, config.layout.columns) == ("small", 2, "Game", "Team")
    assert [one.name for one in config.parts["Team"]] == ["Score", "Status", "Event"]
    assert [config.categories[name].most for name in ("Game", "Team", "Score", "Event")] == [None, 2, 1, None]
    assert [(one.value, one.key) for one in config.categories["Status"].field("value").choices] == [
        ("won", "w"),
        ("lost", "l"),
    ]
    assert config.categories["Event"].table
    assert config.categories["Score"].single


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_mistake_is_told_with_its_line_and_its_cure(name):
    old, new, line, message, fix = BAD[name]
    assert SMALL.count(old) >= 1
    config, problems = read_config(SMALL.replace(old, new, 1), NFL)
    found = [(one.line, one.message, one.fix) for one in problems]
    assert config is None
    assert any(at == line and message in words and fix in cure for at, words, cure in found), found


def test_all_mistakes_of_a_file_are_told_at_once():
    text = SMALL.replace("in: Game", "in: Gam").replace("key: s", "key: g").replace("gameWinner", "gameWiner")
    assert [line for line, _, _ in problems_of(text)] == sorted(line for line, _, _ in problems_of(text))
    assert {5, 6, 15} <= {line for line, _, _ in problems_of(text)}


def test_the_screen_of_the_published_figure_can_be_configured():
    config = nfl_config()
    team = {one.name: one for one in config.parts["Team"]}
    assert config.layout.text == "left"
    assert (config.layout.tabs, config.layout.columns) == ("Game", "Team")
    assert len(config.categories["Team"].field("name").choices) == 32
    assert list(team) == ["CalledBy", "Score", "Status", "HomeAway", "Event"]
    assert [one.value for one in team["Status"].field("value").choices] == ["won", "lost", "tied", "in-game"]
    assert [one.value for one in team["HomeAway"].field("value").choices] == ["home", "away", "unknown"]
    assert [one.name for one in team["Status"].slots] == ["mention", "team", "game"]
    assert team["Event"].table
    assert [one.name for one in team["Event"].fields] == ["type", "count", "mention", "team"]
    assert all(team[name].inferred for name in ("Score", "Status", "HomeAway", "Event"))
    assert "Marking text" in config.guidelines


def test_the_example_on_the_page_about_the_language_is_in_order():
    page = (ROOT / "docs" / "reference" / "annotation-language.md").read_text(encoding="utf-8")
    text = page.partition("```yaml\n")[2].partition("```")[0]
    config, problems = read_config(text, NFL)
    assert problems == ()
    assert config is not None
    assert config.name == "nfl-small"


def test_a_quite_different_use_case_needs_a_file_and_no_code():
    config, problems = read_config(PROTESTS / "annotation.yaml")
    assert problems == ()
    assert config is not None
    assert config.categories["Protest"].field("organiser").of == ("Actor",)
    assert [one.title for one in config.categories["Protest"].field("form").choices][3] == "Sit-in"


def test_choices_of_a_file_are_checked_with_the_lines_of_that_file(tmp_path):
    (tmp_path / "teams.csv").write_text("value;title\nJets,New York Jets\n", encoding="utf-8")
    text = SMALL.replace("[Jets, Bears]", "teams.csv")
    config, problems = read_config(write(tmp_path, text), NFL)
    assert config is None
    assert {(one.file, one.line) for one in problems if one.severity == "reject"} >= {("teams.csv", 1)}
    (tmp_path / "teams.csv").write_text(
        'value,title,key\nJets,"Jets, New York",j\n,,\nJets,Bears,j\n', encoding="utf-8"
    )
    problems = read_config(write(tmp_path, text), NFL)[1]
    assert [(one.file, one.line) for one in problems] == [("teams.csv", 4)]
    (tmp_path / "teams.tsv").write_bytes(b"value\tkey\nJets\tj\nBears\tb\n")
    config, problems = read_config(write(tmp_path, SMALL.replace("[Jets, Bears]", "teams.tsv")), NFL)
    assert problems == ()
    assert config is not None
    assert [one.key for one in config.categories["Team"].field("name").choices] == ["j", "b"]


def write(folder: Path, text: str) -> Path:
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["link.csv", "/etc/passwd", "a\\b.csv", "sub/../../x.csv"])
def test_no_file_is_read_through_a_link_or_outside_the_folder(name, tmp_path):
    (tmp_path / "link.csv").symlink_to(CONFIG)
    text = SMALL.replace("[Jets, Bears]", f"'{name}'" if name.endswith("csv") else f"'{name}.csv'")
    assert any(one.rule == "X-8" for one in read_config(write(tmp_path, text), NFL)[1])


@pytest.mark.parametrize(
    "text",
    ["", "[]", "x", "categories: 3", "\x00", "annotation: a\nversion: 1\ncategories: {}", "a: " * 100, "\ud800",
     "annotation: a\nversion: 999999999999999999999\ncategories: {A: {mention: span}}", "? [a]\n: b"],
)  # fmt: skip
def test_whatever_stands_in_the_file_gives_problems_and_no_crash(text):
    config, problems = read_config(text, NFL)
    assert config is None
    assert problems


def test_without_ontology_or_namespace_the_check_says_what_to_give(tmp_path):
    found = problems_of(SMALL, tmp_path)
    assert any("no file ontology.ttl" in words for _, words, _ in found)
    assert any("no namespace" in words and "reading package" in fix for _, words, fix in found)


def test_every_colour_by_name_stands_out_on_light_and_dark_pages():
    for palette in (LIGHT, DARK):
        assert all(contrast(getattr(palette, name), palette.card) >= 3 for name in COLOURS.values())


def test_a_category_that_asserts_nothing_is_a_warning_and_stops_nobody():
    text = "\n".join(line for line in SMALL.splitlines() if not line.startswith("  - {for: Event"))
    config, problems = read_config(text, NFL)
    assert config is not None
    assert [(one.severity, one.line) for one in problems] == [("warn", 8)]
