"""`basanite admin question|mail`: answering what people ask, and writing to a role after a preview (P-34)."""

from __future__ import annotations

from pathlib import Path

import click

from basanite.cli.admin.desk import admin_options, at_desk, campaign_option, show, table, the_campaign
from basanite.cli.admin.season.rescoring import NEWEST, newest
from basanite.cli.options import example


@click.group(epilog=example("basanite admin question list --data season"))
def question() -> None:
    """List the questions of people, and answer them."""


@question.command("list", epilog=example("basanite admin question list --open --data season"))
@click.option("--open", "waiting", is_flag=True, help="Only those without an answer.")
@campaign_option
@admin_options
def list_questions(waiting: bool, campaign: str, data: Path | None, mail: str | None, as_json: bool) -> None:
    """List questions with their answers, the newest first."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.viewer import Viewer
        from basanite.campaign.people.saying.questions import questions

        organiser = Viewer(roles=frozenset({"evaluation"}))
        listed = questions(desk.session, the_campaign(desk, campaign).row.id, organiser)
        found = [one for one in listed if one.answered is None or not waiting]
    columns = ["id", "at", "by", "text", "answer", "answered", "shown"]
    rows = [{name: getattr(one, name) for name in columns} for one in found]
    show({"questions": rows}, table(rows, columns, empty="There are no questions."), json=as_json)


@question.command(
    "answer", epilog=example('basanite admin question answer newest "Both archives are taken." --data season')
)
@click.argument("which", metavar="QUESTION")
@click.argument("text")
@click.option("--private", is_flag=True, help="For the asker alone; otherwise everybody can read it.")
@campaign_option
@admin_options
def answer(
    which: str, text: str, private: bool, campaign: str, data: Path | None, mail: str | None, as_json: bool
) -> None:
    """Answer a question (an id, or the newest without an answer); the asker is told."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.model.viewer import Viewer
        from basanite.campaign.people.saying.questions import answer_question, questions

        organiser = Viewer(roles=frozenset({"evaluation"}))
        if which == NEWEST:
            listed = questions(desk.session, the_campaign(desk, campaign).row.id, organiser)
            which = newest([one for one in reversed(listed) if one.answered is None], "question without an answer")
        row = answer_question(desk.session, desk.office, desk.actor, which, text, shown=not private)
    show({"question": row.id, "shown": row.shown}, ["Answered, and the asker is told."], json=as_json)


@click.command(epilog=example('basanite admin mail pis "Next week" "The week opens on Monday." --data season'))
@click.argument("audience")
@click.argument("title")
@click.argument("text")
@click.option("--send", metavar="KEY", default="", help="Send what the preview with this key showed.")
@campaign_option
@admin_options
def mail(
    audience: str,
    title: str,
    text: str,
    send: str,
    campaign: str,
    data: Path | None,
    mail: str | None,
    as_json: bool,
) -> None:
    """Write to an AUDIENCE (everybody, teams, pis, judges …): shows who would get what, and with --send sends it."""
    with at_desk(data, mail, json=as_json) as desk:
        from basanite.campaign.people.saying import mailing

        campaign_id = the_campaign(desk, campaign).row.id
        who = (desk.session, desk.office, desk.actor, campaign_id)
        if send:
            seen = mailing.send_previewed(*who, audience=audience, title=title, text=text, key=send)
        else:
            seen = mailing.preview(*who, audience=audience, title=title, text=text)
    receivers = f"{len(seen.persons)} receivers"
    lines = [f"Sent to {receivers}."] if send else [f"To {receivers}:", seen.subject, "", *seen.body.splitlines()]
    lines += [] if send else ["", f"Nothing is sent yet. To send it: --send {seen.key}"]
    shown = {"sent": bool(send), "receivers": list(seen.persons), "subject": seen.subject, "body": seen.body}
    show(shown | {"key": seen.key}, lines, json=as_json)


__all__ = ["mail", "question"]
