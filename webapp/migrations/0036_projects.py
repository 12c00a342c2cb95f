"""Projects and their members, sessions with a device, second factors."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import webapp.clock

KEY = ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))


def account(**changes):
    kept = {"on_delete": django.db.models.deletion.CASCADE, "related_name": "+"}
    return models.ForeignKey(to=settings.AUTH_USER_MODEL, **kept, **changes)


def project(name):
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=name,
        to="webapp.project",
    )


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("webapp", "0035_own_models"),
    ]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                KEY,
                ("name", models.CharField(max_length=120, unique=True)),
                ("made_at", models.DateTimeField(default=webapp.clock.now)),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                KEY,
                ("is_runner", models.BooleanField(default=False)),
                ("is_exporter", models.BooleanField(default=False)),
                ("is_payer", models.BooleanField(default=False)),
                ("is_administrator", models.BooleanField(default=False)),
                ("account", account()),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="members", to="webapp.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "account"), name="one_row_of_a_member")],
            },
        ),
        migrations.CreateModel(
            name="StaffSession",
            fields=[
                ("session_key", models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key")),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("device", models.CharField(blank=True, max_length=60)),
                ("began_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("account", account(null=True)),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
                "indexes": [models.Index(fields=["account", "seen_at"], name="webapp_staf_account_4acdd1_idx")],
            },
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                KEY,
                ("secret", models.CharField(max_length=255)),
                ("step", models.BigIntegerField(default=0)),
                ("made_at", models.DateTimeField()),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("account", account()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("confirmed_at__isnull", False)), fields=("account",), name="one_second_factor_of_an_account"),
                    models.UniqueConstraint(condition=models.Q(("confirmed_at__isnull", True)), fields=("account",), name="one_unconfirmed_factor_of_an_account"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                KEY,
                ("hash", models.CharField(max_length=64)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("account", account()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("account", "hash"), name="one_row_of_a_recovery_code")],
            },
        ),
        migrations.AddField(model_name="campaign", name="project", field=project("campaigns")),
        migrations.AddField(model_name="study", name="project", field=project("studies")),
        migrations.AddField(model_name="whitelist", name="project", field=project("whitelists")),
    ]
