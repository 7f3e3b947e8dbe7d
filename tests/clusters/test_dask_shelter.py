"""A cluster beyond this machine: certificates on both sides, no open scheduler, and what its end does (X-15)."""

import gc
import time

import pytest
from tests.cli.running import here
from tests.clusters.certificates import write_certificates
from tests.clusters.dask_processes import dask_cluster, kill

from basanite.clusters import executor as clusters
from basanite.clusters.address import Cluster, ClusterError
from basanite.clusters.executor import cluster_executor, workers_at


def slow(number):
    time.sleep(0.3)
    return number


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_certificates(tmp_path_factory.mktemp("own") / "certificates")


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, folder):
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    options = [word for option, name in files.items() for word in (option, str(folder / name))]
    with dask_cluster(tmp_path_factory.mktemp("tls"), *options, workers=1) as started:
        yield started


def test_with_certificates_of_one_signer_the_cluster_works(encrypted, folder):
    assert encrypted.address.startswith("tls://")
    with cluster_executor(Cluster.of(encrypted.address, folder)) as executor:
        assert list(executor.map(slow, range(3))) == [0, 1, 2]


def test_a_certificate_of_another_signer_is_shown_the_door(encrypted, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 2)
    stranger = write_certificates(tmp_path / "stranger")
    with (
        pytest.raises(ClusterError, match="No scheduler answers"),
        cluster_executor(Cluster.of(encrypted.address, stranger)),
    ):
        pass


def test_a_scheduler_here_that_listens_to_everybody_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "WORKER_SECONDS", 1)
    with dask_cluster(tmp_path, workers=0, host="0.0.0.0") as started:
        if "127.0.0.1" in started.address:
            pytest.skip("this machine has no address but loopback")
        near = Cluster.of(f"tcp://127.0.0.1:{started.address.rpartition(':')[2]}")
        with pytest.raises(ClusterError, match=r"remote connections without TLS, at tcp://.*--host 127\.0\.0\.1"):
            workers_at(near)


@pytest.mark.req("P-16")
def test_the_doctor_tells_of_workers_none_and_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 5)
    found = [finding_of_doctor(tmp_path)]
    with dask_cluster(tmp_path, workers=0) as started:
        monkeypatch.setenv("BASANITE_CLUSTER", started.address)
        found.append(finding_of_doctor(tmp_path))
        monkeypatch.setattr(clusters, "WORKER_SECONDS", 0.1)
        with pytest.raises(ClusterError, match="has no workers"), cluster_executor(Cluster.of(started.address)):
            pass
    found.append(finding_of_doctor(tmp_path))
    assert [one["state"] for one in found] == ["good", "bad", "bad"]
    assert [one["words"].split(".")[0].split(" ")[0] for one in found] == ["none", started.address.split(".")[0], "No"]


def finding_of_doctor(folder):
    shown = here("doctor", "--data", "season", "--json", cwd=folder)
    (found,) = [one for one in shown.data["findings"] if one["name"] == "cluster"]
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets of the client that broke off
def test_when_the_scheduler_is_killed_a_command_ends_in_words(encrypted, folder, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 3)

    def lose_the_scheduler():
        with cluster_executor(Cluster.of(encrypted.address, folder)) as executor:
            found = executor.map(slow, range(50))
            next(found)
            kill(encrypted.scheduler)
            list(found)

    with pytest.raises(ClusterError, match=r"has gone\. What was finished is kept"):
        lose_the_scheduler()
    gc.collect()  # what the broken client leaves is told here, not in a test that comes later
