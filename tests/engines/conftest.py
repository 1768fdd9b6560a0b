"""A cluster that the tests of one file share; those that break it start their own."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed")
    from engines.private_cluster import PrivateCluster

    with PrivateCluster(1, tmp_path_factory.mktemp("dask")) as made:
        yield made
