"""One cluster of two worker processes for the tests of a file."""

import pytest
from tests.clusters.dask_processes import dask_cluster

from basanite.clusters.address import Cluster


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def cluster(processes):
    return Cluster.of(processes.address)
