"""What mkdocs asks of us while it builds the site: pages made from the code, our colours, and links that stay inside.

Pages that describe the code (reference/generated/) exist only in the site. They are made at every build, so they cannot
be out of date, and nobody who adds a command has to write a second file. What `docs/` links to elsewhere in the
repository is put into the site as well, below `repository/`: a site that asks nothing of the network must hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from importlib import resources
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.markdown_pages import slug
from tools.website.links import Places, rewritten, targets
from tools.website.reference import generated_pages
from tools.website.style import style

ROOT = Path(__file__).resolve().parents[2]
CHANGES = {"CHANGELOG.md": "changelog.md"}
"""Pages of the site that lie outside `docs/`."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings get the anchors that they have in the repository, where people read the same pages."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = lambda text, separator: slug(text)
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what is made from the code and what lies elsewhere in the repository, then fill in the stars of the nav."""
    for name, text in _made():
        files.append(File.generated(config, name, content=text))
    for path in sorted(_outside(files)):
        files.append(File.generated(config, _places().of(path), abs_src_path=str(ROOT / path)))
    config.nav = list(filled(config.nav or [], sorted(file.src_uri for file in files.documentation_pages())))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at where things lie in the site; the first page has cards instead of a list of pages."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    return rewritten(markdown, _in_repository(page.file), _places())


def filled(nav: Iterable[Any], names: list[str]) -> Iterator[Any]:
    """The nav with each star replaced by the pages that it stands for.

    >>> list(filled(["a.md", {"B": ["b/*.md"]}], ["a.md", "b/x.md", "b/y.md", "b/c/z.md"]))
    ['a.md', {'B': ['b/x.md', 'b/y.md']}]
    """
    for entry in nav:
        if isinstance(entry, dict):
            yield {
                name: list(filled(below, names)) if isinstance(below, list) else below for name, below in entry.items()
            }
        elif "*" in entry:
            yield from (name for name in names if fnmatch(name, entry) and name.count("/") == entry.count("/"))
        else:
            yield entry


def _made() -> Iterator[tuple[str, str]]:
    yield from generated_pages()
    yield "assets/site.css", style()
    yield "assets/iframe-worker.js", Path(__file__).with_name("search_worker.js").read_text(encoding="utf-8")
    mark = resources.files("basanite.reports").joinpath("templates", "mark.svg")
    yield "assets/mark.svg", mark.read_text(encoding="utf-8")
    for path, name in CHANGES.items():
        yield name, (ROOT / path).read_text(encoding="utf-8")


def _outside(files: Files) -> set[str]:
    """The files outside `docs/` that pages link to."""
    found = {
        path for page in files.documentation_pages() for path in targets(page.content_string, _in_repository(page))
    }
    return {path for path in found if not path.startswith("docs/") and path not in CHANGES and (ROOT / path).is_file()}


def _in_repository(file: File) -> str:
    """Where the text of a page lies, seen from the root of the repository."""
    sources = {name: path for path, name in CHANGES.items()}
    return sources.get(file.src_uri, f"docs/{file.src_uri}")


def _places() -> Places:
    return Places(CHANGES)
