"""`twinstep.make`: wrong names end in one line, a verdict goes stale, names decode."""

import io
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import twinstep
from twinstep.adapters.gymnax import Gymnax
from twinstep.adapters.pgx import Pgx
from twinstep.adapters.players import Players
from twinstep.adapters.puffer import Puffer
from twinstep.errors import UserError
from twinstep.oracles.pong import upstream
from twinstep.project import verdicts
from twinstep.project.source_hash import files_hash
from twinstep.project.verdicts import LOCAL, versions
from twinstep.tests.support.requirements import need


@pytest.mark.parametrize(
    ("id", "given", "says"),
    [
        ("pnog-v0", {}, "unknown environment 'pnog-v0'; did you mean 'pong-v0'?"),
        ("pong", {}, "write 'pong-v0'"),
        ("pong-v7", {}, "this twinstep has pong-v0"),
        ("pong-v0", {"backend": "jx"}, "unknown candidate of pong 'jx'; did you mean 'jax'?"),
        ("pong-v0", {"frameskp": 4}, "unknown parameter of pong 'frameskp'; did you mean"),
        ("pong-v0", {"rng": "dice"}, "none of hash, stock"),
        ("pong-v0", {"frameskip": 0}, "at least 1 is needed"),
        ("pong-v0", {"frameskip": "8"}, "parameter frameskip: '8' is no int"),
        ("pong-v0", {"frameskip": True}, "parameter frameskip: True is no int"),
        ("pong-v0", {"continuous": 1}, "parameter continuous: 1 is no bool"),
        ("pong-v0", {"auto_reset": "same_step"}, "did you mean 'same-step'?"),
        ("pong-v0", {"rng": "stock"}, "unknown auto_reset 'same-step' (known: off)"),
    ],
)
def test_a_wrong_argument_is_one_line_with_the_mend(id, given, says):
    with pytest.raises(UserError) as error:
        twinstep.make(id, **given)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_actions_and_seeds_of_a_wrong_shape_are_named():
    env = twinstep.make("pong-v0", frameskip=1)
    state, _ = env.reset(0, lanes=4)
    with pytest.raises(ValueError, match=r"actions have shape \[4, 2, 2\]"):
        env.step(state, np.zeros((4, 2, 2), np.int32))
    with pytest.raises(ValueError, match=r"seeds have shape \[2\]"):
        env.reset(np.zeros(2, np.uint32))
    with pytest.raises(ValueError, match=r"must be in \[0, 2\*\*32\)"):
        env.reset(-1)


def test_observations_decode_by_name():
    env = twinstep.make("pong-v0", frameskip=1)
    _, now = env.reset(0, lanes=3)
    named = env.decode(now.obs)
    assert list(named) == list(env.observation.names)
    assert (named["ball_x"] == now.obs[:, 2]).all()


def test_an_environment_stands_inside_the_callers_own_jit_and_scan():
    env = twinstep.make("pong-v0", frameskip=1)

    @jax.jit
    def play(seeds, actions):
        state, _ = env.reset(seeds)
        return jax.lax.scan(env.step, state, actions)[1].reward.sum()

    actions = np.random.default_rng(0).integers(0, 3, (300, 4)).astype(np.int32)
    seeds = jnp.zeros((4, 2), jnp.uint32)
    state, _ = env.reset(np.zeros((4, 2), np.uint32))
    _, steps = env.rollout(state, actions)
    assert float(play(seeds, actions)) == float(steps.reward.sum())


def test_a_step_leaves_a_jax_state_usable():
    """Functional code reuses states: a JAX step consumes nothing."""
    env = twinstep.make("pong-v0", frameskip=1)
    state, _ = env.reset(0, lanes=2)
    one = env.step(state, np.ones(2, np.int32))[1]
    two = env.step(state, np.ones(2, np.int32))[1]
    assert np.asarray(one.obs).tobytes() == np.asarray(two.obs).tobytes()


def test_a_saved_state_of_other_parameters_is_refused():
    one, two = (twinstep.make("pong-v0", frameskip=n) for n in (1, 2))
    state, _ = one.reset(0, lanes=2)
    with pytest.raises(UserError, match="frameskip"):
        two.restore(one.save(state))
    saved = one.save(state)
    for wrong in (b"nothing of the kind", saved[:-40], saved[:200] + b"\0" * 40 + saved[240:]):
        with pytest.raises(UserError, match="not a saved state"):
            one.restore(wrong)


def _packed(**changes):
    """Return a saved state of two lanes with arrays replaced, left out (None) or added."""
    env = twinstep.make("pong-v0")
    state, _ = env.reset(lanes=2)
    with np.load(io.BytesIO(env.save(state))) as file:
        arrays = dict(file) | changes
    out = io.BytesIO()
    np.savez(out, **{name: value for name, value in arrays.items() if value is not None})
    return env, out.getvalue()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"state.tick": None}, "`tick` is missing"),
        ({"state.tick": np.zeros(3, np.int32)}, r"`tick` is int32\[3\], expected i\[2\]"),
        ({"state.tick": np.zeros(2)}, r"`tick` is float64\[2\]"),
        ({"state.other": np.zeros(2)}, "`other` is no field"),
        ({"seed": np.zeros((3, 2), np.uint32)}, "seeds and ends do not fit"),
        ({"ended": np.zeros(3, bool)}, "do not fit"),
        ({"ended": np.array(False)}, "do not fit"),
        ({"head": np.frombuffer(b"[" * 100_000, np.uint8)}, "is not a saved state"),
        ({"head": np.frombuffer(b'{"schema": 1}', np.uint8)}, "the state is of None"),
    ],
)
def test_a_saved_state_that_is_none_is_one_line(changes, says):
    env, data = _packed()
    env.restore(data)
    env, data = _packed(**changes)
    with pytest.raises(UserError, match=says):
        env.restore(data)


def test_the_reference_itself_can_be_made():
    need(upstream.probe({}))
    env = twinstep.make("pong-v0", "oracle")
    state, _ = env.reset(0, lanes=4)
    _, now = env.step(state, np.ones(4, np.int32))
    assert now.obs.shape == (4, 8)
    assert env.verdict.verified
    with pytest.raises(UserError, match="cannot be cloned"):
        env.clone(state)
    env.close()


@pytest.fixture
def verdict(tmp_path, monkeypatch):
    """Write a verdict of pong@fs8-jax in an empty folder; words replace its entries."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verdicts, "_packaged", lambda candidate: [])

    def write(**words):
        env = twinstep.make("pong-v0")
        entry = {
            "verdict": "equal",
            "contract_digest": env.contract.digest(),
            "sources": verdicts.sources_hash(env._pair.candidate),
            "platform": env.platform,
            "auto_reset": ["off", "same-step"],
            "levels": {"level2": {}, "level3": {}},
        }
        LOCAL.parent.mkdir(exist_ok=True)
        file = {"versions": versions() | words.pop("versions", {})}
        LOCAL.write_text(json.dumps(file | {"pairs": {"pong@fs8-jax": entry | words}}))
        return twinstep.make("pong-v0").verdict

    return write


def test_a_verdict_holds_for_what_was_verified_and_for_nothing_else(verdict):
    now = verdict()
    assert now.verified
    assert now.pair == "pong@fs8-jax"
    assert str(now) == "pong@fs8-jax: equal (.twinstep/verdict.json)"
    assert not twinstep.make("pong-v0", auto_reset="next-step").verdict.verified
    assert not twinstep.make("pong-v0", frameskip=3).verdict.verified
    assert not twinstep.make("pong-v0", "rust").verdict.verified


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "7", "{", '{"pairs": []}', '{"pairs": {"pong@fs8-jax": 3}}',
        '{"pairs": {"pong@fs8-jax": {}}}', '{"pairs": {"pong@fs8-jax": {"verdict": 3}}}',
        '{"pairs": {"pong@fs8-jax": {"verdict": "equal", "contract_digest": "", "platform": "",'
        ' "auto_reset": null}}}',
        '{"versions": 3, "pairs": {"pong@fs8-jax": {"verdict": "equal"}}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_verdict_file_that_is_none_verifies_nothing(verdict, text):
    assert verdict().verified
    LOCAL.write_text(text)
    assert twinstep.make("pong-v0").verdict.word.startswith("not verified here")


def test_a_verdict_under_gates_verifies_and_says_so(verdict):
    now = verdict(verdict="equal but for rounding")
    assert now.verified
    assert now.word == "equal but for rounding"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"verdict": "differs"}, "differs"),
        ({"verdict": "equal in part"}, "equal in part"),
        ({"contract_digest": "0"}, "contract has changed"),
        ({"sources": files_hash([])}, "files have changed"),
        ({"loaded": "0"}, "files have changed"),
        ({"bridge": "0"}, "the reference's bridge has changed"),
        ({"levels": {"level3": {}}}, "equal at level 3 alone, not verified: run `twinstep verify"),
        ({"platform": "gpu"}, "not verified on cpu"),
        ({"versions": {"jaxlib": "0.1"}}, f"with jaxlib {versions()['jaxlib']} (verified: 0.1)"),
    ],
)
def test_a_verdict_of_something_else_verifies_nothing(verdict, words, says):
    now = verdict(**words)
    assert not now.verified
    assert says in now.word


def test_more_lanes_than_were_verified_are_beyond_the_verdict(verdict):
    assert verdict(batches=[7, 9]).verified
    env = twinstep.make("pong-v0")
    env.reset(seed=0, lanes=9)
    assert env.verdict.verified
    env.reset(seed=0, lanes=10)
    env.reset(seed=0, lanes=2)
    assert not env.verdict.verified
    assert env.verdict.word == "beyond what was verified: 10 lanes (verified: up to 9)"


@pytest.mark.parametrize(
    ("name", "value"),
    [("jax_enable_x64", True), ("jax_default_prng_impl", "rbg"),
     ("jax_default_matmul_precision", "bfloat16")],
)  # fmt: skip
def test_another_setting_of_jax_is_beyond_the_verdict(verdict, name, value):
    """A candidate of JAX may compute other numbers under it; one of Rust does not."""
    assert verdict().verified
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        now = twinstep.make("pong-v0").verdict
        assert (now.verified, now.word) == (False, f"beyond what was verified: {name}={value}")
        assert verdict(settings={name: str(value)}).verified
    finally:
        jax.config.update(name, before)
    assert not verdict(settings={name: str(value)}).verified


def test_a_candidate_meets_actions_as_the_contract_has_them_and_cannot_change_the_callers():
    met = []
    env = twinstep.make("pong-v0", _rust() and "rust" or "jax", auto_reset="off")
    if not _rust():
        pytest.skip("the Rust module is not built")
    step = env._engine._candidate.step

    def looks(state, actions):
        met.append(actions)
        return step(state, actions)

    env._engine._candidate.step = looks
    state, _ = env.reset(lanes=6)
    mine = np.asfortranarray(np.ones((6, 2), np.uint8))[:, :1]
    for actions in (mine, mine[:, 0], [1] * 6, np.ones(6, np.int64), np.ones(12, np.int32)[::2]):
        state, _ = env.step(state, actions)
        got = met.pop()
        assert (got.dtype, got.shape, got.flags.c_contiguous) == (np.int32, (6, 1), True)
        assert not got.flags.writeable
    assert mine.flags.writeable
    with pytest.raises(ValueError, match="actions are float64; expected int32"):
        env.step(state, np.ones(6))


def test_a_candidate_of_which_a_part_is_missing_is_never_verified(verdict, monkeypatch):
    """Its verdict was made with the same part missing: both hashes are those of nothing."""
    monkeypatch.setattr(verdicts, "loaded_hash", lambda candidate: "")
    now = verdict(loaded="")
    assert not now.verified
    assert "cannot be found" in now.word


@pytest.mark.parametrize("backend", ["jax", "rust"])
def test_the_packaged_verdict_is_of_what_is_packaged(tmp_path, monkeypatch, backend):
    """Else: pytest --verdict candidates/pong/verdict.json -m "level1 or level2 or level3" ..."""
    monkeypatch.chdir(tmp_path)
    if backend == "rust" and not _rust():
        pytest.skip("the Rust module is not built")
    env = twinstep.make("pong-v0", backend)
    path, _ = verdicts._packaged(env._pair.candidate)
    there = json.loads(path.read_text())["versions"]
    monkeypatch.setattr(verdicts, "versions", lambda: there)
    monkeypatch.setattr(env, "platform", "cpu")
    assert env.verdict.verified, env.verdict.word
    assert env.verdict.source.endswith("candidates/pong/verdict.json")


def test_a_verdict_of_this_platform_speaks_before_one_of_another(verdict, tmp_path, monkeypatch):
    here = verdict()
    stored = json.loads(LOCAL.read_text())
    for platform in ("gpu", "cpu"):
        there = {**here.detail, "platform": platform}
        file = tmp_path / f"of-{platform}.json"
        file.write_text(json.dumps({**stored, "pairs": {here.pair: there}}))
    both = [tmp_path / "of-gpu.json", tmp_path / "of-cpu.json"]
    monkeypatch.setattr(verdicts, "LOCAL", tmp_path / "none.json")
    monkeypatch.setattr(verdicts, "_packaged", lambda candidate: both)
    now = twinstep.make("pong-v0").verdict
    assert (now.verified, now.source) == (True, both[1].as_posix())


def test_without_a_verdict_the_command_that_makes_one_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verdicts, "_packaged", lambda candidate: [])
    now = twinstep.make("pong-v0").verdict
    assert not now.verified
    assert "twinstep verify pong" in now.word


def test_adapters_refuse_the_wrong_kind_of_environment_in_one_line():
    off, same = (twinstep.make("pong-v0", auto_reset=mode) for mode in ("off", "same-step"))
    native = twinstep.make("pong-v0", "rust") if _rust() else None
    for make, says in (
        (lambda: Gymnax(off), "resets in the same step"),
        (lambda: Gymnax(same, 4), "return 5"),
        (lambda: Pgx(same), "auto_reset='off'"),
        (lambda: Players(same), "auto_reset='off'"),
        (lambda: Puffer(off, 4), "resets in the same step"),
        (lambda: Puffer(same, 4, {"rewards": np.zeros(4)}), "buffer rewards is float64[4]"),
        *([(lambda: Gymnax(native), "cannot stand inside jit")] if native else []),
    ):
        with pytest.raises(UserError) as error:
            make()
        assert says in str(error.value)


def _rust():
    from twinstep.candidates.pong.rust_pong import probe

    return not probe({}).problem


def test_debug_names_the_number_that_is_not_finite():
    """Without it, the environment treats such numbers as its reference does."""
    env = twinstep.make("pong-v0", "jax", continuous=True, debug=True)
    state, _ = env.reset(seed=0, lanes=3)
    actions = np.zeros(3, np.float32)
    state, _ = env.step(state, actions)
    bad = np.array([0.0, np.nan, 0.0], np.float32)
    with pytest.raises(UserError, match=r"^step: actions\[1\] is nan, not a finite number$"):
        env.step(state, bad)
    with pytest.raises(UserError, match=r"^rollout: actions\[2, 1\] is nan"):
        env.rollout(state, np.stack([actions, actions, bad]))
    with pytest.raises(UserError, match="debug=True looks at numbers, which inside jit"):
        jax.jit(env.step)(state, actions)
    fields = {name: np.array(value) for name, value in env.frame(state).state.items()}
    fields["ball_x"][2] = np.inf
    spoilt = env._load(fields, np.zeros((3, 2), np.uint32), np.zeros(3, bool))
    with pytest.raises(UserError, match=r"^step: state.ball_x\[2\] is inf"):
        env.step(spoilt, actions)
    twinstep.make("pong-v0", "jax", continuous=True).step(spoilt, actions)
