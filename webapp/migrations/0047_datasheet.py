"""A researcher's own answers to the datasheet."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('webapp', '0046_pay_holds'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='datasheet',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
