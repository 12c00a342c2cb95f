"""Every row, for superusers to read; only services change them, by the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib import admin
from django.db.models import URLField
from django.http import HttpRequest

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin  # Django's own is not generic when it runs


class ReadOnly(ModelAdmin):
    """A list and a page of each row, without a way to change it."""

    list_per_page = 50
    show_full_result_count = False
    formfield_overrides = {URLField: {"assume_scheme": "https"}}  # Django warns of its old default

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


HIDDEN = {
    "ExternalId",
    "FirstPassword",
    "LoginAttempt",
    "PanelSubmission",
    "RecoveryCode",
    "SecondFactor",
    "StaffSession",
}  # identities and what lets people in are revealed nowhere; attempts say nothing
for model in apps.get_app_config("webapp").get_models():
    if model.__name__ not in HIDDEN:
        admin.site.register(model, ReadOnly)
