"""A walled program reaches nothing of the outside; without its walls, each test's program does."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import twinstep
from twinstep._lib.spawn import child_command
from twinstep.tests.support.namespaces import needs_namespaces
from twinstep.walls.enter import UNBUILT
from twinstep.walls.standing import standing
from twinstep.walls.view import SYSTEM, View, python_folders, variables, walled

pytestmark = needs_namespaces
PYTHON = (*SYSTEM, *python_folders())


def _start(program, keep=(), **view):
    words = walled([os.path.realpath(sys.executable), "-I", "-c", program])
    env = variables(View(**{"read": PYTHON, **view}))
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env=env, stdout=pipe, stderr=pipe, text=True, pass_fds=keep)


def _said(program, **view):
    """Run a program behind walls; return what it prints."""
    child = _start(program, **view)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    return out.strip()


def _tried(statement, imports="os", **view):
    """Return the name of the error that a statement raises behind walls, "" for none."""
    return _said(
        f"import {imports}\ntry:\n    {statement}\nexcept Exception as error:\n"
        "    print(type(error).__name__, getattr(error, 'errno', ''))",
        **view,
    )


def test_a_file_outside_the_view_does_not_exist(tmp_path):
    secret = tmp_path / "verdict.json"
    secret.write_text("equal")
    assert _tried(f"open({str(secret)!r})") == "FileNotFoundError 2"
    assert _said(f"print(open({str(secret)!r}).read())", read=(*PYTHON, str(secret))) == "equal"


def test_no_process_of_the_outside_is_seen():
    seen = _said("import os; print(*sorted(p for p in os.listdir('/proc') if p.isdigit()))")
    assert seen == "1 2"


@pytest.mark.parametrize("name", ["net", "pid", "ipc", "uts", "mnt", "user", "cgroup"])
def test_every_namespace_is_its_own(name):
    inside = _said(f"import os; print(os.readlink('/proc/self/ns/{name}'))")
    assert inside.startswith(f"{name}:[")
    assert inside != os.readlink(f"/proc/self/ns/{name}")


def test_the_outside_is_nowhere_in_the_whole_tree(tmp_path):
    """Not in the old root folder either, which was there while the walls were built."""
    (tmp_path / "verdict-of-the-outside").write_text("equal")
    (tmp_path / "mine").mkdir()
    looks = (
        "import os\nfor base, folders, files in os.walk('/'):\n"
        "    if base == '/proc': folders[:] = []\n"
        "    if 'verdict-of-the-outside' in files: print(base)\nprint('looked')"
    )
    # As the owner of these files, who could read them.
    assert _said(looks, write=(str(tmp_path / "mine"),)) == "looked"


@pytest.mark.parametrize("owner", [False, True], ids=["no file's owner", "the files' owner"])
def test_memory_and_environment_of_the_process_that_built_the_walls_are_closed(tmp_path, owner):
    """Also where the program has to be the same user, to write in a folder."""
    view = {"write": (str(tmp_path),)} if owner else {}
    for name in ("environ", "mem", "maps", "fd/0", "cwd/x", "root/etc/passwd"):
        tried = _tried(f"open('/proc/1/{name}', 'rb').read()", **view)
        assert tried.startswith("PermissionError"), name


def test_settings_of_the_kernel_are_read_only(tmp_path):
    """They belong to root, and root stays root to them in a namespace."""
    for name in ("sys/kernel/core_pattern", "sys/vm/drop_caches"):
        tried = _tried(f"os.open('/proc/{name}', os.O_WRONLY)", write=(str(tmp_path),))
        assert tried == "OSError 30", name


def test_nothing_that_is_read_can_be_written(tmp_path):
    (tmp_path / "engine.py").write_text("x = 1")
    (tmp_path / "engine.py").chmod(0o666)
    tmp_path.chmod(0o777)
    read = (*PYTHON, str(tmp_path))
    for statement in (
        f"open('{tmp_path}/engine.py', 'a')",
        f"open('{tmp_path}/new', 'w')",
        f"os.remove('{tmp_path}/engine.py')",
        f"os.chmod('{tmp_path}/engine.py', 0o777)",
        f"os.utime('{tmp_path}/engine.py', (1, 1))",
        "open('/new', 'w')",
        "os.mkdir('/dev/new')",
    ):
        assert _tried(statement, read=read).endswith((" 30", " 13")), statement
    assert (tmp_path / "engine.py").read_text() == "x = 1"


def test_the_scratch_ends_with_the_program():
    name = f"left-{os.getpid()}"
    assert _said(f"open('/tmp/{name}', 'w').write('x'); print(1)") == "1"
    assert not Path("/tmp", name).exists()


def test_what_is_hidden_in_the_view_is_empty(tmp_path):
    (tmp_path / "oracles").mkdir()
    (tmp_path / "oracles" / "pong.h").write_text("reference")
    (tmp_path / "oracle.py").write_text("reference")
    hide = (str(tmp_path / "oracles"), str(tmp_path / "oracle.py"))
    said = _said(
        f"import os; print(os.listdir('{tmp_path}/oracles'), repr(open('{tmp_path}/oracle.py')"
        f".read()))",
        read=(*PYTHON, str(tmp_path)),
        hide=hide,
    )
    assert said == "[] ''"
    assert _tried(f"open('{tmp_path}/oracles/x', 'w')", read=(*PYTHON, str(tmp_path)), hide=hide)


def test_a_folder_to_write_in_is_shown_inside_a_hidden_one(tmp_path):
    (tmp_path / "key").write_text("secret")
    mine = tmp_path / "agent"
    mine.mkdir()
    said = _said(
        f"import os; open('{mine}/a', 'w').write('1'); print(os.listdir('{tmp_path}'))",
        read=(*PYTHON, str(tmp_path.parent)),
        hide=(str(tmp_path),),
        write=(str(mine),),
    )
    assert (said, (mine / "a").read_text()) == ("['agent']", "1")


def test_a_link_made_inside_leads_nowhere_outside(tmp_path):
    secret, mine = tmp_path / "secret", tmp_path / "mine"
    secret.write_text("key")
    mine.mkdir()
    link = f"os.symlink('{secret}', '{mine}/link')"
    assert _tried(f"{link}; open('{mine}/link')", write=(str(mine),)) == "FileNotFoundError 2"


def test_a_folder_is_shown_at_another_place_and_its_own_is_not_there(tmp_path):
    """A check's folder would tell a candidate that it is checked."""
    check = tmp_path / "check-1"
    (check / "pkg").mkdir(parents=True)
    (check / "pkg" / "a.py").write_text("1")
    (check / "pkg" / "oracle.py").write_text("2")
    (check / "link").symlink_to("pkg")
    view = {
        "read": (*PYTHON, str(check / "pkg"), str(check / "link")),
        "hide": (str(check / "pkg" / "oracle.py"),),
        "moved": ((str(check), "/home/user/project"),),
    }
    said = _said(
        "import os; at = '/home/user/project'\n"
        "print(open(f'{at}/pkg/a.py').read(), open(f'{at}/link/a.py').read(), "
        f"repr(open(f'{{at}}/pkg/oracle.py').read()), os.path.exists('{check}'))",
        **view,
    )
    assert said == "1 1 '' False"


def test_links_on_the_way_to_what_is_read_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("1")
    (tmp_path / "link").symlink_to("real")
    read = (*PYTHON, str(tmp_path / "link"), str(tmp_path / "not there"))
    assert _said(f"print(open('{tmp_path}/link/a').read())", read=read) == "1"


@pytest.mark.parametrize("network", [False, True])
def test_the_network_is_there_only_where_it_is_allowed(network):
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        tried = _tried(
            f"socket.create_connection(('127.0.0.1', {port}), 5)", "socket", network=network
        )
    assert tried == ("" if network else "OSError 97")


def test_a_socket_of_the_outside_without_a_file_is_out_of_reach():
    """Abstract names belong to a network namespace, and Landlock keeps them inside too."""
    name = f"\\0twinstep-{os.getpid()}"
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(name.replace("\\0", "\0"))
        server.listen()
        tried = _tried(f"socket.socket(socket.AF_UNIX).connect('{name}')", "socket")
    assert tried.startswith("ConnectionRefusedError") or tried.startswith("PermissionError")


@pytest.mark.parametrize("named", ["in a file", "without a file"])
def test_with_the_network_no_service_of_the_machine_is_reached_by_its_socket(tmp_path, named):
    """The program is the user, whom a service of the desktop would obey."""
    place = str(tmp_path / "socket") if named == "in a file" else f"\0twinstep-{os.getpid()}"
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(place)
        server.listen()
        view = {"read": (*PYTHON, str(tmp_path)), "network": True}
        connect = f"socket.socket(socket.AF_UNIX).connect({place!r})"
        assert _tried(connect, "socket", **view) == "OSError 97"
        assert _tried("socket.socketpair()", "socket", **view) == ""


def test_no_capability_is_held_and_none_can_be_had():
    status = _said("print(open('/proc/self/status').read())")
    held = {line.split(":")[0]: line.split()[1] for line in status.splitlines()
            if line.startswith(("Cap", "NoNewPrivs"))}  # fmt: skip
    assert held.pop("NoNewPrivs") == "1"
    assert set(held) == {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}
    assert {int(value, 16) for value in held.values()} == {0}


@pytest.mark.parametrize(
    "call",
    [
        "mount(b'none', b'/usr', None, 32 | 4096, None)",  # writable again
        "mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None)",
        "umount2(b'/proc', 2)",
        "unshare(0x10000000)",
        "unshare(0x00020000)",
        "chroot(b'/tmp')",
        "ptrace(16, 1, 0, 0)",
        "setns(0, 0)",
        "syscall(425, 8, 0)",  # io_uring_setup
        "syscall(321 if __import__('platform').machine() == 'x86_64' else 280, 0, 0, 0)",  # bpf
    ],
)
def test_the_kernel_refuses_what_walls_are_climbed_with(call):
    said = _said(
        "import ctypes, errno; c = ctypes.CDLL(None, use_errno=True)\n"
        f"print(c.{call}, errno.errorcode[ctypes.get_errno()])"
    )
    assert said == "-1 EPERM"


def test_a_new_namespace_is_refused_through_clone_too():
    said = _said(
        "import ctypes, errno, platform; c = ctypes.CDLL(None, use_errno=True)\n"
        "number = 56 if platform.machine() == 'x86_64' else 220\n"
        "print(c.syscall(number, 0x10000000 | 17, 0, 0, 0, 0), "
        "errno.errorcode[ctypes.get_errno()])"
    )
    assert said == "-1 EPERM"


def test_memory_processes_files_and_scratch_have_an_end():
    assert _tried("bytearray(1 << 30)", memory=256 << 20) == "MemoryError"
    forks = "[subprocess.Popen(['/proc/self/exe', '-c', 'input()']) for _ in range(50)]"
    assert _tried(forks, "subprocess", processes=20).startswith("BlockingIOError")
    large = "open('/tmp/a', 'wb').write(bytes(2 << 20))"
    assert _tried(f"signal.signal(25, signal.SIG_IGN); {large}", "signal",
                  file_size=1 << 20) == "OSError 27"  # fmt: skip
    assert _tried(large, scratch=1 << 20) == "OSError 28"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
)
def test_its_end_is_told_as_it_was(program, code):
    child = _start(program)
    child.communicate(timeout=60)
    assert child.returncode == code


def test_what_it_started_ends_with_it():
    """A left-over that leaves the session, and would play on for the next check."""
    ours, theirs = os.pipe()
    child = _start(
        f"import os, time\nif not os.fork():\n    os.setsid(); time.sleep(60)\nos.write({theirs}, "
        "b'x')",
        keep=(theirs,),
    )
    os.close(theirs)
    child.communicate(timeout=60)
    with open(ours, "rb") as pipe:
        assert pipe.read() == b"x"  # and then the end: nobody holds the other end


def test_all_of_it_ends_when_its_starter_is_killed():
    ours, theirs = os.pipe()
    child = _start(f"import os, time; os.write({theirs}, b'x'); time.sleep(60)", keep=(theirs,))
    os.close(theirs)
    with open(ours, "rb") as pipe:
        assert pipe.read(1) == b"x"
        child.kill()
        begun = time.monotonic()
        assert pipe.read() == b""
    child.communicate()
    assert time.monotonic() - begun < 30


def test_its_end_of_a_pipe_is_its_own():
    """The processes around it hold none: a program that closes its pipe is seen to."""
    ours, theirs = os.pipe()
    child = _start(f"import os, time; os.close({theirs}); time.sleep(60)", keep=(theirs,))
    os.close(theirs)
    begun = time.monotonic()
    with open(ours, "rb") as pipe:
        assert pipe.read() == b""
    assert time.monotonic() - begun < 30
    child.kill()
    child.communicate()


def test_a_wall_that_cannot_be_built_is_told_and_nothing_runs(tmp_path):
    child = _start("print('ran')", cwd="/etc/ld.so.cache/x")  # below a file
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (UNBUILT, "")
    assert err.startswith("walls: ")


def test_what_stands_here_is_said_and_inside_a_wall_no_other_stands():
    said = "from twinstep.walls.standing import standing; print(standing())"
    read = (*PYTHON, *twinstep.__path__, sys.prefix)
    inside = subprocess.run(
        walled(child_command("twinstep.tests.walls.says", 0, said)),
        env=variables(View((*read, str(Path(__file__).parents[1])))),
        capture_output=True,
        text=True,
        check=False,
    )
    assert str(standing()).startswith("walls: namespaces, a read-only view, no capability")
    assert inside.stdout.strip() == (
        "no wall stands here (namespaces: Operation not permitted): the verdict rests on trust"
    ), inside.stderr
