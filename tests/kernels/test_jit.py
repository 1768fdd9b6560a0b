"""The disk cache: kept from process to process, thrown away when any kernel changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from firststory.kernels import jit

CALLED = "from some.jit import kernel\n@kernel\ndef step(x):\n    return x + {step}\n"
CALLS = "from some.called import step\nfrom some.jit import kernel\n@kernel\ndef twice(x):\n    return step(step(x))\n"
ASK = "from some.calls import twice; print(twice(0), sum(twice.stats.cache_hits.values()))"


def ask(folder: Path, code: str = ASK) -> list[str]:
    """What a fresh process computes, and how many kernels it found on disk."""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return found.stdout.split()


def test_machine_code_does_not_outlive_a_kernel_that_it_calls(tmp_path: Path) -> None:
    package = tmp_path / "some"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(jit.__file__, package / "jit.py")
    (package / "called.py").write_text(CALLED.format(step=1))
    (package / "calls.py").write_text(CALLS)
    assert ask(tmp_path) == ["2", "0"]
    assert ask(tmp_path) == ["2", "1"]
    (package / "called.py").write_text(CALLED.format(step=10))
    assert ask(tmp_path) == ["20", "0"]


def test_every_kernel_is_stamped() -> None:
    """Should numba one day keep its stamp elsewhere, this tells."""
    from firststory.kernels.fused.follow import follow_rows

    assert jit._all_kernels() in follow_rows._cache._cache_file._source_stamp


def test_a_kernel_from_disk_can_be_compiled_into_another(tmp_path: Path) -> None:
    """Its intermediate code is read when the other asks for it."""
    package = tmp_path / "some"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "called.py").write_text(CALLED.format(step=1).replace("some.jit", "firststory.kernels.jit"))
    (package / "calls.py").write_text(CALLS.replace("some.jit", "firststory.kernels.jit"))
    alone = ASK.replace("some.calls import twice", "some.called import step as twice")
    for code, expected in ((alone, ["1", "0"]), (alone, ["1", "1"]), (ASK, ["2", "0"]), (ASK, ["2", "1"])):
        assert ask(tmp_path, code) == expected
