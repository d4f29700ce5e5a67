"""State shared by both sides while a step is traced."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from twinstep.generated.pokejax.lcg import Draws
from twinstep.generated.pokejax.state import Fighter

Array = jax.Array


@jax.tree_util.register_dataclass
@dataclass
class Battle:
    """draws: the generator. last_damage: i32[...], read by Counter and Bide.

    clauses: bool[...], whether the Sleep and the Freeze Clause hold: except in custom games.
    """

    draws: Draws
    last_damage: Array
    clauses: Array

    def hurt_itself(self, me: Fighter, foe: Fighter, amount: Array | int, when: Array) -> None:
        """Apply the cost of confusion or a failed jump (`directDamage` in sim/battle.ts).

        Behind a substitute nothing is lost, except that the foe's substitute takes it (gen 1).
        """
        self.last_damage = jnp.where(when, amount, self.last_damage)
        behind = me.substitute > 0
        me.hp = jnp.where(when & ~behind, jnp.maximum(me.hp - amount, 0), me.hp)
        self.hit_substitute(foe, amount, when & behind & (foe.substitute > 0))

    def hit_substitute(self, foe: Fighter, amount: Array | int, when: Array) -> None:
        """Take from a present substitute; a broken one is remembered."""
        left = jnp.maximum(foe.substitute - amount, 0)
        foe.sub_fainted = foe.sub_fainted | (when & (left == 0))
        foe.substitute = jnp.where(when, left, foe.substitute)
