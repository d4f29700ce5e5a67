"""Walls around a process that is not trusted: namespaces, Landlock, seccomp and limits of Linux.

`view.View` says what the process sees. `view.walled` gives the command line that starts it behind
the walls. The rest runs in that process, before the program does: `start.py` is run by its
path with `-I -S`, needs nothing but the standard library, and builds the walls by `enter.py`.
"""
