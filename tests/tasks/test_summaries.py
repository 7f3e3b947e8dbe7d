"""The files of end-to-end submissions: every rule about them, reached through `validate`, with its place."""

import io
import struct
import tarfile
import zlib

import pytest
from tests.tasks.folders import documents, packed, queries
from tests.tasks.summary_folders import IMAGE, base, metadata, run, summary_files

import basanite
from basanite.errors import InvalidInputError

RETURNED = [[1, 0, 1, 0], [0, 1, 0, 0]]
FIRST, SECOND = queries(2)
NAMES = documents(4)
ROWS = f"{FIRST}/{FIRST}.tsv"
JSON, PNG = f"{FIRST}/{base(FIRST, NAMES[0])}.json", f"{FIRST}/{base(FIRST, NAMES[0])}.png"


def found(tmp_path, files, **settings):
    """The problems of a submission of these files: rule, place, line."""
    findings = basanite.validate("e2e", **run(tmp_path, RETURNED, RETURNED, files=files), **settings)
    problems = [(one.rule, one.file, one.line) for one in findings.problems]
    assert findings.valid == (not any(one.severity == "reject" for one in findings.problems))
    return findings, problems


def changed(name, old, new):
    """The good files with the first occurrence of some bytes changed in one of them."""
    files = summary_files(RETURNED)
    assert old in files[name]
    return {**files, name: files[name].replace(old, new, 1)}


@pytest.mark.req("M40", "M41", "M42", "M43", "M45", "M46", "M47", "M48", "M49", "C24", case="good")
def test_a_good_submission_has_no_problem_as_folder_or_archive(tmp_path):
    files = summary_files(RETURNED)
    given = run(tmp_path, RETURNED, RETURNED)
    archive = packed(tmp_path / "Alpha.tgz", {"./" + name: files[name] for name in sorted(files, reverse=True)})
    for submission in (given["submission"], archive):
        findings = basanite.validate("e2e", **{**given, "submission": submission})
        assert findings.as_dict("e2e")["problems"] == []


# Rows


@pytest.mark.req("M40", case="bad")
@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("", "needs the name of its summary"),
        (f"{base(FIRST, NAMES[1])}.json", "another query or document"),
        (f"{base(SECOND, NAMES[0])}.json", "another query or document"),
        (f"{base(FIRST, NAMES[0], team='BBN')}.json", "no team is called 'BBN'"),
        (f"{base(FIRST, NAMES[0], team='Flair')}.json", "no team is called 'Flair'"),
        (f"{base(FIRST, NAMES[0], label='My-System')}.json", "letters and digits"),
        (f"{base(FIRST, NAMES[0], label='Système')}.json", "letters and digits"),
        (f"{base(FIRST, NAMES[0])}.txt", "not the name of a summary"),
        (f"{FIRST}/{base(FIRST, NAMES[0])}.json", "not the name of a summary"),
        ("summary.json", "not the name of a summary"),
    ],
)
def test_a_returned_row_names_its_own_summary_or_is_refused_with_its_line(tmp_path, field, message):
    files = changed(ROWS, f"{base(FIRST, NAMES[0])}.json".encode(), field.encode())
    findings, problems = found(tmp_path, files)
    assert problems == [("M40", ROWS, 1)]
    assert findings.problems[0].field == 4
    assert message in findings.problems[0].message


@pytest.mark.req("M40", case="bad")
def test_a_returned_row_of_three_fields_is_refused(tmp_path):
    _, problems = found(tmp_path, changed(ROWS, f"\t{base(FIRST, NAMES[0])}.json".encode(), b""))
    assert problems == [("M40", ROWS, 1)]


@pytest.mark.req("M40", "C27", case="good")
def test_the_registered_teams_can_be_set(tmp_path):
    files = {
        name.replace("FLAIR", "BBN"): data.replace(b"FLAIR", b"BBN") for name, data in summary_files(RETURNED).items()
    }
    assert {rule for rule, *_ in found(tmp_path / "one", files)[1]} == {"M40", "M44"}
    assert found(tmp_path / "two", files, teams="NIST,BBN")[1] == []


@pytest.mark.req("M41", case="bad")
@pytest.mark.parametrize("field", [f"{base(FIRST, NAMES[1])}.json", "none", " "])
def test_a_rejected_row_with_a_summary_is_refused_with_its_line(tmp_path, field):
    _, problems = found(tmp_path, changed(ROWS, b"N\t0.2\n", f"N\t0.2\t{field}\n".encode()))
    assert problems == [("M41", ROWS, 2)]


@pytest.mark.req("C21", "M41", case="good")
def test_a_rejected_row_has_three_fields_or_an_empty_fourth(tmp_path):
    empty = {name: data.replace(b"N\t0.2\n", b"N\t0.2\t\n") for name, data in summary_files(RETURNED).items()}
    assert found(tmp_path / "empty", empty)[1] == []
    assert found(tmp_path / "mixed", changed(ROWS, b"N\t0.2\n", b"N\t0.2\t\n"))[1] == []
    cut = {**empty, ROWS: empty[ROWS].removesuffix(b"\n")}
    assert found(tmp_path / "cut", cut)[1] == [("M23", ROWS, 4)], "a warning, and nothing about the empty field"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"\tY\t0.8", b"\ty\t0.8", ("M28", ROWS, 1)),
        (b"\tY\t0.8", b"\tY\t.8", ("M29", ROWS, 1)),
        (b"N\t0.2\n", b"N\t0.2\t\textra\n", ("M27", ROWS, 2)),
        (b"N\t0.2\n", b"N\n", ("M27", ROWS, 2)),
        (b"N\t0.2\n", b"N\t0.2\n\n", ("M23", ROWS, 3)),
    ],
)
@pytest.mark.req("M27", "M28", "M29", "M23", case="bad")
def test_the_other_rules_of_rows_keep_their_lines(tmp_path, old, new, problem):
    assert problem in found(tmp_path, changed(ROWS, old, new))[1]


@pytest.mark.req("M22", case="bad")
def test_carriage_returns_and_marks_are_told_once_and_not_as_wrong_names(tmp_path):
    files = summary_files(RETURNED)
    returns = {**files, ROWS: files[ROWS].replace(b"\n", b"\r\n")}
    marked = {**files, ROWS: b"\xef\xbb\xbf" + files[ROWS]}
    assert found(tmp_path / "returns", returns)[1] == [("M22", ROWS, 1)]
    assert found(tmp_path / "marked", marked)[1] == [("M22", ROWS, 1)]


@pytest.mark.req("M25", case="bad")
def test_a_folder_of_no_query_and_a_missing_one_are_told_once_each(tmp_path):
    files = {name.replace(SECOND, "query2"): data for name, data in summary_files(RETURNED).items()}
    findings, problems = found(tmp_path, files)
    assert ("M25", "query2/query2.tsv", None) in problems
    assert ("M25", f"{SECOND}/{SECOND}.tsv", None) in problems
    assert findings.problems[[rule for rule, *_ in problems].index("M25")].fix == f"rename it to {SECOND}/{SECOND}.tsv"
    assert "M42" not in findings.counts, "what lies in these folders is not told a second time"


# Folders


def without(*names):
    return {name: data for name, data in summary_files(RETURNED).items() if name not in names}


def more(*names):
    return {**summary_files(RETURNED), **dict.fromkeys(names, IMAGE)}


@pytest.mark.req("M42", case="bad")
@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (without(JSON, PNG), ("M42", ROWS, 1)),
        (without(PNG), ("M42", JSON, None)),
        (more(f"{FIRST}/{base(FIRST, NAMES[1])}.png"), ("M42", f"{FIRST}/{base(FIRST, NAMES[1])}.png", None)),
        (more(f"{FIRST}/{base(FIRST, NAMES[0])}.jpeg"), ("M42", f"{FIRST}/{base(FIRST, NAMES[0])}.jpeg", None)),
        (more("notes/picture.png"), ("M42", "notes/picture.png", None)),
        (more("picture.png"), ("M42", "picture.png", None)),
        (more(f"{FIRST}.tsv"), ("M42", f"{FIRST}.tsv", None)),
        (more(f"{FIRST}/{SECOND}.tsv"), ("M42", f"{FIRST}/{SECOND}.tsv", None)),
        (more(f"{FIRST}/README"), ("M42", f"{FIRST}/README", None)),
        (
            {**summary_files(RETURNED), f"{FIRST}/{base(FIRST, NAMES[1])}.json": metadata(FIRST, NAMES[1])},
            ("M42", f"{FIRST}/{base(FIRST, NAMES[1])}.json", None),
        ),
    ],
    ids=[
        "no metadata",
        "no image",
        "orphan image",
        "second image",
        "other folder",
        "at top level",
        "rows at top level",
        "rows of another query",
        "stranger",
        "orphan metadata",
    ],
)
def test_missing_and_stray_files_are_refused_with_their_place(tmp_path, files, problem):
    assert problem in found(tmp_path, files)[1]


@pytest.mark.req("M42", case="bad")
def test_an_image_without_its_metadata_is_told_with_the_row(tmp_path):
    _, problems = found(tmp_path, without(JSON))
    assert problems == [("M42", ROWS, 1), ("M42", PNG, None)]


@pytest.mark.req("M42", "C24", case="bad")
def test_a_folder_inside_a_querys_folder_is_refused(tmp_path):
    files = without(PNG)
    _, problems = found(tmp_path, {**files, PNG.replace("/", "/images/"): IMAGE})
    assert ("M42", JSON, None) in problems, "the image is not where it belongs"
    assert problems[0][0] == "M53"


@pytest.mark.req("M53", "C24", case="bad")
def test_a_folder_around_all_queries_is_refused_once_with_the_command(tmp_path):
    given = run(tmp_path, RETURNED, RETURNED)
    inside = {f"Alpha/{name}": data for name, data in summary_files(RETURNED).items()}
    findings = basanite.validate("e2e", **{**given, "submission": packed(tmp_path / "Alpha.tgz", inside)})
    assert [problem.rule for problem in findings.problems] == ["M53"]
    assert "tar zcf LABEL.tgz -C Alpha ." in findings.problems[0].fix


@pytest.mark.req("C22", "M42", case="bad")
def test_a_file_in_another_querys_folder_is_refused(tmp_path):
    moved = f"{SECOND}/{base(FIRST, NAMES[0])}"
    files = without(JSON, PNG) | {f"{moved}.json": metadata(FIRST, NAMES[0]), f"{moved}.png": IMAGE}
    _, problems = found(tmp_path, files)
    assert ("M42", f"{moved}.json", None) in problems
    assert ("M42", ROWS, 1) in problems


@pytest.mark.req("M54", case="bad")
def test_the_same_name_twice_is_refused(tmp_path):
    given = run(tmp_path, RETURNED, RETURNED)
    archive = tmp_path / "Alpha.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, data in (*summary_files(RETURNED).items(), (PNG, IMAGE)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    findings = basanite.validate("e2e", **{**given, "submission": archive})
    assert [(problem.rule, problem.file) for problem in findings.problems] == [("M54", PNG)]


@pytest.mark.req("M85", case="bad")
def test_more_members_than_the_task_can_have_end_the_reading(tmp_path):
    given = run(tmp_path, RETURNED, RETURNED)
    flood = packed(tmp_path / "Alpha.tgz", {f"{FIRST}/{number}.png": b"" for number in range(200)})
    findings = basanite.validate("e2e", **{**given, "submission": flood})
    assert findings.counts["M85"] == 1


# Metadata


@pytest.mark.parametrize(
    ("changes", "rule", "pointer"),
    [
        pytest.param({"extra": 1}, "M43", "", marks=pytest.mark.req("M43", case="bad")),
        pytest.param({"run_name": 7}, "M43", "/run_name", marks=pytest.mark.req("M43", case="bad")),
        pytest.param({"team_id": "flair"}, "M44", "/team_id", marks=pytest.mark.req("M44")),
        pytest.param({"sys_label": "My System"}, "M44", "/sys_label", marks=pytest.mark.req("M44")),
        pytest.param({"uuid": "dc91049e"}, "M44", "/uuid", marks=pytest.mark.req("M44")),
        pytest.param({"run_date_time": "2018-03-27"}, "M44", "/run_date_time", marks=pytest.mark.req("M44")),
        pytest.param({"query_id": SECOND}, "M45", "/query_id", marks=pytest.mark.req("M45", case="bad")),
        pytest.param({"document_id": NAMES[1]}, "M45", "/document_id", marks=pytest.mark.req("M45", case="bad")),
        pytest.param({"image_filename": "x.png"}, "M46", "/image_filename", marks=pytest.mark.req("M46", case="bad")),
        pytest.param(
            {"image_filename": f"{base(FIRST, NAMES[0])}.png.exe"},
            "M46",
            "/image_filename",
            marks=pytest.mark.req("M46", "C17", case="bad"),
        ),
        pytest.param({"content_list": []}, "M47", "/content_list", marks=pytest.mark.req("M47", case="bad")),
        pytest.param(
            {"content_list": ["word " * 50, "word " * 51]},
            "M47",
            "/content_list",
            marks=pytest.mark.req("M47", "C19", case="bad"),
        ),
    ],
)
def test_metadata_that_break_a_rule_are_refused_with_file_and_pointer(tmp_path, changes, rule, pointer):
    files = {**summary_files(RETURNED), JSON: metadata(FIRST, NAMES[0], **changes)}
    findings, problems = found(tmp_path, files)
    assert (rule, JSON, None) in problems
    assert {place for _, place, _ in problems} == {JSON}, "nothing follows from it elsewhere"
    assert any(problem.message.startswith(pointer) for problem in findings.problems if problem.rule == rule)


@pytest.mark.req("M47", case="bad")
def test_the_number_of_words_is_told(tmp_path):
    files = {**summary_files(RETURNED), JSON: metadata(FIRST, NAMES[0], content_list=["word"] * 100 + ["two words"])}
    findings, _ = found(tmp_path, files)
    assert "102 words" in [problem.found for problem in findings.problems]


@pytest.mark.req("M43", case="bad")
def test_a_file_that_is_no_json_is_told_once(tmp_path):
    _, problems = found(tmp_path, {**summary_files(RETURNED), JSON: b'{"team_id": "FLAIR"'})
    assert [(rule, place) for rule, place, _ in problems] == [("M43", JSON)]


@pytest.mark.req("M43", "C18")
def test_the_organisers_schema_takes_the_place_of_ours(tmp_path):
    own = tmp_path / "schema.json"
    own.write_text('{"type": "object", "required": ["licence"]}')
    findings, problems = found(tmp_path, summary_files(RETURNED), schema=str(own))
    assert {rule for rule, *_ in problems} == {"M43"}
    assert findings.counts["M43"] == 3


# Images


def animated(frames=3):
    """The picture with the chunks of an animation before its image data."""
    control = b"acTL" + struct.pack(">II", frames, 0)
    chunk = struct.pack(">I", 8) + control + struct.pack(">I", zlib.crc32(control))
    return IMAGE[:33] + chunk + IMAGE[33:]


def sized(width, height):
    """The picture with another size in its header."""
    header = b"IHDR" + struct.pack(">II", width, height) + IMAGE[24:29]
    return IMAGE[:12] + header + struct.pack(">I", zlib.crc32(header)) + IMAGE[33:]


@pytest.mark.parametrize(
    ("image", "rule", "told"),
    [
        pytest.param(sized(1023, 700), "M48", "1023 x 700", marks=pytest.mark.req("M48", "C16", case="bad")),
        pytest.param(sized(1024, 769), "M48", "1024 x 769", marks=pytest.mark.req("M48", "C16", case="bad")),
        pytest.param(b"GIF89a" + bytes(50), "M48", "GIF", marks=pytest.mark.req("M48", case="bad")),
        pytest.param(b"\xff\xd8\xff\xe0", "M48", "", marks=pytest.mark.req("M48", case="bad")),
        pytest.param(b"", "M48", "", marks=pytest.mark.req("M48", case="bad")),
        pytest.param(IMAGE[:-20], "M48", "truncated or damaged", marks=pytest.mark.req("M48", case="bad")),
        pytest.param(animated(), "M49", "frames", marks=pytest.mark.req("M49", case="bad")),
    ],
)
def test_an_image_that_breaks_a_rule_is_refused_with_what_was_found(tmp_path, image, rule, told):
    findings, problems = found(tmp_path, {**summary_files(RETURNED), PNG: image})
    assert {(rule, PNG, None)} == set(problems)
    assert any(told in problem.found for problem in findings.problems)


@pytest.mark.req("M48", "C16", case="good")
def test_the_largest_image_passes(tmp_path):
    assert found(tmp_path, {**summary_files(RETURNED), PNG: sized(1024, 768)})[1] == []


# The whole


@pytest.mark.req("M94")
def test_without_a_key_the_same_problems_are_found(tmp_path):
    files = {**changed(ROWS, b"\tY\t0.8", b"\ty\t0.8"), PNG: b""}
    given = run(tmp_path, RETURNED, RETURNED, files=files)
    documents_list, queries_list = tmp_path / "documents.txt", tmp_path / "queries.txt"
    documents_list.write_text("\n".join(NAMES) + "\n")
    queries_list.write_text(f"{FIRST}\n{SECOND}\n")
    lists = {"documents": documents_list, "queries": queries_list, "submission": given["submission"]}
    with_key, without_key = basanite.validate("e2e", **given), basanite.validate("e2e", **lists)
    assert with_key.as_dict("e2e") == without_key.as_dict("e2e")
    assert not with_key.valid


def test_all_problems_of_all_files_are_found_at_once_and_scoring_is_refused(tmp_path):
    files = {**changed(ROWS, b"N\t0.2\n", b"N\t0.2\tx\n"), JSON: metadata(FIRST, NAMES[0], uuid="x"), PNG: b"GIF89a"}
    given = run(tmp_path, RETURNED, RETURNED, votes=["RR", "RX", "NN"], files=files)
    with pytest.raises(InvalidInputError) as raised:
        basanite.score("e2e", **given)
    assert {"C45", "M41", "M44", "M48"} <= raised.value.findings.counts.keys()


def test_files_may_come_in_any_order(tmp_path):
    given, files = run(tmp_path, RETURNED, RETURNED), summary_files(RETURNED)
    bad = {name: data for name, data in files.items() if name not in (JSON, f"{SECOND}/{base(SECOND, NAMES[1])}.png")}
    told = []
    for number, order in enumerate([sorted(bad), sorted(bad, reverse=True)]):
        archive = packed(tmp_path / f"Alpha{number}.tgz", {name: bad[name] for name in order})
        problems = basanite.validate("e2e", **{**given, "submission": archive}).problems
        told.append(sorted((problem.rule, problem.file, problem.message) for problem in problems))
    assert told[0] == told[1]
    assert len(told[0]) == 3


def test_threads_change_nothing(tmp_path):
    given = run(tmp_path, RETURNED, RETURNED, files=without(JSON))
    one, two = (basanite.validate("e2e", **given, workers=workers) for workers in (1, 3))
    assert one.as_dict("e2e") == two.as_dict("e2e")


def test_nothing_is_left_in_memory_of_what_has_been_matched(tmp_path):
    from basanite.tasks.retrieval.summaries import Folders, ImagePart, MetadataPart, RowsPart

    folders = Folders()
    folders.take(RowsPart(FIRST, {NAMES[0]: (1, f"{base(FIRST, NAMES[0])}.json")}))
    folders.take(ImagePart(PNG))
    folders.take(MetadataPart(JSON, PNG))
    assert (folders.promised, folders.images, folders.pictures) == ({}, {}, set())
    assert list(folders.problems(())) == []


def test_a_repaired_copy_keeps_images_as_they_are(tmp_path):
    from basanite.formats.archives.archive import open_source
    from basanite.formats.archives.output import write_repaired

    files = {**summary_files(RETURNED), ROWS: summary_files(RETURNED)[ROWS].replace(b"\n", b"\r\n")}
    given = run(tmp_path, RETURNED, RETURNED, files=files)
    write_repaired(open_source(given["submission"], depth=2), tmp_path / "fixed")
    assert (tmp_path / "fixed" / PNG).read_bytes() == IMAGE
    assert basanite.validate("e2e", **{**given, "submission": tmp_path / "fixed"}).valid
