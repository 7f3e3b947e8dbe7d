"""Pages for participants and judges in several languages: who chooses, what falls back, and what escapes."""

from __future__ import annotations

import re
from html import unescape
from importlib import resources

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.server.accounts.conftest import CHEAP, Browser
from tests.server.conftest import fresh_office
from tests.server.judging.forms import Judging
from tests.server.judging.staging import SHORT, Bench, passage, scheme
from tests.server.pages.conftest import give_passwords

from basanite.campaign.store.tables import Result
from basanite.reports.metric_names import display_name, meaning
from basanite.scoring import find_task
from basanite.server import catalogue, languages
from basanite.server.app import make_app
from basanite.testing import SetClock

OTHERS = [code for code in languages.LANGUAGES if code != languages.ENGLISH]
PSEUDO = "xa"
BEGIN, END = "⟦", "⟧"


class Pseudo(dict):
    """A language that has every sentence, marked so that one that was never looked up shows."""

    def get(self, text, default=None):
        return f"{BEGIN}{text}{END}"

    def keys(self):
        return languages.needed_sentences()


@pytest.fixture(scope="module")
def stage(tmp_path_factory, pack):
    """The small season on a server whose own language is Spanish, in which Alpha has submitted."""
    clock = SetClock()
    office = fresh_office(tmp_path_factory.mktemp("languages"), clock, accounts=CHEAP, language="es")
    made = staged(office, clock, pack, then=give_passwords)
    made.submit()
    made.submit(label="two", kind="contrastive")
    yield made
    office.close()


@pytest.fixture
def client(stage):
    return TestClient(make_app(stage.office))


def page(client, path, accepted="", **cookies):
    headers = {"Accept": "text/html"} | ({"Accept-Language": accepted} if accepted else {})
    client.cookies.update(cookies)
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.text


LEADERBOARD = {"en": "Leaderboard", "de": "Rangliste", "es": "Clasificación", "ar": "لوحة الصدارة"}


def test_the_reader_chooses_then_the_browser_then_the_server(client):
    def spoken(text):
        return re.search(r'<html lang="(\w+)"', text)[1]

    path = "/campaigns/small/leaderboard"
    assert spoken(page(client, path)) == "es", "the setting, where nobody wants another"
    assert spoken(page(client, path, "fr, tlh")) == "es"
    for accepted, wanted in (("de-AT,en;q=0.5", "de"), ("en, ar;q=0.9", "en"), ("fr, ar;q=0.9, de;q=0.2", "ar")):
        text = page(client, path, accepted)
        assert spoken(text) == wanted
        assert LEADERBOARD[wanted] in text
        assert ('dir="rtl"' in text.partition(">")[2].partition(">")[0]) == (wanted == "ar")
    assert spoken(page(client, path, "de;q=x, ;;;=, *")) == "es", "what cannot be read counts as unwanted"
    token = re.search(r'name="csrf" value="([^"]+)"', page(client, path))[1]
    form = {"csrf": token, "then": path, "language": "ar"}
    assert client.post("/preferences/language", data=form, follow_redirects=False).status_code == 303
    assert spoken(page(client, path, "de")) == "ar", "a choice is kept, whatever the browser wants"
    client.post("/preferences/language", data=form | {"language": "<b>"})
    assert spoken(page(client, path, "de")) == "ar"
    assert spoken(page(client, "/campaigns/small/leaderboard/embed", "de")) == "en", "what others embed has no reader"
    refused = client.get("/api/v1/campaigns/none", headers={"Accept-Language": "de"})
    assert refused.status_code == 404
    assert "no" in refused.json()["title"].lower(), "programs are answered in English"


@pytest.mark.parametrize("part", ["organise", "annotate", "adjudicate", "reading"])
def test_pages_of_organizers_and_annotators_stay_in_english(client, part):
    headers = {"Accept": "text/html", "Accept-Language": "de"}
    text = client.get(f"/campaigns/small/{part}", headers=headers).text
    assert '<html lang="en"' in text
    assert "/preferences/language" not in text


@pytest.mark.parametrize("language", OTHERS)
def test_translations_keep_placeholders_and_code_and_hold_no_markup(language):
    for text, words in languages.translations(language).items():
        assert sorted(re.findall(r"{\w*}", text)) == sorted(re.findall(r"{\w*}", words)), text
        assert text.count("`") == words.count("`"), text
        assert words.strip(), text
        assert "<" not in words.replace("<b>", ""), text


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_complete_and_hold_nothing_that_nobody_says(language):
    """What is missing falls back to English; `python -m basanite.server.languages` lists it too."""
    missing = languages.missing_sentences(language)
    assert missing == []
    stale = sorted(set(languages.translations(language)) - set(catalogue.catalogue()))
    assert stale == [], "these were reworded or removed"


@pytest.mark.parametrize("language", OTHERS)
def test_a_sentence_without_translation_is_in_english(language, monkeypatch):
    token = languages._current.set(language)
    try:
        assert catalogue.say("Sign in") != "Sign in"
        monkeypatch.delitem(languages.translations(language), "Sign in")
        assert catalogue.say("Sign in") == "Sign in"
    finally:
        languages._current.reset(token)


@pytest.fixture
def pseudo(monkeypatch):
    """A pseudo-locale in which every looked-up sentence stands in brackets."""
    shipped = languages.translations
    monkeypatch.setitem(languages.LANGUAGES, PSEUDO, "Pseudo")
    monkeypatch.setattr(languages, "translations", lambda code: Pseudo() if code == PSEUDO else shipped(code))


DATA = {
    # what organizers, teams and files are called in the season, and names that are the same everywhere
    "A", "small", "season", "Development", "on", "DEV", "CLIR", "QUERY", "Evaluation", "week", "EVAL", "Alpha", "Beta",
    "Ada", "Alan", "Bea", "one", "two", "perfect", "tgz", "Basanite", "UTC", "EST", "EDT", "America", "New", "York",
    "AoE", "Use", "the", "data", "for", "this", "evaluation", "only", "SHA", "sha", "KiB", "MiB", "B", "API", "CSV",
    "English", "Deutsch", "Español", "العربية", "Pseudo", "ada", "example", "org", "Europe", "Paris", "CET", "CEST",
    "usage", "domain", "genre", "kind", "mode", "subtype", "words", "MATERIAL", "BASE",
}  # fmt: skip
PLAIN = re.compile(r"[^\W\d_]{2,}")


def words_of_the_task(office):
    """What a task itself says, in English everywhere: its metrics, its format, and the figures of its results."""
    task = find_task("clir")
    names = [*(one.name for one in task.metrics), "mqwv", "mqwv_crossfit", "oqwv", "theta_best"]
    texts = [f"{meaning(name, 'clir')} {display_name(name, 'clir')}" for name in names]
    texts.append(repr(task.answers))
    with office.reading() as session:
        drawn = session.scalars(select(Result.figures).where(Result.figures.is_not(None)))
        texts += [office.files.read(digest).decode() for digest in drawn]
    return {word for text in texts for word in PLAIN.findall(text)}


def escaped_words(text):
    """Words that a reader sees and that were not looked up, but for data, code and what the task or scorer says."""
    body = text.partition("<body")[2]
    body = re.sub(r"<(script|style|code|svg|option|bdi)\b.*?</\1>", " ", body, flags=re.S)
    shown = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', body)
    shown += re.sub(r"<[^>]*>", "\n", body).split("\n")
    found = set()
    for one in shown:
        rest = unescape(one)
        while BEGIN in rest and END in rest:  # from the inside out: a sentence can hold another
            smaller = re.sub(rf"{BEGIN}[^{BEGIN}{END}]*{END}", " ", rest)
            if smaller == rest:
                break
            rest = smaller
        found |= set(PLAIN.findall(re.sub(r"\S*[/=]\S*|\b[0-9a-f]{8,}\b", " ", rest))) - DATA
    return found


PARTICIPANT = (
    "/", "/account", "/campaigns/small", "/campaigns/small/submit", "/campaigns/small/submissions",
    "/campaigns/small/team", "/campaigns/small/packs", "/campaigns/small/leaderboard", "/campaigns/small/calendar",
    "/campaigns/small/announcements", "/campaigns/small/questions", "/campaigns/small/compare",
    "/campaigns/small/resources", "/campaigns/small/results",
)  # fmt: skip


def test_no_sentence_of_a_participants_page_escapes_the_catalogue(client, stage, pseudo):
    Browser(client).sign_in("ada@example.org")
    client.cookies.set(languages.COOKIE, PSEUDO)
    visited = [path for path in PARTICIPANT if client.get(path, headers={"Accept": "text/html"}).status_code == 200]
    assert len(visited) >= len(PARTICIPANT) - 2, visited
    run = re.findall(r"/campaigns/small/submissions/(\w+)\"", page(client, "/campaigns/small/submissions"))[0]
    escaped = {}
    for path in (*visited, f"/campaigns/small/submissions/{run}"):
        text = page(client, path)
        assert f'<html lang="{PSEUDO}"' in text
        assert BEGIN in text
        escaped[path] = escaped_words(text)
    own = words_of_the_task(stage.office)
    assert {path: sorted(words - own) for path, words in escaped.items() if words - own} == {}


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up", "/forgotten", "/"])
def test_no_sentence_of_a_strangers_page_escapes_the_catalogue(client, pseudo, path):
    client.cookies.set(languages.COOKIE, PSEUDO)
    assert escaped_words(page(client, path)) == set()


def test_no_sentence_of_a_judges_page_escapes_the_catalogue(stage, pseudo):
    bench = Bench(stage.office, stage.season)
    items = [passage(number, f"zzz {number}.") for number in range(3)]
    bench.panel(scheme("readability", SHORT + "[training]\ncount = 1\n"), [
        *items, passage(9, "zzz 9.", role="training", expected={"rating": {"min": 4}})
    ], ["jo:expert"], name="panel")  # fmt: skip
    browser = Browser(TestClient(make_app(stage.office)))
    browser.client.cookies.set(*bench.cookie("jo"))
    browser.client.cookies.set(languages.COOKIE, PSEUDO)
    at = Judging(browser, bench.address("panel"))
    presets = resources.files("basanite.work").joinpath("presets")  # what organizers can change, consent included
    texts = [presets.joinpath(f"{name}.toml").read_text("utf-8") for name in ("ground", "readability")]
    own = {word for text in texts for word in PLAIN.findall(text)} | {"panel", "Jo", "jo", "zzz", "EUR"}
    pages = [browser.get("/judging").text, at.look().text, at.post("consent", version="1", agree="yes").text]
    pages.append(at.post("declare", languages="en").text)
    pages.append(at.answer(**{"q-rating": "2"}).text)
    at.post("go-on")
    pages += [at.answer(**{"q-rating": rating}).text for rating in "435"]
    escaped = [sorted(escaped_words(text) - own) for text in pages]
    assert escaped == [[]] * len(pages)
