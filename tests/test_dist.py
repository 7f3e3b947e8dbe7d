"""A release: its texts agree, its archives are checked, and the wheel scores where there is no source tree (Y-5)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile

import hatch_build
import pytest
from tools import dist

AGREEING = ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "src/basanite/__init__.py", "src/basanite/py.typed")


@pytest.fixture
def copied(repository, tmp_path):
    for name in AGREEING:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, tmp_path / name)
    return tmp_path


def test_version_classifiers_changelog_and_citation_agree(repository):
    assert list(dist.disagreements(repository)) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("CHANGELOG.md", "0.1.0", "0.2.0", "CHANGELOG.md does not name version 0.1.0"),
        ("CITATION.cff", "0.1.0", "0.2.0", "CITATION.cff does not name version 0.1.0"),
        ("src/basanite/__init__.py", "0.1.0", "0.1.1", "__init__.py does not name version 0.1.0"),
        ("pyproject.toml", '">=3.11"', '">=3.10"', "requires-python says >=3.10"),
        ("pyproject.toml", '  "Typing :: Typed",\n', "", "Typing :: Typed"),
        ("pyproject.toml", "3 - Alpha", "5 - Production/Stable", "development status"),
    ],
)
def test_what_does_not_agree_is_found(copied, name, old, new, told):
    text = (copied / name).read_text("utf-8")
    assert old in text
    (copied / name).write_text(text.replace(old, new), encoding="utf-8")
    assert any(told in fault for fault in dist.disagreements(copied))


def test_links_of_a_package_lead_to_files_that_there_are(repository):
    links = hatch_build.project_links("https://code.example.org/x", "1.2")
    assert links["Source"] == "https://code.example.org/x"
    for path in hatch_build.PLACES.values():
        assert (repository / path).exists()
        assert not path or f"https://code.example.org/x/blob/v1.2/{path}" in links.values()


def test_links_of_the_readme_become_absolute_and_those_to_elsewhere_stay():
    text = "![a board](docs/b.png) [Install](docs/install.md#x), [here](#top), [there](https://example.org/a)"
    assert hatch_build.with_absolute_links(text, "https://x.org/y", "1") == (
        "![a board](https://x.org/y/raw/v1/docs/b.png) [Install](https://x.org/y/blob/v1/docs/install.md#x), "
        "[here](#top), [there](https://example.org/a)"
    )


@pytest.fixture(scope="module")
def built(repository, tmp_path_factory):
    """The archives as `make dist` builds them: the wheel from the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    hatch = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder)]
    how = {"capture_output": True, "text": True, "timeout": 300, "check": True}
    subprocess.run(hatch, cwd=repository, **how)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*wheel, "--wheel-dir", str(folder), *map(str, folder.glob("*.tar.gz"))], cwd=folder, **how)
    return folder


@pytest.mark.slow
def test_the_archives_hold_what_they_should_and_a_spoilt_one_is_refused(built, tmp_path):
    assert list(dist.archive_faults(built)) == []
    for path in built.iterdir():
        shutil.copy(path, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tests/test_secret.py", "")
    assert list(dist.archive_faults(tmp_path)) == ["the wheel holds tests/test_secret.py"]
    wheel.unlink()
    assert list(dist.archive_faults(tmp_path)) == [f"{wheel.name} is missing"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.req("Y-4", "Y-5", "P-2")
def test_the_wheel_scores_in_an_empty_environment_that_stays_small(built, repository, tmp_path):
    """Needs a package index, as every installation does."""
    (wheel,) = built.glob("*.whl")
    python = dist.environment(tmp_path / "environment", ["base"], wheel)
    assert 50 < dist.installed_megabytes(python) < dist.MOST
    shutil.copytree(repository / "examples" / "clir", tmp_path / "work")
    command = [str(python), "-I", "-m", "basanite", *dist.EXAMPLE, "--json"]
    how = {"cwd": tmp_path / "work", "capture_output": True, "text": True, "timeout": 300, "check": False}
    done = subprocess.run(command, **how)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert json.loads(done.stdout)["values"]["aqwv"]["value"] == pytest.approx(0.7088, abs=5e-5)
    assert "<svg" in (tmp_path / "work" / "report.html").read_text("utf-8")
    assert str(repository) not in subprocess.run([str(python), "-I", "-c", WHERE], **how).stdout


WHERE = "import basanite, sys; print(basanite.__file__, sys.path)"
