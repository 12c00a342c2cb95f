"""A campaign, the systems it evaluates, and how many of each are wanted."""

from __future__ import annotations

import secrets
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.registry import protocol_names
from webapp import clock
from webapp.models.account import Project
from webapp.models.counted import Counted
from webapp.models.own_protocol import OwnProtocol
from webapp.models.row import Row
from webapp.models.study import Study

PEOPLE = "people"  # the bot name of a system that is another participant
IMPORTED = "imported"  # the bot name of a system whose replies a requester imported


def new_slug() -> str:
    """Return an address part that cannot be guessed; commands would take a dash for an option."""
    while (slug := secrets.token_urlsafe(9)).startswith("-"):
        pass
    return slug


def english() -> list[str]:
    return ["en"]


def protocol_choices() -> list[tuple[str, str]]:
    return [(name, name) for name in protocol_names()]


class Campaign(models.Model):
    """One protocol with its people. What shapes it is fixed in `plan` when it opens."""

    class State(models.TextChoices):
        DRAFT = "DRAFT", "draft"
        OPEN = "OPEN", "open"
        PAUSED = "PAUSED", "paused"
        STOPPED = "STOPPED", "stopped"
        CLOSED = "CLOSED", "complete"

    class QuitRule(models.TextChoices):
        """What stopping of one's own accord pays."""

        SHARE = "SHARE", "pro rata: the share of the minimum that was reached"
        FULL = "FULL", "in full"
        MINIMUM = "MINIMUM", "nothing before the minimum, in full from there on"

    class Panel(models.TextChoices):
        """Who takes part. Each panel has a campaign, and so a link, of its own."""

        WORKER = "worker", "workers, who are paid"
        VOLUNTEER = "volunteer", "volunteers"
        EXPERT = "expert", "experts"

    class Platform(models.TextChoices):
        """Where people come from; a link that names another platform is refused."""

        ANY = "", "anybody who has the link"
        PROLIFIC = "prolific", "people of Prolific, by its id in the link"
        MTURK = "mturk", "people of Mechanical Turk, by its id in the link"
        PANEL = "panel", "people of another panel, by ?id= in the link"
        VOLUNTEER = "volunteer", "volunteers, without an id"
        INVITED = "invited", "only people with a signed invitation"

    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=20, unique=True, default=new_slug)
    protocol = models.CharField(max_length=60, choices=protocol_choices)
    # the version that it was made from, where a requester built the protocol
    own_protocol = models.ForeignKey(
        OwnProtocol, models.PROTECT, null=True, blank=True, related_name="campaigns"
    )
    changes = models.JSONField(default=dict, blank=True)  # settings that depart from the protocol
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    project = models.ForeignKey(Project, models.PROTECT, related_name="campaigns")
    study = models.ForeignKey(Study, models.PROTECT, null=True, blank=True, related_name="phases")
    phase = models.CharField(max_length=60, blank=True)  # its name within the study
    panel = models.CharField(max_length=10, choices=Panel, default=Panel.WORKER)
    platform = models.CharField(max_length=10, choices=Platform, blank=True, default=Platform.ANY)

    consent = models.TextField()  # Markdown
    contact = models.CharField(max_length=200)
    # Shown where words of a participant suggest a crisis; "" is the server's. Phrases that do are
    # one a line, besides the usual ones.
    crisis_text = models.TextField(blank=True, default="", db_default="")
    crisis_phrases = models.TextField(blank=True, default="", db_default="")
    # days after its end after which what people wrote and answered is deleted; None: it is kept
    keep_days = models.PositiveIntegerField(null=True, blank=True)
    minutes = models.PositiveSmallIntegerField(default=10)
    # codes of the languages that participants may read its pages in; the first is the usual one
    languages = models.JSONField(default=english)
    # by language and field the words of the instrument that the requester translated
    translations = models.JSONField(default=dict, blank=True)
    currency = models.CharField(max_length=3, default="USD")
    pay = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    waiting_pay = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    screening_pay = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    # of codes and bonuses together; empty: what all places cost at the launch
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    hold_unusual = models.BooleanField(default=False)  # no new places at odd rates of stopping
    hold_payments = models.BooleanField(default=False, db_default=False)  # that look odd
    quit_rule = models.CharField(max_length=8, choices=QuitRule, default=QuitRule.SHARE)
    # messages of both sides, or replies judged: who stops below is paid nothing
    least_work = models.PositiveSmallIntegerField(default=4)
    return_url = models.URLField(blank=True)  # the panel's completion address, takes the code
    screened_url = models.URLField(blank=True)  # the same for who did not pass a check
    wait_seconds = models.PositiveSmallIntegerField(default=300)
    reply_seconds = models.PositiveSmallIntegerField(default=60)
    # share of a rehearsal's replies that may be empty, cut, filtered, canned, repeated or failed
    troubled_percent = models.PositiveSmallIntegerField(default=0)
    # tokens of one's own models, and their cost in the currency; None: no limit
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    token_cost = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    conversation_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    conversation_cost = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    bot_when_alone = models.BooleanField(default=False)  # offer a bot if no partner arrives
    partner_left_counts = models.BooleanField(default=False)
    # the rule of stopping early, in points of the question's scale; no difference, no rule
    stop_question = models.CharField(max_length=60, blank=True)
    stop_difference = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    stop_alpha = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.05"))
    stop_margin = models.DecimalField(max_digits=9, decimal_places=3, null=True, blank=True)
    stop_items = models.PositiveIntegerField(null=True, blank=True)  # the most of each pair
    stop_recruiting = models.BooleanField(default=False)  # pause once every pair is decided
    # A researcher's own answers to the datasheet, by the form's numbers (analysis.output.heds_own).
    datasheet = models.JSONField(
        default=dict, blank=True, db_default=models.Value({}, models.JSONField())
    )
    decided_at = models.DateTimeField(null=True, blank=True)  # when that paused it, once for all
    seed = models.PositiveIntegerField(default=0)

    plan = models.JSONField(null=True, blank=True)
    plan_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    opened_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)  # out of the list, else unchanged

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("study", "phase"), name="one_phase_of_a_name"),
            models.CheckConstraint(
                condition=Q(study__isnull=True) ^ ~Q(phase=""),
                name="a_phase_exactly_in_a_study",
            ),
        )

    def __str__(self) -> str:
        return self.name


class System(models.Model):
    """What is under evaluation: a bot with its options, or people."""

    class Rehearsal(models.TextChoices):
        UNTESTED = "UNTESTED", "not tested"
        QUEUED = "QUEUED", "being tested"
        PASSED = "PASSED", "passed"
        FAILED = "FAILED", "failed"

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="systems")
    name = models.SlugField(max_length=60)
    bot = models.CharField(max_length=60)
    options = models.JSONField(default=dict, blank=True)
    sees_persona = models.BooleanField(default=True)
    is_control = models.BooleanField(default=False)  # the worst by design, which raters must see
    rehearsal = models.CharField(max_length=10, choices=Rehearsal, default=Rehearsal.UNTESTED)
    rehearsal_note = models.TextField(blank=True)
    rehearsed_at = models.DateTimeField(null=True, blank=True)
    version = models.JSONField(default=dict, blank=True)  # model version and parameter hash

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "name"), name="one_system_of_a_name"),
            models.UniqueConstraint(
                fields=("campaign",), condition=Q(is_control=True), name="one_control"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_people(self) -> bool:
        return self.bot == PEOPLE

    @property
    def is_bot(self) -> bool:
        """Whether reply workers answer for it."""
        return self.bot not in (PEOPLE, IMPORTED)


class QuotaCell(Counted):
    """How many participations a system gets; only for protocols with a chat."""

    system = models.OneToOneField(System, models.PROTECT, related_name="cell")

    class Meta(Counted.Meta):
        pass


class PowerPlan(Row):
    """What a requester asked the planner of a campaign, and what simulation answered."""

    campaign = models.OneToOneField(Campaign, models.PROTECT, related_name="power_plan")
    params = models.JSONField(default=dict)  # texts by field, as they were typed
    revision = models.PositiveIntegerField(default=0)  # grows when something else is asked
    pilot_name = models.CharField(max_length=200, blank=True)
    pilot = models.BinaryField(null=True)  # an uploaded table, until its variances are learned
    learned = models.JSONField(default=dict)  # of the pilot: variances by question, or why not
    found = models.JSONField(null=True)  # the answer to `params`; None until it is computed


class Amendment(Row):
    """A visible change of an open campaign: the plan itself stays as it was."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="amendments")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(default=clock.now)
    text = models.TextField()

    class Meta:
        ordering = ("id",)
        constraints = (models.CheckConstraint(condition=~Q(text=""), name="amendment_says_what"),)
