"""The trading card game in JAX as a candidate."""

from __future__ import annotations

import jax.numpy as jnp

from twinstep.candidates.tcgjax.modules import CALLS
from twinstep.contract import Contract
from twinstep.frames import Frame, Start
from twinstep.generated import tcgjax
from twinstep.generated.tcgjax import State
from twinstep.jax_candidate import JaxCandidate, Programs


def _begun(start: Start) -> State:
    fields = start.fields
    return tcgjax.reset(start.seed, fields["rules"], fields["cards"], fields["types"])


def _frame(state: State) -> Frame:
    shown = tcgjax.view(state)
    asked = jnp.arange(2, dtype=jnp.int32) == state.asked.astype(jnp.int32)
    return Frame(
        obs=shown.obs,
        reward=shown.reward,
        terminated=state.winner != 0,
        truncated=jnp.bool_(False),
        acting=asked & (state.winner == 0),
        legal=shown.legal,
        state=state._asdict(),
    )


#: Rules and decks are part of a game, so all variants use the same programs.
PROGRAMS = Programs(
    reset=_begun,
    step=tcgjax.step,
    frame=_frame,
    load=lambda fields: State(**fields),
    modules=CALLS,
    scanned=False,
    strict=True,
)


class TcgjaxJax(JaxCandidate):
    """`twinstep.generated.tcgjax`, batched."""

    def __init__(self, contract: Contract) -> None:
        super().__init__(contract, programs=PROGRAMS)
