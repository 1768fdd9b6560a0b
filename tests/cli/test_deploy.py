"""What `deploy/` has works: the unit is one that systemd takes, and names commands and settings that exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from firststory.settings import PREFIX, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "firststory.service"


def test_systemd_takes_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    # The program must be one that is there; everything else is as it is installed.
    program = shutil.which("firststory", path=Path(sys.executable).parent) or sys.executable
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/firststory/bin/firststory", program))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0 and unit.name not in done.stderr, done.stderr
    exposure = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25", unit], capture_output=True, text=True
    )
    assert exposure.returncode == 0, exposure.stdout[-500:]


@pytest.mark.parametrize("path", [UNIT, DEPLOY / "Containerfile", DEPLOY / "environment.example"])
def test_every_setting_that_is_named_exists(path):
    known = {PREFIX + item.name.upper() for item in fields(Settings)}
    assert set(re.findall(r"FIRSTSTORY_[A-Z_]+", path.read_text())) - known == set()


def test_the_container_names_extras_that_exist():
    text = (DEPLOY / "Containerfile").read_text()
    extras = re.search(r"/src\[([a-z,]+)\]", text)[1].split(",")
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
