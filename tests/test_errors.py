"""One tree, one form of message: owner, parameter, allowed, received, remedy."""

from __future__ import annotations

import dataclasses
import inspect

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


def test_a_huge_value_is_cut():
    error = errors.ParameterError(owner="X", parameter="a", allowed="b", received="x" * 10**7, remedy="c")
    assert len(str(error)) < 400


def test_a_missing_extra_says_what_to_type():
    assert "pip install 'firststory[parquet]'" in str(errors.MissingExtraError("files", "pyarrow", "parquet"))


def test_records_are_frozen_and_slotted():
    kinds = [kind for _, kind in inspect.getmembers(records, dataclasses.is_dataclass)]
    assert len(kinds) >= 10
    for kind in kinds:
        assert kind.__dataclass_params__.frozen and hasattr(kind, "__slots__")
