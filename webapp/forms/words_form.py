"""The form of translations: a field per text, empty where the source's words stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webapp.forms.typed_fields import StaffForm, TypedField
from webapp.services.campaign.translations import SourceText
from webapp.services.staff_forms.fields import text


class WordsForm(StaffForm):
    """The words of an instrument in one language."""

    is_stored = True

    def __init__(
        self,
        texts: Sequence[SourceText],
        stored: Mapping[str, str],
        data: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=dict(stored))
        for each in texts:
            field = TypedField(
                text(most=each.most, least=0),
                kind="textarea",
                label=each.field,
                help_text=each.words,
            )
            field.rows = 2
            self.fields[each.field] = field
