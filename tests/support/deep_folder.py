"""A folder in a folder in a folder: no path of this length can be named."""

import os


def nested(folder, number):
    """Make so many folders in each other."""
    place = os.open(folder, os.O_RDONLY)
    for _ in range(number):
        os.mkdir("d", dir_fd=place)
        place, last = os.open("d", os.O_RDONLY, dir_fd=place), place
        os.close(last)
    os.close(place)
