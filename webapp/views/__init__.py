"""Which address does what: translate, call one service, answer."""
