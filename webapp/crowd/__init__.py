"""A simulated crowd: people who know addresses and docs/protocol.md, and nothing else of Parley."""
