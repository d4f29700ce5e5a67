"""The two protocols: required and optional methods of an oracle and of a candidate.

An oracle is the bridge to the real reference program: stateful, slow, usually one episode
at a time. A candidate is a fast implementation, always batched. Reset and step are enough
to start. Each optional method unlocks more checks; the pytest header prints that ladder.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from twinstep.frames import Array, Frame, Start


class ModuleCall(NamedTuple):
    """One module call of a step: module name, inputs and outputs without batch axis."""

    module: str
    inputs: dict[str, Array]
    outputs: dict[str, Array]


class NotCallable(Exception):
    """Raised by `call` when the reference cannot be given these inputs."""


class Oracle(Protocol):
    """The reference, one live episode. Built as `factory(contract)`.

    Where the contract has hidden state fields, `hidden() -> dict` returns their present values.

    Optional methods, used when present:
      load(state)            continue from a frame's `state` (single lane). Unlocks one-step
                             witnesses, resync gates, cross-continuation.
      restart() -> Frame     after a terminated frame: the frame that the reference's own
                             auto-reset gives (contract.reset_mode "same-step").
      events() -> bool[E]    which contract.events happened in the last reset or step.
      call(module, inputs)   one module alone; inputs and outputs have a leading N. May raise
                             NotCallable. Unlocks level 1 and the naming of modules.
      places(count, seed, dtype) -> dict   states and modules' inputs [count, ...] where behaviour
                             changes, no nearer to an edge than a candidate of this dtype can
                             resolve. Unlocks levels 1 and 2 where ranges of single fields would
                             give impossible states.
      fresh(seed) -> Frame   where the contract has `starts`: the first frame of an episode that
                             the reference begins by itself from a seed u32[2], not placed.
                             Unlocks the comparison of the port's own starts.
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
        """Free the reference's resources."""
        ...


class Lanes(Protocol):
    """N episodes of the reference side by side. All arrays have a leading N.

    Lanes do not influence each other. `step` advances only lanes with `live[i]`; the rest
    of the returned frame is not read. `load`, `restart` and `events` are optional as above, and
    `load(state, lanes)` sets the lanes with these indices. The optional `begin(starts, lanes) ->
    Frame` begins an episode in each of these lanes (starts [len(lanes)]) while the others keep
    theirs, which unlocks the fast `oracle` backend of `twinstep.make`. Where reading the state is
    slow, `lean() -> Lanes` returns the same lanes with empty `state` in their frames, and `fields()
    -> dict` their present state, [N, ...]: they unlock training at the reference's speed.
    """

    def reset(self, starts: Start) -> Frame:
        """Begin one episode per lane."""
        ...

    def step(self, actions: Array, live: Array) -> Frame:
        """Apply actions [N, P, ...] to the live lanes."""
        ...


class Candidate(Protocol):
    """A fast implementation, batched. Built as `factory(contract)`.

    A step may consume its state (donated buffers, in-place Rust), so callers use `copy` where
    they need it twice. dtype is the floating-point type of its arithmetic; platform is `cpu` or
    `gpu`. A candidate with `any_size = True` is not compiled for sizes: its batches and rollouts
    are not padded to a common one.

    Optional methods, used when present:
      copy(state) -> State
      load(fields) -> State            from frame.state fields with a leading N. Where auto_step
                                       begins episodes by their seeds, load also takes `seeds`,
                                       u32[N, 2] of the running episodes
      restart(state) -> (State, Frame) the auto-reset of the reference, all lanes
      fresh(seeds u32[N, 2]) -> Frame  first frames that its own reset gives, not placed, as of
                                       the oracle's
      rollout(state, actions[T, N, P, ...]) -> (State, Frame with leading [T, N])
      call(module, inputs) -> outputs  leading N, same names as the oracle's
      explain(fields, action) -> list[ModuleCall]   the module calls of one step in order;
                                       single lane. Unlocks the naming of modules inside a step.
      eager() -> Candidate             the same without compilation, for jit = no jit
      frame(state) -> Frame            the present frame without a step, with the state's hidden
                                       fields. Unlocks `save`.
      advance(state, actions[T, N, P, ...]) -> State   steps without output, which a benchmark
                                       compares with engines that only step
      auto_step(state, actions[N, P, ...], mode) -> (State, Frame, final_obs)
                                       one step under `same-step` or `next-step` auto-reset, see
                                       `TimeStep`. Unlocks auto-reset for implementations
                                       outside JAX.
      auto_rollout(state, actions[T, N, P, ...], mode) -> the same with leading [T, N]
      facts() -> dict[str, float]      numbers by name for a benchmark: the composition of a step
      buffers(shape, minimal, final_obs) -> arrays     for auto_step and auto_rollout to write to,
                                       passed as `out`; minimal omits the frame's state. shape
                                       is (N,) or (T, N).
    """

    dtype: str
    platform: str

    def reset(self, starts: Start) -> tuple[Any, Frame]:
        """Begin one episode per lane."""
        ...

    def step(self, state: Any, actions: Array) -> tuple[Any, Frame]:
        """Apply actions [N, P, ...]."""
        ...


#: Optional method -> the checks it unlocks; printed in the pytest header. An oracle's process lists
#: the methods that it offers; others are not used.
ORACLE_LADDER = {
    "load": "one-step witnesses, placed states, cross-continuation, resync gates",
    "call": "level 1 against the oracle, the guilty module's name",
    "events": "coverage",
    "fresh": "the port's own starts beside the reference's",
    "places": "placed states that ranges of single fields cannot describe",
    "lanes": "fast recording",
    "restart": "the reference's own auto-reset",
    "explain": "the reference's own words for one step",
}
CANDIDATE_LADDER = {
    "load": "one-step witnesses, placed states, cross-continuation",
    "call": "level 1",
    "explain": "the guilty module inside a step",
    "fresh": "the port's own starts beside the reference's",
    "rollout": "fast replay",
    "restart": "the reference's own auto-reset",
    "auto_step": "auto-reset in `twinstep.make`",
    "eager": "jit = no jit",
    "copy": "a step that consumes its state, with a copy kept",
    "frame": "`save`, hidden fields of the state",
}


def offers(side: Any, method: str) -> bool:
    """Return whether an oracle, its lanes or a candidate has the optional method."""
    return callable(getattr(side, method, None))
