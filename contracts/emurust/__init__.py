"""Contract of emurust-v0: PyBoy 2.8.1, a Game Boy emulator, playing a cartridge by rules.

The whole Game Boy is compared after each step, picture and clock included, "the same as PyBoy
frame by frame, its faults included". state.py lists the state, handover.py the start of an
episode, cartridge.py the supported cartridges, and roms/memory.py defines rules.

* A frame is one tick(1) of PyBoy: it ends as the picture ends, and whenever the LCD is
  switched off or on, so that its length varies.
* A step: before its first frame, the buttons that the action does not hold are released and those
that it holds are pressed. Then `frame_skip` frames are played. The last of them is drawn.
* An episode's start: key = h32(seed[0] ^ h32(seed[1])). After the hand-over, `seed_frame` frames
are played and the rules' seed is set to the low bytes of key. Then start_frames - seed_frame +
h32(key ^ 0x9e3779b9) % waits frames follow, the last of them drawn. h32 is the 32-bit hash x ^=
x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16. Each side implements it.
* The reward is summed in float64 in the rules' order, then rounded to float32.
* rom=random: the cartridge is drawn from the seed by roms/random_programs.py. rom=given: the
start supplies any cartridge of 32 KB without a mapper.
* PyBoy's tick hangs on the 11 opcodes that are no instruction: no episode may reach one, and
there is nothing to compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from twinstep.contract import Contract, Discrete, Field, Measure, Module, Randomness, Role
from twinstep.errors import UserError
from twinstep.plans import PPO, Transfer

from .cartridge import Cartridge
from .choice import BROUGHT, NAMED, cartridge_of, header_of
from .roms.memory import SEEN_BITS, New, Rules
from .roms.random_programs import SIZE, random_program
from .state import HIDDEN, SHOWN, Item, shape_of

#: Level 4 plays 12 seconds. In longer episodes the spread of scores grows faster than the scores.
LEARNED = {"observe": "values", "max_episode_steps": 30}
_PLAIN = {"rules": "", "frame_skip": 24}
_PPO = PPO(lanes=32, steps=64, learning_rate=3e-3, entropy=0.003)
#: Level 4's requirements for policies that see a game's values. Random play scores 1.5 in catch,
#: 4.3 in breakout. Breakout's seeds spread by 0.5, too widely for ten to show the margin.
TRANSFER = {
    "catch": Transfer(margin=0.5, solved=7.0, steps=100_000, ppo=_PPO),
    "breakout": Transfer(
        margin=0.5, solved=7.0, steps=100_000, ppo=replace(_PPO, gamma=0.95), episodes=256,
        gap=5.0, training=False,
    ),
}  # fmt: skip


def contract(params: Mapping[str, Any]) -> Contract:
    """Return the contract of emurust-v0; UserError for an invalid parameter."""
    for name in ("frame_skip", "max_episode_steps"):
        if params[name] < 1:
            raise UserError(f"{name}={params[name]}: at least 1 is needed")
    rom, rules = cartridge_of(params)
    brought = params["rom"] in BROUGHT
    return Contract(
        version="emurust-v0",
        params=dict(params),
        action=Discrete(len(rules.actions), tuple(map("+".join, (("none",), *rules.actions[1:])))),
        observation=_observation(params, rules),
        state=_state(header_of(params), params, rules),
        randomness=Randomness(
            "the seed chooses the game's random numbers and how many frames go by first",
            parts=_parts(rules)
            if not brought
            else {"program": ("state.a", "state.hl", "state.pc", "state.wram")},
        ),
        starts=(Field("rom", "uint8", (SIZE,), low=0, high=255, step=1),) if brought else (),
        make_start=_random_start if params["rom"] == "random" else None,
        data=_data(params, rom),
        modules=_MODULES,
        events=("scored",) if rules.reward else (),
        measures=(
            Measure("largest reward", "reward"),
            Measure("last cycle", "state.cycles", "max"),
        ),
        drivers=("random", "sticky"),
        horizon=params["max_episode_steps"],
        auto_resets=("off",) if brought else ("off", "same-step", "next-step"),
        largest_batch=512,
        placed=0,
        source_view="location",
        transfer=_transfer(params),
    )


def _transfer(params: Mapping[str, Any]) -> Transfer | None:
    asked = all(params[name] == value for name, value in (LEARNED | _PLAIN).items())
    return TRANSFER.get(params["rom"]) if asked else None


def _parts(rules: Rules) -> dict[str, tuple[str, ...]]:
    parts = {"random numbers": ("state.wram",)} if rules.seed is not None else {}
    return parts | ({"wait": ("state.cycles",)} if rules.waits > 1 else {})


def _observation(params: Mapping[str, Any], rules: Rules) -> Field:
    kind = params["observe"]
    if kind != "values":
        shape = (144, 160) if kind == "full" else (72, 80)
        return Field("obs", "uint8", shape, low=0, high=3, step=1, large=True)
    if not rules.observed:
        raise UserError(f"observe=values: the rules of rom={params['rom']} observe none")
    names = [
        name if value.size * value.count == 1 else f"{name}[{byte}]"
        for name, value in rules.observed.items()
        for byte in range(value.size * value.count)
    ]
    return Field("obs", "uint8", (len(names),), low=0, high=255, step=1, names=tuple(names))


def _state(header: Cartridge, params: Mapping[str, Any], rules: Rules) -> tuple[Field, ...]:
    news = sum(isinstance(part, New) for part in rules.reward)
    seen = Field("seen", "uint8", (news, SEEN_BITS // 8), large=True, doc="what each New has had")
    elapsed = Field(
        "elapsed", "int32", low=0, high=params["max_episode_steps"], step=1,
        doc="steps played in this episode",
    )  # fmt: skip
    return (
        *(_field(item, header, Role.COMPARED) for item in SHOWN),
        elapsed,
        *((seen,) if news else ()),
        *(_field(item, header, Role.HIDDEN) for item in HIDDEN),
    )


def _field(item: Item, header: Cartridge, role: Role) -> Field:
    shape = shape_of(item, header)
    return Field(
        item.name, np.dtype(item.dtype).name, shape, role=role, doc=item.doc,
        large=int(np.prod(shape, dtype=np.int64)) > 256,
    )  # fmt: skip


def _data(params: Mapping[str, Any], rom: bytes | None) -> dict[str, str]:
    """Return the sha256 of data that parameters refer to by name only."""
    named = {} if rom is None else {"rom": rom}
    if params["rules"] and params["rules"] not in NAMED:
        named["rules"] = Path(params["rules"]).expanduser().read_bytes()
    return {name: hashlib.sha256(data).hexdigest() for name, data in named.items()}


def _random_start(seed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the random program of a seed u32[2]."""
    rom = random_program(int(seed[0]) | int(seed[1]) << 32)
    return {"rom": np.frombuffer(rom, np.uint8).copy()}


#: Part of the machine -> the fields it owns: a difference is put down to the owners of what
#: differs. None can be called alone.
_OWNED = {
    "processor": ("a", "f", "b", "c", "d", "e", "hl", "sp", "pc", "cycles"),
    "picture": ("screen", "obs"),
    "hardware": ("io", "ie"),
    "sprites": ("oam", "fea0"),
    "memory": ("wram", "hram", "vram"),
    "cartridge": ("cart_ram",),
    "rules": ("reward", "terminated", "truncated", "seen", "elapsed"),
}
_MODULES = tuple(
    Module(name, (), tuple(Field(field, "uint8") for field in fields))
    for name, fields in _OWNED.items()
)
