"""A real HTTP server on loopback that speaks the interface of language models, with the faults that real ones have."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-loopback-0123456789"
Fault = Callable[[int, str], "Reply | None"]
"""What happens instead of an answer, given the number of the call and the prompt; None for an answer."""


@dataclass(frozen=True)
class Reply:
    """What is sent instead of an answer."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False
    """Whether the line breaks in the middle of the body."""
    wait: float = 0.0


@dataclass
class LoopbackModel:
    """Adds the two numbers of a question; what it was asked and how often."""

    fault: Fault = lambda number, prompt: None
    key: str = ""
    delay: float = 0.0
    usage: bool = True
    answer: Callable[[str], str] = lambda prompt: sum_of(prompt)
    url: str = ""
    calls: int = 0
    answered: Counter = field(default_factory=Counter)
    """How often each prompt was answered under each idempotency key: what an owner would be billed for."""
    most_at_once: int = 0
    now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def sum_of(prompt: str) -> str:
    """What the model says: the sum of the numbers in a prompt."""
    return f"I think.\nAnswer: {sum(int(number) for number in re.findall(r'-?[0-9]+', prompt))}"


@contextmanager
def serving(model: LoopbackModel):
    """The model, answering on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def do_POST(self):
            content = self.rfile.read(int(self.headers["content-length"]))
            with model.lock:
                model.calls += 1
                number = model.calls
                model.now += 1
                model.most_at_once = max(model.most_at_once, model.now)
            try:
                self.reply(number, json.loads(content))
            finally:
                with model.lock:
                    model.now -= 1

        def reply(self, number, body):
            prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
            if model.key and self.headers.get("authorization") != f"Bearer {model.key}":
                words = f"Incorrect API key provided: {self.headers.get('authorization')}"
                return self.send(Reply(401, json.dumps({"error": {"message": words}}).encode()))
            fault = model.fault(number, prompt)
            if fault is not None:
                return self.send(fault)
            time.sleep(model.delay)
            text = model.answer(prompt)
            with model.lock:
                model.answered[prompt, self.headers.get("idempotency-key")] += 1
            choice = {"message": {"content": text}} if "messages" in body else {"text": text}
            answer = {"choices": [{**choice, "finish_reason": "stop"}]}
            if model.usage:
                answer["usage"] = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())}
            return self.send(Reply(200, json.dumps(answer).encode()))

        def send(self, reply):
            time.sleep(reply.wait)
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body) + 10 * reply.cut))
            self.end_headers()
            self.wfile.write(reply.body)
            if reply.cut:
                self.wfile.flush()
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
