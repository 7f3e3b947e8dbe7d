"""Queries: read, generated, chosen, worded, answered, and written as SPARQL."""

from basanite.reading.queries.evaluation import Answer, StatementIndex, answers, has_answer
from basanite.reading.queries.file import read_queries
from basanite.reading.queries.generation import Choice, all_queries, answerable, choose
from basanite.reading.queries.model import Query
from basanite.reading.queries.sparql import sparql
from basanite.reading.queries.wording import question

__all__ = [
    "Answer",
    "Choice",
    "Query",
    "StatementIndex",
    "all_queries",
    "answerable",
    "answers",
    "choose",
    "has_answer",
    "question",
    "read_queries",
    "sparql",
]
