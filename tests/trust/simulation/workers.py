"""What sweepers do, and reply workers, whose claims may outlive their lease."""

from __future__ import annotations

from datetime import timedelta

from tests.trust.simulation.model import Action, Soul, World


def sweep(world: World, soul: Soul) -> None:
    from webapp.services.ops import sweeper

    sweeper.tick(world.now)


def claim(world: World, soul: Soul) -> None:
    """Claim what waits; the answer comes later, or never."""
    from webapp.services.replies import queue

    world.claims += queue.claim(bot="parrot", owner="worker")


def answer(world: World, soul: Soul) -> None:
    from webapp.services.replies import delivery

    if world.claims:
        job = world.claims.pop(world.chance.randrange(len(world.claims)))
        delivery.answer([delivery.BotAnswer(job, "I see.", {})])


def expire(world: World, soul: Soul) -> None:
    """Let leases run out, as where a worker died or stalls; it may answer later all the same."""
    from django.db.models.functions import Now

    from webapp.models import ReplyJob

    past = Now() - timedelta(seconds=1)
    ReplyJob.objects.filter(state="CLAIMED").update(lease_until=past)
    ReplyJob.objects.filter(state="QUEUED", lease_until__isnull=False).update(lease_until=past)


def serve(world: World, soul: Soul) -> None:
    """Claim and answer all that is owed, also what a worker held that died: none may be left."""
    from webapp.models import ReplyJob

    expire(world, soul)
    claim(world, soul)
    while world.claims:
        answer(world, soul)
        if not world.claims:
            claim(world, soul)
    held = ReplyJob.objects.filter(state="CLAIMED", attempt__lt=3, conversation__state="OPEN")
    stuck = held.filter(conversation__campaign=world.campaign).values_list("pk", "owner")
    world.must(not stuck, f"nobody else gets {[*stuck]}, whose worker is dead")


def change_pay(world: World, soul: Soul) -> None:
    """Let staff offer another pay: who has consented was promised the former one (R21)."""
    from webapp.models import Campaign

    pay = world.chance.choice(("1.60", "2.00", "2.40"))
    Campaign.objects.filter(pk=world.campaign.pk).update(pay=pay)


PLATFORM: tuple[Action, ...] = (
    *(sweep, sweep, claim, claim, answer, answer, answer, answer),
    *([serve] * 6),
    *(expire, expire, change_pay),
)
