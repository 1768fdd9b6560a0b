"""The short way for good CSR rows gives what the long way gives, and nobody's input is changed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.errors import ParameterError


def test_good_rows_and_checked_rows_learn_the_same():
    rows = np.random.default_rng(0).poisson(0.5, size=(30, 12)).astype(float)
    quick = fs.StepwiseEM(3, random_state=0).fit(sp.csr_matrix(rows))
    checked = fs.StepwiseEM(3, random_state=0).fit(rows)
    np.testing.assert_array_equal(quick.topic_word_, checked.topic_word_)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_values_in_csr_are_still_errors(bad):
    rows = sp.csr_matrix([[1.0, 2.0], [bad, 1.0]])
    with pytest.raises(ValueError, match=r"[Nn]egative|NaN|infinity"):
        fs.StepwiseEM(2).fit(rows)


def test_no_rows_and_no_columns_are_errors():
    for shape in ((0, 3), (3, 0)):
        with pytest.raises(ValueError, match=r"0 sample|0 feature"):
            fs.StepwiseEM(2).fit(sp.csr_matrix(shape))


def test_duplicates_unsorted_and_stored_zeros_are_put_right_in_a_copy():
    rows = sp.csr_matrix((np.array([2.0, 1.0, 0.0, 3.0]), np.array([2, 0, 1, 2]), np.array([0, 4])), shape=(1, 3))
    before = (rows.data.copy(), rows.indices.copy(), rows.indptr.copy())
    canonical = fs.StepwiseEM(2, random_state=0)._rows(rows, learn=True)
    np.testing.assert_array_equal(canonical.indices, [0, 2])
    np.testing.assert_array_equal(canonical.data, [1.0, 5.0])
    for mine, theirs in zip(before, (rows.data, rows.indices, rows.indptr), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_changed_parameter_is_checked_again():
    model = fs.StepwiseEM(2, random_state=0).partial_fit(np.eye(3))
    model.partial_fit(np.eye(3))
    with pytest.raises(ParameterError, match="decay"):
        model.set_params(decay=7.0).partial_fit(np.eye(3))
