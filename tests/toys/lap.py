"""Lap: a runner with little breath, who may be asked for a leap that the rules forbid. A toy.

A leap moves 2 and takes 2 breaths, a step moves 1, a rest gives 1 breath, at most 3. A leap without
2 breaths is illegal: the runner falls and has no breath left. The line at 9 ends the lap
(terminated), the 24th step cuts it (truncated). A seed begins at place 0 to 4.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from twinstep import (
    CandidateRef,
    Contract,
    Discrete,
    Environment,
    Field,
    Frame,
    JaxCandidate,
    OracleRef,
    Probe,
    Randomness,
)

LINE, STEPS, BREATHS = 9, 24, 3
REST, STEP, LEAP = range(3)
#: See the candidate `rare`: none of the first 20 public seeds, of the next 100 at least one.
RARE = 9


def contract(params):
    return Contract(
        version="lap-v0",
        params=dict(params),
        action=Discrete(3, ("rest", "step", "leap")),
        observation=Field("obs", "int32", (3,), names=("place", "breath", "clock")),
        state=(
            Field("place", "int32", low=0, high=LINE - 1, step=1),
            Field("breath", "int32", low=0, high=BREATHS, step=1),
            Field("clock", "int32", low=0, high=STEPS - 1, step=1),
        ),
        randomness=Randomness("the seed", parts={"place": ("state.place",)}),
        masked=True,
        auto_resets=("off", "same-step"),
        horizon=40,
        placed=64,
    )


class Oracle:
    """The reference: one runner in Python's numbers."""

    def __init__(self, contract):
        self.place = self.breath = self.clock = 0

    def reset(self, start):
        self.place = (int(start.seed[0]) % 5 + int(start.seed[1])) % 5
        self.breath, self.clock = 1, 0
        return self._frame(0.0)

    def load(self, state):
        self.place, self.breath, self.clock = (int(state[n]) for n in ("place", "breath", "clock"))

    def step(self, action):
        before, asked = self.place, int(action[0])
        if asked == LEAP and self.breath < 2:
            self.breath = 0
        elif asked == LEAP:
            self.place, self.breath = self.place + 2, self.breath - 2
        elif asked == STEP:
            self.place += 1
        else:
            self.breath = min(self.breath + 1, BREATHS)
        self.clock += 1
        return self._frame(float(self.place - before))

    def close(self):
        pass

    def _frame(self, reward):
        return Frame(
            obs=np.array([[self.place, self.breath, self.clock]], np.int32),
            reward=np.array([reward], np.float32),
            terminated=np.bool_(self.place >= LINE),
            truncated=np.bool_(self.clock >= STEPS),
            acting=np.ones(1, bool),
            legal=np.array([[True, True, self.breath >= 2]]),
            state={n: np.int32(getattr(self, n)) for n in ("place", "breath", "clock")},
        )


class State(NamedTuple):
    """A runner; seed: u32[2] of the lap, first: of the lane's first lap."""

    place: jnp.ndarray
    breath: jnp.ndarray
    clock: jnp.ndarray
    reward: jnp.ndarray
    seed: jnp.ndarray
    first: jnp.ndarray


class Jax(JaxCandidate):
    """The lap in JAX."""

    limit = STEPS

    def __init__(self, contract):
        frame = lambda state: _frame(state, self.limit)  # noqa: E731
        super().__init__(contract, reset=_reset, step=self.rules, frame=frame, load=_load)

    def rules(self, state, action):
        asked, can = action[0], state.breath >= 2
        move = jnp.where(asked == LEAP, jnp.where(can, 2, 0), jnp.where(asked == STEP, 1, 0))
        breath = jnp.where(asked == REST, jnp.minimum(state.breath + 1, BREATHS), state.breath)
        breath = jnp.where(asked == LEAP, jnp.where(can, breath - 2, self.fallen(breath)), breath)
        return state._replace(
            place=state.place + move,
            breath=breath,
            clock=state.clock + 1,
            reward=move.astype(jnp.float32),
        )

    def fallen(self, breath):
        """Return the breath after an illegal leap."""
        return jnp.zeros_like(breath)


class Shrugs(Jax):
    """Planted: an illegal leap takes no breath."""

    def fallen(self, breath):
        return breath


class Endless(Jax):
    """Planted: no lap is cut."""

    limit = 1 << 30


class Rare(Jax):
    """Planted: of one lap in 64, by its seed, the first step is paid 1 more."""

    def rules(self, state, action):
        after = super().rules(state, action)
        paid = (state.seed[0] % 64 == RARE) & (state.clock == 0)
        return after._replace(reward=jnp.where(paid, after.reward + 1.0, after.reward))


class Lingers(Jax):
    """Right, but what it does beyond a lap's end depends on the seed, which no state shows."""

    def rules(self, state, action):
        after = super().rules(state, action)
        strays = (state.place >= LINE) * (state.seed[0] % 7).astype(jnp.float32)
        return after._replace(reward=after.reward + strays)


class Own(Jax):
    """An auto-reset of its own, beside reset and step."""

    def __init__(self, contract):
        super().__init__(contract)
        self.load = self._load_seeded

    def _load_seeded(self, fields, seeds=None):
        seeds = np.zeros((len(fields["place"]), 2), np.uint32) if seeds is None else seeds
        return jax.vmap(_load)(dict(fields))._replace(seed=jnp.array(seeds), first=jnp.array(seeds))

    def auto_step(self, state, actions, mode):
        """Step, and begin the next episode where one ended."""
        assert mode == "same-step"
        state, last = self.step(state, self.asked(state, jnp.asarray(actions)))
        ended = last.terminated | last.truncated
        fresh = jax.vmap(_reset_at)(self.next_seeds(state))._replace(first=state.first)
        pick = lambda new, old: jnp.where(ended.reshape(-1, *[1] * (old.ndim - 1)), new, old)  # noqa: E731
        state = jax.tree.map(pick, fresh, state)
        shown = jax.vmap(_frame)(state)
        return state, last._replace(obs=shown.obs, legal=shown.legal, state=shown.state), last.obs

    def asked(self, state, actions):
        """Return the actions that are played."""
        return actions

    def next_seeds(self, state):
        """Return the next episodes' seeds."""
        return state.seed + jnp.array([0, 1], jnp.uint32)


class ForEver(Own):
    """Planted: each lane begins its first episode again and again."""

    def next_seeds(self, state):
        return state.first


class Swallows(Own):
    """Planted: the first action of a later episode is not played, but a rest."""

    def asked(self, state, actions):
        later = (state.clock == 0) & (state.seed != state.first).any(-1)
        return jnp.where(later[:, None], REST, actions)


def _reset(start):
    return _reset_at(start.seed)


def _reset_at(seed):
    place = ((seed[0] % 5 + seed[1]) % 5).astype(jnp.int32)
    begun = _load({"place": place, "breath": jnp.int32(1), "clock": jnp.int32(0)})
    return begun._replace(seed=seed, first=seed)


def _load(fields):
    none = jnp.zeros(2, jnp.uint32)
    return State(*(fields[n] for n in ("place", "breath", "clock")), jnp.float32(0.0), none, none)


def _frame(state, limit=STEPS):
    named = {"place": state.place, "breath": state.breath, "clock": state.clock}
    return Frame(
        obs=jnp.stack(list(named.values()))[None],
        reward=state.reward[None],
        terminated=state.place >= LINE,
        truncated=state.clock >= limit,
        acting=jnp.ones(1, bool),
        legal=jnp.array([True, True, False]).at[LEAP].set(state.breath >= 2)[None],
        state=named,
    )


def probe(params):
    return Probe({"lap": "1"})


_HERE = "twinstep.tests.toys.lap"
LAP = Environment(
    "lap",
    contract,
    OracleRef("the toy's own Python", f"{_HERE}:Oracle", f"{_HERE}:probe", "twinstep.tests.toys"),
    (
        CandidateRef("right", f"{_HERE}:Jax"),
        CandidateRef("shrugs", f"{_HERE}:Shrugs"),
        CandidateRef("endless", f"{_HERE}:Endless"),
        CandidateRef("rare", f"{_HERE}:Rare"),
        CandidateRef("lingers", f"{_HERE}:Lingers"),
        CandidateRef("own", f"{_HERE}:Own"),
        CandidateRef("forever", f"{_HERE}:ForEver"),
        CandidateRef("swallows", f"{_HERE}:Swallows"),
    ),
)
