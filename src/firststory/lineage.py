"""What has become of stories and storylines that were merged."""

from __future__ import annotations

from collections.abc import Mapping


def standing(name: str, merged: Mapping[str, str]) -> str:
    """Where a chain of merges ends; `merged` has what each went into.

    Examples
    --------
    >>> standing("s3", {"s3": "s2", "s2": "s1"}), standing("s7", {})
    ('s1', 's7')
    """
    while name in merged:
        name = merged[name]
    return name
