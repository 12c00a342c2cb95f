"""Websockets and their HTTP twin: frames in, frames out."""
