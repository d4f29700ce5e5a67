"""Four corners of a tilted box are below the plane; MJX keeps those within 1 mm of the deepest."""

import mujoco
import numpy as np
from mujoco import mjx

BOX = """<mujoco><worldbody><geom type="plane" size="5 5 0.1"/>
<body pos="0 0 0.093" euler="0 -3 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""

model = mujoco.MjModel.from_xml_string(BOX)
reference = mujoco.MjData(model)
mujoco.mj_forward(model, reference)
port = mjx.get_data(model, mjx.forward(mjx.put_model(model), mjx.make_data(model)))
theirs, ours = (np.sort(data.contact.dist[data.contact.dist < 0]) for data in (reference, port))
assert len(theirs) == len(ours), f"corners below: MuJoCo {theirs.round(4)}, MJX {ours.round(4)}"
