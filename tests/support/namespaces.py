"""Whether this machine's kernel gives namespaces, asked apart from the walls that need them."""

import subprocess
import sys

import pytest

_ASKED = (
    "import ctypes, sys; c = ctypes.CDLL(None)\n"
    "sys.exit(c.unshare(0x10000000 | 0x00020000 | 0x20000000 | 0x40000000) != 0)"
)
GIVEN = (
    sys.platform == "linux"
    and subprocess.run([sys.executable, "-I", "-S", "-c", _ASKED], check=False).returncode == 0
)
#: A wall that does not stand where the kernel gives namespaces is a failure, not a skip.
needs_namespaces = pytest.mark.skipif(not GIVEN, reason="this kernel gives no user namespaces")
