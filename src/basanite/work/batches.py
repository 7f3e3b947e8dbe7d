"""The page that crowd workers see: HTML in an HTMLQuestion, its variables filled from a row of the batch.

Every answer has a name. Everything that stands in a variable is escaped or sanitised beforehand, since the platform
puts it into the page as it is.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from basanite.errors import SettingError
from basanite.formats.datasets.domains import Catalogue, Domain
from basanite.formats.retrieval.judgements import CROWD_COLUMNS, LARGEST, REJECTED, STATUSES, pseudonym
from basanite.problems import Findings, Problem, Severity, shortened
from basanite.work.answers import read_answers
from basanite.work.block_notes import known_domain, query_note
from basanite.work.items import Block, Item
from basanite.work.questions import Question
from basanite.work.result_files import table
from basanite.work.scheme import EVERYBODY, Scheme

FRAME_HEIGHT: Final = 900
NOTE: Final = "_note"
"""The end of a variable's name that explains the block of the variable before it."""
SCHEMA: Final = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
ELEMENTS: Final = "https://assets.crowd.aws/crowd-html-elements.js"
STYLE: Final = (
    "body{font:16px/1.5 sans-serif;max-width:52rem;margin:1rem auto;padding:0 1rem}"
    "fieldset{border:1px solid #999;border-radius:4px;margin:1rem 0}"
    ".theirs{border:1px dashed #999;padding:.5rem 1rem}.note{color:#333;font-size:.9em}"
    "img{max-width:100%}label{display:block;padding:.25rem 0}"
)


def question_xml(scheme: Scheme, variables: Sequence[str], *, height: int = FRAME_HEIGHT) -> str:
    """The template: one HTMLQuestion for all rows of a batch."""
    page = page_html(scheme, variables).replace("]]>", "]]]]><![CDATA[>")
    return (
        f'<HTMLQuestion xmlns="{SCHEMA}">\n<HTMLContent><![CDATA[\n{page}\n]]></HTMLContent>\n'
        f"<FrameHeight>{height}</FrameHeight>\n</HTMLQuestion>\n"
    )


def page_html(scheme: Scheme, variables: Sequence[str]) -> str:
    """The page by itself, for the platform's own editor of templates."""
    parts = [
        "<!DOCTYPE html>",
        '<html><head><meta charset="utf-8">',
        f"<title>{escape(scheme.title)}</title>",
        f'<script src="{ELEMENTS}"></script>',
        f"<style>{STYLE}</style></head><body>",
        "<crowd-form>",
        f"<h1>{escape(scheme.title)}</h1>",
        f"<p>{scheme.instructions}</p>",
        *(_block_html(name) for name in variables),
        *(_question_html(question) for question in scheme.questions),
        *(
            f'<label><input type="checkbox" name="flag-{escape(flag.value)}" value="on"> {escape(flag.title)}</label>'
            for flag in scheme.flags
        ),
        '<label>Comment <textarea name="comment" rows="2" maxlength="1000"></textarea></label>',
        "</crowd-form></body></html>",
    ]
    return "\n".join(parts)


def _block_html(name: str) -> str:
    if name.endswith(NOTE):
        return f'<div class="note">${{{name}}}</div>'
    if name.startswith("image"):
        return f'<p><img src="${{{name}}}" alt="summary"></p>'
    if name.startswith("instructions"):
        return f'<section class="theirs"><h2>Written by the system</h2>${{{name}}}</section>'
    title = escape(name.rstrip("0123456789_").capitalize())
    return f'<section><h2>{title}</h2><div dir="auto">${{{name}}}</div></section>'


def _question_html(question: Question) -> str:
    head = f"<fieldset><legend>{escape(question.title)}</legend>"
    return "\n".join([head, *_input_fields(question), "</fieldset>"])


def _input_fields(question: Question) -> Iterator[str]:
    needed = " required" if question.required else ""
    name = escape(question.id)
    if question.widget == "choice":
        choices = [(option.value, option.title) for option in question.options]
    elif question.widget in ("stars", "scale"):
        choices = [(f"{step:g}", _label(question, at, step)) for at, step in enumerate(question.steps)]
    else:
        yield _field(question, name, needed)
        return
    for value, title in choices:
        radio = f'<input type="radio" name="{name}" value="{escape(value)}"{needed}>'
        yield f"<label>{radio} {escape(title)}</label>"


def _label(question: Question, at: int, step: float) -> str:
    labels, last = question.labels, len(question.steps) - 1
    if len(labels) == last + 1:
        return f"{step:g}: {labels[at]}"
    ends = {0: labels[0], last: labels[1]} if len(labels) == 2 else {}
    return f"{step:g}: {ends[at]}" if at in ends else f"{step:g}"


def _field(question: Question, name: str, needed: str) -> str:
    if question.widget == "slider":
        bounds = f'min="{question.lo:g}" max="{question.hi:g}" step="{question.step:g}"'
        return f'<input type="number" name="{name}" {bounds}{needed}>'
    return f'<textarea name="{name}" rows="3" maxlength="{question.longest}"{needed}></textarea>'


ITEM, SEAL = "item", "seal"
SHORTEST_KEY = 16


@dataclass(frozen=True)
class Hit:
    """One row of a batch: the item's id, what the worker sees, and the seal over both."""

    item: str
    inputs: Mapping[str, str]
    seal: str


@dataclass(frozen=True)
class Batch:
    """What was sent out: kept, so that results can be compared with it."""

    id: str
    hits: tuple[Hit, ...]
    template: str
    table: bytes
    assignments: int
    """MaxAssignments: judgements of each row."""
    lifetime_note: str = "Images must stay reachable under https until the last result is in."


def why_not(scheme: Scheme) -> str:
    """The reason why a scheme cannot be judged on such a platform; empty if it can."""
    if any(question.widget == "spans" for question in scheme.questions):
        return "spans cannot be marked there: judge on the server's own pages"
    if scheme.rank_after_round:
        return "rounds cannot be ranked there: judge on the server's own pages"
    return "" if scheme.questions else "the scheme asks nothing"


def export_batch(
    scheme: Scheme,
    items: Sequence[Item],
    *,
    batch: str,
    key: bytes,
    image_url: Callable[[str], str],
    catalogue: Catalogue | None = None,
) -> Batch:
    """The template and the table of a batch; checks go out like real items, training does not.

    `image_url` gives an unguessable https address for the digest of an image. Domains of the catalogue, or of the
    shipped one, go out with their definitions.
    """
    reason = why_not(scheme)
    if reason or len(key) < SHORTEST_KEY:
        raise SettingError(reason or f"The key of a batch has {len(key)} bytes; give at least {SHORTEST_KEY}.")
    sent = sorted((item for item in items if item.role != "training"), key=lambda item: item.id)
    inputs = {item.id: dict(_inputs(item.blocks, image_url, scheme, catalogue)) for item in sent}
    names = list(dict.fromkeys(name for some in inputs.values() for name in some))
    filled = {item: {name: some.get(name, "") for name in names} for item, some in inputs.items()}
    hits = tuple(Hit(item, some, seal(key, batch, item, some)) for item, some in filled.items())
    rows = [(hit.item, *hit.inputs.values(), hit.seal) for hit in hits]
    wanted = max(scheme.per_group.values())
    made = table((ITEM, *names, SEAL), rows)
    return Batch(batch, hits, question_xml(scheme, names), made, 1 if wanted == EVERYBODY else wanted)


def seal(key: bytes, batch: str, item: str, inputs: Mapping[str, str]) -> str:
    """The seal over a row: nobody without the key can make one, and it fits no other row."""
    words = json.dumps([batch, item, sorted(inputs.items())], ensure_ascii=True)
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()


def _inputs(
    blocks: Iterable[Block], image_url: Callable[[str], str], scheme: Scheme, catalogue: Catalogue | None
) -> Iterator[tuple[str, str]]:
    """Variables by the kinds of blocks, with notes beside them; of several of one kind the later ones are numbered."""
    seen: Counter[str] = Counter()
    for block in blocks:
        seen[block.kind] += 1
        name = block.kind if seen[block.kind] == 1 else f"{block.kind}_{seen[block.kind]}"
        if (known := known_domain(block, catalogue)) is not None:
            title, domain = known
            yield name, escape(title)
            yield name + NOTE, _domain_html(domain)
            continue
        yield name, _value(block, image_url)
        if note := query_note(scheme, block):
            yield name + NOTE, escape(note)


def _domain_html(domain: Domain) -> str:
    """The definition of a domain with what belongs to it and what does not."""
    lists = (
        ("Belongs to it", domain.in_scope),
        ("Does not belong to it", domain.out_of_scope),
        ("Notes", domain.notes),
    )
    parts = [f"<p>{escape(domain.definition)}</p>"]
    for title, lines in lists:
        if lines:
            entries = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<p><b>{title}</b></p><ul>{entries}</ul>")
    return "".join(parts)


def _value(block: Block, image_url: Callable[[str], str]) -> str:
    if block.kind == "image":
        address = image_url(block.value)
        if not address.startswith("https://"):
            raise SettingError(f"Images of a batch need https addresses; {address[:80]!r} is none.")
        return escape(address)
    if block.kind == "instructions":
        return block.value  # sanitised when the item was made (M51)
    return escape(block.value).replace("\n", "<br>")


RULE, RULE_VOTES = "X-18", "C45"
TASK_ANSWERS = "Answer.taskAnswers"
SECONDS = "WorkTimeInSeconds"
UNCHANGED = "import the results of the exported batch, unchanged"


@dataclass(frozen=True)
class Vote:
    """One assignment that counts."""

    item: str
    judge: str
    """What stands for the worker; the worker's own id is nowhere kept."""
    answers: Mapping[str, Any]
    seconds: float
    flags: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Imported:
    """What a file of results holds; nothing of it counts if one row was refused."""

    votes: tuple[Vote, ...]
    hits: Mapping[str, str]
    """The item of every HIT id of the platform, to hold later files against."""
    rejected: int
    problems: tuple[Problem, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether nothing had to be refused."""
        return not any(problem.severity == "reject" for problem in self.problems)


def read_results(
    data: bytes, file: str, batch: Batch, scheme: Scheme, *, key: bytes, known_hits: Mapping[str, str] | None = None
) -> Imported:
    """The votes in a file of results; rows of other batches, or changed ones, are refused and named by line."""
    sheet = _Sheet(file, batch, scheme, key, dict(known_hits or {}))
    for line, cells in sheet.rows(data):
        sheet.take(line, cells)
    votes = tuple(sheet.votes.values()) if sheet.findings.valid else ()
    return Imported(votes, sheet.hits, sheet.rejected, tuple(sheet.findings))


class _Sheet:
    """One file on its way through the reader."""

    def __init__(self, file: str, batch: Batch, scheme: Scheme, key: bytes, hits: dict[str, str]) -> None:
        self.file, self.scheme, self.key, self.hits = file, scheme, key, hits
        self.sent: Mapping[str, Hit] = {hit.item: hit for hit in batch.hits}
        self.findings = Findings()
        self.votes: dict[tuple[str, str], Vote] = {}
        self.rejected = 0

    def report(self, line: int | None, message: str, fix: str, *, rule: str = RULE, found: str = "") -> None:
        """Refuse something."""
        self._add(line, message, fix, rule, found, "reject")

    def warn(self, line: int, message: str, fix: str) -> None:
        """Tell something that stops nothing."""
        self._add(line, message, fix, RULE_VOTES, "", "warn")

    def _add(self, line: int | None, message: str, fix: str, rule: str, found: str, severity: Severity) -> None:
        self.findings.add(
            Problem(rule, self.file, line, None, message, fix, shortened(found), None, severity, "judgements")
        )

    def rows(self, data: bytes) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The rows with their lines; a file that is no such table is refused as a whole."""
        text = self._text(data)
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if not self._understands(header):
                return
            line = reader.line_num + 1
            for cells in reader:
                if len(cells) == len(header):
                    yield line, dict(zip(header, cells, strict=True))
                elif cells:
                    self.report(line, f"{len(cells)} cells; the header has {len(header)}", UNCHANGED)
                line = reader.line_num + 1
        except csv.Error as error:
            self.report(reader.line_num, f"not a table: {error}", "save the results as CSV again")

    def _text(self, data: bytes) -> str:
        if len(data) > LARGEST:
            self.report(None, f"{len(data)} bytes; at most {LARGEST} are read", "import batches one by one", rule="X-8")
            return ""
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.report(None, "invalid UTF-8", "save the file as UTF-8")
            return ""

    def _understands(self, header: Sequence[str]) -> bool:
        wanted = [*CROWD_COLUMNS, f"Input.{ITEM}", f"Input.{SEAL}"]
        missing = [name for name in wanted if header.count(name) != 1]
        if missing and self.findings.valid:
            self.report(1, f"the first line does not name these columns once: {', '.join(missing)}", UNCHANGED)
        return not missing and self.findings.valid

    def take(self, line: int, cells: Mapping[str, str]) -> None:
        """Take in one row: its vote, or what is wrong with it."""
        hit = self._sent_hit(line, cells)
        if hit is None:
            return
        status = cells["AssignmentStatus"].strip()
        if status == REJECTED:
            self.rejected += 1
        elif status not in STATUSES:
            fix = f"write {', '.join(sorted(STATUSES))} or {REJECTED}"
            self.report(line, "no such status of an assignment", fix, rule=RULE_VOTES, found=status)
        else:
            self._vote(line, hit, cells)

    def _sent_hit(self, line: int, cells: Mapping[str, str]) -> Hit | None:
        """The row that was sent out, if this is it: the same item, inputs, seal and HIT id."""
        name, place = cells[f"Input.{ITEM}"], cells["HITId"].strip()
        hit = self.sent.get(name)
        reason = _why_unbound(hit, cells)
        if not reason and (not place or self.hits.setdefault(place, name) != name):
            reason = "this HIT had another item before"
        if reason:
            self.report(line, reason, UNCHANGED, found=name)
            return None
        return hit

    def _vote(self, line: int, hit: Hit, cells: Mapping[str, str]) -> None:
        worker = cells["WorkerId"].strip()
        if not worker:
            self.report(line, "the worker is missing", UNCHANGED, rule=RULE_VOTES)
            return
        raw = _answers(cells)
        if not any(str(raw.get(question.id, "")).strip() for question in self.scheme.questions):
            self.warn(line, "an assignment without an answer is not a vote", "have it done again")
            return
        asked = {question.id: raw.get(question.id) for question in self.scheme.questions if raw.get(question.id)}
        answers, problems = read_answers(self.scheme, None, asked)
        for problem in problems:
            self.report(line, problem.message, problem.fix, rule=RULE_VOTES, found=problem.found)
        judge = pseudonym(worker, self.key)
        vote = Vote(hit.item, judge, answers, _seconds(cells), _flags(raw, self.scheme), str(raw.get("comment", "")))
        if self.votes.setdefault((judge, hit.item), vote) is not vote:
            self.warn(line, "this worker judged this item before; the first vote counts", "keep one of them")


def _why_unbound(hit: Hit | None, cells: Mapping[str, str]) -> str:
    """Why a row is not the one that was sent out; empty if it is."""
    if hit is None:
        return "no such item was sent out with this batch"
    if cells[f"Input.{SEAL}"] != hit.seal:
        return "the seal of this row is not the one that was sent out"
    changed = any(_input(cells, column) != value for column, value in hit.inputs.items())
    return "what the worker saw is not what was sent out" if changed else ""


def _input(cells: Mapping[str, str], column: str) -> str | None:
    """What a row says of an input; platforms change line ends."""
    value = cells.get(f"Input.{column}")
    return None if value is None else value.replace("\r\n", "\n")


def _answers(cells: Mapping[str, str]) -> dict[str, Any]:
    """Answers by their names: from columns of their own, or from the one that crowd forms give."""
    plain = {name.removeprefix("Answer."): value for name, value in cells.items() if name.startswith("Answer.")}
    try:
        gathered = json.loads(cells.get(TASK_ANSWERS) or "[]")
    except (ValueError, RecursionError):
        gathered = []
    forms = [form for form in gathered if isinstance(form, dict)] if isinstance(gathered, list) else []
    return plain | {name: _chosen(value) for form in forms for name, value in form.items()}


def _chosen(value: Any) -> Any:
    """Of buttons, the one that is pressed."""
    if isinstance(value, dict):
        return next((name for name, pressed in value.items() if pressed is True), "")
    return value


def _flags(raw: Mapping[str, Any], scheme: Scheme) -> tuple[str, ...]:
    pressed = ("on", "true", True)
    return tuple(flag.value for flag in scheme.flags if raw.get(f"flag-{flag.value}") in pressed)


def _seconds(cells: Mapping[str, str]) -> float:
    try:
        seconds = float(cells.get(SECONDS, "") or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
