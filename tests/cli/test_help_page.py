"""The page in the documentation is what the commands say of themselves."""

from __future__ import annotations

from pathlib import Path

from firststory.cli.help_page import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_reference_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "Type: scripts/cli-page"
