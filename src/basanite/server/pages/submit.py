"""Submitting a run: choose what it is, choose the file, send. With scripts it resumes and shows how far it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from basanite.campaign.intake import uploads
from basanite.campaign.intake.acceptance import Arrival, accept, send_ahead
from basanite.campaign.intake.open_uploads import LeftUpload, OpenUpload, left_uploads, open_uploads
from basanite.campaign.model import windows
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.people.agreements import unaccepted_rules
from basanite.campaign.store.files import Stored
from basanite.errors import BasaniteError
from basanite.reports.wording import printable
from basanite.scoring import find_task
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages import campaign as slots
from basanite.server.pages.campaign import Slot
from basanite.server.pages.forms import Form, PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.prose import markdown
from basanite.server.pages.templates import size
from basanite.server.pages.times import distance
from basanite.server.roles import Caller, allow
from basanite.tasks import AnswerFormat

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/submit"
Member = Annotated[Caller, allow("member")]
CHECKS = {
    "empty": sentence("This file is empty."),
    "large": sentence("This file is larger than {size}, the limit of this campaign."),
    "archive": sentence("This task takes an archive (.tgz), and this file is {kind}."),
    "kind": sentence("This file is {kind}, and this task takes text or a table."),
    "ending": sentence("The file name ends in {ending}, but the content is {kind}."),
    "binary": sentence("This task takes text, and this file holds binary data."),
    "utf8": sentence("Line {line} is not UTF-8 text."),
    "blank": sentence("This file has no text."),
    "json-line": sentence("The first line is not JSON: {fault}"),
    "json": sentence("This file is not JSON: {fault}"),
}
"""What the check in the browser says of a file (`static/submit/file_check.js`)."""
_FILLED = {name: f"{{{name}}}" for name in ("kind", "ending", "line", "fault")}
"""What the script fills in."""
KINDS = {
    "": sentence("something else"),
    "text": sentence("plain text"),
    "gzip": sentence("a gzip archive"),
    "zip": sentence("a zip archive"),
    "bzip2": sentence("a bzip2 archive"),
    "xz": sentence("an xz archive"),
    "zstd": sentence("a Zstandard archive"),
    "seven": sentence("a 7z archive"),
    "rar": sentence("a RAR archive"),
    "pdf": sentence("a PDF"),
    "picture": sentence("a picture"),
    "office": sentence("an Office document"),
    "parquet": sentence("a Parquet table"),
    "numpy": sentence("a NumPy array"),
    "hdf5": sentence("an HDF5 file"),
    "utf16": sentence("text in UTF-16"),
}


@dataclass(frozen=True)
class Choice:
    """A slot to submit to, with what the resumable door has to be told."""

    slot: Slot
    said: str
    """JSON of the words for `Upload-Metadata`."""
    required: tuple[str, ...]
    """Fields of the description that its track asks for."""
    content: str = "any"
    """What a file holds, for the check before the upload."""


@dataclass(frozen=True)
class TaskFormat:
    """What to send for a task."""

    task: str
    answers: AnswerFormat

    @property
    def words(self) -> Markup:
        """What it is in words, with names of columns set as code."""
        return markdown(self.answers.words)

    @property
    def example(self) -> Markup:
        """The first lines of a submission; their tabs stay tabs, which pages else show as what they are."""
        lines = self.answers.example.split("\n")
        return Markup("\n").join(Markup("\t").join(map(printable, line.split("\t"))) for line in lines)


@dataclass(frozen=True)
class SubmitPage:
    """The form."""

    template = "runs/submit.html"
    title: str
    choices: tuple[Choice, ...]
    chosen: str
    campaign: str
    largest: int
    rules_missing: bool
    fields: tuple[str, ...]
    """All description fields beside `text` that some track asks for."""
    filled: Mapping[str, str] = field(default_factory=dict)
    nothing: str = ""
    """Why there is nothing to choose."""
    uploads: tuple[OpenUpload, ...] = ()
    left: tuple[LeftUpload, ...] = ()
    formats: tuple[TaskFormat, ...] = ()

    @property
    def check(self) -> str:
        """What the check of a file says, for the script."""
        words = {code: say_plain(text, **_FILLED | {"size": size(self.largest)}) for code, text in CHECKS.items()}
        return json.dumps(words | {"kinds": {kind: say_plain(text) for kind, text in KINDS.items()}})


@ROUTER.get(ADDRESS)
def show_form(request: Request, caller: Member, slot: Annotated[str, Query(max_length=400)] = "") -> Response:
    """The form."""
    return show(request, caller, _submit_page(caller, slot))


@ROUTER.post(ADDRESS)
async def submit_form(request: Request, caller: Member) -> Response:
    """The whole form at once, for browsers without scripts.

    Nothing fixes its content before it is there, so its time is when it has arrived, not when it began (X-2).
    """
    largest = caller.here[1].largest_upload
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", largest)
    try:
        return await run_in_threadpool(_accept_form, request, caller, taken)
    finally:
        taken.forget()


@ROUTER.post("/campaigns/{slug}/uploads/{upload}/cancel")
def cancel_upload(caller: Member, form: PostedForm, upload: Annotated[str, Path(max_length=64)]) -> Response:
    """Give up an upload of the own team that is open: its attempt is free again (X-21)."""
    row, _ = caller.here
    with caller.office.writing() as session:
        if uploads.find(session, caller.actor, upload).campaign_id != row.id:
            raise missing("upload")
        uploads.cancel(session, caller.office, caller.actor, upload)
    return go(
        caller,
        f"/campaigns/{row.slug}/submit",
        say_plain("The upload is canceled, and its attempt is available again."),
    )


def _accept_form(request: Request, caller: Caller, taken: UploadForm) -> Response:
    form, office = taken.form, caller.office
    try:
        declared = _read_declared(caller, form, taken.name)
        if taken.path is None:
            raise refused("M60", "the file is missing", "choose the file of your run", status=422)
        stored = Stored(taken.sha256, taken.size)
        arrival = Arrival(caller.team, declared, stored)
        send_ahead(office, caller.actor, arrival, taken.path)
        with office.writing() as session:
            row = accept(session, office, caller.actor, arrival)
            office.files.keep(taken.path, stored)
    except RefusedError as error:
        kept = {name: values[0] for name, values in form.fields.items() if name != "csrf"}
        return refuse(request, caller, _submit_page(caller, form.text("slot"), kept), error)
    caller.note_address()
    address = f"/campaigns/{caller.here[0].slug}/submissions/{row.id}"
    return go(caller, address, say_plain("Your submission has arrived, and its receipt is ready."))


def _read_declared(caller: Caller, form: Form, name: str) -> Declared:
    """What the form says, for the slot that was chosen."""
    window, _, rest = form.text("slot").partition("|")
    task, language, track = (*rest.split("|"), "", "", "")[:3]
    row = next((one for one in caller.here[1].windows if one.id == window), None)
    if row is None:
        raise refused("M62", "no task is chosen", "choose an open task", status=422)
    description = {key: text for key, text in form.beginning("description-").items() if text}
    return Declared(
        task,
        form.text("label") or _label_in(name),
        "primary" if form.text("type") == "primary" else "contrastive",
        language,
        dataset=row.dataset,
        track=track,
        description=description,
        name=name,
    )


def _label_in(name: str) -> str:
    """The label that a file's name carries: files are called by it, `BM25stem.tgz` (M55).

    >>> _label_in("BM25stem.tgz"), _label_in("my run.tar.gz")
    ('BM25stem', '')
    """
    stem = name.partition(".")[0]
    return stem if stem.isascii() and stem.isalnum() else ""


def _submit_page(caller: Caller, slot: str, filled: Mapping[str, str] | None = None) -> SubmitPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = slots.slots(session, caller)
        unread = unaccepted_rules(session, row.id, str(caller.viewer.person))
        held = open_uploads(session, caller.office, caller.team)
        left = left_uploads(session, caller.office, row.id, caller.team)
    required = {track.id: track.required for track in campaign.tracks}
    open_ones = [one for one in found if one.left and one.ready]
    formats = _formats(one.task for one in open_ones if not one.program)
    choices = tuple(
        Choice(
            one,
            _upload_words(row.slug, one),
            required.get(one.track, ()),
            formats[one.task].content if one.task in formats and not one.program else "any",
        )
        for one in open_ones
    )
    fields = dict.fromkeys(name for choice in choices for name in choice.required if name != "text")
    return SubmitPage(
        say("Submit a run"),
        choices,
        slot,
        row.slug,
        campaign.largest_upload,
        bool(unread),
        tuple(fields),
        filled or {},
        "" if choices else _nothing_open(caller, found, bool(held)),
        held,
        left,
        tuple(TaskFormat(task, answers) for task, answers in formats.items()),
    )


def _formats(tasks: Iterable[str]) -> dict[str, AnswerFormat]:
    """What to send, by task; a task whose plug-in cannot be loaded, or does not say it, is left out."""
    found = {}
    for task in dict.fromkeys(tasks):
        try:
            answers = find_task(task.lower()).answers
        except BasaniteError:
            continue  # submissions are refused with the reason; the other tasks of the page stay
        if answers is not None:
            found[task] = answers
    return found


def _nothing_open(caller: Caller, found: tuple[Slot, ...], held: bool) -> str:
    """Why a team can submit nothing now, and when or by whom that changes."""
    _, campaign = caller.here
    waiting = [one for one in found if not one.ready and one.left]
    if waiting:
        return say(
            "“{window}” is open, but the organizers have not added its reference yet. Please ask them.",
            window=waiting[0].window_title,
        )
    if found:
        resets = min((one.resets for one in found if one.resets), default=None)
        used = say("Your team has used all its attempts.")
        if held:
            return used + " " + say("You can finish or cancel an open upload.")
        again = (
            say("Attempts reset {when}.", when=distance(resets - caller.now))
            if resets
            else say("You get no more before the window closes.")
        )
        return used + " " + again
    if windows.open_windows(campaign, caller.now):
        return say("No window is open for your team's track.")
    coming = windows.upcoming(campaign, caller.now, 1)
    if not coming:
        return say("No window is open, and none is planned.")
    when = distance(coming[0].opens.utc - caller.now)
    return say("No window is open. “{window}” opens {when}.", window=coming[0].title, when=when)


def _upload_words(slug: str, slot: Slot) -> str:
    words = {
        "campaign": slug,
        "task": slot.task,
        "language": slot.language,
        "track": slot.track,
        "dataset": slot.dataset.replace(" ", ""),
    }
    return json.dumps({name: word for name, word in words.items() if word})
