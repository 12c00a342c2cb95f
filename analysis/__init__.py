"""What ratings, messages and predictions say: metrics and reports on plain tables.

The library needs neither Django nor a database; it reads what an export holds, or frames.
"""

from analysis.cautions import cautions
from analysis.checking import message_table, prediction_table, rating_table
from analysis.options import BadOption
from analysis.raters import profiles, without_flagged
from analysis.reading import read, read_all
from analysis.registry import (
    UnknownName,
    get_metric,
    get_report,
    metric_names,
    report_names,
)
from analysis.report import Report, Section
from analysis.reports.summary import summary
from analysis.results import evaluate, records, run
from analysis.tables import (
    BadTable,
    MessageTable,
    PredictionTable,
    Problem,
    RatingTable,
    Tables,
)
from analysis.terminal import rendered

__all__ = [
    "BadOption",
    "BadTable",
    "MessageTable",
    "PredictionTable",
    "Problem",
    "RatingTable",
    "Report",
    "Section",
    "Tables",
    "UnknownName",
    "cautions",
    "evaluate",
    "get_metric",
    "get_report",
    "message_table",
    "metric_names",
    "prediction_table",
    "profiles",
    "rating_table",
    "read",
    "read_all",
    "records",
    "rendered",
    "report_names",
    "run",
    "summary",
    "without_flagged",
]
