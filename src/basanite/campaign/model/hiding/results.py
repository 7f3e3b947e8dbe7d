"""A result cut down to what somebody may see: values by name, rounded; small cells and every trace of documents gone.

Only what is named here gets through. A new key of the result stays hidden until somebody decides otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from basanite.campaign.model.hiding.cells import without_small_cells
from basanite.campaign.model.ladder import Rung
from basanite.formats.packs.pack_names import DOCUMENT

HEAD: Final = ("format", "task", "primary")
DETAILS: Final = ("settings", "signature")
ENTRY: Final = (
    "value",
    "low",
    "high",
    "units",
    "undefined",
    "method",
    "flags",
    "parts",
    "signature",
    "infinite",
    "note",
)
THREE: Final[Mapping[str, tuple[str, ...]]] = {
    "clir": ("aqwv", "aqwv_all", "aqwv_relevant"),
    "e2e": ("e2e_aqwv", "e2e_aqwv_all", "e2e_aqwv_relevant"),
}
"""The three values that limited feedback is made of (C33); of the other tasks it is the primary one."""
CLASS_SHARES: Final = ("hit", "miss", "false_alarm", "correct_rejection")
JUDGED: Final = "e2e_"
NEVER_AN_EVALUATION: Final = ("auc", "auc_pooled")
"""For early development only, never a result on a sealed set (M11)."""
PER_DOCUMENT: Final = re.compile(r"doc(ument)?(s|_?ids?)?", re.IGNORECASE)
DECIMALS: Final = 3


@dataclass(frozen=True)
class Cut:
    """How much of a result gets through."""

    level: str
    e2e: bool
    shows: tuple[str, ...] = ()
    half_width: float = 0.05
    sealed: bool = True


def cut_down(result: Mapping[str, Any], cut: Cut, rung: Rung | None = None) -> dict[str, Any]:
    """The part of a result that gets through."""
    head = {key: result[key] for key in HEAD if key in result}
    if cut.level == "ladder":
        return {**head, "values": _on_ladder(result, rung)}
    if cut.level in ("limited", "top"):
        return {**head, **_few(result, cut)}
    return {**head, **_details(result, cut)}


def _on_ladder(result: Mapping[str, Any], rung: Rung | None) -> dict[str, Any]:
    """One number on its step; whether this run moved it is all that can be learnt (S-17)."""
    if rung is None or not result.get("primary"):
        return {}
    return {result["primary"]: {"value": rung.value, "step": rung.step}}


def headline_names(result: Mapping[str, Any], cut: Cut) -> tuple[str, ...]:
    """The values that limited feedback and the top level are made of."""
    names = cut.shows or _usual_names(str(result.get("task")), str(result.get("primary") or ""), cut)
    return tuple(name for name in names if _allowed(name, cut))


def _usual_names(task: str, primary: str, cut: Cut) -> tuple[str, ...]:
    """Three values of a task; of an end-to-end run also those of its decisions, which stand alone before (M16).

    A primary one that was chosen and is none of them stands before them (S-27).
    """
    usual = THREE.get(task, ())
    if task == "e2e" and not cut.e2e:
        usual = THREE["clir"]
    elif task == "e2e" and cut.level != "limited":
        usual = (*THREE["e2e"], *THREE["clir"])
    return usual if primary in (*usual, *THREE.get(task, ())) else (primary, *usual)


def _allowed(name: str, cut: Cut) -> bool:
    judged = name.startswith(JUDGED)
    return (cut.e2e or not judged) and not (cut.sealed and name in NEVER_AN_EVALUATION)


def _few(result: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    names = headline_names(result, cut)
    values = result.get("values") or {}
    found: dict[str, Any] = {"values": _headlines(values, names, cut)}
    if not values:
        targets = (result.get("breakdowns") or {}).get("target") or {}
        chosen = names if cut.shows else CLASS_SHARES if cut.level == "top" else ()
        if chosen:
            kept = without_small_cells({"target": targets}, values)["target"] if cut.sealed else targets
            found["breakdowns"] = {"target": {level: _headlines(cell, chosen, cut) for level, cell in kept.items()}}
    return found


def _headlines(values: Mapping[str, Any], names: Collection[str], cut: Cut) -> dict[str, Any]:
    return {name: _headline(values[name], cut) for name in names if name in values}


def _headline(entry: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """A value to three decimals: limited with the half-width fixed beforehand, released with its own interval (X-7)."""
    value = rounded(entry.get("value"))
    if cut.level == "limited":
        return {"value": value, "half_width": cut.half_width}
    return {"value": value, "low": rounded(entry.get("low")), "high": rounded(entry.get("high"))}


def rounded(value: float | None) -> float | None:
    """A value to 0.001; undefined stays undefined.

    >>> rounded(0.70881), rounded(-0.0001), rounded(None)
    (0.709, 0.0, None)
    """
    return None if value is None else round(value, DECIMALS) + 0.0


def _details(result: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """Everything a full result tells, less what is judged and not released, small, or about single documents."""
    values = result.get("values") or {}
    factors = {name: levels for name, levels in (result.get("breakdowns") or {}).items() if not _tells_documents(name)}
    breakdowns = without_small_cells(factors, values) if cut.sealed else factors
    return {
        "values": _entries(values, cut),
        "breakdowns": {
            factor: {level: _entries(cell, cut) for level, cell in levels.items()}
            for factor, levels in breakdowns.items()
        },
        **{key: result[key] for key in DETAILS if key in result},
        "digests": _digests(result.get("digests") or {}, cut),
        "notes": list(_notes(result.get("notes") or (), cut)),
    }


def _tells_documents(factor: str) -> bool:
    """Whether the parts of a breakdown are single documents (M72)."""
    return bool(PER_DOCUMENT.fullmatch(factor))


def _entries(values: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    return {name: _entry(entry) for name, entry in values.items() if _allowed(name, cut)}


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: entry[key] for key in ENTRY if key in entry}
    if "parts" in kept:
        kept["parts"] = {name: part for name, part in kept["parts"].items() if isinstance(part, int | float)}
    return kept


def _digests(digests: Mapping[str, Any], cut: Cut) -> dict[str, Any]:
    """The plain digest of a sealed key would confirm guesses (X-1)."""
    return {name: digest for name, digest in digests.items() if name == "submission" or not cut.sealed}


def _notes(notes: Collection[Any], cut: Cut) -> Iterator[str]:
    """Sentences beside the numbers; on sealed sets they may tell of the key, and nowhere do they name documents."""
    for note in notes:
        if not cut.sealed and isinstance(note, str) and not DOCUMENT.search(note):
            yield note
