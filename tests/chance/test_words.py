"""The stand-ins of NumPy, Python and JAX make the same numbers of the same words."""

import random
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from twinstep import UserError
from twinstep.chance import Draws, JaxDraws, Row
from twinstep.chance.row import after

ROW = Row(64)
SIZE = 40
WEIGHTS = (0.125, 0.5, 0.0, 0.375)
VALUES = np.arange(10, 50)


def drawn_by(function, kind, row=ROW, seed=3):
    """Return what function(generator) draws; kind: of the generator."""
    draws = Draws(row)
    draws.put(words_of(row, seed))
    with draws:
        return function(getattr(draws, kind)())


def drawn_in_jax(function, row=ROW, seed=3):
    """Return what function(key) draws, compiled."""

    @jax.jit
    def all_of(words):
        with JaxDraws(row).of(words) as step:
            return function(step.key)

    return np.asarray(all_of(words_of(row, seed)))


def words_of(row, seed):
    return row.make_start(np.array([seed, 0], np.uint32))["draws"]


def listed(sequence):
    values = list(VALUES)
    sequence.shuffle(values)
    return values


SAME = {
    "uniform": (
        lambda g: g.uniform(size=SIZE),
        lambda g: [g.random() for _ in range(SIZE)],
        lambda key: jax.random.uniform(key, (SIZE,)),
    ),
    "whole numbers": (
        lambda g: np.array([g.integers(-3, 1000) for _ in range(SIZE)]),
        lambda g: [g.randrange(-3, 1000) for _ in range(SIZE)],
        lambda key: jax.random.randint(key, (SIZE,), -3, 1000),
    ),
    "whole numbers of 31 bits": (
        lambda g: g.integers(2**31 - 1, size=SIZE),
        lambda g: [g.randint(0, 2**31 - 2) for _ in range(SIZE)],
        lambda key: jax.random.randint(key, (SIZE,), 0, 2**31 - 1),
    ),
    "normal": (
        lambda g: g.normal(size=SIZE),
        lambda g: [g.gauss() for _ in range(SIZE)],
        lambda key: jax.random.normal(key, (SIZE,)),
    ),
    "choice": (
        lambda g: g.choice(VALUES, SIZE),
        lambda g: [g.choice(VALUES) for _ in range(SIZE)],
        lambda key: jax.random.choice(key, jnp.asarray(VALUES), (SIZE,)),
    ),
    "weighted choice": (
        lambda g: g.choice(4, SIZE, p=WEIGHTS),
        lambda g: g.choices(range(4), WEIGHTS, k=SIZE),
        lambda key: jax.random.choice(key, 4, (SIZE,), p=jnp.array(WEIGHTS)),
    ),
    "logits": (
        lambda g: g.choice(4, SIZE, p=WEIGHTS),
        lambda g: g.choices(range(4), WEIGHTS, k=SIZE),
        lambda key: jax.random.categorical(key, jnp.log(jnp.array(WEIGHTS)), shape=(SIZE,)),
    ),
    "order": (
        lambda g: g.permutation(VALUES),
        listed,
        lambda key: jax.random.permutation(key, jnp.asarray(VALUES)),
    ),
    "a part": (
        lambda g: g.choice(VALUES, 7, replace=False),
        lambda g: g.sample(list(VALUES), 7),
        lambda key: jax.random.choice(key, jnp.asarray(VALUES), (7,), replace=False),
    ),
    "coins": (
        lambda g: g.random(SIZE) < 0.25,
        lambda g: [g.random() < 0.25 for _ in range(SIZE)],
        lambda key: jax.random.bernoulli(key, 0.25, (SIZE,)),
    ),
}


@pytest.mark.parametrize("numbers", SAME)
def test_all_generators_draw_the_same_numbers(numbers):
    of_numpy, of_python, of_jax = SAME[numbers]
    want = drawn_by(of_numpy, "generator")
    assert np.array_equal(drawn_by(of_python, "python_random"), want)
    got = drawn_in_jax(of_jax)
    assert np.array_equal(got, want.astype(got.dtype))
    assert len(set(np.asarray(want).tolist())) > 1


def test_the_old_generator_of_numpy_draws_the_same_numbers():
    for new, old in (
        (lambda g: g.integers(5, 90, SIZE), lambda g: g.randint(5, 90, SIZE)),
        (lambda g: g.integers(7), lambda g: g.randint(7)),
        (lambda g: g.random((4, 10)), lambda g: g.rand(4, 10)),
        (lambda g: g.random(), lambda g: g.random_sample()),
        (lambda g: g.normal(1, 2, SIZE), lambda g: g.normal(1, 2, SIZE)),
        (lambda g: g.normal(size=3), lambda g: g.randn(3)),
        (lambda g: g.permutation(9), lambda g: g.permutation(9)),
    ):
        assert np.array_equal(drawn_by(new, "generator"), drawn_by(old, "random_state"))


@pytest.mark.parametrize("free", [1, 3, 7, 13])
def test_an_even_choice_and_one_by_equal_weights_in_float32_are_the_same(free):
    row = Row(4096)
    cells = np.sort(np.random.default_rng(free).permutation(16)[:free])
    mask = np.isin(np.arange(16), cells)
    want = drawn_by(lambda g: [g.choice(cells) for _ in range(4096)], "generator", row)

    def drawn(key):
        weights = jnp.asarray(mask, jnp.float32) / jnp.float32(free)
        return jnp.stack([jax.random.choice(key, 16, (4096,), p=weights)])

    assert np.array_equal(drawn_in_jax(drawn, row)[0], want)
    floors = drawn_by(lambda g: np.floor(g.random(4096) * free), "generator", row)
    assert np.array_equal(cells[floors.astype(int)], want)


def test_ranges_may_be_arrays():
    low, high = np.array([0, 10]), np.array([3, 1000])
    got = drawn_by(lambda g: g.integers(low, high), "generator")
    one = drawn_by(lambda g: [g.integers(0, 3), g.integers(10, 1000)], "generator")
    assert got.tolist() == one
    got = drawn_by(lambda g: g.uniform(low, high), "generator")
    one = drawn_by(lambda g: [g.uniform(0, 3), g.uniform(10, 1000)], "generator")
    assert got.tolist() == one


def test_numbers_have_their_distribution():
    # 32 columns over 400 steps, each row made of the one before.
    row = Row(32)
    words, rows = words_of(row, 0), []
    for _ in range(400):
        rows.append(words)
        words = after(words)
    drawn = Draws(Row(12_800))
    drawn.put(np.concatenate(rows))
    with drawn:
        generator = drawn.generator()
        assert stats.kstest(generator.random(4000), "uniform").pvalue > 1e-3
        assert stats.kstest(generator.normal(size=4000), "norm").pvalue > 1e-3
        counts = np.bincount(generator.integers(0, 7, 4000), minlength=7)
        assert stats.chisquare(counts).pvalue > 1e-3


def test_the_next_row_is_the_same_in_both_and_loses_no_word():
    words = words_of(Row(8192), 5)
    assert np.array_equal(np.asarray(jax.jit(after)(words)), after(words))
    # Of one column: two words never lead to the same one.
    one = np.arange(2**20, dtype=np.uint32)[:, None]
    assert len(np.unique(after(one))) == 2**20


def test_jax_random_is_itself_again_after_a_step():
    before = jax.random.uniform, jax.random.split
    with JaxDraws(ROW).of(words_of(ROW, 0)) as step:
        assert jax.random.uniform is not before[0]
        jax.random.uniform(step.key)
    assert (jax.random.uniform, jax.random.split) == before
    with pytest.raises(RuntimeError), JaxDraws(ROW).of(words_of(ROW, 0)):
        raise RuntimeError
    assert (jax.random.uniform, jax.random.split) == before


def test_a_function_that_jax_compiles_by_itself_draws_other_numbers_in_each_call():
    inner = jax.jit(lambda key: jax.random.uniform(key))
    inner(jax.random.PRNGKey(0))  # traced before

    def twice(key):
        return jnp.stack([inner(key), inner(key)])

    want = drawn_by(lambda g: g.random(2), "generator")
    assert np.array_equal(drawn_in_jax(twice), want.astype(np.float32))
    assert np.array_equal(
        drawn_in_jax(twice, Row(65)),
        drawn_by(lambda g: g.random(2), "generator", Row(65)).astype(np.float32),
    )


def test_a_key_that_the_port_makes_itself_draws_from_the_row_as_well():
    want = drawn_by(lambda g: g.random(), "generator")
    assert drawn_in_jax(lambda key: jax.random.uniform(jax.random.key(9))) == np.float32(want)


def test_a_draw_in_a_branch_or_in_a_function_compiled_for_many_lanes_takes_the_lanes_own_words():
    row, inner = Row(2), jax.jit(lambda key: jax.random.uniform(key))

    def lane(words):
        with JaxDraws(row).of(words) as step:
            return jax.lax.cond(words[0] > 5, lambda: inner(step.key), lambda: -inner(step.key))

    words = np.array([[0, 1 << 31], [1 << 31, 0]], np.uint32)
    got = np.asarray(jax.jit(jax.vmap(lane))(words))
    assert got.tolist() == [-0.5 - 2**-17, 0.5 + 2**-17]


@pytest.mark.parametrize(
    ("kind", "draw", "words"),
    [
        ("generator", lambda g: g.random(65), "the row has 64 words, and random in test_words.py:"),
        ("generator", lambda g: g.beta(1, 2), "`beta` of NumPy's generator has no stand-in"),
        ("random_state", lambda g: g.beta(1, 2), "`beta` of NumPy's generator has no stand-in"),
        ("python_random", lambda g: g.betavariate(1, 2), "`betavariate` of Python's random"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(kind, draw, words):
    with pytest.raises(UserError, match=words):
        drawn_by(draw, kind)


@pytest.mark.parametrize("kind", ["generator", "random_state"])
def test_an_empty_range_raises_as_in_numpy(kind):
    draw = {"generator": lambda g: g.integers(3, 3), "random_state": lambda g: g.randint(3, 3)}[
        kind
    ]
    with pytest.raises(ValueError, match="low >= high"):
        drawn_by(draw, kind)


def test_what_cannot_be_drawn_in_jax_is_one_line():
    with pytest.raises(UserError, match="jax.random.gamma has no stand-in"):
        drawn_in_jax(lambda key: jax.random.gamma(key, 1.0))
    with pytest.raises(UserError, match="the row has 64 words"):
        drawn_in_jax(lambda key: jax.random.uniform(key, (65,)))


def test_a_draw_outside_of_a_step_is_one_line():
    with pytest.raises(UserError, match="random is called outside of a reset or a step"):
        Draws(ROW).generator().random()


def test_a_place_without_a_name_and_a_name_without_a_place_are_one_line():
    row = Row({"ball": 1, "wall": 2})
    draws = Draws(row, {"elsewhere": "ball"})
    with (
        pytest.raises(UserError, match=r"add 'test_words.py:\d+' to sites, with one of ball, wall"),
        draws,
    ):
        draws.generator().random()
    with pytest.raises(UserError, match="sites name 'bal', and the row has ball, wall"):
        Draws(row, {"here": "bal"})
    with pytest.raises(UserError, match="a row without names is drawn in order"):
        JaxDraws(Row(2), {"here": "ball"})
    with pytest.raises(UserError, match="at least one column"):
        Row(0)


def test_the_innermost_place_decides():
    row = Row({"outer": 1, "inner": 1})
    draws = Draws(row, {"outer": "outer", "inner": "inner"})
    draws.put(np.array([1 << 31, 3 << 30], np.uint32))
    generator = draws.generator()

    def inner():
        return generator.random()

    def outer():
        return inner(), generator.random()

    with draws:
        assert outer() == (0.75 + 2**-17, 0.5 + 2**-17)


def test_modules_that_import_a_function_draw_from_the_row_too():
    source = "from jax.random import uniform\ndef draw(key):\n    return uniform(key)\n"
    module = types.ModuleType("imports_uniform")
    exec(source, module.__dict__)
    sys.modules["imports_uniform"] = module
    try:
        got = drawn_in_jax(module.draw)
    finally:
        del sys.modules["imports_uniform"]
    assert got == np.float32(drawn_by(lambda g: g.random(), "generator"))
    assert isinstance(drawn_by(lambda g: g, "python_random"), random.Random)
