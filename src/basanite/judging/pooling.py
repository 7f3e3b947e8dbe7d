"""Pools as items to judge: query and document in the order of precedence, and no word on which run found it (M95)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from basanite.judging.items import Block, Item, item_of


def items_of_pool(
    pairs: Sequence[tuple[str, str]],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    *,
    new_id: Callable[[], str],
    lang: str = "",
) -> tuple[Item, ...]:
    """Items for the pairs that `formats.retrieval.pools.to_judge` gives, each with its texts; ids stand where none is.

    >>> items_of_pool([("q1", "d1")], {"q1": "rain"}, {"d1": "It rained."}, new_id=lambda: "x")[0].blocks[1].value
    'It rained.'
    """
    return tuple(
        item_of(
            [
                Block("query", queries.get(query, query)),
                Block("document", documents.get(document, document), lang=lang),
            ],
            {"query": query, "document": document, "order": str(order)},
            new_id=new_id,
        )
        for order, (query, document) in enumerate(pairs, start=1)
    )
