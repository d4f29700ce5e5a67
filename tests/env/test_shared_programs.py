"""Variants that differ only in their starts share compiled programs; other variants do not."""

from twinstep.candidates.pokejax.jax_pokejax import PokejaxJax
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.env.jax_engine import compiled_engine
from twinstep.project import registry
from twinstep.project.registry import EnvVariant
from twinstep.testing.xdist import Groups


def _contracts():
    return [POKEJAX.contract(POKEJAX.params(variant.params)) for variant in POKEJAX.variants]


def test_candidates_of_all_variants_have_the_same_programs():
    pure = {id(PokejaxJax(contract).pure) for contract in _contracts()}
    assert len(pure) == 1


def test_an_engine_is_one_for_each_kind_of_auto_reset():
    one, two, *_ = (PokejaxJax(contract) for contract in _contracts())
    same = [compiled_engine(each.contract, each.pure, "same-step") for each in (one, two)]
    assert same[0] is same[1]
    assert compiled_engine(one.contract, one.pure, "off") is not same[0]


def test_their_tests_run_in_one_process_and_those_of_others_apart():
    pairs = [
        pair
        for name in ("pokejax", "pong")
        for env in [registry.environment(name)]
        for variant in env.variants
        for pair in registry.pairs(EnvVariant(env, variant))
    ]
    groups = Groups(pairs)
    labels = {
        pair.label: groups.of(f"rollouts/test_x.py::test[{pair.label}-off]") for pair in pairs
    }
    battles = {group for label, group in labels.items() if label.startswith("pokejax")}
    assert battles == {"pokejax-jax"}
    assert all(labels[label] == label for label in labels if label.startswith("pong"))
    # What has no label goes anywhere.
    small = {
        groups.of(f"{folder}/test_m.py::test[pokejax@{variant}-jax-move]")
        for folder in ("properties", "interactions/pokejax")
        for variant in ("ou", "randbats")
    }
    assert small == {"pokejax-jax, levels 1 and 2"}
    assert groups.of("properties/test_m.py::test[pong@fs8-jax-ball]") == "pong@fs8-jax"
    assert groups.of("tests/test_a.py::test_b[1]") == "tests/test_a.py::test_b[1]"
    # A group of xdist's own, behind an `@`, is kept.
    assert groups.of("tests/test_a.py::test_b[x@y]") == "tests/test_a.py::test_b[x@y]"
    assert groups.of("tests/test_a.py::test_b[x@y]@slow ones") == "slow ones"
