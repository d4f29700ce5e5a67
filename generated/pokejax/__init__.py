"""Generation 1 Pokemon battles in JAX: the rules of Pokemon Showdown's simulator, draw for draw.

`reset` begins a battle, `step` plays a decision of both players, `view` gives their observations
and legal actions. Each is for one battle; `jax.vmap` gives batches, laid out as in `batch.py`.
"""

from twinstep.generated.pokejax.play import View, reset, step, view
from twinstep.generated.pokejax.state import State

__all__ = ["State", "View", "reset", "step", "view"]
