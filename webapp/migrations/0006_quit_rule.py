"""Rule of stopping early: the share of the work by default, in full where that was promised."""

from django.db import migrations, models

RULES = [
    ("SHARE", "pro rata: the share of the minimum that was reached"),
    ("FULL", "in full"),
    ("MINIMUM", "nothing before the minimum, in full from there on"),
]


def keep_promises(apps, schema_editor):
    """Campaigns that were launched have promised full pay after one word; drafts nothing yet."""
    launched = apps.get_model("webapp", "Campaign").objects.exclude(state="DRAFT")
    launched.update(quit_rule="FULL", least_work=1)


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0005_promised_pay"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="quit_rule",
            field=models.CharField(choices=RULES, default="SHARE", max_length=8),
        ),
        migrations.AddField(
            model_name="campaign",
            name="least_work",
            field=models.PositiveSmallIntegerField(default=4),
        ),
        migrations.AddField(
            model_name="participation",
            name="quit_rule",
            field=models.CharField(choices=RULES, default="FULL", max_length=8),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="participation",
            name="least_work",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="completioncode",
            name="kind",
            field=models.CharField(
                choices=[
                    ("FULL", "full pay"),
                    ("PART", "part of the pay"),
                    ("WAITING", "waiting pay"),
                ],
                max_length=8,
            ),
        ),
        migrations.RunPython(keep_promises, migrations.RunPython.noop, elidable=True),
    ]
