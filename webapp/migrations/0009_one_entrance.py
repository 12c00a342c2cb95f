"""What a bot's side of a ready check needs: when it comes, when it answers, what people took."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0008_first_side"),
    ]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="partner_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="seat",
            name="seconds_waiting",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="seat",
            name="checked_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="seat",
            name="answers_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
