"""`twinstep init` with the libraries that `twinstep.inward` reads in: what it writes runs as it is.

`make trainers ARGS=inward` runs this where the libraries are installed.
"""

import pytest

from twinstep.tests.support.init_projects import fill
from twinstep.tests.support.init_runs import EPISODES, run, written

pytestmark = pytest.mark.e2e

WHY = "is not installed: make trainers ARGS=inward"
QUICK = (
    "-m",
    "level2 or level3",
    "-k",
    "episodes_match or placed or continues or from_the_oracles",
)


def begun(folder, oracle, candidate, *more):
    """Begin a project; return what init prints."""
    command = ("init", "--oracle", oracle, "--candidate", candidate, "--name", "pair", *more)
    code, text = run(folder, "twinstep.cli", *command)
    assert code == 0, text
    assert "does not run" not in text
    assert "FILL IN" not in (folder / "twinstep_pair/fast/candidate.py").read_text()
    return text


PHYS = "functional:gymnasium.envs.phys2d.cartpole:CartPoleFunctional"


def test_the_pole_of_phys2d_is_the_first_line_and_one_step(empty):
    """Its mass is 0.6 for 0.05; with the right one it is equal in float64 but for rounding."""
    pytest.importorskip("flax", reason=f"flax {WHY}")
    text = begun(empty, "gymnasium:CartPole-v1", PHYS)
    found = next(line for line in text.splitlines() if not line.startswith("wrote "))
    assert found.startswith("Larger than rounding: ")
    assert "`state.x_dot` is " in found
    assert "The reference is made without its time limit: gymnasium's CartPoleFunctional" in text
    code, text = run(empty, "pytest", *EPISODES, *QUICK)
    assert code == 1, text
    assert "shrunk from 1 to 1 steps, 1-minimal" in text
    assert "Suspect: **step** (`gymnasium/envs/phys2d/cartpole.py:" in text
    fill(
        empty / "twinstep_pair/fast/candidate.py",
        [("CartPoleFunctional(),", "CartPoleFunctional(),\n    gymnasium.envs.phys2d.cartpole."
          "CartPoleParams(polemass_length=0.05),"), ('DTYPE = "float32"', 'DTYPE = "float64"')],
    )  # fmt: skip
    with (empty / "twinstep_pair/contract.py").open("a") as file:
        file.write(GATES)
    code, text = run(empty, "pytest", *EPISODES, *QUICK)
    assert code == 0, text
    assert "pair-functional (float64 on cpu): equal" in text


def test_a_whole_number_in_an_array_is_a_choice(empty):
    """Gymnasium's CliffWalking in JAX takes one; the reference has no limit to leave out."""
    pytest.importorskip("flax", reason=f"flax {WHY}")
    port = "functional:gymnasium.envs.tabular.cliffwalking:CliffWalkingFunctional"
    text = begun(empty, "gymnasium:CliffWalking-v1", port)
    assert "without its time limit" not in text
    assert "It runs as it is." in text
    assert "Discrete(4)" in (empty / "twinstep_pair/contract.py").read_text()
    code, text = run(empty, "pytest", *EPISODES, *QUICK)
    assert code == 0, text


#: Those that `init` writes for a pair without a bug.
GATES = """

import dataclasses

from twinstep import GateRule, Resync

_plain = contract


def contract(params):
    return dataclasses.replace(_plain(params), gates=(GateRule(Resync(1e-6)),))
"""


def test_the_reference_follows_an_envpool(empty):
    pytest.importorskip("envpool", reason=f"envpool {WHY}")
    text = begun(empty, "gymnasium:CartPole-v1", "envpool:CartPole-v1")
    assert "Starts are matched: the reference is put where envpool's CartPole-v1 begins" in text
    code, text = run(empty, "pytest", *EPISODES, "--tolerance", "1e-4")
    assert code == 0, text
    assert "pair-envpool" in text


#: PettingZoo's interface, in turn, in a class of one's own.
NOUGHTS = """
import gymnasium
import numpy as np

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class Noughts:
    possible_agents = ["first", "second"]
    unwrapped = property(lambda self: self)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(9)

    def reset(self, seed=None, options=None):
        self.agents, self.agent_selection = list(self.possible_agents), "first"
        self.board = np.full(9, -1)
        for name in ("rewards", "terminations", "truncations"):
            setattr(self, name, dict.fromkeys(self.agents, 0))
        self.infos = {agent: {} for agent in self.agents}

    def observe(self, agent):
        me = self.possible_agents.index(agent)
        seen = np.stack([self.board == me, self.board == 1 - me], -1).reshape(3, 3, 2)
        mask = (self.board < 0) & (agent == self.agent_selection)
        return {"observation": seen.astype(np.int8), "action_mask": mask.astype(np.int8)}

    def step(self, action):
        me = self.possible_agents.index(self.agent_selection)
        assert self.board[action] < 0
        self.board[action] = me
        won = any(all(self.board[place] == me for place in line) for line in LINES)
        over = won or not (self.board < 0).any()
        for player, agent in enumerate(self.agents):
            self.rewards[agent] = (1 if player == me else -1) if won else 0
            self.terminations[agent] = over
        self.agent_selection = self.agents[1 - me]

    def close(self):
        pass
"""


def test_two_players_in_turn_are_equal_to_pgx(empty):
    pytest.importorskip("pgx", reason=f"pgx {WHY}")
    (empty / "noughts.py").write_text(NOUGHTS)
    text = begun(empty, "pettingzoo:noughts:Noughts", "pgx:tic_tac_toe")
    assert "Starts are matched: every episode of both begins with the same observation" in text
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 0, text
    assert "pair-pgx (float32 on cpu): equal" in text


def test_a_line_that_pgx_does_not_know_is_found(empty):
    pytest.importorskip("pgx", reason=f"pgx {WHY}")
    (empty / "noughts.py").write_text(NOUGHTS.replace(", (2, 4, 6)]", "]"))
    begun(empty, "pettingzoo:noughts:Noughts", "pgx:tic_tac_toe")
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 1, text
    assert "pgx/tic_tac_toe.py" in text


#: navix's empty room of 5 by 5 with Gymnasium's interface.
ROOM = """
import gymnasium
import numpy as np

AHEAD = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Room(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(7)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.way, self.t = (1, 1), 0, 0
        return self.see(), {}

    def step(self, action):
        if action < 2:
            self.way = (self.way + (1 if action else -1)) % 4
        elif action == 2:
            self.at = tuple(min(max(a + b, 1), 3) for a, b in zip(self.at, AHEAD[self.way]))
        self.t += 1
        over = self.at == (3, 3)
        return self.see(), float(over), over, self.t >= 100 and not over, {}

    def see(self):
        seen = np.zeros((5, 5, 3), np.uint8)
        seen[:, :, :2] = 2, 5
        seen[1:4, 1:4, :2] = 1, 0
        seen[3, 3, :2] = 8, 1
        seen[self.at] = 10, 0, self.way
        return seen
"""


def test_a_room_of_navix_is_equal_from_its_one_start(empty):
    pytest.importorskip("navix", reason=f"navix {WHY}")
    (empty / "room.py").write_text(ROOM)
    text = begun(empty, "room:Room", "navix:Navix-Empty-5x5-v0")
    assert "Starts are matched: " in text
    code, text = run(empty, "pytest", *EPISODES)
    assert code == 0, text
    assert "pair-navix (float32 on cpu): equal" in text


#: jumanji's puzzle: a start cannot be drawn tile by tile, so the reference follows the port.
SLIDING = """
import gymnasium
import numpy as np

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
SOLVED = np.append(np.arange(1, 25), 0).reshape(5, 5).astype(np.int32)


class Sliding(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.tiles, self.steps = SOLVED.copy(), 0
        for move in self.np_random.integers(4, size=200):
            self.tiles = self.moved(move)
        return self.tiles.copy(), {}

    def moved(self, move):
        row, column = np.argwhere(self.tiles == 0)[0]
        y, x = row + MOVES[move][0], column + MOVES[move][1]
        if not (0 <= y < 5 and 0 <= x < 5):
            return self.tiles
        tiles = self.tiles.copy()
        tiles[row, column], tiles[y, x] = tiles[y, x], 0
        return tiles

    def step(self, action):
        before, self.tiles, self.steps = self.tiles, self.moved(action), self.steps + 1
        right = (self.tiles == SOLVED).sum() - (before == SOLVED).sum()
        over = bool((self.tiles == SOLVED).all()) or self.steps >= 500
        return self.tiles.copy(), float(right), over, False, {}
"""


def test_the_reference_follows_a_puzzle_of_jumanji_and_its_reward_is_compared(empty):
    pytest.importorskip("jumanji", reason=f"jumanji {WHY}")
    (empty / "sliding.py").write_text(SLIDING)
    text = begun(empty, "sliding:Sliding", "jumanji:SlidingTilePuzzle-v0")
    assert "Starts are matched: the reference is put where jumanji's SlidingTilePuzzle-v0" in text
    episodes = ["6" if word == "24" else word for word in EPISODES]
    code, text = run(empty, "pytest", *episodes)
    assert code == 0, text
    assert "pair-jumanji (float32 on cpu): equal" in text
    # The probe pins the reference's file: another one is another reference.
    fill(empty / "sliding.py", [("float(right)", "float(right > 0)")])
    probe = empty / "twinstep_pair/oracle/probe.py"
    fill(probe, [("hashlib.sha256((Path", '"" and hashlib.sha256((Path')])
    code, text = run(empty, "pytest", *episodes)
    assert code == 1, text
    assert "`reward` is -1, oracle 0" in text


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        ("pgx:noughts", "--candidate pgx:noughts: "),
        ("pgx:tic_tac_toe", "the players differ: gymnasium's CartPole-v1 has 1, pgx's tic_tac_toe"),
        ("jumanji:Nowhere-v0", "--candidate jumanji:Nowhere-v0: "),
        ("jumanji:Game2048-v1", "has the parts board [4, 4], action_mask [4]; choose two that"),
        ("navix:Navix-Empty-5x5-v0", "the action spaces differ: gymnasium's CartPole-v1 has "
         "Discrete(2), navix's Navix-Empty-5x5-v0 has Discrete("),
        ("navix:Nowhere", "--candidate navix:Nowhere: "),
        ("brax:nowhere", "--candidate brax:nowhere: "),
        ("brax:inverted_pendulum", "the action spaces differ: "),
        ("envpool:Nowhere-v0", "--candidate envpool:Nowhere-v0: "),
        ("envpool:Pendulum-v1", "the action spaces differ: "),
        ("functional:gymnasium.envs.phys2d.cartpole:Nothing", "cartpole has no `Nothing`"),
        ("functional:gymnasium.envs.phys2d.pendulum:PendulumFunctional", "the action spaces"),
    ],
)  # fmt: skip
def test_a_wrong_library_id_or_space_is_one_line(candidate, says, empty):
    package = candidate.partition(":")[0]
    name = {"functional": "flax"}.get(package, package)
    pytest.importorskip(name, reason=f"{name} {WHY}")
    command = ("init", "--oracle", "gymnasium:CartPole-v1", "--candidate", candidate)
    code, text = run(empty, "twinstep.cli", *command)
    lines = [line for line in text.splitlines() if line.startswith("twinstep: ")]
    assert code == 4, text
    assert says in lines[0]
    assert "Traceback" not in text
    assert not written(empty)


#: A dm_env environment of one's own, which is made anew for each seed.
CATCH = """
import dm_env
import numpy as np
from dm_env import specs


class Catch(dm_env.Environment):
    def __init__(self, seed=0):
        self.draws, self.x, self.y, self.paddle = np.random.default_rng(seed), 0, 0, 2

    def reset(self):
        self.x, self.y, self.paddle = int(self.draws.integers(5)), 0, 2
        return dm_env.restart(self._seen())

    def step(self, action):
        self.paddle = min(max(self.paddle + int(action) - 1, 0), 4)
        self.y += 1
        if self.y == 9:
            return dm_env.termination(1.0 if self.x == self.paddle else -1.0, self._seen())
        return dm_env.transition(0.0, self._seen())

    def _seen(self):
        return np.array([self.x, self.y, self.paddle], np.float32)

    def observation_spec(self):
        return specs.Array((3,), np.float32)

    def action_spec(self):
        return specs.DiscreteArray(3)
"""
#: The same with Gymnasium's interface.
QUICK_CATCH = """
import gymnasium
import numpy as np


class Catch(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball, self.paddle = [int(self.np_random.integers(5)), 0], 2
        return self.see(), {}

    def step(self, action):
        self.paddle = min(max(self.paddle + action - 1, 0), 4)
        self.ball = [self.ball[0], self.ball[1] + 1]
        over = self.ball[1] == 9
        return self.see(), over * (2.0 * (self.ball[0] == self.paddle) - 1), over, False, {}

    def see(self):
        return np.array([*self.ball, self.paddle], np.float32)
"""


def test_a_dm_env_is_equal_to_the_same_with_gymnasiums_interface_and_a_slip_is_found(empty):
    pytest.importorskip("dm_env", reason=f"dm_env {WHY}")
    (empty / "catching.py").write_text(CATCH)
    (empty / "quick.py").write_text(QUICK_CATCH)
    text = begun(empty, "dm_env:catching:Catch", "quick:Catch")
    assert "Starts are matched: both sides are put into the same state" in text
    code, text = run(empty, "pytest", *EPISODES, *QUICK)
    assert code == 0, text
    assert "pair-quick (float64 on cpu): equal" in text
    fill(empty / "quick.py", [("action - 1, 0), 4)", "action - 1, 0), 3)")])
    code, text = run(empty, "pytest", *EPISODES, *QUICK)
    assert code == 1, text
    assert "`state.paddle` is 3, oracle 4" in text
