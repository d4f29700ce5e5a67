"""Level 2 of the Game Boy: parts of it together, by small programs in the cartridge."""
