"""Two small models behind the usual HTTP interface, to try `basanite run` without a network: python model.py PORT

`adder` adds two numbers; `no-carry` adds them digit by digit and forgets to carry.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def no_carry(first, second):
    """The sum of two numbers by a model that never carries: 27 + 15 is 32."""
    pairs = zip(reversed(f"{first:09d}"), reversed(f"{second:09d}"), strict=True)
    return int("".join(reversed([str((int(a) + int(b)) % 10) for a, b in pairs])))


class Model(BaseHTTPRequestHandler):
    """One connection of a caller."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing for each call."""

    def do_POST(self):
        """Answer a call."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"]
        first, second = map(int, re.findall(r"[0-9]+", prompt)[:2])
        answer = first + second if body["model"] == "adder" else no_carry(first, second)
        text = f"{first} and {second} make {answer}.\nAnswer: {answer}"
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        content = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
