"""Everything that is stored about one person, found by the relations of the models (S14).

A model with a link to a participation is included by that. Of one that leads there over others it
is said here how, or why it is no data of theirs; `unclear` has those of which neither is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, ForeignKey, Model, Q, QuerySet

from webapp.models import (
    AuditEntry,
    Campaign,
    Contribution,
    Conversation,
    Event,
    ExternalId,
    Participation,
    PayHold,
    Persona,
    Rating,
    ServiceCall,
)
from webapp.services.rules import access, audit, identity
from webapp.services.rules.access import AnyCampaign

ACTION = "personal data taken"
# Hashes and salts of secrets, which nobody else is to have; names of staff, who are others.
LEFT_OUT = ("secret_hash", "salt", "tab", "actor")
# Models that lead to a participation over others and hold nothing of that person's own.
OF_OTHERS: Mapping[str, str] = {
    "Allowance": "tokens of a campaign or of a conversation",
    "Candidate": "what is judged: a side or a message that is listed itself",
    "Item": "what is judged: a conversation, a context or a persona",
    "ReplyCall": "a bot's calls: of the person's words it has only those of their messages",
    "ReplyJob": "a bot's replies",
    "ReviewedAnswer": "what staff made of a bot's reply: the intent of the question, no words",
    "TakenConversation": "under which system a conversation is compared",
    "TranscriptNote": "of conversations held elsewhere, by people who took no part here",
}


def unclear() -> list[str]:
    """Return the models that lead to a participation and are neither included nor left out."""
    return sorted(leading() - {*_sources(Participation()), *OF_OTHERS})


def leading() -> set[str]:
    """Return the models that lead to a participation, over any others."""
    return {model.__name__ for model in _models() if _leads(model, frozenset())}


def _models() -> list[type[Model]]:
    return list(apps.get_app_config("webapp").get_models())


def _links(model: type[Model]) -> Iterator[tuple[str, type[Model]]]:
    for field in model._meta.concrete_fields:
        if isinstance(field, ForeignKey):
            yield field.name, field.related_model


def _leads(model: type[Model], passed: frozenset[type[Model]]) -> bool:
    """Tell whether links lead from a model to a participation, over any others."""
    targets = {target for _, target in _links(model)} - passed
    further = passed | {model}
    return model is Participation or any(_leads(target, further) for target in targets)


def _direct(person: Participation) -> Iterator[tuple[str, QuerySet[Any]]]:
    for model in _models():
        for name, target in _links(model):
            if target is Participation:
                yield model.__name__, model._default_manager.filter(**{name: person.pk})


def _sources(person: Participation) -> dict[str, QuerySet[Any]]:
    """Return the rows of a person by the name of their model."""
    own = {"conversation__seats__participation": person.pk}
    whose = {"assignment__participation": person.pk}
    chats = ExternalId.objects.filter(participation=person.pk, platform=identity.TELEGRAM)
    calls, payments = (
        apps.get_model("webapp", name)._default_manager.filter(submission__participation=person.pk)
        for name in ("PanelCall", "PanelPayment")
    )
    audited = Q(actor=f"participation {person.pk}") | Q(detail__participation=person.pk)
    return dict(_direct(person)) | {
        "Participation": Participation.objects.filter(pk=person.pk),
        "Conversation": Conversation.objects.filter(seats__participation=person.pk),
        "Event": Event.objects.filter(**own, conversation__seats__side=F("side")),
        "Rating": Rating.objects.filter(**whose),
        "Contribution": Contribution.objects.filter(**whose),
        "Persona": Persona.objects.filter(
            Q(written__assignment__participation=person.pk)
            | Q(reworded__assignment__participation=person.pk)
        ),
        "PayHold": PayHold.objects.filter(code__participation=person.pk),
        "PanelCall": calls,
        "PanelPayment": payments,
        "ServiceCall": ServiceCall.objects.filter(recipient__in=chats.values("value")),
        "AuditEntry": AuditEntry.objects.filter(audited, campaign=person.campaign_id),
    }


def about(person: Participation) -> dict[str, list[dict[str, Any]]]:
    """Return a person's rows by model, without secrets and without who of the staff did it."""
    sources = _sources(person)
    return {
        name: [_values(row) for row in sources[name].order_by("pk").distinct()]
        for name in sorted(sources)
    }


def _values(row: Model) -> dict[str, Any]:
    ours = set(_models())
    return {
        field.attname: field.value_from_object(row)
        for field in row._meta.concrete_fields
        if field.name not in LEFT_OUT
        and not (isinstance(field, ForeignKey) and field.related_model not in ours)
    }


def taken(*, campaign: AnyCampaign, pk: int, by: str, now: datetime) -> str:
    """Return the file about a person, and log who took it. Raises `access.NotFound`."""
    person = Participation.objects.filter(campaign=campaign.pk, pk=pk).first()
    if person is None:
        raise access.NotFound(f"participation {pk} of campaign {campaign.pk}")
    row = access.row_of(campaign)
    audit.append(actor=by, action=ACTION, campaign=row, now=now, participation=pk)
    content = {"made_at": now, "campaign": _campaign(row), "stored": about(person)}
    return json.dumps(content, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1) + "\n"


def _campaign(row: Campaign) -> dict[str, str]:
    return {"name": row.name, "link": row.slug, "contact": row.contact}
