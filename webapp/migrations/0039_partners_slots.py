"""Who rates alone of two people holds the partner's slot until the rating is there."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("webapp", "0038_every_row_in_a_project")]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="holds_partners_slot",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
