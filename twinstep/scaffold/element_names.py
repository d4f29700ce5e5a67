"""Names of the elements of states and observations that Gymnasium documents, by environment.

A library gives no names with its arrays; a report says `obs.x_dot` where they are known.
"""

from __future__ import annotations

_CART = ("x", "x_dot", "theta", "theta_dot")
_CAR = ("position", "velocity")
_ARMS = ("theta1", "theta2", "theta1_dot", "theta2_dot")
#: Module below gymnasium.envs -> (names of `unwrapped.state`, names of the observation).
_DOCUMENTED = {
    "classic_control.cartpole": (_CART, _CART),
    "classic_control.mountain_car": (_CAR, _CAR),
    "classic_control.continuous_mountain_car": (_CAR, _CAR),
    "classic_control.pendulum": (
        ("theta", "theta_dot"),
        ("cos_theta", "sin_theta", "theta_dot"),
    ),
    "classic_control.acrobot": (
        _ARMS,
        ("cos_theta1", "sin_theta1", "cos_theta2", "sin_theta2", "theta1_dot", "theta2_dot"),
    ),
}


def of_state(module: str) -> tuple[str, ...]:
    """Return the names of the state of the class's module, () if none are documented."""
    return _documented(module)[0]


def of_observation(module: str) -> tuple[str, ...]:
    """Return the names of the observation of the class's module, () if none are documented."""
    return _documented(module)[1]


def _documented(module: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _DOCUMENTED.get(module.removeprefix("gymnasium.envs."), ((), ()))
