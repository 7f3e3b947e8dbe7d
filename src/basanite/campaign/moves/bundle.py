"""A stranger's archive, unpacked within bounds, and files and folders in it by the names that its configuration says.

Nothing of it is run, and nothing outside of the folder is read or written (X-8).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.archives.members import MIB, Limits
from basanite.formats.archives.zip_folder import unpack_zip
from basanite.formats.bounded import check_regular, read_bounded

LIMITS: Final = Limits(members=50_000, member_bytes=2048 * MIB, total_bytes=8192 * MIB)
LONGEST_TEXT: Final = MIB
BLOCKS: Final = {"p", "div", "section", "br", "tr", "table", "ul", "ol", "pre", "blockquote"}


@dataclass
class Bundle:
    """An unpacked bundle, and what of it could not be kept."""

    folder: Path
    losses: list[str] = field(default_factory=list)

    def lose(self, what: str) -> None:
        """Note once that something is not kept."""
        if what not in self.losses:
            self.losses.append(what)

    def find(self, name: str) -> Path | None:
        """A file or folder by the name that the configuration gives; None, and a note, if there is none."""
        parts = PurePosixPath(name.strip().replace("\\", "/")).parts
        if not name.strip():
            return None
        if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or any(":" in part for part in parts[:1]):
            self.lose(f"`{name[:80]}`, a path that leads out of the bundle")
            return None
        path = self.folder.joinpath(*parts)
        try:
            if path.exists():
                return path
        except OSError:  # a name that is too long for a file
            pass
        self.lose(f"`{name[:80]}`, which is not in the bundle")
        return None

    def text(self, name: str) -> str:
        """A text of the bundle as Markdown; empty if there is none."""
        path = self.find(name)
        if path is None or not path.is_file():
            return ""
        try:
            words = read_bounded(path, LONGEST_TEXT).decode("utf-8", "replace")
        except UnreadableError:
            self.lose(f"`{name[:80]}`, which is too large for a text")
            return ""
        return html_as_markdown(words) if path.suffix.lower() in (".html", ".htm") else words.strip()


@contextmanager
def unpacked(archive: Path) -> Iterator[Bundle]:
    """A bundle in a folder that is gone with the end of the block."""
    check_regular(archive)
    with tempfile.TemporaryDirectory(prefix="basanite-move-") as name:
        folder = Path(name) / "bundle"
        folder.mkdir()
        _unpack(archive, folder, LIMITS)
        yield Bundle(folder)


def _unpack(archive: Path, folder: Path, limits: Limits) -> None:
    try:
        unpack_zip(archive, folder, limits)
    except OSError as error:  # two members of one name, or a file where another has a folder
        message = f"{archive.name} holds a name twice, or a name that no file can have. Pack it again as a plain .zip."
        raise UnreadableError(message) from error


def copy_part(bundle: Bundle, source: Path, target: Path) -> None:
    """Copy a folder of a bundle, or the files of an archive inside it, or a single file."""
    target.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.suffix.lower() == ".zip":
        used = sum(path.stat().st_size for path in bundle.folder.rglob("*") if path.is_file())
        left = Limits(members=LIMITS.members, member_bytes=LIMITS.member_bytes, total_bytes=LIMITS.total_bytes - used)
        _unpack(source, target, left)
    else:
        shutil.copyfile(source, target / source.name)


class _Words(HTMLParser):
    """The words of a page with headings, lists and links; scripts and styles are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.silent = 0
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self.silent += 1
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.parts.append(f"\n\n{'#' * max(int(tag[1]), 2)} ")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in BLOCKS:
            self.parts.append("\n\n")
        elif tag == "a":
            address = dict(attrs).get("href") or ""
            self.links.append(address if address.startswith(("http://", "https://", "mailto:")) else "")
            self.parts.append("[" if self.links[-1] else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.silent = max(self.silent - 1, 0)
        elif tag == "a" and self.links:
            address = self.links.pop()
            self.parts.append(f"](<{address}>)" if address else "")
        elif tag in BLOCKS or tag.startswith("h"):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.parts.append(" ".join(data.split()) + " " if data.strip() else " " if data else "")


def html_as_markdown(text: str) -> str:
    """The words of an HTML page as Markdown: headings, lists and links; nothing that could run.

    >>> html_as_markdown("<h1>Task</h1><p>Read <a href='https://example.org'>this</a>.</p><script>x</script>")
    '## Task\\n\\nRead [this](<https://example.org>).'
    """
    words = _Words()
    words.feed(text)
    words.close()
    made = "".join(words.parts).replace(" ](", "](").replace(" .", ".").replace(" ,", ",")
    lines = [line.strip() if not line.startswith("- ") else line.rstrip() for line in made.split("\n")]
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).replace(")>).", ")>).").replace(") .", ").").strip()
