"""The trading card game of tcgjax-v0 in JAX, written from its numbered rulings.

`reset` begins a game, `step` plays an action of the acting player, `view` gives both players'
observations and legal actions. Each is for one game; `jax.vmap` gives batches.
"""

from twinstep.generated.tcgjax.play import View, reset, step, view
from twinstep.generated.tcgjax.state import State

__all__ = ["State", "View", "reset", "step", "view"]
