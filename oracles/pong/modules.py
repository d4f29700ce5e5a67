"""Module calls: the reference has no such functions, so a step is arranged to show one module.

A lane is placed where one frame of the reference's own step makes the wanted values arrive at
the module, and where nothing else in that frame acts:
  * a ball that stands in mid-field (MIDDLE, vx 0) reaches neither side nor, where it is
  given no other height, a wall;
  * paddle_speed 0 holds both paddles;
  * a field of width FAR has no right side within reach.
For a side, the values are those after the ball moved, so the ball is placed one move before
them. Where no float32 leads there exactly, NotCallable is raised; a near value is never used.
`serve` and `observe` are functions of the reference (reset_round, compute_observations).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Fields
from twinstep.protocols import NotCallable

if TYPE_CHECKING:
    from twinstep.oracles.pong.bridge import Library

Outputs = Fields | np.ndarray  # lanes serve as they are: their fields have names

MIDDLE = (240.0, 300.0)
FAR = 1e6


def call(
    library: Library, contract: Contract, module: str, inputs: Fields
) -> dict[str, np.ndarray]:
    """Evaluate a module of the contract on inputs with a leading N.

    Returns its outputs [N, ...] in the contract's dtypes. Raises NotCallable if some inputs
    cannot be arranged, KeyError for a module the contract does not have.
    """
    declared = contract.module(module)
    given = {f.name: np.asarray(inputs[f.name], f.dtype) for f in declared.inputs}
    lanes = _still(library, contract, len(next(iter(given.values()))))
    outputs = _CALLS[module](library, lanes, given)
    return {f.name: np.asarray(outputs[f.name]).astype(f.dtype) for f in declared.outputs}


def _still(library: Library, contract: Contract, count: int) -> np.ndarray:
    """Return lanes in which one frame changes nothing but tick."""
    lanes = library.new_lanes(count, contract)
    library.call("lanes_inject", lanes)
    lanes["frameskip"] = 1
    lanes["ball_x"], lanes["ball_y"] = MIDDLE
    return lanes


def _put(lanes: np.ndarray, values: Fields, *names: str) -> None:
    for name in names or values:
        lanes[name] = values[name]


def _step(library: Library, lanes: np.ndarray) -> None:
    wrong = library.call("lanes_step", lanes, np.ones(len(lanes), np.uint8))
    assert wrong < 0, "a terminal frame does not restart as the reference did"


def _agent_paddle(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    _put(lanes, given)
    _step(library, lanes)
    return lanes


def _opponent_paddle(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    # The paddle follows the ball's position before its move.
    _put(lanes, given)
    _step(library, lanes)
    return lanes


def _ball(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    lanes["width"] = FAR
    # At the left side a bounce changes no output here; a point would.
    lanes["paddle_speed"] = 0
    lanes["paddle_yl"] = np.clip(given["ball_y"] + given["ball_vy"] - 35, -35, 605)
    _put(lanes, given)
    _step(library, lanes)
    _demand(lanes["reward"] == 0, "a point shows more than the ball's move")
    return lanes


def _left_side(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    lanes["width"] = FAR
    lanes["paddle_speed"] = 0
    _put(lanes, given)
    # -0.0 is the one addend that keeps every float, both zeros included.
    lanes["ball_vy"] = -0.0
    lanes["ball_x"], exact = _before(given["ball_x"], given["ball_vx"])
    _demand(exact, "no float32 moves to this ball_x")
    _step(library, lanes)
    point = np.abs(lanes["reward"]) == 1
    return _side_outputs(lanes, point, ("ball_vx", "n_bounces"))


def _right_side(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    lanes["paddle_speed"] = 0
    # Sets any direction; a discrete action sets -1, 0 or 1 in the same place.
    lanes["continuous"] = 1
    _put(lanes, given)
    lanes["action"] = given["paddle_dir"]

    # A ball beyond the left side reaches the right one only after a bounce there, so the
    # opponent's paddle is put in its way, which turns vx and counts a bounce.
    behind = given["ball_x"] < 0
    lanes["ball_vx"] = np.where(behind, -given["ball_vx"], given["ball_vx"])
    lanes["n_bounces"] = given["n_bounces"] - behind
    lanes["paddle_yl"] = np.clip(given["ball_y"] - 35, -35, 605)
    lanes["ball_x"], exact_x = _before(given["ball_x"], lanes["ball_vx"])

    # The wall turns vy before the side sees it. Try both signs, keep the one that arrives.
    exact_y = np.zeros(len(lanes), bool)
    for vy in (given["ball_vy"], -given["ball_vy"]):
        y, exact = _before(given["ball_y"], vy)
        tried = lanes.view(np.uint8).copy().view(lanes.dtype)  # with the bytes that the table lacks
        tried["ball_x"], tried["ball_vx"] = MIDDLE[0], 0
        tried["ball_y"], tried["ball_vy"] = y, vy
        _step(library, tried)
        exact &= _same(tried["ball_vy"], given["ball_vy"]) & _same(tried["ball_y"], given["ball_y"])
        lanes["ball_y"] = np.where(exact, y, lanes["ball_y"])
        lanes["ball_vy"] = np.where(exact, vy, lanes["ball_vy"])
        exact_y |= exact
    _demand(exact_x & exact_y, "no float32 moves to this ball")
    _step(library, lanes)
    point = np.abs(lanes["reward"]) == 1
    return _side_outputs(lanes, point, ("ball_x", "ball_y", "ball_vx", "ball_vy", "n_bounces"))


def _serve(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    _put(lanes, given)
    for name in ("paddle_yl", "paddle_yr", "ball_vx", "ball_vy", "tick", "n_bounces"):
        lanes[name] = 7  # a field that the serve does not set shows
    library.call("lanes_serve", lanes)
    return lanes


def _observe(library: Library, lanes: np.ndarray, given: Fields) -> Outputs:
    _put(lanes, given)
    library.call("lanes_observe", lanes)
    return {"obs": lanes["last_obs"]}


def _side_outputs(lanes: np.ndarray, point: np.ndarray, served: tuple[str, ...]) -> Fields:
    """Return a side's outputs; fields set by the serve after a point are 0 by the contract."""
    names = ("ball_x", "ball_y", "ball_vx", "ball_vy", "n_bounces", "score_l", "score_r", "win")
    outputs = {name: lanes[name] for name in names}
    for name in served:
        outputs[name] = np.where(point, lanes[name].dtype.type(0), lanes[name])
    terminated = lanes["terminal"].astype(bool)
    return outputs | {"reward": lanes["reward"], "point": point, "terminated": terminated}


def _before(after: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f32 x with x + change == after, and where one exists (the sum rounds)."""
    first = after - change
    found, exact = first.copy(), first + change == after
    for direction in (-np.inf, np.inf):
        near = first
        for _ in range(4):
            near = np.nextafter(near, np.float32(direction))
            fits = ~exact & (near + change == after)
            found[fits] = near[fits]
            exact |= fits
    return found, exact


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return where two f32 arrays have equal bits: a turned 0.0 is -0.0."""
    return np.ascontiguousarray(a).view(np.uint32) == np.ascontiguousarray(b).view(np.uint32)


def _demand(exact: np.ndarray, why: str) -> None:
    if not exact.all():
        raise NotCallable(f"{why}: {int((~exact).sum())} of {len(exact)} inputs")


_CALLS = {
    "agent_paddle": _agent_paddle,
    "opponent_paddle": _opponent_paddle,
    "ball": _ball,
    "left_side": _left_side,
    "right_side": _right_side,
    "serve": _serve,
    "observe": _observe,
}
