"""Transcripts by id, one utterance a line: TRN of sclite with the id behind the words, Kaldi's `text` with it before.

TRN may hold alternatives and optional words, as STM does; Kaldi's lines are words and nothing else. Lines that begin
with `;;` are comments in TRN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from basanite.formats.items import ContentError, Items
from basanite.formats.records import Place, Records, read_lines
from basanite.formats.texts.spoken_texts import Said, as_said, parse_said
from basanite.formats.texts.transcripts import COMMENT
from basanite.problems import Findings

SPEAKER: Final = "speaker"
SPEAKERS: Final = ("auto", "spu_id", "wsj", "none")
"""Where the speaker stands in an id; `auto` is `spu_id` where every id allows it."""

_TRN_LINE = re.compile(r"(.*)\(([^()]*)\)\s*", re.DOTALL)
_SEPARATOR = re.compile(r"[-_]")


def read_trn(path: Path, place: Place, findings: Findings, *, speakers: str = "auto") -> Items:
    """The utterances of a TRN file."""
    return _read(read_lines(path, place, findings), _trn_line, place, findings, speakers)


def read_kaldi(path: Path, place: Place, findings: Findings, *, speakers: str = "none") -> Items:
    """The utterances of Kaldi's `text`; who speaks is only guessed from an id where that is asked for."""
    chosen = "none" if speakers == "auto" else speakers
    return _read(read_lines(path, place, findings), _kaldi_line, place, findings, chosen)


def speakers_of(ids: Sequence[str], how: str) -> tuple[str, ...] | None:
    """Who speaks, from the ids of utterances: up to the first - or _, or the first three letters (WSJ).

    >>> speakers_of(["ann-1", "bob-2"], "auto"), speakers_of(["4t0c0201"], "auto"), speakers_of(["4t0c0201"], "wsj")
    (('ann', 'bob'), None, ('4t0',))
    """
    if how == "none" or (how == "auto" and not all(_SEPARATOR.search(name) for name in ids)):
        return None
    if how == "wsj":
        return tuple(name[:3].lower() for name in ids)
    return tuple(name.partition("-" if "-" in name else "_")[0].lower() for name in ids)


def _trn_line(text: str) -> tuple[str, Said]:
    found = _TRN_LINE.fullmatch(text)
    if found is None or len(found[2].split()) != 1:
        raise ContentError("no id in parentheses ends this line", "write words (speaker-utterance)", text)
    return found[2].strip(), parse_said(found[1])


def _kaldi_line(text: str) -> tuple[str, Said]:
    name, _, words = text.strip().partition(" ")
    return name.partition("\t")[0], as_said(f"{name.partition(chr(9))[2]} {words}".strip())


def _read(
    records: Records, parse: Callable[[str], tuple[str, Said]], place: Place, findings: Findings, speakers: str
) -> Items:
    kept: dict[str, tuple[int, Said]] = {}
    refused: set[str] = set()
    lost = records.lost
    for line, text in zip(records.lines, records.columns["text"], strict=True):
        if not text.strip() or (parse is _trn_line and text.lstrip().startswith(COMMENT)):
            continue
        name = ""
        try:
            name, said = parse(text)
            if name in kept:
                message = f"id {name!r} appears twice, first on line {kept[name][0]}"
                raise ContentError(message, "keep one line for each", name)
            kept[name] = (line, said)
        except ContentError as error:
            name = name or _id_of(text)
            lost += not name
            refused |= {name} if name else set()
            findings.add(place.problem(records.file, line, str(error), error.fix, error.found))
    ids = tuple(kept)
    return Items(
        records.file,
        ids,
        tuple(said for _, said in kept.values()),
        [line for line, _ in kept.values()],
        records.digest,
        _columns(ids, speakers),
        frozenset(refused),
        lost=lost,
    )


def _id_of(text: str) -> str:
    """The id of a TRN line whose words cannot be read."""
    found = _TRN_LINE.fullmatch(text)
    return "" if found is None else found[2].strip()


def _columns(ids: Sequence[str], speakers: str) -> Mapping[str, tuple[str, ...]]:
    found = speakers_of(ids, speakers)
    return {} if found is None else {SPEAKER: found}
