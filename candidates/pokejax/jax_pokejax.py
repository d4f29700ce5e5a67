"""Generation 1 battles in JAX as a candidate."""

from __future__ import annotations

import jax.numpy as jnp

from twinstep.candidates.pokejax.modules import CALLS
from twinstep.contract import Contract
from twinstep.frames import Frame, Start
from twinstep.generated import pokejax
from twinstep.generated.pokejax import State
from twinstep.jax_candidate import JaxCandidate, Programs


def _begun(start: Start) -> State:
    return pokejax.reset(start.seed, start.fields["rules"], start.fields["team"])


def _frame(state: State) -> Frame:
    shown = pokejax.view(state)
    return Frame(
        obs=shown.obs,
        reward=shown.reward,
        terminated=state.winner != 0,
        truncated=jnp.bool_(False),
        acting=state.request != 0,
        legal=shown.legal,
        state=state._asdict(),
    )


#: Rules and teams are part of a battle, so all variants use the same programs.
PROGRAMS = Programs(
    reset=_begun,
    step=pokejax.step,
    frame=_frame,
    load=lambda fields: State(**fields),
    modules=CALLS,
    lanes=-1,
    scanned=False,
    strict=True,
)


class PokejaxJax(JaxCandidate):
    """`twinstep.generated.pokejax`, batched."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract, programs=PROGRAMS)
