"""A deterministic simulation of chat, pairing, lease, quota and pay: model and system agree (G7).

    python -m tests.trust.simulation --steps 1000000 --seed 1

People, workers and sweepers act in an order drawn from the seed, with a clock that the seed moves.
Acknowledgments are lost, items come twice and late, claims outlive their lease, and processes die
at a drawn statement of an action, as by kill -9. The model keeps what each person was told. Where
the database says something else, the seed, the campaign and its last steps are printed, the next
campaign goes on, and the end is exit 1. Every campaign is drawn by itself: `--seed 1 --first 42
--steps 250` is the forty-second of seed 1, whatever came before.
"""
