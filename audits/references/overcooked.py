"""overcooked_ai's kitchen `cramped_room`, placed in any of its states."""

from __future__ import annotations

import numpy as np
from overcooked_ai_py.mdp.actions import Action, Direction
from overcooked_ai_py.mdp.overcooked_mdp import (
    ObjectState,
    OvercookedGridworld,
    OvercookedState,
    PlayerState,
    SoupState,
)

from twinstep import Contract, Discrete, Field, Frame, Randomness

#: Columns and rows, the one pot, the cells that can be walked on, and the counters, all as (x, y).
SIZE, POT = (5, 4), (2, 0)
FLOOR = [(x, y) for y in (1, 2) for x in (1, 2, 3)]
COUNTERS = [(0, 0), (1, 0), (3, 0), (4, 0), (0, 2), (4, 2), (0, 3), (2, 3), (4, 3)]
#: What a player holds, and what lies on a counter: nothing, an onion, a plate, a soup of one, two
#: or three onions.
NOTHING, ONION, PLATE, SOUP = 0, 1, 2, 5
LIMIT, COOKING = 400, 20


def make_start(seed):
    """Return two players on cells of their own, with anything in their hands and in the kitchen."""
    rng = np.random.default_rng(seed)
    onions = int(rng.integers(0, 4))
    left = int(rng.integers(-1, COOKING)) if onions == 3 else -1
    things = (NOTHING, ONION, PLATE, SOUP)
    return {
        "at": np.array([FLOOR[n] for n in rng.permutation(len(FLOOR))[:2]], np.int32),
        "facing": rng.integers(0, 4, 2).astype(np.int32),
        "held": rng.choice(things, 2).astype(np.int32),
        "counters": rng.choice(things, len(COUNTERS), p=(0.7, 0.1, 0.1, 0.1)).astype(np.int32),
        "onions": np.int32(onions),
        "left": np.int32(left),
    }


FIELDS = (
    Field("at", "int32", (2, 2), low=1, high=3, step=1, names=("x", "y")),
    Field("facing", "int32", (2,), low=0, high=3, step=1, doc="north, south, east, west"),
    Field("held", "int32", (2,), low=0, high=SOUP, step=1),
    Field("counters", "int32", (len(COUNTERS),), low=0, high=SOUP, step=1),
    Field("onions", "int32", low=0, high=3, step=1, doc="in the pot"),
    Field("left", "int32", low=-1, high=COOKING, step=1, doc="to cook; -1 if it does not"),
)


def contract(version: str) -> Contract:
    """Return the contract of the kitchen; its observation is who holds what."""
    return Contract(
        version=version,
        params={},
        action=Discrete(6, ("up", "down", "right", "left", "stay", "interact")),
        observation=Field("obs", "int32", (2,), names=("first", "second")),
        state=(*FIELDS, Field("time", "int32", low=0, high=LIMIT - 1, step=1)),
        starts=FIELDS,
        make_start=make_start,
        randomness=Randomness("a whole state is placed in both", parts={"start": ("obs",)}),
        players=2,
        # Numbers drawn one by one would put two players on one cell.
        placed=0,
        horizon=LIMIT,
    )


class Overcooked:
    """One kitchen of overcooked_ai as an oracle; an episode ends by time alone."""

    def __init__(self, contract: Contract) -> None:
        self._rules = OvercookedGridworld.from_layout_name("cramped_room")

    def reset(self, start):
        return self.load({**start.fields, "time": 0})

    def step(self, action):
        moves = [Action.INDEX_TO_ACTION[int(move)] for move in action]
        self._state, told = self._rules.get_state_transition(self._state, moves)
        return self._frame(sum(told["sparse_reward_by_agent"]))

    def load(self, state):
        places = [tuple(map(int, place)) for place in state["at"]]
        players = [
            PlayerState(place, Direction.INDEX_TO_DIRECTION[int(way)], _thing(int(held), place))
            for place, way, held in zip(places, state["facing"], state["held"], strict=True)
        ]
        lying = zip(COUNTERS, state["counters"], strict=True)
        objects = {place: _thing(int(code), place) for place, code in lying if code}
        if onions := int(state["onions"]):
            left = int(state["left"])
            tick = -1 if left < 0 else COOKING - left
            objects[POT] = SoupState.get_soup(POT, num_onions=onions, cooking_tick=tick)
        self._state = OvercookedState(
            players,
            objects,
            all_orders=self._rules.start_all_orders,
            timestep=int(state["time"]),
        )
        return self._frame(0)

    def close(self):
        pass

    def _frame(self, reward):
        state = self._state
        held = np.array([_code(player.held_object) for player in state.players], np.int32)
        soup = state.objects.get(POT)
        return Frame(
            obs=np.stack([held, held]),
            reward=np.array([reward, reward], np.float32),
            terminated=np.bool_(False),
            truncated=np.bool_(state.timestep >= LIMIT),
            acting=np.ones(2, bool),
            legal=None,
            state={
                "at": np.array(state.player_positions, np.int32),
                "facing": np.array(
                    [Direction.DIRECTION_TO_INDEX[way] for way in state.player_orientations],
                    np.int32,
                ),
                "held": held,
                "counters": np.array(
                    [_code(state.objects.get(place)) for place in COUNTERS], np.int32
                ),
                "onions": np.int32(len(soup.ingredients) if soup else 0),
                "left": np.int32(-1 if soup is None or soup.is_idle else soup.cook_time_remaining),
                "time": np.int32(state.timestep),
            },
        )


def _thing(code: int, place: tuple[int, int]):
    if code in (ONION, PLATE):
        return ObjectState({ONION: "onion", PLATE: "dish"}[code], place)
    return SoupState.get_soup(place, num_onions=code - PLATE, finished=True) if code else None


def _code(thing) -> int:
    if thing is None:
        return NOTHING
    if thing.name == "soup":
        return PLATE + len(thing.ingredients)
    return {"onion": ONION, "dish": PLATE}[thing.name]
