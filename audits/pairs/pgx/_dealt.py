"""Cards of a start for the player who moves first, whom pgx draws."""

import jax.numpy as jnp


def dealt(state, cards):
    """Return pgx's state with the cards i32[K]: first mover's, other's, and public ones."""
    own = jnp.where(state.current_player == 0, cards[:2], cards[:2][::-1])
    return state.replace(_cards=jnp.concatenate([own, cards[2:]]))
