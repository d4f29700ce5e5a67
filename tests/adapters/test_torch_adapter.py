"""torch tensors: dtypes, device and copies. Run by `make trainers`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import twinstep
from twinstep.contract import Box, Contract, Field, Randomness
from twinstep.env.make import Env
from twinstep.environment import CandidateRef, Environment, OracleRef, Variant
from twinstep.frames import Frame
from twinstep.jax_candidate import JaxCandidate
from twinstep.project.registry import EnvVariant

torch = pytest.importorskip("torch", reason="torch is not installed: make trainers")

from twinstep.adapters.torch import Torch  # noqa: E402

LANES = 64
BACKENDS = pytest.mark.parametrize("backend", ["jax", "rust"])


def _pong(backend="jax", **params):
    return Torch(twinstep.make("pong-v0", backend, max_score=1, **params))


@BACKENDS
@pytest.mark.parametrize("continuous", [False, True])
def test_time_steps_have_the_environments_dtypes_and_its_device(backend, continuous):
    env = _pong(backend, continuous=continuous)
    state, first = env.reset(0, LANES)
    _, now = env.step(state, torch.zeros(LANES))
    for step in (first, now):
        assert step.acting is None
        assert step.legal is None
        kinds = {name: value.dtype for name, value in step._asdict().items() if value is not None}
        real = dict.fromkeys(("obs", "reward", "final_obs"), torch.float32)
        assert kinds == real | dict.fromkeys(("terminated", "truncated"), torch.bool)
        assert all(value.device == env.device for value in step if value is not None)
        assert step.obs.shape == step.final_obs.shape == (LANES, 8)


@BACKENDS
@pytest.mark.parametrize(
    "given",
    [
        lambda moves: torch.tensor(moves, dtype=torch.int64),
        lambda moves: torch.tensor(moves, dtype=torch.float32),
        lambda moves: torch.tensor(moves)[:, None],
        lambda moves: torch.tensor(np.repeat(moves, 2))[::2],
        lambda moves: torch.tensor(np.insert(moves, 0, 0))[1:],
    ],
    ids=["int64", "float32", "with a player's axis", "strided", "off XLA's alignment"],
)
def test_actions_of_any_layout_are_played_as_they_are(backend, given):
    moves = np.random.default_rng(0).integers(0, 3, (40, LANES)).astype(np.int32)
    env = _pong(backend)
    (plain, _), (state, _) = env.env.reset(3, LANES), env.reset(3, LANES)
    for move in moves:
        plain, want = env.env.step(plain, move)
        state, now = env.step(state, given(move))
        assert now.obs.numpy(force=True).tobytes() == np.asarray(want.obs).tobytes()


@BACKENDS
def test_actions_that_carry_a_gradient_are_played(backend):
    """A policy's actions carry gradients; none goes through a step."""
    env = _pong(backend, continuous=True)
    state, _ = env.reset(0, LANES)
    _, now = env.step(state, torch.zeros(LANES, requires_grad=True) + 0.5)
    assert not now.reward.requires_grad
    assert (now.obs[:, 1] != env.reset(0, LANES)[1].obs[:, 1]).all()


def test_nothing_is_copied_on_the_way_out_of_jax(monkeypatch):
    """The tensors lie where XLA wrote the values."""
    env = _pong()
    outs = []
    original = env.env._step
    monkeypatch.setattr(env.env, "_step", lambda *given: outs.append(original(*given)) or outs[-1])
    state, _ = env.reset(0, LANES)
    _, now = env.step(state, torch.zeros(LANES, dtype=torch.int32))
    ((_, arrays),) = outs
    for tensor, array in zip(now, arrays, strict=True):
        assert array is None or tensor.data_ptr() == array.unsafe_buffer_pointer()


def test_actions_of_the_right_kind_are_not_copied_on_the_way_in(monkeypatch):
    imported = []
    take = jax.dlpack.from_dlpack
    monkeypatch.setattr(
        jax.dlpack, "from_dlpack", lambda t: imported.append(take(t)) or imported[-1]
    )
    env = _pong()
    state, _ = env.reset(0, LANES)
    moves = torch.zeros(LANES, dtype=torch.int32)
    env.step(state, moves)
    assert imported[0].unsafe_buffer_pointer() == moves.data_ptr()


@pytest.mark.parametrize("auto_reset", ["same-step", "next-step", "off"])
@BACKENDS
def test_what_the_caller_writes_changes_no_later_step(backend, auto_reset):
    """Actions are overwritten at once, and so are all results of a step."""
    moves = np.random.default_rng(1).integers(0, 3, (60, 512)).astype(np.int32)
    env = _pong(backend, auto_reset=auto_reset)
    (plain, _), (state, now) = env.env.reset(0, 512), env.reset(0, 512)
    given = torch.zeros(512, dtype=torch.int32)
    for move in moves:
        for tensor in now:
            if tensor is not None:
                tensor.fill_(1)
        given.copy_(torch.from_numpy(move))
        state, now = env.step(state, given)
        given.fill_(2)
        plain, want = env.env.step(plain, move)
        for name, tensor, array in zip(want._fields, now, want, strict=True):
            if array is not None:
                assert tensor.numpy(force=True).tobytes() == np.asarray(array).tobytes(), name


class Echo(JaxCandidate):
    """Shows the last action, in float64."""

    def __init__(self, contract):
        def frame(state):
            never = jnp.zeros((), bool)
            shown = {"last": state}
            return Frame(state[None, None], state[None], never, never, ~never[None], None, shown)

        super().__init__(
            contract,
            reset=lambda start: jnp.float64(0),
            step=lambda state, action: action[0],
            frame=frame,
            dtype="float64",
        )


def echo_contract(params):
    return Contract(
        version="echo-v0",
        params=dict(params),
        action=Box(-1.0, 1.0, dtype="float64"),
        observation=Field("obs", "float64", (1,)),
        state=(Field("last", "float64"),),
        randomness=Randomness("none"),
        reward_dtype="float64",
    )


def test_float64_actions_arrive_with_all_their_bits():
    here = __name__
    oracle = OracleRef("none", f"{here}:Echo", f"{here}:probe", "twinstep.tests.nothing")
    ref = CandidateRef("jax", f"{here}:Echo")
    subject = EnvVariant(Environment("echo", echo_contract, oracle, (ref,)), Variant("", {}))
    env = Torch(Env(subject, "jax", "same-step"))
    state, _ = env.reset(0, 3)
    moves = torch.tensor([1 / 3, -(2**-40), 0.1], dtype=torch.float64)
    _, now = env.step(state, moves)
    assert now.obs.dtype == now.reward.dtype == torch.float64
    assert torch.equal(now.obs[:, 0], moves)
    assert torch.equal(now.reward, moves)
