"""Constraints on items and candidates, apart: PostgreSQL refuses them beside changed rows."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0010_candidates"),
    ]

    operations = [
        migrations.AlterField(
            model_name="candidate",
            name="conversation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="candidates",
                to="webapp.conversation",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=Q(conversation__isnull=True) ^ Q(context__isnull=True),
                name="item_of_a_conversation_or_a_context",
            ),
        ),
    ]
