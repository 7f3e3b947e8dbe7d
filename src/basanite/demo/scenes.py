"""Images that the demo's teams describe: shapes on paper as SVG files, with what five people and a system say of them.

Everything comes from a seed. A system sees each property of a scene rightly with a given chance, else it guesses.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from basanite.synthetic.captions import Described

COLORS: Final = {"red": "#c0392b", "blue": "#2563a8", "green": "#2e7d4f", "yellow": "#e0b020", "black": "#222222"}
SHAPES: Final = ("circle", "square", "triangle")
SIZES: Final = {"small": 26, "large": 52}
PLACES: Final = {
    "above": ((160, 55), (160, 165)),
    "below": ((160, 165), (160, 55)),
    "to the left of": ((85, 110), (235, 110)),
    "to the right of": ((235, 110), (85, 110)),
}
"""Where the first shape stands and where the second, when the first is so placed against the second."""
WORDINGS: Final = (
    "a {a.size} {a.color} {a.shape} {place} a {b.size} {b.color} {b.shape}",
    "there is a {a.color} {a.shape} {place} a {b.color} {b.shape}",
    "a {a.color} {a.shape} is {place} a {b.size} {b.color} {b.shape}",
    "the picture shows a {a.size} {a.color} {a.shape} {place} a {b.color} {b.shape}",
    "one {a.size} {a.shape} in {a.color} {place} one {b.size} {b.shape} in {b.color}",
)
"""How people put it, one of them each."""


@dataclass(frozen=True)
class Shape:
    """One shape of a scene."""

    size: str
    color: str
    shape: str


@dataclass(frozen=True)
class Scene:
    """Two shapes, and where the first stands against the second."""

    first: Shape
    second: Shape
    place: str

    def text(self, wording: str) -> str:
        """The scene in words."""
        return wording.format(a=self.first, b=self.second, place=self.place) + "."

    def svg(self) -> str:
        """The scene as a picture."""
        shapes = (_drawn(one, *at) for one, at in zip((self.first, self.second), PLACES[self.place], strict=True))
        paper = '<rect width="320" height="220" fill="#faf7f0"/>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 220">{paper}{"".join(shapes)}</svg>\n'


def scenes(count: int, *, seed: int) -> list[Scene]:
    """So many scenes."""
    dice = random.Random(seed)
    return [Scene(_shape(dice), _shape(dice), dice.choice(list(PLACES))) for _ in range(count)]


def described(images: Sequence[Scene], *, seed: int, quality: float) -> list[Described]:
    """What people and one system say of each image; people are the same for every system."""
    people, system = random.Random(seed), random.Random(f"{seed} {quality}")
    found = []
    for number, scene in enumerate(images, 1):
        texts = tuple(_seen(people, scene, 0.97).text(wording) for wording in WORDINGS)
        found.append(Described(number, texts, _seen(system, scene, quality).text(system.choice(WORDINGS))))
    return found


def pack_members(images: Sequence[Scene]) -> list[tuple[str, bytes]]:
    """The files of a data pack: every image, and their list as COCO writes it."""
    listed = [{"id": number, "file_name": f"images/{number:03d}.svg"} for number in range(1, len(images) + 1)]
    content = json.dumps({"images": listed}, indent=1) + "\n"
    drawn = [(one["file_name"], scene.svg()) for one, scene in zip(listed, images, strict=True)]
    return [("images.json", content.encode()), *((str(name), text.encode()) for name, text in drawn)]


def _shape(dice: random.Random) -> Shape:
    return Shape(dice.choice(list(SIZES)), dice.choice(list(COLORS)), dice.choice(SHAPES))


def _seen(dice: random.Random, scene: Scene, quality: float) -> Scene:
    """The scene as somebody sees it who guesses what they do not see."""
    guess = Scene(_shape(dice), _shape(dice), dice.choice(list(PLACES)))
    first, second = (
        _half_seen(dice, *pair, quality) for pair in ((scene.first, guess.first), (scene.second, guess.second))
    )
    return Scene(first, second, scene.place if dice.random() < quality else guess.place)


def _half_seen(dice: random.Random, true: Shape, guess: Shape, quality: float) -> Shape:
    wrong = {name: getattr(guess, name) for name in ("size", "color", "shape") if dice.random() >= quality}
    return replace(true, **wrong)


def _drawn(one: Shape, x: int, y: int) -> str:
    half, fill = SIZES[one.size], f'fill="{COLORS[one.color]}"'
    if one.shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{half}" {fill}/>'
    if one.shape == "square":
        return f'<rect x="{x - half}" y="{y - half}" width="{2 * half}" height="{2 * half}" {fill}/>'
    return f'<polygon points="{x},{y - half} {x - half},{y + half} {x + half},{y + half}" {fill}/>'
