"""Reads our Markdown pages as far as checking them needs: anchors, links, and the examples that readers will copy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<language>[\w-]*)")
_HEADING = re.compile(r"^#{1,6} +(?P<title>.+?)(?: +#+)?$")
_ID = re.compile(r"<[a-z][^>]*\s(?:id|name)=[\"'](?P<id>[^\"']+)[\"']")
_LINK = re.compile(r"(?<!\\)\]\((?P<target>[^()\s]+)(?:\s+\"[^\"]*\")?\)")
_HERE_DOCUMENT = re.compile(r"<<'(?P<word>\w+)'$")
_NOT_RUN = re.compile(r"^<!-- not run(?:: *(?P<reason>.*?))? *-->$")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block of a page: its language, its text, the line it starts on, and why it is not run, if it is not."""

    language: str
    text: str
    line: int
    not_run: str | None = None

    @property
    def runs(self) -> bool:
        """Whether the block is meant to run."""
        return self.not_run is None


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a console example and the output that the page promises."""

    command: str
    expected: str


def pages(root: Path) -> list[Path]:
    """README.md, the pages beside it and everything under docs/, in a stable order."""
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def examples(text: str) -> list[Example]:
    """The fenced blocks of a page in their order."""
    return [block for block in _blocks(text) if isinstance(block, Example)]


def prose(text: str) -> str:
    """The page without its fenced blocks, so that code is not taken for headings or links."""
    return "\n".join(block for block in _blocks(text) if isinstance(block, str))


def anchors(text: str) -> set[str]:
    """Every place of a page that a link can point to: explicit ids and headings.

    >>> sorted(anchors('# Two words\\n<a id="c01"></a>'))
    ['c01', 'two-words']
    """
    written = prose(text)
    headings = [match["title"] for line in written.splitlines() if (match := _HEADING.match(line))]
    return {match["id"] for match in _ID.finditer(written)} | set(_numbered(slug(title) for title in headings))


def slug(title: str) -> str:
    """The anchor that a heading gets when the page is shown.

    >>> slug("Exit codes, and `--json`")
    'exit-codes-and---json'
    """
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    plain = re.sub(r"<[^>]*>", "", plain)
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def broken_links(page: Path) -> list[str]:
    """What is wrong with a page's relative links: a file that is not there, or an anchor that its page lacks."""
    targets = [match["target"] for match in _LINK.finditer(_without_code(prose(page.read_text(encoding="utf-8"))))]
    complaints = [_complaint(page, target) for target in targets if not _ELSEWHERE.match(target)]
    return [complaint for complaint in complaints if complaint]


def has_anchor(place: str, root: Path) -> bool:
    """Whether `path/page.md#anchor` exists below the root."""
    path, _, anchor = place.partition("#")
    return (root / path).is_file() and anchor in _anchors_of(root / path)


def steps(console: str) -> list[Step]:
    """The commands of a console example with the output below each.

    A command is what follows `$ `. It goes on after a final backslash, and to the last word of a here-document.
    """
    found: list[list[str]] = []
    until: str | None = None
    for line in console.splitlines():
        if until is not None:
            found[-1][0] += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            found.append([line[2:], ""])
        elif found:
            found[-1][1] += line + "\n"
        until = _end_of_command(line, until) if found and not found[-1][1] else None
    return [Step(command, expected.strip("\n")) for command, expected in found]


def _end_of_command(line: str, until: str | None) -> str | None:
    """The line that ends the command: the word of a here-document, "" for the next one, None for this one."""
    if until:
        return None if line == until else until
    opened = _HERE_DOCUMENT.search(line)
    return opened["word"] if opened else "" if line.endswith("\\") else None


def _blocks(text: str) -> Iterator[str | Example]:
    lines = text.splitlines()
    number, last_prose = 0, ""
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if not fence:
            last_prose = lines[number].strip() or last_prose
            yield lines[number]
            number += 1
            continue
        end = _end_of_block(lines, number, fence["ticks"])
        inside = [line.removeprefix(fence["indent"]) for line in lines[number + 1 : end]]
        marked = _NOT_RUN.match(last_prose)
        reason = (marked["reason"] or "") if marked else None
        yield Example(fence["language"], "\n".join(inside) + "\n", number + 2, reason)
        number, last_prose = end + 1, ""


def _end_of_block(lines: list[str], start: int, ticks: str) -> int:
    closing = (n for n in range(start + 1, len(lines)) if lines[n].strip() == ticks)
    return next(closing, len(lines))


def _numbered(slugs: Iterator[str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for name in slugs:
        yield f"{name}-{seen[name]}" if seen[name] else name
        seen[name] += 1


def _without_code(text: str) -> str:
    return re.sub(r"(`+).+?\1", "", text)


@cache
def _anchors_of(page: Path) -> frozenset[str]:
    return frozenset(anchors(page.read_text(encoding="utf-8")))


def _complaint(page: Path, target: str) -> str:
    path, _, anchor = target.partition("#")
    aim = (page.parent / path).resolve() if path else page
    if not aim.exists():
        return f"{target}: no such file"
    if anchor and aim.suffix == ".md" and anchor not in _anchors_of(aim):
        return f"{target}: the page has no such anchor"
    return ""
