"""Speech recognition: how many words and characters were misheard, dropped or made up (T-6).

Reads utterances with ids (JSON lines, tables, parallel plain text), folders of whole documents (M83), and NIST's timed
transcripts (STM for what was said, CTM for what was heard).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from basanite import __version__
from basanite.analysis.results import Analysis
from basanite.errors import SettingError
from basanite.figures import Excerpt, Excerpts, Extract, Figure
from basanite.formats.file_kinds import CTM, STM
from basanite.formats.items import ContentError, Items, number_of, parallel, read_items, text_of, texts_of
from basanite.formats.records import Place
from basanite.formats.single_file import kind_of
from basanite.formats.texts.ctm_stm import Hearing, Segment, read_ctm, read_stm, texts_by_segment
from basanite.formats.texts.document_texts import is_documents, read_documents
from basanite.formats.texts.normalisers import NORMALISERS, Mapper, Normalise, normaliser, read_mapper
from basanite.formats.texts.spoken import Utterance, as_said
from basanite.kernel import Scores
from basanite.metrics.text.speech import CER, METRICS, WER, Aligned, Utterances, best_reference
from basanite.problems import Findings
from basanite.tasks import Inputs, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved import moved_figures, word_pieces
from basanite.tasks.setting_kinds import one_of, yes_or_no
from basanite.tasks.speech_pairs import interleaved, normalised, recording_column, scored_only

RULE, CHANNEL_RULE = "T-6", "M92"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = ("speaker", "recording", "document")
USED = ("references", "text", "start", "background")
WORST = 10
LONGEST = 200_000
"""Characters of an utterance: aligning takes time in proportion to the square, some seconds for as many."""
MOST_READINGS = 50_000_000
"""Places of a transcript with readings to choose from, times characters heard."""


class SpeechRun(ItemRun):
    """A submission to speech recognition: words with times find their segments, and only what counts is compared."""

    normalise: Normalise = str
    _ready: Pairs | None = None

    @property
    def interleaving(self) -> bool:
        """Whether the channels of a recording are put together by time."""
        return bool(self.settings["channels"] == "interleave")

    def examine(self, piece: Path) -> tuple[Any, Findings]:
        """Read the one file of the submission."""
        if kind_of(piece) is not CTM:
            return super().examine(piece)
        found = Findings(self._limit)
        return read_ctm(piece, SUBMISSION, found), found

    def take(self, examined: tuple[Any, Findings], findings: Findings) -> None:
        """Keep what was heard; words with times go to their segments first."""
        heard = examined[0]
        items = self._by_segment(heard, findings) if isinstance(heard, Hearing) else heard
        super().take((items, examined[1]), findings)

    def close(self, findings: Findings) -> None:
        """Check the whole, and that something is left to be scored."""
        super().close(findings)
        if findings.valid and self.reference is not None and not self.pairs().units:
            message, fix = "every utterance is marked as background speech or to be ignored", "check the marks"
            findings.add(Place("reference", CHANNEL_RULE).problem(self.reference.file, None, message, fix))

    def pairs(self) -> Pairs:
        """What counts, put together and normalised."""
        if self.reference is None:
            return super().pairs()
        if self._ready is None:
            self._ready = normalised(self.to_check(), self.normalise)
        return self._ready

    def to_check(self) -> Pairs:
        """What counts, put together and not yet normalised: readings are only chosen in what is not too long."""
        if self.reference is None:
            return super().pairs()
        counting = scored_only(super().pairs())
        return interleaved(counting) if self.interleaving else counting

    def scores(self, system: str) -> Scores:
        """The rows, with what was left out."""
        scores = super().scores(system)
        said = () if self.reference is None else tuple(_left_out(self.reference.content))
        return replace(scores, notes=(*said, *scores.notes))

    def _by_segment(self, heard: Hearing, findings: Findings) -> Items | None:
        reference, path = self.reference, self.inputs.reference
        if path is None:  # checked by itself, without a truth
            return Items(heard.file, tuple(map(str, range(len(heard.words)))), heard.words, (), heard.digest)
        if reference is None or not all(isinstance(one, Segment) for one in reference.content):
            message, fix = "words with times need a reference with times", "give an STM file as reference"
            findings.add(SUBMISSION.problem(heard.file, None, message, fix))
            return None
        known = {(segment.recording, segment.channel) for segment in reference.content}
        mixed = {word.recording for word in heard.words if (word.recording, word.channel) not in known}
        texts, lost = texts_by_segment(
            reference.content,
            heard.words,
            outside=self.settings["outside"],
            mixed=mixed if self.interleaving else (),
        )
        if lost and len(lost) == len(heard.words):
            message = f"none of your {len(lost)} words is of a recording and channel of the reference"
            yours, its = f"{lost[0].recording} {lost[0].channel}", " ".join(min(known, default=()))
            fix = f"is this the right data set? Name recordings and channels as it does, like {its!r}"
            findings.add(SUBMISSION.problem(heard.file, lost[0].line, f"{message}, like {yours!r}", fix, yours))
            return None
        for word in lost:
            message = f"the reference has no segment of recording {word.recording!r}, channel {word.channel!r}"
            fix = "name recordings and channels as the reference does; leave out what it does not have"
            findings.add(SUBMISSION.problem(heard.file, word.line, message, fix, word.word))
        return Items(heard.file, reference.ids, tuple(texts), [1] * len(texts), heard.digest)


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Refuse what cannot be aligned in a bearable time."""
    fix = "cut it into utterances, in the reference and in what was heard"
    for name, utterance, answer in zip(pairs.units, pairs.references, pairs.answers, strict=True):
        if utterance is not None:
            for place, message in _too_long(utterance, answer):
                findings.add(place.problem(pairs.files[place.where], None, f"{name!r} has {message}", fix, name))


def _too_long(utterance: Utterance, answer: str) -> Iterator[tuple[Place, str]]:
    sizes = [sum(map(len, readings)) for said in utterance.said for readings in said.places]
    for place, size in ((REFERENCE, sum(sizes)), (SUBMISSION, len(answer))):
        if size > LONGEST:
            yield place, f"{size} characters, more than {LONGEST}"
    if len(sizes) * len(answer) > MOST_READINGS and any(said.plain is None for said in utterance.said):
        yield REFERENCE, f"too many readings to choose from beside {len(answer)} characters"


def _left_out(utterances: Sequence[Utterance]) -> Sequence[str]:
    number = sum(not utterance.scored for utterance in utterances)
    said = (
        f"{number} of {len(utterances)} utterances are marked as background speech or to be ignored: not scored (M92)"
    )
    return [said] if number else []


def utterance_of(fields: Mapping[str, Any]) -> Utterance:
    """What a record of a reference says: one or more transcripts, when it began, whether it is background speech."""
    said = tuple(map(as_said, texts_of(fields)))
    start = 0.0 if fields.get("start") is None else number_of(fields, "start")
    return Utterance(said, start, not _marked(fields.get("background")))


def _marked(cell: Any) -> bool:
    try:
        return cell is not None and cell != "" and yes_or_no(str(cell))
    except ValueError as error:
        raise ContentError(
            "background is neither true nor false", "write true or false, or leave it out", cell
        ) from error


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """What was said; further files are other transcribers of the same utterances."""
    if any(kind_of(path) is STM for path in paths):
        if len(paths) > 1:
            raise SettingError("Give one STM file; other readings stand in it as { one / another }.")
        return read_stm(paths[0], REFERENCE, findings)
    versions = [_read(path, utterance_of, REFERENCE, settings, findings) for path in paths]
    whole = [version for version in versions if version is not None]
    if len(whole) < len(versions):
        return None
    joined = parallel([replace(one, content=tuple(u.said for u in one.content)) for one in whole], REFERENCE, findings)
    if joined is None:
        return None
    content = tuple(replace(old, said=said) for old, said in zip(whole[0].content, joined.content, strict=True))
    items = replace(joined, content=content)
    _check_channels(items, settings, findings)
    return items


def _check_channels(items: Items, settings: Settings, findings: Findings) -> None:
    """Interleaving needs to know the recordings, and as many transcripts of each part."""
    place = Place("reference", CHANNEL_RULE)
    if settings["channels"] != "interleave":
        return
    if recording_column(items.columns) is None:
        fix = "add a column `recording` (and `channel` and `start`), or set channels=separate"
        findings.add(place.problem(items.file, None, "nothing says which utterances are of one recording", fix))
    elif len({len(utterance.said) for utterance in items.content}) > 1:
        fix = "give every utterance as many references, or set channels=separate"
        findings.add(place.problem(items.file, None, "utterances have different numbers of references", fix))


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """What was heard."""
    return _read(path, text_of, SUBMISSION, settings, findings)


def _read(path: Path, take: Any, place: Place, settings: Settings, findings: Findings) -> Items | None:
    if is_documents(path):
        return read_documents(path, take, place, findings, lines=settings["segments"] == "lines")
    return read_items(path, take, place, findings, used=USED if place.where == "reference" else ("text",))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Edits and lengths of every utterance, and what the edits were."""
    block = Utterances(pairs.units, pairs.references, pairs.answers)
    tables = {metric.name: pairs.table(metric.columns, metric.statistics(block)) for metric in METRICS}
    parts = {WER.name: _parts(block.words, "words"), CER.name: _parts(block.characters, "characters")}
    signature = _signature(pairs.references, settings)
    return Counted(
        METRICS,
        tables,
        parts=parts,
        signatures={WER.name: f"tok:words|{signature}", CER.name: f"tok:characters|{signature}"},
    )


def _parts(aligned: Aligned, what: str) -> dict[str, float]:
    return {**vars(aligned.counts), f"reference_{what}": sum(map(len, aligned.references))}


def _signature(references: Sequence[Sequence[str]], settings: Settings) -> str:
    """How the rates came about, in one line (T-10)."""
    numbers = {len(texts) for texts in references}
    case = "mixed" if settings["normalise"] in ("none", "nfc") else "folded"
    parts = {
        "nrefs": numbers.pop() if len(numbers) == 1 else "var",
        "case": case,
        "normalise": settings["normalise"],
        "mapping": settings["mapping"] or "none",
        "channels": settings["channels"],
        "rapidfuzz": version("rapidfuzz"),
        "basanite": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def speech_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """The utterances with most edits, said and heard side by side."""
    pairs, edits = analysis.scores.kept, analysis.scores.tables[WER.name].column("edits")
    worst = [int(at) for at in (-edits).argsort(kind="stable")[:WORST] if edits[at]]
    entries = tuple(
        Excerpt(pairs.units[at], f"{edits[at]:.0f} edits", _shown(pairs.references[at], {"Heard": pairs.answers[at]}))
        for at in worst
    )
    summary = "What was said, then what was heard; words that differ are marked."
    return (Excerpts(f"The {pairs.unit}s with most edits", summary, entries),) if entries else ()


def _shown(truth: Sequence[str], answers: Mapping[str, str]) -> tuple[Extract, ...]:
    versions = [text.split() for text in truth]
    said = Extract("Said", ((" ".join(best_reference(versions, next(iter(answers.values())).split())), ""),))
    heard = ((name, answer.split()) for name, answer in answers.items())
    return said, *(Extract(name, word_pieces(best_reference(versions, words), words)) for name, words in heard)


SPEC = ItemSpec(
    name="speech",
    unit="utterance",
    rule=RULE,
    primary=WER.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    clusters=CLUSTERS,
    check=check,
)
_open_items = opener(SPEC, SpeechRun)


def open_speech(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> ItemRun | None:
    """Open the reference, and the user's own rules for words if there are any."""
    mapper = _mapper(settings, findings)
    run = _open_items(inputs, settings, findings, executor)
    if isinstance(run, SpeechRun):
        run.normalise = normaliser(settings["normalise"], mapper)
        run.settings = {**settings, "mapping": mapper.digest if mapper else None}
    return run


def _mapper(settings: Settings, findings: Findings) -> Mapper | None:
    if settings["mapping"] is None:
        return None
    return read_mapper(Path(settings["mapping"]), findings, name=settings["normalise"], rule=RULE)


TASK = Task(
    name="speech",
    summary="Speech recognition: what was heard against what was said, word by word and character by character",
    citation=WER.citation,
    unit="utterance",
    primary=WER.name,
    metrics=METRICS,
    open=open_speech,
    several_references=True,
    settings=(
        Setting(
            "normalise",
            f"What shall not count as a difference: {', '.join(NORMALISERS)}.",
            partial(one_of, tuple(NORMALISERS)),
            "none",
        ),
        Setting("mapping", "A file of your own rules, one a line: from => to.", str),
        Setting(
            "channels",
            "Whether the channels of a recording stand alone: separate, or interleave (by time, one transcript).",
            partial(one_of, ("separate", "interleave")),
            "separate",
        ),
        Setting(
            "outside",
            "What becomes of timed words between segments: insert (into the nearest one), or ignore.",
            partial(one_of, ("insert", "ignore")),
            "insert",
        ),
        Setting(
            "segments",
            "What is a unit in a folder of documents: documents, or lines (as many on both sides).",
            partial(one_of, ("documents", "lines")),
            "documents",
        ),
    ),
    figures=speech_figures,
    compared_figures=moved_figures(_shown),
)
