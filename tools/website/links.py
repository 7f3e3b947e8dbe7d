"""Links between pages, from where they lie in the repository to where they lie in the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tools.markdown_pages import prose

_LINK = re.compile(r"(?<!\\)(?P<open>\]\()(?P<path>[^()\s#]+)(?P<rest>#[^()\s]*)?(?P<close>(?:\s+\"[^\"]*\")?\))")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Places:
    """Where a file of the repository lies in the site."""

    named: Mapping[str, str]

    def of(self, path: str) -> str:
        """The place of a file: pages of `docs/` at the root, some by name, all others below `repository/`.

        >>> Places({"CHANGELOG.md": "changelog.md"}).of("docs/index.md"), Places({}).of("deploy/a.service")
        ('index.md', 'repository/deploy/a.service')
        """
        return self.named.get(path) or (
            path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"
        )


def targets(markdown: str, source: str) -> Iterator[str]:
    """The files of the repository that a page links to."""
    for found in _LINK.finditer(prose(markdown)):
        if not _ELSEWHERE.match(found["path"]):
            yield _aim(source, found["path"])


def rewritten(markdown: str, source: str, places: Places) -> str:
    """A page whose relative links hold in the site.

    >>> rewritten("[a](../README.md#top) [b](how-to/b.md)", "docs/index.md", Places({}))
    '[a](repository/README.md#top) [b](how-to/b.md)'
    """
    here = posixpath.dirname(places.of(source))

    def replaced(found: re.Match[str]) -> str:
        if _ELSEWHERE.match(found["path"]):
            return found[0]
        there = posixpath.relpath(places.of(_aim(source, found["path"])), here or ".")
        return f"{found['open']}{there}{found['rest'] or ''}{found['close']}"

    return _LINK.sub(replaced, markdown)


def _aim(source: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
