"""What `firststory prepare` has compiled is all that a run needs: in an image nobody could keep the rest."""

import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from firststory.cli.prepare import prepare
from firststory.lab.benchmarks.load_stream import documents
from firststory.pipeline.monitor import Monitor


def used():
    modules = [module for name, module in sys.modules.items() if name.startswith("firststory.kernels.")]
    return {
        (module.__name__, name, str(signature))
        for module in modules
        for name, kernel in vars(module).items()
        for signature in getattr(kernel, "overloads", ())
    }


prepare()
prepared = used()
assert len(prepared) > 50
with Monitor(step=200, max_terms=12_000, window=1_000) as monitor:
    for _ in monitor.watch(json.loads(line) for line in documents(9_000)):
        pass
later = used() - prepared
assert not later, later
"""


@pytest.mark.slow
def test_a_run_needs_no_kernel_that_was_not_prepared():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "Kernels are compiled and kept.\n"
