"""What a hostile program tries in its box, and that the machine does not notice (X-5)."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from socket import create_server

import numpy as np
import pytest
from tests.harness.foreign.boxes import LIMITS, boxed

from basanite.harness.foreign.exchange import read_array
from basanite.harness.steps.layout import ModuleError
from basanite.sandbox.box import MIB
from basanite.sandbox.runner import capability

ROOT = Path(__file__).parents[3]


def test_a_program_sees_its_inputs_and_leaves_its_results(tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "word").write_text("basalt")
    code = "open('out/a','w').write(open('in/word').read().upper()); open('state/b','w').write('kept'); print('said')"
    ended = boxed(tmp_path, code, learns=True)
    assert (ended.code, ended.cause, ended.stdout) == (0, "", b"said\n")
    assert (tmp_path / "out" / "a").read_text() == "BASALT"
    assert (tmp_path / "state" / "b").read_text() == "kept"


def test_it_sees_no_folder_of_the_host_no_environment_and_no_other_process(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_EVALUATION", "truth")
    (tmp_path / "truth.csv").write_text("label")
    places = [str(tmp_path / "truth.csv"), str(ROOT / "tests"), str(Path.home() / ".bashrc")]
    code = (
        "import os; print(sorted(os.environ)); "
        f"print([os.path.exists(path) for path in {places!r}]); "
        "print([p for p in os.listdir('/proc') if p.isdigit()]); print(os.getuid() != 0, os.environ['HOME'])"
    )
    ended = boxed(tmp_path, code)
    names, seen, processes, user = ended.stdout.decode().splitlines()
    assert names == "['HOME', 'LC_ALL', 'PATH']"
    assert (seen, processes, user) == ("[False, False, False]", "['1', '2']", "True /tmp")


def test_it_cannot_write_to_its_inputs_its_state_or_the_system(tmp_path):
    code = """
for place in ("in/x", "state/x", "/system/x", "/usr/x", "/etc/x", "/x", "/proc/sys/kernel/hostname"):
    try:
        open(place, "w"); print("wrote", place)
    except OSError:
        print("refused")
"""
    assert boxed(tmp_path, code).stdout.split() == [b"refused"] * 7


def test_it_opens_no_socket_though_somebody_listens(tmp_path):
    with create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"""
import socket
for kind in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, 40):
    try:
        socket.socket(kind, socket.SOCK_STREAM if kind != 16 else socket.SOCK_RAW); print("opened", kind)
    except OSError:
        print("refused")
try:
    socket.create_connection(("127.0.0.1", {port}), 2); print("connected")
except OSError:
    print("refused")
"""
        assert boxed(tmp_path, code).stdout.split() == [b"refused"] * 5


def test_a_fork_bomb_ends_at_its_own_limit(tmp_path):
    code = """
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600); os._exit(0)
        made += 1
except OSError:
    print(made)
"""
    start = time.monotonic()
    ended = boxed(tmp_path, code)
    assert 0 < int(ended.stdout) < LIMITS.processes
    assert time.monotonic() - start < 300  # the sleepers ended with the box


def test_it_cannot_kill_or_look_into_others(tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as neighbour:
        try:
            code = f"""
import os, signal
for pid in ({neighbour.pid}, {os.getpid()}, os.getppid()):
    try:
        os.kill(pid, signal.SIGKILL); print("sent" if pid != 1 else "to the first")
    except OSError:
        print("refused")
print("alive")
"""
            ended = boxed(tmp_path, code)
            assert neighbour.poll() is None
        finally:
            neighbour.kill()
    assert b"sent" not in ended.stdout
    assert ended.stdout.split()[-1] == b"alive"


@pytest.mark.parametrize(
    "code",
    [
        "f = open('out/x', 'wb')\nfor _ in range(1024): f.write(bytes(2**20)); f.flush()",
        "for n in range(1024): open(f'out/{n}', 'wb').write(bytes(2**20))",
        "for n in range(1024): open(f'/tmp/{n}', 'wb').write(bytes(2**20))",
        "open('out/x', 'wb').truncate(2**40)",
        "for n in range(10**6): open(f'out/{n}', 'w').close()",
    ],
    ids=["one file", "many files", "temporary files", "a hole", "a million files"],
)
def test_a_gigabyte_of_output_does_not_reach_the_disk(tmp_path, code):
    ended = boxed(tmp_path, code)
    assert ended.code != 0
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*")) <= LIMITS.output


def test_holes_in_many_files_are_not_filled_on_the_way_out(tmp_path):
    ended = boxed(tmp_path, "for n in range(50): open(f'out/{n:02}', 'wb').truncate(5 * 2**20)")
    assert len(ended.refused) == 49
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*")) <= LIMITS.output


def test_memory_and_time_are_taken_away_in_time(tmp_path):
    ended = boxed(tmp_path, "x = [bytes(2**20) for _ in range(10**4)]", limits=replace(LIMITS, memory=100 * MIB))
    assert not ended.good
    assert ended.cause == "memory" or b"MemoryError" in ended.stderr
    start = time.monotonic()
    ended = boxed(tmp_path, "import time; time.sleep(500)", limits=replace(LIMITS, seconds=1.0))
    assert (ended.cause, time.monotonic() - start < 200) == ("time", True)


def test_many_processes_share_one_limit_of_memory(tmp_path):
    code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        x = bytearray(os.urandom(1) * (60 * 2**20)); time.sleep(50); os._exit(0)
time.sleep(50)
"""
    assert boxed(tmp_path, code, limits=replace(LIMITS, memory=150 * MIB, seconds=60)).cause == "memory"


def test_who_prints_without_end_is_stopped_and_only_the_beginning_kept(tmp_path):
    ended = boxed(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)")
    assert ended.cause == "log"
    assert ended.stdout == b"x" * LIMITS.log


def test_links_and_devices_are_not_taken_over(tmp_path):
    code = """
import os
os.symlink("/etc/passwd", "out/features.npy"); os.mkfifo("out/pipe")
os.mkdir("out/deep"); os.symlink("..", "out/deep/up")
open("out/good", "w").write("1")
"""
    ended = boxed(tmp_path, code)
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["deep", "good"]
    assert sorted(ended.refused) == [
        "deep/up: no regular file",
        "features.npy: no regular file",
        "pipe: no regular file",
    ]


def test_it_makes_no_namespace_of_its_own(tmp_path):
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), libc.ptrace(0, 0, 0, 0), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
"""
    assert boxed(tmp_path, code).stdout.split() == [b"-1"] * 3


def test_what_it_pickled_is_never_unpickled(tmp_path):
    np.save(tmp_path / "evil.npy", np.array([Bomb(str(tmp_path / "burst"))], dtype=object), allow_pickle=True)
    with pytest.raises(ModuleError, match=r"evil\.npy"):
        read_array(tmp_path / "evil.npy", "it")
    assert not (tmp_path / "burst").exists()


class Bomb:
    """Unpickling one leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_an_array_that_says_it_is_larger_than_its_file_is_not_read(tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.zeros(4))
    path.write_bytes(path.read_bytes().replace(b"(4,)", b"(4000000000000,)")[:200])
    with pytest.raises(ModuleError):
        read_array(path, "it")
    (tmp_path / "link.npy").symlink_to(tmp_path / "large.npy")
    with pytest.raises(ModuleError):
        read_array(tmp_path / "link.npy", "it")


REFUSING = """
import sys
from basanite.sandbox import kernel
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
assert kernel.close_filter()
from basanite.cli import main
sys.argv = ["basanite", *sys.argv[1:]]
main()
"""


@pytest.mark.req("X-5")
@pytest.mark.req("X-5", case="bad")
def test_where_no_box_can_be_made_programs_are_refused_and_not_run(tmp_path):
    """The child forbids itself new namespaces, as machines without them do, and then behaves as on such a machine."""
    import shutil

    shutil.copytree(ROOT / "examples" / "harness" / "foreign", tmp_path / "plan")
    plan = tmp_path / "plan" / "plan.toml"
    command = [sys.executable, "-c", REFUSING, "harness", "run", str(plan)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "No sandbox can be made here" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "plan" / "plan-result" / "manifest.json").exists()


def test_a_sealed_plan_cannot_switch_the_box_off(tmp_path):
    from tests.harness.plans import ALPHA, DIGITS, HEAD, written

    from basanite.harness.plan_file import read_plan

    text = HEAD.replace("seed = 7", 'seal = "s.seal"') + DIGITS + ALPHA + '\n[limits]\nsandbox = "off"\n'
    problems = [problem for problem in read_plan(written(tmp_path, text))[1] if problem.rule == "X-5"]
    assert [(problem.line is not None, problem.fix) for problem in problems] == [(True, "take `sandbox` out")]


def test_this_machine_says_what_was_tested():
    found = capability()
    assert found.possible or found.reason
