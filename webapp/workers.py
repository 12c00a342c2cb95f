"""Reply workers: which bots this process answers for, and the threads that do it.

One thread a bot reads and writes rows: it settles the calls that have ended and claims what there
is a place for. The calls themselves run in the lanes of their systems (`serving.lanes`), so that no
system waits for another one. Besides, one thread looks into the table at least every 2 s, so that
lost hints cost no more than that, shows answers whose time has come, and takes back what dead
processes of this host held; one keeps the leases, and one the heartbeat (R11, R12). Long because
these threads belong together.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from queue import Empty, SimpleQueue

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

from bots.footprint import machine_megabytes
from webapp import inference, realtime
from webapp.children import Budget, Children
from webapp.services.ops import host_clocks
from webapp.services.replies import delivery, heartbeats, hosts, worker
from webapp.services.replies import queue as replies_queue
from webapp.services.rules import uptime
from webapp.serving.lanes import Calls, Lane
from webapp.serving.watch import Watch

log = logging.getLogger(__name__)
POLL = 2.0  # seconds
SEARCH = 0.5  # seconds at least between two searches for what was lost, however many replies come
RETRY = 1.0  # seconds after database trouble
BEAT = 5.0  # seconds between heartbeats
GRACE = 5.0  # seconds in which calls under way may end when the worker stops
SHARE = 0.75  # of the machine's memory that bots may hold where no setting says
Ended = tuple[Lane, worker.EndedCall]


class Host:
    """Answers what its bots owe; `bots` None means all of them."""

    def __init__(
        self,
        bots: Collection[str] | None = None,
        *,
        children: Children | None = None,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = hosts.owner_name()
        self.watch = Watch()
        self._bots = bots
        self._on_lost = on_lost
        self._children = children
        self._calls = Calls()
        self._lanes: dict[str, Lane] = {}
        self._wakes: dict[str, threading.Event] = {}
        self._finished: defaultdict[str, SimpleQueue[Ended]] = defaultdict(SimpleQueue)
        self._in_hand: set[worker.ReplyWork] = set()
        self._is_planned = False
        self._one_load = threading.Lock()  # what is loaded side by side takes memory twice
        self._threads: list[threading.Thread] = []
        self._lock = threading.RLock()
        self._idle = threading.Condition(self._lock)
        self._look = threading.Event()
        self._closing = threading.Event()
        self._stopped = threading.Event()
        self._beat = threading.Event()

    def start(self) -> None:
        """Begin to load what people may talk to, and to answer; returns at once."""
        self._run("replies", self._poll)

    def stop(self, grace: float = GRACE) -> None:
        """Claim no more; calls under way may end within the grace, or are put back at once."""
        self._closing.set()
        with self._idle:
            self._idle.wait_for(lambda: not self._in_hand, grace)
        self._stopped.set()
        for event in (self._look, self._beat, *self._wakes.values()):
            event.set()
        if self._children is not None:
            self._children.close()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout=5)
        if self._in_hand:  # in a thread of its own: the caller may be an event loop
            leaving = threading.Thread(target=self._leave_rest, daemon=True)
            leaving.start()
            leaving.join(timeout=5)
        self.watch.close()

    def _leave_rest(self) -> None:
        for work in list(self._in_hand):
            try:
                worker.put_back(work, "the worker was stopped")
            except Error as problem:  # its lease will end
                log.warning("not put back: %s", type(problem).__name__)
        connection.close()

    def hosts(self, bot: str) -> bool:
        return self._bots is None or bot in self._bots

    def wake(self, bot: str) -> None:
        """Let the bot's thread look for jobs."""
        if not self.hosts(bot) or self._closing.is_set():
            return
        with self._lock:
            wake = self._wakes.get(bot)
            if wake is None:
                wake = self._wakes[bot] = threading.Event()
                self._start(f"bot {bot}", lambda: self._attend(bot, wake))
        wake.set()

    def _attend(self, bot: str, wake: threading.Event) -> None:
        while not self._stopped.is_set():
            wake.wait()
            wake.clear()
            try:
                self._settle(bot)
                if not self._closing.is_set():
                    self.admit(bot)
            except BaseException:
                wake.set()  # what is left to do is done after the trouble
                raise

    def admit(self, bot: str) -> int:
        """Claim what a bot's systems have places for, and begin the calls; returns how many.

        While a system is being loaded its jobs are left to other workers, or for when it is ready.
        """
        count = 0
        systems: dict[str, list[int]] = defaultdict(list)
        for system in replies_queue.waiting_systems(bot):
            lane = self._lane(bot, worker.options_of(system))
            systems[_key(bot, lane.options)].append(system.pk)
        for lane in [each for each in self._lanes.values() if each.bot == bot]:
            lane.begin_waiting()
        for key, numbers in systems.items():
            for work in self._lanes[key].claim(self.name, numbers):
                self._hold([work])
                self._lanes[key].begin(work)
                count += 1
        return count

    def _settle(self, bot: str) -> None:
        """Store what came of the calls that have ended; those that went well, together."""
        ended = _taken(self._finished[bot])
        if self._stopped.is_set():  # what was lost by our own stop is put back, not settled
            ended = [one for one in ended if not isinstance(one[1].problem, inference.WorkerLost)]
        try:
            well = [one for one in ended if one[1].problem is None and len(one[1].work.jobs) == 1]
            if len(well) > 1:
                self._settle_together(well)
                ended = [one for one in ended if one not in well]
            while ended:
                self._settle_one(*ended[0])
                ended = ended[1:]
        except (OperationalError, InterfaceError):  # a reply outlives trouble of the database
            for one in ended:
                self._finished[bot].put(one)
            raise

    def _settle_together(self, ended: Sequence[Ended]) -> None:
        try:
            worker.settle_together([ended_call for _, ended_call in ended])
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("calls that ended together are settled one by one")
            for one in ended:
                self._settle_one(*one)
            return
        for lane, _ in ended:
            lane.limit.answered()
        self._let_go(ended)

    def _settle_one(self, lane: Lane, ended_call: worker.EndedCall) -> None:
        again: list[worker.ReplyWork] = []
        try:
            again = worker.settle(ended_call, lane.limit)
        except inference.WorkerLost as lost:
            self._reload_after_loss(lane, lost)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # its lease will end, and others answer
            log.exception("a call of %s could not be settled", lane.bot)
        self._hold(again)
        lane.ask_again(again)
        self._let_go([(lane, ended_call)], is_over=not again)

    def _let_go(self, ended: Sequence[Ended], *, is_over: bool = True) -> None:
        """Free the places of calls, and tell those who wait for their jobs."""
        for lane, _ in ended:
            lane.ended()
        with self._idle:
            self._in_hand -= {ended_call.work for _, ended_call in ended}
            self._idle.notify_all()
        if is_over:
            self.watch.look({job.pk for _, ended_call in ended for job in ended_call.work.jobs})
        self._look.set()  # answers may be due soon

    def _hold(self, works: Collection[worker.ReplyWork]) -> None:
        """Have the leases of these kept until they are settled."""
        if not works:
            return
        with self._lock:
            self._in_hand.update(works)
            if not any(thread.name == "leases" for thread in self._threads):
                self._start("leases", self._keep_leases)

    def _keep_leases(self) -> None:
        while not self._stopped.wait(replies_queue.RENEWAL):
            close_old_connections()
            with self._lock:
                owners = {job.owner for work in self._in_hand for job in work.jobs}
            if owners:
                replies_queue.renew(owners)

    def _end(self, lane: Lane, ended_call: worker.EndedCall) -> None:
        """Hand a call that has ended to its bot's thread."""
        self._finished[lane.bot].put((lane, ended_call))
        self._wakes[lane.bot].set()

    def _lane(self, bot: str, options: dict[str, object]) -> Lane:
        key = _key(bot, options)
        with self._lock:
            if key not in self._lanes:
                children = self._children if inference.needs_own_process(bot) else None
                self._lanes[key] = Lane(bot, options, children, self._calls, self._end)
            return self._lanes[key]

    def _reload_after_loss(self, lane: Lane, lost: inference.WorkerLost) -> None:
        """Load a system anew whose child was lost, or leave where this process itself is at fault.

        One of several processes is loaded by its next call, and the others go on.
        """
        log.error("%s: %s", lane.bot, lost)
        if self._children is None or not inference.needs_own_process(lane.bot):
            self._on_lost()
        elif lane.most_calls == 1 and not self._closing.is_set():
            lane.is_loading = True
            self._run(f"load {lane.bot}", lambda: self._load([lane]), once=True)

    def _load(self, lanes: Collection[Lane]) -> None:
        """Load systems; until then they are not announced as answered here."""
        for lane in lanes:
            try:
                if self._children is not None and not self._children.is_full:
                    with self._one_load:
                        lane.load()
            except inference.WorkerLost as lost:
                log.error("%s cannot be loaded: %s", lane.bot, lost)
                self._stopped.wait(RETRY)
            except inference.BotFailed as failed:  # each of its jobs will say so
                log.error("%s cannot be loaded: %s", lane.bot, failed)
            finally:
                lane.is_loading = False
                self._beat.set()
                self.wake(lane.bot)

    def _plan(self) -> None:
        """Find what is to be loaded, before this worker says what it answers for."""
        loading: dict[str, list[Lane]] = defaultdict(list)
        wanted = worker.wanted(self._bots) if self._children is not None else []
        for bot, options in wanted:
            if inference.needs_own_process(bot):
                lane = self._lane(bot, options)
                lane.is_loading = True
                loading[bot].append(lane)
        self._is_planned = True
        self._run("heartbeat", self._keep_beating)
        for bot, lanes in sorted(loading.items()):
            self._run(f"load {bot}", partial(self._load, lanes), once=True)

    def _poll(self) -> None:
        """Show what is due as soon as something may be; look for what was lost now and then."""
        if not self._is_planned:
            self._plan()
        searched = -SEARCH
        while not self._stopped.is_set():
            self._look.clear()
            delivery.deliver_due()
            if time.monotonic() - searched >= SEARCH:
                self._search()
                searched = time.monotonic()
            due = delivery.seconds_to_next()
            self._look.wait(POLL if due is None else min(POLL, due + 0.005))

    def _search(self) -> None:
        """Find what dead processes of this host held, and jobs whose hint was lost."""
        hosts.take_back()
        for bot in replies_queue.waiting_bots():
            self.wake(bot)
        self.watch.look()

    def _keep_beating(self) -> None:
        while not self._stopped.is_set():
            self._beat.clear()
            bots = sorted(self._bots) if self._bots is not None else [heartbeats.EVERY]
            heartbeats.beat(name=self.name, bots=bots, state=self._state())
            host_clocks.beat(uptime.Part.REPLIES)
            self._beat.wait(BEAT)

    def _state(self) -> heartbeats.State:
        held = {} if self._children is None else self._children.sizes()
        memory = {
            bot: (sum(each.machine for each in sizes), sum(each.device for each in sizes))
            for bot, sizes in held.items()
        }
        batch: dict[str, int] = {}
        losses: dict[str, int] = {}
        with self._lock:
            lanes = list(self._lanes.values())
        for lane in lanes:
            if lane.limit.most is not None:
                batch[lane.bot] = min(lane.limit.now, batch.get(lane.bot, lane.limit.now))
            if lane.limit.losses:
                losses[lane.bot] = losses.get(lane.bot, 0) + lane.limit.losses
        warming = sorted({lane.bot for lane in lanes if lane.is_loading})
        return heartbeats.State(warming=warming, memory=memory, batch=batch, losses=losses)

    def _run(self, name: str, work: Callable[[], None], *, once: bool = False) -> None:
        with self._lock:
            self._start(name, work, once=once)

    def _start(self, name: str, work: Callable[[], None], *, once: bool = False) -> None:
        thread = threading.Thread(target=self._guarded, args=(work, once), name=name, daemon=True)
        self._threads = [each for each in self._threads if each.is_alive() or not each.ident]
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Callable[[], None], once: bool) -> None:
        """Begin again after trouble: of the database, or of our own making."""
        while not self._stopped.is_set():
            try:
                work()
                if once:
                    break
            except Error as problem:
                log.warning("database trouble: %s", type(problem).__name__)
                connection.close()
            except Exception:  # a reply worker must not end silently
                log.exception("a reply worker's thread failed")
            if not self._stopped.wait(RETRY):
                close_old_connections()
        connection.close()


def _taken(finished: SimpleQueue[Ended]) -> list[Ended]:
    """Return all that is in a queue now."""
    found: list[Ended] = []
    with contextlib.suppress(Empty):
        while True:
            found.append(finished.get_nowait())
    return found


def _key(bot: str, options: object) -> str:
    return json.dumps([bot, options], sort_keys=True, default=str)


def hosted_here() -> Host:
    """Return a host of all bots that hints of this process wake: the embedded default."""
    host = Host(children=children())
    realtime.listen(host.wake)
    return host


def children() -> Children | None:
    """Return where bots with models run: in processes of their own, unless settings say not."""
    if settings.INFERENCE != "process":
        return None
    machine = settings.BOT_MEMORY_MB or SHARE * machine_megabytes()
    return Children(Budget(machine, settings.BOT_DEVICE_MB), patience=settings.BOT_SECONDS)
