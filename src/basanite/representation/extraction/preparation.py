"""Pictures as models take them: resized, cropped, scaled and normalized as the folder of the model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import UnreadableError

PREPROCESSOR: Final = "preprocessor_config.json"
MOST_SIDE: Final = 4096
BILINEAR: Final = 2
"""What Pillow and Hugging Face call bilinear."""


@dataclass(frozen=True)
class PicturePreparation:
    """Height and width, and what is taken off and divided by after values are scaled to 0..1."""

    height: int
    width: int
    channels: int = 3
    mean: tuple[float, ...] = (0.0,)
    deviation: tuple[float, ...] = (1.0,)
    shortest: int = 0
    """The length that the shorter side gets before the middle is cut out; 0 where the whole picture is resized."""
    resample: int = BILINEAR

    @classmethod
    def of(cls, settings: Mapping[str, Any], default: PicturePreparation) -> PicturePreparation:
        """What a file `preprocessor_config.json` says; what it leaves out is as in the default."""
        try:
            size, crop = _sides(settings.get("size")), _sides(settings.get("crop_size"))
            shortest = int(dict(_size_of(settings.get("size"))).get("shortest_edge", 0))
            height, width = crop or size or ((shortest, shortest) if shortest else (default.height, default.width))
            normal = settings.get("do_normalize", True)
            mean = tuple(map(float, settings.get("image_mean") or default.mean)) if normal else (0.0,)
            deviation = tuple(map(float, settings.get("image_std") or default.deviation)) if normal else (1.0,)
            resample = int(settings.get("resample") or default.resample)
        except (TypeError, ValueError) as error:
            raise UnreadableError(f"{PREPROCESSOR} cannot be used: {error}. Fix: correct its sizes.") from error
        cuts = shortest if crop and settings.get("do_center_crop", True) else 0
        made = cls(height, width, default.channels, mean, deviation, cuts or (shortest if not crop else 0), resample)
        made.check()
        return made

    def check(self) -> None:
        """Refuse sizes and numbers that no picture could have."""
        sides = 0 < self.height <= MOST_SIDE and 0 < self.width <= MOST_SIDE and self.shortest <= MOST_SIDE
        if not sides or 0.0 in self.deviation or {len(self.mean), len(self.deviation)} - {1, self.channels}:
            raise UnreadableError(
                f"{PREPROCESSOR} asks for pictures of {self.height} x {self.width} with means {self.mean} and "
                f"deviations {self.deviation}, which cannot be. Fix: give sides of 1 to {MOST_SIDE}, a mean and a "
                "deviation for each channel."
            )

    def __call__(self, pictures: Sequence[Any]) -> NDArray[np.float32]:
        """Pictures as one batch, channels first."""
        made = np.stack([self._prepare(picture) for picture in pictures])
        scaled = made.astype(np.float32) / np.float32(255)
        normal = (scaled - np.array(self.mean, np.float32)) / np.array(self.deviation, np.float32)
        return np.ascontiguousarray(np.moveaxis(normal, -1, 1), dtype=np.float32)

    def _prepare(self, picture: Any) -> NDArray[np.uint8]:
        one = picture.convert("L" if self.channels == 1 else "RGB")
        if self.shortest:
            factor = self.shortest / min(one.size)
            one = one.resize((max(1, round(one.width * factor)), max(1, round(one.height * factor))), self.resample)
            left, top = (one.width - self.width) // 2, (one.height - self.height) // 2
            one = one.crop((left, top, left + self.width, top + self.height))
        elif one.size != (self.width, self.height):
            one = one.resize((self.width, self.height), self.resample)
        array = np.asarray(one, dtype=np.uint8)
        return array[..., None] if array.ndim == 2 else array


def _size_of(given: Any) -> Mapping[str, Any]:
    """A size of Hugging Face's: a mapping, or one number for both sides."""
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {"height": int(given), "width": int(given)}


def _sides(given: Any) -> tuple[int, int] | None:
    size = _size_of(given)
    return (int(size["height"]), int(size["width"])) if {"height", "width"} <= size.keys() else None
