"""octax's machine, placed in the states of `audits.references.chip8`."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from octax import create_state, execute, fetch
from octax.state import StackState

from audits.references.chip8 import BEGIN, DATA, STEPS, rom
from twinstep import Contract, Frame, JaxCandidate


def candidate(played: list[list[int]]) -> Callable[[Contract], JaxCandidate]:
    """Return the factory of a machine that plays these programs."""

    def build(contract: Contract) -> JaxCandidate:
        begun = create_state(jax.random.PRNGKey(0))
        roms = jnp.array([rom(program) for program in played], jnp.uint8)

        def load(fields):
            return begun.replace(
                V=fields["registers"],
                I=fields["index"],
                pc=fields["counter"],
                delay_timer=fields["delay"],
                sound_timer=fields["sound"],
                keypad=fields["keys"],
                memory=begun.memory.at[DATA].set(fields["data"]),
                display=fields["screen"],
                stack=StackState(begun.stack.data, jnp.int32(0)),
            )

        def step(state, action):
            bytes_ = roms[action[0]]
            memory = state.memory.at[BEGIN : BEGIN + roms.shape[1]].set(bytes_)
            now = state.replace(memory=memory, pc=jnp.uint16(BEGIN))

            def one(_, now):
                after = execute(*fetch(now))
                return jax.tree.map(lambda new, old: jnp.asarray(new, old.dtype), after, now)

            return jax.lax.fori_loop(0, STEPS, one, now)

        def frame(state):
            no = jnp.bool_(False)
            return Frame(
                obs=state.V[None],
                reward=jnp.zeros(1, jnp.float32),
                terminated=no,
                truncated=no,
                acting=jnp.ones(1, bool),
                legal=None,
                state={
                    "registers": state.V,
                    "index": state.I,
                    "counter": state.pc,
                    "delay": state.delay_timer,
                    "sound": state.sound_timer,
                    "keys": state.keypad,
                    "data": state.memory[DATA],
                    "screen": state.display,
                },
            )

        return JaxCandidate(
            contract, reset=lambda start: load(start.fields), step=step, frame=frame, load=load
        )

    return build
