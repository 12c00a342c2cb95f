"""One file per bot, named for it; each ends with `BOT`, a dataclass whose fields are its options."""
