"""Replies that nobody got, since their conversation was over, are no longer called shown or failed."""

from django.db import migrations, models

LATE = "the answer came after the job had gone to another worker, or was given up"


def mark(apps, schema_editor):
    calls = apps.get_model("webapp", "ReplyCall").objects.filter(job__state="DROPPED")
    was_shown, was_late = models.Q(outcome="SHOWN"), models.Q(outcome="FAILED", error=LATE)
    calls.filter(was_shown | was_late).update(outcome="UNWANTED", error="")


class Migration(migrations.Migration):
    dependencies = [("webapp", "0050_panel_parts_and_hooks")]
    operations = [
        migrations.AlterField(
            model_name="replycall",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("SHOWN", "shown"),
                    ("REFUSED", "refused by the protocol"),
                    ("FAILED", "failed"),
                    ("UNWANTED", "not shown: the conversation was over"),
                ],
                max_length=8,
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
