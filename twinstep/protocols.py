"""The two protocols: what an oracle and a candidate must offer, and what more they may.

An oracle is the bridge to the real reference program: stateful, slow, usually one episode
at a time. A candidate is a fast implementation, always batched. Reset and step are enough
to start. Each optional method unlocks more, and the pytest header prints that ladder.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from twinstep.frames import Array, Frame, Start


class ModuleCall(NamedTuple):
    """One call a step made: module name, inputs and outputs without batch axis."""

    module: str
    inputs: dict[str, Array]
    outputs: dict[str, Array]


class NotCallable(Exception):
    """Raised by `call` when the reference cannot be brought to see these inputs."""


class Oracle(Protocol):
    """The reference, one live episode. Built as `factory(contract)` in a child process.

    Where the contract has hidden state fields, `hidden() -> dict` returns their present values.

    Optional methods, used when present:
      load(state)            continue from a frame's `state` (single lane). Unlocks one-step
                             witnesses, resync gates, cross-continuation.
      restart() -> Frame     after a terminated frame: the frame that the reference's own
                             auto-reset gives (contract.reset_mode "same-step").
      events() -> bool[E]    which contract.events happened in the last reset or step.
      call(module, inputs)   one module alone; inputs and outputs have a leading N. May raise
                             NotCallable. Unlocks level 1 and the naming of modules.
      places(count, seed, dtype) -> dict   states and modules' inputs [count, ...] that lie where
                             behaviour changes, no nearer to an edge than a candidate of this
                             dtype can tell its sides apart. Unlocks levels 1 and 2 where ranges
                             of single fields would give states that cannot be.
      lanes(n) -> Lanes      n episodes side by side. Unlocks fast recording.
      explain(state, action) -> str   the reference's own words for one step (log, draw sites).
    """

    def reset(self, start: Start) -> Frame:
        """Begin the episode of `start` and return its first frame."""
        ...

    def step(self, action: Array) -> Frame:
        """Apply an action [P, ...] and return the frame that follows."""
        ...

    def close(self) -> None:
        """Free what the reference holds."""
        ...


class Lanes(Protocol):
    """N episodes of the reference side by side. All arrays have a leading N.

    Lanes do not influence each other. `step` advances only lanes with `live[i]`; the rest
    of the returned frame is not read. `load`, `restart` and `events` are optional as above.
    `load(state, lanes)` sets the lanes with these indices. So is `begin(starts, lanes) -> Frame`,
    which begins an episode in each of these lanes (starts [len(lanes)]) while the others keep
    theirs: it unlocks the fast `oracle` backend of `twinstep.make`. Where reading the state takes
    long, `lean() -> Lanes` returns the same lanes with frames whose `state` is empty, and
    `fields() -> dict` their present state, [N, ...]: it unlocks training at the reference's speed.
    """

    def reset(self, starts: Start) -> Frame:
        """Begin one episode per lane."""
        ...

    def step(self, actions: Array, live: Array) -> Frame:
        """Apply actions [N, P, ...] to the live lanes."""
        ...


class Candidate(Protocol):
    """A fast implementation, batched. Built as `factory(contract)`.

    A step may consume the state it is given (donated buffers, in-place Rust), so callers
    use `copy` where they need it twice. dtype is the floating-point type it computes in;
    platform is `cpu` or `gpu`. One with `any_size = True` is not compiled for sizes: its batches
    and rollouts are not filled up to a common one.

    Optional methods, used when present:
      copy(state) -> State
      load(fields) -> State            from frame.state fields with a leading N. Where auto_step
                                       begins episodes by their seeds it takes `seeds` too,
                                       u32[N, 2] of the running ones
      restart(state) -> (State, Frame) the auto-reset of the reference, all lanes
      rollout(state, actions[T, N, P, ...]) -> (State, Frame with leading [T, N])
      call(module, inputs) -> outputs  leading N, same names as the oracle's
      explain(fields, action) -> list[ModuleCall]   the module calls of one step in order;
                                       single lane. Unlocks the naming of modules inside a step.
      eager() -> Candidate             the same without compilation, for jit = no jit
      frame(state) -> Frame            the present frame, nothing played, with the hidden fields of
                                       the state. Unlocks `save`.
      advance(state, actions[T, N, P, ...]) -> State   steps of which nothing is written: what a
                                       benchmark measures beside engines that only step
      auto_step(state, actions[N, P, ...], mode) -> (State, Frame, final_obs)
                                       one step under `same-step` or `next-step` auto-reset, see
                                       `TimeStep`. Unlocks auto-reset for implementations
                                       outside JAX.
      auto_rollout(state, actions[T, N, P, ...], mode) -> the same with leading [T, N]
      facts() -> dict[str, float]      numbers by name for a benchmark: what a step is made of
      buffers(shape, minimal, final_obs) -> arrays     that auto_step and auto_rollout write to
                                       when they are given as `out`; minimal leaves out the
                                       frame's state. shape is (N,) or (T, N).
    """

    dtype: str
    platform: str

    def reset(self, starts: Start) -> tuple[Any, Frame]:
        """Begin one episode per lane."""
        ...

    def step(self, state: Any, actions: Array) -> tuple[Any, Frame]:
        """Apply actions [N, P, ...]."""
        ...


#: What each optional method unlocks; printed in the pytest header. An oracle's process says which
#: of these it offers, and what it does not say is not used.
ORACLE_LADDER = {
    "load": "one-step witnesses, placed states, cross-continuation, resync gates",
    "call": "level 1 against the oracle, the guilty module's name",
    "events": "coverage",
    "places": "placed states that ranges of single fields cannot describe",
    "lanes": "fast recording",
    "restart": "the reference's own auto-reset",
    "explain": "the reference's own words for one step",
}
CANDIDATE_LADDER = {
    "load": "one-step witnesses, placed states, cross-continuation",
    "call": "level 1",
    "explain": "the guilty module inside a step",
    "rollout": "fast replay",
    "restart": "the reference's own auto-reset",
    "auto_step": "auto-reset in `twinstep.make`",
    "eager": "jit = no jit",
    "copy": "a step that consumes its state, with a copy kept",
    "frame": "`save`, hidden fields of the state",
}


def offers(side: Any, method: str) -> bool:
    """Whether an oracle, its lanes or a candidate has the optional method."""
    return callable(getattr(side, method, None))
