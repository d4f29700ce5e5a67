"""Level 1 of the Game Boy: each part of it alone, by small programs in the cartridge."""
