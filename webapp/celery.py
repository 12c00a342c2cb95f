"""The Celery app. Tasks carry a bot's name and numbers of jobs, which are rows (R15).

    celery -A webapp worker -Q bot.profile_memory -P threads -c 64

None of these settings is needed for correctness, which rests on leases and fences.
"""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
# Checks load every page, which a worker has none of: 0.6 s of each restart.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

SOFT_LIMIT = 240  # seconds that a task waits for its replies; campaigns give up sooner
# A hint to a broker that is away is given up after 0.1 s (R11); workers try to reach it for ever.
GIVING_UP = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.1}

app = Celery("webapp")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # replies are given without a broker, too
    broker_transport_options={"visibility_timeout": 300, **GIVING_UP},
    imports=("webapp.tasks",),
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_soft_time_limit=SOFT_LIMIT,
    task_time_limit=270,
    worker_prefetch_multiplier=1,
    worker_send_task_events=True,  # Flower and `celery events` see tasks without an option
    task_send_sent_event=True,
    worker_hijack_root_logger=False,
)
