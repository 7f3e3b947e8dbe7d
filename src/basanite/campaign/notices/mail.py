"""Mail: by SMTP, or as files in `outbox/` where no mail server is set (P-10)."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterable
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime
from pathlib import Path

from basanite.campaign.notices.rendering import Letter
from basanite.campaign.settings import Mail, Settings

SECONDS = 20.0


class UndeliverableError(Exception):
    """A message that did not get through; `final` if trying again is no use. Holds no address and no answer."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(why)


def composed(letter: Letter, *, sender: str, message_id: str, at: datetime) -> EmailMessage:
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
            f"the mail server refused the receiver: {_codes(codes)}", final=min(codes) >= 500
        ) from error
    except SMTPResponseException as error:
        raise UndeliverableError(
            f"the mail server answered {error.code}", final=error.code in (550, 553, 554)
        ) from error
    except (SMTPException, OSError, TimeoutError) as error:
        raise UndeliverableError(f"no mail server: {type(error).__name__}") from error


def _codes(codes: Iterable[int]) -> str:
    return ", ".join(str(code) for code in sorted(codes))
