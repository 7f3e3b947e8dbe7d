"""Users of a running server: each looks at windows, lists, single submissions and boards, and submits now and then.

Run as a program it plays so many users for so many seconds and prints what they saw as one JSON object.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

import httpx2

LOOKS = ("windows", "submissions?limit=50", "results", "leaderboard?window=dev&task=CLIR&language=1A")
THINKING = 1.0
"""Seconds that a user takes, on average, between two calls."""
SUBMITS = 0.02
"""The share of calls that submit a file."""


class Seen:
    """What all users together saw."""

    def __init__(self):
        self.seconds, self.errors = [], Counter()

    async def call(self, client, method, path, **more):
        """One call, timed; what is not answered well is counted by its kind."""
        began = time.perf_counter()
        try:
            answer = await client.request(method, path, **more)
            if answer.status_code >= 400:
                self.errors[f"{method} {path.split('?')[0]} {answer.status_code}"] += 1
        except httpx2.HTTPError as error:
            self.errors[type(error).__name__] += 1
            return None
        self.seconds.append(time.perf_counter() - began)
        return answer


async def user(seen, told, number, until):
    """One user: looks around, thinks, and submits rarely."""
    dice = random.Random(number)
    token = told["tokens"][number % len(told["tokens"])]
    content = Path(told["file"]).read_bytes()
    base = f"/api/v1/campaigns/{told['slug']}/"
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=told["address"], headers=headers, timeout=60) as client:
        await asyncio.sleep(dice.uniform(0, THINKING))
        while time.perf_counter() < until:
            if dice.random() < SUBMITS:
                said = {"task": "CLIR", "label": "load", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}
                said["sha256"] = hashlib.sha256(content).hexdigest()
                await seen.call(client, "POST", base + "submissions", params=said, content=content)
            else:
                await seen.call(client, "GET", base + dice.choice(told.get("looks", LOOKS)))
            await asyncio.sleep(dice.expovariate(1 / THINKING))


async def play(told):
    """All users at once."""
    seen, began = Seen(), time.perf_counter()
    until = began + told["seconds"]
    await asyncio.gather(*(user(seen, told, number, until) for number in range(told["users"])))
    ordered = sorted(seen.seconds)
    return {
        "calls": len(ordered),
        "per_second": len(ordered) / (time.perf_counter() - began),
        "mean": sum(ordered) / len(ordered) if ordered else None,
        "p50": ordered[len(ordered) // 2] if ordered else None,
        "p99": ordered[int(0.99 * (len(ordered) - 1))] if ordered else None,
        "cpu": time.process_time(),
        "errors": dict(seen.errors),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(play(json.loads(sys.argv[1])))))
