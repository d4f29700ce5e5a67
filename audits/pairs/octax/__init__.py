"""octax's CHIP-8 against chip8py's, one kind of instruction a pair."""
