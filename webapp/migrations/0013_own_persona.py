"""The persona that a person waits with; whether one in use was counted, its form; who rates."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0012_archived"),
    ]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="persona",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="webapp.persona",
            ),
        ),
        migrations.AddField(
            model_name="participation",
            name="persona_counted",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="seat",
            name="persona_counted",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="seat",
            name="persona_form",
            field=models.CharField(default="original", max_length=8),
        ),
        migrations.AddField(
            model_name="seat",
            name="rates",
            field=models.BooleanField(default=True),
        ),
    ]
