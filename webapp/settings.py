"""Every setting; each default works with no server installed (docs/running.md explains them)."""

from __future__ import annotations

from pathlib import Path

import environ
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env("DATA_DIR", default=str(BASE_DIR / "var")))  # database file, weights, exports

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env("SECRET_KEY", default="") or ("insecure-key-for-debug-only" if DEBUG else "")
if not SECRET_KEY:
    raise ImproperlyConfigured(
        "SECRET_KEY is not set: set DEBUG=1 on your own machine, or on a server SECRET_KEY to "
        "50 random characters or more."
    )
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
KEYS_SECRET = env("KEYS_SECRET", default="")  # seals the keys of model servers; "": SECRET_KEY does
ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if DEBUG else []
)

INSTALLED_APPS = [
    "webapp.apps.ParleyConfig",
    "webapp.apps.ParleyAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
]
MIDDLEWARE = [
    "webapp.middleware.Probes",
    "webapp.middleware.RequestId",
    "webapp.middleware.HttpsOnly",
    "django.middleware.security.SecurityMiddleware",
    "webapp.middleware.Busy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "webapp.middleware.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "webapp.middleware.PrivatePages",
]
ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "webapp.views.staff.access.navigation",
                "webapp.views.staff.access.permissions",
            ],
        },
    }
]

# --- the database: an SQLite file (write-ahead log, immediate transactions, R28) or PostgreSQL
DATABASES = {
    "default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'parley.sqlite3'}"),
}
DATABASE = DATABASES["default"]
if not DATABASE["ENGINE"].endswith((".sqlite3", ".postgresql")):
    raise ImproperlyConfigured(
        f"DATABASE_URL names {DATABASE['ENGINE'].rpartition('.')[2]}; "
        "it must begin with sqlite:// or postgres://"
    )
DATABASE["ENGINE"] = DATABASE["ENGINE"].replace("django.db.backends", "webapp.databases")
DATABASE["ATOMIC_REQUESTS"] = False
if "DATABASE_URL" not in env:
    try:
        DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)  # SQLite makes files, not folders
    except OSError as problem:
        raise ImproperlyConfigured(
            f"DATA_DIR is {DATA_DIR}, which cannot be made ({problem.strerror}): "
            "name a folder that this user may write to."
        ) from None
if DATABASE["ENGINE"].endswith("sqlite3"):
    DATABASE["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
        ),
    }
    DATABASE["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
else:
    # Under ASGI each request has a thread of its own: a connection kept open there is never used
    # again, and soon the server has no more to give.
    DATABASE["CONN_MAX_AGE"] = 0
    DATABASE["OPTIONS"] = {  # besides those of the address, such as ?sslmode=require
        **DATABASE.get("OPTIONS", {}),
        "options": "-c statement_timeout=5000 -c synchronous_commit=on",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- hints: none within one process, which hands on what it commits; Redis between several
REDIS_URL = env("REDIS_URL", default="")
EMBEDDED = not REDIS_URL  # the server starts reply workers and the sweeper itself
REDIS_LAYER = {
    "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
    "CONFIG": {"hosts": [REDIS_URL]},
}
# Whether text of partial replies may go through Redis to other processes; else numbers only (R8).
PARTIALS_BY_REDIS = env.bool("PARTIALS_BY_REDIS", default=False)
CHANNEL_LAYERS = {} if EMBEDDED else {"default": REDIS_LAYER}
CELERY_BROKER_URL = REDIS_URL or "memory://"
INFERENCE = env("INFERENCE", default="process")  # where reply workers run bots: process, thread
BOT_SECONDS = env.float("BOT_SECONDS", default=30.0)  # that a bot may take for one batch
BOT_MEMORY_MB = env.float("BOT_MEMORY_MB", default=0.0)  # of one worker; 0: 3/4 of the machine's
BOT_DEVICE_MB = env.float("BOT_DEVICE_MB", default=0.0)  # GPU memory of one worker; 0: no limit
RESULTS_SECONDS = env.float("RESULTS_SECONDS", default=1800.0)  # that computing results may take
# Campaigns that results pages simulate per question; 0: none, -1: as many as take some seconds.
RESULTS_SIMULATE = env.int("RESULTS_SIMULATE", default=-1)
DEVICE = env("DEVICE", default="auto")  # auto, cpu, cuda: CUDA when there
WEIGHTS_DIR = Path(env("WEIGHTS_DIR", default=str(DATA_DIR / "weights")))

# --- a chat service as another door (docs/chat_service.md); without a token there is none
CHAT_SERVICE_URL = env("CHAT_SERVICE_URL", default="https://api.telegram.org")
CHAT_SERVICE_TOKEN = env("CHAT_SERVICE_TOKEN", default="")
CHAT_SERVICE_SECRET = env("CHAT_SERVICE_SECRET", default="")  # proves who calls the webhook

# --- a panel whose study, codes and pay are kept from here (docs/prolific.md); no token: none
PROLIFIC_URL = env("PROLIFIC_URL", default="https://api.prolific.com")
PROLIFIC_TOKEN = env("PROLIFIC_TOKEN", default="")
PROLIFIC_WEBHOOK_SECRET = env("PROLIFIC_WEBHOOK_SECRET", default="")  # "": it is only polled

# --- alarms by e-mail (docs/running.md); without a server there are none
EMAIL_URL = env("EMAIL_URL", default="")
_mail = env.email_url("EMAIL_URL") if EMAIL_URL else {}
EMAIL_HOST = _mail.get("EMAIL_HOST", "")
EMAIL_PORT = _mail.get("EMAIL_PORT") or 25
EMAIL_HOST_USER = _mail.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = _mail.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS = bool(_mail.get("EMAIL_USE_TLS"))
EMAIL_USE_SSL = bool(_mail.get("EMAIL_USE_SSL"))
EMAIL_TIMEOUT = 10  # seconds that the sweeper waits for it
DEFAULT_FROM_EMAIL = env("EMAIL_FROM", default="parley@localhost")

# --- people and pages
PARTNER_GRACE = env.int("PARTNER_GRACE", default=90)  # seconds that a silent partner is waited for
# Days after a campaign ended after which the ids of a panel are deleted
KEEP_IDS_DAYS = env.int("KEEP_IDS_DAYS", default=90)
LANGUAGE_CODE = "en"
LANGUAGES = [  # of participants' pages, by their own names; webapp/locale/ has a catalog of each
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("ar", "العربية"),
]
# What is shown to somebody whose words suggest a crisis, by language; "": the usual text. Phrases
# are besides the usual ones, a comma between two (docs/running.md).
CRISIS_TEXTS = {
    code: words
    for code, _name in LANGUAGES
    if (words := env(f"CRISIS_TEXT_{code.upper()}", default=""))
}
CRISIS_PHRASES = env.list("CRISIS_PHRASES", default=[])
LOCALE_PATHS = [BASE_DIR / "webapp" / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static", ("docs", BASE_DIR / "docs" / "images")]
WHITENOISE_USE_FINDERS = DEBUG
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "campaigns"
LOGOUT_REDIRECT_URL = "login"
SESSION_ENGINE = "webapp.services.accounts.sessions"
SESSION_COOKIE_AGE = 12 * 3600
AUTH_PASSWORD_VALIDATORS = [
    *(
        {"NAME": f"django.contrib.auth.password_validation.{name}"}
        for name in (
            "UserAttributeSimilarityValidator",
            "MinimumLengthValidator",
            "CommonPasswordValidator",
            "NumericPasswordValidator",
        )
    ),
    {"NAME": "webapp.services.accounts.passwords.ContextWords"},
    {"NAME": "webapp.services.accounts.breached.Breached"},
    {"NAME": "webapp.services.accounts.first_passwords.Replaced"},
]
# Seconds by which a web process may be late, looks in a row, before it takes nobody new; 0: any
OVERLOAD_SECONDS = env.float("OVERLOAD_SECONDS", default=2.0)
# A file of hashes of passwords that are known from breaches, sorted; empty: none is looked up
BREACHED_PASSWORDS = env.str("BREACHED_PASSWORDS", default="")
# Days in which a password that was drawn for an account can be used, to choose another; 0: for ever
FIRST_PASSWORD_DAYS = env.int("FIRST_PASSWORD_DAYS", default=0 if DEBUG else 7)

# --- security (S2-S7 of docs/promises.md)
SECURE = not DEBUG
HOST_PREFIX = "__Host-" if SECURE else ""
PARTICIPANT_COOKIE = f"{HOST_PREFIX}parley"
LANGUAGE_COOKIE_NAME = f"{HOST_PREFIX}language"
SESSION_COOKIE_NAME = f"{HOST_PREFIX}session"
DEVICE_COOKIE = f"{HOST_PREFIX}device"
CSRF_COOKIE_NAME = f"{HOST_PREFIX}csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
CSRF_COOKIE_HTTPONLY = True
# Whether all of the staff need a second factor; who has none yet is led to its page (S4).
SECOND_FACTOR_REQUIRED = env.bool("SECOND_FACTOR_REQUIRED", default=SECURE)
SECURE_SSL_REDIRECT = SECURE and env.bool("SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)  # in front of this server
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
MAX_BODY_BYTES = 1_048_576
MAX_UPLOAD_BYTES = 67_108_864  # of who is signed in
HEADER_SECONDS = 20.0  # within which a request's headers have to arrive
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "media-src": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "report-uri": ["/csp-reports"],
    }
}
METRICS_TOKEN = env("METRICS_TOKEN", default="")  # opens /metrics; without one there is none
SECURITY_CONTACT = env("SECURITY_CONTACT", default="")  # told at /.well-known/security.txt
MAX_FRAME_BYTES = 65_536
MAX_MESSAGE_CHARACTERS = 4_000

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "webapp.middleware.JsonFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": env("LOG_LEVEL", default="WARNING")},
    # They log the addresses of requests, and that of a chat service holds its token.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx", "httpcore")},
}
