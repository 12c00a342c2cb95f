"""The rows, and what the database itself refuses."""

from webapp.models.account import (
    FirstPassword,
    Member,
    Project,
    RecoveryCode,
    SecondFactor,
    StaffSession,
)
from webapp.models.campaign import (
    IMPORTED,
    PEOPLE,
    Amendment,
    Campaign,
    PowerPlan,
    QuotaCell,
    System,
)
from webapp.models.chat_service import ServiceCall, ServiceSeat, ServiceUpdate
from webapp.models.competition import Competition, Entry
from webapp.models.contribution import Contribution
from webapp.models.conversation import Conversation, Event, ReplyCall, ReplyJob, Seat
from webapp.models.model_server import Allowance, ModelServer, ServerKey
from webapp.models.own_protocol import OwnProtocol, ProtocolImage
from webapp.models.participation import AdmissionTry, Browser, Consent, ExternalId, Participation
from webapp.models.payment import Bonus, CompletionCode, PayHold, PayLedger, Receipt
from webapp.models.persona import Persona
from webapp.models.rating import Assignment, Candidate, Context, Item, Rating
from webapp.models.record import (
    AuditEntry,
    Flag,
    Heartbeat,
    LoginAttempt,
    Outage,
    ProblemReport,
    ReviewedAnswer,
    SentAlarm,
)
from webapp.models.recruiting import (
    PanelBatch,
    PanelCall,
    PanelEvent,
    PanelHook,
    PanelPayment,
    PanelStudy,
    PanelSubmission,
)
from webapp.models.result import StoredResult
from webapp.models.study import Study
from webapp.models.transcript import Control, TakenConversation, TranscriptNote
from webapp.models.whitelist import ListedReply, Whitelist

__all__ = [
    "IMPORTED",
    "PEOPLE",
    "AdmissionTry",
    "Allowance",
    "Amendment",
    "Assignment",
    "AuditEntry",
    "Bonus",
    "Browser",
    "Campaign",
    "Candidate",
    "Competition",
    "CompletionCode",
    "Consent",
    "Context",
    "Contribution",
    "Control",
    "Conversation",
    "Entry",
    "Event",
    "ExternalId",
    "FirstPassword",
    "Flag",
    "Heartbeat",
    "Item",
    "ListedReply",
    "LoginAttempt",
    "Member",
    "ModelServer",
    "Outage",
    "OwnProtocol",
    "PanelBatch",
    "PanelCall",
    "PanelEvent",
    "PanelHook",
    "PanelPayment",
    "PanelStudy",
    "PanelSubmission",
    "Participation",
    "PayHold",
    "PayLedger",
    "Persona",
    "PowerPlan",
    "ProblemReport",
    "Project",
    "ProtocolImage",
    "QuotaCell",
    "Rating",
    "Receipt",
    "RecoveryCode",
    "ReplyCall",
    "ReplyJob",
    "ReviewedAnswer",
    "Seat",
    "SecondFactor",
    "SentAlarm",
    "ServerKey",
    "ServiceCall",
    "ServiceSeat",
    "ServiceUpdate",
    "StaffSession",
    "StoredResult",
    "Study",
    "System",
    "TakenConversation",
    "TranscriptNote",
    "Whitelist",
]
