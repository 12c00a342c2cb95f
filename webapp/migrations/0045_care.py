"""Care: texts for a crisis, retention, words for staff, and the alarms that were mailed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('webapp', '0044_proven'),
    ]

    operations = [
        migrations.CreateModel(
            name='SentAlarm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, unique=True)),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='crisis_phrases',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='campaign',
            name='crisis_text',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='campaign',
            name='keep_days',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='problemreport',
            name='kind',
            field=models.CharField(choices=[('reported', 'a reported problem'), ('crisis', 'words that suggest a crisis')], db_default='reported', default='reported', max_length=8),
        ),
    ]
