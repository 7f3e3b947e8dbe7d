"""The routers of all pages, in the order in which an address is looked up."""

from __future__ import annotations

from basanite.server.pages import (
    account,
    annotation_adjudication,
    annotation_projects,
    annotation_start,
    annotation_workbench,
    announcements,
    campaign,
    campaign_create,
    campaign_face,
    compare,
    demo,
    judge,
    judge_desk,
    judge_items,
    leaderboard,
    leaderboard_charts,
    leaderboard_exports,
    operators,
    organiser_communication,
    organiser_data,
    organiser_edit,
    organiser_home,
    organiser_import,
    organiser_log,
    organiser_people,
    organiser_plan,
    organiser_results,
    organiser_submissions,
    organiser_teams,
    packs,
    panel_adjudication,
    panel_create,
    panel_dashboard,
    panel_items,
    panel_judges,
    panel_results,
    program,
    reading,
    reading_gold,
    reading_question,
    results,
    sign_in,
    site,
    submissions,
    submit,
    teams,
    transcripts,
)

GENERAL = (
    site,
    sign_in,
    account,
    campaign_create,
    campaign,
    campaign_face,
    packs,
    leaderboard,
    leaderboard_charts,
    leaderboard_exports,
    announcements,
    operators,
    program,
)
PARTICIPANTS = (submit, submissions, transcripts, compare, teams, results)
ORGANIZERS = (
    organiser_home,
    organiser_people,
    organiser_import,
    organiser_teams,
    organiser_plan,
    organiser_edit,
    organiser_data,
    organiser_results,
    organiser_submissions,
    organiser_communication,
    organiser_log,
)
PANELS = (panel_create, panel_dashboard, panel_items, panel_judges, panel_results, panel_adjudication)
JUDGES = (judge, judge_items, judge_desk)
ANNOTATORS = (annotation_adjudication, annotation_workbench, annotation_start, annotation_projects)
READERS = (reading, reading_gold, reading_question)
PAGES = (*GENERAL, *PARTICIPANTS, *ORGANIZERS, *PANELS, *JUDGES, *ANNOTATORS, *READERS, demo)
ROUTERS = tuple(page.ROUTER for page in PAGES)
"""Addresses that are fixed come before those that name something, which would match them too."""
