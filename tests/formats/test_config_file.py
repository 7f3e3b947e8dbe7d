"""Configuration files: whatever a class says is in the reference, and an entry that does not fit hides no other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from basanite.campaign.model import plan as campaign
from basanite.formats.config_file import Like, Name, Needed, Section, Texts, read_section, section_entries
from basanite.formats.toml_file import Table
from basanite.harness import conditions, plan
from basanite.work import questions, scheme

PAGES = {
    "campaign-file": (campaign,),
    "plan": (plan, conditions),
    "judging-schemes": (scheme, questions),
}


@dataclass(frozen=True)
class Row(Section):
    """A row of a file."""

    id: Name
    title: Annotated[str, Like("id")]
    size: Annotated[int, Field(ge=1, le=9)] = 3
    kind: Literal["plain", "odd"] = "plain"
    names: Texts = ()


@dataclass(frozen=True)
class Whole(Section):
    """A file."""

    name: Name
    when: Annotated[str, Needed("{place} does not say when", "write {key} = …", rule="R-1")]
    rows: tuple[Row, ...] = ()


def read(**values: Any) -> tuple[Any, list[tuple[str, str]]]:
    table = Table(values, (), "f", {})
    found = read_section(Whole, table)
    return found, [(problem.message, problem.fix) for problem in table.findings]


def test_what_is_in_order_becomes_a_value_and_no_problem():
    found, problems = read(name="n", when="now", rows=[{"id": "a", "names": ["x", "y"]}])
    assert problems == []
    assert found == Whole("n", "now", (Row("a", "a", 3, "plain", ("x", "y")),))


def test_everything_that_does_not_fit_is_reported_and_stands_as_its_default():
    found, problems = read(
        name="a b", rows=[{"id": "a", "size": True, "kind": "od", "names": ["x", "x"], "titel": "t"}]
    )
    assert [message for message, _ in problems] == [
        "`name` cannot be part of a file's name",
        "the file does not say when",
        "rows.1 has an unknown key `titel`",
        "`size` of rows.1 is not a whole number from 1 to 9",
        "`kind` of rows.1 is unknown",
        "`names` of rows.1 names something twice",
    ]
    assert [fix for _, fix in problems[1:]] == [
        "write when = …",
        "Did you mean 'title'?",
        "write size = 3",
        "Did you mean 'odd'?",
        "name each once",
    ]
    assert found.rows == (Row("a", "a", 3, "plain", ("x",)),)


def test_braces_that_users_write_stay_as_they_are():
    _, problems = read(name="n", when="x", **{"{place}": 1})
    assert len(problems) == 1
    assert "{place}" in problems[0][0]


@pytest.mark.parametrize("page", PAGES)
def test_every_entry_of_a_configuration_file_is_in_the_reference(page):
    text = (Path(__file__).parents[2] / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    kinds = [
        kind
        for module in PAGES[page]
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Section) and kind.__module__ == module.__name__
    ]
    keys = {entry.key for kind in kinds for entry in section_entries(kind) if entry.may_be_written}
    keys |= {key for kind in kinds for key in kind.file_only}
    assert kinds
    spellings = {key: (f"`{key}`", f"[{key}]", f".{key}`", f"{{ {key} = ") for key in sorted(keys)}
    assert [key for key, words in spellings.items() if not any(each in text for each in words)] == []
