"""Paths into a library's state: what is read there can be put there, and nothing else changes."""

import dataclasses
import enum
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

from twinstep import UserError
from twinstep.inward import _paths


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    parts: dict
    numbers: Any


class Way(enum.Enum):
    UP = 0
    DOWN = 1


def like(old, new):
    return jnp.asarray(new, jnp.asarray(old).dtype)


@pytest.mark.parametrize(
    "path", ["parts.door[1]", "parts.pair.left", "parts.pair[1]", "numbers[-1]", "numbers[0]"]
)
def test_what_is_put_into_an_immutable_state_is_read_there_and_nothing_else_changes(path):
    state = Frozen({"door": [1.0, 2.0], "pair": Pair(3.0, 4.0)}, jnp.array([5.0, 6.0]))
    paths = ["parts.door[0]", "parts.door[1]", "parts.pair.left", "parts.pair.right"]
    paths += ["numbers[0]", "numbers[1]"]
    after = _paths.replaced(state, path, 9, like)
    assert float(_paths.read(after, path)) == 9
    changed = [p for p in paths if float(_paths.read(after, p)) != float(_paths.read(state, p))]
    assert len(changed) == 1
    assert isinstance(after.parts["pair"], Pair)


def test_what_is_put_into_an_object_has_the_type_of_what_was_there():
    held = np.array([1.0, 2.0])
    thing = SimpleNamespace(
        state=held, pair=(1, 2.0), flag=True, way=Way.UP, small=np.float32(1), deep={"at": [7]}
    )
    for path, value in [
        ("state[1]", np.float64(5)),
        ("pair[0]", np.int32(8)),
        ("flag", np.bool_(False)),
        ("way", np.int32(1)),
        ("small", np.float64(0.5)),
        ("deep.at[0]", np.int64(9)),
    ]:
        _paths.assign(thing, path, value)
    assert held.tolist() == [1, 2], "somebody's array was written into"
    assert thing.state.tolist() == [1, 5]
    assert thing.pair == (8, 2.0)
    assert type(thing.pair[0]) is int
    assert (thing.flag, thing.way, thing.deep) == (False, Way.DOWN, {"at": [9]})
    assert type(thing.small) is np.float32


def test_a_whole_array_is_put_as_an_array_in_the_contracts_precision():
    thing = SimpleNamespace(state=np.zeros(2), counts=np.zeros(2, np.int64))
    _paths.assign(thing, "state", np.array([0.1, 0.2], np.float32))
    _paths.assign(thing, "counts", np.array([1, 2], np.int32))
    assert thing.state.dtype == np.float32
    assert thing.counts.dtype == np.int64
    assert thing.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("sate", r"has no 'sate' \(it has state\)"),
        ("state[2]", "index 2 of 2 values"),
        ("state[0][0]", "takes no index"),
        ("state(0)", "is no path"),
    ],
)
def test_a_path_that_is_not_there_is_one_line(path, says):
    thing = SimpleNamespace(state=np.zeros(2))
    with pytest.raises(UserError, match=says) as error:
        _paths.assign(thing, path, np.zeros(()))
    assert "\n" not in str(error.value)


def test_an_element_keeps_its_precision_in_an_array_that_begins_in_less():
    """Gymnasium's Acrobot begins an episode in float32 and goes on in float64."""
    thing = SimpleNamespace(state=np.zeros(2, np.float32), count=np.zeros(2, np.int32))
    _paths.assign(thing, "state[1]", np.float64(0.1))
    _paths.assign(thing, "count[1]", np.float64(3.0))
    assert thing.state.dtype == np.float64
    assert thing.state[1] == 0.1
    assert thing.count.dtype == np.int32
    _paths.assign(thing, "state[0]", np.float32(0.1))
    assert thing.state.dtype == np.float64


def test_a_single_float_keeps_its_type_where_that_holds_the_value():
    thing = SimpleNamespace(half=np.float32(1), tenth=np.float32(1))
    _paths.assign(thing, "half", np.float64(0.5))
    _paths.assign(thing, "tenth", np.float64(0.1))
    assert type(thing.half) is np.float32
    assert float(thing.tenth) == 0.1
