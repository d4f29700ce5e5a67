"""Small homebrew Game Boy games, and their assembler.

opcodes.py        the processor's 500 instructions
assembler.py      text to bytes, with expressions.py and disassembler.py
library.py        code that the games share; texts in asm/start.asm, asm/routines.asm
memory.py         Value, Change, Game: where a game keeps score, lives, seed
games.py          GAMES: catch, explorer, breakout, heavy, and catch with three ways to poll
"""
