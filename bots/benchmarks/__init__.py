"""Re-runnable analyses of the papers, one to a file: `def run(study: Study) -> list[Table]`."""
