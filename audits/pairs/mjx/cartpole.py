"""A pole on a cart with a motor, whose rail brakes: a cart without an end would run away.

Far from the rail's middle one step of float32 is larger than the bounds.
"""

from audits.pair import declared, pins, rounding
from audits.pairs.mjx import _model

XML = """
<worldbody>
  <body pos="0 0 1"><joint name="slide" type="slide" axis="1 0 0" damping="5"/>
    <geom type="box" size="0.2 0.1 0.1"/>
    <body><joint type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.05" mass="0.2"/></body></body>
</worldbody>
<actuator><motor joint="slide" gear="10"/></actuator>
"""

CONTRACT = _model.contract(
    "cartpole",
    XML,
    [(-1.0, 1.0), (-3.0, 3.0)],
    [(-2.0, 2.0), (-5.0, 5.0)],
    rounding({"obs": 5e-06, "state.qpos": 3e-06, "state.qvel": 6e-06}),
)
Oracle, Candidate = _model.oracle(XML), _model.candidate(XML)
probe = pins("mujoco", "mujoco-mjx", "jax")
PAIR = declared(__name__, "MuJoCo, a model of our own", CONTRACT, slow_to_compile=True)
