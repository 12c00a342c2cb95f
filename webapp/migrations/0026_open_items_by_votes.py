"""Indexes: open items by their votes, conversations that are set aside."""

import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("webapp", "0025_reply_calls"),
    ]

    operations = [
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(models.F('excluded'), condition=models.Q(('excluded', ''), _negated=True), name='conversations_set_aside'),
        ),
        migrations.AddIndex(
            model_name='item',
            index=models.Index(models.F('campaign'), django.db.models.expressions.CombinedExpression(models.F('reserved'), '+', models.F('completed')), models.F('order'), condition=models.Q(('target__gt', django.db.models.expressions.CombinedExpression(models.F('reserved'), '+', models.F('completed')))), name='open_items_by_votes'),
        ),
    ]
