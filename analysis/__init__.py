"""Analysis of ratings, messages and predictions: metrics and reports on plain tables.

The library needs neither Django nor a database; it reads what an export holds, or frames.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Return what `analysis.public` offers.

    It brings pandas and scipy, a second that whoever wants one light module need not wait for.
    """
    # Python asks here for the modules of the folder too, before it looks for them.
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
        public = import_module("analysis.public")
        if name in public.__all__:
            return getattr(public, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *import_module("analysis.public").__all__]
