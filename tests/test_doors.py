"""How a test enters is found in its source, through fixtures and functions of other files; an import alone is none."""

import pytest
from tools.doors import Entrances, shown_cases

PAGE = """
### basanite.score

## The stages

`basanite.spine` has the stages one by one: `read`, `score`.

- `basanite.kernel`: `Metric`
- `basanite.analysis.paired.difference`, `between_levels`: two systems
"""

FILES = {
    "docs/reference/python.md": PAGE,
    "src/basanite/spine.py": "",
    "src/basanite/kernel.py": "",
    "tests/conftest.py": """
import pytest

@pytest.fixture
def chrome():
    from playwright.sync_api import sync_playwright
    yield sync_playwright()
""",
    "tests/running.py": """
import subprocess

def basanite(*words):
    return subprocess.run(["python", "-m", "basanite", *words])

def git(*words):
    '''Not the command basanite .'''
    return subprocess.run(["git", *words])
""",
    "tests/server/conftest.py": """
import pytest
from starlette.testclient import TestClient

@pytest.fixture
def office(): ...

@pytest.fixture
def client(office): return TestClient(office)

@pytest.fixture
def season(client): ...
""",
    "tests/server/stage.py": "from tests.running import basanite\n",
}

DOORS = {
    "def test_it(season): ...": "call",
    "def test_it(office): ...": "",
    "def test_it(chrome): ...": "page",
    "def test_it(office):\n    client = 1\n    assert client": "",
    "import pytest\n@pytest.mark.usefixtures('client')\ndef test_it(): ...": "call",
    "def send(client): ...\ndef test_it(office): send(1)": "",
    "def test_it(request): request.getfixturevalue('client')": "call",
    "import pytest\n@pytest.fixture\ndef client(client): ...\ndef test_it(client): ...": "call",
    "import pytest\n@pytest.fixture\ndef client(): ...\ndef test_it(client): ...": "",
    "from tests.running import basanite\ndef test_it(): basanite('score')": "command",
    "from tests import running\ndef test_it(): running.basanite('score')": "command",
    "from tests import running\ndef test_it(): running.git('log')": "",
    "import stage\ndef test_it(): stage.basanite('score')": "command",
    "from tests.running import basanite\ndef test_it(): ...": "",
    "import subprocess\ndef test_it(): subprocess.run('basanite score clir', shell=True)": "command",
    "import subprocess\ndef test_it(): subprocess.run(['python', '-c', 'import basanite.kernel'])": "",
    "from basanite.cli import app\ndef test_it(): app([])": "command",
    "from basanite.cli.terminal import app\ndef test_it(): app([])": "",
    "import basanite\ndef test_it(): basanite.score('clir')": "function",
    "import basanite\ndef test_it(): assert basanite.__version__": "",
    "from basanite import score as whole\ndef test_it(): whole()": "function",
    "from basanite import spine\ndef test_it(): spine.read()": "function",
    "from basanite import spine\ndef test_it(): assert spine": "",
    "from basanite.kernel import Metric\ndef test_it(): Metric()": "",
    "from basanite.analysis.paired import between_levels\ndef test_it(): between_levels()": "function",
    "import basanite\nCASES = [basanite.score]\n@pytest.mark.parametrize('n', CASES)\ndef test_it(n): ...": "function",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("source", DOORS)
def test_a_test_enters_by_what_it_uses(project, source):
    (project / "tests/server/test_one.py").write_text(source, encoding="utf-8")
    assert Entrances(project).door("tests/server/test_one.py::test_it[with-a::parameter]") == DOORS[source]


def test_methods_enter_by_what_their_class_has(project):
    source = "class TestIt:\n    def enter(self, client): client.get()\n    def test_it(self): self.other()\n"
    source += "    def other(self): basanite('x')\n\nfrom tests.running import basanite\n"
    (project / "tests/server/test_one.py").write_text(source, encoding="utf-8")
    assert Entrances(project).door("tests/server/test_one.py::TestIt::test_it") == "command"


def test_marks_are_found_wherever_they_are_written(project):
    source = """
import pytest
pytestmark = [pytest.mark.req("M01"), pytest.mark.slow]
MORE = [pytest.param(1, marks=pytest.mark.req("M05", case="bad"))]

@pytest.mark.req("M02", "M03", case="good")
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.req("M04"))])
@pytest.mark.parametrize("m", MORE)
def test_function(n): ...

def test_late(): ...

test_late = pytest.mark.req("M06")(test_late)

@pytest.mark.req("M07")
class TestClass:
    pytestmark = pytest.mark.req("M08")

    @pytest.mark.req("M09")
    def test_method(self): ...
"""
    (project / "tests/test_one.py").write_text(source, encoding="utf-8")
    case = project / "tests/golden/clir/small/expected.json"
    case.parent.mkdir(parents=True)
    case.write_text('{"values": {}, "requirements": ["M10"]}', encoding="utf-8")
    shown = shown_cases(Entrances(project).marked())
    assert {name: {case: len(tests) for case, tests in cases.items()} for name, cases in shown.items()} == {
        "M01": {"": 3},
        "M02": {"good": 1},
        "M03": {"good": 1},
        "M04": {"": 1},
        "M05": {"bad": 1},
        "M06": {"": 1},
        "M07": {"": 1},
        "M08": {"": 1},
        "M09": {"": 1},
        "M10": {"": 1},
    }
