"""Children of a reply worker: as many bots as memory allows, the last used ones first to stay."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import pytest

from bots import Utterance
from bots.footprint import Footprint, footprint
from tests.bots.examples import weights
from tests.journeys.unruly import FUNCTIONS, LONG
from tests.webapp.test_inference import is_gone, wait_for
from webapp import inference
from webapp.children import Budget, Children

TURN = ((), (Utterance("partner", "How are you?"),))
HERE, FORMS = "tests.journeys.unruly.", "tests.bots.functions."
SMALL, LARGE = {"function": HERE + "polite"}, {"function": HERE + "large"}


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_CALLABLES", f"{FUNCTIONS}, {FORMS}*")


@pytest.fixture
def children() -> Iterator[Children]:
    children = Children(patience=20)
    yield children
    children.close()


def pids(children: Children) -> list[int]:
    return [held.child.pid for held in children._held.values() if held.child.pid is not None]


def test_each_bot_with_its_options_has_a_process_and_says_what_it_holds(
    children: Children,
) -> None:
    for options in (SMALL, LARGE, SMALL):
        assert children.respond("callable", options, [TURN]).replies[0].text
    assert len(set(pids(children))) == 2
    large, small = sorted(children.sizes()["callable"], key=lambda size: -size.machine)
    assert large.machine - small.machine > 100  # it holds 120 MB more
    assert small.machine > 5
    assert small.device == 0


def test_the_one_that_was_not_used_for_longest_is_let_go(children: Children) -> None:
    other = {"function": HERE + "count"}
    for options in (SMALL, other):
        children.respond("callable", options, [TURN])
    first, second = pids(children)
    children.respond("callable", SMALL, [TURN])
    sizes = children.sizes()["callable"]
    children._budget = Budget(machine=sum(size.machine for size in sizes) + 135)
    children.respond("callable", LARGE, [TURN])  # 120 MB more than the others
    wait_for(lambda: is_gone(second))
    assert first in pids(children)
    assert len(pids(children)) == 2
    assert children.is_full
    children.respond("callable", other, [TURN])  # now its size is known beforehand
    wait_for(lambda: is_gone(first))


def test_one_that_is_larger_than_the_budget_runs_alone(children: Children) -> None:
    children._budget = Budget(machine=1.0)
    children.respond("callable", LARGE, [TURN])
    (pid,) = pids(children)
    children.respond("callable", LARGE, [TURN])
    assert pids(children) == [pid]
    children.respond("callable", SMALL, [TURN])
    wait_for(lambda: is_gone(pid))
    assert len(pids(children)) == 1


def test_a_device_error_ends_the_child_and_says_so(children: Children) -> None:
    """R14."""
    broken = {"function": HERE + "out_of_gpu_memory"}
    with pytest.raises(inference.WorkerLost, match="CUDA out of memory") as lost:
        children.respond("callable", broken, [TURN])
    assert lost.value.of_device
    assert pids(children) == []


def test_a_lost_process_is_forked_from_one_that_has_imported_torch(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R14: it is there again without the import, draws numbers of its own, and ends with us."""
    monkeypatch.setenv("BOT_CALLABLES", "tests.bots.torch_draws.*")
    drawing = {"function": "tests.bots.torch_draws.drawn"}
    said = [children.respond("callable", drawing, [TURN]).replies[0].text]
    (first,) = pids(children)
    nursery = children._nursery
    assert nursery is not None
    wait_for(nursery.ready, 60)
    for _ in range(2):
        (lost,) = pids(children)
        os.kill(lost, signal.SIGKILL)
        said.append(answered_again(children, drawing))
        (forked,) = pids(children)
        assert parent(forked) == nursery.pid != parent(first)
    assert len(set(said)) == len({text.split()[1] for text in said}) == 3
    os.kill(nursery.pid, signal.SIGKILL)
    os.kill(forked, signal.SIGKILL)
    wait_for(lambda: is_gone(nursery.pid))
    assert answered_again(children, drawing)
    anew = children._nursery
    assert anew is not None
    assert anew.pid != nursery.pid
    left = [anew.pid, *pids(children)]
    children.close()
    wait_for(lambda: all(map(is_gone, left)))


def answered_again(children: Children, options: dict[str, str]) -> str:
    """Ask until the loss of a process has been noticed, as a worker asks its jobs anew."""
    while True:
        with suppress(inference.WorkerLost):
            return children.respond("callable", options, [TURN]).replies[0].text


def parent(pid: int) -> int:
    """Return the number of a process's parent; one that is gone has none."""
    stat = Path(f"/proc/{pid}/stat")
    return int(stat.read_text().rpartition(")")[2].split()[1]) if stat.exists() else 0


def test_a_bot_says_how_it_is_called_once_it_is_loaded(children: Children) -> None:
    ranker, waits = {"weights": weights("tfidf")}, {"function": FORMS + "waits"}
    assert children.way("tfidf", ranker) == "one"
    children.warm_up("callable", SMALL)
    children.warm_up("tfidf", ranker)
    children.warm_up("callable", waits)
    assert children.way("callable", SMALL) == "one"
    assert children.way("tfidf", ranker) == "batch"
    assert children.way("callable", waits) == "async"


def test_an_async_function_answers_several_in_one_process_and_ends_a_late_one_alone() -> None:
    """Those who said their names wait for each other: one at a time, none would be answered."""
    children = Children(patience=8)
    options = {"function": FORMS + "waits"}
    children.warm_up("callable", options)

    def ask(text: str) -> str:
        turn = ((), (Utterance("partner", text),))
        return children.respond("callable", options, [turn]).replies[0].text

    with ThreadPoolExecutor(3) as pool:
        late = pool.submit(ask, "never")
        both = [pool.submit(ask, name) for name in ("first", "second")]
        assert [each.result(20) for each in both] == ["Hello first.", "Hello second."]
        (pid,) = pids(children)
        with pytest.raises(inference.BotFailed, match="took longer than 8 s"):
            late.result(20)
    assert pids(children) == [pid]
    children.close()


def test_a_reply_in_pieces_grows_here_while_it_is_written_there(
    children: Children, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pieces").write_text('["Toast,\\n", "as\\n", "ever."]')
    monkeypatch.setenv("PIECES", str(tmp_path))
    options = {"function": FORMS + "written", "stream": True, "reasoning_ends": ""}
    children.warm_up("callable", options)
    told: SimpleQueue[str] = SimpleQueue()
    with ThreadPoolExecutor(2) as pool:
        grown = pool.submit(children.respond, "callable", options, [TURN], {0: told.put})
        assert told.get(timeout=20) == "Toast,\n"
        other = pool.submit(children.respond, "callable", options, [TURN])
        (tmp_path / "1").touch()
        assert told.get(timeout=20) == "Toast,\nas\n"
        assert not grown.done()
        (tmp_path / "2").touch()
        assert told.get(timeout=20) == "Toast,\nas\never."
        (tmp_path / "3").touch()
        whole = [each.result(20).replies[0].text for each in (grown, other)]
    assert whole == ["Toast,\nas\never."] * 2
    assert told.empty()


def test_what_grows_may_be_lost_and_the_answer_comes_all_the_same(children: Children) -> None:
    def fails(text: str) -> None:
        heard.append(text)
        raise RuntimeError("nobody listens any more")

    options = {"function": FORMS + "reasoned", "stream": True, "reasoning_ends": ""}
    heard: list[str] = []
    for _ in range(2):
        reply = children.respond("callable", options, [TURN], {0: fails}).replies[0]
        assert reply.text == "Toast, as ever."
    assert heard


def test_what_breaks_off_is_the_error_and_not_the_reply(children: Children) -> None:
    options = {"function": FORMS + "breaks_off", "stream": True, "reasoning_ends": ""}
    told: SimpleQueue[str] = SimpleQueue()
    children.warm_up("callable", options)
    with pytest.raises(inference.BotFailed, match="ValueError: no more"):
        children.respond("callable", options, [TURN], {0: told.put})
    assert told.get_nowait() == "Toast, "


def test_a_system_runs_in_as_many_processes_as_it_asks_for(children: Children) -> None:
    options = {**SMALL, "processes": 2}
    children.warm_up("callable", options)
    assert len(set(pids(children))) == 2


def test_a_crash_is_not_the_device_s_fault(children: Children) -> None:
    with pytest.raises(inference.WorkerLost, match="the process that ran the bot ended") as lost:
        children.respond("callable", {"function": HERE + "crash"}, [TURN])
    assert not lost.value.of_device
    assert children.respond("callable", SMALL, [TURN]).replies


def test_a_bot_that_stalls_is_ended_after_its_time() -> None:
    """R13."""
    children = Children(patience=0.5)
    with pytest.raises(inference.WorkerLost, match=r"took longer than 0\.5 s"):
        children.respond("callable", {"function": HERE + "stall"}, [TURN])
    children.close()


def test_a_bot_is_loaded_before_anybody_waits_for_it(children: Children) -> None:
    children.warm_up("tfidf", {"weights": weights("tfidf")})
    assert children.sizes()["tfidf"][0].machine > 20
    (pid,) = pids(children)
    replies = children.respond("tfidf", {"weights": weights("tfidf")}, [TURN]).replies
    assert replies[0].text
    assert pids(children) == [pid]
    children.close()
    assert is_gone(pid)


def test_loading_does_not_count_as_answering() -> None:
    """A model that takes long to load, as large ones do, is not a bot that stalls."""
    children = Children(patience=0.0)
    children.warm_up("parrot", {})
    assert len(pids(children)) == 1
    with pytest.raises(inference.WorkerLost, match="took longer than 0 s"):
        children.respond("callable", {"function": HERE + "stall"}, [TURN])
    children.close()


def test_a_long_reply_is_whole_and_long_details_are_left_out(children: Children) -> None:
    reply = children.respond("callable", {"function": HERE + "endless"}, [TURN]).replies[0]
    assert reply.text == "word " * LONG
    assert reply.details == {"left out": "the details were too long"}


def test_children_see_the_gpus_of_their_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    children = Children(patience=20)
    told = children.respond("callable", {"function": HERE + "visible_gpus"}, [TURN])
    assert told.replies[0].text == "GPU 1"
    children.close()


def test_a_footprint_is_this_process() -> None:
    found = footprint()
    assert isinstance(found, Footprint)
    assert 20 < found.machine < 50_000
    assert os.getpid()
