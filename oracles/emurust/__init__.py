"""Bridge to PyBoy, the reference of emurust."""
