"""A Rust tokenizer that separates code from comments and literals, as planting bugs needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Longer operators come before their beginnings.
_OPERATORS = (
    "<<=", ">>=", "..=", "...", "&&", "||", "<<", ">>", "<=", ">=", "==", "!=", "->", "=>", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=", "::", "..",
)  # fmt: skip
_PATTERN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*)
    |(?P<text>b?r(?P<fence>\#*)".*?"(?P=fence)
        |[bc]?"(?:[^"\\]|\\.)*"
        |b?'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.))')
    |(?P<lifetime>'[A-Za-z_]\w*)
    |(?P<number>0[xbo][0-9a-fA-F_]+(?:[iu](?:8|16|32|64|128|size))?
        |\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?(?:_?(?:[iu](?:8|16|32|64|128|size)|f32|f64))?)
    |(?P<word>(?:r\#)?[A-Za-z_]\w*)
    |(?P<sign>"""
    + "|".join(map(re.escape, _OPERATORS))
    + r"|[-+*/%^&|!<>=.,;:?@\#$()\[\]{}~])",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """kind: text, lifetime, number, word or sign. begin, end: byte offsets. apart: True if there is
    space on both sides, as rustfmt puts it around operators between two values.
    """

    kind: str
    text: str
    begin: int
    end: int
    apart: bool


def tokens(source: bytes) -> list[Token]:
    """Return a file's tokens without comments; ValueError if it is not Rust."""
    text = source.decode("latin-1")  # one character per byte; other letters are only in comments
    found: list[Token] = []
    place = 0
    while place < len(text):
        if text.startswith("/*", place):
            place = _comment_end(text, place)
            continue
        match = _PATTERN.match(text, place)
        if match is None:
            raise ValueError(f"no Rust at byte {place}: {text[place : place + 20]!r}")
        begin, place = place, match.end()
        kind = match.lastgroup or ""
        if kind == "fence":
            kind = "text"
        if kind != "skip":
            apart = text[begin - 1 : begin].isspace() and text[place : place + 1].isspace()
            found.append(Token(kind, match[0], begin, place, apart))
    return found


def _comment_end(text: str, begin: int) -> int:
    """Return the end of a comment, which may be nested."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, begin):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    raise ValueError("a comment without an end")


def closing(found: list[Token], opening: int) -> int:
    """Return the place of the bracket that closes the one at `opening`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth = 0
    for place in range(opening, len(found)):
        if found[place].kind == "sign":
            depth += (found[place].text in pairs) - (found[place].text in pairs.values())
            if not depth:
                return place
    raise ValueError("a bracket that is not closed")
