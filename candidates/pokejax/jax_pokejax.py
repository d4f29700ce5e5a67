"""Generation 1 battles in JAX as a candidate."""

from __future__ import annotations

import jax.numpy as jnp

from twinstep.contract import Contract
from twinstep.frames import Array, Frame
from twinstep.generated import pokejax
from twinstep.generated.pokejax import State
from twinstep.jax_candidate import JaxCandidate

#: Formats with the Sleep and the Freeze Clause.
CLAUSES = {"gen1customgame": False, "gen1randombattle": True, "gen1ou": True}


class PokejaxJax(JaxCandidate):
    """`twinstep.generated.pokejax`, batched."""

    def __init__(self, contract: Contract) -> None:
        clauses = CLAUSES[contract.params["format"]]
        super().__init__(
            contract,
            reset=lambda start: pokejax.reset(start.seed, start.fields["team"], jnp.bool_(clauses)),
            step=pokejax.step,
            frame=_frame,
            load=lambda fields: State(**fields, clauses=jnp.bool_(clauses)),
        )


def _frame(state: State) -> Frame:
    shown = pokejax.view(state)
    return Frame(
        obs=shown.obs,
        reward=shown.reward,
        terminated=state.winner != 0,
        truncated=jnp.bool_(False),
        acting=state.request != 0,
        legal=shown.legal,
        state=_fields(state),
    )


def _fields(state: State) -> dict[str, Array]:
    return {name: value for name, value in state._asdict().items() if name != "clauses"}
