"""Foreign tables: what each bad or odd file gets, read, told of, or refused in words."""

from tests.foreign_tables.exports import EXPORTS
from tests.foreign_tables.oddities import ODDITIES

TABLES = [*ODDITIES, *EXPORTS]
