"""Two agents on a line of nine places seek a goal that moves on when it is reached."""

import numpy as np

from twinstep import Contract, Discrete, Field, Parameter, Randomness, Variant
from twinstep.inward import from_gym, oracle_from_gym
from twinstep.tests.reports.rules import SHIPPED, Rules, declared, hashed

PLACES, LIMIT = 9, 24


class Seekers(Rules):
    """Action 3 * first + second: each agent goes left, stays, or goes right."""

    def __init__(self, pay):
        self.pay = pay

    def begin(self, seed):
        self.word, self.draws, self.clock = np.uint32(hashed(seed) % 2**32), 0, 0
        self.agents = np.array([0, PLACES - 1], np.int32)
        self.last = np.zeros(3, np.int32)
        self.move_goal()

    def move_goal(self):
        self.goal = hashed(self.word, self.draws) % PLACES
        self.draws += 1

    def play(self, action):
        moves = np.array(divmod(int(action), 3)) - 1
        self.agents = np.clip(self.agents + moves, 0, PLACES - 1).astype(np.int32)
        self.last = np.array([*self.last[1:], action], np.int32)
        self.clock += 1
        reached = int((self.agents == self.goal).sum())
        if reached:
            self.reached(reached)
        return reached * self.paid(), False, self.cut()

    def reached(self, agents):
        self.move_goal()

    def paid(self):
        return self.pay

    def cut(self):
        return self.clock >= LIMIT

    def seen(self):
        return np.array([*self.agents, self.goal, *self.last], np.int32)


class Twice(Seekers):
    """PufferLib 299: the goal moves on once for each agent that has reached it."""

    def reached(self, agents):
        for _ in range(agents):
            self.move_goal()


class Restarts(Seekers):
    """PufferDrive 207: at the horizon it begins anew by itself, and says nothing."""

    def cut(self):
        if self.clock >= LIMIT:
            self.begin(0)
        return False


class Ignores(Seekers):
    """gymnax 39: a parameter is ignored."""

    def paid(self):
        return 1.0


class Remembers(Seekers):
    """DACBench 94: a reset keeps the history of the last episode."""

    def begin(self, seed):
        kept = getattr(self, "last", None)
        super().begin(seed)
        self.last = self.last if kept is None else kept


def contract(params):
    return Contract(
        version="field-v0",
        params=dict(params),
        action=Discrete(9),
        observation=Field("obs", "int32", (6,)),
        state=(
            Field("agents", "int32", (2,), low=0, high=PLACES - 1, step=1),
            Field("goal", "int32", low=0, high=PLACES - 1, step=1),
            Field("last", "int32", (3,), low=0, high=8, step=1),
            Field("word", "uint32"),
            Field("draws", "int32", low=0, high=80, step=1),
            Field("clock", "int32", low=0, high=LIMIT - 1, step=1),
        ),
        randomness=Randomness("both hash the seed", draws="draws", parts={"goal": ("state.goal",)}),
        horizon=LIMIT + 10,
        placed=64,
        shipped=SHIPPED,
    )


HOOKS = {
    "fields": {name: name for name in ("agents", "goal", "last", "word", "draws", "clock")},
}


def _oracle(contract):
    return oracle_from_gym(lambda: Seekers(contract.params["pay"]), **HOOKS)(contract)


def _candidate(rules):
    return lambda contract: from_gym(lambda: rules(contract.params["pay"]), **HOOKS)(contract)


Oracle = _oracle
Right, Goals, Hidden, Param, History = map(
    _candidate, (Seekers, Twice, Restarts, Ignores, Remembers)
)
ENV = declared(
    "field",
    contract,
    ("Right", "Goals", "Hidden", "Param", "History"),
    parameters=(Parameter("pay", 1.0, "for a goal that is reached", float),),
)
#: As its author should have declared it, where a second value is verified.
VARIED = declared(
    "field",
    contract,
    ("Right", "Param"),
    parameters=ENV.parameters,
    variants=(Variant("one", {}), Variant("two", {"pay": 2.0})),
)
