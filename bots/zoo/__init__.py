"""One file per bot, named for it. `BOT` is its dataclass, whose fields are its options."""
