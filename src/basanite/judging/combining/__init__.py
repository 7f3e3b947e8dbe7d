"""From judgements to files: each of a declared format, with the rule by which it was combined and what is undecided."""

from basanite.judging.combining.deciding import Decided, decide, rule_of
from basanite.judging.combining.making import Made, digest_of_judgements, files_of

__all__ = ("Decided", "Made", "decide", "digest_of_judgements", "files_of", "rule_of")
