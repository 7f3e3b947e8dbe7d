"""The published site: what was released to everybody, under the names that everybody may know, and nothing else."""

import gzip
import hashlib
import io
import json
import re
import tarfile
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
import yaml
from keeping_rows import RESULT, add_reference, scored, submit
from sqlalchemy import select
from tests.offices.engines import lose

from basanite.campaign.archive.backup import BackupError
from basanite.campaign.archive.public_record import WITHHELD, Unnamed
from basanite.campaign.archive.publication import Wishes, publish
from basanite.campaign.store.tables import Deviation, Reference, Release, Team
from basanite.receipts import Keyring, Trust, verify
from basanite.receipts.reproduction import opens, reference_content
from basanite.testing import season, small_campaign_text

SECRET_VALUE = 0.7654321987


def archive(names: str, content: bytes = b"D1\tY\t0.9\n") -> bytes:
    """A run whose gzip head and owner name its maker."""
    raw = io.BytesIO()
    with gzip.GzipFile(f"{names}.tar", "wb", fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        head = tarfile.TarInfo("query1.tsv")
        head.size, head.uname = len(content), names
        tar.addfile(head, io.BytesIO(content))
    return raw.getvalue()


def result(value):
    values = {"aqwv": RESULT["values"]["aqwv"] | {"value": value, "low": value - 0.1, "high": value + 0.1}}
    levels = {"NT": {"aqwv": {"value": value, "units": 40}}, "MS": {"aqwv": {"value": value / 2, "units": 40}}}
    return RESULT | {"values": values, "breakdowns": {"genre": levels}}


def released(office, there, levels=("top", "details", "public"), window="week"):
    with office.writing() as session:
        session.add_all(
            Release(
                campaign_id=there.campaign_id, window=window, level=level, by=there.eva, open_appeals=[],
                at=office.clock(),
            )
            for level in levels
        )  # fmt: skip


@pytest.fixture
def there(sqlite_office, clock):
    """A week that is over: Alpha and Beta with a primary each, Alpha with a contrastive one besides."""
    there = made(sqlite_office)
    clock.set("2018-04-05 12:00")
    reference = add_reference(sqlite_office, there)
    alpha = hand_in(sqlite_office, there)
    contrast = archive("Zanzibar", b"D1\tN\t0.1\n")
    other = hand_in(sqlite_office, there, content=contrast, number=2, type="contrastive")
    beta = hand_in(sqlite_office, there, "Quokka", archive("Quokka", b"D1\tN\t0.2\n"))
    for number, (row, value) in enumerate(((alpha, 0.5), (other, SECRET_VALUE), (beta, 0.25))):
        scored(sqlite_office, row, reference, result(value), f"r{number}")
    clock.set("2018-05-01 12:00")
    return there


def made(office, text=None):
    """The small season, with names that occur nowhere by chance."""
    there = season(office, text)
    with office.writing() as session:
        for number, (team, name) in enumerate(((there.alpha, "Zanzibar"), (there.beta, "Quokka")), 1):
            row = session.get_one(Team, team)
            row.name, row.code, row.skeleton, row.pseudonym = name, name, name.lower(), f"Team {number}"
    return there


def hand_in(office, there, name="Zanzibar", content=None, **more):
    """A run in the evaluation week whose every part names its maker."""
    return submit(
        office,
        there,
        "alpha" if name == "Zanzibar" else "beta",
        window="week",
        dataset="EVAL1",
        content=content or archive(name),
        label=f"{name}-1",
        name=f"BASE_CLIR_{name}.tgz",
        **{"description": {"text": f"The system of {name}.", "training": "Open data only."}} | more,
    )[0]


def agree(office, *teams):
    with office.writing() as session:
        for team in teams:
            session.get_one(Team, team).named_consent = office.clock()


def contents(folder):
    """Every file name and every content, archives opened too."""
    for path in sorted(folder.rglob("*")):
        yield str(path.relative_to(folder)), path.relative_to(folder).as_posix().encode()
        if path.is_file():
            yield str(path), path.read_bytes()
            if path.suffix == ".tgz":
                yield str(path), gzip.decompress(path.read_bytes())


def test_no_file_name_or_image_of_an_anonymous_site_holds_a_teams_name(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    site = publish(sqlite_office, "small", tmp_path / "site")
    assert (site.boards, site.systems, site.runs) == (1, 2, 2)
    for place, content in contents(tmp_path / "site"):
        assert not re.search(rb"zanzibar|quokka", content, re.IGNORECASE), place
    page = next((tmp_path / "site" / "systems").glob("*team-1*")).read_text()
    assert "Team 1" in page
    assert WITHHELD in page


def test_a_run_that_names_its_maker_inside_is_left_out(sqlite_office, clock, tmp_path):
    there = made(sqlite_office)
    clock.set("2018-04-05 12:00")
    row = hand_in(sqlite_office, there, content=archive("x", b"D1\tY\t0.9\n# by team ZANZIBAR\n"))
    scored(sqlite_office, row, add_reference(sqlite_office, there), result(0.5))
    clock.set("2018-05-01 12:00")
    released(sqlite_office, there)
    site = publish(sqlite_office, "small", tmp_path / "site")
    assert (site.runs, len(site.left_out)) == (0, 1)
    assert not any(b"ZANZIBAR" in content for _, content in contents(tmp_path / "site"))


def test_teams_that_agreed_are_named_where_the_campaign_names(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    agree(sqlite_office, there.alpha)
    publish(sqlite_office, "small", tmp_path / "site")
    board = next((tmp_path / "site" / "boards").iterdir()).read_text()
    assert "Zanzibar" in board
    assert "Quokka" not in board
    assert "Team 2" in board
    assert any(path.name.endswith("zanzibar.html") for path in (tmp_path / "site" / "systems").iterdir())


def test_in_a_window_of_pseudonyms_agreement_names_nobody(sqlite_office, clock, tmp_path):
    text = small_campaign_text().replace('certification = "7 days"', 'certification = "7 days"\nnaming = "pseudonym"')
    there = made(sqlite_office, text)
    clock.set("2018-04-05 12:00")
    row = hand_in(sqlite_office, there)
    scored(sqlite_office, row, add_reference(sqlite_office, there), result(0.5))
    clock.set("2018-05-01 12:00")
    released(sqlite_office, there)
    agree(sqlite_office, there.alpha, there.beta)
    publish(sqlite_office, "small", tmp_path / "site")
    for place, content in contents(tmp_path / "site"):
        assert not re.search(rb"zanzibar|quokka", content, re.IGNORECASE), place


@pytest.mark.parametrize("levels", [(), ("certification",), ("top",), ("top", "details")], ids=str)
def test_what_is_not_released_to_everybody_is_not_in_the_site(sqlite_office, there, tmp_path, levels):
    released(sqlite_office, there, levels)
    site = publish(sqlite_office, "small", tmp_path / "site")
    assert (site.boards, site.systems, site.runs) == (0, 0, 0)
    assert "Nothing has been released" in (tmp_path / "site" / "index.html").read_text()
    for place, content in contents(tmp_path / "site"):
        assert not re.search(rb"0\.5\b|0\.25\b|7654321987|D1\t", content), place


def test_contrastive_runs_and_sealed_references_stay_out(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    publish(sqlite_office, "small", tmp_path / "site")
    for place, content in contents(tmp_path / "site"):
        assert b"7654321987" not in content, place
        assert b"D1\tY\n" not in content, place
    assert not list((tmp_path / "site" / "references").iterdir())
    with sqlite_office.reading() as session:
        row = session.scalars(select(Reference)).one()
        secret = sqlite_office.vault.read("reference", row.id).hex().encode()
        digests = [digest.encode() for digest in row.files["reference"]]
    for place, content in contents(tmp_path / "site"):
        assert not any(word in content for word in (secret, *digests)), place


def test_a_released_reference_comes_with_the_nonce_that_opens_its_commitment(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    with sqlite_office.writing() as session:
        row = session.scalars(select(Reference)).one()
        row.released = sqlite_office.clock()
    assert publish(sqlite_office, "small", tmp_path / "site").references == 1
    (folder,) = (tmp_path / "site" / "references").iterdir()
    note = json.loads((folder / "reference.json").read_text())
    assert (folder / note["files"]["reference"][0]).read_bytes() == b"D1\tY\n"
    assert opens(row.commitment, bytes.fromhex(note["nonce"]), reference_content(note["committed"]))


def test_receipts_of_the_site_verify_by_its_keys(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    publish(sqlite_office, "small", tmp_path / "site")
    trusted = Trust.of(Keyring.of((tmp_path / "site" / "keys.json").read_bytes()))
    receipts = list((tmp_path / "site" / "receipts").iterdir())
    assert len(receipts) == 4
    for path in receipts:
        assert verify(path.read_bytes(), trusted, sqlite_office.clock()).valid


def test_the_plan_stands_with_its_deviations_empty_or_not(sqlite_office, there, tmp_path):
    publish(sqlite_office, "small", tmp_path / "none")
    assert "None. The plan that was frozen" in (tmp_path / "none" / "plan.html").read_text()
    with sqlite_office.writing() as session:
        session.add(
            Deviation(
                campaign_id=there.campaign_id, window="week", from_version=1, to_version=2, by=there.eva,
                changes=[{"what": "window.closes", "from": "Monday", "to": "Tuesday"}], reason="A flood at Quokka.",
                results_known=True, at=sqlite_office.clock(),
            )
        )  # fmt: skip
    publish(sqlite_office, "small", tmp_path / "one")
    page = (tmp_path / "one" / "plan.html").read_text()
    assert "window.closes: Monday became Tuesday" in page, "in words, not as it is stored"
    assert "Results were known by then" in page
    assert "flood" not in page, "a reason that names a team is left out"
    assert (tmp_path / "one" / "campaign.toml").read_text() == small_campaign_text()


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def test_every_link_of_the_site_leads_to_a_file_of_the_site_and_no_page_needs_a_script(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    publish(sqlite_office, "small", tmp_path / "site")
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) == 5
    for page in pages:
        links = Links()
        links.feed(page.read_text())
        assert links.scripts == 0
        for link in links.found:
            if not link.startswith(("#", "data:")):
                assert (page.parent / unquote(link)).is_file(), (page.name, link)


def test_metadata_can_be_read_by_other_programs(sqlite_office, there, tmp_path):
    released(sqlite_office, there)
    wishes = Wishes('The "Board" & friends', "CC-BY-4.0", "https://results.example/x_y")
    publish(sqlite_office, "small", tmp_path / "site", wishes)
    site = tmp_path / "site"
    cff = yaml.safe_load((site / "CITATION.cff").read_text())
    assert (cff["cff-version"], cff["title"], cff["authors"]) == (
        "1.2.0",
        "A small season",
        [{"name": wishes.organiser}],
    )
    graph = {part["@id"]: part for part in json.loads((site / "ro-crate-metadata.json").read_text())["@graph"]}
    named = {part["@id"] for part in graph["./"]["hasPart"]}
    there_are = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert named == there_are - {"ro-crate-metadata.json"}
    for name in named:
        assert graph[name]["sha256"] == hashlib.sha256((site / name).read_bytes()).hexdigest()
    data = json.loads((site / "datacite.json").read_text())
    assert (data["publicationYear"], data["types"]["resourceTypeGeneral"]) == (2018, "Dataset")
    bib = (site / "citation.bib").read_text()
    assert bib.count("{") == bib.count("}")
    assert r"\&" in bib
    table = next((site / "tables").glob("*.csv")).read_text().splitlines()
    assert table[0].startswith("System,aqwv")
    assert any(line.startswith("Team 1,0.5,") for line in table)
    assert r"\toprule" in next((site / "tables").glob("*.tex")).read_text()


def test_nothing_is_written_over_and_a_failure_leaves_nothing(sqlite_office, there, tmp_path):
    (tmp_path / "site").mkdir()
    with pytest.raises(BackupError, match="already exists"):
        publish(sqlite_office, "small", tmp_path / "site")
    released(sqlite_office, there)
    with sqlite_office.writing() as session:
        row = session.scalars(select(Reference)).one()
        row.released = sqlite_office.clock()
        lose(sqlite_office.sealed, row.files["reference"][0])
    with pytest.raises(FileNotFoundError):
        publish(sqlite_office, "small", tmp_path / "broken")
    assert [path.name for path in tmp_path.iterdir() if "broken" in path.name] == []


def test_names_are_found_however_they_are_written():
    names = Unnamed(("Équipe 7", "Ada"))
    assert names.hides("by ÉQUIPE 7.")
    assert names.hides("ada_v2 and ADA3")
    assert not names.hides("Canada, adaptive")
    assert names.form({"text": "Ada's", "n": 3, "Ada": "x"}) == {"text": WITHHELD, "n": 3}
    assert names.without_names({"ada": ["Ada", 1]}) == {"ada": [WITHHELD, 1]}
