"""Who writes the first message of a conversation; so far a bot's fixed opening told."""

from django.db import migrations, models

OPENING = 0  # what a message answers that opens a conversation


def carry_over(apps, schema_editor):
    """Where a bot opened, its side began."""
    openings = apps.get_model("webapp", "Event").objects.filter(in_reply_to=OPENING)
    conversations = apps.get_model("webapp", "Conversation").objects
    conversations.filter(pk__in=openings.values("conversation")).update(first_side=1)


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0007_rounds"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="first_side",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop, elidable=True),
    ]
