"""`twinstep play ENV`: watch one episode of the reference in the terminal, or play it by hand."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinstep._lib import paths
from twinstep.contract import Contract
from twinstep.errors import OracleMissing, UserError
from twinstep.frames import Start, stack_starts, take_lanes
from twinstep.inputs.seeds import starts_of
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, variant_of
from twinstep.reference.recording import record

#: An observation with more values than this is not printed.
MOST = 24


class Told(NamedTuple):
    """A narrated episode: lines for the terminal, and files by suffix, such as `.html`."""

    lines: list[str]
    files: Mapping[str, str] = {}


#: An environment may declare one: (oracle, contract, start, actions [T, P, ...]) -> Told.
Narrator = Callable[[Any, Contract, Start, np.ndarray], Told]


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    play = commands.add_parser("play", help="watch or play an episode of the reference")
    play.add_argument("env", help="the environment's name")
    play.add_argument("--variant", default="", help="default: the first")
    play.add_argument("--driver", default="", help="who plays; default: the contract's last")
    play.add_argument("--seed", default="0", help="which episode; default: 0")
    play.add_argument(
        "--human", action="append", default=[], metavar="PLAYER",
        help="play this player by hand, 0 or 1; the driver plays the others",
    )  # fmt: skip
    play.add_argument(
        "--start", nargs="+", type=Path, default=[], metavar="FILE",
        help="files to begin from, such as both decks",
    )  # fmt: skip
    play.add_argument("--out", type=Path, help="where files go, without suffix; default: by name")
    play.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    env = registry.environment(args.env)
    subject = variant_of(args.env, args.variant or env.variants[0].name)
    if not args.seed.isdecimal() or int(args.seed) >= 2**32:
        raise UserError(f"--seed {args.seed}: a number below 2**32")
    humans = [_player(text) for text in args.human]
    narrated = retell(subject, args.driver, int(args.seed), humans, args.start)
    if narrated.lines:
        print("\n".join(narrated.lines))
    stem = args.out or Path(f"{args.env}-{args.seed}")
    for suffix, text in narrated.files.items():
        file = stem.with_name(stem.name + suffix)
        if not paths.writable(file.parent):
            raise UserError(f"--out {args.out}: files cannot be written there")
        paths.write_atomically(file, text.encode())
        print(f"written: {file}")
    return 0


def _player(text: str) -> int:
    if not text.isdecimal():
        raise UserError(f"--human {text}: a player's number, from 0")
    return int(text)


def retell(
    subject: EnvVariant,
    driver: str,
    seed: int,
    humans: Sequence[int] = (),
    files: Sequence[Path] = (),
) -> Told:
    """Play the episode of seed (seed, 0) in the reference and narrate it.

    humans: players that people play at the terminal. files: the contents of its start.
    """
    contract, probe = subject.contract, subject.probe
    if probe.problem:
        raise OracleMissing(probe.problem, probe.mend)
    name = driver or contract.drivers[-1]
    if name not in contract.drivers:
        raise registry.unknown(f"driver of {subject.env.name}", name, contract.drivers)
    start = _start(subject, seed, files)
    policy = registry.load_object(subject.driver(name))
    oracle = registry.load_object(subject.env.oracle.factory)(contract)
    try:
        if humans:
            from twinstep.play.human import play

            play(subject, oracle, policy, start, humans)
            return Told([])
        starts = stack_starts([start])
        chunk = record(oracle, contract, policy, starts, contract.horizon, lambda *_: None)
        actions = np.asarray(chunk.actions)[: int(chunk.lengths[0]), 0]
        if subject.env.narrator:
            narrate: Narrator = registry.load_object(subject.env.narrator)
            return narrate(oracle, contract, start, actions)
        return Told(list(_plain(contract, chunk.frames, actions)))
    finally:
        oracle.close()


def _start(subject: EnvVariant, seed: int, files: Sequence[Path]) -> Start:
    numbers = np.array([seed, 0], np.uint32)
    if not files:
        return take_lanes(starts_of(subject.contract, numbers[None]), 0)
    if not subject.env.reader:
        raise UserError(f"--start: {subject.env.name} begins from a seed alone")
    return registry.load_object(subject.env.reader)(subject.contract, numbers, files)


def _plain(
    contract: Contract, frames: Mapping[str, np.ndarray], actions: np.ndarray
) -> Iterator[str]:
    """Yield a line per step: action, reward, and the observation if it is short."""
    names = contract.observation.names
    for t, action in enumerate(actions):
        line = f"{t + 1:5d}  action {_text(action)}  reward {_text(frames['reward'][t + 1, 0])}"
        obs = frames["obs"][t + 1, 0]
        if contract.players == 1 and 0 < len(names) <= MOST:
            values = zip(names, obs[0], strict=True)
            line += "  " + " ".join(f"{name}={_text(value)}" for name, value in values)
        yield line
    ended, cut = frames["terminated"][len(actions), 0], frames["truncated"][len(actions), 0]
    how = "ended" if ended else "was truncated" if cut else "goes on"
    yield f"The episode {how} after {len(actions)} steps."


def _text(value: Any) -> str:
    return " ".join(f"{v:g}" for v in np.asarray(value, np.float64).reshape(-1))
