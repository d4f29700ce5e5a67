"""Every move of Generation 1 except Struggle, grouped by effect: the source of pairs of effects.

Numbers are those of the games. A move with a rule of its own has a family of its own.
The `FAMILIES` of the contract's `__init__` are other groups: move sets that teams are drawn from.
"""

from __future__ import annotations

FAMILIES: dict[str, tuple[int, ...]] = {
    "plain damage": (
        *(1, 5, 6, 10, 11, 15, 16, 17, 21, 22, 25, 30, 33, 55, 56, 57, 64, 65, 70, 88, 89, 121),
        *(127, 146, 157, 161),
    ),
    "many critical hits": (2, 75, 152, 163),
    "priority and certain hits": (98, 129),
    "several hits": (3, 4, 24, 31, 41, 42, 131, 140, 154, 155),
    "drain": (71, 72, 138, 141),
    "recoil and crash": (26, 36, 38, 66, 136),
    "explosion": (120, 153),
    "one-hit KO": (12, 32, 90),
    "damage without a formula": (49, 69, 82, 101, 149, 162),
    "Counter": (68,),
    "Bide": (117,),
    "binding": (20, 35, 83, 128),
    "two turns": (13, 19, 76, 91, 130, 143),
    "recharge": (63,),
    "rampage": (37, 80),
    "Rage": (99,),
    "secondary status": (7, 8, 9, 34, 40, 52, 53, 58, 59, 84, 85, 87, 122, 123, 124, 126),
    "secondary flinch": (23, 27, 29, 44, 67, 125, 158),
    "secondary confusion": (60, 93),
    "secondary drop": (51, 61, 62, 94, 132, 145),
    "sleep": (47, 79, 95, 142, 147),
    "paralysis": (78, 86, 137),
    "poison": (77, 92, 139),
    "confusion": (48, 109),
    "Leech Seed": (73,),
    "Disable": (50,),
    "own stages": (14, 74, 96, 97, 104, 106, 107, 110, 111, 112, 133, 151, 159),
    "the foe's stages": (28, 39, 43, 45, 81, 103, 108, 134, 148),
    "screens, Mist and Focus Energy": (54, 113, 115, 116),
    "Substitute": (164,),
    "recovery": (105, 135, 156),
    "Haze": (114,),
    "copies": (102, 118, 119, 144, 160),
    "nothing": (18, 46, 100, 150),
}
