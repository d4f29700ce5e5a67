"""Equal work in `twinstep bench`: checksums where bits are equal, means where they may differ."""

import numpy as np

from twinstep.bench import checksum, mean_check
from twinstep.bench.training_cell import trained
from twinstep.contracts.pong.declaration import PONG
from twinstep.project.registry import variant_of


def _contract():
    return PONG.contract(PONG.params({}))


def _round(**changed):
    shown = {
        "obs": np.zeros((3, 4, 8), np.float32),
        "reward": np.zeros((3, 4), np.float32),
        "terminated": np.zeros((3, 4), bool),
        "truncated": np.zeros((3, 4), bool),
    } | changed
    return checksum.Checksum(_contract(), 4).add(shown)


def test_training_is_measured_where_it_is_declared():
    """Of the variants that are measured, or else of any of the environment."""
    plain, declaring = (variant_of("pong", name) for name in ("fs1", "fs8"))
    assert [subject.label for subject in trained([plain, declaring])] == ["pong@fs8"]
    assert [subject.label for subject in trained([plain])] == ["pong@fs8"]


def test_a_checksum_sees_every_bit_but_not_the_players_axis():
    same = _round()
    assert _round(truncated=None) == same
    assert _round(obs=np.zeros((3, 4, 1, 8), np.float32)) == same
    assert _round(obs=np.full((3, 4, 8), -0.0, np.float32))["obs"] != same["obs"]
    assert _round(reward=np.zeros((3, 4), np.int32))["reward"] != same["reward"]
    ended = np.zeros((3, 4), bool)
    ended[2, 3] = True
    assert _round(truncated=ended)["truncated"] != same["truncated"]


def test_a_part_with_a_tolerance_is_not_held_to_the_bit():
    """On a GPU a division may be off by an ulp; rewards, ends and states still count."""
    held = checksum.held_parts(_contract(), "jax", "float32", "gpu")
    assert "obs" not in held
    assert {"reward", "terminated", "state.ball_x"} < held
    assert "obs" in checksum.held_parts(_contract(), "jax", "float32", "cpu")
    comparison = checksum.Comparison()
    one = {"4": {"obs": "1", "reward": "2"}}
    other = {"4": {"obs": "9", "reward": "3"}}
    assert comparison.differences("a", one, {"obs", "reward"}) == []
    assert comparison.differences("b", other, {"reward"}) == ["b differs from a in reward"]


def _means(**rows):
    return mean_check.means({}, rows, [4, 2])


def test_means_are_of_the_first_lanes_and_of_all():
    reward = np.array([[[1.0], [2.0], [3.0], [6.0]], [[0.0], [0.0], [1.0], [0.0]]])
    found = mean_check.means({"reward": reward, "obs": np.ones((2, 4, 3))}, {}, [4, 2])
    returns = np.array([1.0, 2.0, 4.0, 6.0])
    assert found["4"] == {"return": (returns.mean(), returns.std() / 2)}
    assert found["2"] == {"return": (1.5, 0.5 / np.sqrt(2))}
    assert _means(qvel=np.full((4, 9), 3.0))["4"] == {"qvel squared": (9.0, 0.0)}


def test_work_that_is_unlike_is_said_and_noise_is_not():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(4096, 9))
    near, far = truth + rng.normal(scale=1e-3, size=truth.shape), 1.1 * truth
    theirs = mean_check.means({}, {"qvel": truth}, [4096])
    assert (
        mean_check.differences("a", mean_check.means({}, {"qvel": near}, [4096]), "b", theirs) == []
    )
    (line,) = mean_check.differences("a", mean_check.means({}, {"qvel": far}, [4096]), "b", theirs)
    assert line.startswith("a has a mean qvel squared of 1.2")
    nan = mean_check.means({}, {"qvel": truth * np.nan}, [4096])
    assert len(mean_check.differences("a", nan, "b", theirs)) == 1
