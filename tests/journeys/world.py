"""An empty data folder, the commands that work on it, a real server, and people with browsers and mail (D-5).

Nothing here calls an inner function or writes a table: what happens, happens through commands, pages, mails and files.
"""

from __future__ import annotations

import email
import email.policy
import http.client
import os
import re
import signal
import socket
import sys
import time
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyotp
from tests.cli.running import ROOT, Ended, forked, plain
from tests.offices.machines import PRELOADED

from basanite.cli import main
from basanite.sandbox import kernel

PASSWORD = "correct horse battery staple"
EXAMPLES = ROOT / "examples"
HOME = "/campaigns/journey"
DESK = f"{HOME}/organise"
QUICK_PASSWORDS = {"BASANITE_ACCOUNTS__TIME_COST": "1", "BASANITE_ACCOUNTS__MEMORY_KIB": "64"}
"""Hashes are slow on purpose; what they cost by default is not what a journey is about."""
PATIENCE = 120.0
"""Seconds that something may take on a busy machine."""


def day(days: int) -> str:
    """A day from today, as a campaign file writes it."""
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"


def campaign_text(*windows: str, more: str = "") -> str:
    """A campaign that began last week."""
    return f"""format = "basanite-campaign/1"
slug = "journey"
title = "A journey"
zone = "UTC"
period = "BASE"
languages = ["1A"]
sealed = false
plan_version = "1.0"

[[packs]]
id = "DEV"
title = "Development data"
family = "dev"
released = "{day(-7)} 00:00"
sealed = false
usage = "dev"

[[querysets]]
id = "QUERY1"
released = "{day(-7)} 00:00"

[[rules]]
id = "usage"
version = "1"
text = "Nobody looks into the key."

{"".join(windows)}{more}"""


def window_text(name: str, title: str, task: str, *, closes: str = "", kind: str = "development") -> str:
    """One window of one task, open since yesterday."""
    queries = 'querysets = ["QUERY1"]\n' if task == "CLIR" else ""
    return f"""[[windows]]
id = "{name}"
title = "{title}"
opens = "{day(-1)} 00:00"
closes = "{closes or day(20) + " 00:00"}"
tasks = ["{task}"]
dataset = ["DEV"]
{queries}quota = {{ count = 9, period = "week" }}
feedback = "{"none" if kind == "evaluation" else "full"}"
kind = "{kind}"
{'certification = "5 days"' if kind == "evaluation" else ""}

"""


@cache
def starter():
    """Starts processes from one that has imported what a server needs; a new interpreter takes seconds to get there."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def be_basanite(words: tuple[str, ...], folder: str, environment: dict[str, str]) -> None:
    """Be the command with these words, in a folder, its output in a file there; and end with anyone who started it."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    log = os.open("server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["basanite", *words]
    main()


class World:
    """One data folder from its first moment on."""

    def __init__(self, folder: Path, chrome) -> None:
        self.folder, self.data, self.chrome = folder, folder / "season", chrome
        self.address = ""
        self.people: list[Person] = []

    def basanite(self, *words: str | Path, code: int = 0) -> Ended:
        """Type a command."""
        ended = forked(*words, cwd=self.folder)
        assert ended.code == code, (words, ended.code, ended.stdout, ended.stderr)
        return ended

    def admin(self, *words: str | Path) -> str:
        """Type a command of an organizer; gives what it printed."""
        return self.basanite("admin", *words, "--data", self.data).stdout

    def begin(self, text: str) -> None:
        """Put the campaign's file into an empty data folder."""
        (self.folder / "campaign.toml").write_text(text, encoding="utf-8")
        self.admin("campaign", "add", "campaign.toml")

    @contextmanager
    def serving(self):
        """A server with its worker, until the block ends."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        words = ("serve", "--data", str(self.data), "--port", str(port))
        given = (words, str(self.folder), plain() | QUICK_PASSWORDS)
        server: Any = starter().Process(target=be_basanite, args=given, daemon=True)
        server.start()
        try:
            self._wait_for_answer(server, port)
            yield self
        finally:
            server.terminate()
            server.join(60)
            assert server.exitcode is not None, "the server does not end"

    def _wait_for_answer(self, server: Any, port: int) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and server.is_alive():
            with suppress(OSError), closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as line:
                line.request("GET", "/health/ready")
                if line.getresponse().status == 200:
                    return
            time.sleep(0.2)
        raise AssertionError((self.folder / "server.log").read_text())

    def person(self, mail: str) -> Person:
        """Somebody with a browser of their own."""
        context = self.chrome.new_context(accept_downloads=True, viewport={"width": 1280, "height": 900})
        self.people.append(Person(self, context.new_page(), mail))
        return self.people[-1]

    def member(self, mail: str, name: str, *roles: str) -> Person:
        """Somebody whom the organizers added: a mail brings the link to choose a password."""
        self.admin("people", "add", mail, "--name", name)
        for role in roles:
            self.admin("people", "grant", mail, role)
        return self.person(mail).choose_password()

    def letters(self, mail: str) -> list[str]:
        """The mails to an address, oldest first, as plain text."""
        found = []
        outbox = (self.data / "outbox").glob("*.eml")
        for path in sorted(outbox, key=lambda path: path.stat().st_mtime_ns):  # their names are random
            letter = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            if parseaddr(str(letter["To"]))[1] == mail:
                found.append(f"{letter['Subject']}\n{letter.get_body(('plain',)).get_content()}")
        return found

    def link(self, mail: str, words: str) -> str:
        """The newest link in the mails to an address with these words in it, waited for."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for text in reversed(self.letters(mail)):
                for found in re.findall(r"https?://\S+", text):
                    if words in found:
                        assert found.startswith(f"{self.address}/"), (found, self.address)
                        return found.removeprefix(self.address)
            time.sleep(0.2)
        raise AssertionError((mail, words, self.letters(mail)))

    def complaints(self) -> list[str]:
        """What browsers said about the pages' own scripts."""
        return [one for person in self.people for one in person.complaints]


class Person:
    """Somebody before a browser."""

    def __init__(self, world: World, tab, mail: str) -> None:
        self.world, self.tab, self.mail = world, tab, mail
        self.complaints: list[str] = []
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path: str) -> Person:
        answer = self.tab.goto(self.world.address + path)
        assert answer.status == 200, (path, answer.status, self.text)
        return self

    @property
    def text(self) -> str:
        return re.sub(r"[ \t\xa0]+", " ", self.tab.inner_text("main"))

    def fill(self, **fields: str) -> Person:
        for name, value in fields.items():
            self.tab.locator(f"main [name='{name}']:visible").first.fill(value)
        return self

    def choose(self, name: str, value: str) -> Person:
        self.tab.locator(f"main select[name='{name}']:visible").first.select_option(value)
        return self

    def attach(self, name: str, path: Path) -> Person:
        self.tab.locator(f"main input[name='{name}']:visible").first.set_input_files(path)
        return self

    def press(self, words: str) -> Person:
        self.tab.locator("main").get_by_role("button", name=words).first.click()
        return self

    def follow(self, words: str) -> Person:
        self.tab.locator("main").get_by_role("link", name=words).first.click()
        self.tab.wait_for_load_state()
        return self

    def unfold(self, words: str) -> Person:
        self.tab.locator("main summary", has_text=words).first.click()
        return self

    def sees(self, words: str | re.Pattern[str]) -> Person:
        self.tab.locator("main").get_by_text(words).first.wait_for()
        return self

    def waits_for(self, path: str, words: str) -> Person:
        """Look at a page again and again until it says something."""
        until = time.monotonic() + PATIENCE
        while words not in self.open(path).text:
            assert time.monotonic() < until, (words, self.text)
            self.tab.wait_for_timeout(1000)
        return self

    def download(self, words: str) -> bytes:
        with self.tab.expect_download() as coming:
            self.tab.locator("main").get_by_role("link", name=words).first.click()
        return coming.value.path().read_bytes()

    def sign_in(self) -> Person:
        self.open("/sign-in").fill(mail=self.mail, password=PASSWORD).press("Sign in")
        self.tab.wait_for_url(f"{self.world.address}/")
        return self

    def sign_up(self, name: str) -> Person:
        """Make an account, and follow the link in the mail."""
        self.open("/sign-up").fill(name=name, mail=self.mail, password=PASSWORD)
        self.tab.locator("main form button").first.click()
        self.tab.wait_for_load_state()
        self.open(self.world.link(self.mail, "/links/")).tab.locator("main button").first.click()
        self.tab.wait_for_load_state()
        return self.sign_in()

    def choose_password(self) -> Person:
        """Ask for a new password, and choose one by the link in the mail."""
        self.open("/forgotten").fill(mail=self.mail).tab.locator("main form button").first.click()
        self.open(self.world.link(self.mail, "/links/")).fill(password=PASSWORD)
        self.tab.locator("main form button").first.click()
        self.tab.wait_for_load_state()
        return self.sign_in()

    def add_second_factor(self) -> Person:
        secret = self.open("/account/second-factor").tab.inner_text("code.secret")
        self.fill(code=pyotp.TOTP(secret.strip()).now(), password=PASSWORD).press("Turn on")
        return self.sees("recovery codes")

    def submit(self, path: Path, *, kind: str = "", slot: str = "CLIR") -> Person:
        """Send a file by the form under the label in its name, and wait for the page of the submission."""
        self.open(f"{HOME}/submit").attach("file", path).fill(label=path.stem)
        option = self.tab.locator("select[name='slot'] option", has_text=slot).first
        self.choose("slot", option.get_attribute("value"))
        if kind:
            self.tab.locator(f"input[name='type'][value='{kind}']").check()
        self.tab.locator("main form[enctype] button").first.click()
        self.tab.wait_for_selector("#refused:visible, #live")
        assert "/submissions/" in self.tab.url, self.text
        return self
