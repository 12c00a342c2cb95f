"""Several candidates per item: an item of a context has no conversation, its candidates have."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery


def to_candidates(apps, schema_editor):
    """Let each candidate have the conversation of its item, and items of contexts their context."""
    Candidate, Item = apps.get_model("webapp", "Candidate"), apps.get_model("webapp", "Item")
    Context = apps.get_model("webapp", "Context")
    held = Item.objects.filter(pk=OuterRef("item"))
    Candidate.objects.update(conversation=Subquery(held.values("conversation")))
    continued = Item.objects.filter(conversation__purpose="CONTEXT")
    keys = Item.objects.filter(pk=OuterRef(OuterRef("pk"))).values("conversation__context")
    own = Context.objects.filter(campaign=OuterRef("campaign"), key__in=Subquery(keys))
    continued.update(context=Subquery(own.values("pk")[:1]))
    Item.objects.filter(context__isnull=False).update(conversation=None)


def to_items(apps, schema_editor):
    """Give each item of a context the conversation of its first candidate."""
    Candidate, Item = apps.get_model("webapp", "Candidate"), apps.get_model("webapp", "Item")
    first = Candidate.objects.filter(item=OuterRef("pk")).order_by("pk")
    of_contexts = Item.objects.filter(conversation=None)
    of_contexts.update(conversation=Subquery(first.values("conversation")[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0009_one_entrance"),
    ]

    operations = [
        migrations.AddField(
            model_name="context",
            name="group",
            field=models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="context",
            name="about",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="conversation",
            name="intended",
            field=models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="assignment",
            name="shown",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="item",
            name="context",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="webapp.context",
            ),
        ),
        migrations.AlterField(
            model_name="item",
            name="conversation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="webapp.conversation",
            ),
        ),
        migrations.AddField(
            model_name="candidate",
            name="conversation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="candidates",
                to="webapp.conversation",
            ),
        ),
        migrations.RunPython(to_candidates, to_items, elidable=True),
    ]
