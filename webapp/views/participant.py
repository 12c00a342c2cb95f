"""A participant's pages: start, consent, wait, chat, rate, code."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
