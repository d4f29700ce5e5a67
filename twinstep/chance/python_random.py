"""A stand-in for `random.Random`, whose methods draw from the words of the step."""

from __future__ import annotations

import random
from typing import Any

from twinstep.chance import words
from twinstep.chance.draws import Draws
from twinstep.errors import UserError


def python_random(draws: Draws) -> random.Random:
    """Return `random.Random` over the words of the step."""
    return _Random(draws)


class _Random(random.Random):
    def __init__(self, draws: Draws) -> None:
        super().__init__(0)
        self._draws = draws

    def seed(self, *args: Any, **more: Any) -> None:
        """Do nothing: the words decide."""

    def random(self) -> float:
        return float(words.units(self._draws.take(1, "random"))[0])

    def uniform(self, a: float, b: float) -> float:
        return a + (b - a) * self.random()

    def getrandbits(self, k: int) -> int:
        drawn = self._draws.take(-(-k // 32), "getrandbits")
        return sum(int(word) << (32 * n) for n, word in enumerate(drawn)) & ((1 << k) - 1)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        places = range(start) if stop is None else range(start, stop, step)
        return places[int(words.below(self._draws.take(1, "randrange"), len(places))[0])]

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def choice(self, seq: Any) -> Any:
        return seq[self.randrange(len(seq))]

    def shuffle(self, x: Any) -> None:
        x[:] = [x[n] for n in words.order(self._draws.take(len(x), "shuffle"))]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        if counts is not None:
            _refuse("sample with counts")
        order = words.order(self._draws.take(len(population), "sample"))
        return [population[n] for n in order[:k]]

    def choices(
        self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        if cum_weights is not None:
            _refuse("choices with cum_weights")
        drawn = self._draws.take(k, "choices")
        weights = [1] * len(population) if weights is None else weights
        return [population[n] for n in words.chosen(drawn, weights)]

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return mu + sigma * float(words.normals(self._draws.take(1, "gauss"))[0])

    normalvariate = gauss


def _refuse(name: str) -> Any:
    raise UserError(f"chance: `{name}` of Python's random has no stand-in: place the state instead")


for _name in (
    *("betavariate", "binomialvariate", "expovariate", "gammavariate", "lognormvariate"),
    *("paretovariate", "randbytes", "triangular", "vonmisesvariate", "weibullvariate"),
):
    setattr(_Random, _name, lambda self, *args, _name=_name, **more: _refuse(_name))
