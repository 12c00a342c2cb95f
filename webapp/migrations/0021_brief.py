"""Sheets with a name, a group and shared lines; the topic of a conversation."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webapp', '0020_admission'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='topic',
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name='persona',
            name='group',
            field=models.CharField(blank=True, max_length=40),
        ),
        migrations.AddField(
            model_name='persona',
            name='name',
            field=models.CharField(blank=True, max_length=80),
        ),
        migrations.AddField(
            model_name='persona',
            name='shared',
            field=models.JSONField(blank=True, default=list),
        ),
    ]
