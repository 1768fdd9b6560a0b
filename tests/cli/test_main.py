"""The command line: quick to start, one line an error, exit statuses as documented."""

from __future__ import annotations

import subprocess
import sys

import pytest

from firststory.cli.main import COMMANDS, main

HEAVY = ("numba", "sklearn", "scipy", "sqlalchemy", "matplotlib", "fastapi", "starlette", "uvicorn", "jinja2", "dask")


def loaded_by(code: str) -> set[str]:
    """The packages that a fresh interpreter has loaded after `code`."""
    program = f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    code = stopped.value.code
    return code if isinstance(code, int) else 0


def test_importing_firststory_is_light():
    assert loaded_by("import firststory").isdisjoint((*HEAVY, "numpy", "typer", "rich"))


def test_help_loads_no_numerics_store_or_web():
    code = "from firststory.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert loaded_by(code).isdisjoint((*HEAVY, "numpy"))


def test_help_lists_every_command(capsys):
    assert status_of("--help") == 0
    said = capsys.readouterr().out
    assert all(name in said for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name, capsys):
    assert status_of(name, "--help") == 0
    assert "Usage: firststory " + name in " ".join(capsys.readouterr().out.split())


def test_usage_errors_exit_2(capsys):
    assert status_of("no-such-command") == 2
    assert status_of("bench", "--no-such-option") == 2
    assert "no-such-option" in capsys.readouterr().err


def test_errors_are_one_line_with_the_remedy_and_exit_1(capsys):
    assert status_of("bench", "no-such-benchmark") == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "firststory bench --list" in said and "Traceback" not in said


def test_debug_shows_the_traceback_wherever_it_stands():
    from firststory.errors import ParameterError

    for arguments in (["--debug", "bench", "nothing-such"], ["bench", "nothing-such", "--debug"]):
        with pytest.raises(ParameterError):
            main(arguments)


def test_version(capsys):
    assert status_of("--version") == 0
    assert capsys.readouterr().out.startswith("firststory ")
