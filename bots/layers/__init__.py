"""Torch building blocks that several bots share. Only bots that need them import them."""
