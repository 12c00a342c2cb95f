"""`manage.py competition STUDY ...`: a study as a competition of systems (docs/competition.md)."""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.arguments import whole
from evaluation.competition import InvalidEntry
from evaluation.registry import get_protocol
from webapp import clock
from webapp.forms.campaign_form import CampaignForm
from webapp.management.quick import QuickCommand
from webapp.models import Study
from webapp.services.competition import board as competitions
from webapp.services.competition import entry_runs, human_round, prizes
from webapp.services.competition.board import CompetitionRefused
from webapp.services.competition.entry_runs import HiddenTest, Ran
from webapp.services.staff_forms.fields import Invalid

REFUSED = (CompetitionRefused, InvalidEntry, Invalid)


class Command(QuickCommand):
    help = "Rules, entries, board, human round and prizes of a competition."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="its number")
        does = parser.add_subparsers(dest="action", required=True)
        for name, help in (("announce", "give the rules"), ("submit", "take a submission")):
            _command(does, name, help).add_argument("file", type=Path, help="as JSON")
        for name, help in (("run", "run what has not run"), ("rerun", "compare the scores")):
            hidden = _command(does, name, help)
            hidden.add_argument("--data", action="append", required=True, metavar="KIND:PATH")
            hidden.add_argument("--dictionary", action="append", default=[], metavar="KIND:PATH")
            hidden.add_argument("--out", type=Path, metavar="FILE", help="for the report")
            if name == "run":
                text = "let what cannot be set up fail, instead of wait"
                hidden.add_argument("--fail-unready", action="store_true", help=text)
        _command(does, "board", "print the automatic board")
        _command(does, "close", "name the winners")
        for name, help in (
            ("result", "print what a team may know"),
            ("decline", "a team stays out"),
        ):
            _command(does, name, help).add_argument("team")
        code = _command(does, "code", "note a team's training code")
        code.add_argument("team")
        code.add_argument("file", type=Path)
        people = _command(does, "people", "make the draft of the human round")
        people.add_argument("--owner", required=True, help="account of the requester")
        people.add_argument("--contact", required=True)
        people.add_argument("--pay", required=True)
        people.add_argument("--each", type=whole(1), default=human_round.EACH)

    def handle(self, *args: Any, **options: Any) -> None:
        study = _study(options["study"])
        try:
            getattr(self, f"_{options['action']}")(study, options)
        except REFUSED as problem:
            raise CommandError(str(problem)) from None

    def _announce(self, study: Study, options: dict[str, Any]) -> None:
        content = _json(options["file"])
        made = competitions.announce(study=study, content=content, by=_By(), now=clock.now())
        self.stdout.write(f"rules: {json.dumps(made.rules)}")

    def _submit(self, study: Study, options: dict[str, Any]) -> None:
        row = competitions.of_study(study)
        made = competitions.submit(
            competition=row, content=_json(options["file"]), by=_By(), now=clock.now()
        )
        self.stdout.write(f"{made.team}: entry {made.pk} is taken")

    def _run(self, study: Study, options: dict[str, Any]) -> None:
        row = competitions.of_study(study)
        found = entry_runs.run_waiting(
            competition=row,
            hidden=_hidden(options),
            by=_By(),
            now=clock.now(),
            fails_unready=options["fail_unready"],
        )
        for ran in found:
            if ran.unready:
                self.stdout.write(f"{ran.team}: cannot be set up here: {ran.unready}")
            self.stdout.write(competitions.result(row, ran.team))
        unready = 0 if options["fail_unready"] else sum(bool(ran.unready) for ran in found)
        self.stdout.write(f"{len(found) - unready} entries ran")
        self._write(options["out"], found)
        if unready:
            raise CommandError(
                f"{unready} cannot be set up and still wait; run again once that is mended, or "
                "with --fail-unready"
            )

    def _rerun(self, study: Study, options: dict[str, Any]) -> None:
        found = entry_runs.rerun(competition=competitions.of_study(study), hidden=_hidden(options))
        self._write(options["out"], found)
        for ran in found:
            self.stdout.write(f"{ran.team}: {ran.unready or ran.failure or 'the same'}")
        if any(ran.failure for ran in found):
            raise CommandError("some scores are not the same")

    def _board(self, study: Study, options: dict[str, Any]) -> None:
        row = competitions.of_study(study)
        self.stdout.write("\t".join(["rank", "team", *row.rules["metrics"], "goes on"]))
        for line in competitions.lines(row):
            self.stdout.write("\t".join([line.rank, line.team, *line.cells, line.goes_on]))

    def _result(self, study: Study, options: dict[str, Any]) -> None:
        self.stdout.write(competitions.result(competitions.of_study(study), options["team"]))

    def _decline(self, study: Study, options: dict[str, Any]) -> None:
        row, team = competitions.of_study(study), options["team"]
        human_round.decline(competition=row, team=team, by=_By(), now=clock.now())
        self.stdout.write(f"{team}: stays out of the human round")

    def _code(self, study: Study, options: dict[str, Any]) -> None:
        digest = hashlib.sha256(_bytes(options["file"])).hexdigest()
        human_round.release_code(
            competition=competitions.of_study(study),
            team=options["team"],
            sha256=digest,
            by=_By(),
            now=clock.now(),
        )
        self.stdout.write(f"{options['team']}: training code {digest}")

    def _people(self, study: Study, options: dict[str, Any]) -> None:
        protocol = get_protocol(human_round.PROTOCOL)
        raw = CampaignForm(protocol).typed() | {"name": f"{study.name}: human round"[:120]}
        raw |= {"contact": options["contact"], "pay": options["pay"]}
        made = human_round.start_human_round(
            competition=competitions.of_study(study),
            values=CampaignForm(protocol, raw).values(),
            by=_account(options["owner"]),
            now=clock.now(),
            each=options["each"],
        )
        names = ", ".join(made.systems.order_by("pk").values_list("name", flat=True))
        self.stdout.write(f"campaign {made.pk}, a draft, with {names}; give it new personas")

    def _close(self, study: Study, options: dict[str, Any]) -> None:
        row = competitions.of_study(study)
        won = prizes.close(competition=row, by=_By(), now=clock.now())
        self.stdout.write(f"automatic round: {won.automatic}\ngrand prize: {won.grand}")

    def _write(self, out: Path | None, found: list[Ran]) -> None:
        if out is not None:
            lines = [json.dumps(row) for ran in found for row in ran.rows]
            out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
            self.stdout.write(f"{out}: {len(lines)} predictions, with hidden replies")


class _By:
    """Who acts, in the log."""

    def get_username(self) -> str:
        return "command line"


def _command(does: _SubParsersAction[Any], name: str, help: str) -> ArgumentParser:
    made: ArgumentParser = does.add_parser(name, help=help)
    return made


def _hidden(options: dict[str, Any]) -> HiddenTest:
    return HiddenTest(data=tuple(options["data"]), dictionary=tuple(options["dictionary"]))


def _study(number: str) -> Study:
    found = Study.objects.filter(pk=int(number) if number.isdecimal() else 0).first()
    if found is None:
        known = ", ".join(str(each.pk) for each in Study.objects.order_by("pk")) or "none"
        raise CommandError(f"study: no {number!r}; the numbers are: {known}")
    return found


def _account(name: str) -> Any:
    from django.contrib.auth import get_user_model

    found = get_user_model().objects.filter(username=name, is_staff=True).first()
    if found is None:
        raise CommandError(f"--owner: {name!r} is no account of staff")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise CommandError(f"{path}: cannot be read ({problem.strerror})") from None


def _json(path: Path) -> object:
    try:
        return json.loads(_bytes(path))
    except ValueError as problem:
        raise CommandError(f"{path}: is no JSON ({problem})") from None
