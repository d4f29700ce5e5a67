"""`twinstep elo ENV`: a round robin of a game's players, and their Elo ratings."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinstep._lib import machine, markdown, paths
from twinstep.errors import UserError
from twinstep.project import registry
from twinstep.project.registry import variant_of

# JAX takes seconds to import, and every command reads this file.
if TYPE_CHECKING:
    from twinstep.env.make import Env
    from twinstep.rl.versus import Player

#: Rating of the first player, the anchor of all others.
ANCHOR = 1000
#: Number of resampled tables for the standard error.
RESAMPLES = 200
#: Schema of the file that --json writes.
SCHEMA = 1


class EloTable(NamedTuple):
    """K players. names; elo: f64[K]; spread: standard errors f64[K]; rates: f64[K, K].

    rates: mean score of a game for the row's player, NaN on the diagonal.
    """

    names: Sequence[str]
    elo: np.ndarray
    spread: np.ndarray
    rates: np.ndarray


def add_to(commands: Any) -> None:
    """Add the subcommand's parser."""
    elo = commands.add_parser("elo", help="a round robin of an environment's players")
    elo.add_argument("env", help="the environment's name")
    elo.add_argument("--variant", default="", help="default: the first")
    elo.add_argument("--backend", default="", help="default: the first candidate; or `oracle`")
    elo.add_argument("--games", type=int, default=1024, help="games of each pair; default: 1024")
    elo.add_argument("--lanes", type=int, default=256, help="games side by side; default: 256")
    elo.add_argument("--policy", action="append", default=[], metavar="FOLDER",
                     help="of `twinstep train`, more than once: a player more")  # fmt: skip
    elo.add_argument("--json", type=Path, metavar="FILE", help="write the table there, too")
    elo.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from twinstep.env.make import ORACLE, Env
    from twinstep.rl.training.policy_player import trained_player
    from twinstep.rl.versus import player_of

    env_declaration = registry.environment(args.env)
    if not env_declaration.players:
        raise UserError(f"{args.env} declares no players: it is no game of two")
    if args.games < 1 or args.lanes < 1:
        raise UserError("--games and --lanes are at least 1")
    if args.json and not paths.writable(args.json.parent):
        raise UserError(f"--json {args.json}: it cannot be written there")
    subject = variant_of(args.env, args.variant or env_declaration.variants[0].name)
    players = {name: player_of(env_declaration, name) for name in env_declaration.players}
    for folder in args.policy:
        if folder in players:
            raise UserError(f"--policy {folder}: there is a player of this name already")
        players[folder] = trained_player(Path(folder), subject)
    # Problems of --json are reported before any game is played.
    trained = {folder: _trained(Path(folder)) for folder in args.policy} if args.json else {}
    env = Env(subject, args.backend or env_declaration.candidates[0].name, "same-step")
    begin = time.perf_counter()
    try:
        scores = round_robin(env, players, args.games, args.lanes, progress=sys.stderr.isatty())
    finally:
        env.close()
    table = rated(list(players), scores)
    print("\n".join(lines(table)))
    where = "the reference" if env.backend == ORACLE else f"candidate {env.backend}"
    count = sum(len(worth) for worth in scores.values())
    print(f"{count} games in {where}, {time.perf_counter() - begin:.0f} s")
    if args.json:
        result = {
            "schema": SCHEMA,
            "environment": subject.contract.version,
            "variant": subject.variant.name,
            "backend": env.backend,
            **_plain(table),
            "policies": trained,
            "command": _command(args, subject.variant.name, env.backend),
            "games": args.games,
            **machine.made(),
        }
        _write(args.json, result)
        print(f"written: {args.json}")
    return 0


def _plain(table: EloTable) -> dict[str, Any]:
    """Return the table as plain JSON values: a player has no rate against itself."""
    rates = [[None if np.isnan(rate) else rate for rate in row] for row in table.rates.tolist()]
    plain = {"elo": table.elo.tolist(), "spread": table.spread.tolist(), "rates": rates}
    return {"names": list(table.names), **plain}


def _trained(folder: Path) -> dict[str, Any]:
    """Return a policy's backend, its opponent and its number of environment steps in training."""
    from twinstep.rl.training.settings import load

    settings = load(folder)
    # Steps are whole batches, and an unfinished run has done fewer than its settings ask.
    try:
        steps = int(json.loads((folder / "result.json").read_text())["steps"])
    except Exception as error:  # the file may hold anything
        file = folder / "result.json"
        raise UserError(f"{file} is not as a run writes it ({error!r})") from error
    return {"backend": settings.backend, "against": settings.against, "steps": steps}


def _command(args: argparse.Namespace, variant: str, backend: str) -> str:
    options = [("--variant", variant)] if variant else []
    options += [("--backend", backend), ("--games", args.games), ("--lanes", args.lanes)]
    options += [("--policy", folder) for folder in args.policy]
    return " ".join([f"twinstep elo {args.env}", *(f"{n} {value}" for n, value in options)])


def _write(path: Path, result: Mapping[str, Any]) -> None:
    try:
        paths.write_atomically(path, (json.dumps(result, indent=1) + "\n").encode())
    except OSError as error:
        raise UserError(f"--json {path} cannot be written ({error.strerror})") from error


def round_robin(
    env: Env, players: Mapping[str, Player], games: int, lanes: int, progress: bool = False
) -> dict[tuple[str, str], np.ndarray]:
    """Return pair -> score of each game for the pair's first player, f64[K].

    Every start is played twice, once in each seat: a policy's knowledge of the teams or decks that
    its own seat is dealt must not count as strength.
    """
    from twinstep.rl.versus import win_rates

    scores = {}
    half = -(-games // 2)
    lanes = min(lanes, half)
    for first, other in itertools.combinations(players, 2):
        if progress:
            print(f"\r{first} against {other} ", end="", file=sys.stderr, flush=True)
        one, two = players[first], players[other]
        seats = win_rates(env, one, two, half, lanes), 1 - win_rates(env, two, one, half, lanes)
        scores[first, other] = np.concatenate(seats)
    if progress:
        print(file=sys.stderr)
    return scores


def rated(names: Sequence[str], scores: Mapping[tuple[str, str], np.ndarray]) -> EloTable:
    """Fit Elo ratings to the games of all pairs."""
    rng = np.random.default_rng(0)
    place = {name: i for i, name in enumerate(names)}
    resampled = [
        _fitted(len(names), {pair: rng.choice(worth, len(worth)) for pair, worth in scores.items()},
                place)
        for _ in range(RESAMPLES)
    ]  # fmt: skip
    rates = np.full((len(names), len(names)), np.nan)
    for (first, other), worth in scores.items():
        rates[place[first], place[other]] = worth.mean()
        rates[place[other], place[first]] = 1 - worth.mean()
    return EloTable(names, _fitted(len(names), scores, place), np.std(resampled, 0), rates)


def _fitted(
    count: int, scores: Mapping[tuple[str, str], np.ndarray], place: Mapping[str, int]
) -> np.ndarray:
    """Return the maximum-likelihood ratings; an added tie per pair keeps all ratings finite."""
    won, games = np.zeros(count), np.zeros((count, count))
    for (first, other), worth in scores.items():
        i, j = place[first], place[other]
        won[i] += worth.sum() + 0.5
        won[j] += (1 - worth).sum() + 0.5
        games[i, j] += len(worth) + 1
        games[j, i] += len(worth) + 1
    strength = np.ones(count)
    for _ in range(2000):  # Zermelo's iteration
        strength = won / (games / (strength[:, None] + strength[None])).sum(1)
        strength /= strength[0]
    return ANCHOR + 400 * np.log10(strength)


def lines(table: EloTable) -> list[str]:
    """Return the table as Markdown, the best player first."""
    order = np.argsort(-table.elo)
    names = [table.names[i] for i in order]
    rows: list[list[str]] = [["player", "Elo", *(f"against {n}" for n in names)]]
    for i in order:
        rates = ["" if np.isnan(table.rates[i, j]) else f"{table.rates[i, j]:.3f}" for j in order]
        mark = f"{table.elo[i]:.0f} ± {table.spread[i]:.0f}"
        rows.append([table.names[int(i)], mark, *rates])
    return markdown.table(rows, " --- ")
