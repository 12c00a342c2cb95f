"""Budgets: what a campaign promised before it had one is covered, with a tenth more."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models
from django.db.models import F, Sum


def _cents(amount):
    return round((amount or 0) * 100)


def _promised(seats, person):
    """Return the most that who is at work can still be paid, as the pay rules have it."""
    done = seats.filter(participation=person, outcome__in=("COMPLETED", "PARTNER_LEFT")).count()
    return person.pay * done + max(person.pay, person.waiting_pay, person.screening_pay)


def _free_slots(apps, campaign):
    """Count conversations, or votes where there is no chat: never fewer than people are needed."""
    wanted = {"target": Sum("target"), "taken": Sum(F("reserved") + F("completed"))}
    for rows in (
        apps.get_model("webapp", "QuotaCell").objects.filter(system__campaign=campaign),
        apps.get_model("webapp", "Item").objects.filter(campaign=campaign),
    ):
        sums = rows.aggregate(**wanted)
        if sums["target"]:
            return max(0, sums["target"] - sums["taken"])
    return 0


def open_ledgers(apps, schema_editor):
    """Open the ledger of every campaign that was launched: it covers what was promised."""
    people = apps.get_model("webapp", "Participation").objects
    seats = apps.get_model("webapp", "Seat").objects
    for campaign in apps.get_model("webapp", "Campaign").objects.exclude(state="DRAFT"):
        spent = 0
        for name in ("CompletionCode", "Bonus"):
            rows = apps.get_model("webapp", name).objects
            sums = rows.filter(participation__campaign=campaign).aggregate(sum=Sum("amount"))
            spent += _cents(sums["sum"])
        reserved = 0
        for person in people.filter(campaign=campaign).exclude(state="ENDED"):
            amount = _promised(seats, person)
            people.filter(pk=person.pk).update(reserved_pay=amount)
            reserved += _cents(amount)
        each = _cents(campaign.pay + campaign.waiting_pay + campaign.screening_pay)
        free = _free_slots(apps, campaign)
        apps.get_model("webapp", "PayLedger").objects.create(
            campaign=campaign,
            budget=spent + reserved + each * (free + -(-free // 10)),
            reserved=reserved,
            spent=spent,
        )


class Migration(migrations.Migration):

    dependencies = [
        ("webapp", "0030_tally"),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='budget',
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='hold_unusual',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='participation',
            name='reserved_pay',
            field=models.DecimalField(decimal_places=2, default=0, max_digits=9),
        ),
        migrations.CreateModel(
            name='PayLedger',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('budget', models.PositiveBigIntegerField()),
                ('reserved', models.PositiveBigIntegerField(default=0)),
                ('spent', models.PositiveBigIntegerField(default=0)),
                ('held_at', models.DateTimeField(blank=True, null=True)),
                ('held_because', models.CharField(blank=True, max_length=10)),
                ('looked_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='webapp.campaign')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('budget__gte', django.db.models.expressions.CombinedExpression(models.F('reserved'), '+', models.F('spent')))), name='never_over_budget'), models.CheckConstraint(condition=models.Q(('reserved__gte', 0), ('spent__gte', 0)), name='no_negative_pay')],
            },
        ),
        migrations.RunPython(open_ledgers, migrations.RunPython.noop, elidable=True),
    ]
