"""PettingZoo's two interfaces as oracles: who decides, who has left, and how an episode ends."""

import numpy as np
import pytest

from twinstep import Contract, Discrete, Field, Randomness, Start, UserError
from twinstep.inward import oracle_from_pettingzoo

START = Start(np.array([3, 0], np.uint32))


def contract(players, **more):
    field = Field("obs", "int32", (2,))
    return Contract(
        "any-v0", {}, Discrete(3), field, (), Randomness("none"), players=players, **more
    )


class Race:
    """All at once: each runs on its own; who is at 4 has arrived, after 3 steps the rest is cut."""

    possible_agents = ["a", "b"]

    def reset(self, seed=None, options=None):
        self.agents, self.at, self.time = list(self.possible_agents), {"a": seed, "b": 0}, 0
        return self.seen(), {agent: {} for agent in self.agents}

    def seen(self):
        return {agent: np.array([self.at[agent], self.time]) for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents), "only those who are there act"
        self.time += 1
        for agent, move in actions.items():
            self.at[agent] += move
        seen = self.seen()
        arrived = {agent: self.at[agent] >= 4 for agent in self.agents}
        cut = {agent: not arrived[agent] and self.time == 3 for agent in self.agents}
        rewards = {agent: float(arrived[agent]) for agent in self.agents}
        infos = {agent: {} for agent in self.agents}
        self.agents = [agent for agent in self.agents if not arrived[agent] and not cut[agent]]
        return seen, rewards, arrived, cut, infos

    def close(self):
        pass


class Countdown:
    """In turn: each takes 0 to 2 off its own number, and has left at 0; a dead step follows."""

    possible_agents = ["a", "b", "c"]

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self.left = dict.fromkeys(self.agents, 2)
        self.agent_selection = "a"
        for name in ("rewards", "terminations", "truncations"):
            setattr(self, name, dict.fromkeys(self.agents, 0))
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        mask = np.arange(3) <= self.left[agent]
        return {"observation": np.array([self.left[agent], 7]), "action_mask": mask}

    def step(self, action):
        agent = self.agent_selection
        follows = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]
        if self.terminations[agent]:
            assert action is None
            self.agents.remove(agent)
            for record in (self.rewards, self.terminations, self.truncations, self.infos):
                del record[agent]
            for other in self.rewards:
                self.rewards[other] = 0
        else:
            self.left[agent] -= action
            self.terminations[agent] = self.left[agent] == 0
            self.rewards = {other: int(other == agent) * action for other in self.agents}
        self.agent_selection = follows

    def close(self):
        pass


def test_all_act_at_once_and_who_has_arrived_acts_no_more():
    oracle = oracle_from_pettingzoo(Race)(contract(2))
    frame = oracle.reset(START)
    assert frame.obs.tolist() == [[3, 0], [0, 0]]
    assert frame.acting.all()
    frame = oracle.step(np.array([1, 1]))
    assert frame.reward.tolist() == [1, 0]
    assert frame.acting.tolist() == [False, True]
    assert not frame.terminated
    frame = oracle.step(np.array([2, 1]))
    assert frame.obs.tolist() == [[0, 0], [2, 2]], "who has left observes zeros"
    frame = oracle.step(np.array([2, 0]))
    assert (frame.terminated, frame.truncated) == (False, True)
    assert not frame.acting.any()


class Foul(Race):
    """The same, where a move of 2 is foul: it ends the race, and is called both."""

    def step(self, actions):
        seen, rewards, arrived, cut, infos = super().step(actions)
        if 2 in actions.values():
            self.agents, both = [], {"a": True, "b": True}
            return seen, rewards, both, both, infos
        return seen, rewards, arrived, cut, infos


def test_an_end_that_a_player_is_told_of_as_both_is_both():
    """PettingZoo's wrapper against illegal moves says so."""
    oracle = oracle_from_pettingzoo(Foul)(contract(2))
    oracle.reset(START)
    frame = oracle.step(np.array([2, 0]))
    assert (frame.terminated, frame.truncated) == (True, True)


def test_players_in_turn_skip_those_who_have_left_and_keep_the_steps_rewards():
    oracle = oracle_from_pettingzoo(Countdown)(contract(3, masked=True, truncates=False))
    frame = oracle.reset(START)
    assert frame.acting.tolist() == [True, False, False]
    assert frame.legal.tolist() == [[True] * 3, [False] * 3, [False] * 3]
    for rewards in ([2, 0, 0], [0, 1, 0], [0, 0, 2]):  # a and c leave at once
        frame = oracle.step(np.array([2, 1, 2]))
        assert frame.reward.tolist() == rewards
    assert frame.acting.tolist() == [False, True, False], "a has left and is passed over"
    assert frame.legal[1].tolist() == [True, True, False]
    frame = oracle.step(np.array([2, 1, 2]))
    assert frame.terminated
    assert not frame.truncated
    assert not frame.legal.any()


def test_another_number_of_players_and_no_environment_are_one_line():
    with pytest.raises(UserError, match="has 2 agents, the contract 3 players"):
        oracle_from_pettingzoo(Race)(contract(3))
    with pytest.raises(UserError, match="dict has no `step`|has no `reset`"):
        oracle_from_pettingzoo(dict)(contract(2))
