"""A ball on a plane, pushed by three motors.

The bounds of rounding are given by hand, from errors measured in steps from placed states.
"""

from audits.pair import declared, pins, rounding
from audits.pairs.mjx import _model

XML = """
<worldbody>
  <geom type="plane" size="5 5 0.1"/>
  <body pos="0 0 0.1">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="roll" type="hinge" axis="0 1 0"/>
    <geom type="sphere" size="0.1"/></body>
</worldbody>
<actuator><motor joint="x"/><motor joint="z"/><motor joint="roll" gear="0.1"/></actuator>
"""

QPOS = [(-0.1, 0.1), (-0.01, 0.1), (-3.0, 3.0)]
QVEL = [(-1.0, 1.0), (-1.0, 1.0), (-3.0, 3.0)]
CONTRACT = _model.contract(
    *("ball_on_plane", XML, QPOS, QVEL),
    rounding({"obs": 5e-04, "state.qpos": 5e-06, "state.qvel": 5e-04}),
)
Oracle, Candidate = _model.oracle(XML, QPOS, QVEL), _model.candidate(XML)
probe = pins("mujoco", "mujoco-mjx", "jax")
PAIR = declared(__name__, "MuJoCo, a model of our own", CONTRACT, slow_to_compile=True)
