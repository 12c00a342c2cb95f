"""Reply jobs, from queued to delivered or given up."""
