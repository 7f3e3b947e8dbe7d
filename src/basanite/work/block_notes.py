"""What judges read beside a block: the definition of a domain, and a query in plain words (M37, M87)."""

from __future__ import annotations

from basanite.formats.datasets.domains import Catalogue, Domain, shipped_domains
from basanite.formats.retrieval.query_language import Query, parse
from basanite.formats.retrieval.query_wording import query_in_words
from basanite.work.items import Block
from basanite.work.scheme import Scheme

CLIR = "clir"


def query_note(scheme: Scheme, block: Block) -> str:
    """What a query asks for in plain words, under a scheme whose queries have a notation; else empty.

    A query that does not follow the notation is left to speak for itself.
    """
    if scheme.notation != CLIR or block.kind != "query":
        return ""
    query = parse(block.value.strip())
    return query_in_words(query) if isinstance(query, Query) else ""


def known_domain(block: Block, catalogue: Catalogue | None = None) -> tuple[str, Domain] | None:
    """The title of a domain and its entry, given by code or name; None where the catalogue does not know it."""
    known = catalogue or shipped_domains()
    found = known.domains.get(known.codes.get(block.value, block.value)) if block.kind == "domain" else None
    if found is None:
        return None
    name = found.name if block.value == found.code else block.value
    return name.replace("-", " "), found
