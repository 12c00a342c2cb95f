"""No campaign, study or whitelist without a project."""

import django.db.models.deletion
from django.db import migrations, models


def project(name):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name=name, to="webapp.project"
    )


class Migration(migrations.Migration):

    dependencies = [
        ("webapp", "0037_first_project"),
    ]

    operations = [
        migrations.AlterField(model_name="campaign", name="project", field=project("campaigns")),
        migrations.AlterField(model_name="study", name="project", field=project("studies")),
        migrations.AlterField(model_name="whitelist", name="project", field=project("whitelists")),
    ]
