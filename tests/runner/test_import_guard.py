"""A candidate that reaches for the oracle cannot be built."""

import sys

import numpy as np
import pytest

from twinstep.environment import CandidateRef, Environment, OracleRef
from twinstep.errors import CandidateBroken
from twinstep.inputs.sampling import some_starts
from twinstep.project.registry import EnvVariant, Pair
from twinstep.runner.runner import Runner
from twinstep.tests.toys import duel

BRIDGE = "class Oracle: pass\n"
REACHES = {
    "import": "import far_oracle.bridge\n",
    "from": "from far_oracle import bridge\n",
    "name": "from far_oracle.bridge import Oracle\n",
    "upstream": "import far_upstream\n",
    "late": "",
}


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Return a function: the pair whose candidate is a module with this text."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "far_oracle").mkdir()
    (tmp_path / "far_oracle" / "__init__.py").write_text("")
    (tmp_path / "far_oracle" / "bridge.py").write_text(BRIDGE)
    (tmp_path / "far_upstream.py").write_text("")
    yield lambda name, text: _pair(tmp_path, name, text)
    for known in [n for n in sys.modules if n.startswith(("far_", "reaching_"))]:
        del sys.modules[known]


def _pair(folder, name, text):
    late = "        import far_oracle.bridge\n" if name == "late" else ""
    (folder / f"reaching_{name}.py").write_text(
        f"from twinstep.tests.toys.duel import Vector\n{text}\n"
        f"class Made(Vector):\n    def __init__(self, contract):\n{late}"
        "        super().__init__(contract)\n"
    )
    oracle = OracleRef(
        "far", "far_oracle.bridge:Oracle", "", "far_oracle", upstream=("far_upstream",)
    )
    ref = CandidateRef("made", f"reaching_{name}:Made")
    env = Environment("far", duel.contract, oracle, (ref,))
    return Pair(EnvVariant(env, env.variants[0]), ref)


@pytest.mark.parametrize("loaded", [False, True], ids=["oracle not loaded", "oracle loaded"])
@pytest.mark.parametrize("name", REACHES)
def test_a_candidate_that_imports_the_oracle_is_refused(pair, name, loaded):
    made = pair(name, REACHES[name])
    if loaded:
        import far_oracle.bridge  # type: ignore[import-not-found]
        import far_upstream  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(CandidateBroken, match="belongs to the oracle"):
        Runner.of(made)
    if loaded:
        assert sys.modules["far_oracle.bridge"] is far_oracle.bridge


def test_a_candidate_that_imports_the_oracle_in_a_step_is_refused(pair, tmp_path):
    import far_oracle.bridge  # type: ignore[import-not-found]

    made = pair("none", "")
    module = tmp_path / "reaching_none.py"
    body = "    def step(self, state, actions):\n        from far_oracle.bridge import Oracle\n"
    module.write_text(module.read_text() + body)
    runner = Runner.of(made)
    state, _ = runner.reset(some_starts(runner.contract, 2))
    with pytest.raises(CandidateBroken, match="belongs to the oracle"):
        runner.step(state, np.zeros((2, 2), np.int32))
    assert sys.modules["far_oracle.bridge"] is far_oracle.bridge


def test_a_candidate_beside_the_oracle_in_one_file_is_built(pair):
    made = pair("none", "")
    assert Runner.of(made).name == "made"
    # The toys' oracles and candidates share a module.
    ref = duel.DUEL.candidates[0]
    assert Runner.of(Pair(EnvVariant(duel.DUEL, duel.DUEL.variants[0]), ref)).name == ref.name
