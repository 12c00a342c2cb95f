"""Calls of bots, each kept whole; the trouble that a rehearsal may have."""


import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webapp', '0024_disjoint'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='troubled_percent',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.CreateModel(
            name='ReplyCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('attempt', models.PositiveSmallIntegerField()),
                ('outcome', models.CharField(choices=[('SHOWN', 'shown'), ('REFUSED', 'refused by the protocol'), ('FAILED', 'failed')], max_length=8)),
                ('events', models.CharField(default=' ', max_length=200)),
                ('error', models.TextField(blank=True)),
                ('raw', models.TextField()),
                ('reasoning', models.TextField(default='""')),
                ('prompt', models.TextField(default='null')),
                ('parameters', models.TextField(default='{}')),
                ('seed', models.BigIntegerField()),
                ('finish_reason', models.CharField(blank=True, max_length=40)),
                ('prompt_tokens', models.PositiveIntegerField(null=True)),
                ('reply_tokens', models.PositiveIntegerField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=1)),
                ('seconds', models.FloatField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='webapp.replyjob')),
            ],
            options={
                'ordering': ('job_id', 'number'),
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='one_call_a_number')],
            },
        ),
    ]
