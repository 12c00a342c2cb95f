"""Which address is whose: each module of views lists its own addresses."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("webapp.views.events")),
    path("", include("webapp.views.participant")),  # after events: every other /c/ address is its
    path("", include("webapp.views.staff")),
    path("", include("webapp.views.staff_setup")),
    path("", include("webapp.views.staff_messages")),
    path("", include("webapp.views.staff_systems")),
    path("", include("webapp.views.staff_live")),
    path("", include("webapp.views.staff_review")),
    path("", include("webapp.views.staff_whitelists")),
    path("", include("webapp.views.results")),
    path("", include("webapp.views.gauges")),
    path("", include("webapp.views.security")),
    path("admin/", admin.site.urls),
]
