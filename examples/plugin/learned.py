"""Two measures that need a model: likeness of words, as BERTScore, and of captions to pictures, as CLIPScore.

The model is a folder with `subwords.npy`, a vector for each bucket of three letters, and `pictures.npz`, a vector for
each picture: what an encoder of pictures gives. A model of your own comes in by `vectors_of` and `pictures_of` alone.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from basanite.errors import SettingError
from basanite.kernel import SHARE, Metric, column_ratio
from basanite.tasks import Setting

OWN_MODEL = Path(__file__).with_name("learned_model")
"""Where a server looks: its sandbox reads no files but those of packages."""
SUBWORDS, PICTURES = "subwords.npy", "pictures.npz"
RESCALED = 2.5
"""What CLIPScore multiplies a cosine by."""


def model_folder(text):
    """A folder that holds a model."""
    if not (Path(text) / SUBWORDS).is_file():
        raise ValueError(f"there is no {SUBWORDS} in it")
    return text


MODEL = Setting("learned_model", "A folder with the model of the learned measures.", model_folder, "")


def model_file(settings, name):
    """A file of the model; without one, the value cannot be computed."""
    file = Path(settings[MODEL.name] or OWN_MODEL) / name
    if not file.is_file():
        raise SettingError(f"set {MODEL.name}=FOLDER, a folder with {name}")
    return file


@cache
def subwords(file):
    """The vectors of all buckets; read once, however many systems are scored. Objects are never unpickled."""
    return np.load(file, allow_pickle=False)


@cache
def pictures_of(file):
    """The vector of each picture by its id."""
    with np.load(file, allow_pickle=False) as arrays:
        return dict(zip(arrays["ids"].tolist(), arrays["vectors"], strict=True))


def vectors_of(text, buckets):
    """A vector of length 1 for each word of a text: the sum of those of its letters, three at a time."""
    rows = []
    for word in text.lower().split():
        letters = f"<{word.strip('.,!?')}>"
        parts = [letters[at : at + 3] for at in range(max(len(letters) - 2, 1))]
        vector = buckets[[zlib.crc32(part.encode()) % len(buckets) for part in parts]].sum(axis=0)
        rows.append(vector / max(float(np.linalg.norm(vector)), 1e-12))
    return np.array(rows).reshape(len(rows), buckets.shape[1])


def f_score(answer, reference):
    """Each word takes its most similar one of the other side; the harmonic mean of both directions."""
    if not len(answer) or not len(reference):
        return 0.0
    alike = np.clip(answer @ reference.T, 0, 1)
    precision, recall = alike.max(axis=1).mean(), alike.max(axis=0).mean()
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def likeness_rows(pairs, settings):
    """For each text: its likeness to the nearest reference, and 1 for being there."""
    buckets = subwords(model_file(settings, SUBWORDS))
    rows = []
    for answer, references in zip(pairs.answers, pairs.references, strict=True):
        words = vectors_of(answer, buckets)
        rows.append([max(f_score(words, vectors_of(one, buckets)) for one in references), 1.0])
    return np.array(rows)


def picture_rows(pairs, settings):
    """For each caption: the cosine of its words' mean and its picture, and 1 for being there; no reference is used."""
    buckets, pictures = subwords(model_file(settings, SUBWORDS)), pictures_of(model_file(settings, PICTURES))
    missing = [name for name in pairs.units if name not in pictures]
    if missing:
        raise SettingError(f"{PICTURES} has no picture {missing[0]!r} ({len(missing)} are missing)")
    rows = []
    for name, caption in zip(pairs.units, pairs.answers, strict=True):
        text, picture = vectors_of(caption, buckets).sum(axis=0), pictures[name]
        lengths = float(np.linalg.norm(text) * np.linalg.norm(picture))
        rows.append([RESCALED * max(float(text @ picture) / lengths, 0.0) if lengths else 0.0, 1.0])
    return np.array(rows)


def mean(sums):
    """The mean over items."""
    return column_ratio(sums, 0, 1)


def model_digest(settings):
    """Which model it was: results of different models are not comparable."""
    folder = Path(settings[MODEL.name] or OWN_MODEL)
    files = [folder / name for name in (SUBWORDS, PICTURES) if (folder / name).is_file()]
    return f"model sha256:{hashlib.sha256(b''.join(map(Path.read_bytes, files))).hexdigest()}" if files else "no model"


LIKENESS = Metric(
    name="word_likeness",
    summary="Mean likeness of words to those of the nearest reference, by their vectors",
    citation="Zhang et al. (2020), BERTScore, ICLR, with vectors of subwords",
    family="learned",
    statistics=likeness_rows,
    reduce=mean,
    range=SHARE,
    columns=("likeness", "items"),
    own_settings=(MODEL,),
    signature=model_digest,
    unit="item",
    linear=True,
)
PICTURE_LIKENESS = Metric(
    name="picture_likeness",
    summary="Mean likeness of captions to their pictures, without references",
    citation="Hessel et al. (2021), CLIPScore, EMNLP, with vectors of subwords",
    family="learned",
    statistics=picture_rows,
    reduce=mean,
    range=(0.0, RESCALED),
    columns=("likeness", "items"),
    own_settings=(MODEL,),
    signature=model_digest,
    unit="image",
    linear=True,
)
