"""The sentences that scripts of the annotation pages say; they stand in the catalogue like all others (P-33)."""

from __future__ import annotations

from typing import Any

from basanite.server.catalogue import said, sentence


def words() -> dict[str, Any]:
    """Every sentence by the name that scripts know it by; what stands in braces is put in there."""
    return _form() | _marks() | _saving() | _review()


def _form() -> dict[str, Any]:
    return {
        "yes": said("Yes"),
        "no": said("No"),
        "none": said("– none –"),
        "gone": said("(removed)"),
        "add": _open(sentence("Add {what}"), "what"),
        "addRow": said("Add a row"),
        "addRowTo": _open(sentence("Add a row: {what}"), "what"),
        "remove": _open(sentence("Remove {what}"), "what"),
        "removeRow": said("Remove"),
        "earlier": said("Earlier"),
        "later": said("Later"),
        "rowsOf": _open(sentence("{from} to {to} of {all}"), "from", "to", "all"),
        "moreMarks": _open(sentence("and {count} more in the text"), "count"),
        "noRows": said("None yet."),
        "clear": _open(sentence("Clear {field}"), "field"),
        "inferredShort": said("Inferred"),
        "inferredHelp": said("Tick this where the text lets one conclude it without saying it."),
        "note": said("Note"),
        "noteFor": _open(sentence("Note for {what}"), "what"),
    }


def _marks() -> dict[str, Any]:
    return {
        "take": said("Take"),
        "takeFor": _open(sentence("Take the selection for {field}"), "field"),
        "unmark": _open(sentence("Unmark “{text}”"), "text"),
        "selectFirst": said("Select words of the text first."),
        "markedAll": _open(sentence("{count} places marked."), "count"),
        "working": _open(sentence("Keys fill in {what} now."), "what"),
    }


def _saving() -> dict[str, Any]:
    return {
        "status": {
            "saved": said("All saved"),
            "saving": said("Saving …"),
            "offline": _open(
                sentence("No connection: {count} changes are kept in this browser and sent later"), "count"
            ),
            "signed-out": _open(
                sentence("Sign in again in another tab: {count} changes are kept here and sent then"), "count"
            ),
            "refused": said("Something was not taken"),
        },
        "refused": _open(sentence("Not taken: {why}"), "why"),
        "finishAnyway": _open(
            sentence("{count} contradictions are left. Press F8 again to finish all the same."), "count"
        ),
    }


def _review() -> dict[str, Any]:
    return {
        "found": _open(sentence("Remarks: {count}"), "count"),
        "nothingFound": said("No contradictions"),
        "why": said("Why?"),
        "kinds": {
            "contradiction": said("Contradiction:"),
            "incomplete": said("Incomplete:"),
            "undecided": said("Undecided:"),
            "mend": said("To mend:"),
            "follows": said("Follows:"),
        },
        "searching": said("Searching …"),
        "noHits": said("Nothing was found."),
        "hits": _open(sentence("{count} texts"), "count"),
        "places": _open(sentence("{count} places"), "count"),
    }


def _open(text: str, *names: str) -> str:
    """A sentence whose values the script puts in."""
    return said(text, **{name: f"{{{name}}}" for name in names})
