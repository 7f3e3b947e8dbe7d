"""Links of a release: where the project lives is known to whoever publishes it, and stands nowhere in the source.

`BASANITE_REPOSITORY`, the address of the public repository, gives the package its project links, and makes the links of
the README absolute, since an index shows them without the files beside them. Without it a package has neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE: Final = "BASANITE_REPOSITORY"
PLACES: Final[Mapping[str, str]] = {
    "Source": "",
    "Documentation": "docs/index.md",
    "Changelog": "CHANGELOG.md",
    "Roadmap": "docs/roadmap.md",
}
"""What a package links to, as paths in the repository."""
_RELATIVE: Final = re.compile(r"(?<=\]\()(?!\w+:|#)([^)]+)(?=\))")


def project_links(repository: str, version: str) -> dict[str, str]:
    """The links of a package; files are those of the version's tag."""
    return {name: f"{repository}/blob/v{version}/{path}" if path else repository for name, path in PLACES.items()}


def with_absolute_links(text: str, repository: str, version: str) -> str:
    """A page whose relative links and pictures lead into the repository."""
    page = re.sub(r"(?<=!\[)([^\]]*)\]\((?!\w+:)([^)]+)\)", rf"\1]({repository}/raw/v{version}/\2)", text)
    return _RELATIVE.sub(rf"{repository}/blob/v{version}/\1", page)


class CustomMetadataHook(MetadataHookInterface):
    """Adds links and the README when a package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml calls dynamic."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository, version = os.environ.get(VARIABLE, "").rstrip("/"), str(metadata["version"])
        if repository:
            metadata["urls"] = project_links(repository, version)
            text = with_absolute_links(text, repository, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
