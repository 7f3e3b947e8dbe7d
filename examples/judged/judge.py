"""A rule-based judge behind the usual HTTP interface, with a known bias, offline: python judge.py PORT

It reads the question and the answer from the prompt that Basanite makes of the scheme, and calls a right sum correct.
Its bias: it also believes most wrong answers that are explained at length. The model `strict-judge` has no bias, and
`odd-judge` sometimes replies with what is no answer.
"""

import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONG = 60
"""Characters from which an answer impresses this judge."""


def share(*words):
    """A number from 0 to 1 that depends on the words alone."""
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest()[:12], 16) / 2**48


def verdict(model, question, answer):
    """What the judge replies."""
    first, second = map(int, re.findall(r"[0-9]+", question)[:2])
    found = re.findall(r"[0-9]+", answer)
    right = bool(found) and int(found[-1]) == first + second
    impressed = model != "strict-judge" and len(answer) >= LONG and share(question, answer) < 0.85
    if model == "odd-judge" and share("odd", question) < 0.1:
        return "Je pense que oui."
    return json.dumps({"correct": "yes" if right or impressed else "no"})


class Judge(BaseHTTPRequestHandler):
    """One connection of a caller."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing for each call."""

    def do_POST(self):
        """Answer a call."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"]
        question = re.search(r"<query-[0-9a-f]+>\n(.*?)\n</query", prompt, re.DOTALL)[1]
        answer = re.search(r"<text-[0-9a-f]+>\n(.*?)\n</text", prompt, re.DOTALL)[1]
        text = verdict(body["model"], question, answer)
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        content = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Judge).serve_forever()
