"""Run `python -m MODULE` in a forked child of a process that has imported pytest and twinstep.

A child of its own costs a second of imports and of rewritten asserts, a fork none of it, and it is
a process all the same: it may exit, be killed or fill a disk, and leaves nothing behind. The server
never imports a project's own package, JAX or a candidate. This file is also the server's script.
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

#: Variables that are read when an interpreter starts, or when NumPy is imported.
_READ_AT_START = ("PYTHON", "LD_", "MALLOC_", "OMP_", "OPENBLAS_")
_PROJECT = '[tool.twinstep.envs]\nduel = "twinstep.tests.toys.duel:DUEL"\n'
_LOADED = (
    "--pyargs", "twinstep.properties.test_modules", "twinstep.interactions.test_batches",
    "twinstep.rollouts.test_lockstep", "twinstep.rollouts.test_drivers", "--env", "duel",
    "--candidate", "vector", "--collect-only", "-q", "-p", "no:cacheprovider", "-p",
    "no:hypothesispytest",
)  # fmt: skip


def run(module, *arguments, folder, env, timeout, fork=True):
    """Run a module as `python -m` does; return a CompletedProcess, with the output as text.

    env: the whole environment. fork: False for a new interpreter, as where a test is about what is
    imported. Where a variable differs that only a new interpreter reads, the child is one anyway.
    """
    if not fork or _at_start(env) != _at_start(_environ()):
        return subprocess.run(
            [sys.executable, "-m", module, *arguments], cwd=folder, env=env, capture_output=True,
            text=True, timeout=timeout,
        )  # fmt: skip
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        code = _server().run(module, arguments, folder, env, (out.fileno(), err.fileno()), timeout)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess([sys.executable, "-m", module, *arguments], code, *texts)


def _at_start(env):
    return {name: env[name] for name in env if env[name] and name.startswith(_READ_AT_START)}


def _environ():
    # A stale .pyc would stand for a file edited twice in one second.
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}


class _Server:
    """The client's end: one request at a time."""

    def __init__(self):
        here, there = socket.socketpair()
        command = [sys.executable, "-P", __file__, str(there.fileno())]
        self._process = subprocess.Popen(
            command, env=_environ(), pass_fds=[there.fileno()], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        there.close()
        self._socket = here
        atexit.register(self.close)

    def run(self, module, arguments, folder, env, outputs, timeout):
        """Return the exit code, negative for a signal as subprocess has it."""
        request = {"run": [module, *map(str, arguments)], "folder": str(folder), "env": dict(env)}
        data = json.dumps(request).encode()
        socket.send_fds(self._socket, [len(data).to_bytes(8, "big")], outputs)
        self._socket.sendall(data)
        self._socket.settimeout(timeout)
        try:
            answer = self._socket.recv(16)
        except BaseException:
            global _running
            _running = None
            self._process.kill()  # it waits for the child
            self.close()
            raise
        assert answer, "the server has ended"
        return int(answer)

    def close(self):
        self._socket.close()
        self._process.wait()


_running = None


def _server():
    global _running
    if _running is None:
        _running = _Server()
    return _running


def _serve(place):
    """Load what every run needs, then fork at each request; in the child return what to run."""
    # Ctrl-C is the child's.
    interrupt, path = signal.signal(signal.SIGINT, signal.SIG_IGN), list(sys.path)
    end = socket.socket(fileno=place)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pyproject.toml").write_text(_PROJECT)
        os.chdir(folder)
        import pytest

        code = pytest.main(list(_LOADED))
        assert not code, code
        os.chdir("/")
    sys.path[:] = path
    assert not {"jax", "hypothesis", "fastduel"} & sys.modules.keys()
    while True:
        size, outputs, _, _ = socket.recv_fds(end, 8, 2)
        if not size:
            os._exit(0)
        data = b""
        while len(data) < int.from_bytes(size, "big"):
            data += end.recv(1 << 16)
        request = json.loads(data)
        child = os.fork()
        if not child:
            signal.signal(signal.SIGINT, interrupt)
            end.close()
            for target, output in enumerate(outputs, 1):
                os.dup2(output, target)
        for output in outputs:
            os.close(output)
        if not child:
            return request
        _, status = os.waitpid(child, 0)
        end.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request):
    """Be the process that `python -m` starts in a folder."""
    module, *arguments = request["run"]
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    sys.path.insert(0, request["folder"])
    # pytest-xdist hands its workers the path of the moment at which it was imported.
    sys.modules["xdist.plugin"]._sys_path[:] = sys.path
    sys.argv = [module, *arguments]
    # The asserts of what is imported already have been rewritten here; the warning would be an
    # error under this repository's settings.
    rewrite = sys.modules["_pytest.assertion.rewrite"].AssertionRewritingHook
    rewrite._warn_already_imported = lambda *_: None
    del sys.modules["__main__"]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _become(_serve(int(sys.argv[1])))
