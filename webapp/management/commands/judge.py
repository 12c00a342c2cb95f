"""`manage.py judge EXPORT --url URL --model MODEL --out FOLDER`: a judge model rates an export."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.arguments import whole
from bots import InvalidOption, bot_options, parse_option
from webapp.management.quick import QuickCommand
from webapp.services.results import judge_items, judging

BOT = "chat_server"


class Command(QuickCommand):
    help = "Ask a chat server the protocol's questions of an export's items, as a rater."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("export", type=Path, nargs="+", help="zip; further ones bring conversations held there")
        add("--url", required=True, help="where the server's interface begins, allowed for bots")
        add("--model", required=True, help="as the server calls it")
        add("--key", default="", help="name of the key that is sent")
        add("--name", default="", help="of the judge as a rater (default: the model's)")
        add("--samples", type=int, default=2, help="answers per item, and per order (default 2)")
        add("--seed", type=whole(0), default=0, help="of its sampling")
        add("--set", action="append", default=[], metavar="OPTION=VALUE",
            help="another option of the bot chat_server, such as temperature=0")  # fmt: skip
        add("--most-tokens", type=int, default=0, metavar="N", help="stop once so many are used")
        add("--out", type=Path, required=True, help="folder of ratings.csv, calls and settings")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["samples"] < 1:
            raise CommandError(f"--samples is {options['samples']}, but must be 1 or more")
        try:
            export = judge_items.read(options["export"])
            found = judging.run(
                export, _judge(options), options["out"], most_tokens=options["most_tokens"]
            )
        except (
            judge_items.UnreadableExport,
            judging.JudgeStopped,
            InvalidOption,
            OSError,
        ) as error:
            raise CommandError(str(error)) from None
        for line in _lines(found):
            self.stdout.write(line)
        self.stdout.write(f"Ratings: {options['out'] / judging.TABLE}")


def _judge(options: dict[str, Any]) -> judging.JudgeModel:
    known = bot_options(BOT)
    chosen: dict[str, object] = {"max_tokens": 300}
    for each in options["set"]:
        name, equals, raw = each.partition("=")
        if not equals:
            raise InvalidOption(f"--set {each}: must be option=value")
        chosen[name] = parse_option(BOT, known, name, raw)
    chosen |= {"url": options["url"], "model": options["model"], "key_variable": options["key"]}
    name = options["name"] or options["model"]
    return judging.JudgeModel(name, chosen, options["samples"], options["seed"])


def _lines(found: judging.JudgeRun) -> list[str]:
    used = found.tokens
    cost = "" if found.cost is None else f", cost {found.cost:.4f}"
    lines = [
        f"{found.calls} calls, {found.left} left; {used.get('prompt_tokens', 0)} prompt and "
        f"{used.get('completion_tokens', 0)} reply tokens{cost}."
    ]
    for what, counts in (("could not be used", found.unusable), ("failed", found.failed)):
        lines.append(f"{sum(counts.values())} answers {what}.")
        lines += [f"  {count}: {why}" for why, count in counts.items()]
    if not found.answers:
        lines.append("No answer could be used, so the table has no row.")
    if found.steady is not None:
        lines.append(f"{found.steady:.0%} of answers are the most frequent one of their item.")
    if found.skipped:
        lines.append(f"Not asked of a model: {', '.join(found.skipped)}.")
    if found.bias is not None:
        lines.append(_about(found.bias))
    return lines


def _about(bias: judging.PositionBias) -> str:
    beat = f"What stood first beat another in {bias.share:.0%} of pages"
    if bias.interval is None:
        return f"{beat} of 1 item: too few to tell a position bias."
    between = f"{bias.interval.low:.0%} to {bias.interval.high:.0%}"
    shown = "a position bias is shown" if bias.is_shown else "no position bias is shown"
    line = f"{beat}, 95 % {between} ({bias.items} items, each in both orders): {shown}"
    if bias.contradicted is not None:
        line += f"; both orders contradict each other in {bias.contradicted:.0%}"
    return f"{line}."
