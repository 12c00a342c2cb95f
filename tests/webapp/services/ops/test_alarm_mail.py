"""Alarms reach staff by e-mail, each once, through a real mail server; without one none does."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from tests.factories import NOW, make_campaign, make_member, make_project
from tests.webapp.services.people import after, send_message, start
from webapp.models import Campaign, Participation, PayLedger, ProblemReport, SentAlarm
from webapp.services.ops import alarm_mail, sweeper
from webapp.services.participation import reporting

pytestmark = pytest.mark.django_db
MINUTE = 60


class _Mail(socketserver.StreamRequestHandler):
    """Speaks as much SMTP (RFC 5321) as it takes to be handed a mail."""

    def handle(self) -> None:
        self.wfile.write(b"220 test\r\n")
        for line in self.rfile:
            word = line[:4].upper().strip()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.mails.append(b"".join(lines).decode())  # type: ignore[attr-defined]
            elif word == b"RCPT":
                self.server.readers.append(line.decode())  # type: ignore[attr-defined]
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 well\r\n")
            if word == b"QUIT":
                return


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[Any]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mail) as server:
        server.mails, server.readers = [], []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", int(server.server_address[1])
        yield server
        server.shutdown()


def staffed_campaign(**changes: Any) -> Campaign:
    """Return a campaign with a runner, a viewer and an administrator, each with an address."""
    project = make_project()
    for role in ("runner", "viewer", "administrator"):
        member = make_member(role, role, project=project)
        member.email = f"{role}@example.org"
        member.save()
    return make_campaign(target=4, **changes)


def report(person: Participation, text: str = "My partner asks where I live.") -> None:
    reporting.report(person=person, text=text, now=NOW)


def subjects(server: Any) -> list[str]:
    """Return the subjects of the mails, unfolded, without those of the missing reply worker."""
    found = []
    for mail in server.mails:
        head = mail.split("\r\n\r\n")[0].replace("\r\n ", " ")
        (subject,) = (line[9:] for line in head.split("\r\n") if line.startswith("Subject: "))
        found.append(subject)
    return [each for each in found if "No reply worker" not in each]


def test_each_report_is_mailed_once_to_who_runs_the_campaign_without_its_words(
    mail_server: Any,
) -> None:
    campaign = staffed_campaign()
    person = start(campaign)
    report(person)
    sweeper.tick(after(0))
    (subject,) = subjects(mail_server)
    assert subject.endswith("A participant reported a problem.")
    assert campaign.name in subject
    to = {line.split("<")[1].split(">")[0] for line in mail_server.readers}
    assert to == {"runner@example.org", "administrator@example.org"}
    assert not any("where I live" in mail or "example.org>" in mail for mail in mail_server.mails)
    sweeper.tick(after(MINUTE))
    assert len(subjects(mail_server)) == 1
    send_message(person, "I want to die.", after(MINUTE))
    sweeper.tick(after(2 * MINUTE - 1))
    assert len(subjects(mail_server)) == 1, "it is looked once a minute"
    sweeper.tick(after(2 * MINUTE))
    assert subjects(mail_server)[1].endswith("suggest a crisis: read them now.")
    assert not any("want to die" in mail for mail in mail_server.mails)


def test_shares_of_the_budget_are_mailed_each_once(mail_server: Any) -> None:
    campaign = staffed_campaign(pay="1.00", budget="10.00")
    start(campaign)
    seen = []
    for number, spent in enumerate((300, 400, 600, 700, 850)):
        PayLedger.objects.update(spent=spent)
        sweeper.tick(after(number * MINUTE))
        seen.append(len(subjects(mail_server)))
    assert seen == [0, 1, 1, 2, 3]
    assert "80 %" in subjects(mail_server)[1]


def test_an_alarm_that_comes_back_after_an_hour_is_a_new_one(mail_server: Any) -> None:
    staffed_campaign()
    sweeper.tick(after(0))
    assert len(mail_server.mails) == 1, "no reply worker is alive"
    Campaign.objects.update(state="CLOSED")
    sweeper.tick(after(3601))
    Campaign.objects.update(state="OPEN")
    sweeper.tick(after(3700))
    assert len(mail_server.mails) == 2


def test_a_mail_that_cannot_be_sent_is_sent_when_it_can_and_nothing_else_waits(
    mail_server: Any, settings: Settings
) -> None:
    campaign = staffed_campaign()
    report(start(campaign))
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    assert sweeper.tick(after(0))["mailed"] == 0
    assert not SentAlarm.objects.exists()
    settings.EMAIL_PORT = port
    assert sweeper.tick(after(MINUTE))["mailed"] == 2
    assert len(subjects(mail_server)) == 1


def test_without_a_mail_server_or_an_address_nothing_is_sent(
    mail_server: Any, settings: Settings
) -> None:
    campaign = make_campaign(target=4)
    report(start(campaign))
    assert alarm_mail.send_due(now=NOW) == 0, "nobody has an address"
    settings.EMAIL_HOST = ""
    assert alarm_mail.send_due(now=NOW + timedelta(hours=1)) == 0
    assert mail_server.mails == []
    assert ProblemReport.objects.filter(settled_at=None).count() == 1
