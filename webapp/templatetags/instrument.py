"""Words of an instrument on a page: marked as English where the page is in another language."""

from __future__ import annotations

from django import template
from django.forms.utils import flatatt
from django.utils.html import format_html

from evaluation.words import Translated, Words
from webapp import languages

register = template.Library()


@register.filter
def instrument(text: str) -> str:
    """Return a text of the protocol, in an element that says its language where it is another."""
    marks = languages.marks_of(text)
    return format_html("<span{}>{}</span>", flatatt(marks), text) if marks else text


@register.filter
def complaint(text: str) -> str:
    """Return a complaint: a sentence of ours as it is, an explanation of the protocol marked."""
    return instrument(text) if isinstance(text, Words | Translated) else text


@register.filter
def language(text: str) -> str:
    """Return the attribute that says the language of a text in another attribute."""
    return flatatt({name: v for name, v in languages.marks_of(text).items() if name == "lang"})


@register.filter
def localized(text: str) -> str:
    """Return a sentence of the library of protocols in the language of the page."""
    return languages.localized(text)
