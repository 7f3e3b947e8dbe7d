"""Every page of the documentation: its links lead somewhere, and anyone who follows it in one shell gets what it shows.

The blocks of a page run in their order: console blocks in one shell, Python blocks in one namespace and in the folder
where the shell stands. What a page shows below a command is compared with its output (`...` stands for anything). The
shell begins in an empty folder, which must stay empty: a page makes a scratch folder for itself, and copies the
examples it needs from the clone. A block below the comment `<!-- not run: WHY -->` is left alone, and so is every
`make` command.

Of the how-to pages, whose commands have golden cases of their own, a few are followed in `make test`, and all of them
in `make docs` and `make test-all`.
"""

import socket

import pytest
from tests.reader import ROOT, Shell, run_console, run_python
from tools.markdown_pages import broken_links, examples, pages
from tools.rule_index import RULES, printed_rules, rule_rows, rule_table

PAGES = [page.relative_to(ROOT).as_posix() for page in pages(ROOT)]
CONSOLE = {"console", "bash"}
MOST_NOT_RUN = 40
START = """$ cd "$(mktemp -d)"\n"""
FOLLOWED = [pytest.param(name, marks=pytest.mark.few(6)) if name.startswith("docs/how-to/") else name for name in PAGES]
GUIDES = [name for name in PAGES if name.startswith(("docs/tutorial/", "docs/how-to/"))]


@pytest.fixture
def shell(tmp_path):
    """A shell in an empty folder, to which scratch folders are no neighbors."""
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    with Shell(home, scratch) as started:
        yield started


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_somewhere(name):
    assert broken_links(ROOT / name) == []


@pytest.mark.parametrize("name", FOLLOWED)
def test_whoever_follows_a_page_in_one_shell_gets_what_it_shows(name, shell, monkeypatch):
    home, namespace = shell.folder, {"__name__": "__main__", "__file__": "page.py"}
    for example in blocks(name):
        place = f"{name}:{example.line}"
        if not example.runs:
            continue
        if example.language == "python":
            monkeypatch.chdir(shell.folder)
            run_python(example.text, namespace, place=place)
        elif example.language in CONSOLE:
            run_console(example.text.replace("PORT=8000", f"PORT={free_port()}"), shell, place=place)
    assert list(home.iterdir()) == [], f"{name} writes into the folder where the reader happens to be"


def free_port():
    """A port that is free here: 8000, which pages name, may be taken."""
    with socket.create_server(("127.0.0.1", 0)) as tried:
        return tried.getsockname()[1]


def blocks(name):
    return examples((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in GUIDES if any(one.language in CONSOLE for one in blocks(name))])
def test_a_guide_says_who_the_reader_is_and_begins_in_a_scratch_folder(name):
    first = next(one for one in blocks(name) if one.language in CONSOLE)
    text = (ROOT / name).read_text(encoding="utf-8")
    opening = "\n".join(text.splitlines()[: first.line - 2])
    assert "**You are** " in opening, "say who the reader is and where, before the first command"
    assert first.text.startswith(START) or "make demo" in first.text


def test_blocks_that_are_not_run_are_few_and_say_why():
    left_alone = [(f"{name}:{one.line}", one.not_run) for name in PAGES for one in blocks(name) if not one.runs]
    assert [place for place, why in left_alone if not why] == []
    assert len(left_alone) <= MOST_NOT_RUN, left_alone


def test_troubleshooting_explains_every_rule_that_a_message_can_name():
    assert (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").endswith(rule_table()), (
        "write it again from docs/reference/rules.md: python -m tools.rule_index"
    )
    explained = {rule for rule, *_ in rule_rows(RULES.read_text(encoding="utf-8"))}
    assert printed_rules() == explained, "docs/reference/rules.md has a row for each rule, and no other"


def test_a_promise_that_is_not_kept_is_noticed(shell):
    with pytest.raises(AssertionError, match="the page says"):
        run_console("$ echo one\ntwo\n", shell, place="page:1")
    with pytest.raises(AssertionError, match="exit 3"):
        run_console("$ (exit 3)\n", shell, place="page:1")
    with pytest.raises(AssertionError, match="exit 3"):
        run_console("$ (echo no; exit 3)\n...\n", shell, place="page:1")
    with pytest.raises(AssertionError, match="ended the reader's shell"):
        run_console("$ exit 3\n", shell, place="page:1")


def test_a_shell_stays_where_it_was_led_and_keeps_what_it_was_told(shell):
    run_console("$ mkdir below && cd below\n$ WORD=kept\n", shell, place="page:1")
    run_console("$ echo $WORD; basename $PWD\nkept\nbelow\n", shell, place="page:5")
    run_console("$ cat > two.txt <<'END'\none $WORD\nEND\n$ cat two.txt\none $WORD\n", shell, place="page:9")


def test_dots_stand_for_anything_and_make_is_left_alone(shell):
    run_console("$ echo one; echo two\none\n...\n$ make nothing\n", shell, place="page:1")


def test_a_session_keeps_its_names_for_the_next_block():
    namespace = {}
    run_python(">>> x = 2\n>>> x + 1\n3\n", namespace, place="page:1")
    run_python("assert x == 2\n", namespace, place="page:5")
    with pytest.raises(AssertionError):
        run_python(">>> x\n3\n", namespace, place="page:9")
