"""A damped pendulum with a motor."""

from audits.pair import declared, pins, rounding
from audits.pairs.mjx import _model

XML = """
<worldbody>
  <body pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body>
</worldbody>
<actuator><motor joint="hinge"/></actuator>
"""

CONTRACT = _model.contract(
    "pendulum",
    XML,
    [(-3.0, 3.0)],
    [(-5.0, 5.0)],
    rounding({"obs": 5e-06, "state.qpos": 3e-06, "state.qvel": 5e-06}),
)
Oracle, Candidate = _model.oracle(XML), _model.candidate(XML)
probe = pins("mujoco", "mujoco-mjx", "jax")
PAIR = declared(__name__, "MuJoCo, a model of our own", CONTRACT, slow_to_compile=True)
