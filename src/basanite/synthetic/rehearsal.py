"""Whole evaluations of any size to rehearse with: a key, three systems, and what each of them must score.

What is expected is computed from how the files were made, in exact fractions, and never by the metrics: who scores
the files and gets these values has installed everything right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.synthetic import clir, identification
from basanite.synthetic.clir import Quality, Spec, write_metadata

SYSTEMS: Final = (Quality("Alpha", 9.0), Quality("Beta", 6.5), Quality("Gamma", 9.0, bias=-2.0))
Expected = Mapping[str, Any]


def write_retrieval(spec: Spec, folder: Path, beta: float) -> dict[str, Expected]:
    """A retrieval evaluation; by system, its values of AQWV at this beta."""
    clir.write_key(spec, folder / "key")
    write_metadata(spec, folder / "metadata")
    clir.write_lists(spec, folder)
    for quality in SYSTEMS:
        clir.write_system(spec, quality, folder / f"{quality.label}.tgz")
    return {quality.label: {"values": clir.exact_value(spec, quality, beta)} for quality in SYSTEMS}


def write_identification(
    spec: Spec, folder: Path, label: Callable[[Spec], identification.Labelled]
) -> dict[str, Expected]:
    """An evaluation of identification; by system and target, its percentages of hits and false alarms."""
    truth = label(spec)
    identification.write_truth(truth, folder / "key")
    write_metadata(spec, folder / "metadata")[1].unlink()  # there are no queries
    for quality in SYSTEMS[:2]:
        identification.write_answers(truth, quality, folder / f"{quality.label}.tgz")
    rates = {quality.label: identification.exact_rates(truth, quality) for quality in SYSTEMS[:2]}
    return {label_: {"breakdowns": {"target": found}} for label_, found in rates.items()}
