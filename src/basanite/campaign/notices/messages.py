"""Mails: their catalogue with the few words that are filled in, and sending them by SMTP or into `outbox/` (P-10)."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from string import Template as Words
from typing import Any
from urllib.parse import quote

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.settings import Mail, Settings
from basanite.campaign.store.personal import unseal
from basanite.campaign.store.plans import InForce, find_campaign
from basanite.campaign.store.tables import Message, Person, Submission, Team
from basanite.campaign.store.vault import link_secret
from basanite.errors import UnknownNameError
from basanite.problems import visible
from basanite.registry import suggestion

SHIPPED = Path(__file__).with_name("catalogue.toml")
FILLED_IN = frozenset({"campaign", "slug", "address", "page"})
"""Words that are always there."""
LONGEST_WORD = 4000
_WORD = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True)
class Template:
    """One kind of mail."""

    name: str
    subject: str
    body: str
    page: str = ""
    """The path of what the mail is about; empty where the body has a link that works once instead (D-9)."""
    id: str = ""
    """The word of the data that a webhook is told; empty: no webhook hears of it."""
    event: str = ""
    """What happened, in words for a page or a room; there wherever `id` is."""

    @property
    def words(self) -> frozenset[str]:
        """What must be in the data."""
        return frozenset(_WORD.findall(f"{self.subject}\n{self.page}\n{self.body}")) - FILLED_IN

    def path(self, slug: str, data: Mapping[str, Any]) -> str:
        """The path of the page for this data, whatever characters its ids hold.

        >>> template_named("submission_valid").path("small", {"submission": "a/b"})
        '/campaigns/small/submissions/a%2Fb'
        """
        return Words(self.page).substitute(
            {key: quote(str(value), safe="") for key, value in data.items()} | {"slug": slug}
        )

    def check_data(self, data: Mapping[str, Any]) -> dict[str, str | int]:
        """The data as it is kept: short words, whole numbers and ids; anything else is a fault of ours.

        A number with decimals could be a score, which no mail may hold (M68), so it is never taken.
        """
        wrong = [key for key, value in data.items() if not isinstance(value, str | int)]
        if wrong or (absent := self.words - data.keys()):
            raise ValueError(
                f"mail {self.name!r}: {', '.join(wrong) or ', '.join(sorted(absent))} is missing or not a word"
            )
        return {key: value if isinstance(value, int) else value[:LONGEST_WORD] for key, value in data.items()}


@cache
def catalogue() -> Mapping[str, Template]:
    """All kinds of mail by name."""
    entries = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    return {
        name: Template(name, **{key: text.strip() for key, text in entry.items()}) for name, entry in entries.items()
    }


def template_named(name: str) -> Template:
    """The mail of this name.

    >>> template_named("join_refused").subject
    'Your request to join $team was declined'
    """
    if name not in catalogue():
        raise UnknownNameError(f"There is no mail {name!r}. {suggestion(name, tuple(catalogue()))}")
    return catalogue()[name]


def webhook_kinds() -> tuple[str, ...]:
    """The kinds of events that a webhook can ask for."""
    return tuple(sorted(name for name, template in catalogue().items() if template.id))


SIGNED = "-- \nThis is an automated message. Please do not reply."
LONGEST_SUBJECT = 200
LINKS = "/links/"
PASSWORD = "\n\nYou have no password yet. Choose one with this link within 7 days:\n"
NAMES = {
    "role": {"evaluation": "organizer"},
    "act": {
        "release": "release results",
        "reference": "replace a reference",
        "void": "disqualify a run",
        "role": "grant a role",
    },
    "standing": {"baseline": "a baseline", "admitted": "admitted to the ranking although it was late"},
}
"""What people read in place of a name that programs use."""


@dataclass(frozen=True)
class Letter:
    """A mail as it is read."""

    to: str
    subject: str
    body: str


def letter(session: Session, office: Office, message: Message) -> Letter | None:
    """The mail of a message; None if its person was erased or has no address."""
    person = session.get(Person, message.person_id)
    known = None if person is None else unseal(office.vault, person)
    if known is None or not known.mail:
        return None
    subject, text = fill_template(session, office, message.template, message.data, message.campaign_id)
    greeting = f"Hello {one_line(known.name)}," if known.name else "Hello,"
    return Letter(known.mail, subject, f"{greeting}\n\n{text}\n\n{SIGNED}\n")


def fill_template(
    session: Session, office: Office, template: str, data: Mapping[str, str | int], campaign_id: str | None
) -> tuple[str, str]:
    """Subject and text with everything filled in; strangers' words are harmless in both (X-14)."""
    kind = template_named(template)
    plan = None if campaign_id is None else find_campaign(session, campaign_id)
    words = {key: _word(session, office, plan, key, str(value)) for key, value in data.items()}
    title, slug = (plan.campaign.title, plan.row.slug) if plan else ("this server", "")
    page = office.address + kind.path(slug, data)
    words |= {"campaign": title, "slug": slug, "address": office.address, "page": page}
    lines = {key: one_line(value) for key, value in words.items()}
    # lines stay lines, and everything else that cannot be seen is shown escaped
    paragraphs = {
        key: "\n".join(visible(line) for line in value.replace("\r\n", "\n").split("\n"))
        for key, value in words.items()
    }
    subject = Words(kind.subject).safe_substitute(lines)[:LONGEST_SUBJECT]
    return subject, Words(kind.body).safe_substitute(paragraphs)


def one_line(text: str) -> str:
    """A word for a header or a greeting: whatever could break a line or turn the writing is shown escaped.

    >>> one_line("Ada" + chr(10) + "Bcc: x@example.org")
    'Ada\\\\nBcc: x@example.org'
    """
    return visible(text)


def _word(session: Session, office: Office, plan: InForce | None, key: str, value: str) -> str:
    """What stands for an id in the text."""
    if key in ("link", "password"):
        link = office.address + LINKS + link_secret(office.vault, value) if value else ""
        return PASSWORD + link if link and key == "password" else link
    if key == "window" and plan is not None:
        return next((one.title for one in plan.campaign.windows if one.id == value), value)
    if key == "submission":
        return session.scalar(select(Submission.label).where(Submission.id == value)) or value
    if key.endswith("_person"):
        person = session.get(Person, value)
        return value if person is None else unseal(office.vault, person).name or "somebody"
    if key == "team" or key.endswith("_team"):
        return session.scalar(select(Team.name).where(Team.id == value)) or value
    return NAMES.get(key, {}).get(value, value)


SECONDS = 20.0


class UndeliverableError(Exception):
    """A message that did not get through; `final` if trying again is no use. Holds no address and no answer."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(why)


def compose(letter: Letter, *, sender: str, message_id: str, at: datetime) -> EmailMessage:
    """The mail with its headers; a line break in any of them is refused, whatever let it come so far (X-14)."""
    plain = letter.to.isascii() and sender.isascii()
    mail = EmailMessage(policy=SMTP if plain else SMTPUTF8)
    host = sender.rpartition("@")[2].strip(">") or "localhost"
    headers = {
        "From": sender,
        "To": letter.to,
        "Subject": letter.subject,
        "Date": format_datetime(at),
        "Message-ID": f"<{message_id}@{host}>",  # the same at every try, so that a mailbox keeps one
        "Auto-Submitted": "auto-generated",
    }
    try:
        for name, value in headers.items():
            mail[name] = _header(value)
    except (ValueError, IndexError) as error:  # the parser of addresses stumbles over some in its own ways
        raise UndeliverableError("a header cannot be written", final=True) from error
    mail.set_content(letter.body)
    return mail


def deliver(settings: Settings, mail: EmailMessage, *, message_id: str) -> None:
    """Send a mail, or put it into the outbox folder; the same message put there twice is one file."""
    if settings.mail.host:
        _by_smtp(settings.mail, mail)
    else:
        _into(outbox(settings), mail, message_id)


def outbox(settings: Settings) -> Path:
    """The folder of mails where no server is set."""
    return settings.data / "outbox"


def remove_letters(settings: Settings, message_ids: Iterable[str]) -> None:
    """Remove files of the outbox: at erasure, and when their time is over."""
    for message_id in message_ids:
        (outbox(settings) / f"{message_id}.eml").unlink(missing_ok=True)


def _header(value: str) -> str:
    if any(not char.isprintable() for char in value):
        raise ValueError("a control character in a header")
    return value


def _into(folder: Path, mail: EmailMessage, message_id: str) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = folder / f".{message_id}.part"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(mail.as_bytes())
    fresh.replace(folder / f"{message_id}.eml")


def _by_smtp(settings: Mail, mail: EmailMessage) -> None:
    from aiosmtplib import SMTPException, SMTPResponseException, send
    from aiosmtplib.errors import SMTPRecipientsRefused

    try:
        asyncio.run(
            send(
                mail,
                hostname=settings.host,
                port=settings.port,
                username=settings.user or None,
                password=settings.password or None,
                use_tls=settings.tls == "tls",
                start_tls=settings.tls == "starttls",
                tls_context=None if settings.tls == "none" else ssl.create_default_context(),
                timeout=SECONDS,
            )
        )
    except SMTPRecipientsRefused as error:
        codes = {refusal.code for refusal in error.recipients}
        raise UndeliverableError(
            f"the mail server rejected the recipient: {_codes(codes)}", final=min(codes) >= 500
        ) from error
    except SMTPResponseException as error:
        raise UndeliverableError(
            f"the mail server answered {error.code}", final=error.code in (550, 553, 554)
        ) from error
    except (SMTPException, OSError, TimeoutError) as error:
        raise UndeliverableError(f"no mail server: {type(error).__name__}") from error


def _codes(codes: Iterable[int]) -> str:
    return ", ".join(str(code) for code in sorted(codes))
