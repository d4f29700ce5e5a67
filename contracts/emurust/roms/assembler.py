"""An assembler for the SM83: text in, cartridge image out; and a disassembler over the same table.

    count = $C100               ; a constant; hardware registers are constants too (see library.py)
    org $150
    start:                      ; a label
        ld a, 5
    .again:                     ; a local label; from outside it is start.again
        ld hl, count
        inc [hl]
        dec a
        jr nz, .again
        halt
    table:
        db 1, $FF, -1, 'x', "text", high(table)
        dw table, start.again + 1

* One statement to a line, `;` begins a comment, a label may share its line with a statement.
  Mnemonics and registers are written in lower case or upper case, as `opcodes.OPS` lists them:
  `[hl+]`, `ldh [n8], a`, `sub b`, `add a, b`. `stop` may leave out its byte.
* Numbers: 10, $1F, 0b101, 'c'. Operators: those of Python on whole numbers, `/` rounding down.
  `here` is the address of the statement, `low(x)`, `high(x)` are bytes of x, `bank(label)` is the
  bank that a label lies in. Labels may be used before they are defined, except where a size or a
  place depends on them (`org`, `ds`, `bank`). A constant is a name, `=`, an expression.
* `db` bytes and strings, `dw` words, `ds count, fill` a run of bytes, `pixels ".+#  #+."` a row of
  a tile, two bytes for eight dots of the shades ` .+#` from light to dark.
* `org address` continues at another address, `bank n` in bank n: bank 0 from $0000, others from
  $4000 on, where the MBC1 shows the bank that was switched to.

`assemble` returns the bytes of one contiguous block anywhere in memory, `cartridge` a whole ROM
with its header. The header's logo stays zero: it is Nintendo's, and PyBoy does not check it.
An opcode at $3FFE or $3FFF of bank 0 is refused in a cartridge, because PyBoy 2.8.1 fetches it from
the wrong place; `db` can still put one there.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .disassembler import Line, disassemble
from .expressions import FUNCTIONS, Mistake, Unknown, evaluate
from .opcodes import IMMEDIATES, OPS, Op

__all__ = [
    "MBC1",
    "ROM_ONLY",
    "AssemblyError",
    "Block",
    "Line",
    "Placed",
    "Source",
    "assemble",
    "cartridge",
    "disassemble",
]

BANK_SIZE = 0x4000
HEADER = range(0x104, 0x150)
#: Cartridge types of the header's byte $147.
ROM_ONLY, MBC1 = 0x00, 0x01

_LITERALS = {o for op in OPS for o in op.operands if o not in IMMEDIATES and not o.isdigit()}
_WORDS = {literal for literal in _LITERALS if literal.isalpha()} | {"af", "here", "sp"}
_DIRECTIVES = {"db", "dw", "ds", "org", "pixels"}
_SHADES = " .+#"
_MNEMONICS = {op.mnemonic for op in OPS}
_RESERVED = _WORDS | _MNEMONICS | _DIRECTIVES | set(FUNCTIONS)


class AssemblyError(ValueError):
    """A mistake in a source, with its file, line and text."""


class Source(NamedTuple):
    """A source text and its name in error messages."""

    name: str
    text: str


class Placed(NamedTuple):
    """One statement that put bytes somewhere: a row of the listing."""

    bank: int
    address: int
    data: bytes
    text: str
    is_code: bool


class Block(NamedTuple):
    """An assembly's result. `labels` maps names (`start`, `start.again`) to (bank, address)."""

    data: bytes
    labels: dict[str, tuple[int, int]]
    listing: list[Placed]

    def address(self, label: str) -> int:
        """The address of a label, as the processor sees it."""
        return self.labels[label][1]


def _shape(operand: str) -> str:
    """An operand of the table without its value: the key for looking up a source's operand."""
    if operand in _LITERALS:
        return operand
    return {"[n8]": "[n]", "[n16]": "[n]", "sp+e8": "sp+n"}.get(operand, "n")


_FORMS: dict[tuple[str, ...], list[Op]] = {}
for _op in OPS:
    _FORMS.setdefault((_op.mnemonic, *map(_shape, _op.operands)), []).append(_op)


def _split(text: str) -> list[str]:
    """Split at the commas outside quotes."""
    quoted = r"\"[^\"]*\"|'[^']*'"
    parts = [part.strip() for part in re.split(rf",(?=(?:[^\"']|{quoted})*$)", text)]
    if parts == [""]:
        return []
    if "" in parts:
        raise Mistake("an operand is missing")
    return parts


class _Assembly:
    """Two passes over the sources: the first for the labels' places, the second for the bytes."""

    def __init__(
        self, sources: Sequence[Source], at: int, constants: Mapping[str, int], banked: bool
    ) -> None:
        self.sources, self.start, self.banked = sources, at, banked
        self.values: dict[str, int] = dict(constants)
        self.labels: dict[str, tuple[int, int]] = {}
        self.listing: list[Placed] = []
        self.bytes: dict[tuple[int, int], int] = {}
        for self.emitting in (False, True):
            self._pass()

    def _pass(self) -> None:
        self.bank, self.here, self.scope = 0, self.start, ""
        self.seen: set[str] = set()
        for source in self.sources:
            for number, line in enumerate(source.text.splitlines(), 1):
                try:
                    self._line(line)
                except Mistake as mistake:
                    where = f"{source.name}:{number}"
                    raise AssemblyError(f"{where}: {mistake}\n    {line.strip()}") from None

    def _line(self, line: str) -> None:
        match = re.match(r"(?:[^;\"']|\"[^\"]*\"|'[^']*')*", line)
        code = match.group().strip() if match else ""
        if match and line[match.end() :][:1] not in ("", ";"):
            raise Mistake("a quote is not closed")
        if label := re.match(r"(\.?[A-Za-z_]\w*)\s*:", code):
            self._label(label[1])
            code = code[label.end() :].strip()
        if constant := re.match(r"([A-Za-z_]\w*)\s*=(?!=)", code):
            self._define(constant[1])
            self.values[constant[1]] = self._value(code[constant.end() :])
        elif code:
            head = re.match(r"\S+", code)
            assert head is not None
            self._statement(head.group().lower(), code[head.end() :].strip(), code)

    def _define(self, name: str) -> None:
        last = name.rpartition(".")[2]
        if last.lower() in _RESERVED or keyword.iskeyword(last):
            raise Mistake(f"{last!r} is reserved, choose another name")
        known = name in self.labels or name in self.values
        if name in self.seen or (known and not self.emitting):
            raise Mistake(f"{name!r} is defined twice")
        self.seen.add(name)

    def _label(self, name: str) -> None:
        if name.startswith("."):
            if not self.scope:
                raise Mistake(f"the local label {name!r} has no label before it")
            name = self.scope + name
        else:
            self.scope = name
        self._define(name)
        place = (self.bank, self.here)
        # The lengths of both passes are equal, and so are the places.
        assert not self.emitting or self.labels[name] == place, name
        self.labels[name] = place

    def _statement(self, head: str, rest: str, text: str) -> None:
        if head == "org":
            self.here = self._value(rest)
            self._inside(self.here, 0)
        elif head == "bank":
            self.bank = self._value(rest)
            if not self.banked or not 0 <= self.bank < 128:
                raise Mistake("banks are 0 to 127, and only a cartridge has them")
            self.here = BANK_SIZE if self.bank else 0
        elif head == "db":
            self._emit(b"".join(self._bytes(part) for part in _split(rest)), text)
        elif head == "dw":
            words = (self._late(part, -0x8000, 0xFFFF) for part in _split(rest))
            self._emit(b"".join((word & 0xFFFF).to_bytes(2, "little") for word in words), text)
        elif head == "ds":
            count, *fill = _split(rest)
            if (length := self._value(count)) < 0:
                raise Mistake(f"{length} bytes cannot be reserved")
            value = self._late(fill[0], -0x80, 0xFF) if fill else 0
            self._emit(bytes((value & 0xFF,)) * length, text)
        elif head == "pixels":
            row = re.fullmatch(rf'"([{_SHADES}]{{8}})"', rest)
            if not row:
                raise Mistake(f"pixels are eight of the characters {_SHADES!r}, in double quotes")
            shades = [_SHADES.index(dot) for dot in row[1]]
            planes = (
                sum((dot >> bit & 1) << 7 - x for x, dot in enumerate(shades)) for bit in (0, 1)
            )
            self._emit(bytes(planes), text)
        elif head in _MNEMONICS:
            self._instruction(head, _split(rest), text)
        else:
            raise Mistake(f"{head!r} is neither an instruction nor db, dw, ds, pixels, org, bank")

    def _instruction(self, mnemonic: str, operands: list[str], text: str) -> None:
        if mnemonic == "stop" and not operands:
            operands = ["0"]
        shapes, values = [mnemonic], []
        for operand in operands:
            small = re.sub(r"\s+", "", operand).lower()
            inside = re.fullmatch(r"\[(.*)\]", operand)
            offset = re.match(r"sp\s*(?=[+-])", operand, re.IGNORECASE)
            if small in _LITERALS:
                shapes.append(small)
            elif inside:
                shapes.append("[n]")
                values.append(inside[1])
            elif offset:
                shapes.append("sp+n")
                values.append(operand[offset.end() :])
            else:
                shapes.append("n")
                values.append(operand)
        forms = _FORMS.get(tuple(shapes))
        if forms is None:
            known = [op for op in OPS if op.mnemonic == mnemonic]
            first = tuple(shapes[1:2])
            alike = [op for op in known if tuple(map(_shape, op.operands[:1])) == first]
            some = "; ".join(dict.fromkeys(map(str, (alike or known)[:9])))
            raise Mistake(f"no such form of {mnemonic}. There are: {some}")
        op = forms[0]
        if len(forms) > 1:  # bit numbers and restart addresses choose among opcodes
            chosen = self._late(values.pop(0), 0, 0xFF)
            fits = [form for form in forms if str(chosen) in form.operands]
            if self.emitting and not fits:
                raise Mistake(f"{mnemonic} cannot have {chosen}")
            op = fits[0] if fits else op
        data = op.prefix + (self._immediate(op, values[0]) if values else b"")
        self._emit(data, text, is_code=True)

    def _immediate(self, op: Op, text: str) -> bytes:
        kind = op.immediate
        if kind in ("n16", "[n16]"):
            return (self._late(text, -0x8000, 0xFFFF) & 0xFFFF).to_bytes(2, "little")
        if kind == "[n8]":
            value = self._late(text, 0, 0xFFFF)
            if 0xFF < value < 0xFF00:
                raise Mistake(f"ldh reaches $FF00 to $FFFF, not ${value:X}")
        elif kind == "r8":
            away = self._late(text, -0x8000, 0xFFFF) - (self.here + 2)
            value = (away + 0x8000 & 0xFFFF) - 0x8000 if self.emitting else 0
            if not -128 <= value <= 127:
                raise Mistake(f"the target is {value} bytes away, jr reaches -128 to 127; use jp")
        else:
            value = self._late(text, -128, 127 if kind != "n8" else 255)
        return bytes((value & 0xFF,))

    def _bytes(self, text: str) -> bytes:
        if len(text) > 1 and text[0] == text[-1] == '"':
            if not text.isascii():
                raise Mistake("strings are ASCII")
            return text[1:-1].encode("ascii")
        return bytes((self._late(text, -128, 255) & 0xFF,))

    def _inside(self, address: int, length: int) -> None:
        low, high = (0, 0x10000) if not self.banked else (0, BANK_SIZE)
        if self.banked and self.bank:
            low, high = BANK_SIZE, 2 * BANK_SIZE
        if not low <= address <= high - length:
            place = f"bank {self.bank}, ${low:04X} to ${high - 1:04X}" if self.banked else "memory"
            raise Mistake(f"${address:04X} with {length} bytes is outside {place}")

    def _emit(self, data: bytes, text: str, is_code: bool = False) -> None:
        self._inside(self.here, len(data))
        if self.emitting:
            if self.banked and is_code and not self.bank and self.here in (0x3FFE, 0x3FFF):
                raise Mistake("an opcode at $3FFE or $3FFF, see the docstring of the assembler")
            for place, byte in enumerate(data, self.here):
                if self.banked and not self.bank and place in HEADER:
                    raise Mistake(f"${place:04X} belongs to the header, $0104 to $014F")
                if (self.bank, place) in self.bytes:
                    raise Mistake(f"${place:04X} of bank {self.bank} is filled already")
                self.bytes[self.bank, place] = byte
            self.listing.append(Placed(self.bank, self.here, data, text, is_code))
        self.here += len(data)

    # Expressions

    def _late(self, text: str, low: int, high: int) -> int:
        """A value that the first pass need not resolve."""
        try:
            value = self._value(text)
        except Unknown:
            if self.emitting:
                raise
            return 0
        if not low <= value <= high:
            name = "" if text.strip() == str(value) else f"{text.strip()} is "
            raise Mistake(f"{name}{value}, outside {low} to {high}")
        return value

    def _value(self, text: str) -> int:
        return evaluate(text, self.scope, self._name, self._bank)

    def _bank(self, label: str) -> int:
        if label not in self.labels:
            raise Unknown(f"{label!r} is not a label")
        return self.labels[label][0]

    def _name(self, name: str) -> int:
        if name == "here":
            return self.here
        if name in self.values:
            return self.values[name]
        if name in self.labels:
            return self.labels[name][1]
        raise Unknown(f"{name!r} is not defined{' before this line' * (not self.emitting)}")


def _sources(source: str | Source | Sequence[Source]) -> Sequence[Source]:
    if isinstance(source, str):
        return [Source("source", source)]
    return [source] if isinstance(source, Source) else source


def assemble(
    source: str | Source | Sequence[Source],
    at: int = 0,
    constants: Mapping[str, int] | None = None,
) -> Block:
    """The bytes from `at` to the last that the source places; gaps are zero.

    Raises AssemblyError with the file, line and text of the mistake.
    """
    done = _Assembly(_sources(source), at, constants or {}, banked=False)
    places = [place for _, place in done.bytes]
    if places and min(places) < at:
        raise AssemblyError(f"the source places bytes at ${min(places):04X}, before ${at:04X}")
    end = max(places, default=at - 1) + 1
    data = bytes(done.bytes.get((0, place), 0) for place in range(at, end))
    return Block(data, done.labels, done.listing)


def cartridge(
    source: str | Source | Sequence[Source],
    title: str = "",
    constants: Mapping[str, int] | None = None,
    banks: int = 2,
    kind: int | None = None,
    ram_size: int = 0,
) -> Block:
    """A ROM of at least `banks` banks of 16 KB, with header and both checksums.

    `kind` is the header's cartridge type: by default MBC1 for more than two banks, else ROM only.
    `ram_size` is the header's code at $149. Raises AssemblyError with the place of the mistake.
    """
    done = _Assembly(_sources(source), 0, constants or {}, banked=True)
    used = max((bank for bank, _ in done.bytes), default=0)
    count = 1 << (max(banks, used + 1, 2) - 1).bit_length()
    if len(title) > 15 or not title.isascii():
        raise AssemblyError(f"the title {title!r} is not ASCII of at most 15 characters")
    rom = bytearray(count * BANK_SIZE)
    for (bank, place), byte in done.bytes.items():
        rom[bank * BANK_SIZE + place % BANK_SIZE] = byte
    rom[0x134 : 0x134 + len(title)] = title.encode("ascii")
    rom[0x147] = (MBC1 if count > 2 else ROM_ONLY) if kind is None else kind
    rom[0x148] = count.bit_length() - 2
    rom[0x149] = ram_size
    rom[0x14A] = 1  # sold outside Japan
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    rom[0x14E:0x150] = (sum(rom) & 0xFFFF).to_bytes(2, "big")
    return Block(bytes(rom), done.labels, done.listing)
