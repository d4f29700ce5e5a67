"""Mutation operators for Rust source.

The operators are those of `python_operators`, located in the tokens of formatted source: an
operator between two values has space around it, one of generics, references or signs has none.
Types, signatures, attributes, imports, tests and macro arguments are not mutated: `assert!`,
`panic!` and the like compute nothing. A mutant that does not compile does not count.

| operator | edit |
|---|---|
| comparison | at the edge, and the negation |
| arithmetic | `+` and `-`, `*` to `+`, `/` to `*`, `%` to `/`, shifts, `^` to `|`, also with `=`;
  `wrapping_add` and `wrapping_sub`; `..=` to `..` |
| and-or | `&&` and `||`, `&` and `|`, also with `=` |
| constant | + 1; true and false |
| index | + 1 of a number in square brackets after a value |
| where-swap | the condition of an `if` negated |
| clip-drop | `.min(x)`, `.max(x)` and `.clamp(x, y)` dropped |
| minus-drop | `-x` to `x` |
| not-drop | `!x` to `x` |
"""

from __future__ import annotations

import re

from twinstep.mutation.python_operators import Mutant, Site, named
from twinstep.mutation.rust_tokens import Token, closing, tokens

_BETWEEN = {
    "<": ("comparison", "<=", ">="), "<=": ("comparison", "<", ">"),
    ">": ("comparison", ">=", "<="), ">=": ("comparison", ">", "<"),
    "==": ("comparison", "!="), "!=": ("comparison", "=="),
    "+": ("arithmetic", "-"), "-": ("arithmetic", "+"), "*": ("arithmetic", "+"),
    "/": ("arithmetic", "*"), "%": ("arithmetic", "/"), "<<": ("arithmetic", ">>"),
    ">>": ("arithmetic", "<<"), "^": ("arithmetic", "|"), "+=": ("arithmetic", "-="),
    "-=": ("arithmetic", "+="), "*=": ("arithmetic", "+="), "/=": ("arithmetic", "*="),
    "%=": ("arithmetic", "/="), "<<=": ("arithmetic", ">>="), ">>=": ("arithmetic", "<<="),
    "^=": ("arithmetic", "|="), "&&": ("and-or", "||"), "||": ("and-or", "&&"),
    "&": ("and-or", "|"), "|": ("and-or", "&"), "&=": ("and-or", "|="), "|=": ("and-or", "&="),
}  # fmt: skip
_CALLS = {
    "wrapping_add": "wrapping_sub", "wrapping_sub": "wrapping_add",
    "overflowing_add": "overflowing_sub", "overflowing_sub": "overflowing_add",
}  # fmt: skip
_LIMITS = ("min", "max", "clamp")
#: Words after which a sign is a unary operator.
_NO_VALUE = ("return", "in", "if", "else", "match", "while", "break", "as", "mut", "move", "let")
#: Items that compute nothing: their body, or the whole line.
_DECLARED = ("struct", "enum", "union")
_LINES = ("use", "extern", "type", "mod")
_NUMBER = re.compile(r"(0[xbo])?([0-9a-fA-F_.]+?)(?:_?([iu](?:8|16|32|64|128|size)|f32|f64))?$")


def rust_mutants_of(source: bytes, path: str) -> list[Mutant]:
    """Return all mutants of a Rust file in line order; ValueError if it is not Rust."""
    return named(_Finder(source).sites(), source, path, "")


class _Finder:
    """Walks the tokens of one file."""

    def __init__(self, source: bytes) -> None:
        self._source, self._tokens = source, tokens(source)
        self._sites: list[Site] = []
        self._symbol, self._symbol_end = "", -1

    def sites(self) -> list[Site]:
        """Return the sites of the file."""
        place, brackets = 0, list[bool]()
        while place < len(self._tokens):
            after = self._left_alone(place)
            if after > place:
                place = after
                continue
            token = self._tokens[place]
            if place > self._symbol_end:
                self._symbol = ""
            if token.text == "[" and token.kind == "sign":
                brackets.append(self._value_before(place))
            elif token.text == "]" and token.kind == "sign":
                brackets.pop()
            if token.kind == "number":
                self._number(place, bool(brackets) and brackets[-1])
            elif token.kind == "word":
                self._word(place)
            elif token.kind == "sign":
                self._sign(place)
            place += 1
        return self._sites

    # ---- what is left alone ----------------------------------------------------------------

    def _left_alone(self, place: int) -> int:
        """Return the place after a construct that begins here and computes nothing, or this one."""
        found, text = self._tokens, self._tokens[place].text
        following = [t.text for t in found[place + 1 : place + 3]] + ["", ""]
        if text == "#" and "[" in following[:2]:
            return self._attribute(place)
        if found[place].kind == "word":
            if text in _LINES and not (text == "extern" and following[1] == "fn"):
                return self._past(place, ";", "{") if text != "mod" else self._past_head(place)
            if text in _DECLARED and self._tokens[place + 1].kind == "word":
                end = self._until(place, "{", ";")
                return closing(found, end) + 1 if found[end].text == "{" else end + 1
            if text in ("impl", "trait", "fn"):
                return self._head(place)
            if text in ("let", "const", "static") and following[0] != "{":
                return self._annotation(place)
            if following[0] == "!" and following[1] in ("(", "[", "{") and text != "matches":
                return closing(found, place + 2) + 1
        if text == "::" and following[0] == "<":
            return self._generics(place + 1)
        if text == ";" and self._in_square(place):
            return self._until(place, "]")  # an array's length
        return place

    def _attribute(self, place: int) -> int:
        """Skip an attribute; after a test attribute the item too."""
        found = self._tokens
        opening = place + 1 if found[place + 1].text == "[" else place + 2
        end = closing(found, opening)
        words = [t.text for t in found[opening:end]]
        if "test" in words and ("cfg" in words or len(words) == 2):
            last = self._until(end + 1, "{", ";")
            return closing(found, last) + 1 if found[last].text == "{" else last + 1
        return end + 1

    def _head(self, place: int) -> int:
        """Skip the head of a function, an implementation or a trait; note a function's name."""
        end = self._until(place, "{", ";")
        name = self._tokens[place + 1].text
        if self._tokens[place].text == "fn" and place > self._symbol_end:
            self._symbol = name
            body = self._tokens[end].text == "{"
            self._symbol_end = closing(self._tokens, end) if body else end
        return end + 1

    def _annotation(self, place: int) -> int:
        """Skip a pattern and its type, up to the value."""
        end = self._until(place, "=", ";", "{")
        if self._tokens[end].text == "=" and any(t.text == ":" for t in self._tokens[place:end]):
            return end
        return place

    def _past(self, place: int, *ends: str) -> int:
        end = self._until(place, *ends)
        return closing(self._tokens, end) + 1 if self._tokens[end].text == "{" else end + 1

    def _past_head(self, place: int) -> int:
        return self._until(place, ";", "{") + 1

    def _until(self, place: int, *ends: str) -> int:
        """Return the place of the next of these signs outside brackets, or of the last token."""
        depth = 0
        for at in range(place, len(self._tokens)):
            token = self._tokens[at]
            if token.kind != "sign":
                continue
            if not depth and token.text in ends:
                return at
            depth += (token.text in "([") - (token.text in ")]")
        return len(self._tokens) - 1

    def _generics(self, place: int) -> int:
        depth = 0
        for at in range(place, len(self._tokens)):
            text = self._tokens[at].text
            depth += {"<": 1, "<<": 2, ">": -1, ">>": -2}.get(text, 0)
            if depth <= 0:
                return at + 1
        return place

    def _in_square(self, place: int) -> bool:
        depth = 0
        for at in range(place - 1, -1, -1):
            text = self._tokens[at].text
            if text in ("]", ")", "}"):
                depth += 1
            elif text in ("[", "(", "{"):
                if not depth:
                    return text == "["
                depth -= 1
        return False

    def _value_before(self, place: int) -> bool:
        """Return True if a value ends just before a place."""
        before = self._tokens[place - 1] if place else None
        if before is None or before.text in _NO_VALUE:
            return False
        return before.kind in ("word", "number", "text") or before.text in (")", "]", "?")

    # ---- what is found ---------------------------------------------------------------------

    def _number(self, place: int, indexing: bool) -> None:
        token = self._tokens[place]
        match = _NUMBER.match(token.text)
        if match is None:
            return
        base, digits, kind = match[1] or "", match[2].replace("_", ""), match[3] or ""
        if "." in digits or kind.startswith("f") or ("e" in digits and not base):
            new = repr(float(digits) + 1) + kind
        else:
            value = int(digits, {"0x": 16, "0b": 2, "0o": 8}.get(base, 10)) + 1
            new = {"0x": hex, "0b": bin, "0o": oct}.get(base, str)(value) + kind
        self._add("index" if indexing else "constant", token, new)

    def _word(self, place: int) -> None:
        token, found = self._tokens[place], self._tokens
        if token.text in ("true", "false"):
            self._add("constant", token, "false" if token.text == "true" else "true")
        elif token.text in _CALLS:
            self._add("arithmetic", token, _CALLS[token.text])
        elif token.text in _LIMITS and place and found[place - 1].text == ".":
            if found[place + 1].text == "(":
                end = found[closing(found, place + 1)].end
                edit = (found[place - 1].begin, end, b"")
                self._edit("clip-drop", f"{token.text} dropped", token, edit)
        elif token.text == "if" and found[place + 1].text != "let":
            end = self._until(place + 1, "{", "=>", ",")
            if found[end].text == "{" and not any(t.text == "let" for t in found[place:end]):
                begin, last = found[place + 1].begin, found[end - 1].end
                edits = (begin, begin, b"!("), (last, last, b")")
                self._edit("where-swap", "condition negated", token, *edits)

    def _sign(self, place: int) -> None:
        token = self._tokens[place]
        value = self._value_before(place)
        if token.text in _BETWEEN and token.apart and value and not self._in_pattern(place):
            operator, *others = _BETWEEN[token.text]
            for new in others:
                self._add(operator, token, new)
        elif token.text in ("-", "!") and not value and place + 1 < len(self._tokens):
            operator = "minus-drop" if token.text == "-" else "not-drop"
            self._edit(operator, f"{token.text} dropped", token, (token.begin, token.end, b""))
        elif token.text == "..=":
            self._add("arithmetic", token, "..")

    def _in_pattern(self, place: int) -> bool:
        """Return True if a `|` joins patterns of a `match`."""
        if self._tokens[place].text != "|":
            return False
        end = self._until(place, "=>", ";", "{", "}", "=", ",")
        between = {t.text for t in self._tokens[place:end]}
        return self._tokens[end].text == "=>" and "if" not in between

    def _add(self, operator: str, token: Token, new: str) -> None:
        edit = (token.begin, token.end, new.encode())
        self._edit(operator, f"{token.text} to {new}", token, edit)

    def _edit(self, operator: str, what: str, token: Token, *edits: tuple[int, int, bytes]) -> None:
        line = self._source.count(b"\n", 0, token.begin) + 1
        self._sites.append(Site(operator, what, line, self._symbol, edits))
