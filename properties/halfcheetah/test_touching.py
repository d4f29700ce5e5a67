"""Level 1: a capsule end that just reaches the floor, at a distance of 0, pushes nothing."""

import numpy as np
import pytest

from twinstep.testing import outputs_differ

pytestmark = [pytest.mark.level1, pytest.mark.environment("halfcheetah")]

#: Heights of the torso at which MuJoCo's distance of an end is 0 where all angles are: of the
#: back thigh at its upper end, of back shin, back foot and front shin at their lower
#: ones. At other ends' heights the distance is a rounding from 0.
HEIGHTS = (0.6386903182275904, 0.2675148376501436, 0.07640553574160623, 0.23651442481957408)


@pytest.mark.needs(
    "candidate.call",
    when=lambda facts, row: facts.candidate is None or facts.candidate.dtype == "float64",
    why="in float32 these heights are other ones",
)
@pytest.mark.parametrize("part", ["rows", "contacts"])
def test_an_end_that_just_reaches_the_floor_makes_no_rows(twinstep_lab, part):
    # Just above, at the height, and just below.
    qpos = np.zeros((len(HEIGHTS), 3, 9))
    qpos[..., 1] = -np.array(HEIGHTS)[:, None] + [1e-12, 0, -1e-12]
    declared = twinstep_lab.contract.module(part)
    inputs = {field.name: np.zeros_like(qpos).reshape(-1, 9) for field in declared.inputs}
    inputs["qpos"] = qpos.reshape(-1, 9)
    want, got = twinstep_lab.oracle.call(part, inputs), twinstep_lab.runner.call(part, inputs)
    shown = want["contact_weight" if part == "rows" else "depth"] != 0
    touching = shown.reshape(len(HEIGHTS), 3, -1).sum(-1)
    edge = touching - touching[:, :1]
    assert (edge == [0, 0, 1]).all(), "the reference's edge is elsewhere"
    found = outputs_differ(twinstep_lab.contract, twinstep_lab.rules, part, want, got)
    assert not found, f"{', '.join(sorted(found))} differ"
