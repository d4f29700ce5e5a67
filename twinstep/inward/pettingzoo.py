"""PettingZoo's games as oracles: players in turn (AEC), or all at once (parallel)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete
from twinstep.errors import UserError
from twinstep.frames import Array, Frame, Start
from twinstep.inward._checks import required
from twinstep.inward._gym_episode import whole_seed

#: Reads a part of an observation.
Seen = Callable[[Any], Any]


def oracle_from_pettingzoo(
    make: Callable[[], Any], *, observation: Seen | None = None
) -> type[ZooEpisode]:
    """Return an oracle's class made of a PettingZoo environment, AEC or parallel.

    make() -> environment. Row p of a frame is `possible_agents[p]`; an agent that has left observes
    zeros. observation(obs) -> array: what is compared of an agent's observation; by default its
    part `observation`, or all of it. Masks are its part `action_mask`, or that of the agent's
    `info`. An episode is terminated where all agents are, and truncated where the rest of them is.
    UserError if `make` returns something else.
    """
    members = {"make": staticmethod(make), "observation": staticmethod(observation or _part)}
    return type("ZooOracle", (ZooEpisode,), members)


class ZooEpisode:
    """An oracle over one PettingZoo environment; see twinstep.Oracle.

    env: the environment. agents: all that may take part. Subclass it to add `load` and `events`.
    """

    make: Any  # () -> an environment
    observation: Any  # obs -> array

    def __init__(self, contract: Contract) -> None:
        self.env = env = type(self).make()
        required(env, "oracle_from_pettingzoo", ("reset", "step"), "a PettingZoo environment")
        self.agents = list(env.possible_agents)
        if len(self.agents) != contract.players:
            raise UserError(
                f"oracle_from_pettingzoo: the environment has {len(self.agents)} agents, the "
                f"contract {contract.players} players"
            )
        self.contract = contract
        self._in_turn = callable(getattr(env, "observe", None))  # a parallel one has none

    def reset(self, start: Start) -> Frame:
        """Begin the episode of a start."""
        answer = self.env.reset(seed=whole_seed(start) & 0xFFFFFFFF)
        if self._in_turn:
            return self._of_turns({})
        obs, infos = answer
        return self._frame(obs, infos, {}, {}, {}, self.env.agents)

    def step(self, action: Array) -> Frame:
        """Apply actions [P, ...]; those of players who do not decide are not read."""
        moves = dict(zip(self.agents, np.asarray(action), strict=True))
        if not self._in_turn:
            live = {agent: self._acted(moves[agent]) for agent in self.env.agents}
            obs, rewards, terminated, truncated, infos = self.env.step(live)
            going = [a for a in self.env.agents if not terminated[a] and not truncated[a]]
            return self._frame(obs, infos, rewards, terminated, truncated, going)
        env = self.env
        env.step(self._acted(moves[env.agent_selection]))
        rewards = dict(env.rewards)
        while not self._over() and self._left(env.agent_selection):
            env.step(None)  # PettingZoo lets those who have left take a last step
        return self._of_turns(rewards)

    def close(self) -> None:
        """Free the environment."""
        self.env.close()

    def _acted(self, move: np.ndarray) -> Any:
        return int(move) if isinstance(self.contract.action, Discrete) else move

    def _left(self, agent: str) -> bool:
        return any(end.get(agent, True) for end in (self.env.terminations, self.env.truncations))

    def _over(self) -> bool:
        return all(map(self._left, self.agents))

    def _of_turns(self, rewards: dict[str, Any]) -> Frame:
        env = self.env
        obs = {agent: env.observe(agent) for agent in env.agents}
        going = [] if self._over() else [env.agent_selection]
        return self._frame(obs, env.infos, rewards, env.terminations, env.truncations, going)

    def _frame(
        self, obs: Any, infos: Any, rewards: Any, terminated: Any, truncated: Any, going: list[str]
    ) -> Frame:
        contract = self.contract
        dtype, shape = contract.observation.dtype, contract.observation.shape
        seen = np.zeros((len(self.agents), *shape), dtype)
        acting = np.array([agent in going for agent in self.agents])
        for row, agent in enumerate(self.agents):
            if agent in obs:
                seen[row] = type(self).observation(obs[agent])
        over = not going
        cut = over and any(truncated.values())
        # Some say both of one player's end: of an illegal move, for one.
        both = any(terminated.get(agent) and end for agent, end in truncated.items())
        return Frame(
            obs=seen,
            reward=np.array([rewards.get(a, 0.0) for a in self.agents], contract.reward_dtype),
            terminated=np.bool_(over and (both or not cut)),
            truncated=np.bool_(cut),
            acting=acting,
            legal=self._legal(obs, infos, acting) if contract.masked else None,
            state={},
        )

    def _legal(self, obs: Any, infos: Any, acting: np.ndarray) -> np.ndarray:
        assert isinstance(self.contract.action, Discrete)
        legal = np.zeros((len(self.agents), self.contract.action.n), bool)
        for row, agent in enumerate(self.agents):
            if acting[row]:
                legal[row] = mask_of(obs[agent], infos.get(agent, {}))
        return legal


def mask_of(obs: Any, info: Any) -> Any:
    """Return an agent's action mask. UserError if it has none."""
    for home in (obs, info):
        if isinstance(home, Mapping) and "action_mask" in home:
            return np.asarray(home["action_mask"], bool)
    raise UserError("oracle_from_pettingzoo: the contract is masked, and no agent has action_mask")


def _part(obs: Any) -> Any:
    return obs["observation"] if isinstance(obs, Mapping) and "observation" in obs else obs
