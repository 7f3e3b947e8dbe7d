"""Which clusters we speak to: on this machine, or by mutual TLS; nothing is sent before that is known (X-15)."""

import subprocess
import sys

import pytest
from tests.cli.running import EXAMPLE, ROOT, here

from basanite.clusters.address import Cluster, ClusterError

SCORE = ("score", "clir", "--reference", "key/", "--submission", "Alpha.tgz", "--draws", "20", "--json")


@pytest.fixture
def certificates(tmp_path):
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o600)
    return tmp_path


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:1"])
def test_a_scheduler_on_this_machine_needs_no_certificates(address):
    assert not Cluster.of(address).uses_tls


@pytest.mark.parametrize(
    "address", ["10.0.0.5:8786", "tcp://10.0.0.5:8786", "tcp://0.0.0.0:8786", "tcp://127.0.0.1.example.org:8786"]
)
def test_beyond_this_machine_nothing_goes_without_tls(address):
    with pytest.raises(ClusterError, match=r"needs TLS.*--dask-tls"):
        Cluster.of(address)


@pytest.mark.parametrize(
    "address",
    ["", "tls://", "tls://host", "ucx://127.0.0.1:1", "inproc://127.0.0.1/1", "tcp://127.0.0.1:many", "tcp://a:1/x"],
)
def test_what_is_no_address_is_told_with_how_to_write_one(address):
    with pytest.raises(ClusterError, match="Write tls://HOST:PORT"):
        Cluster.of(address)


def test_tls_needs_three_files_and_a_key_that_others_cannot_read(certificates):
    assert Cluster.of("tls://10.0.0.5:8786", certificates).uses_tls
    with pytest.raises(ClusterError, match="needs certificates"):
        Cluster.of("tls://10.0.0.5:8786")
    (certificates / "key.pem").chmod(0o644)
    with pytest.raises(ClusterError, match="chmod 600"):
        Cluster.of("tls://10.0.0.5:8786", certificates)
    (certificates / "cert.pem").unlink()
    with pytest.raises(ClusterError, match=r"has no cert\.pem"):
        Cluster.of("tls://10.0.0.5:8786", certificates)


@pytest.mark.req("X-15")
def test_a_command_refuses_an_open_cluster_wherever_its_address_comes_from(monkeypatch):
    given = here(*SCORE, "--dask", "tcp://10.0.0.5:8786")
    monkeypatch.setenv("BASANITE_CLUSTER", "tcp://10.0.0.5:8786")
    set_outside = here(*SCORE)
    assert (given.code, set_outside.code) == (2, 2)
    assert "needs TLS" in given.stderr
    assert given.stderr == set_outside.stderr


def test_without_the_extra_the_first_call_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = here(*SCORE, "--dask", "127.0.0.1:8786")
    assert (ended.code, ended.stderr) == (
        2,
        "Error: distributed is not installed; it is needed for heavy work on a cluster. Fix: pip install "
        '"basanite[dask]"\n',
    )


@pytest.mark.req("P-16")
def test_without_a_cluster_nothing_of_dask_is_imported():
    program = (
        "import sys; from basanite.cli import app; app(sys.argv[1:], standalone_mode=False); "
        "sys.exit(any(name.partition('.')[0] in ('dask', 'distributed') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program, *SCORE], cwd=EXAMPLE, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_what_holds_keys_and_references_has_no_way_to_a_cluster():
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    words = ["--contract", "cluster", "--no-cache", "--no-logo"]
    done = subprocess.run(
        [sys.executable, "-c", command, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout
