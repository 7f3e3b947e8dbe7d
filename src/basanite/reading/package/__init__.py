"""Reading packages: one folder with corpus, ontology, annotations, rules, queries and gold, read and checked."""

from basanite.reading.package.documents import Document
from basanite.reading.package.manifest import Manifest, Part, Phase
from basanite.reading.package.model import Package, read_package

__all__ = ["Document", "Manifest", "Package", "Part", "Phase", "read_package"]
