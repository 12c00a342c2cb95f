"""Imported transcripts."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0017_study"),
    ]

    operations = [
        migrations.CreateModel(
            name="TranscriptNote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("account", models.CharField(blank=True, max_length=40)),
                ("volunteer", models.CharField(blank=True, max_length=64)),
                ("began_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("reset", models.BooleanField(blank=True, null=True)),
                ("marks", models.JSONField(default=list)),
            ],
            options={
                "ordering": ("conversation_id",),
            },
        ),
        migrations.AlterField(
            model_name="conversation",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("STUDY", "study"),
                    ("CONTEXT", "static context"),
                    ("IMPORTED", "imported transcript"),
                    ("REHEARSAL", "rehearsal"),
                ],
                default="STUDY",
                max_length=9,
            ),
        ),
        migrations.AddField(
            model_name="transcriptnote",
            name="conversation",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="note",
                to="webapp.conversation",
            ),
        ),
    ]
