"""OpenSpiel's small poker games as oracles; the deal is part of the start."""

import numpy as np
import pyspiel

from twinstep import Frame


class OpenSpielPoker:
    """One game; subclass it with what each player sees.

    game: OpenSpiel's name. actions: OpenSpiel's number of each action. The start's field `cards` is
    dealt in its order, i32[K].
    """

    game = ""
    actions: tuple[int, ...] = ()

    def __init__(self, contract):
        self._game = pyspiel.load_game(self.game)

    def reset(self, start):
        self._state, self._cards = self._game.new_initial_state(), list(start.fields["cards"])
        self._deal()
        return self._frame(np.zeros(2, np.float32))

    def step(self, action):
        self._state.apply_action(self.actions[int(action[self._state.current_player()])])
        self._deal()
        return self._frame(np.array(self._state.rewards(), np.float32))

    def close(self):
        pass

    def seen(self, tensor, player):
        """Return what a player sees, bool[K], from OpenSpiel's observation of it."""
        raise NotImplementedError

    def _deal(self):
        while self._state.is_chance_node():
            self._state.apply_action(int(self._cards.pop(0)))

    def _frame(self, reward):
        state = self._state
        over = state.is_terminal()
        acting = np.array([not over and state.current_player() == player for player in (0, 1)])
        allowed = [] if over else state.legal_actions()
        legal = acting[:, None] & np.isin(self.actions, allowed)
        views = [self.seen(np.array(state.observation_tensor(p)), p) for p in (0, 1)]
        return Frame(
            obs=np.stack(views).astype(bool),
            reward=reward,
            terminated=np.bool_(over),
            truncated=np.bool_(False),
            acting=acting,
            legal=legal,
            state={},
        )


def chips(own, other, size):
    """Return two one-hot rows one after the other, bool[2 * size]."""
    return np.concatenate([np.arange(size) == int(count) for count in (own, other)])
