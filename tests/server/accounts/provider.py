"""An OpenID Connect provider in a process of its own on loopback: `python -m tests.server.accounts.provider`.

It knows one client and lets everybody in whom a test tells it to. What it does wrong, it does because a test says so:
`POST /rig` sets a wrong nonce, another audience, an expired or already used code, an unsigned token and so on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET, HUB_SECRET = "basanite-test", "not a secret", "hub secret"
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


class Told:
    """Who is let in next, what goes wrong, and the codes that were given out."""

    def __init__(self):
        self.user, self.rig, self.codes = {}, {}, {}


STATE = Told()


class Provider(BaseHTTPRequestHandler):
    """The four addresses of a provider, the four of GitHub, and one for the tests."""

    def log_message(self, *_):
        """Say nothing."""

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self):
        """Metadata, keys, or the page where people sign in, which lets everybody through."""
        parts = urlsplit(self.path)
        if parts.path == "/.well-known/openid-configuration":
            self.json(
                {
                    "issuer": STATE.rig.get("issuer", self.issuer),
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
                    **STATE.rig.get("metadata", {}),
                }
            )
        elif parts.path == "/keys":
            self.json({"keys": [KEY.as_dict(private=False)]})
        elif parts.path in ("/api/v3/user", "/api/v3/user/emails"):
            self.hub(parts.path)
        elif parts.path in ("/authorize", "/login/oauth/authorize"):
            self.authorize({name: values[0] for name, values in parse_qs(parts.query).items()})
        else:
            self.send_error(404)

    def authorize(self, asked):
        code = secrets.token_urlsafe(8)
        STATE.codes[code] = asked
        self.send_response(302)
        self.send_header("Location", asked["redirect_uri"] + "?" + urlencode({"code": code, "state": asked["state"]}))
        self.end_headers()

    def do_POST(self):
        """A code for a token; or a test that rigs us."""
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path == "/rig":
            told = json.loads(body)
            STATE.rig, STATE.user = told.get("rig", {}), told.get("user", STATE.user)
            self.json({})
        elif self.path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body).items()})
        elif self.path == "/login/oauth/access_token":
            self.hub_token({name: values[0] for name, values in parse_qs(body).items()})
        else:
            self.send_error(404)

    def token(self, asked):
        known = STATE.codes.pop(asked["code"], None)
        if known is None or STATE.rig.get("expired"):
            self.json({"error": "invalid_grant"}, 400)
            return
        if self.challenge(asked) != known["code_challenge"] or not self.is_client(asked):
            self.json({"error": "invalid_client"}, 401)
            return
        self.json({"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token(known)})

    def challenge(self, asked):
        return base64.urlsafe_b64encode(hashlib.sha256(asked["code_verifier"].encode()).digest()).rstrip(b"=").decode()

    def is_client(self, asked):
        """Whether our client shows its secret the one way that this provider takes."""
        if "client_secret_post" in STATE.rig.get("metadata", {}).get("token_endpoint_auth_methods_supported", ()):
            header = self.headers["authorization"]
            return header is None and (asked["client_id"], asked["client_secret"]) == (CLIENT, "not+a+secret")
        basic = base64.b64decode(self.headers["authorization"].removeprefix("Basic ")).decode()
        return basic == "basanite-test:not a secret".replace(" ", "+")

    def hub_token(self, asked):
        """As GitHub does: a form unless JSON is asked for, and errors with status 200."""
        known = STATE.codes.pop(asked["code"], None)
        right = known is not None and self.challenge(asked) == known["code_challenge"]
        right = right and (asked["client_id"], asked["client_secret"]) == (CLIENT, HUB_SECRET)
        if not right or STATE.rig.get("expired"):
            self.json({"error": "bad_verification_code", "error_description": "The code is incorrect or expired."})
        elif STATE.rig.get("no_token"):
            self.json({"token_type": "bearer", "scope": "read:user"})
        else:
            self.json({"access_token": "gho_test", "token_type": "bearer", "scope": known["scope"]})

    def hub(self, path):
        if self.headers["authorization"] != "Bearer gho_test" or "user_status" in STATE.rig:
            self.json({"message": "Bad credentials"}, STATE.rig.get("user_status", 401))
        elif STATE.rig.get("html"):
            self.send_response(200)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"<html>")
        else:
            self.json(STATE.user if path.endswith("/user") else STATE.rig["mails"])

    def id_token(self, known):
        now = STATE.rig.get("now", 0)
        claims = STATE.user | {
            "iss": self.issuer,
            "aud": CLIENT,
            "nonce": known["nonce"],
            "iat": now,
            "exp": now + 300,
        }
        claims |= STATE.rig.get("claims", {})
        claims = {name: value for name, value in claims.items() if value is not None}
        if STATE.rig.get("unsigned"):
            parts = ({"alg": "none"}, claims)
            return ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts) + "."
        key = OTHER_KEY if STATE.rig.get("other_key") else KEY
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)

    def json(self, content, status=200):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    """Serve on a free port, whose number is printed, until standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    print(server.server_port, flush=True)
    import threading

    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
