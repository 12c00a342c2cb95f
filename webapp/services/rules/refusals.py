"""Why an action in a conversation is refused; fit to be shown."""

from __future__ import annotations


class NotNow(Exception):
    """The action is not possible at this step; `notice` is a key of `webapp.notices`."""

    def __init__(self, notice: str = "not_now", **values: object) -> None:
        super().__init__(notice)
        self.notice = notice
        self.values = values


class Refused(Exception):
    """A message that breaks a rule of the protocol; `complaint` says which."""

    notice = "refused"

    def __init__(self, complaint: str) -> None:
        super().__init__(complaint)
        self.complaint = complaint
