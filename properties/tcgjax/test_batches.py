"""Level 1: a batch of any size is played correctly, into whatever parts it is cut."""

import jax
import jax.numpy as jnp
import pytest

from twinstep.generated.tcgjax.stage import in_parts

pytestmark = [
    pytest.mark.level1, pytest.mark.environment("tcgjax"), pytest.mark.one_variant,
]  # fmt: skip


@pytest.mark.usefixtures("twinstep_lab")
@pytest.mark.parametrize("size", [1, 1000, 1024, 1025, 1500, 2048, 2050])
def test_a_function_run_in_parts_gives_every_lane_its_own(size):
    lanes = jnp.arange(size)
    assert (jax.vmap(in_parts(lambda x: 2 * x))(lanes) == 2 * lanes).all()
