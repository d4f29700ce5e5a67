"""EmuRust as a candidate: frames, starts, states and cartridges follow the contract."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from twinstep.candidates.emurust.rust_emurust import EmuRust
from twinstep.contract import Contract
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.random_programs import random_program
from twinstep.errors import UserError
from twinstep.frames import Start, flatten
from twinstep.inputs.seeds import starts_of
from twinstep.tests.support.game_boys import bytes_of, need_the_module, seeds


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    need_the_module()


def contract_of(**params: Any) -> Contract:
    return EMURUST.contract(EMURUST.params(params))


def actions_of(contract: Contract, *shape: int) -> np.ndarray:
    action: Any = contract.action
    rng = np.random.default_rng(0)
    return rng.integers(0, action.n, (*shape, 1)).astype(np.int32)


def assert_alike(got: Any, expected: Any, where: Any = None) -> None:
    """Require that two frames have the same paths, each equal to the bit."""
    one, two = flatten(got), flatten(expected)
    assert one.keys() == two.keys()
    for path, value in one.items():
        assert value.tobytes() == np.ascontiguousarray(two[path]).tobytes(), (path, where)


@pytest.mark.parametrize("variant", EMURUST.variants, ids=lambda variant: variant.name)
def test_frames_have_the_layout_of_the_contract(variant: Any) -> None:
    contract = contract_of(**variant.params)
    rust = EmuRust(contract)
    state, first = rust.reset(starts_of(contract, seeds(2)))
    _, stepped = rust.step(state, actions_of(contract, 2))
    _, rolled = rust.rollout(state, actions_of(contract, 3, 2))
    for frame, leading in ((first, (2,)), (stepped, (2,)), (rolled, (3, 2))):
        found = {path: (value.dtype, value.shape) for path, value in flatten(frame).items()}
        layout = contract.layout().items()
        assert found == {path: (dtype, (*leading, *own)) for path, (dtype, own) in layout}
    hidden = {field.name for field in contract.hidden}
    assert hidden
    assert rust.frame(state).state.keys() == first.state.keys() | hidden


def h32(x: int) -> int:
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


@pytest.mark.parametrize("seed", [(0, 0), (1, 0), (0, 1), (2**32 - 1, 2**31), (77, 2**32 - 1)])
def test_the_seed_chooses_the_random_numbers_and_the_wait(tmp_path: Path, seed: Any) -> None:
    path = tmp_path / "rules.py"
    path.write_text(
        "from twinstep.contracts.emurust.roms.memory import Rules, Value\n"
        "rules = Rules(seed=Value(0xFFF0, 6), seed_frame=2, start_frames=3, waits=50)\n"
    )
    rom = tmp_path / "loop.gb"
    rom.write_bytes(looping())
    contract = contract_of(rom=str(rom), rules=str(path))
    rust = EmuRust(contract)
    one = np.array([seed], np.uint32)
    frame = rust.frame(rust.reset(Start(one))[0])
    key = h32(seed[0] ^ h32(seed[1]))
    poked = frame.state["hram"][0, 0x70:0x76].tobytes()
    assert poked == key.to_bytes(4, "little") + bytes(2)
    # The first frame ends at once. All others of a program that only loops are alike.
    frames = 3 + h32(key ^ 0x9E3779B9) % 50
    assert round(int(frame.state["cycles"][0]) / 70224) in (frames - 1, frames)


def looping() -> bytes:
    """Return a cartridge that only loops, forever."""
    rom = bytearray(0x8000)
    rom[0x100:0x102] = bytes([0x18, 0xFE])
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    return bytes(rom)


def test_a_state_with_its_hidden_fields_can_be_loaded() -> None:
    contract = contract_of(rom="explorer")
    rust = EmuRust(contract)
    state, _ = rust.reset(starts_of(contract, seeds(3)))
    actions = actions_of(contract, 12, 3)
    state, _ = rust.rollout(state, actions[:6])
    fields = rust.frame(state).state
    loaded = rust.load(fields, seeds=seeds(3))
    _, expected = rust.rollout(state, actions[6:])
    assert_alike(rust.rollout(loaded, actions[6:])[1], expected)
    assert loaded.seed.tolist() == seeds(3).tolist()
    assert rust.load(fields).seed.tolist() == [[0, 0]] * 3


def test_advance_plays_what_a_rollout_plays() -> None:
    contract = contract_of(rom="poll_flag", observe="values")
    rust = EmuRust(contract)
    one, other = (rust.reset(starts_of(contract, seeds(2)))[0] for _ in range(2))
    actions = actions_of(contract, 5, 2)
    rust.rollout(one, actions)
    assert rust.advance(other, actions) is other
    assert_alike(rust.frame(other), rust.frame(one))


def test_a_start_brings_its_cartridge() -> None:
    contract = contract_of(rom="given", max_episode_steps=5)
    rust = EmuRust(contract)
    roms = [random_program(1), GAMES["catch"].rom, random_program(1), random_program(2)]
    brought = {"rom": np.stack([bytes_of(rom) for rom in roms])}
    actions = actions_of(contract, 4, 4)
    _, whole = rust.rollout(rust.reset(Start(seeds(4), brought))[0], actions)
    for lane in range(4):
        one = Start(seeds(4)[lane : lane + 1], {"rom": brought["rom"][lane : lane + 1]})
        _, alone = rust.rollout(rust.reset(one)[0], actions[:, lane : lane + 1])
        rows = {path: value[:, lane : lane + 1] for path, value in flatten(whole).items()}
        for path, value in flatten(alone).items():
            assert value.tobytes() == np.ascontiguousarray(rows[path]).tobytes(), (path, lane)
    assert not hasattr(rust, "load")


def test_a_frames_instructions_are_counted(tmp_path: Path) -> None:
    """An endless jump takes 12 of a frame's 70,224 cycles each time; a HALT runs no more.

    The first frame is a short one, so the mean is a little less.
    """
    for code, count in ((b"\x18\xfe", 70_224 / 12), (b"\xf3\x76\x18\xfd", 0)):
        rom = bytearray(0x8000)
        rom[0x100 : 0x100 + len(code)] = code
        rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
        path = tmp_path / f"{count:.0f}.gb"
        path.write_bytes(rom)
        found, _ = EmuRust(contract_of(rom=str(path))).facts().values()
        assert found == pytest.approx(count, abs=6)
    assert EmuRust(contract_of(rom="random")).facts() == {}


@pytest.mark.parametrize("game", GAMES)
def test_an_environment_takes_less_than_64_kilobytes(game: str) -> None:
    contract = contract_of(rom=game)
    rust = EmuRust(contract)
    state, _ = rust.reset(starts_of(contract, seeds(2)))
    # The least size of a picture and all memory.
    assert 144 * 160 + 2 * 8192 < state.bytes_per_lane < 64 * 1024
    assert state.bytes_per_lane / 1024 in rust.facts().values()


def test_cartridge_ram_is_counted_among_an_environments_bytes(tmp_path: Path) -> None:
    bytes_taken = []
    for size in (2, 3):
        rom = bytearray(0x8000)
        rom[0x147], rom[0x149] = 0x03, size
        rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
        path = tmp_path / f"{size}.gb"
        path.write_bytes(rom)
        contract = contract_of(rom=str(path))
        state, _ = EmuRust(contract).reset(starts_of(contract, seeds(1)))
        bytes_taken.append(state.bytes_per_lane)
    assert bytes_taken[1] - bytes_taken[0] == (32 - 8) * 1024


#: Plays a cartridge in a thread with a small stack.
SMALL_STACK = """
import sys, threading
import numpy as np
from twinstep.candidates.emurust.rust_emurust import EmuRust
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.frames import Start
rust = EmuRust(EMURUST.contract(EMURUST.params({"rom": sys.argv[1]})))
state, _ = rust.reset(Start(np.zeros((1, 2), np.uint32), {}))
threading.stack_size(256 * 1024)
thread = threading.Thread(target=rust.advance, args=(state, np.zeros((4, 1, 1), np.int32)))
thread.start()
thread.join()
"""


def test_a_long_stretch_of_instructions_takes_no_stack(tmp_path: Path) -> None:
    """Each op calls the next one: with the LCD off 17,000 calls deep, if they were no jumps."""
    rom = bytearray(0x8000)
    rom[0x100:0x105] = 0xAF, 0xE0, 0x40, 0x18, 0x7B  # xor a; ldh [LCDC], a; jr 0180
    block = bytes([0x04] * 100 + [0x18, 0])  # inc b, again and again; jr to what follows
    rom[0x180 : 0x180 + 100 * len(block)] = 100 * block
    at = 0x180 + 100 * len(block)
    rom[at : at + 3] = 0xC3, 0x80, 0x01
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    path = tmp_path / "long.gb"
    path.write_bytes(rom)
    command = [sys.executable, "-c", SMALL_STACK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_wrong_cartridges_are_one_line() -> None:
    rust = EmuRust(contract_of(rom="given"))
    broken = np.zeros((1, 0x8000), np.uint8)
    with pytest.raises(UserError, match=r"^rom=given: the header's checksum at \$14D is [^\n]*$"):
        rust.reset(Start(seeds(1), {"rom": broken}))


def test_wrong_actions_are_refused() -> None:
    contract = contract_of(rom="catch")
    rust = EmuRust(contract)
    state, _ = rust.reset(Start(seeds(2)))
    with pytest.raises(ValueError, match="action 3: actions are 0 to 2"):
        rust.step(state, np.array([[0], [3]], np.int32))
    with pytest.raises(ValueError, match="dtype int64"):
        rust.step(state, np.zeros((2, 1), np.int64))
    with pytest.raises(ValueError, match="shape"):
        rust.step(state, np.zeros((3, 1), np.int32))


def test_the_rules_of_pokemon_red_fit_any_cartridge(tmp_path: Path) -> None:
    """They have every kind of reward, and values of 19 bytes."""
    rom = tmp_path / "any.gb"
    rom.write_bytes(looping())
    contract = contract_of(rom=str(rom), rules="pokemon_red", observe="values", frame_skip=1)
    rust = EmuRust(contract)
    state, first = rust.reset(Start(seeds(1)))
    assert np.unpackbits(first.state["seen"], -1).sum(-1).tolist() == [[1, 1]]
    _, frame = rust.step(state, np.zeros((1, 1), np.int32))
    assert frame.reward.tolist() == [[0.0]]
    fields = rust.frame(state).state
    fields["wram"][0, 0xD2F7 - 0xC000 :][:19] = 0xFF
    assert rust.load(fields).lanes == 1
