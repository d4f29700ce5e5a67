"""One step of Pong as the calls of its modules, the same for every candidate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from twinstep.contract import Contract
from twinstep.frames import Array, Fields
from twinstep.protocols import ModuleCall


def explain(
    call: Callable[[str, Fields], dict[str, Array]],
    contract: Contract,
    state: Fields,
    action: Array,
) -> list[ModuleCall]:
    """List the module calls of one step of one lane, in order.

    call: evaluates a module on inputs with a leading N. state: `Frame.state` of one lane.
    action: [1], the agent's. Frames follow each other until the frame skip is over or a
    point ends the step. Then come one `observe`, of the last frame without a point (none if
    there was no such frame), and after a point the `serve`.
    """
    now = {name: np.asarray(value) for name, value in state.items()}
    now["action"] = np.asarray(action, contract.action.dtype)[0]
    calls: list[ModuleCall] = []

    def play(name: str, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        fields = contract.module(name).inputs
        inputs = {f.name: np.asarray(values[f.name], f.dtype) for f in fields}
        outputs = call(name, {key: value[None] for key, value in inputs.items()})
        single = {key: np.asarray(value)[0] for key, value in outputs.items()}
        calls.append(ModuleCall(name, inputs, single))
        return single

    played: dict[str, np.ndarray] | None = None
    point = False
    for _ in range(contract.params["frameskip"]):
        after = dict(now)
        after |= play("agent_paddle", now)
        after |= play("opponent_paddle", now)
        after |= play("ball", now)
        after |= play("left_side", after)
        point = bool(after["point"])
        if not point:
            after |= play("right_side", after)
            point = bool(after["point"])
        if point:
            break
        now = played = after
    if played is not None:
        play("observe", played)
    # With the reference's own generator the contract has no serve module.
    if point and any(module.name == "serve" for module in contract.modules):
        play("serve", now)
    return calls
