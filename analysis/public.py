"""The names that `import analysis` offers."""

from analysis.output.all_metrics import evaluate, records, run
from analysis.output.terminal import rendered
from analysis.raters.raters import profiles, without_flagged
from analysis.registry import (
    UnknownAnalysis,
    get_metric,
    get_report,
    metric_names,
    report_names,
)
from analysis.report import Report, Section
from analysis.reports.summary import summary
from analysis.scores.cautions import cautions
from analysis.tables.options import BadOption
from analysis.tables.reading import read, read_all
from analysis.tables.schema import (
    BadTable,
    MessageTable,
    PredictionTable,
    Problem,
    RatingTable,
    Tables,
)
from analysis.tables.validation import message_table, prediction_table, rating_table

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
    "UnknownAnalysis",
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
