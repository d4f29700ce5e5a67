"""Gates from one step of both sides: rounding is let pass, and nothing larger."""

import numpy as np
import pytest

from twinstep.compare.arrays import Rules, differs
from twinstep.contract import Contract, Discrete, Field, Randomness
from twinstep.gates import GateRule, Lockstep, Resync
from twinstep.scaffold.gate_rules import Asked, gates_line, propose

COUNT = 500
CONTRACT = Contract(
    version="toy-v0",
    params={},
    action=Discrete(2),
    observation=Field("obs", "float32", (2,), names=("at", "speed")),
    state=(Field("at", "float64", low=-1, high=1), Field("speed", "float64", low=-9, high=9)),
    randomness=Randomness("none"),
)


def asked(change):
    """Return what two sides were asked that differ by rounding, and by change(got, dtype)."""
    rng = np.random.default_rng(0)
    states = {"at": rng.uniform(-1, 1, COUNT), "speed": rng.uniform(-9, 9, COUNT)}
    want = {
        "obs": np.stack([states["at"], states["speed"]], -1)[:, None].astype(np.float32),
        "reward": rng.random((COUNT, 1)).astype(np.float32),
        "terminated": np.zeros(COUNT, bool),
        "truncated": np.zeros(COUNT, bool),
        "acting": np.ones((COUNT, 1), bool),
        "state.at": states["at"],
        "state.speed": states["speed"],
    }
    got = {}
    for dtype, unit in (("float32", 1.2e-7), ("float64", 2.2e-16)):
        got[dtype] = {path: values.copy() for path, values in want.items()}
        got[dtype]["state.speed"] *= 1 + unit * rng.integers(-3, 4, COUNT)
        change(got[dtype], dtype)
    return Asked(states, np.zeros((COUNT, 1), np.int32), want, got)


def made(proposal):
    """Return the gates that the lines of a proposal declare."""
    scope = {"GateRule": GateRule, "Resync": Resync, "Lockstep": Lockstep}
    return eval("(" + "\n".join(proposal.rules) + "\n)", scope)


def test_rounding_alone_gives_gates_of_ten_times_its_size_in_each_dtype():
    proposal = propose(CONTRACT, asked(lambda got, dtype: None))
    assert not proposal.findings
    assert list(proposal.measured["float32"]) == ["state.speed"]
    for rule in made(proposal):
        largest = proposal.measured[rule.dtype].get(rule.fields, 0)
        assert 10 * largest <= rule.gate.max <= 20 * largest
    assert [rule.fields for rule in made(proposal)] == ["state.speed", "*"] * 2
    assert "(float32: 3.2e-06 at most; float64: 5.3e-15 at most)" in gates_line(proposal)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("state.speed", 0.04, "`state.speed` is 0.04, oracle "),
        ("terminated", True, "`terminated` is True, oracle False, one step from at="),
        ("reward", 99.0, "`reward` is 99, oracle "),
    ],
)
def test_what_is_larger_than_rounding_is_a_finding_and_widens_no_gate(path, value, says):
    def bug(got, dtype):
        got[path][7] = value

    proposal = propose(CONTRACT, asked(bug))
    plain = propose(CONTRACT, asked(lambda got, dtype: None))
    (line,) = proposal.findings
    assert line.startswith(f"Larger than rounding: {says}")
    assert line.endswith(", action [0] (1 of 500 placed states differ so).")
    assert all(rule.gate.max <= 1e-4 for rule in made(proposal))
    for dtype, sizes in proposal.measured.items():
        assert sizes["state.speed"] <= plain.measured[dtype]["state.speed"]


def test_a_small_constant_that_is_wrong_is_no_rounding_of_float64():
    """One part in a million looks like float32's rounding there, and is none of float64's."""

    def bug(got, dtype):
        got["state.speed"] *= 1 + 3e-5

    (line,) = propose(CONTRACT, asked(bug)).findings
    assert "(500 of 500 placed states differ so)" in line


def test_a_comparison_that_float32_flips_is_no_measure_of_rounding():
    def flip(got, dtype):
        if dtype == "float32":
            got["state.speed"][3] += 1
            got["terminated"][3] = True

    proposal = propose(CONTRACT, asked(flip))
    assert not proposal.findings
    assert proposal.measured["float32"]["state.speed"] < 1e-5


def test_zeros_of_other_sign_alone_give_a_gate_that_keeps_whole_episodes():
    def zeros(got, dtype):
        got["state.speed"][:] = question.want["state.speed"]
        got["reward"][5] = -0.0

    question = asked(lambda got, dtype: None)
    question.want["reward"][5] = 0.0
    for dtype in question.got:
        question.got[dtype]["reward"][:] = question.want["reward"]
        zeros(question.got[dtype], dtype)
    proposal = propose(CONTRACT, question)
    assert [rule.gate for rule in made(proposal)] == [Lockstep(signed_zeros=False)] * 2
    assert "Zeros of both signs" in gates_line(proposal)


def test_a_bound_of_zero_makes_both_zeros_one():
    """`reward` is -0 in one library and 0 in the other, beside a field that rounds."""
    rules = Rules.of(
        Contract(**{**vars(CONTRACT), "gates": (GateRule(Resync(0.0)),)}),
        candidate="x", dtype="float32", platform="cpu",
    )  # fmt: skip
    zeros, ones = np.zeros((4, 1), np.float32), np.ones((4, 1), np.float32)
    for gates in (rules.one_step(), rules.from_placed()):
        assert not differs(zeros, -zeros, gates["reward"]).any()
        assert differs(ones, np.nextafter(ones, 2), gates["reward"]).all()
