"""The files of an end-to-end submission: one folder for each query, with its rows, metadata and images (M40-M49)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from basanite.formats.archives.members import Member, member_digest
from basanite.formats.retrieval.detection_key import SUFFIX as ROWS
from basanite.formats.retrieval.detection_lines import most_lines
from basanite.formats.retrieval.image_header import check_image
from basanite.formats.retrieval.summary_metadata import IMAGE_SUFFIXES, SummaryName, SummaryRules, read_summary
from basanite.formats.retrieval.summary_metadata import SUFFIX as METADATA
from basanite.formats.retrieval.summary_rows import split_rows
from basanite.problems import Findings, Problem
from basanite.tasks.clir import ClirRun
from basanite.tasks.retrieval.decisions import Examined

LIKE_IMAGES = (*IMAGE_SUFFIXES, ".jpeg", ".gif")
LAYOUT = "one folder for each query: <QueryID>/<QueryID>.tsv and, for each returned document, a .json and an image"


@dataclass(frozen=True)
class RowsPart:
    """What a query's rows promise: for each returned document the line and the name of its summary."""

    query: str
    summaries: Mapping[str, tuple[int, str]]
    unnamed: frozenset[str] = frozenset()
    """Returned documents whose summary has no proper name."""


@dataclass(frozen=True)
class MetadataPart:
    """A metadata file: its path, and the path of the image it names (none where it could not be read)."""

    path: str
    image: str | None


@dataclass(frozen=True)
class ImagePart:
    """An image file, and the digest of its bytes."""

    path: str
    digest: str = ""


@dataclass
class Folders:
    """Which files there are and which there should be; what belongs together is forgotten as soon as all of it is here.

    So memory holds one query at a time for archives in the usual order, and everything at worst.
    """

    promised: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By the path of a metadata file: the rows and the line that promise it."""
    images: dict[str, str | None] = field(default_factory=dict)
    """By the path of a metadata file that is there: the path of its image."""
    pictures: set[str] = field(default_factory=set)
    digests: dict[str, str] = field(default_factory=dict)
    """By the path of an image that is not settled yet."""
    shown: dict[tuple[str, str], str] = field(default_factory=dict)
    """For each query and document whose files are all here: the digest of the image that judges see."""
    unnamed: set[tuple[str, str]] = field(default_factory=set)
    """Queries and documents whose row names no proper summary, so that files of theirs are nobody's orphans."""

    def take(self, part: RowsPart | MetadataPart | ImagePart) -> None:
        """Note one file."""
        if isinstance(part, RowsPart):
            self._promise(part)
        elif isinstance(part, MetadataPart):
            self.images[part.path] = part.image
            self._settle(part.path)
        else:
            self.pictures.add(part.path)
            self.digests[part.path] = part.digest
            self._settle(_metadata_of(part.path))

    def _promise(self, part: RowsPart) -> None:
        rows = rows_path(part.query)
        self.unnamed |= {(part.query, document) for document in part.unnamed}
        for line, name in part.summaries.values():
            path = f"{part.query}/{name}"
            self.promised[path] = (rows, line)
            self._settle(path)

    def _settle(self, path: str) -> None:
        """Forget a summary of which row, metadata and image have been seen."""
        image = self.images.get(path)
        if image in self.pictures and path in self.promised:
            del self.promised[path], self.images[path]
            self.pictures.discard(str(image))
            self._show(path, self.digests.pop(str(image)))

    def _show(self, path: str, digest: str) -> None:
        query, _, name = path.partition("/")
        if (parts := SummaryName.parse(name)) is not None:
            self.shown[query, parts.document] = digest

    def problems(self, told: Collection[str]) -> Iterator[Problem]:
        """Everything promised is there, and nothing else is (M42); folders of which more has been told are passed."""
        for path, (rows, line) in self.promised.items():
            if path not in self.images:
                yield _folder_problem(rows, line, path, "the metadata file of this summary is missing", f"add {path}")
        for path, image in self.images.items():
            if path not in self.promised and not self._is_told(path, told):
                yield _folder_problem(path, None, path, "no returned document has this summary", "leave it out")
            elif image is not None and image not in self.pictures:
                yield _folder_problem(path, None, image, "the image of this summary is missing", f"add {image}")
        for path in sorted(self.pictures - set(self.images.values())):
            if self.images.get(_metadata_of(path), "") is not None and not self._is_told(path, told):
                yield _folder_problem(path, None, path, "no metadata file names this image", "leave it out")

    def _is_told(self, path: str, told: Collection[str]) -> bool:
        """Whether what is wrong with a file's row or folder has been said already."""
        folder, name = path.split("/", 1)
        parts = SummaryName.parse(_metadata_of(name))
        return folder in told or (parts is not None and (folder, parts.document) in self.unnamed)


def rows_path(query: str) -> str:
    """Where the rows of a query lie.

    >>> rows_path("query123")
    'query123/query123.tsv'
    """
    return f"{query}/{query}{ROWS}"


def _metadata_of(path: str) -> str:
    """The metadata file that an image, or it itself, belongs to."""
    return path.rpartition(".")[0] + METADATA


def _folder_problem(file: str, line: int | None, found: str, message: str, fix: str) -> Problem:
    return Problem("M42", file, line, None, message, fix, found=found)


class SummariesRun(ClirRun):
    """A submission with summaries: what CLIR reads, and a folder of metadata and images for each query."""

    rules: SummaryRules
    """What metadata are compared with; set when the run is opened."""

    folders: Folders

    def file_of(self, target: str) -> str:
        """Where the rows of a query belong."""
        return rows_path(target)

    def examine(self, piece: Member) -> Examined:
        """Read one file by what its name says it is."""
        findings = Findings(self._limit)
        folder, _, name = piece.name.rpartition("/")
        examined = Examined(piece.name, len(piece.data), member_digest(piece.data), None, findings)
        if not folder:
            findings.add(_folder_problem(piece.name, None, piece.name, "this file is in no folder", LAYOUT))
        elif name == folder + ROWS:
            return self._rows(replace(examined, target=folder), piece.data)
        elif name.endswith(METADATA):
            return replace(examined, part=self._metadata(piece, folder, findings))
        elif name.lower().endswith(LIKE_IMAGES):
            findings.extend(check_image(piece.name, piece.data))
            return replace(examined, part=ImagePart(piece.name, examined.sha256))
        else:
            findings.add(_folder_problem(piece.name, None, piece.name, "this file does not belong here", LAYOUT))
        return examined

    def _rows(self, examined: Examined, data: bytes) -> Examined:
        query = examined.target
        if query is None or query not in self._targets:
            return examined
        if data.count(b"\n") > most_lines(len(self.key.documents)):
            return self._read(examined, data)  # refused there, unread
        rows = split_rows(data, examined.member, query, self.rules, examined.findings)
        read = self._read(examined, rows.data)
        return replace(read, part=RowsPart(query, rows.summaries, rows.unnamed))

    def _metadata(self, piece: Member, folder: str, findings: Findings) -> MetadataPart:
        summary = read_summary(piece.name, piece.data, self.rules, findings)
        name = SummaryName.parse(piece.name)
        if name is not None and name.query != folder:
            message = f"a summary of {name.query} lies in the folder of {folder}"
            findings.add(_folder_problem(piece.name, None, name.query, message, f"put it into {name.query}/"))
        return MetadataPart(piece.name, None if summary is None else f"{folder}/{summary.image}")

    def take(self, examined: Examined, findings: Findings) -> None:
        """Take in one file."""
        super().take(examined, findings)
        if examined.part is not None:
            self.folders.take(examined.part)

    def close(self, findings: Findings) -> None:
        """Check the whole: queries, threshold, and what lies in the folders."""
        super().close(findings)
        if self.source.complete:
            missing = self._targets - self.spans.keys()
            findings.extend(self.folders.problems(missing.union(self._extra)))
