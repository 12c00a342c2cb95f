"""The first project: everything that there is, with all of the staff as administrators."""

from django.conf import settings
from django.db import migrations

NAME = "First project"
KEPT = ("Campaign", "Study", "Whitelist")


def put_into_one(apps, schema_editor):
    """Put every row into one project, so that everybody sees and may do what they did before."""
    kept = [apps.get_model("webapp", name).objects for name in KEPT]
    app, _dot, name = settings.AUTH_USER_MODEL.partition(".")
    accounts = apps.get_model(app, name).objects.filter(is_staff=True)
    if not (accounts.exists() or any(rows.exists() for rows in kept)):
        return
    project = apps.get_model("webapp", "Project").objects.create(name=NAME)
    members = apps.get_model("webapp", "Member")
    members.objects.bulk_create(
        members(project=project, account=account, is_administrator=True) for account in accounts
    )
    for rows in kept:
        rows.filter(project=None).update(project=project)


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("webapp", "0036_projects"),
    ]

    operations = [migrations.RunPython(put_into_one, migrations.RunPython.noop, elidable=True)]
