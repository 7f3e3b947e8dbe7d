"""The rules of docs/reference/rules.md by number, for troubleshooting: `python -m tools.rule_index` writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tools.markdown_pages import slug

ROOT = Path(__file__).resolve().parent.parent
RULES, PAGE = ROOT / "docs" / "reference" / "rules.md", ROOT / "docs" / "troubleshooting.md"
HEAD = "| rule | what it means | how to fix it | more |\n|---|---|---|---|\n"

_RULE = re.compile(r"(?:[CM][0-9]{1,3}|[A-Z]-[0-9]{1,3})")
_ROW = re.compile(r"^\| (?P<rule>[A-Z]+-?[0-9]+) \| \w+ \| (?P<meaning>.+?) \| (?P<fix>.+?) \|$")


def printed_rules(source: Path = ROOT / "src") -> set[str]:
    """Every rule number that stands in the source as a text of its own: each can be printed with a problem."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in source.rglob("*.py"))
    texts = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and _RULE.fullmatch(text)}


def rule_rows(rules: str) -> Iterator[tuple[str, str, str, str]]:
    """Rule, meaning, fix and section of every row of the tables, by number."""
    section, found = "", []
    for line in rules.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif row := _ROW.match(line):
            found.append((row["rule"], row["meaning"], row["fix"], section))
    return iter(sorted(found, key=lambda row: (re.sub("[^A-Z]", "", row[0]), int(re.sub("[^0-9]", "", row[0])))))


def rule_table() -> str:
    """The table of the page."""
    lines = []
    for rule, meaning, fix, section in rule_rows(RULES.read_text(encoding="utf-8")):
        words = f"| {rule} | {meaning} | {fix} |".replace("](", "](reference/").replace("](reference/../", "](")
        lines.append(f"{words} [{section}](reference/rules.md#{slug(section)}) |\n")
    return HEAD + "".join(lines)


def main() -> None:
    """Write the table into the page, in the place of the one that is there."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEAD)
    PAGE.write_text(before + rule_table(), encoding="utf-8")


if __name__ == "__main__":
    main()
