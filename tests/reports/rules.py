"""What the pairs share: rules behind Gymnasium's interface, and a declaration of both sides."""

from __future__ import annotations

from twinstep import CandidateRef, Environment, OracleRef, Probe

_HERE = "twinstep.tests.reports"
#: Lanes and steps of a recording through auto-resets: these rules are slow.
SHIPPED = (8, 64)


class Rules:
    """A game whose attributes are its state: `begin`, `play`, `seen` and, with a mask, `legal`."""

    def reset(self, *, seed=None, options=None):
        self.begin(int(seed))
        return self.seen(), self.info()

    def step(self, action):
        reward, terminated, truncated = self.play(action)
        return self.seen(), reward, terminated, truncated, self.info()

    def info(self):
        return {"action_mask": self.legal()} if hasattr(self, "legal") else {}


def hashed(*numbers):
    """Return a whole number that looks drawn, the same on both sides."""
    word = 0x9E3779B97F4A7C15
    for number in numbers:
        word = ((word ^ int(number)) * 0xBF58476D1CE4E5B9) % 2**64
        word ^= word >> 29
    return word >> 16


def declared(name, contract, candidates, **more):
    """Return the declaration of a module here: `Oracle`, and the candidates by these names."""
    module = f"{_HERE}.{name}"
    oracle = OracleRef("the rules in Python", f"{module}:Oracle", f"{_HERE}.rules:probe", _HERE)
    refs = tuple(CandidateRef(one.lower(), f"{module}:{one}") for one in candidates)
    return Environment(name, contract, oracle, refs, **more)


def probe(params):
    return Probe({"rules": "1"})
