"""Level 1: a player's observation depends on nothing hidden from that player.

At states of recorded battles, everything that is hidden from player p is replaced: the generator,
the foe's unseen members, its unused moves, PP, genes, stats, exact HP, and the counters of both
sides that a player only sees running.
"""

import jax
import numpy as np
import pytest

from twinstep.contracts.pokejax.layout import FLAGS
from twinstep.generated import pokejax
from twinstep.generated.pokejax import State

pytestmark = [pytest.mark.level1, pytest.mark.environment("pokejax")]

STATES = 2048
#: Counters of which only the running is visible, with their least and their most.
RUNNING = {
    "sleep": (1, 7), "confusion": (1, 5), "disable_time": (1, 8), "bide_time": (1, 3),
    "trapped_duration": (1, 2), "fake_duration": (1, 2), "lock_duration": (1, 5),
    "rage_accuracy": (1, 255), "locked_accuracy": (1, 255), "locked_time": (1, 3),
}  # fmt: skip
#: State hidden from the other side.
FOES = {
    "move_pp": (0, 63), "moves": (1, 165), "stats": (1, 999), "modified": (1, 999),
    "speed": (1, 999), "selected_move": (0, 165), "selected_slot": (0, 3), "last_move": (0, 165),
    "bide_damage": (0, 999), "lock_damage": (0, 999), "toxic_counter": (0, 99),
    "lock_total": (1, 5), "disable_slot": (0, 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def twinstep_rng():
    return np.random.default_rng(0)


def _states(lab, rng):
    """Return states [STATES, ...] of recorded random battles."""
    traces = lab.traces("random")
    chunks = traces.chunks()
    chunk = next(chunks)
    paths = [f"state.{field.name}" for field in lab.contract.state]
    frames = chunk.window(0, paths)
    count = len(frames[paths[0]])
    at, lane = rng.integers(0, count, STATES), rng.integers(0, chunk.lanes, STATES)
    at = np.minimum(at, np.minimum(chunk.lengths[lane], count - 1))
    chunks.close()
    return {path.removeprefix("state."): values[at, lane] for path, values in frames.items()}


def _hidden_changed(state, p, rng):
    """Return the state with everything replaced that player p may not know."""
    new = {name: values.copy() for name, values in state.items()}
    foe = 1 - p
    new["seed"] = rng.integers(0, 2**32, new["seed"].shape).astype(np.uint32)
    new["last_damage"] = rng.integers(0, 999, new["last_damage"].shape).astype(np.int32)
    for name, (low, high) in RUNNING.items():
        drawn = rng.integers(low, high + 1, new[name].shape).astype(new[name].dtype)
        new[name] = np.where(new[name] > 0, drawn, new[name])
    for name, (low, high) in FOES.items():
        drawn = rng.integers(low, high + 1, new[name][:, foe].shape)
        new[name][:, foe] = drawn.astype(new[name].dtype)
    for name in ("trapped_hidden", "virtual", "disabled", "maybe_locked", "sub_fainted"):
        new[name][:, foe] = rng.random(new[name][:, foe].shape) < 0.5
    new["sleep_by_foe"] = rng.random(new["sleep_by_foe"].shape) < 0.5
    for flag in ("flinch", "minimize", "defensecurl", "residualdmg"):
        new["flags"][..., FLAGS.index(flag)] = rng.random(new["flags"].shape[:2]) < 0.5
    substitute = new["substitute"]
    drawn = rng.integers(1, 100, substitute.shape).astype(substitute.dtype)
    new["substitute"] = np.where(substitute > 0, drawn, substitute)
    _change_members(new, state, foe, rng)
    return new


def _change_members(new, state, foe, rng):
    team, seen = new["team"][:, foe], state["seen"][:, foe]
    there, unseen = team[:, :, 1] > 0, seen == 0
    drawn = rng.integers(1, 151, team.shape).astype(np.uint8)
    # Genes of all, unused moves, and all of the unseen members.
    team[:, :, 6:] = drawn[:, :, 6:]
    moves, hidden = team[:, :, 2:6], ~state["revealed"][:, foe]
    team[:, :, 2:6] = np.where(hidden & (moves > 0), drawn[:, :, 2:6], moves)
    team[:, :, :2] = np.where((unseen & there)[..., None], drawn[:, :, :2], team[:, :, :2])
    new["pp"][:, foe] = rng.integers(0, 64, new["pp"][:, foe].shape)
    # Twice the HP of twice as many are shown as the same hundredths.
    new["base_stats"][:, foe, :, 1:] = rng.integers(1, 999, (len(team), 6, 5))
    new["base_stats"][:, foe, :, 0] *= 2
    new["hp"][:, foe] *= 2
    absent = unseen & there & (new["hp"][:, foe] > 0)
    other = rng.integers(1, 7, absent.shape).astype(np.uint8)
    new["status"][:, foe] = np.where(absent, other, new["status"][:, foe])


@pytest.mark.parametrize("player", [0, 1])
def test_observation_and_mask_stay_where_only_hidden_things_change(
    twinstep_lab, twinstep_rng, player
):
    """Everything that the player may not know is replaced at once; its own view is the same."""
    states = _states(twinstep_lab, twinstep_rng)
    changed = _hidden_changed(states, player, twinstep_rng)
    before, after = (_view(each) for each in (states, changed))
    for name in ("obs", "legal"):
        one, two = getattr(before, name)[:, player], getattr(after, name)[:, player]
        wrong = np.argwhere((one != two).reshape(len(one), -1))
        names = twinstep_lab.contract.observation.names
        assert not len(wrong), (name, names[wrong[0, 1]] if name == "obs" else wrong[0])
    # The foe's own view does change, which proves the replacement.
    assert (before.obs[:, 1 - player] != after.obs[:, 1 - player]).any(-1).mean() > 0.99


#: Compiled once: the variants differ in their starts alone.
_VIEW = jax.jit(jax.vmap(pokejax.view))


def _view(states):
    return jax.tree.map(np.asarray, _VIEW(State(**states)))
