"""One cell of a benchmark: the same batch in every backend, their rounds taken in turn."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from twinstep.checksum import Comparison, Digests, held_parts, joined
from twinstep.contract import Contract
from twinstep.measuring import Child, Failed
from twinstep.players import Job

Progress = Callable[[str], None]


class _Measured:
    """One player while it is measured: seconds of its rounds, its checksums."""

    def __init__(self, child: Child, number: int, about: dict[str, Any]) -> None:
        self.child, self.number, self.about = child, number, about
        self.backend = child.job.backend
        self.name = child.facts["names"][number]
        self.seconds: list[float] = []
        self.parts: dict[str, Digests] = {}

    @property
    def who(self) -> str:
        return self.name if self.backend else f"the reference ({self.name})"

    @property
    def played(self) -> int:
        """Environment steps of a round."""
        return self.child.job.played * self.child.job.steps


def measure(
    jobs: Sequence[Job], contract: Contract, rounds: int, progress: Progress
) -> list[dict[str, Any]]:
    """Measure all jobs side by side; return one result per player, the reference's first.

    jobs: the reference's first, all of one batch. Raises Failed if a process fails or a checksum
    differs.
    """
    first = jobs[0]
    label = f"{first.variant or first.env}, threads: {first.threads}, lanes: {first.lanes}"
    with contextlib.ExitStack() as scope:
        players: list[_Measured] = []
        for job in jobs:
            progress(f"{label}: starting {job.backend or 'the reference'} {job.how}")
            child = scope.enter_context(Child(job))
            for number in range(len(child.facts["names"])):
                players.append(_Measured(child, number, child.ask(("warm", number))))
        for turn in range(rounds):
            progress(f"{label}: round {turn + 1} of {rounds}")
            place = turn % len(players)  # nobody always begins
            for player in players[place:] + players[:place]:
                seconds, player.parts = player.child.ask(("round", player.number))
                player.seconds.append(seconds)
            _compare(players, contract, f"round {turn + 1} of {label}")
        for player in players:
            ended = player.child.ask(("end", player.number))
            player.parts = {lanes: {**p, **ended[lanes]} for lanes, p in player.parts.items()}
        _compare(players, contract, f"the final state of {label}")
        memory = {id(p.child): p.child.ask(("memory",)) for p in players}
        return [_result(player, memory[id(player.child)]) for player in players]


def _compare(players: list[_Measured], contract: Contract, where: str) -> None:
    """Raise Failed with every difference between players that must be equal."""
    comparison = Comparison()
    found = []
    for player in players:
        if player.child.job.how not in ("least", "make"):
            continue  # policies see their own noise
        facts = player.child.facts
        held = held_parts(contract, player.backend, facts["dtype"], facts["platform"])
        found += comparison.differences(player.who, player.parts, held)
    if found:
        raise Failed(f"unequal work in {where}: {'; '.join(found)}")


def _result(player: _Measured, memory: dict[str, int]) -> dict[str, Any]:
    full = max(player.parts, key=int)
    parts = player.parts[full]
    return {
        "name": player.name,
        "backend": player.backend,
        "how": player.child.job.how,
        "platform": player.child.facts["platform"],
        "dtype": player.child.facts["dtype"],
        "lanes_played": player.child.job.played,
        "rate": spread([player.played / seconds for seconds in player.seconds]),
        "seconds": player.seconds,
        "memory": memory,
        "checksum": joined(parts),
        "state_compared": any(part.startswith("state.") for part in parts),
        **player.about,
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median, least and greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """Return how many times faster `ours` is than `theirs`, round by round."""
    work = ours["lanes_played"] / theirs["lanes_played"]
    pairs = zip(ours["seconds"], theirs["seconds"], strict=True)
    return spread([work * slow / fast for fast, slow in pairs])


def with_ratios(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add each result's ratio to the best way to run the reference and to the plain one."""
    natives = [r for r in results if not r["backend"]]
    best = max(natives, key=lambda r: r["rate"]["median"])
    for result in results:
        result["best_reference"] = result is best
        result["ratio"] = {"best": ratio(result, best), "plain": ratio(result, natives[0])}
    return results
