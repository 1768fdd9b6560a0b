"""One tree, one form of message: owner, parameter, allowed, received, remedy."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path

import pytest

from firststory import errors, records

ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_hangs_on_the_tree_and_is_drawn(kind):
    assert issubclass(kind, errors.FirststoryError)
    assert kind.__name__ in errors.__doc__


def test_a_message_names_all_five():
    error = errors.ParameterError(owner="X", parameter="alpha", allowed="positive", received=-1, remedy="Pass 0.1.")
    assert str(error) == "X: alpha must be positive; received -1. Pass 0.1."
    assert isinstance(error, ValueError)


def test_a_sentence_may_replace_the_template():
    error = errors.StoreError(
        owner="store", parameter="writers", allowed="one", received=2, remedy="Wait.", message="Another run is writing."
    )
    assert str(error) == "store: Another run is writing. Wait."
    assert error.without_owner == "Another run is writing. Wait."
    assert (error.parameter, error.allowed, error.received) == ("writers", "one", 2)


@pytest.mark.parametrize(
    ("received", "remedy"), [("neighbor", "Did you mean neighbour?"), ("psychic", "Leave it out for the default.")]
)
def test_a_value_that_is_not_in_the_list(received, remedy):
    error = errors.not_one_of("settings", "detector", ("fused", "neighbour"), received)
    assert (error.owner, error.parameter, error.received) == ("settings", "detector", received)
    assert error.allowed == "one of fused, neighbour" and error.remedy == remedy


TEMPLATE_WORDS = ("must be given", "must be there", "must be usable", "must be with", "must be installed")


def test_no_error_reads_badly_for_the_template():
    """Every place that raises one of ours with literal parts: what the template would force has its own sentence."""
    folder = Path(errors.__file__).parent
    for path in folder.rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            parts = {word.arg: word.value for word in call.keywords}
            allowed = parts.get("allowed")
            if "message" not in parts and isinstance(allowed, ast.Constant):
                said = f"must be {allowed.value}"
                assert not said.startswith(TEMPLATE_WORDS), f"{path.relative_to(folder)}:{call.lineno} {said}"


def test_a_huge_value_is_cut():
    error = errors.ParameterError(owner="X", parameter="a", allowed="b", received="x" * 10**7, remedy="c")
    assert len(str(error)) < 400
    error = errors.ParameterError(owner="X", parameter="a", allowed="b", received="", remedy="c", message="x" * 10**7)
    assert len(str(error)) < 1000


def test_a_missing_extra_says_what_to_type():
    assert "pip install 'firststory[parquet]'" in str(errors.MissingExtraError("files", "pyarrow", "parquet"))


def test_records_are_frozen_and_slotted():
    kinds = [kind for _, kind in inspect.getmembers(records, dataclasses.is_dataclass)]
    assert len(kinds) >= 10
    for kind in kinds:
        assert kind.__dataclass_params__.frozen and hasattr(kind, "__slots__")
