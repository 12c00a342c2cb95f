"""Addresses: each module of views lists its own, and is found by that."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from django.contrib import admin
from django.urls import URLPattern, path

from webapp import views


def _addresses() -> Iterator[URLPattern]:
    for module in pkgutil.walk_packages(views.__path__, f"{views.__name__}."):
        yield from getattr(importlib.import_module(module.name), "urlpatterns", ())


def _is_any(pattern: URLPattern) -> bool:
    """Tell whether an address stands for all others under it, so that it comes after them."""
    return "<path:" in str(pattern.pattern)


urlpatterns = [*sorted(_addresses(), key=_is_any), path("admin/", admin.site.urls)]
