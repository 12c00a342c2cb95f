"""Rules that other rooms ask: who sees what, which states follow, what counts, what is logged."""
