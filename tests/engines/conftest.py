"""A cluster that the tests of one file share; those that break it start their own."""

from __future__ import annotations

import shutil

import pytest

from engines.private_cluster import ROOT


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed")
    from engines.private_cluster import PrivateCluster

    with PrivateCluster(1, tmp_path_factory.mktemp("dask")) as made:
        yield made


@pytest.fixture
def older_package(tmp_path):
    """firststory as it was: the same code under another version."""
    shutil.copytree(ROOT / "src" / "firststory", tmp_path / "older" / "firststory")
    (tmp_path / "older" / "firststory" / "_version.py").write_text('__version__ = "0.0.1"\n')
    return tmp_path / "older"
