"""Promised pay: what each participation was shown at its consent, which now binds (R21)."""

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Subquery


def promise(apps, schema_editor):
    """Promise everybody what their campaign says now; who holds a full code, what it is worth."""
    Campaign = apps.get_model("webapp", "Campaign")
    CompletionCode = apps.get_model("webapp", "CompletionCode")
    Participation = apps.get_model("webapp", "Participation")
    campaign = Campaign.objects.filter(pk=OuterRef("campaign"))
    Participation.objects.update(
        **{name: Subquery(campaign.values(name)) for name in ("pay", "waiting_pay", "currency")}
    )
    full = CompletionCode.objects.filter(participation=OuterRef("pk"), kind="FULL")
    Participation.objects.filter(Exists(full)).update(pay=Subquery(full.values("amount")))


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0004_whitelist"),
    ]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="pay",
            field=models.DecimalField(decimal_places=2, default=0, max_digits=7),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="participation",
            name="waiting_pay",
            field=models.DecimalField(decimal_places=2, default=0, max_digits=7),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="participation",
            name="currency",
            field=models.CharField(default="USD", max_length=3),
            preserve_default=False,
        ),
        migrations.RunPython(promise, migrations.RunPython.noop, elidable=True),
    ]
