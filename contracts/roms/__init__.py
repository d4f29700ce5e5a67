"""Small Game Boy games of our own, and the assembler that they are written for."""
