"""Models as systems: calls in a second against a bare asyncio loop, kills at random moments, transcripts at scale.

The endpoint answers after a fixed delay, in a process of its own. Both sides send the same requests with the same HTTP
client and 64 calls at once; ours also fills templates, counts budgets and writes every answer down. A killed run
goes on with the same command, and the endpoint counts what it answered under which key. Transcripts are scored beside a
table of the same scores as JSON lines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from measuring import record, show

ROOT = Path(__file__).resolve().parents[1]
PARALLEL = 64
GOALS = {
    "run / bare loop, calls in a second": (0.9, "at least"),
    "items paid twice": (0, "at most"),
    "items missing": (0, "at most"),
    "transcripts / table of scores, lines in a second": (1.0, "at least"),
}
SYSTEM = """format = "basanite-system/1"
name = "loopback"
[endpoint]
url = "{url}"
model = "loopback"
parallel = {parallel}
[prompt]
template = "{{question}}"
[price]
input = 1.0
output = 1.0
[budget]
cost = 1000.0
"""
COMMAND = ("run", "questions", "--system", "system.toml", "--data", "items.jsonl", "--out")


async def answer_calls(delay, log):
    """Serve the interface on a port that is printed; the key and the prompt of each answer go to a file."""
    body = {"choices": [{"message": {"content": "Answer: 7"}, "finish_reason": "stop"}]}
    content = json.dumps({**body, "usage": {"prompt_tokens": 5, "completion_tokens": 3}}).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(content)
    told = open(log, "ab", buffering=0)  # noqa: SIM115 - as long as the process

    async def serve(reader, writer):
        try:
            while True:
                names = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
                fields = dict(line.split(": ", 1) for line in names[1:] if ": " in line)
                await reader.readexactly(int(fields["content-length"]))
                await asyncio.sleep(delay)
                told.write(fields.get("idempotency-key", "-").encode() + b"\n")
                writer.write(head + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare_loop(url, count):
    """The same requests by the same client, with nothing around them; gives seconds."""
    import httpx2

    limits = httpx2.Limits(max_connections=PARALLEL, max_keepalive_connections=PARALLEL)
    numbers = iter(range(count))
    async with httpx2.AsyncClient(timeout=60, limits=limits) as client:

        async def work():
            for number in numbers:
                messages = [{"role": "user", "content": f"What is {number} plus 7?"}]
                body = {"model": "loopback", "messages": messages, "max_tokens": 512, "temperature": 0}
                answer = await client.post(f"{url}/chat/completions", json=body)
                assert answer.json()["choices"][0]["message"]["content"]

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(PARALLEL)))
        return time.perf_counter() - began


def our_run(folder):
    """The seconds that the calls of a run take, from the first to the last."""
    sys.argv = ["basanite", *COMMAND, "ours"]
    os.chdir(folder)
    from basanite.cli import run as module
    from basanite.models.model_run import ModelRun

    inner, took = ModelRun.finish, []

    async def timed(self, tell):
        began = time.perf_counter()
        try:
            return await inner(self, tell)
        finally:
            took.append(time.perf_counter() - began)

    ModelRun.finish = timed
    module.run.main([*COMMAND[1:], "ours"], standalone_mode=False)
    return took[0]


def write_inputs(folder, url, count, parallel=PARALLEL):
    """The system and its items."""
    (folder / "system.toml").write_text(SYSTEM.format(url=url, parallel=parallel))
    with (folder / "items.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": f"q{n}", "question": f"What is {n} plus 7?"}) + "\n" for n in range(count))


def killed_runs(folder, log, kills, count):
    """Kill a run at random moments and finish it; gives items that were answered under two keys, and missing ones."""
    dice, twice, missing = random.Random(7), 0, 0
    for number in range(kills):
        log.write_bytes(b"")
        out = folder / f"killed-{number}"
        words = [sys.executable, "-m", "basanite", *COMMAND, str(out)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        process = subprocess.Popen(words, **quiet)
        wanted = dice.randint(1, count - 1)
        while len(log.read_bytes().splitlines()) < wanted and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        subprocess.run(words, check=True, **quiet)
        answered = Counter(key.rpartition(b"-")[2] for key in set(log.read_bytes().splitlines()))
        twice += sum(times > 1 for times in answered.values())
        lines = [json.loads(line) for line in (out / "transcripts.jsonl").read_bytes().splitlines()[1:]]
        items = Counter(line["item"] for line in lines if not line["error"])
        twice += sum(times > 1 for times in items.values())
        missing += count - len(items)
    return twice, missing


def write_scores(folder, count):
    """The same calls as transcripts and as a table of scores in JSON lines."""
    from basanite.canonical import canonical_line
    from basanite.formats.model_answers import FORMAT, sealed_line

    with (folder / "calls.jsonl").open("wb") as calls, (folder / "table.jsonl").open("wb") as table:
        calls.write(sealed_line(canonical_line({"format": FORMAT, "system": {"name": "s"}, "answer": {}, "data": ""})))
        for number in range(count):
            item, prompt = f"q{number}", f"[user]\nWhat is {number} plus 7?"
            measured = {"cost": 0.00001, "latency": 0.2}
            turn = {"item": item, "repeat": 1, "request": "0" * 64, "prompt": prompt, "text": "Answer: 7"}
            turn |= {"finish": "stop", "refused": False, "tokens_in": 9, "tokens_out": 3, "attempts": 1}
            calls.write(sealed_line(canonical_line({**turn, **measured, "cached": False, "error": ""})))
            row = {"item": item, "system": "s", "repeat": 1, "score": 1, "tokens": 12, "refusal": 0, "error": 0}
            table.write(canonical_line({**row, **measured}))


def scored(path):
    """The seconds of reading and scoring a file by the task `scores`."""
    import basanite

    began = time.process_time()
    result = basanite.score("scores", submission=path, draws=1)
    assert result.values["mean"].value == 1.0
    return time.process_time() - began


def contend(name, *words):
    """One part in a process of its own."""
    if name == "endpoint":
        asyncio.run(answer_calls(float(words[0]), words[1]))
    elif name == "bare":
        print(json.dumps(asyncio.run(bare_loop(words[0], int(words[1])))))
    elif name == "ours":
        sys.stdout = sys.stderr
        seconds = our_run(Path(words[0]))
        sys.__stdout__.write(json.dumps(seconds))
    elif name == "write":
        write_scores(Path(words[0]), int(words[1]))
    else:
        print(json.dumps(scored(Path(words[0]))))


def part(*words):
    """What a part printed."""
    ended = subprocess.run([sys.executable, __file__, "--contend", *words], check=True, stdout=subprocess.PIPE)
    return json.loads(ended.stdout or b"null")


def main():
    """Run everything, show and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5000, help="calls of each side")
    parser.add_argument("--delay", type=float, default=0.1, help="seconds until the endpoint answers")
    parser.add_argument("--kills", type=int, default=50, help="runs that are killed")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of transcripts")
    parser.add_argument("--repeat", type=int, default=3, help="times that both sides call; the best of each counts")
    parser.add_argument("--contend", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contend:
        return contend(*options.contend)
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "answered.log"
        words = [sys.executable, __file__, "--contend", "endpoint", str(options.delay), str(log)]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as endpoint:
            url = f"http://127.0.0.1:{int(endpoint.stdout.readline())}/v1"
            seconds = {"bare": [], "ours": []}
            for number in range(options.repeat):
                own = folder / f"calls-{number}"
                own.mkdir()
                write_inputs(own, url, options.calls)
                seconds["bare"].append(part("bare", url, str(options.calls)))
                seconds["ours"].append(part("ours", str(own)))
            write_inputs(folder, url, 200, parallel=8)
            twice, missing = killed_runs(folder, log, options.kills, 200)
            endpoint.terminate()
        part("write", str(folder), str(options.lines))
        lines = {name: part("score", str(folder / f"{name}.jsonl")) for name in ("calls", "table")}
    best = {name: min(values) for name, values in seconds.items()}
    found = {
        "run / bare loop, calls in a second": best["bare"] / best["ours"],
        "items paid twice": twice,
        "items missing": missing,
        "transcripts / table of scores, lines in a second": lines["table"] / lines["calls"],
    }
    show(found, GOALS)
    sizes = {"calls": options.calls, "parallel": PARALLEL, "kills": options.kills, "lines": options.lines}
    timed = {name: round(value, 3) for name, value in {**best, **lines}.items()}
    record("models.jsonl", sizes, {}, found, GOALS, timed=timed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
