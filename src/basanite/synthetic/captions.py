"""Captions of pictures that never were: scenes with things in them, described by several people and by a system.

Everything comes from a seed. Sentences follow a few patterns, things are drawn with the long tail of real words, and
people choose their words, so that captions of one scene share some n-grams and seldom all of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

ACTS = ("sitting", "standing", "lying", "looking", "walking", "playing", "resting", "waiting")
KINDS = ("small", "large", "white", "black", "young", "old", "red", "brown", "wooden", "green")
PLACES = ("on", "near", "next to", "in front of", "under", "beside", "with", "behind")
GROUND = ("street", "beach", "kitchen", "field", "table", "park", "room", "grass")
COMMON = (
    "man",
    "woman",
    "dog",
    "cat",
    "train",
    "horse",
    "bench",
    "bus",
    "pizza",
    "boat",
    "bird",
    "chair",
    "bicycle",
    "car",
    "cow",
    "sheep",
    "umbrella",
    "kite",
    "ball",
    "boy",
    "girl",
    "truck",
    "clock",
    "tree",
    "house",
    "bridge",
    "lamp",
    "sofa",
    "bed",
    "laptop",
    "phone",
    "book",
    "cup",
    "bowl",
    "cake",
    "sandwich",
    "apple",
    "banana",
    "bear",
    "elephant",
    "giraffe",
    "zebra",
    "skateboard",
    "surfboard",
    "wave",
    "mountain",
    "tower",
    "sign",
    "fence",
    "door",
    "window",
    "mirror",
    "hat",
    "bag",
    "suitcase",
    "bottle",
    "guitar",
    "flower",
    "dress",
    "tent",
)
PLURALS = {"man": "men", "woman": "women", "bench": "benches", "bus": "buses", "sheep": "sheep", "dress": "dresses"}
SYLLABLES = ("ba", "do", "ke", "li", "mu", "na", "po", "ra", "si", "to", "vu", "ze")


@dataclass(frozen=True)
class DescribedImage:
    """An image: its number, what people wrote about it and what the system wrote."""

    image: int
    references: tuple[str, ...]
    answer: str


def describe_images(
    images: int, *, seed: int, people: int = 5, words: int = 8000, quality: float = 0.7
) -> list[DescribedImage]:
    """Images with the captions of so many people and of one system, which sees each part with chance `quality`."""
    names = things(words)
    steps = list(accumulate(1 / (rank + 10) for rank in range(words)))
    truth, system = random.Random(seed), random.Random(f"{seed} {quality}")
    return [_image(number, (truth, system), names, steps, people, quality) for number in range(1, images + 1)]


def things(count: int) -> tuple[str, ...]:
    """So many nouns: common ones, then made ones, all different.

    >>> things(62)[-3:]
    ('tent', 'baba', 'baba-do')
    """
    made = list(COMMON[:count])
    size = len(SYLLABLES)
    for number in range(count - len(made)):
        first, second, third = number // size // size % size, number // size % size, number % size
        start = SYLLABLES[first] + SYLLABLES[second]
        end = "" if third == 0 else "-" + SYLLABLES[third]
        made.append(start + end + "x" * (number // size**3))
    return tuple(made)


def _image(
    number: int,
    dice: tuple[random.Random, random.Random],
    names: Sequence[str],
    steps: Sequence[float],
    people: int,
    quality: float,
) -> DescribedImage:
    """One image; people and the system have dice of their own, so that systems describe the same images."""
    truth, system = dice
    scene, where = truth.choices(names, cum_weights=steps, k=4), truth.choice(GROUND)
    seen = [name if system.random() < quality else system.choices(names, cum_weights=steps)[0] for name in scene]
    texts = tuple(_sentence(truth, scene, where) for _ in range(people))
    return DescribedImage(number, texts, _sentence(system, seen, where))


def _sentence(dice: random.Random, scene: Sequence[str], where: str) -> str:
    """One person's words for a scene, ten or eleven on average."""
    first, second, third = dice.sample(scene, 3)
    kind = dice.choice(KINDS) + " " if dice.random() < 0.6 else ""
    more = f" and a {third}" if dice.random() < 0.4 else ""
    many = dice.random() < 0.15
    start = f"two {kind}{PLURALS.get(first, first + 's')}" if many else f"a {kind}{first}"
    end = f" {dice.choice(('on', 'in', 'by'))} the {where}" if dice.random() < 0.4 else ""
    return f"{start} {dice.choice(ACTS)} {dice.choice(PLACES)} a {second}{more}{end}."


def coco_annotations(images: Sequence[DescribedImage]) -> dict[str, Any]:
    """The captions of people, as COCO writes them."""
    texts = [(image.image, text) for image in images for text in image.references]
    return {
        "annotations": [{"caption": text, "id": at, "image_id": image} for at, (image, text) in enumerate(texts, 1)],
        "images": [{"id": image.image} for image in images],
    }


def coco_results(images: Sequence[DescribedImage]) -> list[dict[str, Any]]:
    """The captions of a system, as COCO wants them."""
    return [{"caption": image.answer, "image_id": image.image} for image in images]
