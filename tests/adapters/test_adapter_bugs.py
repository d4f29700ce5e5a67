"""Bugs planted in the adapters and in saving: level 3's adapter tests find every one."""

import numpy as np
import pytest

from twinstep.adapters import gymnax, pgx, players, puffer
from twinstep.env import serialization
from twinstep.rollouts import test_adapters, test_saved_states
from twinstep.testing.lab import Divergence


def _require_found(lab, check, *given):
    lab.test, lab.level, lab.driver, lab.notes = check.__name__, 3, "", {}
    with pytest.raises((Divergence, AssertionError)):
        check(lab, *given)


def _patched(module, name, change):
    """Return a test's set-up: the adapter's method with a changed result."""

    def plant(monkeypatch):
        before = getattr(module, name)

        def wrong(self, *args, **kwargs):
            return change(before(self, *args, **kwargs))

        monkeypatch.setattr(module, name, wrong)

    return plant


def _without_ends(answer):
    obs, state, reward, done, info = answer
    return obs, state, reward, done & False, info


def _old_final(answer):
    obs, reward, terminated, truncated, info = answer
    if "final_obs" in info:
        info["final_obs"] = obs
    return obs, reward, terminated, truncated, info


def test_a_gymnax_step_without_ends_is_found(fs8, monkeypatch):
    _patched(gymnax.Gymnax, "step", _without_ends)(monkeypatch)
    _require_found(fs8, test_adapters.test_gymnax_steps_match_the_oracle, 5)


def test_a_gymnax_reset_that_uses_half_of_the_key_is_found(fs8, monkeypatch):
    monkeypatch.setattr(gymnax, "seed_of", lambda key: key.at[1].set(0))
    _require_found(fs8, test_adapters.test_gymnax_steps_match_the_oracle, 6)


def test_a_vector_env_that_shows_the_next_episode_as_final_is_found(fs8, monkeypatch):
    adapter = pytest.importorskip("twinstep.adapters.gymnasium")
    _patched(adapter.VectorEnv, "step", _old_final)(monkeypatch)
    check = test_adapters.test_gymnasium_vector_steps_match_the_oracle
    _require_found(fs8, check, "same-step")


def _cut(answer):
    *values, infos = answer
    for info in infos:
        if "terminal_observation" in info:
            info["TimeLimit.truncated"] = True
    return *values, infos


def _first_as_last(answer):
    obs, *values, infos = answer
    for k, info in enumerate(infos):
        if "terminal_observation" in info:
            info["terminal_observation"] = obs[k]
    return obs, *values, infos


@pytest.mark.parametrize("change", [_cut, _first_as_last])
def test_a_vec_env_that_tells_an_end_wrongly_is_found(fs8, monkeypatch, change):
    adapter = pytest.importorskip("twinstep.adapters.sb3")
    _patched(adapter.VecEnv, "step_wait", change)(monkeypatch)
    _require_found(fs8, test_adapters.test_stable_baselines_steps_match_the_oracle)


def test_torch_tensors_that_are_late_by_a_step_are_found(fs8, monkeypatch):
    adapter = pytest.importorskip("twinstep.adapters.torch")

    def step(self, state, actions):
        state, now = original(self, state, actions)
        before, self.before = getattr(self, "before", now), now._replace(obs=now.obs.clone())
        return state, now._replace(obs=before.obs.clone())

    original = adapter.Torch.step
    monkeypatch.setattr(adapter.Torch, "step", step)
    _require_found(fs8, test_adapters.test_torch_tensors_match_the_oracle)


def test_a_puffer_buffer_that_is_not_written_is_found(fs8, monkeypatch):
    def write(self, now):
        before = self.buffers["rewards"].copy()
        original(self, now)
        self.buffers["rewards"][:] = before

    original = puffer.Puffer._write
    monkeypatch.setattr(puffer.Puffer, "_write", write)
    _require_found(fs8, test_adapters.test_puffer_buffers_match_the_oracle)


def test_a_pgx_game_that_goes_on_after_its_end_is_found(fs8, monkeypatch):
    def step(self, state, action, key=None):
        inner, now = self._lane.step(state.inner, action)
        return self._state(inner, now)

    monkeypatch.setattr(pgx.Pgx, "step", step)
    _require_found(fs8, test_adapters.test_pgx_games_match_the_oracle)


def test_players_whose_reward_is_lost_are_found(fs8, monkeypatch):
    def lost(answer):
        obs, reward, *rest = answer
        return obs, dict.fromkeys(reward, 0.5), *rest

    _patched(players.Players, "step", lost)(monkeypatch)
    _require_found(fs8, test_adapters.test_players_games_match_the_oracle)


@pytest.mark.parametrize("field", ["state.draws", "state.score_l", "state.ball_vy"])
def test_a_saved_state_that_lacks_a_field_is_found(fs8, monkeypatch, field):
    def unpack(contract, data):
        fields, seed, ended = original(contract, data)
        name = field.removeprefix("state.")
        return fields | {name: np.zeros_like(fields[name])}, seed, ended

    original = serialization.unpack
    monkeypatch.setattr(serialization, "unpack", unpack)
    check = test_saved_states.test_saved_and_cloned_states_continue_exactly
    _require_found(fs8, check, "same-step")
