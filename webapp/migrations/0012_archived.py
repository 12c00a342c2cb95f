"""Campaigns are archived; a deleted draft's entries of the audit log stay with its number."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0011_candidates_filled"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="archived_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="campaign",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="audit",
                to="webapp.campaign",
            ),
        ),
    ]
