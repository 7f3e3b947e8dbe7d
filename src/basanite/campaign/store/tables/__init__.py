"""The tables, by what they are about. Nothing in them is ever deleted but links, sessions and personal data.

Import from here, so that all tables are known to the metadata: `from basanite.campaign.store.tables import Submission`.
"""

from basanite.campaign.store.tables.acts import (
    Announcement,
    Appeal,
    Approval,
    Certification,
    Message,
    MilestoneState,
    Question,
    ReadMark,
    Release,
    Webhook,
)
from basanite.campaign.store.tables.base import Base, Moment
from basanite.campaign.store.tables.guards import ADDED_TO, KEPT
from basanite.campaign.store.tables.log import Event, Worker
from basanite.campaign.store.tables.people import Account, Grant, Identity, Link, Person, Session, Token
from basanite.campaign.store.tables.plans import CampaignRow, Deviation, Freeze, PackFile, PlanVersion
from basanite.campaign.store.tables.results import (
    Adoption,
    Batch,
    BatchItem,
    Board,
    Receipt,
    ReceiptKey,
    Reference,
    Result,
)
from basanite.campaign.store.tables.submissions import Charge, Dropped, Extra, Sketch, Submission, Upload
from basanite.campaign.store.tables.teams import (
    Acceptance,
    AddressSeen,
    Download,
    DutyException,
    LeadRequest,
    Membership,
    Resource,
    Signature,
    Team,
)

__all__ = [
    "ADDED_TO",
    "KEPT",
    "Acceptance",
    "Account",
    "AddressSeen",
    "Adoption",
    "Announcement",
    "Appeal",
    "Approval",
    "Base",
    "Batch",
    "BatchItem",
    "Board",
    "CampaignRow",
    "Certification",
    "Charge",
    "Deviation",
    "Download",
    "Dropped",
    "DutyException",
    "Event",
    "Extra",
    "Freeze",
    "Grant",
    "Identity",
    "LeadRequest",
    "Link",
    "Membership",
    "Message",
    "MilestoneState",
    "Moment",
    "PackFile",
    "Person",
    "PlanVersion",
    "Question",
    "ReadMark",
    "Receipt",
    "ReceiptKey",
    "Reference",
    "Release",
    "Resource",
    "Result",
    "Session",
    "Signature",
    "Sketch",
    "Submission",
    "Team",
    "Token",
    "Upload",
    "Webhook",
    "Worker",
]
