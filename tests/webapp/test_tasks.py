"""Events of tasks, which Flower and `celery events` read."""

import threading
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from celery import Celery
from celery.worker.consumer.events import Events

from webapp.celery import app
from webapp.tasks import EventsAtOnce

THREADS, EACH = 8, 100


def test_events_that_threads_send_at_once_all_arrive(redis_url: str) -> None:
    """R15: as a worker's own steps make the sender of events, with a loop that sends its buffer."""
    assert EventsAtOnce in app.steps["consumer"]
    broker = Celery(broker=redis_url, set_as_current=False)
    seen: Counter[int] = Counter()
    everything, subscribed_to = threading.Event(), threading.Event()

    def note(event: dict[str, Any]) -> None:
        seen[event["number"]] += 1
        if len(seen) == THREADS * EACH:
            everything.set()

    with broker.connection_for_write() as sending, broker.connection_for_read() as receiving:
        handlers = {"task-succeeded": note, "worker-online": lambda _: subscribed_to.set()}
        receiver = broker.events.Receiver(receiving, handlers=handlers)
        with receiver.consumer_context() as (subscribed, *_):
            consumer = consumer_of(broker, sending)
            EventsAtOnce(consumer).start(consumer)
            listening = threading.Thread(target=lambda: drain(subscribed, everything))
            listening.start()
            while not subscribed_to.wait(0.05):  # Redis keeps nothing for who is not there yet
                consumer.event_dispatcher.send("worker-online")
            run_at_once(lambda first: send(consumer.event_dispatcher, first))
            everything.wait(20)
            everything.set()
            listening.join()
    assert seen == Counter(range(THREADS * EACH))


def consumer_of(broker: Celery, connection: Any) -> Any:
    """Return what the worker's step `Events` asks for, after that step."""
    consumer: Any = SimpleNamespace(
        app=broker,
        hostname="replies@here",
        hub=True,
        connection_for_write=lambda: connection,
        on_send_event_buffered=lambda: consumer.event_dispatcher.flush(),
    )
    Events(consumer).start(consumer)
    return consumer


def send(dispatcher: Any, first: int) -> None:
    for number in range(first, first + EACH):
        dispatcher.send("task-succeeded", uuid=str(number), number=number)


def run_at_once(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=[each * EACH]) for each in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drain(connection: Any, everything: threading.Event) -> None:
    while not everything.is_set():
        try:
            connection.drain_events(timeout=0.2)
        except TimeoutError:
            continue
