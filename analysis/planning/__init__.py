"""Studies before, during and beside their people: planning, stopping, judges."""
