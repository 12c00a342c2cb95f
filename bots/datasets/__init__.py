"""One file per layout of dialogues, named for it: `read`, and `write` where it is a layout."""
