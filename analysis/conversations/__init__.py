"""Messages of conversations: turns, use, spam, personas."""
