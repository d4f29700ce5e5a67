"""One model of MuJoCo's on both sides; its whole state is qpos and qvel.

Warm starts are off, because they would be state too. The observation is qpos and qvel.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco import mjx

from audits.pair import uniform
from twinstep import Box, Contract, Field, Frame, JaxCandidate, Randomness
from twinstep.inward import oracle_from_gym

XML = """<mujoco><option timestep="0.01" solver="Newton" iterations="20"><flag warmstart="disable"/>
</option><default><geom mass="1"/><motor ctrlrange="-1 1"/></default>{}</mujoco>"""


class MuJoCo:
    """The model in MuJoCo, behind Gymnasium's interface. xml: worldbody and actuator."""

    def __init__(self, xml: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(XML.format(xml))
        self.data = mujoco.MjData(self.model)

    def observed(self):
        return np.concatenate([self.data.qpos, self.data.qvel])

    def reset(self, seed=None):
        mujoco.mj_resetData(self.model, self.data)
        return self.observed(), {}

    def step(self, action):
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data)
        return self.observed(), 0.0, False, False, {}

    def put(self, qpos, qvel):
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel


class State(NamedTuple):
    """One episode."""

    qpos: Any
    qvel: Any


def contract(name: str, xml: str, qpos: Any, qvel: Any, gates: Any = ()) -> Contract:
    """Return the contract of a model. qpos, qvel: (low, high) of each element, [NQ, 2], [NV, 2]."""
    model = MuJoCo(xml).model
    ranges = np.array([*qpos, *qvel], np.float64)
    fields = [
        Field(name, "float64", (len(ends),), low=np.min(ends), high=np.max(ends))
        for name, ends in (("qpos", qpos), ("qvel", qvel))
    ]
    return Contract(
        version=f"mjx_{name}-v0",
        params={},
        action=Box(-1.0, 1.0, (model.nu,)),
        observation=Field("obs", "float32", (model.nq + model.nv,)),
        state=tuple(fields),
        randomness=Randomness("a start is placed in both", parts={"start": ("obs",)}),
        gates=gates,
        truncates=False,
        ends=False,
        horizon=100,
        placed=2048,
        **uniform(*ranges.T),
    )


def oracle(xml: str, *ranges: Any) -> Any:
    """Return the oracle of a model.

    ranges: qpos and qvel as `contract` takes them, where placed states need each element's own
    range: a body deep below the plane is no state that play has.
    """

    def place(env, start):
        count = env.model.nq
        env.put(start.fields["state"][:count], start.fields["state"][count:])
        return env.observed()

    plain = oracle_from_gym(
        lambda: MuJoCo(xml),
        place=place,
        fields={"qpos": lambda env: env.data.qpos.copy(), "qvel": lambda env: env.data.qvel.copy()},
        load=lambda env, fields: env.put(fields["qpos"], fields["qvel"]),
    )
    if not ranges:
        return plain

    class Placed(plain):
        def places(self, count, seed, dtype):
            low, high = np.array([*ranges[0], *ranges[1]], np.float64).T
            drawn = np.random.default_rng(seed).uniform(low, high, (count, len(low)))
            drawn = drawn.astype(dtype).astype(np.float64)
            return {"qpos": drawn[:, : len(ranges[0])], "qvel": drawn[:, len(ranges[0]) :]}

    return Placed


def candidate(xml: str) -> Callable[..., JaxCandidate]:
    """Return the factory of a model in MJX."""

    def build(contract: Contract, dtype: str = "float32") -> JaxCandidate:
        model = MuJoCo(xml).model
        with jax.enable_x64(dtype == "float64"):
            port = mjx.put_model(model)

        def reset(start):
            whole = start.fields["state"].astype(dtype)
            return State(whole[: model.nq], whole[model.nq :])

        def load(fields):
            return State(*(fields[name].astype(dtype) for name in ("qpos", "qvel")))

        def step(state, action):
            data = mjx.make_data(port)
            data = data.replace(qpos=state.qpos, qvel=state.qvel, ctrl=action[0].astype(dtype))
            data = mjx.step(port, data)
            return State(data.qpos, data.qvel)

        def frame(state):
            no = jnp.bool_(False)
            return Frame(
                obs=jnp.concatenate(state).astype(jnp.float32)[None],
                reward=jnp.zeros(1, jnp.float32),
                terminated=no,
                truncated=no,
                acting=jnp.ones(1, bool),
                legal=None,
                state=state._asdict(),
            )

        return JaxCandidate(contract, reset=reset, step=step, frame=frame, load=load, dtype=dtype)

    return build
