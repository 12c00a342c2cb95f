"""Rows of data sets: what is written is read back, what is drawn is drawn again."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from importlib.util import find_spec
from itertools import product

from bots import Trainable, bot_names, bot_options, get_dataset, make_bot
from bots.datasets import (
    because,
    contexts,
    convai2_humanbot,
    conversational,
    dstc7,
    help_desk,
    personachat,
    reddit_turns,
    role_play,
)
from bots.guards.message_filter import ForumMessage, filtered
from bots.line_files import write_records
from bots.text.tokens import key
from tests.acceptance.shell import SEED, Shell, Shown, slow
from tests.acceptance.table import NotShown
from tests.bots.examples import NEEDS, SERVES, demo
from tests.bots.guards import test_message_filter as rules
from tests.conftest import SHARED

CONDITIONS = ("none", "self", "their", "both")


@slow
def d_pc(shell: Shell) -> Shown:
    same = _round_trips(shell, candidates=0)
    parts = {name: personas(name) for name in ("train", "valid", "test")}
    shared = sum(
        len(parts[one] & parts[two])
        for one, two in (("train", "valid"), ("train", "test"), ("valid", "test"))
    )
    result = f"{same} of 8 files (4 conditions, 2 forms) read back the same; "
    result += f"{shared} persona sentences are in two splits"
    return shell.shown(same == 8 and shared == 0, result, personachat.write, personachat.read)


def personas(split: str) -> set[str]:
    """Return the sentences of all personas of a split of the demo."""
    return {line for each in demo(split) for line in (*each.persona, *each.partner_persona)}


@slow
def d_ca(shell: Shell) -> Shown:
    same = sum(_round_trips(shell, candidates=size) for size in (0, 20))
    views = personachat.both_sides(demo("valid"))
    sides = Counter(each.turns[0].speaker for each in views)
    result = f"{same} of 16 files (conditions, forms, with and without candidates) read back the "
    result += f"same; {len(demo('valid'))} dialogues give {len(views)} views, {dict(sides)} begin"
    holds = same == 16 and len(set(sides.values())) == 1 and len(views) == 2 * len(demo("valid"))
    return shell.shown(holds, result, personachat.write, personachat.both_sides)


def _round_trips(shell: Shell, candidates: int) -> int:
    path, same = shell.folder / "layout.txt", 0
    for form, condition in product(("valid", "valid:revised"), CONDITIONS):
        dialogues = personachat.both_sides(get_dataset("demo").read(form)[:20])
        if candidates:
            dialogues = personachat.offered(dialogues, seed=1, size=candidates)
        views = [personachat.in_condition(each, condition) for each in dialogues]  # type: ignore[arg-type]
        personachat.write(views, path)
        told = [(each.turns, each.persona, each.partner_persona) for each in views]
        again = personachat.read(str(path))
        same += [(each.turns, each.persona, each.partner_persona) for each in again] == told
    return same


@slow
def d_wild(shell: Shell) -> Shown:
    folder = SHARED / "convai2_2018_humanbot"
    if not folder.is_dir():
        raise NotShown("the folder shared/data/convai2_2018_humanbot is not beside the repository")
    found = convai2_humanbot.chats(str(folder / "intermediate.jsonl"))
    rows = list(convai2_humanbot.rating_rows(found, "wild"))
    asked = Counter(str(row["question"]) for row in rows)
    paid = convai2_humanbot.read(str(folder / "toloka.jsonl"))
    result = f"{len(found)} wild and {len(paid):,} paid chats of the released files; of the wild "
    result += f"ones {asked['score']} scores, {asked['good_message']} ratings of messages"
    holds = len(found) == 291 and len(paid) == 3005 and asked["good_message"] == 186 + 253
    return shell.shown(holds, result, convai2_humanbot.chats, convai2_humanbot.rating_rows)


def d_mtb(shell: Shell) -> Shown:
    bundled = contexts.read("")
    contexts.write(bundled, shell.folder / "contexts.jsonl")
    again = contexts.read(shell.path("contexts.jsonl"))
    sizes = Counter(len(each.turns) for each in bundled)
    told = ", ".join(f"{number} of {size}" for size, number in sorted(sizes.items()))
    same = [each.turns for each in again] == [each.turns for each in bundled]
    result = f"own set: contexts with {told} messages; read back {'the same' if same else 'other'}"
    return shell.shown(same and set(sizes) == {1, 2, 3}, result, contexts.read, contexts.write)


def d_meena(shell: Shell) -> Shown:
    dropped = {
        1: rules.why("Tomatoes"),
        2: rules.why("12 kg + 30 kg = 42 kg!!! :-)"),
        3: rules.why("see https://x.y/beans for more"),
        4: rules.why(rules.GOOD, author="AutoBot9"),
        6: rules.why("what do you all grow in your garden"),
        7: rules.why("you are a stupid idiot"),
    }
    same = [ForumMessage(f"m{k}", "r", "bob", "Nice garden there!") for k in range(101)]
    dropped[5] = filtered([rules.ROOT, *same]).dropped.get("m0", "")
    kept = rules.why(rules.GOOD) == ""
    told = "; ".join(f"{rule} {why}" for rule, why in sorted(dropped.items()))
    named = {name for name in vars(rules) if re.match(r"test_rule_\d", name)}
    result = f"dropped by each rule ({told}); a good message is kept; {len(named)} rules have tests"
    return shell.shown(all(dropped.values()) and kept and len(named) == 7, result, filtered)


def d_pm(shell: Shell) -> Shown:
    corpus = role_play.read_corpus("")
    series = Counter(each.series for each in corpus.characters)
    lines = set(map(len, corpus.monologues().values()))
    described = sum(bool(each.description) for each in corpus.characters)
    result = f"own set: series of {', '.join(str(n) for n in series.values())} characters, "
    result += f"{sorted(lines)} lines of monologue each, {described} descriptions, "
    result += f"{len(corpus.conversations)} conversations"
    holds = set(series.values()) == {5} and described == len(corpus.characters)
    return shell.shown(holds and len(lines) == 1, result, role_play.read_corpus)


def d_conv(shell: Shell) -> Shown:
    found = list(conversational.answered(demo("valid")))
    write_records([each.record for each in found], shell.folder / "pairs.jsonl")
    same = conversational.read_answered(shell.path("pairs.jsonl")) == found
    splits = [[conversational.part(each.id) for each in demo("all")] for _ in range(2)]
    keys = [f"thread {k}" for k in range(5000)]
    share = sum(conversational.part(each) == "test" for each in keys) / len(keys)
    extras = max(len(each.extras) for each in found)
    result = (
        f"{len(found)} pairs with up to {extras} extra contexts read back the same; two splits "
    )
    result += (
        f"are {'the same' if splits[0] == splits[1] else 'different'}, {share:.3f} for testing"
    )
    holds = same and splits[0] == splits[1] and abs(share - 0.1) < 0.015
    return shell.shown(holds, result, conversational.part)


def d_help(shell: Shell) -> Shown:
    one, other = help_desk.read("300:1"), help_desk.read("300:1")
    said = Counter(key(turn.text) for each in one for turn in each.turns if turn.speaker == "self")
    top = sum(times for _, times in said.most_common(20)) / said.total()
    result = f"{len(one)} synthetic chats, the same twice; the 20 most frequent agent replies are "
    result += f"{top:.2f} of all, {sum(times == 1 for times in said.values())} occur once"
    return shell.shown(one == other and 0.4 < top < 0.95, result, help_desk.read)


def d_rcc(shell: Shell) -> Shown:
    found = list(reddit_turns.triples(demo("valid")))
    lines = ["\t".join(" ".join(turn.text.split()) for turn in each.turns) for each in found]
    (shell.folder / "triples.tsv").write_text("\n".join(lines), "utf-8")
    again = reddit_turns.read(shell.path("triples.tsv"))
    same = [each.turns for each in again] == [each.turns for each in found]
    result = f"{len(again)} dialogues of 3 messages {'read back the same' if same else 'differ'}"
    return shell.shown(same, result, reddit_turns.read)


def d_l2e(shell: Shell) -> Shown:
    pairs = because.read("")
    first = pairs[0].turns
    left = because.taken_apart("We stayed home because of the rain.")
    result = (
        f"{len(pairs)} pairs from the sample text, as '{first[0].text}' and '{first[1].text}'; "
    )
    result += "'because of' gives none" if left is None else f"'because of' gives {left}"
    return shell.shown(pairs and left is None, result, because.read)


@slow
def d_dstc7(shell: Shell) -> Shown:
    found = dstc7.build(demo("train"), seed=1, none_share=0.25)
    reply = dstc7.build(demo("train"), seed=1)[0].right[0]
    told = dstc7.build(demo("train"), seed=1, paraphrases={reply: ["In other words, this."]})[0]
    sizes = {len(each.candidates) for each in found}
    none = sum(not each.right for each in found)
    records = [dstc7.record(each) for each in found]
    (shell.folder / "sets.json").write_text(json.dumps(records), "utf-8")
    again = dstc7.read_sets(shell.path("sets.json"))
    same = [each.candidates for each in again] == [each.candidates for each in found]
    result = f"{len(found)} sets of {sorted(sizes)} candidates, {none} with none right, "
    result += f"{len(told.right)} right ones with a paraphrase; read back the same: {same}"
    return shell.shown(
        sizes == {100} and none and len(told.right) == 2 and same, result, dstc7.build
    )


@slow
def d_demo(shell: Shell) -> Shown:
    """Trained anew in a folder of its own, whatever other rows have trained before."""
    seconds, missing = dict[str, float](), []
    fresh = shell.folder / "fresh"
    for name in bot_names():
        if name in SERVES or all(each.name != "weights" for each in bot_options(name)):
            continue
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            missing.append(f"{name} ({NEEDS[name]})")
            continue
        began, bot = time.process_time(), make_bot(name)
        assert isinstance(bot, Trainable)
        bot.train(demo("train"), seed=int(SEED))
        bot.save(fresh / name)
        seconds[name] = time.process_time() - began
    made = {each.parent.name for each in fresh.glob("*/bot.json")}
    slowest = max(seconds, key=lambda name: seconds[name])
    shell.commands.append(f"python -m bots train NAME --data demo:train, for {len(seconds)} bots")
    result = f"{len(seconds)} bots trained on {len(demo('train'))} dialogues in a fresh folder, "
    result += f"{sum(seconds.values()):.0f} s of processor time, {slowest} longest with "
    result += f"{seconds[slowest]:.0f} s"
    holds = made == seconds.keys() and max(seconds.values()) < 180 and sum(seconds.values()) < 600
    return shell.shown(holds, result + (f"; not here: {missing}" if missing else ""))
