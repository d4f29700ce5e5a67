"""Run cartridges on both sides and require the same state after each step."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contracts.emurust.choice import NO_RULES
from twinstep.frames import Start, stack_starts
from twinstep.testing import Case, Lab, first_misses, frames_differ

#: Actions by the buttons they hold.
ACTIONS = {names: number for number, names in enumerate(NO_RULES.actions)}
#: More steps than any of these tests plays.
_STEPS = 2000
_SIZE = 0x8000


def play(
    lab: Lab,
    programs: Sequence[bytes],
    steps: int | Sequence[int] = 4,
    skip: int = 1,
    hidden: bool = True,
) -> list[dict[str, np.ndarray]]:
    """Play each cartridge from its hand-over; return the oracle's frames, path -> [T + 1, ...].

    steps: the number of steps without a button, or the action of each. skip: frames in a step, of
    which the last is drawn. hidden: also compare the state's hidden fields after the last step.
    Fails with a report at the first step after which a shown field differs.
    """
    actions = np.zeros(steps, np.int32) if isinstance(steps, int) else np.array(steps, np.int32)
    plain = [rom for rom in programs if len(rom) == _SIZE and not rom[0x147]]
    if len(plain) == len(programs):
        with_start = _of_cartridge(lab, "given", skip)
        starts = [Start(_SEED, {"rom": np.frombuffer(rom, np.uint8)}) for rom in programs]
        return compare(with_start, starts, actions, hidden)
    frames = []
    with tempfile.TemporaryDirectory() as folder:
        for rom in programs:
            # A start can supply no mapper, so this cartridge is an environment of its own.
            path = Path(folder) / f"{hashlib.sha256(rom).hexdigest()[:12]}.gb"
            path.write_bytes(rom)
            with_path = _of_cartridge(lab, str(path), skip)
            try:
                frames += compare(with_path, [Start(_SEED, {})], actions, hidden)
            finally:
                with_path.reference.close()
    return frames


_SEED = np.zeros(2, np.uint32)


def with_rules(lab: Lab, folder: Path, rules: str, **params: Any) -> Lab:
    """Return the lab of the same candidate for catch under a test's own rules.

    rules: the arguments of `Rules(...)`. folder: for their file. params: changes to the variant's.
    """
    path = folder / "rules.py"
    path.write_text(
        f"from twinstep.contracts.emurust.roms.memory import *\nrules = Rules({rules})\n"
    )
    env, variant = lab.pair.subject.env, lab.pair.subject.variant
    changed = {**variant.params, "rom": "catch", "rules": str(path), **params}
    name = f"rules-{hashlib.sha256(rules.encode()).hexdigest()[:8]}"
    return lab.at(name, env.params(changed))


def _of_cartridge(lab: Lab, rom: str, skip: int) -> Lab:
    """Return the lab of the same candidate for other cartridges."""
    params = {
        "rom": rom, "frame_skip": skip, "max_episode_steps": _STEPS, "observe": "half", "rules": "",
    }  # fmt: skip
    return lab.at(f"{Path(rom).stem}-skip{skip}", params)


def compare(
    lab: Lab, starts: list[Start], actions: np.ndarray, hidden: bool
) -> list[dict[str, np.ndarray]]:
    """Play the actions [T] from each start on both sides; return the oracle's frames.

    Fails as `play` does.
    """
    lanes = actions[:, None, None].repeat(len(starts), 1)
    state, first = lab.runner.reset(stack_starts(starts))
    state, later = lab.runner.rollout(state, lanes)
    got = {path: np.concatenate([first[path][None], later[path]]) for path in first}
    truths = [frames for frames, _, _ in lab.oracle.replays([(s, lanes[:, 0]) for s in starts])]
    want = {path: np.stack([frames[path] for frames in truths], 1) for path in got}
    found = frames_differ(want, got, lab.rules.lockstep())
    misses = first_misses(found, np.ones((len(actions) + 1, len(starts)), bool), 0)
    if misses:
        miss = min(misses, key=lambda miss: miss.step)
        case = Case("episode", starts[miss.lane], lanes[: miss.step, 0])
        which = f"Program {miss.lane} of {len(starts)}; " if len(starts) > 1 else ""
        lab.fail_with_case(case, f"{which}{len(misses)} of {len(starts)} differ.")
    if hidden:
        _compare_hidden(lab, starts, lanes[:, 0], lab.runner.present(state))
    return truths


def _compare_hidden(
    lab: Lab, starts: list[Start], actions: np.ndarray, got: dict[str, np.ndarray]
) -> None:
    trials: list[Any] = [(start, {}, actions) for start in starts]
    for lane, want in enumerate(lab.oracle.hidden_after(trials)):
        wrong = [name for name in want if not np.array_equal(want[name], got[name][lane])]
        if wrong:
            texts = (
                f"`{n}`: {want[n].tolist()} in PyBoy, {got[n][lane].tolist()}" for n in wrong[:4]
            )
            lab.fail(
                f"after {len(actions)} steps of program {lane}, all that is shown is equal, but "
                f"hidden fields differ: {'; '.join(texts)}"
            )
