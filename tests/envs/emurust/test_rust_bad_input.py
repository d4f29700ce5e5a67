"""Game Boys in Rust with wrong or strange cartridges, states and arguments.

They are refused with a sentence, or played; the module never panics and never hangs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinstep.contracts.emurust.cartridge import MAPPERS, RAM_BANKS, read_header
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.memory import Change, Rules, Value
from twinstep.contracts.emurust.state import HIDDEN, SHOWN, record_dtype
from twinstep.errors import UserError
from twinstep.tests.support.game_boys import Boys, bytes_of, need_the_module, play_of, seeds

CATCH = GAMES["catch"].rom
#: Every button together or not.
ANY = Rules(actions=((), ("a",), ("right", "left", "up", "down")))


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    need_the_module()


def begin(rom: bytes, like: bytes = CATCH, **more: Any) -> Any:
    """A batch of one lane with a ROM; like: one with the same RAM, for the record's layout."""
    import twinstep_rust  # pyright: ignore[reportMissingImports]

    play = play_of(like, ANY, **{"frame_skip": 1} | more)
    return twinstep_rust.EmuRustBatch.reset(play, bytes_of(rom)[None], seeds(1))


def with_header(rom: bytes, **changes: int) -> bytes:
    """A ROM with other bytes in its header, `at_147=3`, and the checksum that fits them."""
    changed = bytearray(rom)
    for name, value in changes.items():
        changed[int(name.removeprefix("at_"), 16)] = value
    changed[0x14D] = -sum(byte + 1 for byte in changed[0x134:0x14D]) & 0xFF
    return bytes(changed)


WRONG_ROMS = {
    "nothing": (b"", "0 bytes; a Game Boy ROM is 32 KB, or more in steps of 16 KB"),
    "cut": (CATCH[:-1], "32767 bytes; a Game Boy ROM is 32 KB"),
    "odd": (CATCH + bytes(100), "32868 bytes; a Game Boy ROM is 32 KB"),
    "checksum": (
        CATCH[:0x14D] + bytes([CATCH[0x14D] ^ 1]) + CATCH[0x14E:],
        r"the header's checksum at \$14D is",
    ),
    "kind": (with_header(CATCH, at_147=0xFC), r"cartridge type \$FC is not supported"),
    "clock": (with_header(CATCH, at_147=0x10), r"cartridge type \$10 has a clock"),
    "ram": (with_header(CATCH, at_149=6), r"RAM size \$06 is not known"),
    "large": (CATCH + bytes(0x4000 * 255), "257 banks of 16 KB; at most 256 are supported"),
    "other ram": (with_header(CATCH, at_147=3, at_149=3), "states have .* bytes, the record has"),
}


@pytest.mark.parametrize("name", WRONG_ROMS)
def test_a_rom_that_cannot_be_played_is_refused_in_one_line(name: str) -> None:
    rom, problem = WRONG_ROMS[name]
    with pytest.raises(ValueError, match=problem) as caught:
        begin(rom)
    assert "\n" not in str(caught.value)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_rust_and_the_contract_agree_on_which_roms_can_be_played(data: st.DataObject) -> None:
    rom = bytearray(data.draw(st.sampled_from([0x4000, 0x8000, 0x8001, 0xC000, 0x10000])))
    rom[0x134:0x150] = data.draw(st.binary(min_size=28, max_size=28))
    if data.draw(st.booleans()):
        rom[0x147] = data.draw(st.sampled_from(sorted(MAPPERS)))
    if data.draw(st.booleans()):
        rom[0x149] = data.draw(st.sampled_from(sorted(RAM_BANKS)))
    if data.draw(st.integers(0, 9)):
        rom = bytearray(with_header(bytes(rom)) if len(rom) > 0x14D else rom)
    try:
        read_header(bytes(rom))
    except UserError:
        with pytest.raises(ValueError, match="ROM|checksum|cartridge|RAM"):
            begin(bytes(rom))
    else:
        assert begin(bytes(rom), like=bytes(rom)).lanes == 1


def noise(seed: int, kind: int, ram: int, banks: int) -> bytes:
    """A ROM of random bytes with a header that can be played."""
    rom = np.random.default_rng(seed).integers(0, 256, banks * 0x4000, np.uint8).tobytes()
    return with_header(rom, at_147=kind, at_149=ram)


ROMS = st.builds(
    noise,
    st.integers(0, 2**32),
    st.sampled_from(sorted(MAPPERS)),
    st.sampled_from(sorted(RAM_BANKS)),
    st.sampled_from([2, 3, 4, 8]),
)


@given(rom=ROMS, actions=st.lists(st.integers(0, 2), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_random_bytes_as_a_cartridge_are_played(rom: bytes, actions: list[int]) -> None:
    batch = begin(rom, like=rom)
    out = {"cycles": np.zeros((len(actions), 1), np.uint64)}
    batch.rollout(np.array(actions, np.int32)[:, None], out)
    assert (np.diff(out["cycles"][:, 0].astype(np.int64)) >= 0).all()


_NAMES = [item.name for item in SHOWN + HIDDEN]
CHANGES = st.tuples(
    # Half of them in the few bytes that steer the machine.
    st.one_of(st.sampled_from([item.name for item in HIDDEN]), st.sampled_from(_NAMES)),
    st.integers(0, 2**32),
    st.one_of(
        st.sampled_from([0, 1, 2, 3, 4, 15, 31, 127, 143, 144, 153, 159, 160, 255, 456, 70223]),
        st.integers(0, 2**63 - 1),
    ),
)


@given(
    game=st.sampled_from(sorted(GAMES)),
    rom=st.one_of(st.none(), ROMS),
    changes=st.lists(CHANGES, min_size=1, max_size=8),
    actions=st.lists(st.integers(0, 2), min_size=1, max_size=6),
)
@settings(max_examples=200, deadline=None)
def test_changed_states_are_refused_or_played(
    game: str,
    rom: bytes | None,
    changes: list[tuple[str, int, int]],
    actions: list[int],
) -> None:
    cartridge = GAMES[game].rom if rom is None else rom
    batch = begin(cartridge, like=cartridge)
    boys = Boys(cartridge, play_of(cartridge, ANY, frame_skip=1), batch, (144, 160), 0)
    boys.step(np.array([1]))
    state = boys.look()
    for name, where, value in changes:
        flat = state[name].reshape(-1)
        flat[where % flat.size] = value % 256**flat.itemsize // (1 + (flat.dtype.kind == "i"))
    try:
        loaded = boys.load(state)
    except ValueError as refused:
        assert "the state's" in str(refused)  # noqa: PT017
        assert "\n" not in str(refused)  # noqa: PT017
    else:
        assert len(loaded.rollout(np.array(actions)[:, None])["pc"]) == len(actions)


def test_a_refused_state_is_named_by_its_lane_and_field() -> None:
    boys = Boys.begin("catch", seeds(3))
    state = boys.look()
    state["ime"][1] = 2
    with pytest.raises(ValueError, match="lane 1: the state's ime cannot be 2"):
        boys.load(state)


def test_states_of_another_size_are_refused() -> None:
    boys = Boys.begin("catch", seeds(2))
    state, size = boys.look(), record_dtype(read_header(boys.rom)).itemsize
    rom, load = bytes_of(boys.rom)[None], type(boys.batch).load
    for records in (np.zeros((2, size - 1), np.uint8), np.zeros(size, np.uint8)):
        with pytest.raises(ValueError, match="records has shape"):
            load(boys.play, rom, records, state)
    with pytest.raises(ValueError, match="elapsed has shape"):
        load(boys.play, rom, np.zeros((3, size), np.uint8), state)
    with pytest.raises(ValueError, match="the state lacks elapsed"):
        load(boys.play, rom, np.zeros((2, size), np.uint8), {})
    with pytest.raises(ValueError, match="seeds has shape"):
        boys.load(state, seeds=seeds(3))
    with pytest.raises(ValueError, match="at least one lane"):
        load(boys.play, rom, np.zeros((0, size), np.uint8), {k: v[:0] for k, v in state.items()})


def test_wrong_arguments_of_a_step_are_refused_and_nothing_is_played() -> None:
    boys = Boys.begin("catch", seeds(2))
    before = boys.look()
    step, out = boys.batch.step, boys.buffers(2)
    good = np.zeros(2, np.int32)
    for actions, problem in (
        (np.array([0, 3], np.int32), "action 3: actions are 0 to 2"),
        (np.array([-1, 0], np.int32), "action -1: actions are 0 to 2"),
        (np.zeros(3, np.int32), "actions has shape"),
        (np.zeros(2, np.int64), "actions: expected dtype int32"),
    ):
        with pytest.raises(ValueError, match=problem):
            step(actions, out)
    for fields, problem in (
        ({"sound": out["pc"]}, "unknown field: sound"),
        ({"obs": out["obs"][:, ::2]}, "obs has shape"),
        ({"vram": out["vram"][:, :-1]}, "vram has shape"),
        ({"vram": out["oam"]}, "vram has shape"),
        ({"pc": out["pc"].astype(np.int16)}, "pc: expected dtype uint16"),
        ({"pc": np.zeros(4, np.uint16)[::2]}, "pc is not contiguous"),
        ({"hl": out["pc"], "pc": out["pc"]}, "pc: "),
        ({"obs": 3}, "obs: expected a NumPy array"),
        ({3: out["obs"]}, "names must be str"),
    ):
        with pytest.raises(ValueError, match=problem):
            step(good, fields)
    frozen = out["pc"].copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="pc: "):
        step(good, {"pc": frozen})
    with pytest.raises(ValueError, match="unknown auto_reset: later"):
        step(good, out, auto_reset="later")
    for name, value in boys.look().items():
        assert value.tobytes() == before[name].tobytes(), name


def test_a_rollout_of_no_steps_plays_nothing() -> None:
    boys = Boys.begin("catch", seeds(2))
    before = boys.look()["cycles"].tolist()
    assert boys.rollout(np.zeros((0, 2)))["obs"].shape == (0, 2, 144, 160)
    assert boys.look()["cycles"].tolist() == before


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"frame_skip": 0}, "a step has at least one frame"),
        ({"max_episode_steps": 0}, "an episode one step"),
        ({"buttons": []}, "at least one action"),
        ({"start_frames": 0}, "an episode's start"),
        ({"waits": 0}, "an episode's start"),
        ({"seed_frame": 17}, "an episode's start"),
        ({"observe": "some"}, "unknown observe: some"),
        ({"done": (0xC000, 0)}, r"the value at \$C000 has no bytes"),
        ({"reward": [("change", [(0xC000, 9)], 1.0)]}, "has 9 bytes; at most 8"),
        ({"reward": [("change", [], 1.0)]}, "a reward of kind change with 0 places"),
        ({"reward": [("old", [(0xC000, 1)], 1.0)]}, "a reward of kind old"),
        ({"record": [("a", 1, "uint8"), ("a", 1, "uint8")]}, "field a is there twice"),
        ({"record": [("a", 1, "float32")]}, "field a has the dtype float32"),
        ({"record": [("a", 2**62, "uint64")]}, "field a is too large"),
    ],
)
def test_rules_that_cannot_be_are_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        play_of(CATCH, GAMES["catch"].rules, **changed)


def test_values_anywhere_in_memory_are_read_without_harm() -> None:
    """The contract's rules name RAM only; these read the rest, and values across its end."""
    parts = tuple(Change(Value(address, 8)) for address in range(0, 0x10000, 509))
    boys = Boys.begin("breakout", seeds(1), rules=Rules(parts, Value(0xFFFF, 3), ((),)))
    assert np.isfinite(boys.step(np.zeros(1))["reward"]).all()
