"""What sacreBLEU prints as JSON: one score or several with their signatures, or a table of systems (P-32).

Its scores are 0 to 100, ours 0 to 1. An interval is its mean of the draws, plus and minus.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.foreign.losses import RULE, Losses
from basanite.formats.foreign.reported import Figure, Reported
from basanite.formats.records import Place
from basanite.formats.summaries.strict_json import parse
from basanite.problems import Findings

PROGRAM: Final = "sacreBLEU"
TASK: Final = "translation"
LARGEST: Final = 16 << 20
PLACE: Final = Place("submission", RULE)
FIX: Final = "give what `sacrebleu … --format json` printed"
SCALE: Final = 100.0
MEAN: Final = "confidence_mean"
BLEU_PARTS: Final = ("precision_1", "precision_2", "precision_3", "precision_4", "bp", "ratio", "hyp_len", "ref_len")
NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+_-]{0,39}")
_N = r"(\d{1,9}(?:\.\d{1,9})?)"
VERBOSE: Final = re.compile(
    rf"{_N}/{_N}/{_N}/{_N} \(BP = {_N} ratio = {_N} hyp_len = (\d{{1,12}}) ref_len = (\d{{1,12}})\)"
)
KNOWN: Final = {"name", "score", "signature", "verbose_score", MEAN, "confidence_var", "confidence"}
"""What is kept of a score; parts of the signature stand there a second time."""


def read_sacrebleu(path: Path, findings: Findings, losses: Losses, *, system: str = "") -> Reported | None:
    """The scores in a file; of a table of systems, those of the one that is named."""
    parsed = parse(read_bounded(path, LARGEST), limit=LARGEST, rule=RULE)
    if parsed.fault:
        findings.add(PLACE.problem(path.name, parsed.line, parsed.fault, FIX))
        return None
    entries = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        findings.add(PLACE.problem(path.name, None, "there is no score in it", FIX))
        return None
    if any("system" in entry for entry in entries):
        entry = _of_system(entries, system)
        figures = dict(_cells(entry, path.name, findings, losses))
        system = str(entry["system"]).removeprefix("Baseline: ")
    else:
        figures = dict(_scores(entries, path.name, findings, losses))
    primary = "bleu" if "bleu" in figures else next(iter(figures), "")
    return Reported(PROGRAM, TASK, primary, figures, system=system, unit="segment") if findings.valid else None


def our_name(name: str) -> str:
    """The name of a score in our tables: chrF with words or other weights is chrF.

    >>> our_name("BLEU"), our_name("chrF2++"), our_name("TER")
    ('bleu', 'chrf', 'ter')
    """
    return "chrf" if name.casefold().startswith("chrf") else name.casefold()


def _of_system(entries: Sequence[Mapping[str, Any]], system: str) -> Mapping[str, Any]:
    names = [str(entry.get("system", "")).removeprefix("Baseline: ") for entry in entries]
    if not system and len(entries) == 1:
        return entries[0]
    if system not in names:
        told = ", ".join(name[:60] for name in names[:20])
        raise SettingError(f"The file has several systems: name one with --system, of: {told}.")
    return entries[names.index(system)]


def _scores(
    entries: Sequence[Mapping[str, Any]], file: str, findings: Findings, losses: Losses
) -> Iterator[tuple[str, Figure]]:
    """One score an object."""
    seen = set[str]()
    for entry in entries:
        name, signature = entry.get("name"), entry.get("signature", "")
        if not isinstance(name, str) or not NAME.fullmatch(name) or not isinstance(signature, str):
            findings.add(PLACE.problem(file, None, "a score has no name", FIX, json.dumps(entry)))
        elif our_name(name) in seen:
            findings.add(PLACE.problem(file, None, f"{name} stands twice", "keep one score of each kind", name))
        else:
            seen.add(our_name(name))
            found = _figure(name, entry, signature, file, findings, losses)
            yield from [(our_name(name), found)] if found else []


def _figure(
    name: str, entry: Mapping[str, Any], signature: str, file: str, findings: Findings, losses: Losses
) -> Figure | None:
    numbers = [_number(entry.get(key)) for key in ("score", MEAN, "confidence_var")]
    score, mean, spread = numbers
    if score is None:
        findings.add(PLACE.problem(file, None, f"the score of {name} is no number", FIX, repr(entry.get("score"))))
        return None
    if our_name(name) == "chrf" and not name.startswith("chrF2"):
        losses.add("the weight of recall in chrF, which is 2 here", name)
    if not signature:
        losses.add("how a score was computed: it has no signature", name)
    told = {part.partition(":")[0] for part in signature.split("|")}
    for key in sorted(entry.keys() - KNOWN - told):
        losses.add(f"the entry {key[:60]!r} of {name}", str(entry[key]))
    low, high = (None if mean is None or spread is None else (mean + sign * spread) / SCALE for sign in (-1, 1))
    signed = f"{signature}|scale:0..1" if signature else ""
    return Figure(score / SCALE, low, high, signed, _parts(entry.get("verbose_score"), losses))


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float) or not -1e9 < found < 1e9:
        return None
    return float(found)


def _parts(verbose: Any, losses: Losses) -> dict[str, float]:
    if not verbose:
        return {}
    found = VERBOSE.fullmatch(verbose) if isinstance(verbose, str) else None
    if found is None:
        losses.add("a verbose score of another form", str(verbose))
        return {}
    return dict(zip(BLEU_PARTS, map(float, found.groups()), strict=True))


def _cells(entry: Mapping[str, Any], file: str, findings: Findings, losses: Losses) -> Iterator[tuple[str, Figure]]:
    """The scores of one system in a table: texts such as "74.3", or objects with mean and interval."""
    for name, cell in entry.items():
        if name != "system":
            whole = cell if isinstance(cell, dict) else {"score": _cell_number(cell)}
            renamed = {{"mean": MEAN, "ci": "confidence_var"}.get(key, key): value for key, value in whole.items()}
            given = {key: value for key, value in renamed.items() if value is not None}
            found = _figure(name[:40], given, "", file, findings, losses)
            yield from [(our_name(name), found)] if found else []


def _cell_number(cell: Any) -> Any:
    try:
        return float(cell) if isinstance(cell, str) else cell
    except ValueError:
        return math.nan


def sacrebleu_text(reported: Reported, losses: Losses) -> str:
    """Scores as sacreBLEU prints them; of one score the object alone, as it does."""
    made = [entry for name, figure in reported.figures.items() for entry in _entry(name, figure, losses)]
    texts = ",\n".join(json.dumps(entry, indent=1, ensure_ascii=False) for entry in made)
    return f"{texts}\n" if len(made) == 1 else f"[\n{texts}\n]\n"


def _entry(name: str, figure: Figure, losses: Losses) -> Iterator[dict[str, Any]]:
    """One score; what sacreBLEU does not compute, or has no number, is left behind."""
    parts = [part for part in figure.signature.split("|") if part.partition(":")[0] not in ("scale", "basanite", "")]
    signed = dict(part.partition(":")[::2] for part in parts)
    theirs = _their_name(name, signed)
    if theirs is None or not figure.defined:
        losses.add(f"{name}, which sacreBLEU does not have" if figure.defined else f"{name}, which is undefined")
        return
    scale = 1.0 if "scale:0..100" in figure.signature else SCALE
    entry: dict[str, Any] = {"name": theirs, "score": round(figure.value * scale, 4), "signature": "|".join(parts)}
    if abs(entry["score"] - figure.value * scale) > 1e-9:
        losses.add("digits of scores behind the fourth", name)
    if figure.low is not None and figure.high is not None:
        mean, spread = (round((figure.high + sign * figure.low) / 2 * scale, 4) for sign in (1, -1))
        words = {"confidence": f"μ = {mean:g} ± {spread:g}"}
        entry |= {MEAN: mean, "confidence_var": spread, **words}
    yield {**entry, **_verbose(figure.parts, losses), **signed}


def _their_name(name: str, signed: Mapping[str, str]) -> str | None:
    words = {"0": "", "1": "+", "2": "++"}.get(signed.get("nw", "0"), "")
    return {"bleu": "BLEU", "chrf": f"chrF2{words}", "ter": "TER"}.get(name)


def _verbose(parts: Mapping[str, float], losses: Losses) -> dict[str, str]:
    if not parts:
        return {}
    if set(parts) != set(BLEU_PARTS):
        losses.add("parts of values")
        return {}
    first = "/".join(f"{parts[name]:.1f}" for name in BLEU_PARTS[:4])
    lengths = f"hyp_len = {parts['hyp_len']:.0f} ref_len = {parts['ref_len']:.0f}"
    return {"verbose_score": f"{first} (BP = {parts['bp']:.3f} ratio = {parts['ratio']:.3f} {lengths})"}
