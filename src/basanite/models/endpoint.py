"""One call of an OpenAI-compatible endpoint: the answer with its tokens, or what went wrong and what that means (L-2).

Whatever comes back is untrusted: it is read up to a bound, and every part of it may be missing or of another type.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from basanite.errors import BasaniteError
from basanite.models.requests import Request
from basanite.models.system_file import CHAT, System
from basanite.problems import shortened

if TYPE_CHECKING:
    import httpx2

LARGEST: Final = 16 << 20
"""A longer answer is none that was asked for."""
LONGEST_PAUSE: Final = 600.0
BUSY: Final = frozenset({429, 503})
STOPPING: Final = frozenset({401, 402, 403, 404, 405})
"""What every other call would be answered too: a wrong key, address or model, or an empty account."""
PASSING: Final = frozenset({408, 409, 425, 500, 502, 504, 520, 521, 522, 523, 524, 529})
SHOWN: Final = 200


class CallError(BasaniteError):
    """A call that may work if it is tried again."""


class BusyError(CallError):
    """The endpoint asks to wait."""

    def __init__(self, message: str, pause: float | None) -> None:
        super().__init__(message)
        self.pause = pause


class RefusedCallError(BasaniteError):
    """A call that the endpoint will never answer, though others may be."""


class StoppedRunError(BasaniteError):
    """No call can be answered: the run ends, and the same command resumes it."""


@dataclass(frozen=True)
class Answer:
    """What a model wrote, and what it took."""

    text: str
    finish: str
    refused: bool
    tokens_in: int | None
    tokens_out: int | None
    latency: float

    @property
    def tokens(self) -> int | None:
        """The tokens of prompt and answer, where the endpoint counts them."""
        return None if self.tokens_in is None or self.tokens_out is None else self.tokens_in + self.tokens_out


async def ask(client: httpx2.AsyncClient, system: System, one: Request, headers: Mapping[str, str]) -> Answer:
    """The answer to a request; a key that comes back in a message is never part of an error."""
    import httpx2

    path = "/chat/completions" if system.endpoint.api == CHAT else "/completions"
    began = time.monotonic()
    own = {**headers, "Idempotency-Key": f"{one.digest}-{one.item}"[:200].encode("ascii", "replace").decode()}
    try:
        async with client.stream("POST", system.endpoint.url + path, json=one.body, headers=own) as response:
            content = bytearray()
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > LARGEST:
                    raise CallError(f"the answer is larger than {LARGEST >> 20} MiB")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise CallError(f"the endpoint cannot be reached or broke off: {type(error).__name__}") from error
    if response.status_code != 200:
        raise _status_error(response, bytes(content), system)
    return _parse_answer(bytes(content), time.monotonic() - began, chat=system.endpoint.api == CHAT)


def _status_error(response: httpx2.Response, content: bytes, system: System) -> BasaniteError:
    """What a status other than 200 means for this call, and for all others."""
    status = response.status_code
    said = f"the endpoint answered {status}{'' if system.sealed else _message(content)}"
    if status in BUSY:
        return BusyError(said, _pause(response.headers.get("retry-after")))
    if status in PASSING:
        return CallError(said)
    if status in (401, 403):
        key = system.endpoint.key
        fix = f"check the key in {key}" if key else "name the variable that holds the key: [endpoint] key = …"
        return StoppedRunError(f"{said}. Fix: {fix}.")
    if status in STOPPING:
        return StoppedRunError(f"{said}. Fix: check url and model in [endpoint], and your account there.")
    return RefusedCallError(said)


def _message(content: bytes) -> str:
    """What an error says, if it says it in the usual way."""
    try:
        error = json.loads(content)["error"]
        words = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return f": {shortened(words, SHOWN)}" if isinstance(words, str) and words else ""


def _pause(text: str | None) -> float | None:
    """The seconds of a Retry-After; a date or nonsense is none."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return min(seconds, LONGEST_PAUSE) if seconds >= 0 else None


def _parse_answer(content: bytes, latency: float, *, chat: bool) -> Answer:
    try:
        found: Any = json.loads(content)
        choice = found["choices"][0]
        message = choice["message"] if chat else choice
        text, refusal = (message["content"], message.get("refusal")) if chat else (message["text"], None)
        if text is None and not isinstance(refusal, str):
            raise TypeError("no text")
        finish = str(choice.get("finish_reason") or "")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise CallError("the answer is not in the form of this interface") from error
    if text is not None and not isinstance(text, str):
        raise CallError("the answer holds no text")
    usage = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    refused = isinstance(refusal, str) or finish == "content_filter"
    sent, answered = (_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return Answer(_clean(text if text is not None else str(refusal)), finish[:40], refused, sent, answered, latency)


def _count(found: Any) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**40 else None


def _clean(text: str) -> str:
    """The text with halves of characters replaced, which no file could hold."""
    return text.encode("utf-8", "replace").decode()
