"""Admission: screening and quiz before the work, known answers, and what failing them pays."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0019_chat_service"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="screened_url",
            field=models.URLField(blank=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="screening_pay",
            field=models.DecimalField(decimal_places=2, default=0, max_digits=7),
        ),
        migrations.AddField(
            model_name="context",
            name="known",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="item",
            name="known",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="participation",
            name="screening_pay",
            field=models.DecimalField(decimal_places=2, default=0, max_digits=7),
        ),
        migrations.AlterField(
            model_name="completioncode",
            name="kind",
            field=models.CharField(
                choices=[
                    ("FULL", "full pay"),
                    ("PART", "part of the pay"),
                    ("WAITING", "waiting pay"),
                    ("SCREENED", "pay of a check that was not passed"),
                ],
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="participation",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("COMPLETED", "completed"),
                    ("PARTNER_LEFT", "partner left"),
                    ("FAILED", "we failed"),
                    ("STOPPED", "campaign stopped"),
                    ("NOBODY", "waited, nobody came"),
                    ("LEFT", "left and did not return"),
                    ("FULL", "full before any work"),
                    ("DECLINED", "declined before any work"),
                    ("QUIT", "stopped of their own accord"),
                    ("SCREENED_OUT", "screened out before any work"),
                    ("CHECK_FAILED", "failed an announced check"),
                    ("ONBOARDING", "below the share of known answers"),
                ],
                max_length=14,
            ),
        ),
        migrations.AlterField(
            model_name="participation",
            name="state",
            field=models.CharField(
                choices=[
                    ("ADMISSION", "answering questions before the work"),
                    ("READY", "reading the instructions"),
                    ("WAITING", "waiting for a partner"),
                    ("MATCHED", "asked whether still there"),
                    ("CHATTING", "chatting"),
                    ("RATING", "rating"),
                    ("WRITING", "writing"),
                    ("ENDED", "ended"),
                ],
                default="READY",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="seat",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("COMPLETED", "completed"),
                    ("PARTNER_LEFT", "partner left"),
                    ("FAILED", "we failed"),
                    ("STOPPED", "campaign stopped"),
                    ("NOBODY", "waited, nobody came"),
                    ("LEFT", "left and did not return"),
                    ("FULL", "full before any work"),
                    ("DECLINED", "declined before any work"),
                    ("QUIT", "stopped of their own accord"),
                    ("SCREENED_OUT", "screened out before any work"),
                    ("CHECK_FAILED", "failed an announced check"),
                    ("ONBOARDING", "below the share of known answers"),
                ],
                max_length=14,
            ),
        ),
        migrations.CreateModel(
            name="AdmissionTry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("step", models.CharField(max_length=10)),
                ("number", models.PositiveSmallIntegerField()),
                ("answers", models.JSONField()),
                ("wrong", models.JSONField(default=list)),
                ("passed", models.BooleanField()),
                ("made_at", models.DateTimeField()),
                (
                    "participation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="admissions",
                        to="webapp.participation",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("participation", "step", "number"), name="one_try_of_a_number"
                    )
                ],
            },
        ),
    ]
