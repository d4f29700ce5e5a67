"""Level 3: every adapter gives the transitions of the oracle, like `make` itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from twinstep._lib.json_values import text_of
from twinstep.compare.autoreset import ExpectedSteps, mismatch
from twinstep.contract import Discrete
from twinstep.env.make import Env
from twinstep.env.timestep import TimeStep, lane_seeds
from twinstep.errors import CandidateBroken
from twinstep.project import registry
from twinstep.rollouts.test_shipped import (
    LANES,
    VIEWS,
    _recordings,
    _require,
    _require_steps,
    _seeds,
    expected_lanes,
    is_saved,
    lanes_that_fit,
    part_from,
    ships,
    stepped,
)

# The adapters see nothing of a variant but its actions' kind.
pytestmark = [
    pytest.mark.level3,
    pytest.mark.gates("lockstep"),
    pytest.mark.one_variant,
    # An adapter runs in the process that compares.
    pytest.mark.needs("run.in_process"),
]

#: Another convention or another auto-reset of the same step.
_recompiles = pytest.mark.recompiles
_single_player = pytest.mark.needs(
    when=lambda facts, row: facts.pair.subject.contract.players == 1, why="needs one player"
)


def _others(subject, name):
    """Return the other candidates of a variant that can run on this machine."""
    return [p for p in registry.pairs(subject) if p.candidate.name != name and not p.probe.problem]


MODES = ["same-step", *(pytest.param(m, marks=_recompiles) for m in VIEWS if m != "same-step")]


def _compare(lab, mode, expected: ExpectedSteps, rows: list[dict]):
    """Compare an adapter's rows, each name -> [N, ...]; names it does not return are left out."""
    names = [name for name in expected.heads if name in rows[0]]
    heads = {name: np.stack([np.asarray(row[name]) for row in rows]) for name in names}
    got = TimeStep(**{name: heads.get(name) for name in TimeStep._fields})
    kept = {name: expected.heads[name] for name in names}
    if not {"terminated", "truncated"} <= set(names):  # nor can it be seen who still decides
        kept = {name: kept[name] for name in names if name not in ("acting", "legal")}
    part = expected._replace(heads=kept)
    assert {"obs", "reward"} <= set(names)
    _require_steps(lab, mode, "random", mismatch(part, got, lab.rules.lockstep()))


def _flat(lab, actions):
    """Drop the player's axis for the adapters of one player."""
    return actions[:, :, 0]


@pytest.mark.parametrize("values", [5, pytest.param(6, marks=_recompiles)])
@_single_player
@ships("same-step")
@pytest.mark.needs("candidate.pure")
def test_gymnax_steps_match_the_oracle(twinstep_lab, values):
    """A vmapped, scanned loop in gymnax's convention, as JAX trainers write it."""
    from twinstep.adapters.gymnax import Gymnax

    env = Gymnax(twinstep_lab.env("same-step"), values)
    expected, seeds = expected_lanes(twinstep_lab, "same-step")
    keys = jnp.asarray(seeds)
    with env.env._precision():
        _, state = jax.vmap(env.reset)(keys)
        step = jax.vmap(env.step)

        def act(state, action):
            obs, state, reward, *ends, info = step(keys, state, action)
            done = ends[0] if values == 5 else ends[0] | ends[1]
            return state, (obs, reward, done, info)

        moves = jnp.asarray(_flat(twinstep_lab, expected.actions))
        _, (obs, reward, done, info) = jax.jit(lambda s, a: jax.lax.scan(act, s, a))(state, moves)
    ended = np.asarray(info["terminated"]) | np.asarray(info["truncated"])
    assert (np.asarray(done) == ended).all()
    rows = [
        {"obs": obs[t], "reward": reward[t], **{name: value[t] for name, value in info.items()}}
        for t in range(len(expected.actions))
    ]
    _compare(twinstep_lab, "same-step", expected, rows)


@pytest.mark.parametrize("mode", MODES)
@_single_player
@ships()
@pytest.mark.needs("package.gymnasium")
def test_gymnasium_vector_steps_match_the_oracle(twinstep_lab, mode):
    """Gymnasium's VectorEnv under each of its auto-reset modes, in any backend."""
    from twinstep.adapters.gymnasium import VectorEnv

    vector = VectorEnv(twinstep_lab.env(mode), LANES)
    expected, seeds = expected_lanes(twinstep_lab, mode)
    vector._state, _ = vector.env.reset(seeds)
    rows = []
    for action in _flat(twinstep_lab, expected.actions):
        obs, reward, terminated, truncated, info = vector.step(action)
        row = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
        if mode == "same-step":
            final = obs.copy()
            ended = info.get("_final_obs", np.zeros(LANES, bool))
            final[ended] = info["final_obs"][ended] if ended.any() else 0
            row["final_obs"] = final
        rows.append(row)
    _compare(twinstep_lab, mode, expected, rows)


@_single_player
@ships("same-step")
def test_puffer_buffers_match_the_oracle(twinstep_lab):
    """PufferLib's five values, written into buffers that the caller shares."""
    from twinstep.adapters.puffer import Puffer

    env = twinstep_lab.env("same-step")
    shared = np.zeros(
        (LANES, *twinstep_lab.contract.observation.shape), twinstep_lab.contract.observation.dtype
    )
    puffer = Puffer(env, LANES, {"observations": shared})
    expected, seeds = expected_lanes(twinstep_lab, "same-step")
    puffer._state, _ = env.reset(seeds)
    rows = []
    for action in _flat(twinstep_lab, expected.actions):
        obs, reward, terminals, truncations, _ = puffer.step(action)
        assert obs is shared
        named = {"obs": obs, "reward": reward, "terminated": terminals, "truncated": truncations}
        rows.append({name: value.copy() for name, value in named.items()})
    _compare(twinstep_lab, "same-step", expected, rows)


@_single_player
@ships("same-step")
@pytest.mark.needs("package.gymnasium")
def test_stable_baselines_steps_match_the_oracle(twinstep_lab):
    """Stable-Baselines3's VecEnv: last observations are in the infos."""
    from twinstep.adapters.sb3 import VecEnv

    vec = VecEnv(twinstep_lab.env("same-step"), LANES)
    expected, seeds = expected_lanes(twinstep_lab, "same-step")
    vec.vector._state, _ = vec.vector.env.reset(seeds)
    over, cut = expected.heads["terminated"], expected.heads["truncated"]
    rows = []
    for t, action in enumerate(_flat(twinstep_lab, expected.actions)):
        obs, reward, done, infos = vec.step(action)
        _require(twinstep_lab, "same-step", "random", _unequal("done", t, done, over[t] | cut[t]))
        said = [info.get("TimeLimit.truncated", False) for info in infos]
        assert (np.array(said) == cut[t] & ~over[t]).all()
        final = np.stack([info.get("terminal_observation", obs[k]) for k, info in enumerate(infos)])
        rows.append({"obs": obs, "reward": reward, "final_obs": final})
    _compare(twinstep_lab, "same-step", expected, rows)


@_single_player
@ships("same-step")
@pytest.mark.needs("package.torch")
def test_torch_tensors_match_the_oracle(twinstep_lab):
    """Tensors in and out; what the caller writes into them changes nothing."""
    import torch

    from twinstep.adapters.torch import Torch

    env = Torch(twinstep_lab.env("same-step"))
    expected, seeds = expected_lanes(twinstep_lab, "same-step")
    state, _ = env.env.reset(seeds)
    rows = []
    for action in _flat(twinstep_lab, expected.actions):
        given = torch.from_numpy(np.array(action))
        state, now = env.step(state, given)
        named = {name: value for name, value in now._asdict().items() if value is not None}
        rows.append({name: value.numpy(force=True).copy() for name, value in named.items()})
        for tensor in (given, *named.values()):
            tensor.fill_(1)
    _compare(twinstep_lab, "same-step", expected, rows)


@_single_player
@ships("off")
@pytest.mark.needs(
    "candidate.pure",
    when=lambda facts, row: isinstance(facts.pair.subject.contract.action, Discrete),
    why="needs discrete actions",
)
def test_pgx_games_match_the_oracle(twinstep_lab):
    """pgx's State, one game a lane, vmapped; after the end nothing changes."""
    from twinstep.adapters.pgx import Pgx

    game = Pgx(twinstep_lab.env("off"))
    expected, seeds = expected_lanes(twinstep_lab, "off")
    rows = []
    with game.env._precision():  # as a float64 candidate's trainer must
        state = jax.vmap(game.init)(jnp.asarray(seeds))
        step = jax.jit(jax.vmap(game.step))
        for action in _flat(twinstep_lab, expected.actions):
            state = step(state, jnp.asarray(action))
            rows.append(
                {"obs": state.observation, "reward": state.rewards[:, 0],
                 "terminated": state.terminated, "truncated": state.truncated}
            )  # fmt: skip
        after = step(state, jnp.asarray(_flat(twinstep_lab, expected.actions)[0]))
    _compare(twinstep_lab, "off", expected, rows)
    over = np.asarray(state.terminated) | np.asarray(state.truncated)
    assert (over == (expected.heads["terminated"] | expected.heads["truncated"]).any(0)).all()
    assert (np.asarray(after.observation)[over] == np.asarray(state.observation)[over]).all()
    assert (np.asarray(after.rewards)[over] == 0).all()


@_recompiles
@ships("off")
def test_players_games_match_the_oracle(twinstep_lab):
    """PettingZoo's dictionaries by player, one game."""
    from twinstep.adapters.players import Players

    env = twinstep_lab.env("off")
    _, frames, actions = next(_recordings(twinstep_lab))
    game = Players(env)
    game._state, _ = env.reset(_seeds(twinstep_lab, 1))
    game.agents = list(game.possible_agents)
    gates = twinstep_lab.rules.lockstep()
    for t in range(len(actions)):
        given = {name: actions[t, 0, p] for p, name in enumerate(game.possible_agents)}
        obs, reward, terminated, truncated, _ = game.step(given)
        for p, name in enumerate(game.possible_agents):
            shown = {"obs": (obs, "final_obs"), "reward": (reward, "reward")}
            for path, (given_to, recorded) in shown.items():
                if path in gates and gates[path].exact:
                    want = frames[recorded][t + 1, 0, p]
                    _require(twinstep_lab, "off", "random", _unequal(path, t, given_to[name], want))
            for path, ends in {"terminated": terminated, "truncated": truncated}.items():
                want = frames[path][t + 1, 0]
                _require(twinstep_lab, "off", "random", _unequal(path, t, ends[name], want))
        if (frames["terminated"] | frames["truncated"])[t + 1, 0]:
            assert not game.agents
            break
        assert game.agents == game.possible_agents


def _unequal(path, t, got, want):
    """Say how a value of one step differs; "" if its bits are the recorded ones."""
    value = np.asarray(got, want.dtype)
    if value.tobytes() == want.tobytes():
        return ""
    return f"`{path}` is {text_of(value)}, expected {text_of(want)}, at step {t + 1}"


@pytest.mark.calling(compiles="all")
@ships("same-step")
@is_saved
@pytest.mark.needs(
    when=lambda facts, row: _others(facts.pair.subject, facts.pair.candidate.name),
    why="needs another candidate that can run here",
)
def test_every_backend_restores_a_state_of_every_other(twinstep_lab):
    """What one backend has saved another plays on, to the last bit."""
    env = twinstep_lab.env("same-step")
    subject = twinstep_lab.pair.subject
    expected, seeds = expected_lanes(twinstep_lab, "same-step", lanes_that_fit(twinstep_lab))
    state, _ = env.reset(seeds)
    half = len(expected.actions) // 2
    state, _ = stepped(env, state, expected.actions[:half])
    saved = env.save(state)
    for pair in _others(subject, twinstep_lab.pair.candidate.name):
        name = pair.candidate.name
        try:
            other = Env(subject, name, "same-step")
            begun, _ = other.reset(seeds)
            begun, before = stepped(other, begun, expected.actions[:half])
            _, after = stepped(other, begun, expected.actions[half:])
        except CandidateBroken:
            continue  # its own tests say so, as they do where it differs by itself
        alone = jax.tree.map(lambda *rows: np.concatenate(rows), before, after)
        if mismatch(expected, alone, twinstep_lab.rules.lockstep()):
            continue
        _, steps = stepped(other, other.restore(saved), expected.actions[half:])
        part = part_from(expected, half)
        if found := mismatch(part, steps, twinstep_lab.rules.lockstep()):
            where = f"A state saved here and restored in {name}"
            twinstep_lab.fail(f"{where}: {found.said}.\n{found.steps}")


@ships("off")
def test_lanes_of_a_made_environment_begin_with_the_seeds_it_promises(twinstep_lab):
    """reset(seed=s, lanes=n) is reset of (s, 0), (s + 1, 0), ..."""
    env = twinstep_lab.env("off")
    lanes = lanes_that_fit(twinstep_lab)
    _, one = env.reset(7, lanes)
    _, two = env.reset(lane_seeds(7, lanes))
    assert np.asarray(one.obs).tobytes() == np.asarray(two.obs).tobytes()
