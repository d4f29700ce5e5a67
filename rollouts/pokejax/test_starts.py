"""Level 3: teams that the reference checks before the first decision.

A start ends a turn like any other, and teams that can never do anything tie there.
"""

import numpy as np
import pytest

from twinstep.properties.pokejax.teams import starts_of

pytestmark = [
    pytest.mark.level3, pytest.mark.environment("pokejax"), pytest.mark.one_variant,
]  # fmt: skip

MEW, DITTO = 151, 132
TACKLE, TRANSFORM, SPLASH = 33, 144, 150
COPY, COPIES = (DITTO, TRANSFORM), [(MEW, TRANSFORM), (DITTO, TRANSFORM)]
BOTH, OTHER = (MEW, TRANSFORM, TACKLE), (MEW, SPLASH)

#: Both teams, each member a species and its moves.
TIES = [
    ([COPY], [COPY]),
    (COPIES * 3, COPIES),
    ([COPY], COPIES * 3),
]
PLAYED = [
    ([BOTH], [COPY]),
    ([COPY], [BOTH]),
    (COPIES, [COPY] * 5 + [OTHER]),
    ([*COPIES, OTHER], COPIES * 3),
    ([OTHER], [COPY]),
    ([OTHER], [OTHER]),
]
#: Two Pokemon that copy each other go on for a thousand turns.
HORIZON = 40


def test_teams_with_nothing_but_transform_tie_before_the_first_decision_and_others_do_not(
    twinstep_lab,
):
    traces = twinstep_lab.reference.recorded("random", starts_of(TIES + PLAYED), HORIZON)
    twinstep_lab.require_lockstep(traces)
    # The reference asked for decisions: it tied exactly these battles and played the others.
    lengths = np.concatenate([chunk.lengths for chunk in traces.chunks()])
    assert (lengths == 0).tolist() == [True] * len(TIES) + [False] * len(PLAYED)
