"""Rules of queries, names and files of the detection tasks, as somebody at home meets them: by commands alone."""

from __future__ import annotations

import io
import json
import shutil
import tarfile

import pytest
from tests.cli.running import ROOT, here
from tests.formats.forged import BLOCK, gzip_of, header

HEADER = "query_id\tquery_string\tdomain_id\n"
PLAN = "NIST_DomainID-contrastive-unconstrained-GOV-MIL-BUS-LAW-mybestsystem_BASE-1S-EVAL1EVAL2_20181113_225652.tgz"
RETRIEVAL = "FLAIR_CLIR-primary-unconstrained-QUERY1-MySystem1_BASE-1A-EVAL1_20180514_090000.tgz"
LANGUAGE = "QuickSTIR_LangID-primary-unconstrained-Alpha_BASE-1B-DEV_20180801_000000.tgz"

KINDS = {
    "music": ("lexical", "lexical"),
    "<trees>": ("lexical", "morphological"),
    '"coconut <trees>"': ("lexical", "extended-morphological"),
    "bribing+": ("conceptual", "conceptual"),
    "EXAMPLE_OF(virus)": ("conceptual", "example-of"),
    '"tongue of EXAMPLE_OF(animal)"': ("conceptual", "extended-example-of"),
    'bribing+,"panel of judges"': ("hybrid", "conceptual"),
    "<trees>,EXAMPLE_OF(fruit)": ("hybrid", "example-of"),
}
DOMAINS = {
    "GOV": "Government-And-Politics",
    "LIF": "Lifestyle",
    "BUS": "Business-And-Commerce",
    "LAW": "Law-And-Order",
    "HEA": "Physical-And-Mental-Health",
    "MIL": "Military",
    "SPO": "Sports",
    "REL": "Religion",
}


@pytest.fixture
def listed(tmp_path):
    """What `basanite material queries` finds in a pack of tables, or in a file of full forms."""

    def run(text, name="query_list.tsv", **files):
        folder = tmp_path / "QUERY1"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, content in {name: text, **{f"{key}.tsv": value for key, value in files.items()}}.items():
            (folder / file).write_text(content, encoding="utf-8")
        return here(
            "material", "queries", folder if name == "query_list.tsv" else folder / name, "--json", cwd=tmp_path
        )

    return run


def rows(ended):
    assert (ended.code, ended.data["problems"]) == (0, [])
    return [(one["query"], one["string"], one["domain"]) for one in ended.data["queries"]]


def places(ended):
    assert (ended.code, ended.data["valid"]) == (1, False)
    return [(one["rule"], one["line"], one["column"]) for one in ended.data["problems"]]


@pytest.mark.req("M37", "C38", case="good")
def test_the_last_colon_separates_a_query_from_its_domain_and_tables_have_three_columns(listed):
    table = HEADER + 'q1\tmusic\tLIF\nq2\tbribing+,"panel of judges"\tGOV\nq3\tboxing+[evf:sports]\tSPO\n'
    assert rows(listed(table)) == [
        ("q1", "music", "LIF"),
        ("q2", 'bribing+,"panel of judges"', "GOV"),
        ("q3", "boxing+[evf:sports]", "SPO"),
    ]
    full = "music:Lifestyle\nboxing+[evf:sports]:Sports\n"
    assert [one[1:] for one in rows(listed(full, "plain.txt"))] == [("music", "LIF"), ("boxing+[evf:sports]", "SPO")]


@pytest.mark.req("M37", "C38", case="bad")
@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        (HEADER + 'q1\tbribing+, "panel of judges"\tGOV\n', "query_list.tsv", ("M37", 2, 13)),
        (HEADER + "q1\tmusic \tLIF\n", "query_list.tsv", ("M37", 2, 9)),
        (HEADER + "q1\tmusic:LIF\n", "query_list.tsv", ("M37", 2, None)),
        (HEADER + "q1\tfishing\tboat\tLIF\n", "query_list.tsv", ("M37", 2, None)),
        ("first:Sports\nmusic\n", "plain.txt", ("M37", 2, 6)),
        ("first:Sports\nmusic: Lifestyle\n", "plain.txt", ("M37", 2, 7)),
        ('first:Sports\nbribing+, "panel of judges" GOV\n', "plain.txt", ("M37", 2, 32)),
    ],
)
def test_stray_blanks_and_missing_colons_refuse_the_pack_with_the_line(listed, text, name, place):
    assert places(listed(text, name)) == [place]


@pytest.mark.req("M38")
def test_names_and_codes_of_domains_map_one_to_one(listed):
    shown = here("material", "domains", "--json").data["domains"]
    assert {one["code"]: one["name"] for one in shown} == DOMAINS
    full = "".join(f"music:{name}\n" for name in DOMAINS.values())
    assert [domain for *_, domain in rows(listed(full, "plain.txt"))] == list(DOMAINS)
    assert places(listed("music:LIF\nmusic:lifestyle\n", "plain.txt")) == [("M38", 1, 7), ("M38", 2, 7)]
    twice = "domain_id\tdomain_name\nLIF\tLifestyle\nLIF\tLife\n"
    assert places(listed(f"{HEADER}q1\tmusic\tLIF\n", domain_map=twice)) == [("M38", 3, None)]


@pytest.mark.req("M39", "C40")
def test_kinds_and_subtypes_come_from_parsing_and_are_broken_down_by(listed, tmp_path):
    table = HEADER + "".join(f"q{number}\t{text}\tLIF\n" for number, text in enumerate(KINDS))
    found = listed(table).data["queries"]
    assert {one["string"]: (one["kind"], one["subtype"]) for one in found} == KINDS
    key = sorted(path.stem for path in (ROOT / "examples" / "clir" / "key").glob("*.tsv"))
    strings = [list(KINDS)[number % len(KINDS)] for number in range(len(key))]
    pack = tmp_path / "QUERY1" / "query_list.tsv"
    pack.write_text(HEADER + "".join(f"{one}\t{text}\tLIF\n" for one, text in zip(key, strings, strict=True)))
    words = ["--reference", "key", "--submission", "Alpha.tgz", "--queries", pack.parent, "--draws", "20", "--json"]
    shown = here("score", "clir", *words).data["breakdowns"]
    assert set(shown["kind"]) == {"lexical", "conceptual", "hybrid"}
    assert set(shown["subtype"]) == {subtype for _, subtype in KINDS.values()}


@pytest.mark.req("C39")
def test_hyphen_and_apostrophe_belong_to_words(listed):
    (query,) = listed(HEADER + "q1\t\"rock-'n'-roll isn't dead\"\tLIF\n").data["queries"]
    assert (query["words"], query["kind"]) == (3, "lexical")
    assert places(listed(HEADER + "q1\tfishing_boat\tLIF\n")) == [("M37", 2, 11)]


def explain(name):
    """What each part of an archive's name means, or the problems of the name."""
    ended = here("pack", "--explain", name, "--json")
    assert ended.code == (0 if ended.data["valid"] else 1)
    return ended.data


def parts(name):
    return {one["part"]: one["value"] for one in explain(name)["parts"]}


def problems(name):
    return [(one["rule"], one["message"]) for one in explain(name)["problems"]]


@pytest.mark.req("M57", case="good")
@pytest.mark.parametrize("name", [PLAN, RETRIEVAL, LANGUAGE, RETRIEVAL.replace("CLIR-primary", "E2E-contrastive")])
def test_names_of_every_task_and_type_are_understood(name):
    found = parts(name)
    assert (found["task"], found["type"]) == tuple(name.split("_")[1].split("-")[:2])
    assert found["condition"] == "unconstrained"


@pytest.mark.req("M57", case="bad")
@pytest.mark.parametrize(("right", "wrong"), [("CLIR", "clir"), ("primary", "main"), ("unconstrained", "constrained")])
def test_a_task_type_or_condition_outside_the_list_is_refused(right, wrong):
    ((rule, message),) = problems(RETRIEVAL.replace(f"{right}-", f"{wrong}-"))
    assert rule == "M57", message


@pytest.mark.req("M59", "C15", case="good")
def test_the_domains_in_a_name_may_come_in_any_order():
    assert parts(PLAN)["set"] == "GOV-MIL-BUS-LAW"
    assert parts(PLAN.replace("GOV-MIL-BUS-LAW", "LAW-GOV-BUS-MIL"))["set"] == "LAW-GOV-BUS-MIL"
    assert here("material", "domains", "--json").data["stages"]["1A"]["Y"] == ["BUS", "LAW"]


@pytest.mark.req("M59", case="bad")
@pytest.mark.parametrize(
    ("codes", "words"),
    [("GOV-MIL-GOV", "GOV appears twice"), ("GOV-SPO", "'SPO' is not a domain"), ("gov-MIL", "'gov' is not a domain")],
)
def test_repeated_and_foreign_domains_in_a_name_are_refused(codes, words):
    ((rule, message),) = problems(PLAN.replace("GOV-MIL-BUS-LAW", codes))
    assert rule == "M59"
    assert words in message


@pytest.mark.req("M75")
def test_each_language_has_the_domains_of_its_stages():
    assert here("material", "domains", "--json").data["stages"] == {
        "1A": {"X": ["GOV", "LIF"], "Y": ["BUS", "LAW"], "Z": ["SPO"]},
        "1B": {"X": ["GOV", "LIF"], "Y": ["HEA", "MIL"], "Z": ["SPO"]},
        "1S": {"X": ["GOV", "MIL"], "Y": ["BUS", "LAW"], "Z": ["REL"]},
    }
    assert [rule for rule, _ in problems(PLAN.replace("-1S-", "-1A-"))] == ["M59"], "1A never has MIL"


@pytest.mark.req("C26")
def test_language_identification_has_an_alias_and_no_set(tmp_path):
    assert parts(LANGUAGE.replace("LangID", "LanguageID")) == parts(LANGUAGE)
    assert parts(LANGUAGE)["task"] == "LangID"
    assert ["the set of" in message for _, message in problems(LANGUAGE.replace("-Alpha", "-QUERY1-Alpha"))] == [True]
    with tarfile.open(ROOT / "examples" / "langid" / "Alpha.tgz") as tar:
        tar.extractall(tmp_path / "run", filter="data")
    words = ["--team", "NIST", "--label", "Alpha", "--type", "primary", "--period", "BASE", "--language", "1A"]
    made = here("pack", "langid", "run", *words, "--dataset", "DEV", "--json", cwd=tmp_path)
    assert made.code == 0, made
    assert made.data["written"].startswith("NIST_LangID-primary-unconstrained-Alpha_BASE-1A-DEV_")


@pytest.mark.req("C28")
@pytest.mark.parametrize("dash", ["—", "–", "−"])
def test_long_dashes_in_a_name_are_refused(dash):
    (problem,) = explain(RETRIEVAL.replace("-", dash))["problems"]
    assert (problem["rule"], problem["found"]) == ("M56", dash)
    assert "hyphens" in problem["fix"]


@pytest.mark.req("C29", "C30")
def test_the_combined_query_set_is_understood_and_data_sets_join_within_a_family():
    assert parts(RETRIEVAL.replace("QUERY1", "QUERY1QUERY2"))["set"] == "QUERY1QUERY2"
    for joined in ("EVAL1EVAL2", "ANALYSIS1DEV"):
        assert parts(RETRIEVAL.replace("1A-EVAL1", f"1A-{joined}"))["dataset"] == joined
    for apart in ("ANALYSIS1EVAL1", "EVAL1DEV"):
        assert [rule for rule, _ in problems(RETRIEVAL.replace("1A-EVAL1", f"1A-{apart}"))] == ["M56"]


@pytest.fixture(scope="module")
def files():
    """The files of a good submission, by name."""
    with tarfile.open(ROOT / "examples" / "clir" / "Alpha.tgz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def validate(archive, task="clir"):
    folder = ROOT / "examples" / task
    ended = here("validate", task, "--reference", folder / "key", "--submission", archive, "--json")
    assert ended.code == (0 if ended.data["valid"] else 1)
    return ended.data


def packed(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def plain(files, prefix=""):
    return [(tarfile.TarInfo(f"{prefix}{name}"), data) for name, data in files.items()]


@pytest.mark.req("M54", case="good")
def test_members_that_start_with_dot_slash_are_accepted(files, tmp_path):
    folder = tarfile.TarInfo("./")
    folder.type = tarfile.DIRTYPE
    assert validate(packed(tmp_path / "Alpha.tgz", [(folder, b""), *plain(files, "./")]))["problems"] == []


def unsafe(name, kind=tarfile.REGTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "query.tsv" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
    return info


@pytest.mark.req("M54", case="bad")
@pytest.mark.parametrize(
    "member",
    [
        unsafe("/etc/passwd"),
        unsafe("../query.tsv"),
        unsafe("query.tsv", tarfile.SYMTYPE),
        unsafe("query.tsv", tarfile.LNKTYPE),
        unsafe("query.tsv", tarfile.CHRTYPE),
        unsafe("query.tsv", tarfile.FIFOTYPE),
        unsafe("query04276.tsv"),
    ],
    ids=["absolute", "dot-dot", "symbolic link", "hard link", "device", "pipe", "same name twice"],
)
def test_unsafe_members_and_repeated_names_are_refused(files, tmp_path, member):
    found = validate(packed(tmp_path / "Alpha.tgz", [*plain(files), (member, b"")]))
    assert (found["valid"], found["counts"].get("M54")) == (False, 1)


@pytest.mark.req("M54", case="bad")
def test_an_archive_that_swells_past_the_limits_is_refused(tmp_path):
    (tmp_path / "Alpha.tgz").write_bytes(gzip_of([header(b"query04276.tsv", 2**32), *[bytes(1 << 20)] * 256]))
    found = validate(tmp_path / "Alpha.tgz")
    assert (found["valid"], "M54" in found["counts"]) == (False, True)
    assert (tmp_path / "Alpha.tgz").stat().st_size < 256 * BLOCK * BLOCK


@pytest.mark.req("C42")
@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [(b"\tN\t", b"\t\xe9\t", "M21"), (b"\tN\t", b"\t\t", "M28"), (b"\tN\t0.", b"\tN\t\n#", "M29")],
    ids=["not UTF-8", "empty decision", "empty confidence"],
)
def test_files_are_utf8_and_no_field_of_a_detection_may_be_empty(files, tmp_path, old, new, rule):
    first = next(iter(files))
    assert validate(packed(tmp_path / "Alpha.tgz", plain(files)))["valid"]
    changed = files | {first: files[first].replace(old, new, 1)}
    found = validate(packed(tmp_path / "Alpha.tgz", plain(changed)))
    assert rule in found["counts"]
    assert {one["file"] for one in found["problems"]} == {first}


@pytest.fixture
def summaries(tmp_path):
    """A good submission of summaries as a folder, to be changed."""
    with tarfile.open(ROOT / "examples" / "e2e" / "Alpha.tgz") as tar:
        tar.extractall(tmp_path / "Alpha", filter="data")
    return tmp_path / "Alpha"


@pytest.mark.req("C42")
@pytest.mark.parametrize(("field", "rule"), [("", None), ("\t", None), ("\tx.json", "M41"), ("\t\t", "M27")])
def test_the_summary_field_alone_may_be_empty(summaries, field, rule):
    table = next(summaries.rglob("query*.tsv"))
    lines = [line.rstrip("\t") for line in table.read_text().splitlines()]
    rejected = next(number for number, line in enumerate(lines) if "\tN\t" in line)
    lines[rejected] += field
    table.write_text("\n".join(lines) + "\n")
    assert list(validate(summaries, "e2e")["counts"]) == ([rule] if rule else [])


@pytest.mark.req("C20")
@pytest.mark.parametrize(("ending", "valid"), [(".png", True), ("", False), (".png.exe", False), (".gif", False)])
def test_an_image_is_named_by_the_base_name_and_its_extension(summaries, ending, valid):
    image = next(summaries.rglob("*.png"))
    metadata = image.with_suffix(".json")
    told = json.loads(metadata.read_text()) | {"image_filename": image.stem + ending}
    metadata.write_text(json.dumps(told))
    found = validate(summaries, "e2e")
    assert (found["valid"], "M46" in found["counts"]) == (valid, not valid)


@pytest.mark.req("C43")
def test_both_spellings_of_a_released_data_set_are_taken(tmp_path):
    document = "MATERIAL_OP2-3S_10000896"
    for name in ("IARPA_MATERIAL-OPTION2-3S", "IARPA_MATERIAL_OP2-3S", "IARPA_MATERIAL_OP2-3S_v1.0"):
        source = tmp_path / name / "EVAL" / "text" / "src" / f"{document}.txt"
        source.parent.mkdir(parents=True)
        source.write_text("x\n")
        (tmp_path / name / "EVAL" / "index.txt").write_text(f"docid\n{document}\n")
        checked = here("dataset", "check", name, "--json", cwd=tmp_path)
        assert sum(row["documents"] for row in checked.data["contents"]) == 1, name
        assert checked.data["valid"], checked
    (tmp_path / "IARPA_MATERIAL-OPTION2-3S").rename(tmp_path / "IARPA_MATERIAL+OPTION2-3S")
    assert here("dataset", "check", "IARPA_MATERIAL+OPTION2-3S", cwd=tmp_path).code != 0
