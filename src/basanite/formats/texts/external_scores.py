"""What sacreBLEU and trec_eval report of a system, as named numbers with intervals and signatures, and back (P-32).

sacreBLEU prints JSON: one score or several with their signatures, or a table of systems. Its scores are 0 to 100, ours
0 to 1. An interval is its mean of the draws, plus and minus. trec_eval prints a measure, a query or `all`, and a number
on each line; with `-q` also by query. Measures that we have too get our names, so that both can stand in one table.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.formats.foreign_files import RULE, Losses
from basanite.formats.records import Place, read_lines
from basanite.formats.single_file import read_unpacked
from basanite.formats.strict_json import parse
from basanite.problems import Findings

SACREBLEU: Final = "sacreBLEU"
TASK: Final = "translation"
LARGEST: Final = 16 << 20
SACREBLEU_PLACE: Final = Place("submission", RULE)
FIX: Final = "give what `sacrebleu … --format json` printed"
SCALE: Final = 100.0
MEAN: Final = "confidence_mean"
BLEU_PARTS: Final = ("precision_1", "precision_2", "precision_3", "precision_4", "bp", "ratio", "hyp_len", "ref_len")
SCORE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+_-]{0,39}")
_N = r"(\d{1,9}(?:\.\d{1,9})?)"
VERBOSE: Final = re.compile(
    rf"{_N}/{_N}/{_N}/{_N} \(BP = {_N} ratio = {_N} hyp_len = (\d{{1,12}}) ref_len = (\d{{1,12}})\)"
)
KNOWN: Final = {"name", "score", "signature", "verbose_score", MEAN, "confidence_var", "confidence"}
"""What is kept of a score; parts of the signature stand there a second time."""
TREC_EVAL: Final = "trec_eval"
ALL: Final = "all"
OURS: Final = {
    "map": "map",
    "ndcg": "ndcg",
    "ndcg_cut_10": "ndcg_10",
    "P_10": "p_10",
    "recip_rank": "rr",
    "bpref": "bpref",
    "infAP": "infap",
}
"""trec_eval's names of measures that we compute in the same way."""
THEIRS: Final = {ours: theirs for theirs, ours in OURS.items()}
COUNTS: Final = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
"""Whole numbers."""
ORDER: Final = (*COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank")
"""What trec_eval prints first; the rest we put in the order of names and cut-offs."""
WORDS: Final = ("runid", "relstring")
"""Measures that are no numbers."""
MOST_LINES: Final = 5_000_000
MEASURE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,+-]{0,59}")
NUMBER: Final = re.compile(r"-?(?:[0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,3})?|-?nan|-?inf")
TREC_EVAL_PLACE: Final = Place("submission", RULE)
Cells = dict[str, dict[str, float]]
"""Numbers by query (or `all`) and measure."""


@dataclass(frozen=True)
class Figure:
    """One number as it was reported, on our scale; nan where the program had none."""

    value: float
    low: float | None = None
    high: float | None = None
    signature: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_defined(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)


@dataclass(frozen=True)
class Reported:
    """All numbers of one system, for the whole and for single units where they were printed."""

    program: str
    task: str
    primary: str
    figures: Mapping[str, Figure]
    units: int = 0
    """How many units the numbers are based on; 0 where the program does not say."""
    system: str = ""
    unit: str = "unit"
    by_unit: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def read_sacrebleu(path: Path, findings: Findings, losses: Losses, *, system: str = "") -> Reported | None:
    """The scores in a file; of a table of systems, those of the one that is named."""
    parsed = parse(read_unpacked(path, LARGEST), limit=LARGEST, rule=RULE)
    if parsed.fault:
        findings.add(SACREBLEU_PLACE.problem(path.name, parsed.line, parsed.fault, FIX))
        return None
    entries = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        findings.add(SACREBLEU_PLACE.problem(path.name, None, "there is no score in it", FIX))
        return None
    if any("system" in entry for entry in entries):
        entry = _of_system(entries, system)
        figures = dict(_cells(entry, path.name, findings, losses))
        system = str(entry["system"]).removeprefix("Baseline: ")
    else:
        figures = dict(_scores(entries, path.name, findings, losses))
    primary = "bleu" if "bleu" in figures else next(iter(figures), "")
    return Reported(SACREBLEU, TASK, primary, figures, system=system, unit="segment") if findings.valid else None


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
        if not isinstance(name, str) or not SCORE_NAME.fullmatch(name) or not isinstance(signature, str):
            findings.add(SACREBLEU_PLACE.problem(file, None, "a score has no name", FIX, json.dumps(entry)))
        elif our_name(name) in seen:
            findings.add(
                SACREBLEU_PLACE.problem(file, None, f"{name} appears twice", "keep one score of each kind", name)
            )
        else:
            seen.add(our_name(name))
            found = _figure(name, entry, signature, file, findings, losses)
            yield from [(our_name(name), found)] if found else []


def _figure(
    name: str, entry: Mapping[str, Any], signature: str, file: str, findings: Findings, losses: Losses
) -> Figure | None:
    numbers = [_finite_number(entry.get(key)) for key in ("score", MEAN, "confidence_var")]
    score, mean, spread = numbers
    if score is None:
        findings.add(
            SACREBLEU_PLACE.problem(file, None, f"the score of {name} is not a number", FIX, repr(entry.get("score")))
        )
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


def _finite_number(found: Any) -> float | None:
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
    word_order = {"0": "", "1": "+", "2": "++"}.get(signed.get("nw", "0"), "")
    theirs = {"bleu": "BLEU", "chrf": f"chrF2{word_order}", "ter": "TER"}.get(name)
    if theirs is None or not figure.is_defined:
        losses.add(f"{name}, which sacreBLEU does not have" if figure.is_defined else f"{name}, which is undefined")
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


def _verbose(parts: Mapping[str, float], losses: Losses) -> dict[str, str]:
    if not parts:
        return {}
    if set(parts) != set(BLEU_PARTS):
        losses.add("parts of values")
        return {}
    first = "/".join(f"{parts[name]:.1f}" for name in BLEU_PARTS[:4])
    lengths = f"hyp_len = {parts['hyp_len']:.0f} ref_len = {parts['ref_len']:.0f}"
    return {"verbose_score": f"{first} (BP = {parts['bp']:.3f} ratio = {parts['ratio']:.3f} {lengths})"}


def read_trec_eval(path: Path, findings: Findings, losses: Losses) -> Reported | None:
    """The numbers in a file that trec_eval printed, with all that is wrong in it."""
    cells: Cells = {}
    words: dict[str, str] = {}
    records = read_lines(path, TREC_EVAL_PLACE, findings)
    for line, text in zip(records.lines, records.columns["text"], strict=True):
        fault = _take(text, cells, words, losses) if text.strip() else ""
        if fault:
            fix = "give what trec_eval printed: measure, query or `all`, number"
            findings.add(TREC_EVAL_PLACE.problem(records.file, line, fault, fix, text))
    if findings.valid and not cells:
        findings.add(
            TREC_EVAL_PLACE.problem(records.file, None, "there is no number in it", "give what trec_eval printed")
        )
    return _system_scores(cells, words.get("runid", ""), losses) if findings.valid else None


def _take(text: str, cells: Cells, words: dict[str, str], losses: Losses) -> str:
    """Take one line; what is wrong with it, or nothing."""
    parts = text.split()
    if len(parts) in (2, 3) and parts[0] in WORDS:
        if parts[0] == "runid":
            words["runid"] = parts[-1]
        else:
            losses.add(f"{parts[0]}, which is not a number", parts[-1])
        return ""
    if len(parts) != 3:
        return f"{len(parts)} fields instead of three"
    measure, query, number = parts
    if not MEASURE_NAME.fullmatch(measure) or not NUMBER.fullmatch(number):
        return "no name of a measure, or no number"
    several = cells.setdefault(query, {})
    if measure in several:
        return f"{measure} of {query[:60]} appears twice"
    several[measure] = float(number)
    return ""


def _system_scores(cells: Cells, system: str, losses: Losses) -> Reported:
    by_unit = {query: _by_our_names(several) for query, several in cells.items() if query != ALL}
    whole = cells.get(ALL)
    if whole is None:
        losses.add("numbers over all queries: the file has none, so means are taken")
        whole = _means({query: several for query, several in cells.items() if query != ALL})
    units = int(whole.pop("num_q", len(by_unit)))
    figures = {name: Figure(value) for name, value in _by_our_names(whole).items()}
    primary = "map" if "map" in figures else next(iter(figures), "")
    return Reported(TREC_EVAL, "ranking", primary, figures, units, system, "query", by_unit)


def _by_our_names(several: Mapping[str, float]) -> dict[str, float]:
    return {OURS.get(name, name): value for name, value in several.items()}


def _means(by_query: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over queries; counts are sums, and of geometric means nobody can tell."""
    columns: dict[str, list[float]] = {}
    for several in by_query.values():
        for name, value in several.items():
            columns.setdefault(name, []).append(value)
    means = {name: sum(values) / (1 if name in COUNTS else len(values)) for name, values in columns.items()}
    return {**{name: value for name, value in means.items() if not name.startswith("gm_")}, "num_q": len(by_query)}


def trec_eval_lines(reported: Reported, losses: Losses) -> Iterator[str]:
    """The numbers as trec_eval prints them: single queries first, then all."""
    for query in sorted(reported.by_unit):
        several = reported.by_unit[query]
        yield from (_line(name, query, several[name], losses) for name in sorted(several, key=_order))
    if reported.system:
        yield f"{'runid':<22}\t{ALL}\t{'_'.join(reported.system.split())}\n"
    yield f"{'num_q':<22}\t{ALL}\t{reported.units}\n"
    for name in sorted(reported.figures, key=_order):
        figure = reported.figures[name]
        if figure.low is not None:
            losses.add("intervals")
        if figure.parts:
            losses.add("parts of values", name)
        yield _line(name, ALL, figure.value, losses)


def _order(name: str) -> tuple[int, str, float, str]:
    theirs = THEIRS.get(name, name)
    stem, _, cut = theirs.rpartition("_")
    number = float(cut) if NUMBER.fullmatch(cut) else 0.0
    return ORDER.index(theirs) if theirs in ORDER else len(ORDER), stem if number else theirs, number, theirs


def _line(name: str, query: str, value: float, losses: Losses) -> str:
    theirs = THEIRS.get(name, name)
    return f"{theirs:<22}\t{query}\t{_number_text(theirs, value, losses)}\n"


def _number_text(name: str, value: float, losses: Losses) -> str:
    if not math.isfinite(value):
        return "nan"
    if name in COUNTS and value.is_integer():
        return str(int(value))
    if abs(round(value, 4) - value) > 1e-12:
        losses.add("digits behind the fourth")
    return f"{value:.4f}"
