"""`twinstep breakdown`: the shares of an iteration are those of what it really does."""

import dataclasses
import errno
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tools.evidence import time_shares as evidence
from tools.evidence.results import Results
from twinstep.bench import breakdown, breakdown_command
from twinstep.bench.breakdown import Doubled, DoubledState, iteration_of
from twinstep.cli import main
from twinstep.contract import Box, Discrete
from twinstep.env.timestep import TimeStep
from twinstep.errors import UserError
from twinstep.plans import PPO
from twinstep.rl import flops
from twinstep.rl.policies import Policy
from twinstep.rl.ppo import Trainer, _seen
from twinstep.tests.toys import tasks

SMALL = PPO(lanes=8, steps=8, minibatches=1, hidden=(64, 64))
POLICIES = [
    Policy(5, Discrete(3), (16, 24)),
    Policy(5, Box(-1.0, 1.0, (2,)), (16,)),
    Policy(5, Discrete(3), (16,), memory=12),
]
#: More of it than of a small network on any machine.
SLOW = 0.03


class Slowed:
    """An environment in JAX that multiplies matrices in every step, so many times."""

    def __init__(self, inner, times):
        self._inner, self._times = inner, times

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def step(self, state, actions):
        state, now = self._inner.step(state, actions)
        start = jnp.full((256, 256), now.reward.sum() * np.float32(1e-9), jnp.float32)
        made = jax.lax.fori_loop(0, self._times, lambda _, x: jnp.tanh(x @ x), start)
        return state, now._replace(reward=now.reward + made[0, 0] * np.float32(0))


def _shares(arena, rounds=9):
    """The environment's share of what each program took at best: a busy machine adds to some."""
    iteration = iteration_of(arena, SMALL)
    iteration.play(0)
    taken = [iteration.play(turn) for turn in range(rounds)]
    whole = min(each.whole for each in taken)
    hosted = taken[0].clocked == taken[0].whole
    spent = [each.environment if hosted else each.clocked - whole for each in taken]
    return min(spent) / whole, taken


@pytest.mark.slow
def test_a_slow_environment_outside_jax_has_the_greater_share():
    quick, _ = _shares(tasks.OnHost(tasks.make("cue")))
    slow, taken = _shares(tasks.OnHost(tasks.make("cue"), SLOW))
    assert slow > 0.6 > quick
    for each in taken:
        assert each.whole == each.clocked
        assert each.environment >= SLOW * SMALL.steps
        assert 0 < each.transfer < each.whole - each.environment


@pytest.mark.slow
def test_a_slow_environment_in_the_program_has_the_greater_share():
    quick, _ = _shares(tasks.make("cue"))
    slow, taken = _shares(Slowed(tasks.make("cue"), 30))
    # All but nothing, and less where another process takes a core for a while.
    assert slow > 0.5 > quick
    for each in taken:
        assert each.transfer is None
        assert each.environment == each.clocked - each.whole


@pytest.mark.slow
def test_a_second_environment_that_the_compiler_leaves_out_would_have_a_small_share(monkeypatch):
    """What is seen of it is all that keeps it in the program."""
    monkeypatch.setattr(breakdown, "_once_known", lambda seen, values, xp: values)
    monkeypatch.setattr(breakdown, "_sum", lambda shown, xp: xp.zeros(8, np.float32))
    slow, _ = _shares(Slowed(tasks.make("cue"), 30))
    assert slow < 0.5


@pytest.mark.parametrize("xp", [np, jnp])
def test_what_waits_for_a_sum_stays_as_it_is(xp):
    values = xp.asarray(np.arange(12, dtype=np.int32).reshape(4, 3))
    for seen in (0.0, 1e30, np.inf, np.nan, -np.inf):
        made = breakdown._once_known(xp.full(4, seen, xp.float32), values, xp)
        np.testing.assert_array_equal(made, values)


def test_the_second_environment_plays_other_games_and_the_first_its_own():
    made, alone = Doubled(tasks.make("cue")), tasks.make("cue")
    seeds = np.stack([np.arange(64), np.zeros(64)], 1).astype(np.uint32)
    (state, now), (plain, shown) = made.reset(seeds), alone.reset(seeds)
    step = jax.jit(made.step)
    for turn in range(6):
        for mine, own in zip(jax.tree.leaves(now), jax.tree.leaves(shown), strict=True):
            np.testing.assert_array_equal(mine, own)
        pairs = zip(jax.tree.leaves(state.first), jax.tree.leaves(state.second), strict=True)
        assert any((np.asarray(mine) != np.asarray(other)).any() for mine, other in pairs)
        actions = np.full(64, turn % 2, np.int32)
        state, now = step(state, actions)
        plain, shown = alone.step(plain, actions)


class Told:
    """An environment that shows the given observations, one a step, and keeps its actions."""

    def __init__(self, shown):
        self.shown, self.given = list(shown), []

    def step(self, state, actions):
        self.given.append(actions)
        none = np.zeros(2, bool)
        obs = np.full((2, 1), self.shown.pop(0), np.float32)
        legal = np.array([[True, True, False]] * 2)
        return state, TimeStep(obs, np.zeros(2, np.float32), none, none, obs, None, legal)


def _stepped(shown):
    told = Told(shown)
    legal = np.array([[False, False, True], [True, False, True]])
    state = DoubledState(0, 0, legal, np.zeros(2, np.float32))
    _, now = Doubled(told).step(state, np.array([1, 2], np.int32))
    return [list(given) for given in told.given], now.obs[0, 0]


def test_the_second_environment_waits_for_the_first_and_the_network_for_it():
    """Nothing is played before the sum is known: the one number that changes it says so."""
    never = np.float32(-1.5e38)
    assert _stepped([1.0, 2.0]) == ([[1, 2], [2, 2]], 1.0)
    assert _stepped([never / 2, 2.0]) == ([[1, 2], [0, 0]], never / 2)
    assert _stepped([1.0, never / 2]) == ([[1, 2], [2, 2]], 0.0)


def test_the_second_environment_is_given_legal_actions():
    wild = np.array([2, 1], np.int32)
    legal = np.array([[False, True, False], [True, True, False]])
    np.testing.assert_array_equal(breakdown._possible(wild, legal, np), [1, 1])
    np.testing.assert_array_equal(breakdown._possible(wild, legal[:, None], np), [1, 1])
    assert breakdown._possible(wild, None, np) is wild


@pytest.mark.parametrize("policy", POLICIES, ids=["discrete", "continuous", "memory"])
def test_parameters_are_counted_as_they_are_made(policy):
    made = policy.init(jax.random.key(0))
    assert flops.parameters(policy) == sum(np.size(values) for values in made.values())
    assert policy.shapes() == {name: np.shape(values) for name, values in made.items()}


@pytest.mark.parametrize("policy", POLICIES, ids=["discrete", "continuous", "memory"])
def test_operations_of_a_look_are_those_that_xla_counts(policy):
    """But for what is no product of matrices, of which a small network has some."""
    wide = dataclasses.replace(policy, hidden=tuple(8 * units for units in policy.hidden))
    seen = jnp.zeros((32, wide.inputs)), jnp.zeros(32, bool)
    params = jax.tree.map(jnp.asarray, wide.init(jax.random.key(0)))
    program = jax.jit(lambda p, m, o, f: wide.apply(p, m, o, f))
    counted = program.lower(params, wide.blank(32), *seen).compile().cost_analysis()["flops"]
    assert 32 * flops.of_a_look(wide) == pytest.approx(counted, rel=0.08)


def test_operations_of_an_iteration_are_those_that_xla_counts():
    """Acting is counted apart: XLA counts the body of a loop once."""
    env = tasks.make("aim")
    ppo = dataclasses.replace(SMALL, hidden=(256, 256), epochs=1, lanes=64)
    trainer = Trainer(tasks.OnHost(env), ppo)
    learner, player = trainer.begin([0])
    keys = trainer._keys(learner.key)
    rows = []
    (state,) = player.env
    for t in range(ppo.steps):
        choice, *rest = trainer._act(learner.params, _seen(player), keys[2][:, t])
        state, now = env.step(state, np.asarray(trainer._actions(choice, np)))
        player, row = trainer._after(player, state, now, choice, *rest, xp=np)
        rows.append(row)
    told = trainer._update.lower(learner, keys[1], trainer._joined(rows), player.hidden)
    counted = told.compile().cost_analysis()["flops"]
    acting = ppo.lanes * ppo.steps * flops.of_a_look(trainer.policy)
    assert flops.of_an_iteration(trainer.policy, ppo) - acting == pytest.approx(counted, rel=0.15)


# The command


def _run(tmp_path, *words):
    return main(["breakdown", "pong", "--rounds", "2", "--out", str(tmp_path), *words])


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The result of Pong's JAX candidate with two sizes, and what was printed of it."""
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flops, "_SIDE", 256)
        patch.setattr(breakdown_command, "LARGE", 100_000)
        sizes = ["--size", "50k", "--size", "200k"]
        assert main(["breakdown", "pong", "--backend", "jax", "--rounds", "2",
                     "--lanes", "16", *sizes, "--out", str(out)]) == 0  # fmt: skip
    return out


def test_where_nothing_can_be_measured_a_result_stays(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(breakdown_command, "LARGE", 100_000)
    held = tmp_path / "pong.json"
    held.write_text("held")
    assert _run(tmp_path, "--backend", "jax", "--size", "200k") == 4
    said = capsys.readouterr()
    assert "not measured: no accelerator" in said.out
    assert said.err == f"twinstep: nothing was measured, and {held} is left as it is\n"
    assert held.read_text() == "held"


def test_a_result_has_shares_that_add_up_and_says_what_was_not_measured(measured):
    found = json.loads((measured / "pong.json").read_text())
    small, large = found["rows"]
    assert large == {"backend": "jax", "size": 200_000, "not_measured": "no accelerator"}
    assert 0.97 * 50_000 < small["parameters"] <= 50_000
    for each in small["seconds"]:
        assert each["whole"] > 0
        assert each["environment"] == each["clocked"] - each["whole"]
    for row in small["environment_share"], small["model_share"]:
        assert row["min"] <= row["median"] <= row["max"]
    both = small["environment_share"]["median"] + small["model_share"]["median"]
    assert both == pytest.approx(1)
    model = [each["whole"] - each["environment"] for each in small["seconds"]]
    assert min(small["peaks"]) <= found["peak"] <= max(small["peaks"])
    used = [
        small["operations"] / spent / peak
        for spent, peak in zip(model, small["peaks"], strict=True)
    ]
    assert small["flop_use"]["min"] == pytest.approx(min(used))
    assert found["command"] == (
        "twinstep breakdown pong --variant fs8 --backend jax --size 50k --size 200k "
        "--rounds 2 --lanes 16 --steps 8"
    )


def test_the_evidence_reads_a_result(measured):
    held = Results(measured.parent, measured.parent)
    (measured.parent / evidence.FOLDER).mkdir(exist_ok=True)
    (measured.parent / evidence.FOLDER / "pong.json").write_bytes(
        (measured / "pong.json").read_bytes()
    )
    section = evidence.breakdown(held)
    assert section.measured == ["pong"]
    assert "not measured: no accelerator" in section.markdown("")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--size", "2G"], "--size 2G: a number of parameters like 20M or 500k is needed"),
        (["--size", "0"], "--size 0: a number of parameters"),
        (["--rounds", "0"], "--rounds 0: it lies between 1 and"),
        (["--lanes", "3000000000"], "--lanes 3000000000: it lies between 1 and"),
        (["--lanes", "-1"], "--lanes -1: it lies between 1 and"),
        (["--backend", "jaxx"], "did you mean 'jax'"),
        (["--variant", "fs9"], "fs9"),
        (["--size", "5"], "--size 5: "),
    ],
)
def test_what_a_user_can_mistake_is_one_line(tmp_path, capsys, words, told):
    assert _run(tmp_path, *words) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not list(tmp_path.iterdir())


def test_an_interrupted_run_leaves_the_former_result(tmp_path, monkeypatch, capsys):
    (tmp_path / "pong.json").write_text("former")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(breakdown_command, "_rows", interrupted)
    monkeypatch.setattr(flops, "peak", lambda: 1.0)
    assert _run(tmp_path) == 130
    assert (tmp_path / "pong.json").read_text() == "former"
    assert [path.name for path in tmp_path.iterdir()] == ["pong.json"]


def test_a_full_disk_keeps_the_table_on_the_screen(tmp_path, monkeypatch, capsys):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(breakdown_command.paths, "write_atomically", full)
    monkeypatch.setattr(flops, "_SIDE", 256)
    assert _run(tmp_path, "--backend", "jax", "--size", "50k") == 4
    said = capsys.readouterr()
    assert "| jax | 0.05M |" in said.out
    (line,) = said.err.splitlines()
    assert "pong.json cannot be written (No space left on device): its table is above" in line


def test_a_backend_without_enough_memory_is_not_measured_and_the_others_are(tmp_path, monkeypatch):
    real = breakdown.iteration_of

    def failing(arena, ppo):
        if arena.backend == "jax":
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        return real(arena, ppo)

    monkeypatch.setattr(breakdown, "iteration_of", failing)
    monkeypatch.setattr(flops, "peak", lambda: 1.0)
    words = ["--backend", "jax", "--backend", "rust", "--size", "20k", "--lanes", "4"]
    assert _run(tmp_path, *words) == 0
    first, second = json.loads((tmp_path / "pong.json").read_text())["rows"]
    assert first["not_measured"] == "memory does not suffice"
    assert second["model_share"]["median"] > 0


def test_other_errors_of_a_backend_are_not_hidden(monkeypatch):
    def failing(arena, ppo):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")

    monkeypatch.setattr(breakdown, "iteration_of", failing)
    request = breakdown_command.BreakdownRequest("pong", "fs8", ("jax",), (20_000,), 1, 4, 4)
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        breakdown_command._rows(request, 20_000, lambda _: None)


def test_a_size_that_no_network_has_is_refused():
    with pytest.raises(UserError, match="--size"):
        breakdown_command._rows(
            breakdown_command.BreakdownRequest("pong", "fs8", ("jax",), (5,), 1, 4, 4), 5, print
        )
