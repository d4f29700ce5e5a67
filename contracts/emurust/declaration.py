"""Declaration of EmuRust: its oracle and its candidate, named by import path."""

from __future__ import annotations

from twinstep.contracts.emurust import LEARNED, TRANSFER, contract
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.environment import CandidateRef, Environment, OracleRef, Parameter, Variant

_RUST, _FACE = "rust/emurust/src", "rust/twinstep_rust/src/emurust"
#: Part of the machine -> where the candidate has it.
_PLACES = {
    "processor": f"{_RUST}/cpu/execute.rs:step",
    "picture": f"{_RUST}/ppu.rs:event",
    "hardware": f"{_RUST}/memory/bus.rs:read_io",
    "sprites": f"{_RUST}/memory/dma.rs:tick_dma",
    "memory": f"{_RUST}/memory/bus.rs:write_slow",
    "cartridge": f"{_RUST}/memory/mapper.rs:write_mapper",
    "rules": f"{_FACE}/rules.rs:reward",
}
#: Part of the machine -> the other files of the candidate that are about it.
_HELPERS: dict[str, tuple[str, ...]] = {
    "processor": (
        *("cpu/alu", "cpu/control", "cpu/interrupts", "cpu/lazy_flags", "cpu/moves"),
        *("cpu/prefixed", "cpu/registers"),
        *("fast/block", "fast/decode", "fast/entry", "fast/handlers", "fast/live"),
        *("fast/live/arithmetic", "fast/live/branches", "fast/live/memory"),
        *("fast/superops", "fast/threaded"),
        *("idle", "idle/halt", "idle/polled_lines", "idle/predictor", "idle/trial"),
    ),
    "picture": (
        *("ppu/draw", "ppu/draw/sprites", "ppu/penalty", "ppu/registers", "ppu/skip"),
        *("ppu/sprite_lines", "ppu/stat"),
    ),
    "hardware": ("timer", "joypad", "serial", "cpu/interrupts", "ppu/registers", "ppu/stat"),
    "sprites": ("idle/dma_wait",),
    "memory": ("memory/mmio",),
    "cartridge": ("memory/cartridge",),
}

EMURUST = Environment(
    name="emurust",
    contract=contract,
    oracle=OracleRef(
        title="PyBoy 2.8.1",
        factory="twinstep.oracles.emurust.bridge:EmuRustOracle",
        probe="twinstep.oracles.emurust.upstream:probe",
        package="twinstep.oracles.emurust",
        upstream=("pyboy",),
        bench="twinstep.oracles.emurust.native:runners",
        measured=("heavy", "catch", "explorer", "breakout", "poll_ly", "poll_stat", "poll_flag"),
        batches=(1, 8, 128),
        work=1 << 12,
    ),
    candidates=(
        CandidateRef(
            "rust",
            "twinstep.candidates.emurust.rust_emurust:EmuRust",
            edit=("rust/emurust/**", "rust/twinstep_rust/src/emurust/**"),
            sources={
                **_PLACES,
                "step": f"{_RUST}/machine.rs:frame",
                "reset": f"{_RUST}/machine.rs:new",
            },
            helpers={
                **{
                    name: tuple(f"{_RUST}/{file}.rs" for file in files)
                    for name, files in _HELPERS.items()
                },
                "step": (f"{_FACE}/play.rs", f"{_FACE}/lane.rs"),
            },
            packages=("twinstep.candidates.emurust", "twinstep.candidates.rust"),
            probe="twinstep.candidates.emurust.rust_emurust:probe",
            build="twinstep.candidates.emurust.rust_emurust:build",
            tests=tuple(
                f"twinstep.tests.envs.emurust.test_rust_{name}"
                for name in ("limits", "bad_input", "candidate")
            ),
        ),
    ),
    variants=(
        *(Variant(name, {"rom": name}) for name in GAMES),
        Variant("random", {"rom": "random", "max_episode_steps": 20}),
        Variant("catch-half", {"rom": "catch", "observe": "half"}),
        *(Variant(f"{name}-values", {"rom": name, **LEARNED}) for name in TRANSFER),
    ),
    parameters=(
        Parameter("rom", "catch", f"one of {', '.join(GAMES)}, random, given; or a ROM file", str),
        Parameter(
            "rules", "", "rewards and ends: the game's own, pokemon_red, or a Python file", str
        ),
        Parameter("frame_skip", 24, "frames played per step"),
        Parameter("max_episode_steps", 160, "steps after which an episode is truncated"),
        Parameter(
            "observe",
            "full",
            "the picture, every second pixel of every second line of it, or the rules' values",
            str,
            ("full", "half", "values"),
        ),
    ),
    doc="A Game Boy plays a cartridge; the agent holds its buttons.",
)
