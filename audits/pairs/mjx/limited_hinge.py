"""A pendulum whose joint has a limit."""

from audits.pair import declared, pins, rounding
from audits.pairs.mjx import _model

XML = """
<worldbody>
  <body pos="0 0 1">
    <joint name="hinge" type="hinge" axis="0 1 0" limited="true" range="-30 30"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body>
</worldbody>
<actuator><motor joint="hinge" gear="5"/></actuator>
"""

CONTRACT = _model.contract(
    "limited_hinge",
    XML,
    [(-0.6, 0.6)],
    [(-3.0, 3.0)],
    rounding({"obs": 2e-04, "state.qpos": 2e-06, "state.qvel": 2e-04}),
)
Oracle, Candidate = _model.oracle(XML), _model.candidate(XML)
probe = pins("mujoco", "mujoco-mjx", "jax")
PAIR = declared(__name__, "MuJoCo, a model of our own", CONTRACT, slow_to_compile=True)
