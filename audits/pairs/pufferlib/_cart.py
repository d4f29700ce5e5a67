"""PufferLib's CartPole behind ctypes, with Gymnasium's interface.

It begins again within the step that ends an episode. The state before that is seen where it draws
the next start.
"""

import ctypes
import functools
from pathlib import Path

import numpy as np

from audits.pairs.pufferlib import _header
from twinstep.oracles.pong import upstream

DRIVER = Path(__file__).with_name("cartpole.c")


@functools.cache
def library() -> ctypes.CDLL:
    """Return the driver, compiled against the header. OracleMissing where one is not to be had."""
    flags = [*upstream.FLAGS, "-I", str(_header.folder("cartpole"))]
    loaded = ctypes.CDLL(str(upstream.build(DRIVER, flags)))
    loaded.make.restype = ctypes.c_void_p
    return loaded


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Cart:
    """One episode of PufferLib's, with Gymnasium's interface."""

    def __init__(self):
        self._c, self.state, self.time = library(), np.zeros(4, np.float32), 0
        self.env = ctypes.c_void_p(self._c.make())
        self._reward, self._terminal = np.zeros(1, np.float32), np.zeros(1, np.uint8)

    def reset(self, seed=None):
        self.state, self.time = np.zeros(4, np.float32), 0
        self._c.reset(self.env, ctypes.c_uint(seed or 0), pointer(self.state))
        return self.state.copy(), {}

    def step(self, action):
        # Whoever puts it into a state may give numbers of another type.
        self.state = np.array(self.state, np.float32)
        results = (pointer(each) for each in (self.state, self._reward, self._terminal))
        self._c.place(self.env, pointer(self.state), self.time)
        self._c.step(self.env, ctypes.c_float(action), *results)
        self.time += 1
        # It has a field for an end by time, and never sets it.
        return self.state.copy(), float(self._reward[0]), bool(self._terminal[0]), False, {}

    def close(self):
        self._c.end(self.env)
