"""Who was proven by a signature at the consent: people who wait for a place leave theirs alone."""

from django.db import migrations, models

SIGNED = ("invited", "telegram")


def fill(apps, schema_editor):
    rows = apps.get_model("webapp", "Participation").objects
    rows.filter(external__platform__in=SIGNED).update(is_proven=True)


class Migration(migrations.Migration):

    dependencies = [("webapp", "0043_problem_reports")]

    operations = [
        migrations.AddField(
            model_name="participation",
            name="is_proven",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
