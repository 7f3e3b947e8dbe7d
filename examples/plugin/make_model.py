"""Make the small model beside this file: random vectors of subwords, and pictures as their own captions describe them.

A real model is trained, and its pictures are encoded from pixels; this one has the files that such a model has.
"""

import json
from pathlib import Path

import numpy as np
from learned import PICTURES, SUBWORDS, vectors_of

HERE = Path(__file__).parent
BUCKETS, SIZE, NOISE = 256, 24, 0.2


def main():
    """Write the model; the same bytes each time."""
    dice = np.random.default_rng(1)
    buckets = dice.normal(size=(BUCKETS, SIZE)).round(3)
    captions = json.loads((HERE.parent / "captions" / "captions.json").read_text(encoding="utf-8"))["annotations"]
    ids = sorted({one["image_id"] for one in captions})
    texts = [" ".join(one["caption"] for one in captions if one["image_id"] == name) for name in ids]
    pictures = np.array(
        [vectors_of(text, buckets).mean(axis=0) + dice.normal(scale=NOISE / 5, size=SIZE) for text in texts]
    )
    (HERE / "model").mkdir(exist_ok=True)
    np.save(HERE / "model" / SUBWORDS, buckets)
    np.savez(HERE / "model" / PICTURES, ids=np.array([str(name) for name in ids]), vectors=pictures.round(4))


if __name__ == "__main__":
    main()
