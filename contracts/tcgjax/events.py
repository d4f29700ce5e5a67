"""The observable events of a step of a game: the coverage that a report counts."""

from __future__ import annotations

from twinstep.contracts.tcgjax.cards import cards

#: Events other than effects' codes. A code counts when its effect is used or, always on, matters.
HAPPENINGS: tuple[str, ...] = (
    "heads", "tails",
    "evolved", "attached", "retreated", "paid by choice",
    "played on an empty deck or a full hand",
    "weakness", "asleep", "paralysis over", "poison damage",
    "knock-out by attack", "knock-out by ability", "knock-out after a turn",
    "knock-out of one's own", "both knocked out",
    "promotion of player 0", "promotion of player 1",
    "fossil discarded",
    "won by points", "won without Pokemon left", "tie of both", "tie after the last turn",
)  # fmt: skip


def events_of(sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the events of games with cards of these sets."""
    found = [card for card in cards() if card.set in sets]
    codes = {card.ability for card in found}
    codes |= {attack.effect for card in found for attack in card.attacks}
    return (*HAPPENINGS, *sorted(codes - {""}))
