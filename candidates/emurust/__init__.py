"""EmuRust's candidates."""
