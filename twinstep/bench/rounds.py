"""One cell of a benchmark: the same batch in every backend, in interleaved rounds."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from twinstep.bench import mean_check
from twinstep.bench.checksum import Comparison, Digests, held_parts, joined
from twinstep.bench.targets import Job
from twinstep.bench.worker import Child, Failed
from twinstep.contract import Contract

Progress = Callable[[str], None]


class _Measured:
    """One target under measurement: seconds of its rounds, its checksums.

    waited: the same rounds by the parent's clock, which no candidate can reach.
    """

    def __init__(self, child: Child, number: int, about: dict[str, Any]) -> None:
        self.child, self.number, self.about = child, number, about
        self.backend = child.job.backend
        self.name = child.facts["names"][number]
        self.seconds: list[float] = []
        self.waited: list[float] = []
        self.parts: dict[str, Digests] = {}
        self.memory: dict[str, int] = {}
        self.after: dict[str, Any] = {}

    @property
    def who(self) -> str:
        other = self.child.job.peer and self.about["model"] != "reference"
        return self.name if self.backend or other else f"the reference ({self.name})"

    @property
    def played(self) -> int:
        """Environment steps of a round."""
        return self.child.job.played * self.child.job.steps


def measure(
    jobs: Sequence[Job], contract: Contract, rounds: int, progress: Progress, left_out: list[str]
) -> list[dict[str, Any]]:
    """Measure all jobs side by side; return one result per target, the reference's first.

    A backend without such a way to play has no result.
    jobs: the reference's first, all of one batch. left_out: receives the reason for each baseline
    that is dropped because it fails or does different work. Raises Failed if the reference or a
    backend fails, a checksum differs or a mean is too far from the reference's.
    """
    first = jobs[0]
    label = f"{first.variant or first.env}, threads: {first.threads}, lanes: {first.lanes}"
    with contextlib.ExitStack() as scope:
        players: list[_Measured] = []

        def unless_peer_fails(job: Job, act: Callable[[], None]) -> None:
            try:
                act()
            except Failed as failed:
                if not job.peer or job is first:
                    raise
                left_out.append(str(failed))
                players[:] = [player for player in players if player.child.job is not job]

        def begin(job: Job) -> None:
            child = scope.enter_context(Child(job))
            for number in range(len(child.facts["names"])):
                players.append(_Measured(child, number, child.ask(("warm", number))))

        def play(player: _Measured) -> None:
            player.child.ask(("ready", player.number))
            start = time.perf_counter()
            player.seconds.append(player.child.ask(("play", player.number)))
            player.waited.append(time.perf_counter() - start)
            player.parts = player.child.ask(("played", player.number))

        for job in jobs:
            progress(f"{label}: starting {job.peer or job.backend or 'the reference'} {job.how}")
            unless_peer_fails(job, partial(begin, job))
        for turn in range(rounds if players else 0):
            progress(f"{label}: round {turn + 1} of {rounds}")
            place = turn % len(players)  # nobody always begins
            for player in players[place:] + players[:place]:
                unless_peer_fails(player.child.job, partial(play, player))
            _compare(players, contract, f"round {turn + 1} of {label}")
            if turn == 0:
                theirs = players[0].child.ask(("means", players[0].number))
                for player in players[1:]:
                    check = partial(_require_alike, player, players[0], theirs)
                    unless_peer_fails(player.child.job, check)
        for player in list(players):
            unless_peer_fails(player.child.job, partial(_end, player))
        _compare(players, contract, f"the final state of {label}")
        return [_result(player) for player in players]


def _compare(players: list[_Measured], contract: Contract, where: str) -> None:
    """Raise Failed with every difference between targets that must be equal."""
    comparison = Comparison()
    found = []
    for player in players:
        if player.child.job.how not in ("least", "make") or player.child.job.peer:
            continue  # policies see their own noise, physics shows nothing, peers are not claimed
        facts = player.child.facts
        held = held_parts(contract, player.backend, facts["dtype"], facts["platform"])
        found += comparison.differences(player.who, player.parts, held)
    if found:
        raise Failed(f"unequal work in {where}: {'; '.join(found)}")


def _require_alike(player: _Measured, first: _Measured, theirs: mean_check.Means) -> None:
    """Raise Failed if a first round's means are too far from the reference's."""
    job = player.child.job
    same = job.steps == first.child.job.steps and player.about.get("model") != "another"
    if not same or job.how not in ("least", "make", "physics"):
        return
    mine = player.child.ask(("means", player.number))
    if sentences := mean_check.differences(player.who, mine, first.who, theirs):
        raise Failed(f"unlike work in the first round: {'; '.join(sentences)}")


def _end(player: _Measured) -> None:
    final_digests = player.child.ask(("end", player.number))
    player.parts = {lanes: {**p, **final_digests[lanes]} for lanes, p in player.parts.items()}
    player.memory = player.child.ask(("memory",))
    player.after = player.child.ask(("after", player.number))


def _result(player: _Measured) -> dict[str, Any]:
    parts = player.parts[max(player.parts, key=int)] if player.parts else {}
    job = player.child.job
    return {
        "name": player.name,
        "backend": player.backend,
        "peer": job.peer,
        "how": job.how,
        "steps": job.steps,
        "platform": player.child.facts["platform"],
        "dtype": player.child.facts["dtype"],
        "lanes_played": job.played,
        "rate": spread([player.played / seconds for seconds in player.seconds]),
        "seconds": player.seconds,
        "waited": player.waited,
        "memory": player.memory,
        "checksum": joined(parts),
        "state_compared": any(part.startswith("state.") for part in parts),
        **player.about,
        **player.after,
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return median, least and greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """Return the speed-up of `ours` over `theirs`, round by round."""
    work = ours["lanes_played"] * ours["steps"] / (theirs["lanes_played"] * theirs["steps"])
    pairs = zip(ours["seconds"], theirs["seconds"], strict=True)
    return spread([work * slow / fast for fast, slow in pairs])


def with_ratios(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add ratios: to the best way to run the reference, to the plain one and to each baseline."""
    natives = [r for r in results if is_reference(r)]
    peers = [r for r in results if r["peer"] and not is_reference(r)]
    best = max(natives, key=lambda r: r["rate"]["median"])
    for result in results:
        result["best_reference"] = result is best
        result["ratio"] = {"best": ratio(result, best), "plain": ratio(result, natives[0])}
        if result["backend"]:
            result["to_peers"] = {peer["name"]: ratio(result, peer) for peer in peers}
    return results


def is_reference(result: Mapping[str, Any]) -> bool:
    """Return True for a result of the reference itself, in any way to run it."""
    return not result["backend"] and result.get("model", "reference") == "reference"
