"""Usage errors of emurust, each reported in one line; PyBoy's files as published."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from twinstep.contract import Contract
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.errors import UserError
from twinstep.oracles.emurust import upstream


def contract_of(**params: Any) -> Contract:
    return EMURUST.contract(EMURUST.params(params))


def cartridge(change: dict[int, int]) -> bytes:
    """A cartridge of 32 KB without a mapper, with these bytes changed."""
    rom = bytearray(0x8000)
    for at, byte in change.items():
        rom[at] = byte
    if 0x14D not in change:
        rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    return bytes(rom)


RULES = """
from twinstep.contracts.emurust.roms.memory import Bits, Change, New, Rules, Value
rules = Rules(
    reward=(Bits(Value(0xC102), 0.5), New((Value(0xC102),), 10.0), Change(Value(0xC109), 0.25)),
    actions=((), ("left",), ("right",)),
    seed=Value(0xC105, 2),
    start_frames=16,
)
"""


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rom": "nowhere.gb"}, "rom=nowhere.gb: no such game .*No such file"),
        ({"rules": "nowhere.py"}, "rules=nowhere.py: neither one of pokemon_red nor"),
        ({"frame_skip": 0}, "frame_skip=0: at least 1"),
        ({"rom": "random", "observe": "values"}, "observe=values: the rules of rom=random"),
    ],
)
def test_what_cannot_be_is_one_clear_line(params, message):
    with pytest.raises(UserError, match=message) as caught:
        contract_of(**params)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0x147: 0x10}, r"type \$10 has a clock"),
        ({0x147: 0x22}, r"type \$22 is not supported"),
        ({0x149: 9}, r"RAM size \$09 is not known"),
        ({0x14D: 0}, "checksum"),
    ],
)
def test_cartridges_that_cannot_be_played_are_refused(tmp_path, change, message):
    path = tmp_path / "game.gb"
    path.write_bytes(cartridge(change))
    with pytest.raises(UserError, match=message) as caught:
        contract_of(rom=str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = 1", "makes no"),
        ("1 / 0", "ZeroDivisionError"),
        (RULES.replace("0xC102", "0x8000"), r"\$8000 is not in WRAM"),
        (RULES.replace('"left"', '"lift"'), "no button is called 'lift'"),
        (RULES.replace("start_frames=16", "start_frames=0"), "start_frames"),
    ],
)
def test_rules_that_cannot_be_are_refused(tmp_path, text, message):
    path = tmp_path / "rules.py"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        contract_of(rules=str(path))


@pytest.fixture
def _installed() -> None:
    try:
        distribution("pyboy")
    except PackageNotFoundError:
        pytest.skip("pyboy is not installed")


@pytest.mark.usefixtures("_installed")
def test_a_changed_file_of_pyboys_is_told_in_one_line(monkeypatch):
    real = upstream._sha256

    def changed(path: Path) -> str:
        return "" if path.name == "METADATA" or "mb." in path.name else real(path)

    monkeypatch.setattr(upstream, "_sha256", changed)
    upstream.require.cache_clear()
    found = upstream.probe({})
    upstream.require.cache_clear()
    assert found.problem.endswith("is not as published")
    assert "\n" not in found.problem + found.mend
    assert found.pins == upstream.probe({}).pins


@pytest.mark.usefixtures("_installed")
def test_a_changed_list_of_pyboys_files_is_told(monkeypatch):
    files = upstream.listed(distribution("pyboy"))
    monkeypatch.setattr(upstream, "listed", lambda found: dict(list(files.items())[1:]))
    upstream.require.cache_clear()
    problem = upstream.probe({}).problem
    upstream.require.cache_clear()
    assert "list of files" in problem
