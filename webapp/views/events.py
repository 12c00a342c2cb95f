"""The conversation over plain HTTP: one frame in, frames out."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
