"""script/simulate --competition: a competition from its rules to its prizes.

Teams submit bots, which run on hidden dialogues; simulated people meet those who advance, and
prefer another team than the metrics do. Both boards have to come back from the study's export and
the predictions by `python -m analysis --report convai2_boards`, a rerun has to give the same
scores, and nobody wins before the training code is there. With `--mixed` one team enters a metric
that the others leave out. Exit status: 0 where they did.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.live import ROOT, environment
from tests.simulate.campaign import STUDY, Simulated, let_visit, shortened, wait_for_close
from tests.simulate.planted import DETECTED

if TYPE_CHECKING:
    from webapp.models import Campaign, Study

BASELINE = "baseline"
TEAMS = {"alpha": "toy_f1", "beta": "parrot", "gamma": "markov", BASELINE: "generic"}
LIKED = {"beta": 3.8, "gamma": 2.6, "alpha": 1.6, BASELINE: 1.2}  # of 1 to 4, by people
MIXED = {"gamma": ("F1", "hits@1")}  # what a team enters otherwise than the rest
EACH = 10  # conversations per system
PREDICTIONS, PRIZES = "predictions.jsonl", "prizes.txt"
RERUN, REFUSED = "rerun.txt", "refused.txt"
HIDDEN = "demo:test"


def main(arguments: Sequence[str]) -> int:
    """Simulate it in a folder of its own; print the boards, and what did not come back."""
    parser = argparse.ArgumentParser(prog="script/simulate --competition", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mixed", action="store_true", help="teams enter different metrics")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="predictions and export")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="parley-simulate-") as temporary:
        folder = (given.keep or Path(temporary)).resolve()
        words = [sys.executable, "-m", "tests.simulate.competition", str(folder), str(given.seed)]
        words += ["mixed"] if given.mixed else []
        subprocess.run(words, cwd=ROOT, env=environment(folder), check=True)
        wrong = list(_wrong(folder))
    print("\n".join(wrong) or "recovered: another team leads by metrics than by people")
    return int(bool(wrong))


def _wrong(folder: Path) -> Iterator[str]:
    """Yield what the report on the exports, and the prizes, have otherwise than planted."""
    files = [str(folder / PREDICTIONS), str(folder / STUDY)]
    command = [sys.executable, "-m", "analysis", *files, "--report", "convai2_boards"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    print(done.stdout.partition("The same rule")[0].strip())
    if "Automatic board on hidden test: alpha first of 3" not in done.stdout:
        yield "automatic board: alpha, who has the words of the gold replies, is not first"
    people = [name for name in LIKED if name != BASELINE]
    if f"{people[0]} first of 3" not in done.stdout.partition("Human board")[2]:
        yield f"human board: {people[0]}, whom people like best, is not first"
    told = (folder / PRIZES).read_text("utf-8")
    if told.split() != ["automatic", "round:", "alpha", "grand", "prize:", people[0]]:
        yield f"prizes: {told!r}"
    told, refused = ((folder / name).read_text("utf-8").strip() for name in (RERUN, REFUSED))
    print(f"rerun: {'; '.join(told.splitlines())}\nrefused: {refused}")
    if told.splitlines() != [f"{team}: the same" for team in TEAMS]:
        yield f"rerun: {told!r}"
    if not refused.startswith(f"{people[0]} won; its training code is not there yet"):
        yield f"closing before the code is there: {refused!r}"


# --- in a process of its own, with a new database -------------------------------------------------


def run(folder: Path, seed: int, entered: Mapping[str, Sequence[str]]) -> None:
    """Hold a competition and write predictions, the study's export and the prizes."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    from tests.databases import migrate
    from tests.servers import free_port
    from webapp.management.demo import stage
    from webapp.services.accounts import projects
    from webapp.services.rules.access import Role

    migrate()
    staff = get_user_model().objects.create_superuser("simulate")
    projects.admit(account=staff, name="Simulated", roles=(Role.ADMINISTRATOR,))
    study = _entered(staff, entered)
    out = str(folder / PREDICTIONS)
    _command(study, "run", "--data", HIDDEN, "--out", out)
    (folder / RERUN).write_text(_command(study, "rerun", "--data", HIDDEN), "utf-8")
    print(_command(study, "board"), end="")
    with stage.Server(free_port()) as server:
        order = Simulated(
            base=server.base,
            folder=folder,
            people=EACH * len(TEAMS),
            seed=seed,
            short=True,
            staff=staff,
        )
        _meet(_campaign(study, order), order)
    _closed(study, folder)
    call_command(
        "export", str(study.pk), "--study", "--out", str(folder / STUDY), stdout=StringIO()
    )


def _entered(staff: Any, entered: Mapping[str, Sequence[str]]) -> Study:
    """Return a study whose automatic round ended yesterday, with an entry of each team."""
    from django.utils import timezone

    from webapp.services.campaign import studies
    from webapp.services.competition import board

    now = timezone.now()
    study, then = studies.create(raw={"name": "Competition"}, by=staff, now=now), now - timedelta(2)
    rules = {"opens": str(then.date()), "closes": str((now - timedelta(1)).date())}
    rules |= {"baseline": BASELINE}
    row = board.announce(study=study, content=rules, by=staff, now=then)
    data = [{"name": "none", "public": True, "where": "none"}]
    for team, bot in TEAMS.items():
        metrics = list(entered.get(team, ["F1"]))
        content = {"team": team, "bot": bot, "metrics": metrics, "data": data, "ensemble": False}
        board.submit(competition=row, content=content, by=staff, now=then)
    return study


def _closed(study: Study, folder: Path) -> None:
    """Close it once the winner's training code is there; keep what was refused before."""
    from django.core.management import CommandError

    (folder / "code.tar").write_bytes(b"training code")
    first, *others = [team for team in LIKED if team != BASELINE]
    try:
        for team in others:
            _command(study, "code", team, str(folder / "code.tar"))
        refused = _command(study, "close")
    except CommandError as problem:
        refused = str(problem)
    (folder / REFUSED).write_text(refused, "utf-8")
    _command(study, "code", first, str(folder / "code.tar"))
    (folder / PRIZES).write_text(_command(study, "close"), "utf-8")


def _campaign(study: Study, order: Simulated) -> Campaign:
    """Return the draft of the human round, with short chats and personas."""
    from django.utils import timezone

    from webapp.forms.campaign_form import CampaignForm
    from webapp.services.campaign import campaigns, personas_import
    from webapp.services.rules.protocols import original_of
    from webapp.services.staff_forms.source_settings import PREFIX

    words = ("--owner", "simulate", "--contact", "simulate@example.org", "--pay", "2.00")
    _command(study, "people", *words, "--each", str(EACH))
    made, now = study.phases.get(), timezone.now()
    protocol = original_of(made)
    raw = CampaignForm(protocol).typed() | {"name": made.name, "contact": made.contact}
    # One team says the same whatever it hears, which a rehearsal would hold against it.
    raw |= {"pay": "2.00", "seed": str(order.seed), "troubled_percent": "100"}
    raw |= {PREFIX + name: value for name, value in shortened(protocol).items()}
    values = CampaignForm(protocol, raw).values()
    campaigns.change(campaign=made, by=order.staff, values=values, now=now)
    made.refresh_from_db()
    text = personas_import.bundled(made)
    personas_import.store(campaign=made, text=text, by=order.staff, now=now)
    return made


def _meet(campaign: Campaign, order: Simulated) -> None:
    from webapp.management.demo import study

    study.open_all([campaign], by=order.staff, tell=lambda said: None)
    liked = {team: {"enjoyment": level, "persona": DETECTED} for team, level in LIKED.items()}
    let_visit(campaign, liked, order)
    wait_for_close(campaign)


def _command(study: Study, *words: str) -> str:
    from django.core.management import call_command

    out = StringIO()
    call_command("competition", str(study.pk), *words, stdout=out)
    return out.getvalue()


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    run(Path(sys.argv[1]), int(sys.argv[2]), MIXED if "mixed" in sys.argv[3:] else {})
