"""A run of a system over items: parallel calls that wait for busy endpoints, keep a budget, and can be resumed (L-2).

Every call first sets aside the most that it can cost, so that a budget is never passed, however many calls are under
way. A busy endpoint pauses all calls; a call that fails is tried again after a random wait that grows.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from basanite.canonical import canonical_line, parse_canonical
from basanite.models.endpoint import Answer, BusyError, CallError, RefusedCallError, StoppedRunError
from basanite.models.requests import Items, Request, most_cost, requests
from basanite.models.system_file import MILLION, System
from basanite.models.transcript_file import Transcripts, Turn

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 60.0
Tell = Callable[[int, int, Transcripts], None]
Ask = Callable[[System, Request, Mapping[str, str]], Awaitable[Answer]]
"""Who answers a request: an endpoint, or a model in this process."""


@dataclass(frozen=True)
class Tools:
    """What a run works with besides the system: who answers, the key, dice, and the folder of earlier answers."""

    ask: Ask
    key: str = ""
    rng: random.Random = field(default_factory=random.Random)
    cache: Path | None = None

    def redact(self, words: str) -> str:
        """The words without the key, which an endpoint may repeat."""
        return words.replace(self.key, "…") if self.key else words


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    wanted: int
    answered: int
    failed: int
    stopped: str = ""
    """Why it ended before all items were asked; empty where it did not."""


class ModelRun:
    """The calls that are left of a run, and what has been paid."""

    def __init__(self, system: System, items: Items, transcripts: Transcripts, tools: Tools) -> None:
        self.system, self.transcripts, self.tools = system, transcripts, tools
        wanted = list(requests(items, system))
        done = {key for key, turn in transcripts.turns.items() if not turn.error}
        self.wanted = len(wanted)
        self.left: Iterator[Request] = iter([one for one in wanted if (one.item, one.repeat) not in done])
        self.keys = {(one.item, one.repeat) for one in wanted}
        self.stopped = ""
        self.reserved = Reserved()
        self.quiet_until = 0.0
        self.last_answer = time.monotonic()
        self.next_call = 0.0
        self.settled = asyncio.Event()

    async def finish(self, tell: Tell) -> Ended:
        """Make all calls that are left; returns how it ended, and raises nothing that an endpoint causes."""
        workers = [asyncio.create_task(self._work(tell)) for _ in range(self.system.endpoint.parallel)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)  # connections are given back before the client ends
        return self.ended()

    def ended(self) -> Ended:
        """How it stands now."""
        turns = [turn for key, turn in self.transcripts.turns.items() if key in self.keys]
        failed = sum(bool(turn.error) for turn in turns)
        return Ended(self.wanted, len(turns) - failed, failed, self.stopped)

    async def _work(self, tell: Tell) -> None:
        while not self.stopped:
            one = next(self.left, None)
            if one is None:
                return
            turn = self._from_cache(one)
            if turn is None:
                cost, tokens = most_cost(self.system, one), sum(one.most_tokens)
                if not await self._reserve(cost, tokens):
                    return
                try:
                    turn = await self._turn(one)
                finally:
                    self.reserved.free(cost, tokens)
                    self._wake()
                if turn is None:
                    return
                self._remember(one, turn)
            self.transcripts.add(turn)
            tell(len(self.transcripts.turns), self.wanted, self.transcripts)

    async def _reserve(self, cost: float, tokens: int) -> bool:
        """Set aside the most that a call can take, or end the run where it could pass the budget."""
        while not self.stopped:
            if (over := self._over(cost, tokens)) is None:
                self.reserved.take(cost, tokens)
                return True
            if not self.reserved.calls:
                self.stopped = f"the next call could pass the budget of {over}"
                return False
            await self.settled.wait()
        return False

    def _over(self, cost: float, tokens: int) -> str | None:
        """The budget that one more call could pass."""
        budget, paid, kept = self.system.budget, self.transcripts.paid, self.reserved
        if budget.calls and paid.calls + kept.calls + 1 > budget.calls:
            return f"{budget.calls} calls"
        if budget.tokens and paid.tokens + kept.tokens + tokens > budget.tokens:
            return f"{budget.tokens} tokens ({paid.tokens} used)"
        if budget.cost and paid.cost + kept.cost + cost > budget.cost * (1 + 1e-12):
            currency = self.system.price.currency
            return f"{budget.cost:g} {currency} ({paid.cost:.4g} {currency} paid)"
        return None

    def _wake(self) -> None:
        """Wake those who wait for a call to be settled."""
        self.settled.set()
        self.settled = asyncio.Event()

    async def _turn(self, one: Request) -> Turn | None:
        """The call with all its tries; None where the run has to stop."""
        turn, attempt = self._open_turn(one), 0
        while not self.stopped:
            if not await self._may_call():
                return None
            attempt += 1
            try:
                answer = await self.tools.ask(self.system, one, self._headers())
            except BusyError as error:
                attempt -= 1
                if not self._pause(error):
                    return None
            except CallError as error:
                if attempt >= self.system.endpoint.tries:
                    return replace(turn, attempts=attempt, error=self.tools.redact(str(error)))
                await asyncio.sleep(self.tools.rng.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)))
            except RefusedCallError as error:
                return replace(turn, attempts=attempt, error=self.tools.redact(str(error)))
            except StoppedRunError as error:
                self._stop(str(error))
            else:
                self.last_answer = time.monotonic()
                if answer.tokens is None and (self.system.budget.cost or self.system.budget.tokens):
                    self._stop("the endpoint counts no tokens, so no budget of cost or tokens can be kept: use calls")
                return self._answer_turn(replace(turn, attempts=attempt), answer)
        return None

    def _open_turn(self, one: Request) -> Turn:
        """The call before it is answered; what a sealed item asks is written nowhere."""
        return Turn(one.item, one.repeat, one.digest, "" if self.system.sealed else one.prompt)

    def _answer_turn(self, turn: Turn, answer: Answer) -> Turn:
        """The call with its answer; where the endpoint counts no tokens, nothing is claimed of its cost."""
        price, cost = self.system.price, None
        if answer.tokens_in is not None and answer.tokens_out is not None:
            cost = (answer.tokens_in * price.input + answer.tokens_out * price.output) / MILLION
        return replace(
            turn,
            text=answer.text,
            finish=answer.finish,
            refused=answer.refused,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost=cost,
            latency=round(answer.latency, 4),
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tools.key}"} if self.tools.key else {}

    async def _may_call(self) -> bool:
        """Wait while the endpoint is busy, and for the next place among the calls of a minute; False after a stop."""
        while (now := time.monotonic()) < self.quiet_until and not self.stopped:
            await asyncio.sleep(self.quiet_until - now)
        if self.system.endpoint.per_minute:
            self.next_call = max(self.next_call, now) + 60 / self.system.endpoint.per_minute
            await asyncio.sleep(self.next_call - 60 / self.system.endpoint.per_minute - now)
        return not self.stopped

    def _pause(self, error: BusyError) -> bool:
        """Let all calls wait; False where the endpoint has answered nothing for too long."""
        now = time.monotonic()
        if now - self.last_answer > self.system.endpoint.patience:
            self._stop(f"{error}, and nothing else for {self.system.endpoint.patience:g} s. Try again later")
            return False
        wait = error.pause if error.pause is not None else self.tools.rng.uniform(FIRST_WAIT, 4 * FIRST_WAIT)
        self.quiet_until = max(self.quiet_until, now + wait * self.tools.rng.uniform(1.0, 1.2))
        return True

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or self.tools.redact(why)
        self._wake()

    def _cache_file(self, one: Request) -> Path | None:
        return None if self.tools.cache is None else self.tools.cache / one.digest[:2] / f"{one.digest}.json"

    def _from_cache(self, one: Request) -> Turn | None:
        """The answer to the same request from an earlier run; a damaged file of the cache is none."""
        path = self._cache_file(one)
        try:
            found = parse_canonical(path.read_bytes()) if path is not None else None
        except OSError:
            found = None
        if found is None or not isinstance(found.get("text"), str):
            return None
        counts = (found.get("tokens_in"), found.get("tokens_out"))
        sent, answered = (count if isinstance(count, int) else None for count in counts)
        answer = Answer(found["text"], str(found.get("finish", "")), found.get("refused") is True, sent, answered, 0.0)
        turn = self._answer_turn(self._open_turn(one), answer)
        return replace(turn, cached=True, latency=None)

    def _remember(self, one: Request, turn: Turn) -> None:
        path = self._cache_file(one)
        if path is None or turn.error:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{self.tools.rng.getrandbits(64):x}.part")
        names = ("text", "finish", "refused", "tokens_in", "tokens_out")
        part.write_bytes(canonical_line({name: getattr(turn, name) for name in names}))
        part.replace(path)


@dataclass
class Reserved:
    """What the calls under way may take at most."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def take(self, cost: float, tokens: int) -> None:
        """Set aside what a call may take."""
        self.calls, self.tokens, self.cost = self.calls + 1, self.tokens + tokens, self.cost + cost

    def free(self, cost: float, tokens: int) -> None:
        """Give back what was set aside for a call."""
        self.calls, self.tokens, self.cost = self.calls - 1, self.tokens - tokens, self.cost - cost
