"""Speech recognition: how many words and characters were misheard, dropped or made up (T-6, T-14).

Reads utterances with ids (TRN, Kaldi's `text`, JSON lines, tables), parallel plain text, folders of whole documents
(M83), and NIST's timed transcripts (STM for what was said, CTM for what was heard). Where the reference is NIST's,
words are compared and counted as sclite does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite import __version__
from basanite.errors import SettingError
from basanite.formats.items import MOST_LEVELS, ContentError, Items, number_of, parallel, read_items, text_of, texts_of
from basanite.formats.kinds.kind import Kind
from basanite.formats.kinds.speech import CTM, KALDI, STM, TRN
from basanite.formats.records import Place
from basanite.formats.single_file import kind_of
from basanite.formats.texts.document_texts import is_documents, read_documents
from basanite.formats.texts.glm import Glm
from basanite.formats.texts.normalisers import NORMALISERS, normaliser, read_mapper
from basanite.formats.texts.spoken_texts import Said, as_heard, as_said, parse_said
from basanite.formats.texts.transcript_lines import SPEAKERS, read_kaldi, read_trn
from basanite.formats.texts.transcripts import (
    FOLLOWING,
    Hearing,
    Segment,
    Utterance,
    read_ctm,
    read_stm,
    texts_by_segment,
)
from basanite.kernel import Scores
from basanite.metrics.text.speech import CER, METRICS, WER, Aligned, AlignmentCounts, Utterances
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.speech import EXPLANATIONS
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import one_of, whole_number, yes_or_no
from basanite.tasks.speech_figures import SPEAKER, compared_speech, speech_figures
from basanite.tasks.speech_pairs import (
    CASES,
    CORRECT,
    SCLITE,
    UNSAID,
    WRITTEN,
    Ready,
    Rules,
    interleave_channels,
    ready_pairs,
    recording_column,
    scored_only,
)

AUTO = "auto"
BY_LINE = ((TRN, read_trn), (KALDI, read_kaldi))
RULE, CHANNEL_RULE = "T-6", "M92"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
CLUSTERS = (SPEAKER, "recording", "document")
USED = ("references", "text", "start", "background")
WORST = 10
LONGEST = 200_000
"""Characters of an utterance: aligning takes time in proportion to the square, some seconds for as many."""
MOST_READINGS = 50_000_000
"""Places of a transcript with readings to choose from, times characters heard."""
MOST_CELLS = 60_000_000
"""Words of the reference times words that were heard, where words are aligned as sclite does it."""


class SpeechRun(ItemRun):
    """A submission to speech recognition: words with times find their segments, and only what counts is compared."""

    rules: Rules = Rules()
    _ready: Ready | None = None

    @property
    def interleaving(self) -> bool:
        """Whether the channels of a recording are put together by time."""
        return bool(self.settings["channels"] == "interleave")

    def examine(self, piece: Path) -> tuple[Any, Findings]:
        """Read the one file of the submission."""
        if kind_of(piece) is not CTM:
            return super().examine(piece)
        found = Findings(self._limit)
        return read_ctm(piece, SUBMISSION, found, alternatives=True), found

    def take(self, examined: tuple[Any, Findings], findings: Findings) -> None:
        """Keep what was heard; words with times go to their segments first."""
        heard = examined[0]
        items = self._by_segment(heard, findings) if isinstance(heard, Hearing) else heard
        super().take((items and self._with_known_ids(items), examined[1]), findings)

    def _with_known_ids(self, items: Items) -> Items:
        """By sclite's rules ids are the same in capitals and small letters."""
        if self.reference is None or not self.rules.sclite:
            return items
        known = {name.lower(): name for name in self.reference.ids}
        ids = tuple(known.get(name.lower(), name) for name in items.ids)
        fit = len(known) == len(self.reference.ids) and len(set(ids)) == len(ids)
        return replace(items, ids=ids) if fit else items

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
            self._ready = ready_pairs(self.to_check(), self.rules)
        return self._ready

    def to_check(self) -> Pairs:
        """What counts, put together and not yet normalised: readings are only chosen in what is not too long."""
        if self.reference is None:
            return super().pairs()
        counting = scored_only(super().pairs())
        return interleave_channels(counting) if self.interleaving else counting

    def scores(self, system: str) -> Scores:
        """The rows, with what was left out."""
        scores = super().scores(system)
        said = () if self.reference is None else tuple(_left_out(self.reference.content))
        return replace(scores, notes=(*said, *scores.notes))

    def _own_factors(self, pairs: Pairs) -> dict[str, NDArray[np.str_]]:
        """Columns with few levels, and the speakers, though they are the clusters as well."""
        cells = pairs.columns.get(SPEAKER, ())
        speakers = {SPEAKER: np.array(cells, np.str_)} if 1 < len(set(cells)) <= MOST_LEVELS else {}
        return {**super()._own_factors(pairs), **speakers}

    def _by_segment(self, heard: Hearing, findings: Findings) -> Items | None:
        reference, path = self.reference, self.inputs.reference
        if path is None:  # checked by itself, without a truth
            return Items(heard.file, tuple(map(str, range(len(heard.words)))), heard.words, (), heard.digest)
        if reference is None or not all(isinstance(one, Segment) for one in reference.content):
            message, fix = "words with times need a reference with times", "give an STM file as reference"
            findings.add(SUBMISSION.problem(heard.file, None, message, fix))
            return None
        known = {(segment.recording.lower(), segment.channel.lower()) for segment in reference.content}
        heard_in = {(word.recording.lower(), word.channel.lower()) for word in heard.words}
        mixed = {recording for recording, channel in heard_in if (recording, channel) not in known}
        texts, lost = texts_by_segment(
            reference.content,
            heard.words,
            outside=self.settings["outside"],
            mixed=mixed if self.interleaving else (),
        )
        if lost and len(lost) == len(heard.words):
            message = f"none of your {len(lost)} words is of a recording and channel of the reference"
            yours, first = f"{lost[0].recording} {lost[0].channel}", reference.content[0]
            its = f"{first.recording} {first.channel}"
            fix = f"is this the right data set? Name recordings and channels as it does, like {its!r}"
            findings.add(SUBMISSION.problem(heard.file, lost[0].line, f"{message}, like {yours!r}", fix, yours))
            return None
        for word in lost:
            message = f"the reference has no segment of recording {word.recording!r}, channel {word.channel!r}"
            fix = "name recordings and channels as the reference does; leave out what it does not have"
            findings.add(SUBMISSION.problem(heard.file, word.line, message, fix, word.word))
        said = tuple(map(parse_said, texts))
        return Items(heard.file, reference.ids, said, [1] * len(texts), heard.digest)


def check(pairs: Pairs, settings: Settings, findings: Findings) -> None:
    """Refuse what cannot be aligned in a bearable time."""
    fix = "cut it into utterances, in the reference and in what was heard"
    for name, utterance, answer in zip(pairs.units, pairs.references, pairs.answers, strict=True):
        if utterance is not None:
            for place, message in _too_long(utterance, answer, settings):
                findings.add(place.problem(pairs.files[place.where], None, f"{name!r} has {message}", fix, name))


def _too_long(utterance: Utterance, answer: Said, settings: Settings) -> Iterator[tuple[Place, str]]:
    sizes = [sum(map(len, readings)) for said in utterance.said for readings in said.places]
    heard = sum(len(reading) for readings in answer.places for reading in readings)
    for place, size in ((REFERENCE, sum(sizes)), (SUBMISSION, heard)):
        if size > LONGEST:
            yield place, f"{size} characters, more than {LONGEST}"
    if len(sizes) * heard > MOST_READINGS and any(said.plain is None for said in utterance.said):
        yield REFERENCE, f"too many readings to choose from beside {heard} characters"
    words = max((_words(said) for said in utterance.said), default=0) * _words(answer)
    if settings["rules"] == SCLITE and words > MOST_CELLS:
        yield SUBMISSION, f"{words} pairs of words to compare, more than sclite's rules allow ({MOST_CELLS})"


def _words(said: Said) -> int:
    return sum(len(reading) for slot in said.written for reading in slot)


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
    return Utterance(said, start, not _read_mark(fields.get("background")))


def _read_mark(cell: Any) -> bool:
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
    return _read(path, lambda fields: as_heard(text_of(fields)), SUBMISSION, settings, findings)


def _read(path: Path, take: Any, place: Place, settings: Settings, findings: Findings) -> Items | None:
    by_line = next((read for kind, read in BY_LINE if path.is_file() and kind_of(path) is kind), None)
    if by_line is not None:
        items = by_line(path, place, findings, speakers=settings["speakers"])
        content = tuple(Utterance((said,)) for said in items.content) if place is REFERENCE else items.content
        return replace(items, content=content)
    if is_documents(path):
        return read_documents(path, take, place, findings, lines=settings["segments"] == "lines")
    return read_items(path, take, place, findings, used=USED if place.where == "reference" else ("text",))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """Edits and lengths of every utterance, and what the edits were."""
    steps = pairs.steps if isinstance(pairs, Ready) else None
    block = Utterances(pairs.units, pairs.references, pairs.answers, steps)
    tables = {metric.name: pairs.table(metric.columns, metric.statistics(block)) for metric in METRICS}
    words = _word_parts(block)
    characters = {**vars(block.characters.counts), "reference_characters": _pieces(block.characters)}
    signature = _signature(pairs.references, settings)
    return Counted(
        METRICS,
        tables,
        parts={WER.name: words, CER.name: characters},
        signatures={metric.name: f"tok:{'characters' if metric is CER else 'words'}|{signature}" for metric in METRICS},
    )


def _word_parts(block: Utterances) -> dict[str, float]:
    total = sum(block.outcomes, AlignmentCounts())
    return {**vars(total), "reference_words": total.reference}


def _pieces(aligned: Aligned) -> int:
    return sum(map(len, aligned.references))


def _signature(references: Sequence[Sequence[str]], settings: Settings) -> str:
    """How the rates came about, in one line (T-10)."""
    numbers = {len(texts) for texts in references}
    kept = settings["normalise"] in ("none", "nfc") and settings["case"] == "keep"
    ruled = {name: settings[name] for name in ("rules", "case", "optional", "fragments")}
    parts = {
        "nrefs": numbers.pop() if len(numbers) == 1 else "var",
        "case": "mixed" if kept else "folded",
        "normalise": settings["normalise"],
        "mapping": settings["mapping"] or "none",
        "channels": settings["channels"],
        **({"aligned": f"sclite,{ruled['case']},{ruled['optional']}"} if ruled["rules"] == SCLITE else {}),
        **({"fragments": "yes"} if ruled["fragments"] else {}),
        "rapidfuzz": version("rapidfuzz"),
        "basanite": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())


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
    chosen = _chosen_rules(settings, kind_of(inputs.reference or inputs.submission))
    mapping = None
    if chosen["mapping"] is not None:
        mapping = read_mapper(Path(chosen["mapping"]), findings, name=chosen["normalise"], rule=RULE)
    run = _open_items(inputs, chosen, findings, executor)
    if isinstance(run, SpeechRun):
        mapper, glm = (None, mapping) if isinstance(mapping, Glm) else (mapping, None)
        by_sclite = chosen["rules"] == SCLITE
        normalise = normaliser(chosen["normalise"], mapper)
        run.rules = Rules(normalise, glm, chosen["case"], by_sclite, chosen["optional"], chosen["fragments"])
        run.settings = {**chosen, "mapping": mapping.digest if mapping else None}
    return run


def _chosen_rules(settings: Settings, kind: Kind | None) -> dict[str, Any]:
    """The settings with what `auto` stands for: the rules of sclite where the reference is a file of NIST's kinds."""
    by_sclite = settings["rules"] == SCLITE or (settings["rules"] == AUTO and kind in (TRN, STM, CTM))
    usual = {
        "rules": SCLITE if by_sclite else "fewest",
        "case": "ascii" if by_sclite else "keep",
        "optional": WRITTEN if by_sclite else UNSAID,
        "outside": FOLLOWING if by_sclite else "insert",
    }
    chosen = {**settings, **{name: value for name, value in usual.items() if settings[name] == AUTO}}
    if not by_sclite and (chosen["optional"] != UNSAID or chosen["fragments"]):
        raise SettingError("optional and fragments belong to sclite's rules: set rules=sclite as well.")
    return chosen


TASK = Task(
    name="speech",
    summary="Speech recognition: transcripts scored against references by word and character error rate",
    citation=WER.citation,
    unit="utterance",
    primary=WER.name,
    metrics=METRICS,
    open=open_speech,
    several_references=True,
    settings=(
        Setting(
            "normalise",
            f"Differences to ignore: {', '.join(NORMALISERS)}.",
            partial(one_of, tuple(NORMALISERS)),
            "none",
        ),
        Setting("mapping", "A file of your own rules, one per line: from => to; or NIST's GLM.", str),
        Setting(
            "rules",
            "How words are aligned: sclite (costs 4, 3, 3), fewest (edits), or auto: sclite for TRN or STM.",
            partial(one_of, (AUTO, SCLITE, "fewest")),
            AUTO,
        ),
        Setting(
            "case",
            "Capitals: keep (sclite -s), ascii or unicode (the same as small letters), or auto (ascii by sclite's).",
            partial(one_of, (AUTO, *CASES)),
            AUTO,
        ),
        Setting(
            "optional",
            "Words in (parentheses) left out: as_written (sclite), correct (sclite -D), unsaid, or auto.",
            partial(one_of, (AUTO, WRITTEN, CORRECT, UNSAID)),
            AUTO,
        ),
        Setting("fragments", "Whether `wor-` is correct beside `words` (sclite -F).", yes_or_no, default=False),
        Setting(
            "alignments",
            "How many aligned utterances a report shows, those with the most edits first.",
            partial(whole_number, 0, 1_000_000),
            5,
        ),
        Setting(
            "speakers",
            "How speakers are read from TRN ids: spu_id (up to - or _), wsj (three letters), none, or auto.",
            partial(one_of, SPEAKERS),
            AUTO,
        ),
        Setting(
            "channels",
            "How the channels of a recording are scored: separate, or interleave (by time, one transcript).",
            partial(one_of, ("separate", "interleave")),
            "separate",
        ),
        Setting(
            "outside",
            "Timed words between segments: insert (into the nearest), following (sclite), ignore, or auto.",
            partial(one_of, (AUTO, "insert", FOLLOWING, "ignore")),
            AUTO,
        ),
        Setting(
            "segments",
            "What is a unit in a folder of documents: documents, or lines (as many on both sides).",
            partial(one_of, ("documents", "lines")),
            "documents",
        ),
    ),
    figures=speech_figures,
    compared_figures=compared_speech,
    explanations=EXPLANATIONS,
    answers=AnswerFormat(
        "Transcripts as CTM, TRN, Kaldi's text, JSON lines with `id` and `text`, or one line for each "
        "utterance in order.",
        example=("call00 A 0.00 0.35 a 0.88\ncall00 A 0.35 0.35 young 0.81\ncall00 A 0.70 0.35 driver 0.60\n"),
    ),
)
