"""The contract's enumerations as plain integers: JAX takes only those as scalars of any type."""

from __future__ import annotations

from twinstep.contracts.tcgjax import layout


class Zone:
    """Where a card is."""

    DECK, HAND, DISCARD, STACKS = map(int, layout.Zone)


class Ask:
    """The choice open to the player who acts."""

    TURN, ACTIVE, BENCH, PROMOTE, PAY, DAMAGE = map(int, tuple(layout.Ask)[:6])
    ATTACH, SWITCH, PUSHED, PULL, SNIPE, COPY = map(int, tuple(layout.Ask)[6:])


class Then:
    """The continuation after the choice of a new Active Pokemon."""

    TURN, CHECKUP, NEXT = map(int, layout.Then)


#: All of Ask.
ASKED = tuple(map(int, layout.Ask))
