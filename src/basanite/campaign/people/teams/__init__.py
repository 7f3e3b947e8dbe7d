"""Teams of a campaign: asked for, granted, made; members asked and approved; handed over, left, merged, split (M61).

One person is in one team of a campaign (X-7), and in none who judges it (X-4). Every step is told by mail.
"""

from basanite.campaign.people.teams.changing import hand_over, leave, merge, split
from basanite.campaign.people.teams.joining import (
    accept_invitation,
    ask_to_join,
    decide_join,
    invite,
    place_member,
    waiting,
)
from basanite.campaign.people.teams.making import (
    allow_naming,
    ask_to_lead,
    create_team,
    decide_lead,
    grant_team_maker,
    lead_requests,
)
from basanite.campaign.people.teams.reading import (
    Member,
    asked_team,
    find_team,
    lead_state,
    members,
    pi_of,
    require_pi,
    team_members,
    teams_to_join,
)

__all__ = [
    "Member",
    "accept_invitation",
    "allow_naming",
    "ask_to_join",
    "ask_to_lead",
    "asked_team",
    "create_team",
    "decide_join",
    "decide_lead",
    "find_team",
    "grant_team_maker",
    "hand_over",
    "invite",
    "lead_requests",
    "lead_state",
    "leave",
    "members",
    "merge",
    "pi_of",
    "place_member",
    "require_pi",
    "split",
    "team_members",
    "teams_to_join",
    "waiting",
]
