"""Images from files as rows of gray values (H-41)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import UnreadableError
from basanite.harness.modules.interfaces import Module

MOST_PIXELS: Final = 4096 * 4096
"""Of one image: a header may claim anything."""


class ImagePixels:
    """Each image in gray, brought to one size by the mean of areas, with values from 0 to 1."""

    def __init__(self, *, rows: int = 32, columns: int = 32) -> None:
        self.rows, self.columns = rows, columns

    def fit(self, items: Sequence[Path]) -> None:
        """Nothing is to be learned."""

    def transform(self, items: Sequence[Path]) -> NDArray[np.float64]:
        """A row for each image."""
        return np.stack([self._row(path) for path in items])

    def _row(self, path: Path) -> NDArray[np.float64]:
        from PIL import Image  # here, because it is an extra

        try:
            with Image.open(path) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise UnreadableError(f"{path} is too large ({image.width} x {image.height}). Make it smaller.")
                small = image.convert("L").resize((self.columns, self.rows), Image.Resampling.BOX)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise UnreadableError(
                f"{path} cannot be read as an image: {error}. Replace it, or leave it out."
            ) from error
        return np.asarray(small, np.float64).ravel() / 255


def _size(default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": 1024, "default": default}


IMAGE_PIXELS = Module(
    name="image-pixels",
    role="features",
    summary="Images in gray, brought to one size, each a row of values from 0 to 1",
    make=lambda parameters, seed: ImagePixels(**parameters),
    needs="items",
    gives="nonneg",
    schema={"type": "object", "properties": {"rows": _size(32), "columns": _size(32)}, "additionalProperties": False},
    random=False,
    code=(__file__,),
)
