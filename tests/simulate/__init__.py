"""Simulated campaigns of every protocol, over pages and sockets: `script/simulate`.

A quality is planted in each system, simulated people meet it in a browser's place, and what the
command line of the analysis makes of the export must be what was planted. What is planted, asked
and checked follows from the protocol's declaration.
"""
