"""Several conversations per participation: their order, and how its part in each ended."""

from django.db import migrations, models
from django.db.models import Max, OuterRef, Subquery

OUTCOMES = [
    ("COMPLETED", "completed"),
    ("PARTNER_LEFT", "partner left"),
    ("FAILED", "we failed"),
    ("STOPPED", "campaign stopped"),
    ("NOBODY", "waited, nobody came"),
    ("LEFT", "left and did not return"),
    ("FULL", "full before any work"),
    ("DECLINED", "declined before any work"),
    ("QUIT", "stopped of their own accord"),
]


def carry_over(apps, schema_editor):
    """What was the participation's end is that of the last conversation, the only one that was."""
    seats = apps.get_model("webapp", "Seat").objects
    last = seats.exclude(participation=None).values("participation").annotate(last=Max("pk"))
    people = apps.get_model("webapp", "Participation").objects.filter(pk=OuterRef("participation"))
    ended = seats.filter(pk__in=last.values("last"), participation__state="ENDED")
    ended.update(outcome=Subquery(people.values("outcome")))


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0006_quit_rule"),
    ]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="outcome",
            field=models.CharField(blank=True, choices=OUTCOMES, default="", max_length=14),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="seat",
            name="round",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="participation",
            name="planned",
            field=models.JSONField(default=list),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop, elidable=True),
    ]
