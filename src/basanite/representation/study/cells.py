"""The parts of a study, each made once and stored: a trained network, one model on one set, and the shift."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.canonical import dumps, plain_values
from basanite.errors import FeaturesError, SettingError
from basanite.representation.data import Data, threads_for
from basanite.representation.extraction.inputs import open_inputs
from basanite.representation.extraction.model_folder import LocalModel, read_json_object
from basanite.representation.measures.all_measures import NAMES, Options, Source, measure
from basanite.representation.measures.results import Classes
from basanite.representation.shift import Curves, ShiftPlan, curves, levels_of
from basanite.representation.shift_curves import Shift, curve_of
from basanite.representation.study.networks import (
    Labels,
    Pictures,
    as_model,
    fine_tuned_accuracy,
    folder_model,
    load_weights,
    network,
    outputs,
    probe_accuracies,
    save_weights,
    train,
)
from basanite.representation.study.study_file import DataEntry, ModelEntry, Study
from basanite.synthetic.glyphs import digit_pictures, made_pictures
from basanite.synthetic.transforms import transform_pictures

SIZE_OF_FOLDERS: Final = 224
Cell = dict[str, Any]
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class PictureSet:
    """The pictures of a set: those that are measured, and those that probes and fine-tuning learn on."""

    entry: DataEntry
    taught: tuple[Pictures, Labels]
    tested: tuple[Pictures, Labels]

    def transform(self, repeat: int, seed: int) -> Pictures:
        """The measured pictures flipped, scaled, resized and rotated at random."""
        made = transform_pictures(self.tested[0].astype(np.float64), np.random.default_rng([seed, repeat]))
        return np.asarray(np.clip(made, 0, 255).round(), dtype=np.uint8)


def picture_set(entry: DataEntry, folder: Path) -> PictureSet:
    """The pictures of one set."""
    if entry.kind == "folder":
        return _of_folder(entry, folder / entry.path)
    if entry.kind == "digits":
        digits = tuple(range(min(entry.classes, 10)))
        parts = [digit_pictures(digits, rows=rows, part=part) for part, rows in ((0, entry.train), (1, entry.rows))]
    else:
        parts = [
            made_pictures(entry.kind, classes=entry.classes, rows=rows, seed=entry.seed, part=part)
            for part, rows in ((0, entry.train), (1, entry.rows))
        ]
    return PictureSet(entry, parts[0], parts[1])


def _of_folder(entry: DataEntry, path: Path) -> PictureSet:
    """Pictures of a folder at one size; of each class the first are learnt on, the next are measured."""
    found = open_inputs(path, "pictures")
    names = sorted(set(found.labels))
    codes = np.array([names.index(label) for label in found.labels])
    first = {name: np.flatnonzero(codes == code) for code, name in enumerate(names)}
    short = [name for name, rows in first.items() if len(rows) < 3]
    if short or len(names) < 2:
        raise FeaturesError(f"{path} needs two classes with three pictures each. Fix: add pictures to {short or path}.")
    side = SIZE_OF_FOLDERS
    pictures = np.stack(
        [np.asarray(one.convert("RGB").resize((side, side))) for batch in found.batches(64) for one in batch]
    )
    taught, tested = [], []
    for rows in first.values():
        half = min(entry.train, (2 * len(rows)) // 3)
        taught.append(rows[:half])
        tested.append(rows[half : half + entry.rows])
    parts = [np.concatenate(rows) for rows in (taught, tested)]
    return PictureSet(entry, (pictures[parts[0]], codes[parts[0]]), (pictures[parts[1]], codes[parts[1]]))


@dataclass(frozen=True)
class Workshop:
    """A study with its folder: each part is read if it is there, else made and stored."""

    study: Study
    place: Path
    """Where the paths of the study start."""
    out: Path
    progress: Report = lambda name, done, total: None
    models: dict[str, LocalModel] = field(default_factory=dict)

    @cached_property
    def sets(self) -> dict[str, PictureSet]:
        """The pictures of every set."""
        return {entry.name: picture_set(entry, self.place) for entry in self.study.data}

    @property
    def entries(self) -> dict[str, ModelEntry]:
        """The models by name."""
        return {entry.name: entry for entry in self.study.models}

    def open(self) -> None:
        """Make the folder, or take up the one of the same study."""
        self.out.mkdir(parents=True, exist_ok=True)
        known = self.out / "study.json"
        if known.exists():
            if read_json_object(known).get("digest") != self.study.digest:
                raise SettingError(
                    f"{self.out} holds another study, or an older version of this one. Choose another --out."
                )
        elif any(self.out.iterdir()):
            raise SettingError(f"{self.out} holds other files. Choose another --out.")
        else:
            _store(known, {"format": "basanite-study-result/1", "digest": self.study.digest})
        for name in ("models", "cells"):
            (self.out / name).mkdir(exist_ok=True)

    def model(self, name: str) -> LocalModel:
        """A model, trained if it is a network of ours and was not trained yet."""
        if name not in self.models:
            self.models[name] = self._train_or_load(self.entries[name])
        return self.models[name]

    def _train_or_load(self, entry: ModelEntry) -> LocalModel:
        if entry.path:
            return folder_model(self.place / entry.path, entry.name, entry.layer)
        source = self.sets[self.study.source]
        classes = int(source.taught[1].max()) + 1
        module = network(entry.network, entry.width, classes, self.study.seed)
        path = self.out / "models" / f"{entry.name}.npz"
        if path.exists():
            load_weights(module, path)
        else:
            train(module, *source.taught, epochs=entry.epochs, seed=self.study.seed)
            save_weights(module, path)
        return as_model(module, entry.name)

    def cell(self, model: str, name: str) -> Cell:
        """The proxies and measures of one model on one set."""
        path = self.out / "cells" / f"{model}--{name}.json"
        if not path.exists():
            _store(path, self._measure_cell(model, self.sets[name]))
        found: Cell = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _measure_cell(self, name: str, pictures: PictureSet) -> Cell:
        model, layer, seed = self.model(name), self.entries[name].layer, self.study.seed
        has_head = bool(self.entries[name].network)
        features, said = outputs(model, pictures.tested[0], layer, head=has_head)
        taught, _ = outputs(model, pictures.taught[0], layer, head=False)
        proxies = probe_accuracies(taught, pictures.taught[1], features, pictures.tested[1])
        proxies["tuned"] = fine_tuned_accuracy(
            model, layer, pictures.taught, pictures.tested, epochs=self.study.tune_epochs, seed=seed
        )
        # The paper's proxy: what fixed features reach of what the model could reach.
        proxies["ratio"] = proxies["probe"] / proxies["tuned"] if proxies["tuned"] > 0 else float("nan")
        source = self._source(name)
        plain = self._values(features, said, pictures, source)
        changed = []
        for repeat in range(self.study.repeats):
            made, heads = outputs(model, pictures.transform(repeat, seed), layer, head=has_head)
            changed.append(self._values(made, heads, pictures, source))
        mean = {one: float(np.mean([run[one] for run in changed])) for one in plain}
        spread = {
            one: float(np.std([run[one] for run in changed], ddof=1)) if len(changed) > 1 else None for one in plain
        }
        return {
            "proxies": proxies,
            "values": plain,
            "mean": mean,
            "deviation": spread,
            "rows": len(features),
            "classes": int(pictures.tested[1].max()) + 1,
            "dimensions": features.shape[1],
        }

    def _source(self, name: str) -> tuple[NDArray[np.float32], Labels]:
        tested = self.sets[self.study.source].tested
        return outputs(self.model(name), tested[0], self.entries[name].layer, head=False)[0], tested[1]

    def _values(
        self,
        features: NDArray[np.float32],
        said: NDArray[np.float32] | None,
        pictures: PictureSet,
        source: tuple[NDArray[np.float32], Labels],
    ) -> dict[str, float]:
        lacking = () if said is not None else ("leep", "nce")
        wanted = [one for one in self.study.measures or NAMES if one not in lacking]
        theta = None if said is None else shares(said)
        with threads_for(features.size):
            found = measure(
                features,
                pictures.tested[1],
                names=wanted,
                source=Source(theta, *source),
                options=self.options,
            ).values
        return {one: found[one].value for one in found}

    @property
    def options(self) -> Options:
        """The definitions that are measured by."""
        return Options(precision="float64", otce_rows=self.study.otce_rows, seed=self.study.seed)

    def shift(self) -> Shift:
        """The shift from the source to the target by the reference model."""
        study = self.study
        sides = [self._side(name) for name in (study.source, study.shift_target)]
        lacking = () if sides[0].source.probabilities is not None else ("leep", "nce")
        names = tuple(one for one in study.measures or NAMES if one not in lacking)
        plan = ShiftPlan(names, self.options, repeats=study.shift_repeats, draws=study.shift_draws, seed=study.seed)
        path = self.out / "shift.npz"
        if path.exists():
            found = _read_curves(path, sides[0], sides[1], plan)
        else:
            with threads_for(1):
                found = curves(sides[0], sides[1], plan, progress=self.progress)
            _store_curves(path, found)
        judged = tuple(curve_of(name, found, plan.level) for name in found.repeats)
        return Shift(sides[0], sides[1], plan, found, judged)

    def _side(self, name: str) -> Data:
        pictures, entry = self.sets[name], self.entries[self.study.reference]
        found, said = outputs(self.model(entry.name), pictures.tested[0], entry.layer, head=bool(entry.network))
        return Data(name, found, Classes.of(pictures.tested[1]), Source(None if said is None else shares(said)))


def shares(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The probabilities of logits.

    >>> shares(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _store(path: Path, content: Any) -> None:
    """Write a part under its name only when it is complete, so that a study that was stopped goes on."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(dumps(plain_values(content)), encoding="utf-8")
    part.replace(path)


def _store_curves(path: Path, found: Curves) -> None:
    part = path.with_name(f"{path.name}.part.npz")
    arrays = {f"{kind}-{name}": one for kind in ("repeats", "draws") for name, one in getattr(found, kind).items()}
    np.savez(part, allow_pickle=False, fixed=np.array(found.fixed, dtype=np.str_), **arrays)
    part.replace(path)


def _read_curves(path: Path, source: Data, target: Data, plan: ShiftPlan) -> Curves:
    with np.load(path, allow_pickle=False) as stored:
        parts = {
            kind: {one.partition("-")[2]: stored[one] for one in stored.files if one.startswith(f"{kind}-")}
            for kind in ("repeats", "draws")
        }
        fixed = tuple(stored["fixed"].tolist())
    levels = levels_of(int(source.classes.counts.min()), int(target.classes.counts.min()), plan.steps)
    return Curves(levels, (len(source.classes), len(target.classes)), parts["repeats"], parts["draws"], fixed)
