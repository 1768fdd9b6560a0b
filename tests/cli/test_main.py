"""The command line: quick to start, one line an error, exit statuses as documented."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import MISSING, fields
from importlib import import_module
from typing import get_args, get_type_hints

import pytest

from firststory.cli.main import COMMANDS, main
from firststory.settings import Settings

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


@pytest.mark.parametrize("given", [(), ("run",), ("store",), ("store", "check")])
def test_help_shows_no_value_beside_a_flag(given, capsys):
    assert status_of(*given, "--help") == 0
    assert "<bool>" not in capsys.readouterr().out


def test_help_lists_every_command(capsys):
    assert status_of("--help") == 0
    said = capsys.readouterr().out
    assert all(name.split()[0] in said for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name, capsys):
    assert status_of(*name.split(), "--help") == 0
    assert "Usage: firststory " + name in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_text_reaches_the_screen_whole(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")  # one line per option
    assert status_of(*name.split(), "--help") == 0
    screen = [" ".join(line.strip("│ ").split()) for line in capsys.readouterr().out.splitlines()]
    function = getattr(import_module(f"firststory.cli.{COMMANDS[name]}"), COMMANDS[name])
    settings = {item.name: item.default for item in fields(Settings) if item.default is not MISSING}
    for parameter, hint in get_type_hints(function, include_extras=True).items():
        if parameter == "return":
            continue
        help_text = get_args(hint)[-1].help
        shown = [line for line in screen if help_text in line]
        assert shown, f"{parameter}: {help_text}"
        if settings.get(parameter) is not None:
            assert f"(default: {settings[parameter]})" in shown[0]


@pytest.mark.parametrize("name", ["run", "score", "evaluate"])
def test_settings_are_shown_with_their_defaults(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert status_of(name, "--help") == 0
    shown = {line.strip("│ ").split()[0]: line for line in capsys.readouterr().out.splitlines() if "--" in line}
    for option, default in (("--detector", "fused"), ("--budget", "20/day"), ("--language", "auto")):
        assert f"(default: {default})" in shown[option]


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
