"""Messages are counted on the row of their conversation; those of before, from the log."""

from django.db import migrations, models

COUNT = """
UPDATE webapp_conversation SET
    messages_0 = (SELECT count(*) FROM webapp_event AS e WHERE e.kind = 'message' AND e.side = 0
                  AND e.conversation_id = webapp_conversation.id),
    messages_1 = (SELECT count(*) FROM webapp_event AS e WHERE e.kind = 'message' AND e.side = 1
                  AND e.conversation_id = webapp_conversation.id),
    last_message = COALESCE((SELECT max(e.seq) FROM webapp_event AS e WHERE e.kind = 'message'
                             AND e.conversation_id = webapp_conversation.id), 0),
    counted_seq = last_seq
WHERE id BETWEEN %s AND %s
"""
LAST = """
UPDATE webapp_conversation SET
    last_side = (SELECT e.side FROM webapp_event AS e
                 WHERE e.conversation_id = webapp_conversation.id AND e.seq = last_message),
    last_message_at = (SELECT e.made_at FROM webapp_event AS e
                       WHERE e.conversation_id = webapp_conversation.id AND e.seq = last_message)
WHERE id BETWEEN %s AND %s AND last_message > 0
"""
NUMBERS = ("counted_seq", "messages_0", "messages_1", "last_message")
CHUNK = 500  # conversations of one statement: those of PostgreSQL end after 5 s


def count(apps, schema_editor):
    last = apps.get_model("webapp", "Conversation").objects.aggregate(last=models.Max("id"))["last"]
    with schema_editor.connection.cursor() as cursor:
        for first in range(1, (last or 0) + 1, CHUNK):
            for sql in (COUNT, LAST):
                cursor.execute(sql, [first, first + CHUNK - 1])


class Migration(migrations.Migration):
    dependencies = [
        ("webapp", "0029_recruiting"),
    ]

    operations = [
        *(
            migrations.AddField(
                "conversation", name, models.PositiveIntegerField(default=0, db_default=0)
            )
            for name in NUMBERS
        ),
        migrations.AddField(
            "conversation", "last_side", models.PositiveSmallIntegerField(blank=True, null=True)
        ),
        migrations.AddField(
            "conversation", "last_message_at", models.DateTimeField(blank=True, null=True)
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
